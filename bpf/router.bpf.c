// SPDX-License-Identifier: MIT OR GPL-2.0-only
/* A router's part of a law, at the egress of an interface: reads the congestion header that TCP
 * carries as an option and ACP in UDP, lets the law rewrite it, and keeps the checksum right.
 *
 * Only a policer drops packets. None is dropped for what its header says: a malformed one counts as
 * other traffic. */
#include "router/police.h"

#include <linux/pkt_cls.h>

char LICENSE[] SEC("license") = "Dual MIT/GPL";

/* One object is loaded for each interface. */
struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct slot);
} routers SEC(".maps");

/* Set before loading. */
const volatile __u32 is_virtual = 0;
const volatile __u32 is_measured = 0;
const volatile struct rw_xcp_constants xcp = RW_XCP_CONSTANTS;
const volatile struct rw_rcp_rule rcp = RW_RCP_RULE;
const volatile struct rw_jetmax_constants jetmax = RW_JETMAX_CONSTANTS;

#define CLOCK_MONOTONIC 1

/* Bytes waiting at the interface. */
static __always_inline __u64 backlog(const struct sk_buff *kernel)
{
	return kernel->dev->qdisc->qstats.backlog;
}

/* Bytes that the interface's queue has sent in all. */
static __always_inline __u64 departed(const struct sk_buff *kernel)
{
	return kernel->dev->qdisc->bstats.bytes.v.a.a.counter;
}

/* Estimated rest of the queue behind the last packet. Nothing more is known between packets, or
 * of a queue elsewhere. */
static __always_inline __u64 drained(const struct router *router, __u64 now)
{
	return rw_less(router->behind, rw_part(&router->drain, rw_min(rw_less(now, router->behind_at_ns), ~0u)));
}

/* Number of tries to take the lock: another processor needs less than a microsecond. */
#define MOST_TRIES 4096

__attribute__((noinline)) int wait_for(__u64 *busy RW_NONNULL)
{
	for (int i = 0; i < MOST_TRIES; i++) {
		if (!__sync_val_compare_and_swap(busy, 0, 1))
			return 1;
	}
	return 0;
}

/* BPF's own lock allows no calls while it is held, and without calls the laws are too large for the
 * verifier. */
static __always_inline int take(struct slot *slot)
{
	return !__sync_val_compare_and_swap(&slot->busy, 0, 1) || wait_for(&slot->busy);
}

static __always_inline void release(struct slot *slot)
{
	__sync_val_compare_and_swap(&slot->busy, 1, 0);
}

static __always_inline void set_capacity(struct router *router, __u64 capacity)
{
	router->capacity = capacity;
	rw_share_of(&router->drain, capacity, 1000000000);
	if (IS_XCP)
		router->port.xcp.capacity = capacity;
	else if (IS_JETMAX)
		router->port.jetmax.capacity = capacity;
	else
		router->port.rcp.capacity = capacity;
}

/* Ends intervals that are over. */
static __always_inline void timers(struct router *router, __u64 now, __u64 waiting)
{
	if (IS_XCP)
		rw_xcp_timers(&router->port.xcp, now, waiting);
	else if (IS_JETMAX)
		rw_jetmax_timers(&router->port.jetmax, now);
	else
		rw_rcp_timers(&router->port.rcp, now, waiting);
}

/* Time at which timers() is due again. */
static __always_inline __u64 due(const struct router *router)
{
	if (IS_XCP)
		return rw_min(router->port.xcp.control_at_ns, router->port.xcp.queue_at_ns);
	return IS_JETMAX ? router->port.jetmax.interval_at_ns : router->port.rcp.slot_at_ns;
}

#define SHORTEST_WAIT_NS 1000000

/* Ends an interval at its time, whether or not a packet has come. */
static int on_timer(void *map, __u32 *key, struct slot *slot)
{
	__u64 now = bpf_ktime_get_ns();

	if (take(slot)) {
		timers(&slot->router, now, drained(&slot->router, now));
		release(slot);
	}
	bpf_timer_start(&slot->timer, rw_max(rw_less(due(&slot->router), now), SHORTEST_WAIT_NS), 0);
	return 0;
}

