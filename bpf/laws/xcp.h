/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* XCP's router in integers (draft-falk-xcp-spec-03, 4.2), for a hook that sees each packet once, as
 * it joins the queue.
 *
 * Differences from the draft:
 * - the header's change is that of the flow's rate in time (option.h);
 * - X is size / rate, at most RW_MOST_X, in units of 2^-30 s: nearly nanoseconds, and a gift per
 *   second is a shift away;
 * - grants are computed from the sums of the interval before, as in the draft, but as packets
 *   arrive: the queue is first-in-first-out, so the order is the same;
 * - the control timer is checked when a packet arrives, or a timer of the caller's fires
 *   (rw_xcp_timers);
 * - after an interval in which no packet stated its rate, Cp is as for one flow. The draft divides
 *   by 0. A sender after a pause may not appear in two consecutive intervals. The residue bounds
 *   the sum of all gifts;
 * - a rate ages to no less than two packets in the RTT or in the shortest interval.
 *
 * Valid for capacities up to 549 Gbit/s, RTTs up to 1 s and intervals of up to 2^62 bytes. */
#pragma once

#include "option.h"

/* Fraction bits of residues. */
#define RW_XCP_FRACTION 10

/* What a port is set to. */
struct rw_xcp_constants {
	/* Gains, in 2^-16. */
	__u32 alpha;
	__u32 beta;
	__u32 gamma;
	/* Bounds of a control interval, and of the mean RTT; the largest is at most a second. */
	__u32 min_interval_us;
	__u32 max_interval_us;
	/* Shortest interval of the queue estimator. */
	__u32 allowed_queue_us;
	/* Share, in 2^-16 and below 1, of the rate that flows were permitted and that did not come
	 * which still counts in the next interval as if it came. */
	__u32 memory;
	__u32 pad;
	/* Bytes, or 0 for none: size of a queue that is filled to 0.6 at most by what is given, and
	 * most that the queue holds. */
	__u64 queue_cap;
	__u64 queue_limit;
};

/* 0.4, 0.226, 0.1. */
#define RW_XCP_CONSTANTS { 26214, 14811, 6554, RW_SHORTEST_ANSWER_US, 1000000, 2000, 0, 0, 0, 0 }
/* Room that a full queue counts as. */
#define RW_XCP_LEAST_ROOM 1500

struct rw_xcp {
	__u64 capacity;
	struct rw_xcp_constants constants;

	/* Sums of this control interval. */
	__u64 input;
	__u64 sum_x;
	/* Sum of X of the packets that know their RTT, and of X RTT, in 2^10 us. */
	__u64 sum_x_known;
	__u64 sum_x_rtt;

	/* Gifts and takings of this interval, B/s in 2^-RW_XCP_FRACTION: their sums, by X, and
	 * by byte. */
	__u64 residue_pos;
	__u64 residue_neg;
	struct rw_share cp;
	struct rw_share cn;
	/* cp per second: B/s a second for each flow. */
	__u64 gain;

	__u64 avg_rtt_us;
	__u64 interval_us;
	__u64 control_at_ns;

	/* The persistent queue. */
	__u64 queue;
	__u64 least_queue;
	__u64 queue_at_ns;

	/* Reported figures of the interval before: arrivals, and the feedback computed. */
	__u64 input_bw;
	__s64 feedback;
	/* Rate that flows were permitted and that has not come. */
	__u64 unused;
	/* Reported: number of flows in 2^-RW_FLOWS, as a recent mean. A flow that sends at its
	 * stated rate has an X of an interval's length. */
	__u64 flows;
	/* Reported: mean of the RTTs that packets last stated; avg_rtt_us has bounds. */
	__u64 told_rtt_us;
	/* Reported, of the last control interval: the queue as it counted, and the most that could
	 * be given. */
	__u64 counted_queue;
	__u64 most;
};

