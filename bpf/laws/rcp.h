/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* RCP and PIQI-RCP at a router, in integers: one rate for all flows, moved once a slot.
 *
 *   RCP       R += R (T/d) (alpha (gamma C - y) - beta q/d) / (gamma C)
 *   PIQI-RCP  R += R (T/d) integral (gamma C - y) / (gamma C), reconstructed; see laws/piqi_rcp
 *
 * T = min(d, slot), d the mean RTT of packets by bytes, y the arrival rate of the slot, q the
 * queue at its end.
 *
 * Differences from laws/rcp:
 * - a packet counts wholly in the slot in which it arrives;
 * - slots end when a packet arrives or a timer of the caller's fires;
 * - d is 10 ms at first, not 200, because it rises in a round trip and falls slowly; it is at
 *   least 5 ms.
 *
 * Valid for capacities up to 549 Gbit/s and RTTs up to 1 s. */
#pragma once

#include "option.h"

#define RW_RCP_SLOT_US 10000
#define RW_RCP_FIRST_RTT_US 10000
#define RW_RCP_MOST_RTT_US 1000000
/* Lower bound of d: below it, q/d would make a few waiting packets look like a large overload. */
#define RW_RCP_LEAST_RTT_US 5000
/* R is at least a hundredth of a packet of 1000 bytes in an RTT. */
#define RW_RCP_LEAST_WINDOW 10

struct rw_rcp_rule {
	/* Gains, in 2^-16. */
	__u32 spare;
	__u32 queue;
	__u32 target;
	/* Longest slot. */
	__u32 slot_us;
};

/* 0.4, 0.226, 1; 0.5, 0, 0.95. */
#define RW_RCP_RULE { 26214, 14811, 65536, RW_RCP_SLOT_US }
#define RW_PIQI_RULE { 32768, 0, 62259, RW_RCP_SLOT_US }

struct rw_rcp {
	__u64 capacity;
	struct rw_rcp_rule rule;
	/* R, in B/s and 2^-8. */
	__u64 rate;

	/* Sums of this slot. */
	__u64 input;
	__u64 rtt_bytes;
	__u64 sum_rtt;

	/* d, and its measure in the last slot with a packet that knew its RTT. In 2^-8 us. */
	__u64 rtt;
	__u64 sample;
	__u64 slot_us;
	__u64 slot_at_ns;

	/* Reported figures: arrivals of the slot before, the queue at its end, and recent means of
	 * arrivals and of R; their ratio is the number of flows. */
	__u64 input_bw;
	__u64 queue;
	__u64 recent_input;
	__u64 recent_rate;
};

#define RW_RCP_FRACTION 8

RW_INLINE void rw_rcp_init(struct rw_rcp *port, __u64 capacity, const struct rw_rcp_rule *rule, __u64 now_ns)
{
	*port = (struct rw_rcp){};
	port->capacity = rw_min(capacity, RW_MOST_RATE);
	port->rule = *rule;
	port->rate = (port->capacity << RW_RCP_FRACTION) / 20;
	port->rtt = (__u64)RW_RCP_FIRST_RTT_US << RW_RCP_FRACTION;
	port->slot_us = rw_min(rule->slot_us, RW_RCP_FIRST_RTT_US);
	port->slot_at_ns = now_ns + port->slot_us * 1000;
}

/* Updates d. It rises within an RTT, and falls more slowly the more flows there are, as in ns-2. */
RW_FUNCTION int rw_rcp_mean_rtt(struct rw_rcp *port RW_NONNULL)
{
	struct rw_share gain;
	__u64 slot = port->slot_us << RW_RCP_FRACTION;

	if (port->rtt_bytes)
		port->sample = rw_mul_shift(port->sum_rtt, 1 << RW_RCP_FRACTION, 0) / port->rtt_bytes;
	rw_share_of(&gain, rw_min(slot, port->rtt), port->rtt);
	if (port->sample >= port->rtt) {
		port->rtt += rw_times(&gain, port->sample - port->rtt);
	} else {
		__u64 step = rw_times(&gain, port->rtt - port->sample);
		struct rw_share down, flow;

		rw_share_of(&down, port->sample, port->rtt);
		rw_share_of(&flow, port->rate >> RW_RCP_FRACTION, port->capacity);
		step = rw_times(&down, step);
		port->rtt -= rw_min(rw_times(&flow, step), port->rtt);
	}
	port->rtt = rw_max(port->rtt, (__u64)RW_RCP_LEAST_RTT_US << RW_RCP_FRACTION);
	port->sum_rtt = 0;
	port->rtt_bytes = 0;
	return 0;
}

