/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* What the router's program and those who load it share. */
#pragma once

#define ROUTER_XCP 0
#define ROUTER_RCP 1
#define ROUTER_PIQI 2

struct router {
	/* Whether a processor is at work on it. */
	__u64 busy;

	/* Set by whoever attaches it. What the law shares out, in B/s of link-layer bytes. */
	__u64 capacity;
	__u32 law;
	/* Whether the queue is worked out instead of read from the interface. */
	__u32 is_virtual;
	/* Whether the hook that the program is at was made for it. */
	__u32 owns_clsact;

	__u32 is_started;
	__u64 virtual_queue;
	__u64 queue_at_ns;

	/* For whoever looks. Packets, their link-layer bytes, and those with a congestion header. */
	__u64 packets;
	__u64 bytes;
	__u64 with_header;
	/* Packets that came while another processor was at work for too long: they were granted no more than before. */
	__u64 missed;
	/* Bytes waiting when the last packet came. */
	__u64 waiting;
	/* Of the last control interval: what arrived, B/s; and the mean RTT. */
	__u64 input;
	__u64 mean_rtt_us;
	/* RCP: the rate for all. XCP: the change of the total asked for. B/s. */
	__s64 says;

	union {
		struct rw_xcp xcp;
		struct rw_rcp rcp;
	};
};