RW_INLINE void rw_xcp_init(struct rw_xcp *port, __u64 capacity, const struct rw_xcp_constants *constants,
			   __u64 now_ns)
{
	*port = (struct rw_xcp){};
	port->capacity = rw_min(capacity, RW_MOST_RATE);
	port->constants = *constants;
	port->avg_rtt_us = constants->min_interval_us;
	port->interval_us = constants->min_interval_us;
	port->control_at_ns = now_ns + constants->min_interval_us * 1000ull;
	port->queue_at_ns = port->control_at_ns;
}

/* Notes the rate that flows were permitted by the end of the interval before, as it came or was
 * granted, and that did not come in this one. */
RW_FUNCTION int rw_xcp_note_unused(struct rw_xcp *port RW_NONNULL, __u64 input_bw)
{
	__s64 net = port->feedback - (__s64)(port->residue_pos >> RW_XCP_FRACTION) +
		    (__s64)(port->residue_neg >> RW_XCP_FRACTION);
	__s64 missing = (__s64)(port->input_bw + port->unused) + net - (__s64)input_bw;

	port->unused = missing > 0 ? rw_mul_shift(missing, port->constants.memory, 16) : 0;
	return 0;
}

/* The persistent queue as it counts while so much waits: more, the nearer the queue is to what it
 * holds. */
RW_FUNCTION __u64 rw_xcp_effective_queue(const struct rw_xcp *port RW_NONNULL, __u64 waiting)
{
	__u64 limit = port->constants.queue_limit, full = rw_min(waiting, limit);

	if (!limit)
		return port->queue;
	return rw_mul_shift(rw_max(port->queue, rw_mul_shift(waiting, full, 0) / limit), limit, 0) /
	       rw_max(limit - full, RW_XCP_LEAST_ROOM);
}

/* Ends a control interval (lines 7 to 18), while so much waits. */
RW_FUNCTION int rw_xcp_control(struct rw_xcp *port RW_NONNULL, __u64 now_ns, __u64 waiting)
{
	__u64 spare, excess, magnitude, shuffled, draining, flows, one_flow, input_bw;
	__u64 known = port->sum_x_known >> 10;

	if (known) {
		port->told_rtt_us = port->sum_x_rtt / known;
		port->avg_rtt_us = rw_min(rw_max(port->told_rtt_us, port->constants.min_interval_us),
					  port->constants.max_interval_us);
	}
	input_bw = rw_mul_shift(port->input, 1000000, 0) / rw_max(port->interval_us, 1);
	input_bw = rw_min(input_bw, RW_MOST_RATE);
	rw_xcp_note_unused(port, input_bw);
	port->input_bw = input_bw;
	flows = rw_mul_shift(port->sum_x, 1000000, RW_X_SECOND - RW_FLOWS) / rw_max(port->interval_us, 1);
	port->flows = rw_recent(port->flows, flows, port->interval_us);

	spare = rw_less(port->capacity, input_bw + port->unused);
	excess = rw_less(input_bw + port->unused, port->capacity);
	port->counted_queue = rw_xcp_effective_queue(port, waiting);
	draining = rw_mul_shift(port->counted_queue, 1000000, 0) / port->avg_rtt_us;
	spare = rw_mul_shift(spare, port->constants.alpha, 16);
	excess = rw_mul_shift(excess, port->constants.alpha, 16);
	excess += rw_mul_shift(rw_min(draining, RW_MOST_RATE), port->constants.beta, 16);
	port->feedback = (__s64)spare - (__s64)excess;
	if (port->constants.queue_cap) {
		__u64 room = rw_less(port->constants.queue_cap / 10 * 6, waiting);

		port->most = rw_min(rw_mul_shift(room, 1000000, 0) / port->avg_rtt_us, RW_MOST_RATE);
		if (port->feedback > (__s64)port->most)
			port->feedback = port->most;
	}
	magnitude = port->feedback < 0 ? -port->feedback : port->feedback;

	shuffled = rw_less(rw_mul_shift(port->input_bw, port->constants.gamma, 16), magnitude);
	port->residue_pos = (shuffled + (port->feedback > 0 ? magnitude : 0)) << RW_XCP_FRACTION;
	port->residue_neg = (shuffled + (port->feedback < 0 ? magnitude : 0)) << RW_XCP_FRACTION;
	one_flow = (port->avg_rtt_us << RW_X_SECOND) / 1000000;
	rw_share_of(&port->cp, port->residue_pos, port->sum_x ? port->sum_x : one_flow);
	rw_share_of(&port->cn, port->residue_neg, port->input);
	port->gain = rw_times(&port->cp, 1ull << (RW_X_SECOND - RW_XCP_FRACTION));

	port->input = 0;
	port->sum_x = 0;
	port->sum_x_known = 0;
	port->sum_x_rtt = 0;
	port->interval_us = port->avg_rtt_us;
	port->control_at_ns = now_ns + port->interval_us * 1000;
	return 0;
}

