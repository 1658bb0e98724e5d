/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* XCP's router in integers (draft-falk-xcp-spec-03, 4.2), for a place where a packet is seen once,
 * as it comes to the queue.
 *
 * Differences from the draft:
 * - the header's change is that of the flow's rate in time (option.h);
 * - X is size / rate, at most RW_MOST_X, in units of 2^-30 s: nearly nanoseconds, and what is given
 *   in a second is a shift away;
 * - grants are worked out as packets arrive, from the sums of the interval before, as in the draft,
 *   but in the order of arrivals: the queue is first-in-first-out, so it is the same order;
 * - the control timer is looked at when a packet comes, or a timer of the caller's fires
 *   (rw_xcp_timers);
 * - after an interval in which none told its rate Cp is as for one flow, where the draft divides by
 *   0: a sender that is back from a pause may not be seen in two intervals one after the other. The
 *   residue bounds what all are given;
 * - a rate ages to no less than two packets in the RTT or in the shortest interval.
 *
 * Valid for capacities up to 549 Gbit/s, RTTs up to 1 s and intervals of up to 2^62 bytes. */
#pragma once

#include "option.h"

#define RW_XCP_ALPHA 26214 /* 0.4 in 2^-16 */
#define RW_XCP_BETA 14829 /* 0.4^2 sqrt(2) in 2^-16 */
#define RW_XCP_GAMMA 6554 /* 0.1 in 2^-16 */
#define RW_XCP_MIN_INTERVAL_US RW_SHORTEST_ANSWER_US
#define RW_XCP_MAX_INTERVAL_US 1000000
#define RW_XCP_FIRST_INTERVAL_US RW_XCP_MIN_INTERVAL_US
#define RW_XCP_ALLOWED_QUEUE_US 2000
/* Fraction bits of residues. */
#define RW_XCP_FRACTION 10

struct rw_xcp {
	__u64 capacity;

	/* Of this control interval. */
	__u64 input;
	__u64 sum_x;
	/* X of the packets that know their RTT, and X RTT of those, in 2^10 us. */
	__u64 sum_x_known;
	__u64 sum_x_rtt;

	/* To give and take in this interval, B/s in 2^-RW_XCP_FRACTION: in all; for X; for a
	 * byte. */
	__u64 residue_pos;
	__u64 residue_neg;
	struct rw_share cp;
	struct rw_share cn;
	/* cp of a second: B/s a second for each flow. */
	__u64 gain;

	__u64 avg_rtt_us;
	__u64 interval_us;
	__u64 control_at_ns;

	/* The persistent queue. */
	__u64 queue;
	__u64 least_queue;
	__u64 queue_at_ns;

	/* For whoever looks: what came in the interval before, and what was made of it. */
	__u64 input_bw;
	__s64 feedback;
	/* Likewise: flows, in 2^-RW_FLOWS, on the mean of a moment. One that sends as it says sends
	 * X of an interval's length. */
	__u64 flows;
	/* Likewise: the mean RTT that packets told when last any did, where avg_rtt_us has
	 * bounds. */
	__u64 told_rtt_us;
};

RW_INLINE void rw_xcp_init(struct rw_xcp *port, __u64 capacity, __u64 now_ns)
{
	*port = (struct rw_xcp){};
	port->capacity = rw_min(capacity, RW_MOST_RATE);
	port->avg_rtt_us = RW_XCP_FIRST_INTERVAL_US;
	port->interval_us = RW_XCP_FIRST_INTERVAL_US;
	port->control_at_ns = now_ns + RW_XCP_FIRST_INTERVAL_US * 1000ull;
	port->queue_at_ns = port->control_at_ns;
}

