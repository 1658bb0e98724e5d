/* A law for tests: it notes what it is called with, and its numbers can be replaced. */
#include "ratewire_law.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

struct state {
	double calls;
	double last;
	uint8_t header[4];
};

static int alive;

static const struct ratewire_option options[] = {
	{"share", RATEWIRE_NUMBER, RATEWIRE_BOTH, 0, 1, NULL, "0.5", "A share."},
	{"mode", RATEWIRE_WORD, RATEWIRE_SOURCE, 0, 0, "slow|fast", "slow", "A word."},
	{"size", RATEWIRE_SIZE, RATEWIRE_SOURCE, 0, 0, NULL, "10 packets", "A size."},
	{"time", RATEWIRE_TIME, RATEWIRE_SOURCE, 0, 0, NULL, "50 ms", "A time."},
	{"rate", RATEWIRE_RATE, RATEWIRE_PORT, 0, 0, NULL, "8 Mbit/s", "A rate."},
	{"on", RATEWIRE_SWITCH, RATEWIRE_SINK, 0, 0, NULL, "true", "A switch."},
	{"count", RATEWIRE_COUNT, RATEWIRE_SOURCE, 1, 9, NULL, "3", "A number of things."},
};

static struct ratewire_value given[7];

static void *law_create(const struct ratewire_value *values, char *error)
{
	memcpy(given, values, sizeof given);
	if (values[0].number == 0) {
		strcpy(error, "nothing to share");
		return NULL;
	}
	alive++;
	return malloc(1);
}

static void drop(void *state)
{
	alive--;
	free(state);
}

static struct state *state(void)
{
	alive++;
	return calloc(1, sizeof(struct state));
}

static void *source_create(const void *law, const struct ratewire_flow *flow)
{
	struct state *s = state();
	(void)law;
	s->last = (double)flow->mss + flow->line_rate;
	return s;
}

static bool on_send(void *source, const struct ratewire_sending *sending, uint8_t *header)
{
	struct state *s = source;
	s->last = sending->now + (double)sending->packet;
	memcpy(header, "abcd", 4);
	return true;
}

static void on_ack(void *source, const struct ratewire_ack *ack, const uint8_t *header)
{
	struct state *s = source;
	s->last = ack->rtt + (double)ack->bytes;
	if (header)
		memcpy(s->header, header, 4);
}

static void on_loss(void *source, const struct ratewire_congestion *c)
{
	((struct state *)source)->last = 1000 + (double)c->in_flight;
}

static void on_timeout(void *source, const struct ratewire_congestion *c)
{
	((struct state *)source)->last = 2000 + (double)c->in_flight;
}

static void on_spurious(void *source, double now)
{
	((struct state *)source)->last = 3000 + now;
}

static double slow_start_threshold(const void *source)
{
	(void)source;
	return 2920.6;
}

static double next_timer(const void *source)
{
	(void)source;
	return 0.25;
}

static void on_timer(void *source, double now)
{
	((struct state *)source)->last = now;
}

static double window(const void *source)
{
	(void)source;
	return 5000;
}

static bool pace(const void *source, double *rate)
{
	(void)source;
	*rate = 1e6;
	return true;
}

static void reason(const void *source, struct ratewire_reason *told)
{
	const struct state *s = source;
	told->equation = "last = what came last";
	told->figures[0] = (struct ratewire_figure){"last", s->last, RATEWIRE_ONE};
	told->figures[1] = (struct ratewire_figure){"header", s->header[0], RATEWIRE_ONE};
	told->count = 2;
}

static void *port_create(const void *law, const struct ratewire_link *link)
{
	struct state *s = state();
	(void)law;
	s->last = link->rate + link->id;
	return s;
}

static void on_packet(void *port, double now, uint64_t packet, uint8_t *header,
		      const struct ratewire_queue *queue)
{
	((struct state *)port)->last = now + (double)packet + (double)queue->bytes;
	if (header)
		header[0] = 'X';
}

static double port_timer(const void *port)
{
	(void)port;
	return INFINITY;
}

static void on_port_timer(void *port, double now, const struct ratewire_queue *queue)
{
	(void)port, (void)now, (void)queue;
}

static void on_rate_change(void *port, double now, double rate)
{
	(void)now;
	((struct state *)port)->last = rate;
}

static void *sink_create(const void *law, const struct ratewire_flow *flow)
{
	(void)law, (void)flow;
	return state();
}

static void on_data(void *sink, double now, const uint8_t *header)
{
	(void)now;
	memcpy(((struct state *)sink)->header, header, 4);
}

static bool sink_on_ack(void *sink, double now, uint8_t *header)
{
	(void)now;
	memcpy(header, ((struct state *)sink)->header, 4);
	return true;
}

static uint32_t fields(const uint8_t *header, struct ratewire_figure *figures)
{
	figures[0] = (struct ratewire_figure){"first", header[0], RATEWIRE_ONE};
	return 1;
}

static const struct ratewire_law table = {
	.version = RATEWIRE_LAW_VERSION,
	.size = sizeof(struct ratewire_law),
	.name = "sound",
	.title = "Sound",
	.summary = "a law for tests",
	.explanation = "Notes what it is called with.\n",
	.options = options,
	.option_count = 7,
	.header_length = 4,
	.flags = RATEWIRE_EQUAL_SHARES,
	.create = law_create,
	.destroy = drop,
	.fields = fields,
	.source = {source_create, drop, on_send, on_ack, on_loss, NULL, on_timeout, NULL, on_spurious,
		   slow_start_threshold, next_timer, on_timer, window, pace, reason},
	.port = {port_create, drop, on_packet, on_packet, port_timer, on_port_timer, on_rate_change,
		 reason},
	.sink = {sink_create, drop, on_data, sink_on_ack},
};

const struct ratewire_law *ratewire_law(void)
{
	return &table;
}

/* For the tests, which look these up by name. */
RATEWIRE_EXPORT int states_alive(void);
int states_alive(void)
{
	return alive;
}

RATEWIRE_EXPORT double value_given(int at);
double value_given(int at)
{
	return given[at].in_packets ? -given[at].number : given[at].number;
}
