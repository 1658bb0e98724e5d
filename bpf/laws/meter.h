/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* Measured rate of a link: departures while the queue is not empty. The rule is that of
 * measure_capacity in laws/xcp, which works at departures. Here the meter sees only arrivals,
 * with the queue and the departures so far. */
#pragma once

#include "arithmetic.h"

#define RW_METER_WINDOW_NS 50000000ull
/* If arrivals reach the assumed capacity without a queue, a twentieth more is assumed. */
#define RW_METER_PROBE 20
/* Least capacity in B/s: a packet a second. */
#define RW_METER_LEAST 1500

struct rw_meter {
	/* Sums of this window: departures while there was a queue, the time with a queue, and
	 * arrivals. */
	__u64 left;
	__u64 time_ns;
	__u64 came;
	__u64 began_ns;
	/* Departures by the last packet, as the queue counts them: from 0 if the queue is
	 * replaced. */
	__u64 sent;
};

/* Handles a packet that arrives passed_ns after the one before, behind queue bytes, when the
 * queue has sent this many bytes in all. The shrinking of a queue does not measure departures,
 * because packets may have been dropped. */
RW_INLINE void rw_meter_packet(struct rw_meter *meter, __u64 passed_ns, __u64 size, __u64 queue, __u64 sent)
{
	meter->came += size;
	if (queue && sent >= meter->sent) {
		meter->left += sent - meter->sent;
		meter->time_ns += passed_ns;
	}
	meter->sent = sent;
}

/* Capacity to assume from now on, at least 1 B/s. Evidence is weighted by the part of the window
 * that it covers. */
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