static __always_inline void start(struct slot *slot, void *map, __u64 now, __u64 sent)
{
	/* Field by field: of a struct as a whole, the compiler takes what it is before loading. */
	struct rw_xcp_constants of_xcp = { .alpha = xcp.alpha, .beta = xcp.beta, .gamma = xcp.gamma,
					   .min_interval_us = xcp.min_interval_us,
					   .max_interval_us = xcp.max_interval_us,
					   .allowed_queue_us = xcp.allowed_queue_us, .memory = xcp.memory,
					   .queue_cap = xcp.queue_cap, .queue_limit = xcp.queue_limit };
	struct rw_rcp_rule of_rcp = { .spare = rcp.spare, .queue = rcp.queue, .target = rcp.target,
				      .slot_us = rcp.slot_us };
	struct rw_jetmax_constants of_jetmax = { .gamma = jetmax.gamma, .interval_us = jetmax.interval_us };
	struct router *router = &slot->router;

	if (IS_XCP)
		rw_xcp_init(&router->port.xcp, router->capacity, &of_xcp, now);
	else if (IS_JETMAX)
		rw_jetmax_init(&router->port.jetmax, router->capacity, &of_jetmax, bpf_get_prandom_u32() % 0xffff + 1,
			       now);
	else
		rw_rcp_init(&router->port.rcp, router->capacity, &of_rcp, now);
	set_capacity(router, router->capacity);
	router->meter = (struct rw_meter){ .began_ns = now, .sent = sent };
	router->behind_at_ns = now;
	router->is_started = 1;
	bpf_timer_init(&slot->timer, map, CLOCK_MONOTONIC);
	bpf_timer_set_callback(&slot->timer, on_timer);
	bpf_timer_start(&slot->timer, SHORTEST_WAIT_NS, 0);
}

static __always_inline void measure(struct router *router, __u64 now, __u64 size, __u64 waiting, __u64 sent)
{
	__u64 capacity;

	rw_meter_packet(&router->meter, rw_less(now, router->behind_at_ns), size, waiting, sent);
	capacity = rw_meter_read(&router->meter, now, router->capacity);
	if (capacity != router->capacity)
		set_capacity(router, capacity);
}

/* What is known of the packet at hand. On the stack, where a program has 512 bytes in all, it would
 * leave too little for the laws and the policer. */
struct scratch {
	struct arrival arrival;
	union header header;
	/* A datagram of several in one packet. */
	struct acp acp;
};

struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct scratch);
} scratches SEC(".maps");

/* Passes a packet through the law; header is null if the packet has none, suspect if its flow is
 * not watched. Returns a policer's verdict. A function, so that the verifier checks the laws
 * once. */
__attribute__((noinline)) int pass(struct router *router RW_NONNULL, const struct arrival *arrival RW_NONNULL,
				   union header *header, struct rw_suspect *suspect,
				   struct rw_claim *claim RW_NONNULL)
{
	__u64 now = arrival->now, size = arrival->size, waiting = arrival->waiting;

	if (is_policed && suspect && header &&
	    police(router, suspect, claim, now, header) == RW_POLICE_DROPPED)
		return RW_POLICE_DROPPED;
	if (is_virtual)
		waiting = drained(router, now);
	if (is_measured)
		measure(router, now, size, waiting, arrival->sent);
	router->behind = waiting + size;
	/* Another processor may have come later and finished earlier. */
	router->behind_at_ns = rw_max(router->behind_at_ns, now);
	router->waiting = waiting;
	router->packets += 1;
	router->bytes += size;
	router->with_header += header != 0;
	if (IS_XCP)
		rw_xcp_packet(&router->port.xcp, now, size, waiting, header ? &header->rates : 0);
	else if (IS_JETMAX)
		rw_jetmax_packet(&router->port.jetmax, now, size, header ? &header->jetmax.header : 0);
	else
		rw_rcp_packet(&router->port.rcp, now, size, waiting, header ? &header->rates : 0);
	if (is_policed && suspect && header)
		note_grant(suspect, claim, header);
	return RW_POLICE_PASSES;
}

/* Answers a packet that could not be processed: it is granted no more than earlier packets. */
static __always_inline void miss(struct router *router, union header *header)
{
	__sync_fetch_and_add(&router->missed, 1);
	if (IS_XCP)
		header->rates.change = header->rates.change < 0 ? header->rates.change : 0;
	else if (IS_JETMAX && router->is_started)
		rw_jetmax_tell(&router->port.jetmax, &header->jetmax.header);
	else if (router->is_started)
		header->rates.rate = rw_min(header->rates.rate, rw_rcp_offer(&router->port.rcp));
}

/* Handles a packet; returns whether a policer drops it. */
static __always_inline int handle(struct __sk_buff *skb, struct slot *slot, struct scratch *scratch,
				  const struct found *found, int has_header)
{
	const struct arrival *arrival = &scratch->arrival;
	union header *header = &scratch->header;
	struct rw_suspect *suspect = 0;
	int verdict;

	if (!take(slot)) {
		miss(&slot->router, header);
		return 0;
	}
	if (is_policed && has_header && read_claim(arrival, slot->router.capacity, header, &slot->claim)) {
		read_flow(skb, found, &slot->flow);
		suspect = watch(slot, arrival->now);
	}
	verdict = pass(&slot->router, arrival, has_header ? header : 0, suspect, &slot->claim);
	release(slot);
	return verdict == RW_POLICE_DROPPED;
}

/* Datagrams of ACP that a sender hands over as one packet (UDP_SEGMENT). Each has a congestion
 * header of its own. */