/* The queue's timer (lines 29 and 30). */
RW_FUNCTION int rw_xcp_queue_timer(struct rw_xcp *port RW_NONNULL, __u64 now_ns, __u64 queue)
{
	__u64 queueing_us = port->capacity ? rw_mul_shift(queue, 1000000, 0) / port->capacity : 0;
	__u64 next_us = rw_less(port->avg_rtt_us, queueing_us) / 2;

	port->queue = port->least_queue;
	port->least_queue = queue;
	port->queue_at_ns = now_ns + rw_max(next_us, port->constants.allowed_queue_us) * 1000;
	return 0;
}

RW_INLINE int rw_xcp_is_due(const struct rw_xcp *port, __u64 now_ns)
{
	return port->queue_at_ns <= now_ns || port->control_at_ns <= now_ns;
}

/* Does what is due. An interval that ends late keeps its actual length, to which its sums
 * belong. */
RW_INLINE void rw_xcp_timers(struct rw_xcp *port, __u64 now_ns, __u64 queue)
{
	if (port->least_queue > queue)
		port->least_queue = queue;
	if (port->queue_at_ns <= now_ns)
		rw_xcp_queue_timer(port, now_ns, queue);
	if (port->control_at_ns <= now_ns) {
		port->interval_us += (now_ns - port->control_at_ns) / 1000;
		rw_xcp_control(port, now_ns, queue);
	}
}

/* Grants feedback to a packet of this rate, spacing and size (lines 19 to 28). */
RW_INLINE void rw_xcp_grant(struct rw_xcp *port, struct rw_header *header, __u64 x, __u64 size)
{
	__u64 pos = rw_part(&port->cp, x), neg = rw_part(&port->cn, size);
	/* Cp - Cn rate; a flow that does not know its rate gains nothing. */
	__u64 taken = rw_part(&port->cn, rw_max(header->rate, size) >> RW_RATE_UNIT) >>
		      (RW_XCP_FRACTION - RW_RATE_UNIT);
	__s64 allotted = (header->rate ? (__s64)port->gain : 0) - (__s64)taken;

	if (header->change > allotted) {
		header->change = allotted;
	} else if (header->rate) {
		/* Another router, or the sender, wanted less: the rest of the packet's part goes to
		 * the others. */
		__u64 wish = header->change < 0 ? -header->change : header->change;
		__u64 part = (wish >> RW_CHANGE_UNIT) * x >> (RW_X_SECOND - RW_XCP_FRACTION - RW_CHANGE_UNIT);

		if (header->change < 0) {
			neg = rw_min(port->residue_neg, rw_add(pos, part));
			pos = rw_less(neg, part);
		} else {
			neg = rw_min(port->residue_neg, rw_less(pos, part));
			pos = part + neg;
		}
	}
	port->residue_pos = rw_less(port->residue_pos, pos);
	port->residue_neg = rw_less(port->residue_neg, neg);
	if (!port->residue_pos) {
		port->cp.value = 0;
		port->gain = 0;
	}
	if (!port->residue_neg)
		port->cn.value = 0;
}

/* Handles a packet that joins a queue of queue bytes; header is null if it carries none. Lines 1 to
 * 6 and 19 to 28. */
