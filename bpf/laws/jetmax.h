/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* JetMax in integers. Each router gives each flow that it binds an equal part of the capacity that
 * other flows leave, g = (gamma C - u) / N. Each source covers the share tau of its distance from g
 * in a round trip.
 *
 * Differences from laws/jetmax:
 * - a packet carries its sender's rate instead of the time since the packet before: size / rate is
 *   that time, also for a source short of data, and stays so if segments are cut or merged;
 * - instead of the virtual loss, 1 - gamma C / y, it carries y / (gamma C), which grows with it;
 * - the receiver decides by which router a flow should be bound, because that needs only the
 *   header, and returns its answer;
 * - numbers have fewer bits (option.h); a packet counts, and gets its figures, as it joins the
 *   queue;
 * - a SYN carries no header: the first packets of data ask for a proposal;
 * - until a loss is repaired, half of g is the goal, as under RCP here.
 *
 * Valid for capacities up to 549 Gbit/s and intervals of up to a second. */
#pragma once

#include "option.h"

#define RW_JETMAX_TAU 39322 /* 0.6 in 2^-16 */
#define RW_JETMAX_MARGIN 1311 /* 0.02 in 2^-16 */
/* Resolution of the load: one such packet an interval. */
#define RW_JETMAX_GRAIN 1500
/* The load is in 2^-26 of gamma C. */
#define RW_JETMAX_LOAD 26

/* What a port is set to: the share of the capacity that it fills, in 2^-16, and its interval. */
struct rw_jetmax_constants {
	__u32 gamma;
	__u32 interval_us;
};

/* 0.95. */
#define RW_JETMAX_CONSTANTS { 62259, 50000 }

struct rw_jetmax {
	__u64 capacity;
	struct rw_jetmax_constants constants;

	/* Sums of this interval: all bytes; bytes of flows bound here; X = size / rate of those. */
	__u64 input;
	__u64 responsive;
	__u64 sum_x;
	__u64 interval_us;
	__u64 interval_at_ns;

	/* Fields that packets get, as in the option; see rw_jetmax_header. */
	__u32 id;
	__u32 number;
	__u32 fair_field;
	__u32 load_field;

	/* Reported figures of the last interval: arrivals, arrivals of flows bound elsewhere, flows
	 * bound here in 2^-RW_FLOWS, and g. */
	__u64 input_bw;
	__u64 unresponsive_bw;
	__u64 flows;
	__u64 fair;
};

RW_INLINE __u64 rw_jetmax_target(const struct rw_jetmax *port)
{
	return rw_mul_shift(port->capacity, port->constants.gamma, 16);
}

/* Sets the figures for packets until the next interval ends. */
RW_FUNCTION int rw_jetmax_say(struct rw_jetmax *port RW_NONNULL, __u64 fair)
{
	__u64 least = rw_mul_shift(RW_JETMAX_GRAIN, 1000000, 0) / rw_max(port->interval_us, 1);
	struct rw_share load;

	rw_share_of(&load, rw_max(port->input_bw, least), rw_max(rw_jetmax_target(port), 1));
	port->fair = fair;
	port->fair_field = rw_rate_real(fair);
	port->load_field = rw_load_real(rw_times(&load, 1ull << RW_JETMAX_LOAD));
	return 0;
}

/* id tells the routers of a path apart, and is not 0. */
RW_INLINE void rw_jetmax_init(struct rw_jetmax *port, __u64 capacity, const struct rw_jetmax_constants *constants,
			      __u32 id, __u64 now_ns)
{
	*port = (struct rw_jetmax){};
	port->capacity = rw_min(capacity, RW_MOST_RATE);
	port->constants = *constants;
	port->id = id & 0xffff;
	port->interval_us = constants->interval_us;
	port->interval_at_ns = now_ns + constants->interval_us * 1000ull;
	rw_jetmax_say(port, rw_jetmax_target(port));
}

RW_FUNCTION int rw_jetmax_interval(struct rw_jetmax *port RW_NONNULL, __u64 now_ns)
{
	__u64 target = rw_jetmax_target(port), responsive, fair = target;

	port->input_bw = rw_min(rw_mul_shift(port->input, 1000000, 0) / rw_max(port->interval_us, 1), RW_MOST_RATE);
	responsive = rw_min(rw_mul_shift(port->responsive, 1000000, 0) / rw_max(port->interval_us, 1), RW_MOST_RATE);
	port->unresponsive_bw = rw_less(port->input_bw, responsive);
	port->flows = rw_mul_shift(port->sum_x, 1000000, RW_X_SECOND - RW_FLOWS) / rw_max(port->interval_us, 1);
	if (port->flows)
		fair = (rw_less(target, port->unresponsive_bw) << RW_FLOWS) /
		       rw_max(port->flows, 1 << RW_FLOWS);
	else if (rw_less(port->input_bw, rw_mul_shift(port->input_bw, RW_JETMAX_MARGIN, 16)) > target)
		/* Flows bound elsewhere overload the link: each flow that gets this g becomes
		 * bound here. */
		fair = 0;
	rw_jetmax_say(port, fair);
	port->number = (port->number + 1) & 0xff;
	port->input = 0;
	port->responsive = 0;
	port->sum_x = 0;
	port->interval_us = port->constants.interval_us;
	port->interval_at_ns = now_ns + port->interval_us * 1000;
	return 0;
}