/* The control interval is over (lines 7 to 18). */
RW_FUNCTION int rw_xcp_control(struct rw_xcp *port RW_NONNULL, __u64 now_ns)
{
	__u64 spare, excess, magnitude, shuffled, draining, flows, one_flow;
	__u64 known = port->sum_x_known >> 10;

	if (known) {
		port->told_rtt_us = port->sum_x_rtt / known;
		port->avg_rtt_us = rw_min(rw_max(port->told_rtt_us, RW_XCP_MIN_INTERVAL_US),
					  RW_XCP_MAX_INTERVAL_US);
	}
	port->input_bw = rw_mul_shift(port->input, 1000000, 0) / rw_max(port->interval_us, 1);
	port->input_bw = rw_min(port->input_bw, RW_MOST_RATE);
	flows = rw_mul_shift(port->sum_x, 1000000, RW_X_SECOND - RW_FLOWS) / rw_max(port->interval_us, 1);
	port->flows = rw_recent(port->flows, flows, port->interval_us);

	spare = rw_less(port->capacity, port->input_bw);
	excess = rw_less(port->input_bw, port->capacity);
	draining = rw_mul_shift(port->queue, 1000000, 0) / port->avg_rtt_us;
	spare = rw_mul_shift(spare, RW_XCP_ALPHA, 16);
	excess = rw_mul_shift(excess, RW_XCP_ALPHA, 16);
	excess += rw_mul_shift(rw_min(draining, RW_MOST_RATE), RW_XCP_BETA, 16);
	port->feedback = (__s64)spare - (__s64)excess;
	magnitude = port->feedback < 0 ? -port->feedback : port->feedback;

	shuffled = rw_less(rw_mul_shift(port->input_bw, RW_XCP_GAMMA, 16), magnitude);
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
	port->queue_at_ns = now_ns + rw_max(next_us, RW_XCP_ALLOWED_QUEUE_US) * 1000;
	return 0;
}

RW_INLINE int rw_xcp_is_due(const struct rw_xcp *port, __u64 now_ns)
{
	return port->queue_at_ns <= now_ns || port->control_at_ns <= now_ns;
}

/* Carries out what is due. An interval that ends late is as long as it was: its sums are over that
 * time. */
RW_INLINE void rw_xcp_timers(struct rw_xcp *port, __u64 now_ns, __u64 queue)
{
	if (port->least_queue > queue)
		port->least_queue = queue;
	if (port->queue_at_ns <= now_ns)
		rw_xcp_queue_timer(port, now_ns, queue);
	if (port->control_at_ns <= now_ns) {
		port->interval_us += (now_ns - port->control_at_ns) / 1000;
		rw_xcp_control(port, now_ns);
	}
}

/* What a packet of this rate, spacing and size is granted (lines 19 to 28). */
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
		/* Another router, or the sender, wanted less: the packet's part of what is left
		 * goes to the others. */
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

/* A packet comes to the queue, behind queue bytes; header is null where it carries none. Lines 1 to
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
		__u64 x_rtt = x * rw_min(header->rtt_us, RW_XCP_MAX_INTERVAL_US) >> 10;

		port->sum_x_known += x;
		port->sum_x_rtt = rw_min(port->sum_x_rtt + x_rtt, RW_MOST);
	}
	rw_xcp_grant(port, header, x, size);
}

/* XCP's sender in integers (4.1): the rate that routers allow, from which window and pace
 * follow. */
struct rw_xcp_sender {
	/* B/s in 2^-RW_SENDER_FRACTION; 0 before the first RTT is known. */
	__u64 allowed;
	/* What it would like to send at, B/s. */
	__u64 desired;

	/* This round: since when, bytes sent, and whether the application or the receiver held it
	 * back. */
	__u64 round_us;
	__u64 sent;
	__u32 limited;
	/* Whether it was held back in the round before, and what it sent at then, B/s. */
	__u32 was_limited;
	__u64 measured;
};

/* Acknowledgements of more than this count as of this. */
#define RW_MOST_ACKED (1ull << 20)

/* What routers allow, B/s. */
RW_INLINE __u64 rw_xcp_rate(const struct rw_xcp_sender *sender)
{
	return sender->allowed >> RW_SENDER_FRACTION;
}

/* Routers allow this, in 2^-RW_SENDER_FRACTION: heeded up to what the sender would like, and down
 * to the least. */
RW_INLINE void rw_xcp_allow(struct rw_xcp_sender *sender, __u64 allowed, __u64 least)
{
	__u64 most = rw_min(rw_max(sender->desired, least), RW_MOST_RATE);

	sender->allowed = rw_min(rw_max(allowed, least << RW_SENDER_FRACTION), most << RW_SENDER_FRACTION);
}

RW_INLINE void rw_xcp_set_rate(struct rw_xcp_sender *sender, __u64 rate, __u64 least)
{
	rw_xcp_allow(sender, rate << RW_SENDER_FRACTION, least);
}

/* The first RTT is known. */
RW_INLINE void rw_xcp_start(struct rw_xcp_sender *sender, __u64 now_us, __u64 window, __u64 rtt_us)
{
	rw_xcp_set_rate(sender, rw_first_rate(window, rtt_us), 1);
	sender->round_us = now_us;
}

/* Ends a round: what was allowed and not used ages by half of the difference for each RTT that
 * passed (4.1.3.1), but not below two packets in the time in which routers answer: they know only
 * those that they see in each interval, and in a pause of milliseconds there can be hundreds of
 * round trips. */