RW_INLINE void rw_xcp_packet(struct rw_xcp *port, __u64 now_ns, __u64 size, __u64 queue, struct rw_header *header)
{
	__u64 x;

	rw_xcp_timers(port, now_ns, queue);
	port->input += size;
	if (!header)
		return;
	x = rw_x(size, header->rate);
	port->sum_x += x;
	if (header->rtt_us) {
		__u64 x_rtt = x * rw_min(header->rtt_us, port->constants.max_interval_us) >> 10;

		port->sum_x_known += x;
		port->sum_x_rtt = rw_min(port->sum_x_rtt + x_rtt, RW_MOST);
	}
	rw_xcp_grant(port, header, x, size);
}

/* What a sender takes for its throughput. */
#define RW_XCP_MEASURED 0 /* the allowed rate, or while something else limits it the measured one */
#define RW_XCP_OUTSTANDING 1 /* outstanding data in each RTT */
#define RW_XCP_WINDOW 2 /* the allowed rate: window / RTT, used or not */

/* What a sender does: the draft's rules, or in their place those of the thesis's first
 * implementation (naive: RW_XCP_WINDOW, aging 0, not paced, bounded, not modest, heeds no loss). */
struct rw_xcp_rules {
	__u32 throughput;
	/* Share of the unused rate that ages in each RTT, p in 2^-16. */
	__u32 aging;
	/* Whether packets are spread over the RTT, and not sent on each acknowledgement. */
	__u32 paced;
	/* Whether the rate is at most what the receiver's window carries. */
	__u32 bounded;
	/* Whether it has no wish while application or receiver limit it. */
	__u32 modest;
	/* Whether a loss halves the rate. */
	__u32 heeds_loss;
	/* Number of flows, in 2^-16, as which it counts: it states the rate of one of them. */
	__u32 weight;
};

#define RW_XCP_ONE_FLOW 65536
#define RW_XCP_RULES { RW_XCP_MEASURED, 32768, 1, 1, 1, 1, RW_XCP_ONE_FLOW }

/* XCP's sender in integers (4.1): the rate that routers allow, which gives window and pace. */
struct rw_xcp_sender {
	/* B/s in 2^-RW_SENDER_FRACTION; 0 before the first RTT is known. */
	__u64 allowed;
	/* Desired rate, B/s. */
	__u64 desired;

	/* This round: its start, bytes sent, and whether application or receiver limited it. */
	__u64 round_us;
	__u64 sent;
	__u32 limited;
	/* Whether the round before was limited, and its sending rate, B/s. */
	__u32 was_limited;
	__u64 measured;

	/* RTT at which the rate last was window / RTT. */
	__u64 rtt_us;
	struct rw_xcp_rules rules;
};

/* Larger acknowledgements count as this many bytes. */
#define RW_MOST_ACKED (1ull << 20)

/* Allowed rate, B/s. */
RW_INLINE __u64 rw_xcp_rate(const struct rw_xcp_sender *sender)
{
	return sender->allowed >> RW_SENDER_FRACTION;
}

/* Sets the allowed rate, in 2^-RW_SENDER_FRACTION, bounded by the desired rate and by the least. */
RW_INLINE void rw_xcp_allow(struct rw_xcp_sender *sender, __u64 allowed, __u64 least)
{
	__u64 most = rw_min(rw_max(sender->desired, least), RW_MOST_RATE);

	sender->allowed = rw_min(rw_max(allowed, least << RW_SENDER_FRACTION), most << RW_SENDER_FRACTION);
}

RW_INLINE void rw_xcp_set_rate(struct rw_xcp_sender *sender, __u64 rate, __u64 least)
{
	rw_xcp_allow(sender, rate << RW_SENDER_FRACTION, least);
}

/* Starts, once the first RTT is known. */
RW_INLINE void rw_xcp_start(struct rw_xcp_sender *sender, __u64 now_us, __u64 window, __u64 rtt_us)
{
	rw_xcp_set_rate(sender, rw_first_rate(window, rtt_us), 1);
	sender->round_us = now_us;
}

