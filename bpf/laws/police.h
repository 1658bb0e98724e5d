/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* A policer in integers: holds a flow to what its packets claim and to what the port granted it. It
 * trusts neither senders nor receivers. The simulator's policer (crates/net/src/policer) states the
 * reasons for both limits:
 * - Time: the X = size / rate that packets claim cannot sum to more than the time in which they
 *   passed. Under laws whose ports grant rates, a rate above the granted one is not believed.
 * - Rate: a flow may send at the rate that it first claimed, up to the port's, changed by what the
 *   port granted since. A grant that reduces the rate counts two rounds later. An unused grant
 *   lapses by half in each round in which the flow sends, as it does at senders. Packets beyond the
 *   rate are dropped.
 *
 * Differences from the simulator's policer:
 * - the limit is a rate and no window, because senders in the kernel keep rates;
 * - a false X is corrected to the rate that the flow was measured to send at, and not to the time
 *   that is left. Headers here state rates and sum changes by bytes: a packet with no time left
 *   would state an endless rate;
 * - a flow begins with the rate of an initial window at least, whatever it claims;
 * - a round is at least 5 ms, in which routers answer, and a sender may claim up to a second at
 *   once after a pause, because it states what it measured over the pause;
 * - a flow that states no rate under a law whose headers state rates is other traffic.
 *
 * Valid for rates up to 549 Gbit/s and packets of up to 2^20 bytes. */
#pragma once

#include "option.h"

/* Verdicts. */
#define RW_POLICE_PASSES 0
#define RW_POLICE_CORRECTED 1
#define RW_POLICE_DROPPED 2

/* Tolerated excess over a granted rate: 0.05 in 2^-16. */
#define RW_POLICE_TOLERANCE 3277
/* Packets that any flow may send at once: an initial window (RFC 6928), and their largest common
 * size with link-layer headers. */
#define RW_POLICE_BURST 10
#define RW_POLICE_PACKET 1536
/* RTT that a flow without one is taken to have, and limits of a believed one. */
#define RW_POLICE_UNKNOWN_RTT_US 100000
#define RW_POLICE_LONGEST_RTT_US 1000000
/* Largest claim to time, and longest time between two packets that counts. */
#define RW_POLICE_PAUSE_NS 1000000000ull
/* The least rate of senders is a packet in this time. */
#define RW_POLICE_SLOWEST_US 50000

/* What a packet claims. */
struct rw_claim {
	/* Link-layer bytes of the packet, and of one of its segments. */
	__u64 size;
	__u64 segment;
	/* Rate that it states, B/s; 0 if the law's headers state none. */
	__u64 rate;
	/* RTT that it states; 0 for none. */
	__u32 rtt_us;
	/* Number of the sender's round, if the law's headers number rounds. */
	__u32 has_rounds;
	__u32 round;
	/* Ratio of what a flow may send to what it was granted, in 2^-16. */
	__u32 leeway;
	/* Rate of the port, B/s: a flow begins with no more. */
	__u64 capacity;
};

/* A flow that is watched. Rates are in B/s and 2^-RW_SENDER_FRACTION. */
struct rw_suspect {
	__u64 seen_ns;
	/* This round's beginning, and bytes that passed in it. */
	__u64 began_ns;
	__u64 passed;
	/* Rate that the flow claimed when the round began; the largest if its header does not tell. */
	__u64 claimed;
	/* Rate, with all grants before the last round; what was granted in the last round, and in
	 * this one. */
	__s64 base;
	__s64 last;
	__s64 fresh;
	/* Bytes that the flow may send now. */
	__u64 bytes;
	/* X that its packets may claim now; and by how much its claims fall short of the granted
	 * rate's. In 2^-RW_X_SECOND s. */
	__u64 time;
	__u64 unclaimed;
	/* Recent mean of the rate at which it sends, B/s; 0 before the first round is over. */
	__u64 measured;
	/* RTT as the flow claims, or the length of its numbered rounds. */
	__u32 rtt_us;
	__u32 round;
	/* Whether the port grants rates. */
	__u32 is_rated;
	__u32 pad;
};

#define RW_POLICE_MOST ((__s64)(RW_MOST_RATE << RW_SENDER_FRACTION))

RW_INLINE __s64 rw_police_bounded(__s64 rate)
{
	if (rate > RW_POLICE_MOST)
		return RW_POLICE_MOST;
	return rate < -RW_POLICE_MOST ? -RW_POLICE_MOST : rate;
}

