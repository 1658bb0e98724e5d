/*
 * NewReno (RFC 5681, RFC 6582) in C: the same windows as Ratewire's own `newreno` with its default
 * options.
 *
 * Windows are payload bytes.
 *
 * SPDX-License-Identifier: MIT OR Apache-2.0
 */
#include "ratewire_law.h"

#include <math.h>
#include <stdlib.h>

enum { INITIAL_WINDOW, OPTIONS };

static const struct ratewire_option options[OPTIONS] = {
	[INITIAL_WINDOW] = {
		.name = "initial_window",
		.kind = RATEWIRE_SIZE,
		.part = RATEWIRE_SOURCE,
		.default_value = "10 packets",
		.doc = "window until the first acknowledgement, in payload bytes. RFC 6928, 2.",
	},
};

struct law {
	double initial_window;
	bool in_packets;
};

/* Congestion to which the sender is still responding: one response a window (RFC 3168, 6.1.2). */
enum episode { NONE, LOSS, MARK };

struct source {
	double cwnd, ssthresh, mss, initial;
	double cwnd_before, ssthresh_before; /* the repair; 0 for none that can be undone */
	double acked;     /* in congestion avoidance, since the window last grew */
	double last_sent; /* negative before the first packet */
	double mark_until;
	enum episode episode;
	bool backed_off;    /* the timer has expired, and nothing was acknowledged since */
	bool after_timeout; /* in the slow start that follows a timeout */
};

static void *law_create(const struct ratewire_value *values, char *error)
{
	struct law *law = malloc(sizeof *law);
	(void)error;
	if (law) {
		law->initial_window = values[INITIAL_WINDOW].number;
		law->in_packets = values[INITIAL_WINDOW].in_packets;
	}
	return law;
}

static void *source_create(const void *of, const struct ratewire_flow *flow)
{
	const struct law *law = of;
	struct source *s = calloc(1, sizeof *s);
	if (!s)
		return NULL;
	s->mss = (double)flow->mss;
	s->initial = law->in_packets ? floor(law->initial_window * s->mss + 0.5) : law->initial_window;
	s->initial = fmax(s->initial, s->mss);
	s->cwnd = s->initial;
	s->ssthresh = INFINITY;
	s->last_sent = -1;
	return s;
}

/* After a time of nothing sent, longer than the retransmission timeout, the window is no more than
   the initial one (RFC 5681, 4.1). */
static bool on_send(void *source, const struct ratewire_sending *sending, uint8_t *header)
{
	struct source *s = source;
	double last = s->last_sent;
	bool nothing_outstanding = sending->in_flight <= sending->packet;
	(void)header;
	s->last_sent = sending->now;
	if (nothing_outstanding && sending->rto > 0 && last >= 0 && sending->now - last > sending->rto) {
		s->cwnd = fmin(s->cwnd, s->initial);
		s->acked = 0;
	}
	return false;
}

/* Grows the window in slow start; returns what is left for congestion avoidance. */
static double slow_start(struct source *s, const struct ratewire_ack *ack)
{
	/* L of RFC 3465: two packets, one after a timeout. */
	double limit = s->after_timeout ? s->mss : 2 * s->mss;
	double counted = fmin((double)ack->bytes, limit);
	double room = s->ssthresh - s->cwnd;
	if (ack->limited)
		return 0;
	if (counted < room) {
		s->cwnd += counted;
		return 0;
	}
	s->cwnd = s->ssthresh;
	s->after_timeout = false;
	return counted - room;
}

static void on_ack(void *source, const struct ratewire_ack *ack, const uint8_t *header)
{
	struct source *s = source;
	double counted;
	(void)header;
	if (ack->bytes > 0)
		s->backed_off = false;
	if ((s->episode == LOSS && ack->in_recovery) || (s->episode == MARK && ack->now < s->mark_until))
		return;
	if (s->episode == MARK)
		s->episode = NONE;
	if (s->cwnd < s->ssthresh)
		counted = slow_start(s, ack);
	else
		counted = ack->limited ? 0 : (double)ack->bytes;
	s->acked += counted;
	if (s->acked >= s->cwnd) {
		/* At most one packet a round trip. */
		s->acked = fmin(s->acked - s->cwnd, s->cwnd);
		s->cwnd += s->mss;
	}
}

static bool is_answering(const struct source *s, double now)
{
	return s->episode == LOSS || (s->episode == MARK && now < s->mark_until);
}