struct bundle {
	struct __sk_buff *skb;
	struct slot *slot;
	struct scratch *scratch;
	const struct found *found;
	/* Bytes of the headers that each datagram gets, payload of each but the last, offset of the
	 * next one's payload, and of the end. */
	__u32 headers;
	__u32 each;
	__u32 at;
	__u32 end;
	/* Whether a policer drops it: a datagram cannot be dropped alone. */
	int is_dropped;
};

/* Linux allows 128 (UDP_MAX_SEGMENTS). */
#define MOST_DATAGRAMS 128

static long pass_datagram(__u32 i, struct bundle *bundle)
{
	__u32 at = bundle->at, len = rw_min(bundle->each, bundle->end - at);
	struct scratch *scratch = bundle->scratch;
	struct arrival *arrival = &scratch->arrival;
	struct acp *acp = &scratch->acp;
	int has_header;

	has_header = len >= ACP_BEFORE_FIELDS + ACP_FIELDS &&
		     !bpf_skb_load_bytes(bundle->skb, at, acp, ACP_BEFORE_FIELDS + ACP_FIELDS) && has_fields(acp);
	if (has_header)
		read_header(acp->fields, &scratch->header);
	arrival->size = bundle->headers + len;
	arrival->segment = arrival->size;
	bundle->is_dropped = handle(bundle->skb, bundle->slot, scratch, bundle->found, has_header);
	if (bundle->is_dropped)
		return 1;
	if (has_header) {
		write_header(acp->fields, &scratch->header);
		bpf_skb_store_bytes(bundle->skb, at + ACP_BEFORE_FIELDS, acp->fields, ACP_FIELDS, 0);
	}
	arrival->waiting += arrival->size;
	bundle->at = at + len;
	return bundle->at >= bundle->end;
}

/* Whether a packet that is cut later becomes datagrams whose headers and checksums are computed
 * then. Those that a router has joined to forward them (rx-gro-list) have kept theirs, out of
 * reach. */
static __always_inline int is_bundle(const struct sk_buff *kernel)
{
	struct skb_shared_info *shared = (void *)(kernel->head + kernel->end);
	unsigned int kind = BPF_CORE_READ(shared, gso_type);

	return (kind & (SKB_GSO_UDP_L4 | SKB_GSO_FRAGLIST)) == SKB_GSO_UDP_L4;
}

/* Handles a bundle; returns whether a policer drops it. */
static __always_inline int pass_bundle(struct __sk_buff *skb, struct slot *slot, struct scratch *scratch,
				       const struct found *found)
{
	struct bundle bundle = {
		.skb = skb,
		.slot = slot,
		.scratch = scratch,
		.found = found,
		.headers = found->acp,
		.each = skb->gso_size,
		.at = found->acp,
		.end = skb->len,
	};

	/* Payload is in pages, where a program cannot write. To store bytes brings all before them
	 * into one piece, and anew for each datagram. */
	bpf_skb_pull_data(skb, skb->len);
	bpf_loop(MOST_DATAGRAMS, pass_datagram, &bundle, 0);
	return bundle.is_dropped;
}

SEC("tc")
int ratewire_router(struct __sk_buff *skb)
{
	struct sk_buff *kernel = bpf_cast_to_kern_ctx(skb);
	struct found found = {};
	struct arrival *arrival;
	struct scratch *scratch;
	struct slot *slot;
	__u32 zero = 0;

	slot = bpf_map_lookup_elem(&routers, &zero);
	scratch = bpf_map_lookup_elem(&scratches, &zero);
	if (!slot || !scratch)
		return TC_ACT_UNSPEC;
	arrival = &scratch->arrival;
	arrival->now = bpf_ktime_get_ns();
	arrival->sent = is_measured ? departed(kernel) : 0;
	arrival->waiting = backlog(kernel);
	arrival->size = skb->wire_len;
	arrival->segment = skb->gso_size ? rw_min(skb->gso_size + MOST_HEADERS, arrival->size) : arrival->size;
	if (!slot->router.is_started && take(slot)) {
		if (!slot->router.is_started)
			start(slot, &routers, arrival->now, arrival->sent);
		release(slot);
	}

	/* The headers of a packet built in pieces may not lie in one piece. */
	if (skb->data_end - skb->data < rw_min(MOST_HEADERS, skb->len))
		bpf_skb_pull_data(skb, rw_min(MOST_HEADERS, skb->len));
	find(skb, &found);
	if (found.acp && skb->gso_size) {
		if (is_bundle(kernel))
			return pass_bundle(skb, slot, scratch, &found) ? TC_ACT_SHOT : TC_ACT_UNSPEC;
		found.fields = 0;
	}

	if (found.fields)
		read_header(found.fields, &scratch->header);
	if (handle(skb, slot, scratch, &found, found.fields != 0))
		return TC_ACT_SHOT;
	if (found.fields)
		correct(kernel, &found, write_header(found.fields, &scratch->header));
	return TC_ACT_UNSPEC;
}

/* A program that does nothing, as the reference for the cost of the other. */
SEC("tc")
int ratewire_nothing(struct __sk_buff *skb)
{
	(void)skb;
	return TC_ACT_UNSPEC;
}
