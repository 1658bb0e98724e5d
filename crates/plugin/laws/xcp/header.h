/*
 * The congestion header of XCP in C, and its times.
 *
 * SPDX-License-Identifier: MIT OR Apache-2.0
 */
#ifndef XCP_HEADER_H
#define XCP_HEADER_H

#include <math.h>
#include <stdint.h>
#include <string.h>

#include "ratewire_law.h"

#define PS 1e12 /* picoseconds per second */

static uint64_t picoseconds(double seconds)
{
	return (uint64_t)(seconds * PS + 0.5);
}

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

#endif
