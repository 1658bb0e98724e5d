/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* Integer arithmetic of the laws: the kernel has no floating point, and BPF no 128-bit product.
 *
 * Units in all of bpf/laws: bytes, bytes per second, and nanoseconds or microseconds, as names
 * state. Domain: rates up to RW_MOST_RATE (549 Gbit/s), times up to an hour. Everything
 * saturates; nothing wraps. */
#pragma once

#ifndef __VMLINUX_H__
#include <linux/types.h>
#endif

#define RW_MOST (~0ull >> 1)
#define RW_MOST_RATE (1ull << 36)

#define RW_INLINE static inline __attribute__((always_inline))

/* A separate function for BPF's verifier, which then examines it once and not for each preceding
 * path. Such a function returns a number and has at most five arguments. A packet calls one only
 * at the end of an interval, so that a packet's path stays short; at a policed port, a few. */
#ifdef __bpf__
#define RW_FUNCTION __attribute__((noinline))
#define RW_NONNULL __attribute__((btf_decl_tag("arg:nonnull")))
#else
#define RW_FUNCTION static __attribute__((noinline))
#define RW_NONNULL
#endif

RW_INLINE __u64 rw_min(__u64 a, __u64 b)
{
	return a < b ? a : b;
}

RW_INLINE __u64 rw_max(__u64 a, __u64 b)
{
	return a > b ? a : b;
}

/* a - b, not below 0. */
RW_INLINE __u64 rw_less(__u64 a, __u64 b)
{
	return a > b ? a - b : 0;
}

/* a + b, at most RW_MOST. */
RW_INLINE __u64 rw_add(__u64 a, __u64 b)
{
	__u64 sum = a + b;

	return sum < a || sum > RW_MOST ? RW_MOST : sum;
}

/* a * b / 2^shift rounded down, at most RW_MOST; shift below 64. */
RW_INLINE __u64 rw_mul_shift(__u64 a, __u64 b, __u32 shift)
{
	__u64 ah = a >> 32, al = (__u32)a, bh = b >> 32, bl = (__u32)b;
	__u64 ll = al * bl, lh = al * bh, hl = ah * bl, hh = ah * bh;
	__u64 mid = (ll >> 32) + (__u32)lh + (__u32)hl;
	__u64 low = (mid << 32) | (__u32)ll;
	__u64 high = hh + (lh >> 32) + (hl >> 32) + (mid >> 32);

	shift &= 63;
	if (high >> shift)
		return RW_MOST;
	if (shift)
		low = (high << (64 - shift)) | (low >> shift);
	return rw_min(low, RW_MOST);
}

/* Flows are counted in 2^-16. */
#define RW_FLOWS 16
/* Time over which reported figures are averaged: a single interval may have few packets. */
#define RW_RECENT_US 250000

/* A mean of about the last RW_RECENT_US, updated by a value that held this long. */
RW_INLINE __u64 rw_recent(__u64 mean, __u64 value, __u64 for_us)
{
	for_us = rw_min(for_us, RW_RECENT_US);
	return rw_add(rw_mul_shift(mean, RW_RECENT_US - for_us, 0), rw_mul_shift(value, for_us, 0)) / RW_RECENT_US;
}

/* Number of bits of n. */
RW_INLINE __u32 rw_bits(__u64 n)
{
	__u32 bits = 0;

	if (n >> 32) { n >>= 32; bits += 32; }
	if (n >> 16) { n >>= 16; bits += 16; }
	if (n >> 8) { n >>= 8; bits += 8; }
	if (n >> 4) { n >>= 4; bits += 4; }
	if (n >> 2) { n >>= 2; bits += 2; }
	if (n >> 1) { n >>= 1; bits += 1; }
	return bits + (__u32)n;
}

/* A share: value / 2^shift, below 2^32, with as many bits as fit. A packet's part is then one
 * product. */
struct rw_share {
	__u32 value;
	__u32 shift;
};

/* n / d as a share; 0 for a d of 0, and the maximum for a larger quotient. n below 2^62. */
RW_FUNCTION int rw_share_of(struct rw_share *share RW_NONNULL, __u64 n, __u64 d)
{
	__u32 shift = rw_less(62, rw_bits(n));
	__u64 value = d ? (n << (shift & 63)) / d : 0;
	__u32 over = rw_less(rw_bits(value), 32);

	if (over > shift) {
		value = ~0u;
		shift = over;
	} else {
		value >>= over & 63;
	}
	share->value = (__u32)value;
	share->shift = shift - over;
	return 0;
}

/* share * n, rounded down; n below 2^32. */
RW_INLINE __u64 rw_part(const struct rw_share *share, __u64 n)
{
	return ((__u64)share->value * (__u32)n) >> (share->shift & 63);
}

/* share * n rounded down, at most RW_MOST. */
RW_INLINE __u64 rw_times(const struct rw_share *share, __u64 n)
{
	return rw_mul_shift(share->value, n, share->shift);
}