RW_INLINE __u32 rw_police_believed(const struct rw_claim *claim)
{
	if (!claim->rtt_us)
		return RW_POLICE_UNKNOWN_RTT_US;
	return rw_min(rw_max(claim->rtt_us, RW_SHORTEST_ANSWER_US), RW_POLICE_LONGEST_RTT_US);
}

RW_INLINE __u64 rw_police_burst(const struct rw_claim *claim)
{
	__u64 packet = rw_max(claim->segment, RW_POLICE_PACKET);

	return rw_max(RW_POLICE_BURST * packet, 2 * claim->size);
}

RW_INLINE __u64 rw_police_claimed(const struct rw_claim *claim)
{
	return claim->rate ? rw_min(claim->rate, RW_MOST_RATE) << RW_SENDER_FRACTION : (__u64)RW_POLICE_MOST;
}

/* Begins to watch a flow, by its first packet, which rw_police_arrival has yet to see. */
RW_INLINE void rw_suspect_init(struct rw_suspect *suspect, const struct rw_claim *claim, __u64 now_ns)
{
	__u32 rtt_us = rw_police_believed(claim);
	__u64 first = rw_first_rate(rw_police_burst(claim), rtt_us) << RW_SENDER_FRACTION;

	*suspect = (struct rw_suspect){};
	suspect->seen_ns = now_ns;
	suspect->began_ns = now_ns;
	suspect->claimed = rw_police_claimed(claim);
	/* A sender that has had nothing to send states less than its rate; one that boasts, more than
	 * there is. */
	suspect->base = first;
	if (claim->rate)
		suspect->base = rw_max(rw_min(suspect->claimed, claim->capacity << RW_SENDER_FRACTION), first);
	suspect->bytes = rw_police_burst(claim);
	suspect->time = ((__u64)rtt_us << (RW_X_SECOND + 1)) / 1000000;
	suspect->rtt_us = rtt_us;
	suspect->round = claim->round;
}

/* The rate without the grants of this round. */
RW_INLINE __s64 rw_police_entitled(const struct rw_suspect *suspect)
{
	return suspect->base + suspect->last;
}

/* The rate with every increase of which the sender may know already, and what is tolerated. B/s in
 * 2^-RW_SENDER_FRACTION. */
RW_INLINE __u64 rw_police_most(const struct rw_suspect *suspect, const struct rw_claim *claim)
{
	__u64 least = (claim->segment * 1000000 / RW_POLICE_SLOWEST_US) << RW_SENDER_FRACTION;
	__u64 most = suspect->base;

	if (suspect->last > 0)
		most += suspect->last;
	if (suspect->fresh > 0)
		most += suspect->fresh;
	return rw_mul_shift(rw_max(most, least), claim->leeway, 16);
}

/* Fills both buckets with the time that has passed. */
RW_INLINE void rw_police_fill(struct rw_suspect *suspect, const struct rw_claim *claim, __u64 now_ns, __u64 most)
{
	__u64 passed = rw_min(rw_less(now_ns, suspect->seen_ns), RW_POLICE_PAUSE_NS);
	__u64 x = (passed << RW_X_SECOND) / 1000000000;
	__u64 window = rw_mul_shift(most, suspect->rtt_us, RW_SENDER_FRACTION) / 1000000;

	suspect->seen_ns = rw_max(suspect->seen_ns, now_ns);
	/* A sixty-fourth more, for rounding and for the link layer's headers. */
	suspect->time = rw_min(suspect->time + x + x / 64, 1ull << RW_X_SECOND);
	suspect->bytes += rw_mul_shift(most, passed, RW_SENDER_FRACTION) / 1000000000;
	suspect->bytes = rw_min(suspect->bytes, window + rw_police_burst(claim));
}

/* Once a round: adds the grants of the last one to the base, because the sender must know of them
 * now. */
