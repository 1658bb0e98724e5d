/*
 * The receiver of XCP in C.
 *
 * SPDX-License-Identifier: MIT OR Apache-2.0
 */
#ifndef XCP_SINK_H
#define XCP_SINK_H

#include <stdlib.h>

#include "header.h"

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

#endif
