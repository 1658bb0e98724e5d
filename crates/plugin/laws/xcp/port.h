/*
 * The router of XCP in C, for one link.
 *
 * SPDX-License-Identifier: MIT OR Apache-2.0
 */
#ifndef XCP_PORT_H
#define XCP_PORT_H

#include <math.h>
#include <stdlib.h>

#include "header.h"

#define FIRST_INTERVAL 0.05
#define MIN_INTERVAL 0.005
#define MAX_INTERVAL 1.0
#define ALLOWED_QUEUE 0.002 /* seconds: the shortest queue interval */

/* Places of what the books need among the figures of a reason. */
enum { FEEDBACK = 8, TO_GIVE, TO_TAKE };

/* The options. */
struct gains {
	double alpha, beta, gamma;
};

struct port {
	struct gains gains;
	double capacity;
	double min_interval, max_rtt; /* seconds; picoseconds */
	/* Arrivals of this control interval; X and RTT in picoseconds. */
	double input, sum_x, sum_x_with_rtt, sum_x_rtt;
	/* What is given out in this one. */
	double residue_pos, residue_neg, cp, cn, most, input_bw, feedback;
	double avg_rtt, interval;
	double queue, min_queue; /* the persistent queue, and the least since it was last measured */
	double next_control, next_queue;
};

static void *port_create(const void *law, const struct ratewire_link *link)
{
	struct port *p = calloc(1, sizeof *p);
	if (!p)
		return NULL;
	p->gains = *(const struct gains *)law;
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
	p->feedback = p->gains.alpha * (p->capacity - p->input_bw) - p->gains.beta * p->queue / p->avg_rtt;
	shuffled = fmax(p->gains.gamma * p->input_bw - fabs(p->feedback), 0);
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
	reason->figures[6] = (struct ratewire_figure){"alpha", p->gains.alpha, RATEWIRE_ONE};
	reason->figures[7] = (struct ratewire_figure){"beta", p->gains.beta, RATEWIRE_ONE};
	reason->figures[FEEDBACK] = (struct ratewire_figure){"F", p->feedback, RATEWIRE_BYTES_PER_SECOND};
	reason->figures[TO_GIVE] =
		(struct ratewire_figure){"left to give", p->residue_pos, RATEWIRE_BYTES_PER_SECOND};
	reason->figures[TO_TAKE] =
		(struct ratewire_figure){"left to take", p->residue_neg, RATEWIRE_BYTES_PER_SECOND};
	reason->count = TO_TAKE + 1;
}

#endif