/* What is left of an unused rate that ages by this share, in 2^-16, in each of so many RTTs. */
RW_INLINE __u64 rw_aged(__u64 rate, __u32 aging, __u64 rounds)
{
	__u64 kept = rw_less(65536, aging);

	/* kept ^ rounds, by squares. */
	rounds = rw_min(rounds, 65535);
	for (__u32 i = 0; i < 16; i++) {
		if (rounds >> i & 1)
			rate = rw_mul_shift(rate, kept, 16);
		kept = kept * kept >> 16;
	}
	return rate;
}

/* Ends a round. The unused part of the allowed rate ages, by `aging`, for each RTT that passed
 * (4.1.3.1). The rate does not age below two packets in the time in which routers answer.
 * Routers know only flows that they see in each interval, and a pause of milliseconds can have
 * hundreds of round trips. */
RW_INLINE void rw_xcp_round(struct rw_xcp_sender *sender, __u64 now_us, __u64 rtt_us, __u64 packet, __u64 least)
{
	__u64 elapsed = rw_less(now_us, sender->round_us), rate = rw_xcp_rate(sender), aged, seen;

	if (!elapsed || elapsed < rtt_us)
		return;
	sender->measured = rw_min(rw_mul_shift(sender->sent, 1000000, 0) / elapsed, RW_MOST_RATE);
	if (sender->limited && sender->measured < rate && sender->rules.aging) {
		aged = sender->measured + rw_aged(rate - sender->measured, sender->rules.aging, elapsed / rtt_us);
		seen = rw_min(rate, rw_first_rate(2 * packet, rtt_us));
		rw_xcp_set_rate(sender, rw_max(aged, seen), least);
	}
	sender->was_limited = sender->limited;
	sender->limited = 0;
	sender->sent = 0;
	sender->round_us = now_us;
}

/* A rate's part for each of the flows as which the sender counts. */
RW_INLINE __u64 rw_xcp_of_one(const struct rw_xcp_sender *sender, __u64 rate)
{
	return rw_mul_shift(rate, RW_XCP_ONE_FLOW, 0) / rw_max(sender->rules.weight, 1);
}

/* Maximum of a wish or grant: the option's maximum, B/s a second. */
#define RW_XCP_MOST_CHANGE (0x7fffffffll << RW_CHANGE_UNIT)

/* Writes the header of size departing bytes, in packets of at most packet. */
RW_INLINE void rw_xcp_send(struct rw_xcp_sender *sender, __u64 now_us, __u64 size, __u64 rtt_us, __u32 limited,
			   __u64 outstanding, __u64 packet, __u64 least, struct rw_header *header)
{
	__u64 rate = rw_xcp_rate(sender);
	__u32 is_limited;

	*header = (struct rw_header){};
	if (!sender->allowed || !rtt_us)
		return;
	/* The flag covers the time before this packet, which may be longer than a round. */
	sender->limited |= limited;
	rw_xcp_round(sender, now_us, rtt_us, packet, least);
	sender->sent += size;
	is_limited = sender->limited || sender->was_limited;
	/* Throughput as measured, if something other than the law limits it (4.1.3.2). */
	if (sender->rules.throughput == RW_XCP_MEASURED && is_limited)
		rate = rw_max(rw_min(rate, sender->measured), least);
	else if (sender->rules.throughput == RW_XCP_OUTSTANDING)
		rate = rw_max(rw_min(rw_mul_shift(outstanding, 1000000, 0) / rtt_us, RW_MOST_RATE), least);
	header->rate = rw_xcp_of_one(sender, rate);
	header->rtt_us = (__u32)rw_min(rtt_us, ~0u);
	/* The wish is to reach the desired rate in one RTT. */
	if ((!is_limited || !sender->rules.modest) && sender->desired >= rate)
		header->change = (__s64)rw_min(rw_mul_shift(rw_xcp_of_one(sender, sender->desired - rate), 1000000, 0) /
						       rtt_us,
					       RW_XCP_MOST_CHANGE);
}

