/*
 * The sender of XCP in C.
 *
 * SPDX-License-Identifier: MIT OR Apache-2.0
 */
#ifndef XCP_SOURCE_H
#define XCP_SOURCE_H

#include <math.h>
#include <stdlib.h>

#include "header.h"

#define AGING 0.5    /* of the unused part of the window, each round trip (4.1.3.1) */
#define COLLAPSE 2.0 /* a round trip this much shorter than the mean: the RTT has collapsed */
#define MAX_WINDOW 1e15

enum state { XCP, REPAIRING, MARKED };

struct source {
	double window, srtt;
	double fallen_to; /* the RTT to which the window has fallen; it falls once with each */
	double ssthresh;  /* the halved window: growth turns linear there */
	double repair_limit; /* half of what was outstanding: a repair does not grow it beyond */
	double reverse_feedback;
	double desired, packet, payload_per_packet, packet_per_payload;
	double wish_carry; /* wishes below 1 B/s, which are saved up */
	double marked_until;
	enum state state;
	double window_before; /* the last loss, timeout or mark */
	enum state state_before;
	/* The round: what was sent in this round trip. */
	bool started, limited, was_limited;
	double round_start, sent, measured;
};

static void *source_create(const void *law, const struct ratewire_flow *flow)
{
	struct source *s = calloc(1, sizeof *s);
	(void)law;
	if (!s)
		return NULL;
	s->packet = (double)flow->packet;
	s->window = 2 * s->packet;
	s->fallen_to = s->ssthresh = s->repair_limit = INFINITY;
	s->desired = flow->line_rate;
	s->payload_per_packet = (double)flow->mss / s->packet;
	s->packet_per_payload = s->packet / (double)flow->mss;
	return s;
}

static bool is_limited(const struct source *s)
{
	return s->limited || s->was_limited;
}

/* While a loss is repaired, the repair is the limit: what it leaves unused must not age the
   window. */
static void note_limit(struct source *s, bool limited)
{
	s->limited |= limited && s->state != REPAIRING;
}

/* Ends the round once a round trip has passed, and ages the unused part of the window (4.1.3.1). */
static void advance_round(struct source *s, double now, double srtt)
{
	uint64_t elapsed = picoseconds(now) - picoseconds(s->round_start);
	uint64_t rtt = picoseconds(srtt);
	double actual;
	if (rtt == 0 || !s->started || elapsed < rtt)
		return;
	actual = s->sent / ((double)elapsed / PS);
	if (s->limited) {
		double used = actual * srtt;
		uint64_t rounds = elapsed / rtt < 64 ? elapsed / rtt : 64;
		while (rounds--)
			if (used < s->window)
				s->window = (1 - AGING) * s->window + AGING * used;
		s->window = fmax(s->window, s->packet);
	}
	s->round_start = now;
	s->sent = 0;
	s->was_limited = s->limited;
	s->limited = false;
	s->measured = actual;
}

/* The wish for this packet: that of the flow, spread over the packets of a round trip. */
static double wish(struct source *s, double throughput, double share)
{
	double wish = (s->desired - throughput) * share;
	double whole;
	if (is_limited(s))
		return 0;
	if (fabs(wish) >= 1)
		return wish;
	s->wish_carry += wish;
	whole = trunc(s->wish_carry);
	s->wish_carry -= whole;
	return whole;
}

static bool on_send(void *source, const struct ratewire_sending *sending, uint8_t *bytes)
{
	struct source *s = source;
	struct header header = {carried(sending->srtt * PS), 0, 0};
	if (!s->started) {
		s->started = true;
		s->round_start = sending->now;
	}
	advance_round(s, sending->now, sending->srtt);
	note_limit(s, sending->limited);
	s->sent += (double)sending->packet;
	if (header.rtt == 0) {
		/* Granted only where no router is on the path (5.6): X is unknown. */
		header.feedback = s->desired * s->packet / s->window;
	} else {
		double window = s->window;
		s->srtt = sending->srtt;
		if (is_limited(s))
			window = fmin(s->measured * s->srtt, window);
		window = fmax(window, s->packet);
		header.x = carried((double)header.rtt * ((double)sending->packet / window));
		header.feedback = wish(s, window / s->srtt, s->packet / window);
	}
	put(bytes, &header);
	return true;
}

