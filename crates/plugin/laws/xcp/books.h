/*
 * What XCP in C conserves.
 *
 * - When an interval begins, `left to give` less `left to take` is F.
 * - A packet is granted no more than its wish, and its grant is subtracted from these.
 * - A receiver returns the sum of the packets' grants.
 *
 * SPDX-License-Identifier: MIT OR Apache-2.0
 */
#ifndef XCP_BOOKS_H
#define XCP_BOOKS_H

#include <math.h>
#include <stdbool.h>
#include <stdlib.h>

#include "header.h"
#include "port.h"

struct books {
	double granted; /* arrived at the receiver and not yet returned */
};

static void *books_create(const void *law)
{
	(void)law;
	return calloc(1, sizeof(struct books));
}

/* Whether numbers are equal but for the rounding of numbers of the size of `scale`. */
static bool is_close(double found, double wanted, double scale)
{
	return fabs(found - wanted) <= 1e-9 * fabs(scale);
}

static const char *departed(void *books, const struct ratewire_departure *d)
{
	struct header was = get(d->was), is = get(d->is);
	double given = d->before[TO_GIVE], left = d->after[TO_GIVE];
	double taken = d->before[TO_TAKE], owed = d->after[TO_TAKE];
	double spent = (given - left) - (taken - owed);
	double scale = given + left + taken + owed + fabs(is.feedback);
	(void)books;
	if (was.rtt == RETURNED)
		return NULL;
	if (is.feedback > was.feedback)
		return "a packet was granted more than its wish";
	if (given <= 0)
		return is.feedback > 0 ? "a packet was granted something of nothing" : NULL;
	/* The packet that takes the last still gets its whole share. */
	if (left <= 0)
		return NULL;
	if (is.feedback > spent && !is_close(is.feedback, spent, scale))
		return "a packet was granted more than the port has spent";
	/* More may be taken than was left. */
	if ((owed > 0 || is.feedback == was.feedback) && !is_close(is.feedback, spent, scale))
		return "a packet was granted less than the port has spent";
	return NULL;
}

static const char *after_timer(void *books, const double *before, const double *after)
{
	double give = after[TO_GIVE], take = after[TO_TAKE];
	(void)books;
	/* The queue's timer changes none of the three. */
	if (before[FEEDBACK] == after[FEEDBACK] && before[TO_GIVE] == give && before[TO_TAKE] == take)
		return NULL;
	return is_close(give - take, after[FEEDBACK], give + take) ? NULL
								   : "left to give, less left to take, is not F";
}

static const char *received(void *books, const uint8_t *header)
{
	((struct books *)books)->granted += get(header).feedback;
	return NULL;
}

static const char *answered(void *books, const uint8_t *header)
{
	struct books *b = books;
	double granted = b->granted;
	b->granted = 0;
	return get(header).feedback == granted ? NULL : "a receiver returns another sum than it got";
}

#endif
