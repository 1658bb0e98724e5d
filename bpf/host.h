/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* Types that the host's programs share with their loader. */
#pragma once

#define HOST_XCP 0
#define HOST_RCP 1
#define HOST_PIQI 2
#define HOST_JETMAX 3
#define HOST_NOQ 4

/* A connection that takes part. */
struct flow {
	/* The sender's part. */
	struct rw_xcp_sender xcp;
	struct rw_rcp_sender rcp;
	struct rw_jetmax_sender jetmax;
	/* Last answer of the other end, as in the option; or JetMax's. */
	__u32 returned;
	__u32 has_returned;
	struct rw_jetmax_answer heard;
	/* The receiver's part: the next answer, as in the option; or JetMax's. RCP and JetMax
	 * return the last figures that arrived, XCP the mean change since the last answer. */
	struct rw_xcp_receiver receiver;
	struct rw_jetmax_answer reply;
	__u32 answer;

	/* Network-layer bytes of a full-size segment. */
	__u32 packet;
	/* Allowed rate before the last loss, in the law's units, to restore if it was no loss. */
	__u64 before_loss;
	__u32 limited;
	/* Bytes of the option of the segment being written. */
	__u32 reserved;
	/* Whether it lies (struct lie). */
	__u32 lies;
	/* Whether the law has ended, because the interface no longer pauses. */
	__u32 fell_back;
};

/* What hosts state falsely, for tests of policers: on connections that have this port at either
 * end, if it is not 0. */
struct lie {
	__u32 port;
	/* Factors, in 2^-16, of the stated RTT and rate, and of the feedback that a receiver
	 * returns. */
	__u32 rtt;
	__u32 throughput;
	__u32 inflate;
	/* Whether a sender ignores what would slow it down. */
	__u32 ignore_feedback;
};

/* An interface that pauses when the next queue is full. */
struct paused {
	__u32 netns;
	__u32 ifindex;
};

/* Key of the interface's own addresses. IPv4 addresses are mapped into IPv6. */
struct address {
	__u32 netns;
	__be32 words[4];
};

/* Counters of connections since the program was loaded. */
struct host {
	__u64 taking_part;
	/* Connections with hosts that do not speak the law. */
	__u64 plain;
	/* Connections that the kernel refused the congestion control. */
	__u64 refused;
	/* Connections whose program chose another congestion control after the handshake. */
	__u64 chose_another;
	/* Connections that took part until their interface no longer paused. */
	__u64 fell_back;
};