/* Does what is due. An interval that ends late keeps its actual length. */
RW_INLINE void rw_jetmax_timers(struct rw_jetmax *port, __u64 now_ns)
{
	if (port->interval_at_ns > now_ns)
		return;
	port->interval_us += (now_ns - port->interval_at_ns) / 1000;
	rw_jetmax_interval(port, now_ns);
}

/* Fields that routers read and write in a packet with data. Rates and load as in the option. */
struct rw_jetmax_header {
	/* Router that binds the flow, and router that proposes to; 0 for none. */
	__u32 bottleneck;
	__u32 proposed;
	/* The bottleneck's g, and the number of its interval. */
	__u32 fair;
	__u32 number;
	/* The proposing router's g, and its load, by which it was chosen. */
	__u32 proposed_fair;
	__u32 load;
	/* The sender's rate, and its round. */
	__u32 rate;
	__u32 marker;
};

/* Writes this router's results into a packet. */
RW_INLINE void rw_jetmax_tell(const struct rw_jetmax *port, struct rw_jetmax_header *header)
{
	if (header->bottleneck == port->id) {
		header->fair = port->fair_field;
		header->number = port->number;
	} else if (port->load_field > header->load) {
		header->load = port->load_field;
		header->proposed = port->id;
		header->proposed_fair = port->fair_field;
	}
}

/* Handles a packet; header is null if it carries none. */
RW_INLINE void rw_jetmax_packet(struct rw_jetmax *port, __u64 now_ns, __u64 size, struct rw_jetmax_header *header)
{
	rw_jetmax_timers(port, now_ns);
	port->input += size;
	if (!header)
		return;
	if (header->bottleneck == port->id) {
		port->responsive += size;
		port->sum_x += rw_min(rw_x(size, rw_real_rate(header->rate)), 1ull << RW_X_SECOND);
	}
	rw_jetmax_tell(port, header);
}

/* The receiver's answer. */
struct rw_jetmax_answer {
	/* Router that binds the flow from now on; 0 for no change. */
	__u32 router;
	/* Goal g, RW_REAL_UNKNOWN if no router has stated one; number of the bottleneck's
	 * interval. */
	__u32 fair;
	__u32 number;
	__u32 marker;
};

/* Computes the answer: a flow switches to a router that would give it less than its own, by a
 * margin. */
RW_INLINE void rw_jetmax_answer(const struct rw_jetmax_header *header, struct rw_jetmax_answer *answer)
{
	__u64 fair = rw_real_rate(header->fair), proposed = rw_real_rate(header->proposed_fair);
	int is_known = header->fair != RW_REAL_UNKNOWN;
	int approves = header->proposed &&
		       (!is_known || proposed < rw_less(fair, rw_mul_shift(fair, RW_JETMAX_MARGIN, 16)));

	answer->router = approves ? header->proposed : 0;
	/* A router that is overloaded by flows bound elsewhere has no rate to offer yet. */
	answer->fair = is_known && approves && proposed ? header->proposed_fair : header->fair;
	answer->number = header->number;
	answer->marker = header->marker;
}

struct rw_jetmax_sender {
	/* B/s in 2^-RW_SENDER_FRACTION; 0 before the first RTT is known. */
	__u64 allowed;
	/* Desired rate, and the last g received. B/s. */
	__u64 desired;
	__u64 fair;
	/* The router that binds the flow, 0 before one is known; and whether that router has yet to
	 * measure an interval with this flow among its own. */
	__u32 bottleneck;
	__u32 settling;
	/* Number of the round, which packets carry: a rate changes once a round trip. */
	__u32 marker;
	/* While settling: number of the bottleneck's interval that had just ended when the first
	 * packet of this round passed. */
	__u32 first;
};

#define RW_JETMAX_NO_INTERVAL ~0u
/* Number of intervals by which an answer may be older than an earlier one. */
#define RW_JETMAX_DISORDER 16

RW_INLINE __u64 rw_jetmax_rate(const struct rw_jetmax_sender *sender)
{
	return sender->allowed >> RW_SENDER_FRACTION;
}

/* Starts, as XCP does, once the first RTT is known. */
RW_INLINE void rw_jetmax_start(struct rw_jetmax_sender *sender, __u64 window, __u64 rtt_us)
{
	sender->allowed = rw_max(rw_min(rw_first_rate(window, rtt_us), sender->desired), 1) << RW_SENDER_FRACTION;
}

/* Writes the header of a departing packet. */
RW_INLINE void rw_jetmax_send(const struct rw_jetmax_sender *sender, struct rw_jetmax_header *header)
{
	*header = (struct rw_jetmax_header){
		.bottleneck = sender->bottleneck,
		.fair = RW_REAL_UNKNOWN,
		.proposed_fair = RW_REAL_UNKNOWN,
		.rate = rw_rate_real(rw_jetmax_rate(sender)),
		.marker = sender->marker,
	};
}

