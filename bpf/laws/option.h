/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* The congestion header as a TCP option: kind 254 (RFC 4727) with an experiment's identifier (RFC
 * 6994), one for each law.
 *
 *   byte  0       1       2   3      4 .. 7          8 .. 11        12 .. 15        16 .. 19
 *       +-------+-------+--------+----------------+---------------+---------------+---------------+
 * XCP  |  254  |  20   |  'Rx'  | rate, 16 B/s   | RTT, us       | change, kB/s2 | returned      |
 *       +-------+-------+--------+----------------+---------------+---------------+---------------+
 * RCP  |  254  |  16   |  'Rr'  | rate, 16 B/s   | RTT, us       | returned      |
 *       +-------+-------+--------+----------------+---------------+---------------+
 * both |  254  |   8   |        | returned       |                 on pure acknowledgements
 *       +-------+-------+--------+----------------+
 *
 * JetMax, kind 254, 28 bytes, 'Rj', then six words. The returned part is in the second three, and
 * alone on pure acknowledgements, in 12 bytes:
 *       +----------------+----------------+       +----------------+----------------+
 *       | bottleneck     | proposed       |       | load           | router         |
 *       +--------+-------+----------------+       +--------+-------+----------------+
 *       | number | g of bottleneck        |       | number | g                      |
 *       +--------+------------------------+       +--------+------------------------+
 *       | marker | g of proposed          |       | marker | rate                   |
 *       +--------+------------------------+       +--------+------------------------+
 *       | router         | 0     | marker |
 *       +--------+-------+-------+--------+
 *       | number | g                      |
 *       +--------+------------------------+
 * Rates are in B/s, 24 bits: 5 of exponent, 19 of mantissa, all ones for unknown. The load has 16
 * bits: 5 of exponent and 11 of mantissa, in 2^-26.
 *
 * ACP's data packets have the same bytes in UDP (docs/reference/acp.md), without what is returned:
 * XCP 16 bytes, RCP 12. JetMax's fields are not in one piece; its 28 bytes stay, and what is
 * returned says nothing.
 *
 * All fields are big-endian. 28 bytes fit beside timestamps (12 of 40), 12 beside timestamps and
 * one SACK block, 8 beside timestamps and two.
 *
 * XCP's change is the derivative of the flow's rate, in units of 1024 B/s a second. The drafts
 * have a packet's part of the change in a round trip, and grant a packet Cp X - Cn size. With X
 * = size / rate, the grants to all packets of a second sum to Cp - Cn rate, without the size.
 * The sender integrates the change over the time that the acknowledged data took to send. Sums
 * therefore stay right if packets are segmented, merged, or acknowledged together, or if an
 * acknowledgement is lost. They do not depend on the RTT. A change of less than 1 B/s a packet
 * is not truncated, a fault that the thesis found (3.4, examples 9 and 10). */
#pragma once

#include "arithmetic.h"

#define RW_OPTION_KIND 254
#define RW_EXID_XCP 0x5278
#define RW_EXID_RCP 0x5272
#define RW_EXID_JETMAX 0x526a
#define RW_OPTION_MINIMAL 8
#define RW_OPTION_RCP 16
#define RW_OPTION_XCP 20
#define RW_OPTION_JETMAX 28
#define RW_OPTION_JETMAX_MINIMAL 12
/* Lengths without what is returned. */
#define RW_FORWARD_RCP 12
#define RW_FORWARD_XCP 16
#define RW_FORWARD_JETMAX 28

/* In the option a rate is in units of 2^RW_RATE_UNIT B/s, and a change in units of 2^RW_CHANGE_UNIT
 * B/s a second. */
#define RW_RATE_UNIT 4
#define RW_CHANGE_UNIT 10

/* A congestion header, decoded. */
struct rw_header {
	/* XCP: the sender's rate, 0 for unknown. RCP: the rate that routers have allowed so far.
	 * B/s. */
	__u64 rate;
	/* The sender's smoothed RTT, 0 for unknown. */
	__u32 rtt_us;
	__u32 pad;
	/* XCP: change of the rate, first the wish, then the grant. B/s a second. */
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
	const __s64 most = 0x7fffffffll << RW_CHANGE_UNIT, least = -(0x80000000ll << RW_CHANGE_UNIT);

	if (change > most)
		change = most;
	/* The field's minimum: a router that passes a header on raises nothing. */
	if (change < least)
		change = least;
	/* Rounded down: a grant is never rounded up. */
	return (__s32)(change >> RW_CHANGE_UNIT);
}

RW_INLINE __s64 rw_field_change(__s32 field)
{
	return (__s64)field * (1 << RW_CHANGE_UNIT);
}

/* A floating number, mantissa << exponent, rounded down; its bits have the order of n. */
RW_INLINE __u32 rw_real(__u64 n, __u32 mantissa)
{
	__u32 exponent = rw_less(rw_bits(n), mantissa);

	/* The maximum stands for larger numbers. */
	return exponent > 31 ? (32u << mantissa) - 1 : exponent << mantissa | (__u32)(n >> exponent);
}

#define RW_RATE_MANTISSA 19
#define RW_LOAD_MANTISSA 11
#define RW_REAL_UNKNOWN 0xffffffu

/* B/s as JetMax has it in its option, and back. */
RW_INLINE __u32 rw_rate_real(__u64 rate)
{
	return rw_real(rate, RW_RATE_MANTISSA);
}

RW_INLINE __u64 rw_real_rate(__u32 field)
{
	return (__u64)(field & ((1u << RW_RATE_MANTISSA) - 1)) << (field >> RW_RATE_MANTISSA & 31);
}

RW_INLINE __u32 rw_load_real(__u64 load)
{
	return rw_real(load, RW_LOAD_MANTISSA);
}

/* X, the time that a sender of this rate takes for this many bytes: 0 for a rate of 0, at most
 * RW_MOST_X, in units of 2^-30 s. */
#define RW_X_SECOND 30
#define RW_MOST_X 0xffffffffull

RW_INLINE __u64 rw_x(__u64 size, __u64 rate)
{
	return rate ? rw_min((size << RW_X_SECOND) / rate, RW_MOST_X) : 0;
}

/* Fraction bits of a sender's rate. */
#define RW_SENDER_FRACTION 8

/* Shortest time in which routers answer: no control interval is shorter. */
#define RW_SHORTEST_ANSWER_US 5000

/* First rate, once an RTT is known and before the first feedback: window bytes in each RTT, or
 * in the shortest answer's time. */
RW_INLINE __u64 rw_first_rate(__u64 window, __u64 rtt_us)
{
	return rw_min(rw_mul_shift(window, 1000000, 0) / rw_max(rtt_us, RW_SHORTEST_ANSWER_US), RW_MOST_RATE);
}