/* Handles the RTT and the receiver's window, as an acknowledgement tells them. Without a pace the
 * window is what a sender keeps, and the rate falls as the RTT grows: a rate would let the window
 * grow with the queue that it makes. So it is if the window is what the sender states. */
RW_INLINE void rw_xcp_bound(struct rw_xcp_sender *sender, __u64 window, __u64 rtt_us, __u64 least)
{
	__u64 before = sender->rtt_us, kept = sender->allowed, most;

	sender->rtt_us = rtt_us;
	if (!kept || !rtt_us)
		return;
	if (before && before != rtt_us && (!sender->rules.paced || sender->rules.throughput == RW_XCP_WINDOW))
		kept = rw_add(rw_mul_shift(kept, before, 0), rtt_us / 2) / rtt_us;
	most = sender->rules.bounded ? rw_mul_shift(window, 1000000, 0) / rtt_us : RW_MOST_RATE;
	rw_xcp_allow(sender, rw_min(kept, rw_min(most, RW_MOST_RATE) << RW_SENDER_FRACTION), least);
}

/* Handles an acknowledgement of acked bytes, which routers have granted this mean change. */
RW_INLINE void rw_xcp_acked(struct rw_xcp_sender *sender, __u64 acked, __s64 change, __u64 rtt_us, __u64 least,
			    __u32 may_grow)
{
	__u64 rate = rw_xcp_rate(sender);
	__u64 magnitude = rw_min(change < 0 ? -change : change, RW_XCP_MOST_CHANGE);
	__u64 step;

	magnitude = rw_mul_shift(magnitude, sender->rules.weight, 16);
	if (!rate || (change > 0 && !may_grow && sender->rules.heeds_loss))
		return;
	/* At most the bytes of a round trip or of a routers' interval, which this feedback
	 * answers. */
	acked = rw_min(acked, rw_mul_shift(rate, rw_max(rtt_us, RW_SHORTEST_ANSWER_US), 0) / 1000000);
	acked = rw_min(acked, RW_MOST_ACKED);
	step = rw_mul_shift(magnitude, acked << RW_SENDER_FRACTION, 0) / rate;
	rw_xcp_allow(sender, change < 0 ? rw_less(sender->allowed, step) : sender->allowed + step, least);
}

/* Handles a loss: half of the rate, once a window (5.1). */
RW_INLINE void rw_xcp_loss(struct rw_xcp_sender *sender, __u64 least)
{
	if (!sender->rules.heeds_loss)
		return;
	rw_xcp_set_rate(sender, rw_xcp_rate(sender) / 2, least);
}

/* XCP's receiver (4.1.2): the mean of the changes since the last acknowledgement, by bytes.
 * Changes are as in the option, so that sums of them fit. */
struct rw_xcp_receiver {
	__s64 sum;
	__u64 bytes;
};

RW_INLINE void rw_xcp_arrived(struct rw_xcp_receiver *receiver, __s32 field, __u64 bytes)
{
	/* Far more than is ever acknowledged at once. */
	if (receiver->bytes >> 24)
		*receiver = (struct rw_xcp_receiver){};
	bytes = rw_min(bytes, 1ull << 17);
	receiver->sum += (__s64)field * (__s64)bytes;
	receiver->bytes += bytes;
}

/* The answer, as in the option, once something has arrived. */
RW_INLINE __s32 rw_xcp_returned(const struct rw_xcp_receiver *receiver)
{
	__u64 magnitude = receiver->sum < 0 ? -receiver->sum : receiver->sum;

	magnitude /= rw_max(receiver->bytes, 1);
	return (__s32)(receiver->sum < 0 ? -(__s64)magnitude : (__s64)magnitude);
}

/* Notes that the answer has left. */
RW_INLINE void rw_xcp_answered(struct rw_xcp_receiver *receiver)
{
	*receiver = (struct rw_xcp_receiver){};
}