static double half(const struct source *s, const struct ratewire_congestion *c)
{
	return fmax(fmin((double)c->in_flight, s->cwnd) / 2, 2 * s->mss);
}

/* A loss or a timeout: with no repair under way, what an undone repair goes back to. */
static void note_before(struct source *s)
{
	if (s->episode == LOSS || s->backed_off)
		return;
	s->cwnd_before = s->cwnd;
	s->ssthresh_before = s->ssthresh;
}

/* ssthresh = max(flight / 2, 2 SMSS); cwnd = ssthresh, but never more than before (RFC 5681,
   equation 4). */
static void cut(struct source *s, const struct ratewire_congestion *c)
{
	s->ssthresh = half(s, c);
	s->cwnd = fmin(s->ssthresh, s->cwnd);
	s->after_timeout = false;
	s->acked = 0;
}

static void on_loss(void *source, const struct ratewire_congestion *c)
{
	struct source *s = source;
	bool answering = is_answering(s, c->now);
	note_before(s);
	s->episode = LOSS;
	if (!answering)
		cut(s, c);
}

static void on_mark(void *source, const struct ratewire_congestion *c)
{
	struct source *s = source;
	if (is_answering(s, c->now))
		return;
	s->episode = MARK;
	s->mark_until = c->now + c->srtt;
	cut(s, c);
}

/* ssthresh does not change while the same packet times out again (RFC 5681, 3.1). */
static void on_timeout(void *source, const struct ratewire_congestion *c)
{
	struct source *s = source;
	note_before(s);
	if (!s->backed_off && !is_answering(s, c->now)) {
		s->ssthresh = half(s, c);
		s->acked = 0;
	}
	s->cwnd = s->mss;
	s->episode = NONE;
	s->backed_off = true;
	s->after_timeout = true;
}

static void on_recovered(void *source, double now)
{
	struct source *s = source;
	(void)now;
	if (s->episode == LOSS)
		s->episode = NONE;
}

/* Nothing was lost: window and threshold are again what they were. */
static void on_spurious(void *source, double now)
{
	struct source *s = source;
	(void)now;
	if (s->cwnd_before == 0)
		return;
	s->cwnd = fmax(s->cwnd, s->cwnd_before);
	s->ssthresh = fmax(s->ssthresh, s->ssthresh_before);
	s->cwnd_before = 0;
	s->episode = NONE;
	s->backed_off = s->after_timeout = false;
}

static double slow_start_threshold(const void *source)
{
	return ((const struct source *)source)->ssthresh;
}

static double window(const void *source)
{
	return ((const struct source *)source)->cwnd;
}

static void reason(const void *source, struct ratewire_reason *reason)
{
	const struct source *s = source;
	reason->equation = s->cwnd < s->ssthresh ? "slow start: cwnd += SMSS for each SMSS acknowledged"
						 : "avoidance: cwnd += SMSS for each cwnd acknowledged";
	reason->figures[0] = (struct ratewire_figure){"cwnd", s->cwnd, RATEWIRE_BYTES};
	reason->figures[1] = (struct ratewire_figure){"ssthresh", s->ssthresh, RATEWIRE_BYTES};
	reason->figures[2] = (struct ratewire_figure){"SMSS", s->mss, RATEWIRE_BYTES};
	reason->count = 3;
}

static const struct ratewire_law table = {
	.version = RATEWIRE_LAW_VERSION,
	.size = sizeof(struct ratewire_law),
	.name = "newreno-c",
	.title = "NewReno in C",
	.summary = "TCP NewReno as a law of a shared object",
	.explanation = "NewReno (RFC 5681, 2009; RFC 6582, 2012), as Ratewire's own `newreno`.\n",
	.options = options,
	.option_count = OPTIONS,
	.flags = RATEWIRE_GOES_BY_LOSSES | RATEWIRE_SMALL_QUEUES,
	.create = law_create,
	.destroy = free,
	.source = {
		.create = source_create,
		.destroy = free,
		.on_send = on_send,
		.on_ack = on_ack,
		.on_loss = on_loss,
		.on_mark = on_mark,
		.on_timeout = on_timeout,
		.on_recovered = on_recovered,
		.on_spurious = on_spurious,
		.slow_start_threshold = slow_start_threshold,
		.window = window,
		.reason = reason,
	},
};

const struct ratewire_law *ratewire_law(void)
{
	return &table;
}
