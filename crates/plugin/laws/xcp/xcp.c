/*
 * XCP (Katabi, Handley and Rohrs, 2002; draft-falk-xcp-spec-03, 2007) in C, with its router: the
 * same windows as Ratewire's own `xcp` with its default options. Sections and lines are of the
 * draft.
 *
 * Windows are network-layer bytes, as feedback is; rates are bytes per second. Times that packets
 * carry are picoseconds, Ratewire's grain.
 *
 * SPDX-License-Identifier: MIT OR Apache-2.0
 */
#include "ratewire_law.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define PS 1e12 /* picoseconds per second */

static uint64_t picoseconds(double seconds)
{
	return (uint64_t)(seconds * PS + 0.5);
}

/* ------------------------------------------------------------------------------------ options */

enum { ALPHA, BETA, GAMMA, OPTIONS };

static const struct ratewire_option options[OPTIONS] = {
	[ALPHA] = {"alpha", RATEWIRE_NUMBER, RATEWIRE_PORT, 0, 2, NULL, "0.4",
		   "gain of the spare capacity. Draft, 4.2.3; stable below pi / (4 sqrt 2)."},
	[BETA] = {"beta", RATEWIRE_NUMBER, RATEWIRE_PORT, 0, 2, NULL, "0.226",
		  "gain of the persistent queue. Draft, 4.2.3: alpha^2 sqrt 2."},
	[GAMMA] = {"gamma", RATEWIRE_NUMBER, RATEWIRE_PORT, 0, 1, NULL, "0.1",
		   "share of the traffic that is shuffled between flows. Draft, 4.2.3."},
};

struct law {
	double alpha, beta, gamma;
};

static void *law_create(const struct ratewire_value *values, char *error)
{
	struct law *law = malloc(sizeof *law);
	(void)error;
	if (law)
		*law = (struct law){values[ALPHA].number, values[BETA].number, values[GAMMA].number};
	return law;
}

/* ------------------------------------------------------------------------------------- header */

/*
 * Six bytes of RTT, six of X, eight of feedback. A header on its way back has no RTT and no X, and
 * says so by a RTT that no path has.
 */
enum { HEADER_LENGTH = 20 };
static const uint64_t RETURNED = 0xffffffffffff;

struct header {
	uint64_t rtt, x; /* picoseconds */
	double feedback; /* delta_throughput, or reverse_feedback on its way back */
};

static void put_time(uint8_t *bytes, uint64_t time)
{
	for (int i = 0; i < 6; i++)
		bytes[i] = (uint8_t)(time >> (8 * (5 - i)));
}

static uint64_t get_time(const uint8_t *bytes)
{
	uint64_t time = 0;
	for (int i = 0; i < 6; i++)
		time = time << 8 | bytes[i];
	return time;
}

static void put(uint8_t *bytes, const struct header *header)
{
	put_time(bytes, header->rtt);
	put_time(bytes + 6, header->x);
	memcpy(bytes + 12, &header->feedback, 8);
}

/* A time that fits into a header; none is longer than 281 s. */
static uint64_t carried(double picoseconds)
{
	double most = (double)(RETURNED - 1);
	return picoseconds < most ? (uint64_t)(picoseconds + 0.5) : RETURNED - 1;
}

/* Bytes from elsewhere may be no number: such feedback counts as none. */
static struct header get(const uint8_t *bytes)
{
	struct header header = {get_time(bytes), get_time(bytes + 6), 0};
	memcpy(&header.feedback, bytes + 12, 8);
	if (!isfinite(header.feedback))
		header.feedback = 0;
	return header;
}

static uint32_t fields(const uint8_t *bytes, struct ratewire_figure *figures)
{
	struct header header = get(bytes);
	if (header.rtt == RETURNED) {
		figures[0] = (struct ratewire_figure){"reverse_feedback", header.feedback,
						      RATEWIRE_BYTES_PER_SECOND};
		return 1;
	}
	figures[0] = (struct ratewire_figure){"RTT", (double)header.rtt / PS, RATEWIRE_SECONDS};
	figures[1] = (struct ratewire_figure){"X", (double)header.x / PS, RATEWIRE_SECONDS};
	figures[2] = (struct ratewire_figure){"delta_throughput", header.feedback,
					      RATEWIRE_BYTES_PER_SECOND};
	return 3;
}

/* ------------------------------------------------------------------------------------- sender */

#define AGING 0.5    /* of the unused part of the window, each round trip (4.1.3.1) */
#define COLLAPSE 2.0 /* a round trip this much shorter than the mean: the RTT has collapsed */
#define MAX_WINDOW 1e15

enum state { XCP, REPAIRING, MARKED };

