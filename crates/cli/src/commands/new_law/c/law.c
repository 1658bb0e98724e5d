/*
 * @NAME@: additive increase, multiplicative decrease (Chiu and Jain, 1989).
 *
 * The window grows by one packet each round trip, and is halved at each loss. Change it to your own
 * law: ratewire_law.h says what each function gets and what it must return. The window here is in
 * bytes of payload.
 */
#include "ratewire_law.h"

#include <stdlib.h>

enum { DECREASE, OPTIONS };

static const struct ratewire_option options[OPTIONS] = {
	[DECREASE] = {
		.name = "decrease",
		.kind = RATEWIRE_NUMBER,
		.part = RATEWIRE_SOURCE,
		.min = 0.1,
		.max = 0.9,
		.default_value = "0.5",
		.doc = "share of the window that is kept after a loss.",
	},
};

/* The law with its options. */
struct law {
	double decrease;
};

/* One flow's sender. */
struct source {
	double window;
	double mss;
	double decrease;
};

static void *law_create(const struct ratewire_value *values, char *error)
{
	struct law *law = malloc(sizeof *law);
	(void)error; /* for what cannot be: write the reason here, and return NULL */
	if (law)
		law->decrease = values[DECREASE].number;
	return law;
}

static void *source_create(const void *of, const struct ratewire_flow *flow)
{
	const struct law *law = of;
	struct source *s = malloc(sizeof *s);
	if (!s)
		return NULL;
	s->mss = (double)flow->mss;
	s->window = 10 * s->mss;
	s->decrease = law->decrease;
	return s;
}

static void on_ack(void *source, const struct ratewire_ack *ack, const uint8_t *header)
{
	struct source *s = source;
	(void)header; /* NULL: packets of this law carry none */
	/* A window that is not used says nothing about the path. */
	if (!ack->limited && !ack->in_recovery)
		s->window += s->mss * (double)ack->bytes / s->window;
}

static void on_loss(void *source, const struct ratewire_congestion *congestion)
{
	struct source *s = source;
	(void)congestion;
	s->window *= s->decrease;
	if (s->window < 2 * s->mss)
		s->window = 2 * s->mss;
}

static void on_timeout(void *source, const struct ratewire_congestion *congestion)
{
	struct source *s = source;
	(void)congestion;
	s->window = s->mss;
}

static double window(const void *source)
{
	const struct source *s = source;
	return s->window;
}

static void reason(const void *source, struct ratewire_reason *reason)
{
	const struct source *s = source;
	reason->equation = "window += SMSS each round trip";
	reason->figures[0] = (struct ratewire_figure){"window", s->window, RATEWIRE_BYTES};
	reason->figures[1] = (struct ratewire_figure){"SMSS", s->mss, RATEWIRE_BYTES};
	reason->count = 2;
}

static const struct ratewire_law table = {
	.version = RATEWIRE_LAW_VERSION,
	.size = sizeof(struct ratewire_law),
	.name = "@NAME@",
	.title = "@NAME@",
	.summary = "a packet more each round trip, a share less at each loss",
	.explanation = "What `ratewire explain` prints: the idea, the equations, their sources.\n",
	.options = options,
	.option_count = OPTIONS,
	.flags = RATEWIRE_GOES_BY_LOSSES | RATEWIRE_SMALL_QUEUES,
	.create = law_create,
	.destroy = free,
	.source = {
		.create = source_create,
		.destroy = free,
		.on_ack = on_ack,
		.on_loss = on_loss,
		.on_timeout = on_timeout,
		.window = window,
		.reason = reason,
	},
};

const struct ratewire_law *ratewire_law(void)
{
	return &table;
}
