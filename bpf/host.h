/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* What the host's programs and those who load them share. */
#pragma once

#define HOST_XCP 0
#define HOST_RCP 1
#define HOST_PIQI 2

/* A connection that takes part. */
struct flow {
	/* The sender's part. */
	struct rw_xcp_sender xcp;
	struct rw_rcp_sender rcp;
	/* What the other end returned last, as it is in the option. */
	__u32 returned;
	__u32 has_returned;
	/* The receiver's part: what to return, as it is in the option. RCP returns the last rate, XCP the mean change since
	 * the last answer. */
	struct rw_xcp_receiver receiver;
	__u32 answer;

	__u32 mss;
	__u32 state;
	__u32 limited;
	/* Bytes of the option of the segment being written. */
	__u32 reserved;
};

/* Connections since it was loaded. */
struct host {
	__u64 taking_part;
	/* With hosts that do not speak it. */
	__u64 plain;
	/* That the kernel would not let have the congestion control. */
	__u64 refused;
};