RW_INLINE void rw_police_round(struct rw_suspect *suspect, const struct rw_claim *claim, __u64 now_ns)
{
	__u64 lasted_us = rw_less(now_ns, suspect->began_ns) / 1000, shortest = suspect->rtt_us, rate, seen;
	__s64 entitled = rw_police_entitled(suspect), used = suspect->claimed;

	if (claim->has_rounds)
		shortest = claim->round == suspect->round ? RW_POLICE_LONGEST_RTT_US : RW_SHORTEST_ANSWER_US;
	if (lasted_us < shortest)
		return;
	if (suspect->last > 0)
		used += suspect->last;
	/* Senders keep two packets in a round, used or not. */
	seen = rw_first_rate(2 * claim->segment, suspect->rtt_us) << RW_SENDER_FRACTION;
	if (entitled > used)
		entitled = rw_max((__u64)(entitled + used) / 2, rw_min(entitled, seen));
	suspect->base = entitled > 0 ? rw_police_bounded(entitled) : 0;
	suspect->last = suspect->fresh;
	suspect->fresh = 0;
	rate = rw_min(rw_mul_shift(suspect->passed, 1000000, 0) / lasted_us, RW_MOST_RATE);
	suspect->measured = suspect->measured ? rw_recent(suspect->measured, rate, lasted_us) : rate;
	suspect->passed = 0;
	/* Half of the way, so that one packet's claim has little effect. */
	if (claim->has_rounds)
		suspect->rtt_us += rw_min(lasted_us, RW_POLICE_LONGEST_RTT_US);
	else
		suspect->rtt_us += rw_police_believed(claim);
	suspect->rtt_us /= 2;
	suspect->claimed = rw_police_claimed(claim);
	suspect->round = claim->round;
	suspect->began_ns = now_ns;
}

/* Takes what a packet claims out of the time; returns the rate that is believed. */
RW_INLINE __u64 rw_police_believed_rate(struct rw_suspect *suspect, const struct rw_claim *claim, __u64 most)
{
	__u64 granted = rw_max(most >> RW_SENDER_FRACTION, 1), rate = claim->rate;
	__u64 x = rw_x(claim->size, rate), least = rw_x(claim->size, granted);
	__u64 round = ((__u64)suspect->rtt_us << RW_X_SECOND) / 1000000;
	/* In its first round a flow is not measured yet: a packet claims a round at most. */
	__u64 measured = suspect->measured ? suspect->measured : claim->size * 1000000 / suspect->rtt_us;

	suspect->unclaimed = rw_min(rw_less(suspect->unclaimed + least, x), round);
	/* It claimed too high a rate for a round. */
	if (suspect->is_rated && suspect->unclaimed == round && rate > granted) {
		rate = granted;
		x = least;
	}
	if (x > suspect->time && measured > rate) {
		rate = measured;
		x = rw_x(claim->size, rate);
	}
	suspect->time = rw_less(suspect->time, x);
	return rate;
}

/* Checks an arriving packet, before the port sees it. A corrected claim has another rate. */
RW_FUNCTION int rw_police_arrival(struct rw_suspect *suspect RW_NONNULL, struct rw_claim *claim RW_NONNULL,
				  __u64 now_ns)
{
	__u64 most = rw_police_most(suspect, claim), rate = claim->rate;

	rw_police_fill(suspect, claim, now_ns, most);
	if (suspect->bytes < claim->size)
		return RW_POLICE_DROPPED;
	suspect->bytes -= claim->size;
	if (rate)
		rate = rw_police_believed_rate(suspect, claim, most);
	suspect->passed += claim->size;
	rw_police_round(suspect, claim, now_ns);
	if (rate == claim->rate)
		return RW_POLICE_PASSES;
	claim->rate = rate;
	return RW_POLICE_CORRECTED;
}

/* Notes a change of the flow's rate, B/s a second, that the port granted in this packet. */
RW_FUNCTION int rw_police_change(struct rw_suspect *suspect RW_NONNULL, const struct rw_claim *claim RW_NONNULL,
				 __s64 change)
{
	__u64 magnitude = change < 0 ? -change : change, rate = claim->rate, step;
	__s64 entitled = rw_police_entitled(suspect);

	/* A sender that something else limits states less than its rate. It gives up the change in the
	 * time that the packet takes at its rate, and must not seem to give up more. One that states
	 * more than it may have must not seem to give up less. */
	if (change < 0) {
		if (entitled > 0)
			rate = rw_max(rate, (__u64)entitled >> RW_SENDER_FRACTION);
		rate = rw_min(rate, rw_police_most(suspect, claim) >> RW_SENDER_FRACTION);
	}
	step = rw_mul_shift(magnitude, claim->size << RW_SENDER_FRACTION, 0) / rw_max(rate, 1);
	step = rw_min(step, RW_POLICE_MOST);
	suspect->fresh = rw_police_bounded(suspect->fresh + (change < 0 ? -(__s64)step : (__s64)step));
	return 0;
}

/* Notes a rate, B/s, that the port granted. A rate of 0 is none: the port has none to offer yet. */
RW_INLINE void rw_police_rate(struct rw_suspect *suspect, __u64 rate)
{
	if (!rate)
		return;
	suspect->is_rated = 1;
	suspect->fresh = (__s64)(rw_min(rate, RW_MOST_RATE) << RW_SENDER_FRACTION) - rw_police_entitled(suspect);
}
