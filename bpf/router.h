/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* Types that the router's program shares with its loader. */
#pragma once

#define ROUTER_XCP 0
#define ROUTER_RCP 1
#define ROUTER_PIQI 2
#define ROUTER_JETMAX 3

/* Key of a flow that is policed. IPv4 addresses are in the last word. */
struct flow_key {
	__be32 from[4];
	__be32 to[4];
	/* Of source and destination. */
	__be32 ports;
	__u32 protocol;
};

/* A law's port. */
struct router {
	/* Set by the loader. Capacity that the law shares out, in B/s of link-layer bytes; its
	 * first value if it is measured. */
	__u64 capacity;
	/* Reported; the program has these as constants. */
	__u32 law;
	__u32 is_measured;
	/* Whether the loader made the hook (clsact) for the program. */
	__u32 owns_clsact;

	__u32 is_started;
	/* Queue behind the last packet, its time, and its departure rate: a byte's part of a
	 * nanosecond. */
	__u64 behind;
	__u64 behind_at_ns;
	struct rw_share drain;
	struct rw_meter meter;

	/* Reported: packets, their link-layer bytes, and packets with a congestion header. TCP's
	 * packets that are cut later (GSO) count once, ACP's each. */
	__u64 packets;
	__u64 bytes;
	__u64 with_header;
	/* Packets that arrived while another processor worked for too long. They were granted no
	 * more than earlier packets. */
	__u64 missed;
	/* Queue when the last packet came. */
	__u64 waiting;
	/* Reported, of a policed port: number of the map of flows, set by the loader; entries made in
	 * it; packets whose headers were corrected, and packets that were dropped. */
	__u32 suspects;
	__u32 pad;
	__u64 entries;
	__u64 corrected;
	__u64 dropped;

	union {
		struct rw_xcp xcp;
		struct rw_rcp rcp;
		struct rw_jetmax jetmax;
	} port;
};

/* An element of the map. The port is first: its offsets are the element's. */
struct slot {
	struct router router;
	/* Whether a processor works on the port. */
	__u64 busy;
	/* Ends intervals in which no packet comes. */
	struct bpf_timer timer;
	/* Of the packet at the port: a program has little memory of its own. */
	struct flow_key flow;
	struct rw_claim claim;
	struct rw_suspect suspect;
};