/* Lets the window fall with the RTT if it collapses, as after a link has stood still. */
static void take_rtt(struct source *s, const struct ratewire_ack *ack)
{
	if (ack->rtt >= 0 && COLLAPSE * ack->rtt < s->srtt) {
		double from = fmin(s->srtt, s->fallen_to);
		if (ack->srtt < from) {
			s->window = fmax(s->window * ack->srtt / from, s->packet);
			s->fallen_to = ack->srtt;
		}
	} else if (ack->srtt > COLLAPSE * s->fallen_to) {
		s->fallen_to = INFINITY;
	}
	s->srtt = ack->srtt;
}

/* Without headers the sender is Reno (RFC 5681). */
static void grow_as_reno(struct source *s, const struct ratewire_ack *ack)
{
	double bytes = (double)ack->bytes * s->packet_per_payload;
	if (ack->in_recovery || ack->limited)
		return;
	if (s->window < s->ssthresh)
		s->window += fmin(bytes, s->packet);
	else
		s->window += s->packet * fmin(bytes, s->window) / s->window;
}

static void apply_feedback(struct source *s, double feedback, double now)
{
	double most;
	if (s->state == MARKED && now >= s->marked_until)
		s->state = XCP;
	s->reverse_feedback = feedback;
	most = s->state == XCP ? MAX_WINDOW : s->repair_limit;
	s->window = fmin(fmax(s->window + feedback * s->srtt, s->packet), most);
}

static void on_ack(void *source, const struct ratewire_ack *ack, const uint8_t *bytes)
{
	struct source *s = source;
	take_rtt(s, ack);
	advance_round(s, ack->now, ack->srtt);
	note_limit(s, ack->limited);
	if (bytes)
		apply_feedback(s, get(bytes).feedback, ack->now);
	else
		grow_as_reno(s, ack);
	if (ack->receive_window != UINT64_MAX) {
		double cap = (double)ack->receive_window * s->packet_per_payload;
		s->window = fmax(fmin(s->window, cap), s->packet);
	}
}

/* Halves the window. Until the repair is over, it grows to half of what was outstanding. */
static void halve(struct source *s, const struct ratewire_congestion *c)
{
	double flight = (double)c->in_flight * s->packet_per_payload;
	double half = fmax(fmin(s->window, flight) / 2, s->packet);
	s->window_before = s->window;
	s->state_before = s->state;
	s->ssthresh = fmax(half, 2 * s->packet);
	s->repair_limit = fmax(s->ssthresh, flight / 2);
	s->window = half;
}

static void on_loss(void *source, const struct ratewire_congestion *c)
{
	struct source *s = source;
	halve(s, c);
	s->state = REPAIRING;
}

static void on_mark(void *source, const struct ratewire_congestion *c)
{
	struct source *s = source;
	halve(s, c);
	s->state = MARKED;
	s->marked_until = c->now + c->srtt;
}

/* With one packet a round trip a repair would take long: the routers may speed it up. */
static void on_timeout(void *source, const struct ratewire_congestion *c)
{
	struct source *s = source;
	halve(s, c);
	s->window = s->packet;
	s->state = XCP;
}

static void on_recovered(void *source, double now)
{
	struct source *s = source;
	(void)now;
	if (s->state == REPAIRING)
		s->state = XCP;
}

/* Nothing was lost: the window is again what it was. */
static void on_spurious(void *source, double now)
{
	struct source *s = source;
	(void)now;
	s->window = fmax(s->window, s->window_before);
	s->state = s->state_before;
}

/* The pace is the limit; the window is a packet larger, so that parts of a packet are used too. */
static double window(const void *source)
{
	const struct source *s = source;
	return floor((s->window + s->packet) * s->payload_per_packet + 0.5);
}

static bool pace(const void *source, double *rate)
{
	const struct source *s = source;
	*rate = s->window / s->srtt;
	return s->srtt > 0;
}

static void source_reason(const void *source, struct ratewire_reason *reason)
{
	const struct source *s = source;
	reason->equation = s->state == XCP
				   ? "window += reverse_feedback * RTT, as routers have granted"
				   : "the window was halved and does not grow beyond that";
	reason->figures[0] = (struct ratewire_figure){"window", s->window, RATEWIRE_BYTES};
	reason->figures[1] = (struct ratewire_figure){"reverse_feedback", s->reverse_feedback,
						      RATEWIRE_BYTES_PER_SECOND};
	reason->figures[2] = (struct ratewire_figure){"RTT", s->srtt, RATEWIRE_SECONDS};
	reason->count = 3;
}

#endif
