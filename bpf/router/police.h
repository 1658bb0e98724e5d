/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* A port's policer (laws/police.h): the flows that it watches, and what their headers claim. */
#pragma once

#include "packet.h"

/* Flows that are watched. The loader sets the number of entries. */
struct {
	__uint(type, BPF_MAP_TYPE_LRU_HASH);
	__uint(max_entries, 1);
	__type(key, struct flow_key);
	__type(value, struct rw_suspect);
} suspects SEC(".maps");

/* Set before loading. */
const volatile __u32 police_leeway = 65536 + RW_POLICE_TOLERANCE;

/* A packet that comes to the port: link-layer bytes, and the queue that it joins. */
struct arrival {
	__u64 now;
	__u64 size;
	__u64 waiting;
	/* Bytes that the queue has sent, if the capacity is measured. */
	__u64 sent;
	/* Link-layer bytes of one of its segments. */
	__u64 segment;
};

/* What a header claims; returns whether it claims anything. */
static __always_inline int read_claim(const struct arrival *arrival, __u64 capacity, const union header *header,
				      struct rw_claim *claim)
{
	*claim = (struct rw_claim){
		.size = arrival->size,
		.segment = arrival->segment,
		.leeway = police_leeway,
		.capacity = capacity,
	};
	if (IS_JETMAX) {
		claim->rate = rw_real_rate(header->jetmax.header.rate);
		claim->has_rounds = 1;
		claim->round = header->jetmax.header.marker;
		return claim->rate != 0;
	}
	claim->rate = IS_XCP ? header->rates.rate : 0;
	claim->rtt_us = header->rates.rtt_us;
	return !IS_XCP || claim->rate;
}

/* Checks a packet of a flow before the law sees it; returns a verdict. */
static __always_inline int police(struct router *router, struct rw_suspect *suspect, struct rw_claim *claim,
				  __u64 now, union header *header)
{
	int verdict = rw_police_arrival(suspect, claim, now);

	if (verdict == RW_POLICE_CORRECTED) {
		router->corrected += 1;
		if (IS_JETMAX)
			header->jetmax.header.rate = rw_rate_real(claim->rate);
		else
			header->rates.rate = claim->rate;
	} else if (verdict == RW_POLICE_DROPPED) {
		router->dropped += 1;
	}
	return verdict;
}

/* Notes what the law granted. Under JetMax an honest flow takes no rate but the least that routers
 * have offered so far. */
static __always_inline void note_grant(struct rw_suspect *suspect, const struct rw_claim *claim,
				       const union header *header)
{
	if (IS_JETMAX) {
		__u32 field = rw_min(header->jetmax.header.fair, header->jetmax.header.proposed_fair);

		if (field != RW_REAL_UNKNOWN)
			rw_police_rate(suspect, rw_real_rate(field));
	} else if (IS_XCP) {
		rw_police_change(suspect, claim, header->rates.change);
	} else {
		rw_police_rate(suspect, header->rates.rate);
	}
}

/* Returns the entry of the packet's flow, or null. A flow that has none gets one, for which the
 * kernel drops an entry that was not used for long. */
static __always_inline struct rw_suspect *watch(struct slot *slot, __u64 now)
{
	struct rw_suspect *suspect = bpf_map_lookup_elem(&suspects, &slot->flow);

	if (suspect)
		return suspect;
	rw_suspect_init(&slot->suspect, &slot->claim, now);
	if (bpf_map_update_elem(&suspects, &slot->flow, &slot->suspect, BPF_ANY))
		return 0;
	slot->router.entries += 1;
	return bpf_map_lookup_elem(&suspects, &slot->flow);
}
