/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* What the host's programs and those who load them share. */
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
	/* What the other end returned last: as it is in the option, or under JetMax. */
	__u32 returned;
	__u32 has_returned;
	struct rw_jetmax_answer heard;
	/* The receiver's part: what to return, likewise. RCP and JetMax return the last, XCP the
	 * mean change since the last answer. */
	struct rw_xcp_receiver receiver;
	struct rw_jetmax_answer reply;
	__u32 answer;

	/* Network-layer bytes of a full-size segment. */
	__u32 packet;
	/* What was allowed before the last loss, as the law has it: it may turn out to have been
	 * none. */
	__u64 before_loss;
	__u32 state;
	__u32 limited;
	/* Bytes of the option of the segment being written. */
	__u32 reserved;
};

/* An interface that pauses when what it fills has no room. */
struct paused {
	__u32 netns;
	__u32 ifindex;
};

/* An address of the interface that connections are to be from: IPv4's as IPv6 writes them. */
struct address {
	__u32 netns;
	__be32 words[4];
};

/* Connections since it was loaded. */
struct host {
	__u64 taking_part;
	/* With hosts that do not speak it. */
	__u64 plain;
	/* That the kernel would not let have the congestion control. */
	__u64 refused;
	/* Whose program chose another when the handshake was over. */
	__u64 chose_another;
};
