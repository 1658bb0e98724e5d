/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* Types that the router's program shares with its loader. */
#pragma once

#define ROUTER_XCP 0
#define ROUTER_RCP 1
#define ROUTER_PIQI 2
#define ROUTER_JETMAX 3

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
};