RW_INLINE void rw_xcp_round(struct rw_xcp_sender *sender, __u64 now_us, __u64 rtt_us, __u64 packet, __u64 least)
{
	__u64 elapsed = rw_less(now_us, sender->round_us), rate = rw_xcp_rate(sender), aged, seen;

	if (!elapsed || elapsed < rtt_us)
		return;
	sender->measured = rw_min(rw_mul_shift(sender->sent, 1000000, 0) / elapsed, RW_MOST_RATE);
	if (sender->limited && sender->measured < rate) {
		aged = sender->measured + ((rate - sender->measured) >> rw_min(elapsed / rtt_us, 63));
		seen = rw_min(rate, rw_first_rate(2 * packet, rtt_us));
		rw_xcp_set_rate(sender, rw_max(aged, seen), least);
	}
	sender->was_limited = sender->limited;
	sender->limited = 0;
	sender->sent = 0;
	sender->round_us = now_us;
}

/* The most that may be wished for or granted: what the option can carry, B/s a second. */
#define RW_XCP_MOST_CHANGE (0x7fffffffll << RW_CHANGE_UNIT)

/* size bytes leave, in packets of at most packet: their header. */
RW_INLINE void rw_xcp_send(struct rw_xcp_sender *sender, __u64 now_us, __u64 size, __u64 rtt_us, __u32 limited,
			   __u64 packet, __u64 least, struct rw_header *header)
{
	__u64 rate = rw_xcp_rate(sender);

	*header = (struct rw_header){};
	if (!sender->allowed || !rtt_us)
		return;
	/* That is of the time before this packet, which may be longer than a round. */
	sender->limited |= limited;
	rw_xcp_round(sender, now_us, rtt_us, packet, least);
	sender->sent += size;
	/* Throughput as measured where it is not the law that limits it (4.1.3.2). */
	if (sender->limited || sender->was_limited)
		rate = rw_max(rw_min(rate, sender->measured), least);
	header->rate = rate;
	header->rtt_us = (__u32)rw_min(rtt_us, ~0u);
	/* In one RTT to what it would like. */
	if (!sender->limited && !sender->was_limited && sender->desired >= rate)
		header->change = (__s64)rw_min(rw_mul_shift(sender->desired - rate, 1000000, 0) / rtt_us,
					       RW_XCP_MOST_CHANGE);
}

/* acked bytes were acknowledged, which routers have granted this change on the mean. */
RW_INLINE void rw_xcp_acked(struct rw_xcp_sender *sender, __u64 acked, __s64 change, __u64 rtt_us, __u64 least,
			    __u32 may_grow)
{
	__u64 rate = rw_xcp_rate(sender);
	__u64 magnitude = rw_min(change < 0 ? -change : change, RW_XCP_MOST_CHANGE);
	__u64 step;

	if (!rate || (change > 0 && !may_grow))
		return;
	/* No more than was sent in a round trip or an interval of the routers, whose answer it
	 * is. */
	acked = rw_min(acked, rw_mul_shift(rate, rw_max(rtt_us, RW_XCP_MIN_INTERVAL_US), 0) / 1000000);
	acked = rw_min(acked, RW_MOST_ACKED);
	step = rw_mul_shift(magnitude, acked << RW_SENDER_FRACTION, 0) / rate;
	rw_xcp_allow(sender, change < 0 ? rw_less(sender->allowed, step) : sender->allowed + step, least);
}

/* A loss: half of the rate, once a window (5.1). */
RW_INLINE void rw_xcp_loss(struct rw_xcp_sender *sender, __u64 least)
{
	rw_xcp_set_rate(sender, rw_xcp_rate(sender) / 2, least);
}

/* XCP's receiver (4.1.2): the mean change of what has arrived since the last acknowledgement, by
 * bytes. Changes are as in the option, so that sums of them fit. */
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

/* What to return, as in the option, once something has arrived. */
RW_INLINE __s32 rw_xcp_returned(const struct rw_xcp_receiver *receiver)
{
	__u64 magnitude = receiver->sum < 0 ? -receiver->sum : receiver->sum;

	magnitude /= rw_max(receiver->bytes, 1);
	return (__s32)(receiver->sum < 0 ? -(__s64)magnitude : (__s64)magnitude);
}

/* What was returned has left. */
RW_INLINE void rw_xcp_answered(struct rw_xcp_receiver *receiver)
{
	*receiver = (struct rw_xcp_receiver){};
}
