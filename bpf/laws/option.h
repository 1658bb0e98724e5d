/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* The congestion header as a TCP option: kind 254 (RFC 4727) with an experiment's identifier (RFC 6994), one
 * for each law.
 *
 *   byte  0       1       2   3      4 .. 7          8 .. 11        12 .. 15        16 .. 19
 *       +-------+-------+--------+----------------+---------------+---------------+---------------+
 *  XCP  |  254  |  20   |  'Rx'  | rate, 16 B/s   | RTT, us       | change, 16 B/s| returned      |
 *       +-------+-------+--------+----------------+---------------+---------------+---------------+
 *  RCP  |  254  |  16   |  'Rr'  | rate, 16 B/s   | RTT, us       | returned      |
 *       +-------+-------+--------+----------------+---------------+---------------+
 *  any  |  254  |   8   |        | returned       |                 on pure acknowledgements
 *       +-------+-------+--------+----------------+
 *
 * All fields are big-endian. 20 bytes fit beside timestamps (12 of 40), 8 beside timestamps and two SACK blocks.
 *
 * XCP's change is that of the whole flow in a round trip, not a packet's part of it as in the drafts: with
 * X = size / rate, the parts of the packets of a round trip, Cp X - Cn size each, make RTT (Cp - Cn rate), in
 * which the size is gone. So a packet may be segmented, merged or acknowledged together with others and the
 * sums stay right, and a change of less than 1 B/s a packet, which the thesis (3.4, examples 9 and 10) sees
 * truncated, is not. */
#pragma once

#include "arithmetic.h"

#define RW_OPTION_KIND 254
#define RW_EXID_XCP 0x5278
#define RW_EXID_RCP 0x5272
#define RW_OPTION_MINIMAL 8
#define RW_OPTION_RCP 16
#define RW_OPTION_XCP 20

/* A rate in the option is in units of 2^RW_RATE_UNIT B/s. */
#define RW_RATE_UNIT 4

/* A congestion header, decoded. */
struct rw_header {
	/* XCP: at which the sender sends, 0 for unknown. RCP: what routers have let pass so far. B/s. */
	__u64 rate;
	/* The sender's smoothed RTT, 0 for unknown. */
	__u32 rtt_us;
	__u32 pad;
	/* XCP: wished for, then granted, change of rate in a round trip. B/s. */
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
	__s64 most = 0x7fffffffll << RW_RATE_UNIT;

	if (change > most)
		change = most;
	if (change < -most)
		change = -most;
	/* Towards zero: what is granted is never rounded up, nor a decrease left out for rounding. */
	return change < 0 ? -(__s32)((-change) >> RW_RATE_UNIT) : (__s32)(change >> RW_RATE_UNIT);
}

RW_INLINE __s64 rw_field_change(__s32 field)
{
	return (__s64)field << RW_RATE_UNIT;
}
