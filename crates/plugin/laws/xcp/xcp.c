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
#include "books.h"
#include "port.h"
#include "sink.h"
#include "source.h"

enum { ALPHA, BETA, GAMMA, OPTIONS };

static const struct ratewire_option options[OPTIONS] = {
	[ALPHA] = {"alpha", RATEWIRE_NUMBER, RATEWIRE_PORT, 0, 2, NULL, "0.4",
		   "gain of the spare capacity. Draft, 4.2.3; stable below pi / (4 sqrt 2)."},
	[BETA] = {"beta", RATEWIRE_NUMBER, RATEWIRE_PORT, 0, 2, NULL, "0.226",
		  "gain of the persistent queue. Draft, 4.2.3: alpha^2 sqrt 2."},
	[GAMMA] = {"gamma", RATEWIRE_NUMBER, RATEWIRE_PORT, 0, 1, NULL, "0.1",
		   "share of the traffic that is shuffled between flows. Draft, 4.2.3."},
};

static void *law_create(const struct ratewire_value *values, char *error)
{
	struct gains *gains = malloc(sizeof *gains);
	(void)error;
	if (gains)
		*gains = (struct gains){values[ALPHA].number, values[BETA].number, values[GAMMA].number};
	return gains;
}

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
		.on_spurious = on_spurious,
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
	.books = {
		.create = books_create,
		.destroy = free,
		.departed = departed,
		.timer = after_timer,
		.received = received,
		.answered = answered,
	},
};

const struct ratewire_law *ratewire_law(void)
{
	return &table;
}