RW_FUNCTION int rw_rcp_slot(struct rw_rcp *port RW_NONNULL, __u64 now_ns, __u64 queue)
{
	__u64 target = rw_mul_shift(port->capacity, port->rule.target, 16);

	port->queue = queue;
	if (target) {
		__u64 rtt_us, spare, excess, least;
		struct rw_share step, slot;

		rw_rcp_mean_rtt(port);
		rtt_us = rw_max(port->rtt >> RW_RCP_FRACTION, 1);
		port->input_bw = rw_min(rw_mul_shift(port->input, 1000000, 0) / port->slot_us, RW_MOST_RATE);
		port->recent_input = rw_recent(port->recent_input, port->input_bw, port->slot_us);
		port->recent_rate = rw_recent(port->recent_rate, port->rate, port->slot_us);
		spare = rw_mul_shift(rw_less(target, port->input_bw), port->rule.spare, 16);
		excess = rw_mul_shift(rw_less(port->input_bw, target), port->rule.spare, 16);
		excess += rw_mul_shift(rw_min(rw_mul_shift(queue, 1000000, 0) / rtt_us, RW_MOST_RATE),
				       port->rule.queue, 16);
		rw_share_of(&slot, rw_min(port->slot_us, rtt_us), rtt_us);
		rw_share_of(&step, spare > excess ? spare - excess : excess - spare, target);
		least = ((__u64)RW_RCP_LEAST_WINDOW * 1000000 << RW_RCP_FRACTION) / rtt_us;
		if (spare > excess)
			port->rate += rw_times(&step, rw_times(&slot, port->rate));
		else
			port->rate = rw_less(port->rate, rw_times(&step, rw_times(&slot, port->rate)));
		port->rate = rw_max(rw_min(port->rate, target << RW_RCP_FRACTION), rw_max(least, 1));
	}
	port->input = 0;
	port->slot_us = rw_max(rw_min(port->rtt >> RW_RCP_FRACTION, port->rule.slot_us), 1);
	port->slot_at_ns = now_ns + port->slot_us * 1000;
	return 0;
}

RW_INLINE int rw_rcp_is_due(const struct rw_rcp *port, __u64 now_ns)
{
	return port->slot_at_ns <= now_ns;
}

/* Does what is due. A slot that ends late keeps its actual length. */
RW_INLINE void rw_rcp_timers(struct rw_rcp *port, __u64 now_ns, __u64 queue)
{
	if (!rw_rcp_is_due(port, now_ns))
		return;
	port->slot_us += (now_ns - port->slot_at_ns) / 1000;
	rw_rcp_slot(port, now_ns, queue);
}

/* The rate for all, B/s. */
RW_INLINE __u64 rw_rcp_offer(const struct rw_rcp *port)
{
	return port->rate >> RW_RCP_FRACTION;
}

/* Handles a packet that joins a queue of queue bytes; header is null if it carries none. */
RW_INLINE void rw_rcp_packet(struct rw_rcp *port, __u64 now_ns, __u64 size, __u64 queue, struct rw_header *header)
{
	rw_rcp_timers(port, now_ns, queue);
	port->input += size;
	if (!header)
		return;
	if (header->rtt_us) {
		port->sum_rtt += size * rw_min(header->rtt_us, RW_RCP_MOST_RTT_US);
		port->rtt_bytes += size;
	}
	header->rate = rw_min(header->rate, rw_rcp_offer(port));
}

