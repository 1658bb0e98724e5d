/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* The congestion header as a TCP option: kind 254 (RFC 4727) with an experiment's identifier (RFC 6994), one
 * for each law.
 *
 *   byte  0       1       2   3      4 .. 7          8 .. 11        12 .. 15        16 .. 19
 *       +-------+-------+--------+----------------+---------------+---------------+---------------+
 *  XCP  |  254  |  20   |  'Rx'  | rate, 16 B/s   | RTT, us       | change, kB/s2 | returned      |
 *       +-------+-------+--------+----------------+---------------+---------------+---------------+
 *  RCP  |  254  |  16   |  'Rr'  | rate, 16 B/s   | RTT, us       | returned      |
 *       +-------+-------+--------+----------------+---------------+---------------+
 *  any  |  254  |   8   |        | returned       |                 on pure acknowledgements
 *       +-------+-------+--------+----------------+
 *
 * All fields are big-endian. 20 bytes fit beside timestamps (12 of 40), 8 beside timestamps and two SACK blocks.
 *
 * XCP's change is how fast the flow's rate is to change, in units of 1024 B/s a second, where the drafts have a
 * packet's part of the change in a round trip. A packet is granted Cp X - Cn size; with X = size / rate, all packets
 * of a second together are granted Cp - Cn rate, in which the size is gone. The sender adds that up over the time
 * that what was acknowledged has taken to send. So packets may be segmented, merged, or acknowledged together, and
 * an acknowledgement may be lost, and the sums stay right; an RTT that changes on the way does no harm; and a
 * change of less than 1 B/s a packet is not truncated, as the thesis (3.4, examples 9 and 10) found. */
#pragma once

#include "arithmetic.h"

#define RW_OPTION_KIND 254
#define RW_EXID_XCP 0x5278
#define RW_EXID_RCP 0x5272
#define RW_OPTION_MINIMAL 8
#define RW_OPTION_RCP 16
#define RW_OPTION_XCP 20

/* In the option a rate is in units of 2^RW_RATE_UNIT B/s, and a change in units of 2^RW_CHANGE_UNIT B/s a second. */
#define RW_RATE_UNIT 4
#define RW_CHANGE_UNIT 10

/* A congestion header, decoded. */
struct rw_header {
	/* XCP: at which the sender sends, 0 for unknown. RCP: what routers have let pass so far. B/s. */
	__u64 rate;
	/* The sender's smoothed RTT, 0 for unknown. */
	__u32 rtt_us;
	__u32 pad;
	/* XCP: wished for, then granted, change of the rate. B/s a second. */
	__s64 change;
};

RW_INLINE __u32 rw_rate_field(__u64 rate)
{
	return (__u32)rw_min(rate >> RW_RATE_UNIT, ~0u);
}

RW_INLINE __u64 rw_field_rate(__u32 field)
{
	return (__u64)field << RW_RATE_UNIT;
}

RW_INLINE __s32 rw_change_field(__s64 change)
{
	__s64 most = 0x7fffffffll << RW_CHANGE_UNIT;

	if (change > most)
		change = most;
	if (change < -most)
		change = -most;
	/* Downwards: what is granted is never rounded up. */
	return (__s32)(change >> RW_CHANGE_UNIT);
}

RW_INLINE __s64 rw_field_change(__s32 field)
{
	return (__s64)field * (1 << RW_CHANGE_UNIT);
}