RW_INLINE void rw_jetmax_round(struct rw_jetmax_sender *sender)
{
	sender->marker = (sender->marker + 1) & 0xff;
	sender->first = RW_JETMAX_NO_INTERVAL;
}

/* Packets from now on count as bound by that router. */
RW_INLINE void rw_jetmax_switch(struct rw_jetmax_sender *sender, __u32 router)
{
	sender->bottleneck = router;
	sender->settling = 1;
	rw_jetmax_round(sender);
}

/* Whether the bottleneck's interval contains only this round. The round's first packet met the
 * figures of the interval before, and arrived in the middle of the next. Intervals are numbered
 * in 8 bits: after a silence of 240 (12 s) or more, the sender waits for up to 18 more (0.9 s). */
RW_INLINE int rw_jetmax_is_measured(struct rw_jetmax_sender *sender, __u32 number)
{
	if (sender->first != RW_JETMAX_NO_INTERVAL) {
		__u32 since = (number - sender->first) & 0xff;

		return since >= 2 && since < 0x100 - RW_JETMAX_DISORDER;
	}
	sender->first = number;
	return 0;
}

/* Handles the other end's answer. */
RW_INLINE void rw_jetmax_heard(struct rw_jetmax_sender *sender, const struct rw_jetmax_answer *answer, __u64 least,
			       __u32 is_repairing, __u32 may_grow)
{
	__u64 target;

	if (answer->marker != sender->marker)
		return;
	if (answer->fair == RW_REAL_UNKNOWN) {
		/* There is no bottleneck yet, or it is no longer on the path. */
		if (answer->router)
			rw_jetmax_switch(sender, answer->router);
		return;
	}
	if (sender->settling && !rw_jetmax_is_measured(sender, answer->number))
		return;
	sender->settling = 0;
	sender->fair = rw_min(rw_real_rate(answer->fair), RW_MOST_RATE);
	target = sender->fair << RW_SENDER_FRACTION;
	if (is_repairing)
		target /= 2;
	if (target < sender->allowed)
		sender->allowed -= rw_mul_shift(sender->allowed - target, RW_JETMAX_TAU, 16);
	else if (may_grow)
		sender->allowed += rw_mul_shift(target - sender->allowed, RW_JETMAX_TAU, 16);
	sender->allowed = rw_min(sender->allowed, sender->desired << RW_SENDER_FRACTION);
	sender->allowed = rw_max(sender->allowed, least << RW_SENDER_FRACTION);
	if (answer->router)
		rw_jetmax_switch(sender, answer->router);
	else
		rw_jetmax_round(sender);
}

/* Handles a loss: half of the rate, until routers state another. */
RW_INLINE void rw_jetmax_loss(struct rw_jetmax_sender *sender, __u64 least)
{
	sender->allowed = rw_min(sender->allowed, rw_max(sender->allowed / 2, least << RW_SENDER_FRACTION));
}

/* Words of the option's fields (option.h): three of a packet that asks, and three more that contain
 * the answer. */
#define RW_JETMAX_WORDS 6
#define RW_JETMAX_ANSWER_WORDS 2

RW_INLINE void rw_jetmax_read(const __u32 words[RW_JETMAX_WORDS], struct rw_jetmax_header *header)
{
	header->bottleneck = words[0] >> 16;
	header->proposed = words[0] & 0xffff;
	header->number = words[1] >> 24;
	header->fair = words[1] & 0xffffff;
	header->marker = words[2] >> 24;
	header->proposed_fair = words[2] & 0xffffff;
	header->load = words[3] >> 16;
	header->rate = words[5] & 0xffffff;
}

RW_INLINE void rw_jetmax_write(const struct rw_jetmax_header *header, const struct rw_jetmax_answer *answer,
			       __u32 words[RW_JETMAX_WORDS])
{
	words[0] = header->bottleneck << 16 | header->proposed;
	words[1] = header->number << 24 | header->fair;
	words[2] = header->marker << 24 | header->proposed_fair;
	words[3] = header->load << 16 | answer->router;
	words[4] = answer->number << 24 | answer->fair;
	words[5] = answer->marker << 24 | header->rate;
}

/* Reads the answer in a packet that asks, or one that is alone. */
RW_INLINE void rw_jetmax_read_answer(const __u32 words[RW_JETMAX_WORDS], struct rw_jetmax_answer *answer)
{
	answer->router = words[3] & 0xffff;
	answer->number = words[4] >> 24;
	answer->fair = words[4] & 0xffffff;
	answer->marker = words[5] >> 24;
}

RW_INLINE void rw_jetmax_read_alone(const __u32 words[RW_JETMAX_ANSWER_WORDS], struct rw_jetmax_answer *answer)
{
	answer->router = words[0] >> 16;
	answer->marker = words[0] & 0xff;
	answer->number = words[1] >> 24;
	answer->fair = words[1] & 0xffffff;
}

RW_INLINE void rw_jetmax_write_alone(const struct rw_jetmax_answer *answer, __u32 words[RW_JETMAX_ANSWER_WORDS])
{
	words[0] = answer->router << 16 | answer->marker;
	words[1] = answer->number << 24 | answer->fair;
}
