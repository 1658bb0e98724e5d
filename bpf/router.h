/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* What the router's program and those who load it share. */
#pragma once

#define ROUTER_XCP 0
#define ROUTER_RCP 1
#define ROUTER_PIQI 2
#define ROUTER_JETMAX 3

struct router {
	/* Ends intervals in which no packet comes. */
	struct bpf_timer timer;
	/* Whether a processor is at work on it. */
	__u64 busy;

	/* Set by whoever attaches it. What the law shares out, in B/s of link-layer bytes, where
	 * measured at first. */
	__u64 capacity;
	/* For whoever looks; the program has both as constants. */
	__u32 law;
	__u32 is_measured;
	/* Whether the hook that the program is at was made for it. */
	__u32 owns_clsact;

	__u32 is_started;
	/* What waited behind the last packet, when, and how fast it leaves: a byte's part of a
	 * nanosecond. */
	__u64 behind;
	__u64 behind_at_ns;
	struct rw_share drain;
	struct rw_meter meter;

	/* For whoever looks. Packets, their link-layer bytes, and those with a congestion
	 * header. */
	__u64 packets;
	__u64 bytes;
	__u64 with_header;
	/* Packets that came while another processor was at work for too long: they were granted no
	 * more than before. */
	__u64 missed;
	/* Bytes waiting when the last packet came. */
	__u64 waiting;

	union {
		struct rw_xcp xcp;
		struct rw_rcp rcp;
		struct rw_jetmax jetmax;
	} port;
};