/* RCP's or PIQI-RCP's sender. It takes the offered rate at once; PIQI-RCP takes a higher rate by
 * a ramp. */
struct rw_rcp_sender {
	/* B/s in 2^-RW_RCP_FRACTION; 0 before routers have stated a rate. */
	__u64 allowed;
	/* Desired rate, and the rate that routers offered last. B/s. */
	__u64 desired;
	__u64 offered;
	/* Maximum of allowed about a round trip ago, in the same units. */
	__u64 recent;
	/* Half of recent when the last loss was noticed. */
	__u64 cap;
	/* Time of the last change of allowed; and PIQI-RCP's ramp, its share of the way in an RTT,
	 * in 2^-16; 0 takes the rate at once. */
	__u64 climbed_us;
	__u32 ramp;
	__u32 pad;
};

#define RW_PIQI_RAMP 32768

RW_INLINE __u64 rw_rcp_rate(const struct rw_rcp_sender *sender)
{
	return sender->allowed >> RW_RCP_FRACTION;
}

/* Writes the header of a departing packet. */
RW_INLINE void rw_rcp_send(const struct rw_rcp_sender *sender, __u64 rtt_us, struct rw_header *header)
{
	*header = (struct rw_header){};
	header->rate = sender->desired;
	header->rtt_us = (__u32)rw_min(rtt_us, ~0u);
}

/* Handles an offered rate. It is bounded by the desired rate and by the least: a packet paced at
 * nearly 0 would keep the sender waiting long after routers have offered another rate. While a
 * loss is repaired, half of the rate is taken. It may rise then too: otherwise the rate that was
 * offered while queues drain would pace the whole repair. */
RW_INLINE void rw_rcp_offered(struct rw_rcp_sender *sender, __u64 now_us, __u64 rate, __u64 rtt_us, __u64 least,
			      __u32 is_repairing)
{
	__u64 target = rw_min(rw_min(rate, sender->desired), RW_MOST_RATE) << RW_RCP_FRACTION;
	__u64 elapsed = rw_min(rw_less(now_us, sender->climbed_us), rtt_us);

	sender->offered = target >> RW_RCP_FRACTION;
	sender->climbed_us = now_us;
	if (is_repairing)
		target /= 2;
	if (target <= sender->allowed || !sender->ramp || !rtt_us) {
		sender->allowed = target;
	} else {
		__u64 step = rw_mul_shift(target - sender->allowed, sender->ramp, 16);

		sender->allowed += rw_mul_shift(step, elapsed, 0) / rtt_us;
	}
	/* Never 0, which means that routers have offered no rate yet. */
	sender->allowed = rw_max(sender->allowed, rw_max(least, 1) << RW_RCP_FRACTION);
	if (rtt_us)
		sender->recent -= rw_mul_shift(sender->recent / 2, elapsed, 0) / rtt_us;
	sender->recent = rw_max(sender->recent, sender->allowed);
}

/* Handles a loss: half of the rate, until routers offer another. */
RW_INLINE void rw_rcp_loss(struct rw_rcp_sender *sender, __u64 least)
{
	sender->cap = rw_max(sender->recent / 2, least << RW_RCP_FRACTION);
	sender->allowed = rw_min(sender->allowed, rw_max(sender->allowed / 2, least << RW_RCP_FRACTION));
}

/* Handles an acknowledgement without feedback and without a further loss: acknowledgements that
 * report three gaps have no room for feedback. If many packets are lost, the last feedback, from
 * the time of the losses, is the least rate, and would pace the whole repair. So the rate
 * doubles in a round trip, up to half of the rate at which the lost packets were sent. */
RW_INLINE void rw_rcp_unheard(struct rw_rcp_sender *sender, __u64 now_us, __u64 rtt_us)
{
	__u64 elapsed = rw_min(rw_less(now_us, sender->climbed_us), rtt_us);

	if (!rtt_us || sender->allowed >= sender->cap)
		return;
	sender->climbed_us = now_us;
	sender->allowed = rw_min(sender->allowed + rw_mul_shift(sender->allowed, elapsed, 0) / rtt_us, sender->cap);
}
