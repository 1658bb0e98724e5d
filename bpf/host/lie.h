/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* Lies of hosts, for tests of policers: those that the simulator knows, as its laws' trust.rs state
 * them. */
#pragma once

#include "connection.h"

/* Set before loading. */
const volatile struct lie lie = { 0, 1 << 16, 1 << 16, 1 << 16, 0 };

/* Whether a connection with these ports lies. */
static __always_inline int is_lying(__u32 local, __u32 remote)
{
	return lie.port && (local == lie.port || remote == lie.port);
}

/* Changes the header of a departing packet. */
static __always_inline void lie_sending(const struct flow *flow, struct rw_header *header)
{
	if (!flow->lies)
		return;
	header->rtt_us = (__u32)rw_min(rw_mul_shift(header->rtt_us, lie.rtt, 16), ~0u);
	/* RCP's header states no rate of the sender. */
	if (law == HOST_XCP)
		header->rate = rw_mul_shift(header->rate, lie.throughput, 16);
}

/* Changes the same of JetMax. A sender that names no router is bound elsewhere. */
static __always_inline void lie_sending_jetmax(const struct flow *flow, struct rw_jetmax_header *header)
{
	if (!flow->lies)
		return;
	header->rate = rw_rate_real(rw_mul_shift(rw_real_rate(header->rate), lie.throughput, 16));
	if (lie.ignore_feedback)
		header->bottleneck = 0;
}

/* Changes the answer that a receiver returns: a change under XCP, else a rate, as in the option. */
static __always_inline __u32 lie_returning(const struct flow *flow, __u32 answer)
{
	__s32 change = (__s32)answer;

	if (!flow->lies)
		return answer;
	if (law != HOST_XCP)
		return (__u32)rw_min(rw_mul_shift(answer, lie.inflate, 16), ~0u);
	if (change < 0) {
		__u64 magnitude = -(__s64)change;

		return -(__u32)rw_min((magnitude << 16) / rw_max(lie.inflate, 1), 0x7fffffff);
	}
	return (__u32)rw_min(rw_mul_shift(change, lie.inflate, 16), 0x7fffffff);
}

/* Changes the same of JetMax. */
static __always_inline void lie_returning_jetmax(const struct flow *flow, struct rw_jetmax_answer *answer)
{
	if (flow->lies && answer->fair != RW_REAL_UNKNOWN)
		answer->fair = rw_rate_real(rw_mul_shift(rw_real_rate(answer->fair), lie.inflate, 16));
}

/* Changes the answer that a sender reads. */
static __always_inline __u32 lie_reading(const struct flow *flow, __u32 answer)
{
	if (!flow->lies || !lie.ignore_feedback)
		return answer;
	if (law != HOST_XCP)
		return ~0u;
	return (__s32)answer < 0 ? 0 : answer;
}

/* Changes the same of JetMax: the liar accepts any rate, and approves no router. */
static __always_inline void lie_reading_jetmax(const struct flow *flow, struct rw_jetmax_answer *answer)
{
	if (!flow->lies || !lie.ignore_feedback)
		return;
	answer->fair = rw_rate_real(RW_MOST_RATE);
	answer->router = 0;
}