struct source {
	double window, srtt;
	double fallen_to; /* the RTT to which the window has fallen; it falls once with each */
	double ssthresh;  /* the halved window: a repair does not grow it beyond */
	double reverse_feedback;
	double desired, packet, payload_per_packet, packet_per_payload;
	double wish_carry; /* wishes below 1 B/s, which are saved up */
	double marked_until;
	enum state state;
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
	s->fallen_to = s->ssthresh = INFINITY;
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
	most = s->state == XCP ? MAX_WINDOW : s->ssthresh;
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

/* Halves the window, which does not grow beyond that until the repair is over. */
static void halve(struct source *s, const struct ratewire_congestion *c)
{
	double flight = (double)c->in_flight * s->packet_per_payload;
	double half = fmax(fmin(s->window, flight) / 2, s->packet);
	s->ssthresh = fmax(half, 2 * s->packet);
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

/* ------------------------------------------------------------------------------------- router */

#define FIRST_INTERVAL 0.05
#define MIN_INTERVAL 0.005
#define MAX_INTERVAL 1.0
#define ALLOWED_QUEUE 0.002 /* seconds: the shortest queue interval */

struct port {
	double alpha, beta, gamma, capacity;
	double min_interval, max_rtt; /* seconds; picoseconds */
	/* Arrivals of this control interval; X and RTT in picoseconds. */
	double input, sum_x, sum_x_with_rtt, sum_x_rtt;
	/* What is given out in this one. */
	double residue_pos, residue_neg, cp, cn, most, input_bw, feedback;
	double avg_rtt, interval;
	double queue, min_queue; /* the persistent queue, and the least since it was last measured */
	double next_control, next_queue;
};

static void *port_create(const void *of, const struct ratewire_link *link)
{
	const struct law *law = of;
	struct port *p = calloc(1, sizeof *p);
	if (!p)
		return NULL;
	p->alpha = law->alpha;
	p->beta = law->beta;
	p->gamma = law->gamma;
	p->capacity = link->rate;
	p->min_interval = fmax(MIN_INTERVAL, link->delay);
	p->max_rtt = fmax(MAX_INTERVAL, link->delay) * PS;
	p->avg_rtt = p->interval = p->next_control = p->next_queue = FIRST_INTERVAL;
	return p;
}

/* Lines 1 to 6. Other traffic fills the link too, so its bytes count. */
static void on_arrival(void *port, double now, uint64_t size, uint8_t *bytes,
		       const struct ratewire_queue *queue)
{
	struct port *p = port;
	(void)now, (void)queue;
	p->input += (double)size;
	if (bytes) {
		struct header header = get(bytes);
		double x = (double)header.x;
		if (header.rtt == RETURNED)
			return;
		p->sum_x += x;
		if (header.rtt > 0) {
			p->sum_x_with_rtt += x;
			p->sum_x_rtt += x * fmin((double)header.rtt, p->max_rtt);
		}
	}
}

/* The grant of a packet: its wish, if that is less than its allotment (lines 19 to 28). */
static double grant(struct port *p, double wish, double x, double size)
{
	double pos = fmin(p->cp * x, p->most);
	double neg = p->cn * size;
	double granted = pos - neg;
	if (wish <= granted) {
		/* An upstream router, or the sender, wanted less: the rest is kept for others. */
		neg = fmin(p->residue_neg, neg + (granted - wish));
		pos = wish + neg;
		granted = wish;
	}
	p->residue_pos = fmax(p->residue_pos - pos, 0);
	p->residue_neg = fmax(p->residue_neg - neg, 0);
	if (p->residue_pos <= 0)
		p->cp = 0;
	if (p->residue_neg <= 0)
		p->cn = 0;
	return granted;
}

static void on_departure(void *port, double now, uint64_t size, uint8_t *bytes,
			 const struct ratewire_queue *queue)
{
	struct port *p = port;
	struct header header;
	(void)now;
	p->min_queue = fmin(p->min_queue, (double)queue->bytes); /* line 29 */
	if (!bytes)
		return;
	header = get(bytes);
	if (header.rtt == RETURNED)
		return;
	/* A flow whose RTT is longer than any interval may not appear in two of them. */
	if ((double)header.rtt > p->max_rtt && p->cp <= 0)
		p->cp = p->residue_pos / (p->interval * PS);
	header.feedback = grant(p, header.feedback, (double)header.x, (double)size);
	put(bytes, &header);
}

/* The end of the control interval (lines 7 to 18). */
static void control(struct port *p, double now)
{
	double shuffled;
	if (p->sum_x_with_rtt > 0)
		p->avg_rtt = fmax(p->sum_x_rtt / p->sum_x_with_rtt * 1e-12, p->min_interval);
	p->input_bw = p->input / p->interval;
	p->feedback = p->alpha * (p->capacity - p->input_bw) - p->beta * p->queue / p->avg_rtt;
	shuffled = fmax(p->gamma * p->input_bw - fabs(p->feedback), 0);
	p->residue_pos = p->most = shuffled + fmax(p->feedback, 0);
	p->residue_neg = shuffled + fmax(-p->feedback, 0);
	p->cp = p->sum_x > 0 ? p->residue_pos / p->sum_x : 0;
	p->cn = p->input > 0 ? p->residue_neg / p->input : 0;
	p->input = p->sum_x = p->sum_x_with_rtt = p->sum_x_rtt = 0;
	p->interval = fmax(p->avg_rtt, p->min_interval);
	p->next_control = now + p->interval;
}

/* The end of the queue interval, on a timer of its own (4.2.4). */
static void measure_queue(struct port *p, double now, double waiting)
{
	double queueing = p->capacity > 0 ? waiting / p->capacity : 0;
	p->queue = p->min_queue;
	p->min_queue = waiting;
	p->next_queue = now + fmax((p->avg_rtt - queueing) / 2, ALLOWED_QUEUE);
}

static double next_timer(const void *port)
{
	const struct port *p = port;
	return fmin(p->next_control, p->next_queue);
}

/* Times have the run's grain of a picosecond: what is due within half of one is due. */
static bool is_due(double at, double now)
{
	return picoseconds(at) <= picoseconds(now);
}

static void on_timer(void *port, double now, const struct ratewire_queue *queue)
{
	struct port *p = port;
	if (is_due(p->next_control, now))
		control(p, now);
	if (is_due(p->next_queue, now))
		measure_queue(p, now, (double)queue->bytes);
}

static void on_rate_change(void *port, double now, double rate)
{
	(void)now;
	((struct port *)port)->capacity = rate;
}

static void port_reason(const void *port, struct ratewire_reason *reason)
{
	const struct port *p = port;
	reason->equation = "delta_throughput <= Cp * X - Cn * size, of F = alpha (C - y) - beta q / avg_rtt";
	reason->figures[0] = (struct ratewire_figure){"Cp", p->cp * PS, RATEWIRE_ONE};
	reason->figures[1] = (struct ratewire_figure){"Cn", p->cn, RATEWIRE_PER_SECOND};
	reason->figures[2] = (struct ratewire_figure){"C", p->capacity, RATEWIRE_BYTES_PER_SECOND};
	reason->figures[3] = (struct ratewire_figure){"y", p->input_bw, RATEWIRE_BYTES_PER_SECOND};
	reason->figures[4] = (struct ratewire_figure){"q", p->queue, RATEWIRE_BYTES};
	reason->figures[5] = (struct ratewire_figure){"avg_rtt", p->avg_rtt, RATEWIRE_SECONDS};
	reason->figures[6] = (struct ratewire_figure){"alpha", p->alpha, RATEWIRE_ONE};
	reason->figures[7] = (struct ratewire_figure){"beta", p->beta, RATEWIRE_ONE};
	reason->figures[8] = (struct ratewire_figure){"F", p->feedback, RATEWIRE_BYTES_PER_SECOND};
	reason->count = 9;
}

/* ----------------------------------------------------------------------------------- receiver */

struct sink {
	double sum; /* feedback since the last acknowledgement */
	bool any;
};

static void *sink_create(const void *law, const struct ratewire_flow *flow)
{
	(void)law, (void)flow;
	return calloc(1, sizeof(struct sink));
}

static void on_data(void *sink, double now, const uint8_t *bytes)
{
	struct sink *s = sink;
	(void)now;
	s->sum += get(bytes).feedback;
	s->any = true;
}

static bool sink_on_ack(void *sink, double now, uint8_t *bytes)
{
	struct sink *s = sink;
	struct header header = {RETURNED, 0, s->sum};
	bool any = s->any;
	(void)now;
	s->sum = 0;
	s->any = false;
	put(bytes, &header);
	return any;
}

/* ---------------------------------------------------------------------------------------- law */

static const struct ratewire_law table = {
	.version = RATEWIRE_LAW_VERSION,
	.size = sizeof(struct ratewire_law),
	.name = "xcp-c",
	.title = "XCP in C",
	.summary = "XCP as a law of a shared object",
	.explanation = "XCP (Katabi, Handley and Rohrs, 2002; draft-falk-xcp-spec-03), as Ratewire's own `xcp`.\n",
	.options = options,
	.option_count = OPTIONS,
	.header_length = HEADER_LENGTH,
	.flags = RATEWIRE_EQUAL_SHARES | RATEWIRE_ANY_SPEED,
	.create = law_create,
	.destroy = free,
	.fields = fields,
	.source = {
		.create = source_create,
		.destroy = free,
		.on_send = on_send,
		.on_ack = on_ack,
		.on_loss = on_loss,
		.on_mark = on_mark,
		.on_timeout = on_timeout,
		.on_recovered = on_recovered,
		.window = window,
		.pace = pace,
		.reason = source_reason,
	},
	.port = {
		.create = port_create,
		.destroy = free,
		.on_arrival = on_arrival,
		.on_departure = on_departure,
		.next_timer = next_timer,
		.on_timer = on_timer,
		.on_rate_change = on_rate_change,
		.reason = port_reason,
	},
	.sink = {
		.create = sink_create,
		.destroy = free,
		.on_data = on_data,
		.on_ack = sink_on_ack,
	},
};

const struct ratewire_law *ratewire_law(void)
{
	return &table;
}
