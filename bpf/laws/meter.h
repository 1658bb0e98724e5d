/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* Measured rate of a link: departures while the queue is not empty. The rule is that of laws/xcp,
 * whose measure_capacity works at departures; here only arrivals are seen, with the queue and the
 * departures so far. */
#pragma once

#include "arithmetic.h"

#define RW_METER_WINDOW_NS 50000000ull
/* If as much came as is assumed possible, and no queue stood, a twentieth more is assumed. */
#define RW_METER_PROBE 20
/* Least capacity in B/s: a packet a second. */
#define RW_METER_LEAST 1500

struct rw_meter {
	/* Of this window: departures while a queue stood, the time for which it stood, and
	 * arrivals. */
	__u64 left;
	__u64 time_ns;
	__u64 came;
	__u64 began_ns;
	/* Departures by the last packet, as the queue counts them: from 0 if the queue is
	 * replaced. */
	__u64 sent;
};

/* Handles a packet that comes passed_ns after the one before, behind queue bytes, when the queue
 * has sent this many in all. A queue that shrank is no measure of departures: packets may have been
 * dropped. */
RW_INLINE void rw_meter_packet(struct rw_meter *meter, __u64 passed_ns, __u64 size, __u64 queue, __u64 sent)
{
	meter->came += size;
	if (queue && sent >= meter->sent) {
		meter->left += sent - meter->sent;
		meter->time_ns += passed_ns;
	}
	meter->sent = sent;
}

/* Capacity to assume from now on, at least 1 B/s; evidence counts by the part of the window that it
 * covers. */
RW_FUNCTION __u64 rw_meter_read(struct rw_meter *meter RW_NONNULL, __u64 now_ns, __u64 believed)
{
	__u64 window = rw_less(now_ns, meter->began_ns);
	struct rw_share part;

	if (window < RW_METER_WINDOW_NS)
		return believed;
	if (meter->time_ns) {
		__u64 found = rw_min(rw_mul_shift(meter->left, 1000000000, 0) / meter->time_ns, RW_MOST_RATE);

		rw_share_of(&part, rw_min(meter->time_ns, window), window);
		if (found > believed)
			believed += rw_times(&part, found - believed);
		else
			believed -= rw_times(&part, believed - found);
	} else if (rw_mul_shift(meter->came, 1000000000, 0) / window >= believed - believed / RW_METER_PROBE) {
		/* The capacity grows from any value, however small. */
		believed = rw_min(believed + rw_max(believed / RW_METER_PROBE, RW_METER_LEAST), RW_MOST_RATE);
	}
	*meter = (struct rw_meter){ .began_ns = now_ns, .sent = meter->sent };
	return rw_max(believed, 1);
}
