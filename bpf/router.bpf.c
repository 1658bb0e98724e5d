// SPDX-License-Identifier: MIT OR GPL-2.0-only
/* A router's part of a law, at the egress of an interface: reads the congestion header that TCP carries as an
 * option, lets the law rewrite it, and keeps the checksum right.
 *
 * A packet is never dropped, whatever its option says: what is malformed counts as traffic of another kind. */
#include "kernel.h"

#include <linux/if_ether.h>
#include <linux/in.h>
#include <linux/ip.h>
#include <linux/ipv6.h>
#include <linux/pkt_cls.h>
#include <linux/tcp.h>

#include "laws/jetmax.h"
#include "laws/meter.h"
#include "laws/rcp.h"
#include "laws/xcp.h"
#include "router.h"

char LICENSE[] SEC("license") = "Dual MIT/GPL";

/* One object is loaded for each interface. */
struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct router);
} routers SEC(".maps");

/* Set before loading. */
const volatile __u32 law = ROUTER_XCP;
const volatile __u32 is_virtual = 0;
const volatile __u32 is_measured = 0;

#define IS_XCP (law == ROUTER_XCP)
#define IS_JETMAX (law == ROUTER_JETMAX)
#define EXID (IS_XCP ? RW_EXID_XCP : IS_JETMAX ? RW_EXID_JETMAX : RW_EXID_RCP)
#define OPTION_LEN (IS_XCP ? RW_OPTION_XCP : IS_JETMAX ? RW_OPTION_JETMAX : RW_OPTION_RCP)

#define CLOCK_MONOTONIC 1
#define CHECKSUM_PARTIAL 3

/* Ethernet, two tags, IPv6, TCP. */
#define MOST_TCP 60
#define MOST_HEADERS (14 + 8 + 40 + MOST_TCP)

/* Further than any header. */
#define NOWHERE ~0ull

struct vlan {
	__be16 tag;
	__be16 type;
};

/* Where the TCP header begins, or NOWHERE where there is none that we can follow. */
static __always_inline __u64 find_tcp(struct __sk_buff *skb)
{
	struct sk_buff *kernel = bpf_cast_to_kern_ctx(skb);
	void *data = (void *)(long)skb->data, *end = (void *)(long)skb->data_end;
	void *next = data;
	__be16 type = (__be16)skb->protocol;

	/* Interfaces like tun and WireGuard have no header before IP's. */
	if (kernel->data - kernel->head != kernel->network_header) {
		struct ethhdr *eth = data;

		next = eth + 1;
		if (next > end)
			return NOWHERE;
		type = eth->h_proto;
	}
	for (int tags = 0; tags < 2; tags++) {
		struct vlan *vlan = next;

		if (type != bpf_htons(ETH_P_8021Q) && type != bpf_htons(ETH_P_8021AD))
			break;
		next = vlan + 1;
		if (next > end)
			return NOWHERE;
		type = vlan->type;
	}
	if (type == bpf_htons(ETH_P_IP)) {
		struct iphdr *ip = next;

		/* Later fragments have no TCP header. */
		if ((void *)(ip + 1) > end || ip->protocol != IPPROTO_TCP || ip->ihl < 5 ||
		    (ip->frag_off & bpf_htons(0x1fff)))
			return NOWHERE;
		return next - data + ip->ihl * 4;
	}
	if (type == bpf_htons(ETH_P_IPV6)) {
		struct ipv6hdr *ip = next;

		if ((void *)(ip + 1) > end || ip->nexthdr != IPPROTO_TCP)
			return NOWHERE;
		return next - data + sizeof(*ip);
	}
	return NOWHERE;
}

/* The beginning of an option, and timestamps after two bytes of padding, as all systems send them. */
#define BEGINNING(exid, len) bpf_htonl((__u32)RW_OPTION_KIND << 24 | (len) << 16 | (exid))
#define TIMESTAMPS bpf_htonl(0x0101080a)
#define TIMESTAMPS_LEN 12

#define IS_OURS 0x100

/* The length of the option that begins here, with IS_OURS where it is the one wanted; 0 where there is none. A
 * function of its own so that the verifier forgets which it was. */
__attribute__((noinline)) int option_at(struct __sk_buff *skb, __u32 at, __u32 beginning)
{
	__be32 found;
	__u8 kind, size;

	if (bpf_skb_load_bytes(skb, at, &kind, 1) || kind == 0)
		return 0;
	if (kind == 1)
		return 1;
	if (bpf_skb_load_bytes(skb, at + 1, &size, 1) || size < 2)
		return 0;
	if (!bpf_skb_load_bytes(skb, at, &found, 4) && found == beginning)
		return IS_OURS;
	return size;
}

/* Where between these our option begins, or NOWHERE. */
__attribute__((noinline)) __u64 search(struct __sk_buff *skb, __u32 at, __u32 end, __u32 beginning, __u32 len)
{
	for (int i = 0; i < MOST_TCP - (int)sizeof(struct tcphdr); i++) {
		__u32 size;

		if (at + len > end)
			return NOWHERE;
		size = option_at(skb, at, beginning);
		if (size & IS_OURS)
			return at;
		if (!size)
			return NOWHERE;
		at += size;
	}
	return NOWHERE;
}

/* Where our option begins in a packet whose TCP header does here, or NOWHERE. */
static __always_inline __u64 find_option(struct __sk_buff *skb, __u64 tcp)
{
	const __be32 beginning = BEGINNING(EXID, OPTION_LEN);
	void *data = (void *)(long)skb->data, *packet_end = (void *)(long)skb->data_end;
	struct tcphdr *header = data + tcp;
	__be32 *options = (void *)(header + 1);
	__u64 at = tcp + sizeof(*header), end;
	__be32 first;

	/* All our options are at least as long. */
	if ((void *)(options + TIMESTAMPS_LEN / 4 + 1) > packet_end)
		return NOWHERE;
	end = tcp + header->doff * 4;
	first = *options;
	if (first == TIMESTAMPS) {
		first = options[TIMESTAMPS_LEN / 4];
		at += TIMESTAMPS_LEN;
	}
	/* A header that is longer than its packet is none. */
	if (at + OPTION_LEN > end || end > skb->len)
		return NOWHERE;
	return first == beginning ? at : search(skb, at, end, beginning, OPTION_LEN);
}

/* A TCP header, and in it the fields of our option. */
struct found {
	struct tcphdr *tcp;
	__be32 *fields;
};

static __always_inline int find(struct __sk_buff *skb, struct found *found)
{
	__u64 tcp = find_tcp(skb), option;
	void *data, *end;

	if (tcp > MOST_HEADERS)
		return 0;
	option = find_option(skb, tcp);
	if (option > MOST_HEADERS)
		return 0;
	data = (void *)(long)skb->data;
	end = (void *)(long)skb->data_end;
	found->tcp = data + tcp;
	found->fields = data + option + 4;
	return (void *)(found->tcp + 1) <= end && (void *)found->fields + OPTION_LEN - 4 <= end;
}

/* What a law has to do with of a packet. */
union header {
	struct rw_header rates;
	struct {
		struct rw_jetmax_header header;
		struct rw_jetmax_answer answer;
	} jetmax;
};

static __always_inline void read_header(const struct found *found, union header *header)
{
	if (IS_JETMAX) {
		__u32 words[RW_JETMAX_WORDS];

		for (int i = 0; i < RW_JETMAX_WORDS; i++)
			words[i] = bpf_ntohl(found->fields[i]);
		rw_jetmax_read(words, &header->jetmax.header);
		rw_jetmax_read_answer(words, &header->jetmax.answer);
		return;
	}
	header->rates.rate = rw_field_rate(bpf_ntohl(found->fields[0]));
	header->rates.rtt_us = bpf_ntohl(found->fields[1]);
	header->rates.change = IS_XCP ? rw_field_change((__s32)bpf_ntohl(found->fields[2])) : 0;
}

/* Writes a field that may have changed; returns by what the sum of 16-bit words is more. */
static __always_inline __u64 put32(struct found *found, int at, __u32 value)
{
	__be32 from = found->fields[at], to = bpf_htonl(value);

	found->fields[at] = to;
	return (__u64)(__u32)~from + to;
}

/* One's complement sums. */
static __always_inline __u32 fold(__u64 sum)
{
	sum = (sum >> 16) + (sum & 0xffff);
	sum = (sum >> 16) + (sum & 0xffff);
	return (sum >> 16) + (sum & 0xffff);
}

static __always_inline void write_header(const struct sk_buff *kernel, struct found *found,
					 const union header *header)
{
	__u64 more = 0;

	if (IS_JETMAX) {
		__u32 words[RW_JETMAX_WORDS];

		rw_jetmax_write(&header->jetmax.header, &header->jetmax.answer, words);
		/* Routers write nothing further on. */
		for (int i = 0; i < 4; i++)
			more += put32(found, i, words[i]);
	} else if (IS_XCP) {
		more = put32(found, 2, (__u32)rw_change_field(header->rates.change));
	} else {
		more = put32(found, 0, rw_rate_field(header->rates.rate));
	}
	/* Where the interface is to work the sum out, there is only that of the addresses yet. */
	if (BPF_CORE_READ_BITFIELD(kernel, ip_summed) == CHECKSUM_PARTIAL)
		return;
	more = fold(more);
	/* The sum's words begin where the header does: at an odd offset each pair of bytes is swapped. */
	if (((long)found->fields - (long)found->tcp) & 1)
		more = more >> 8 | (more & 0xff) << 8;
	found->tcp->check = ~fold((__u16)~found->tcp->check + more);
}

/* Bytes waiting at the interface. */
static __always_inline __u64 backlog(const struct sk_buff *kernel)
{
	return kernel->dev->qdisc->qstats.backlog;
}

/* What is left of what waited behind the last packet: all that is known while none comes, or of a queue elsewhere. */
static __always_inline __u64 drained(const struct router *router, __u64 now)
{
	return rw_less(router->behind, rw_part(&router->drain, rw_min(rw_less(now, router->behind_at_ns), ~0u)));
}

/* How often another processor is waited for: it needs less than a microsecond. */
#define MOST_TRIES 4096

__attribute__((noinline)) int wait_for(__u64 *busy RW_NONNULL)
{
	for (int i = 0; i < MOST_TRIES; i++) {
		if (!__sync_val_compare_and_swap(busy, 0, 1))
			return 1;
	}
	return 0;
}

/* BPF's own lock allows no calls while it is held, and the laws are too large for the verifier without. */
static __always_inline int take(struct router *router)
{
	return !__sync_val_compare_and_swap(&router->busy, 0, 1) || wait_for(&router->busy);
}

static __always_inline void release(struct router *router)
{
	__sync_val_compare_and_swap(&router->busy, 1, 0);
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

/* Ends what is over. */
static __always_inline void timers(struct router *router, __u64 now, __u64 waiting)
{
	if (IS_XCP)
		rw_xcp_timers(&router->port.xcp, now, waiting);
	else if (IS_JETMAX)
		rw_jetmax_timers(&router->port.jetmax, now);
	else
		rw_rcp_timers(&router->port.rcp, now, waiting);
}

/* When that is due again. */
static __always_inline __u64 due(const struct router *router)
{
	if (IS_XCP)
		return rw_min(router->port.xcp.control_at_ns, router->port.xcp.queue_at_ns);
	return IS_JETMAX ? router->port.jetmax.interval_at_ns : router->port.rcp.slot_at_ns;
}

#define SHORTEST_WAIT_NS 1000000

/* Time has come for an interval to end, whether or not a packet has. */
static int on_timer(void *map, __u32 *key, struct router *router)
{
	__u64 now = bpf_ktime_get_ns();

	if (take(router)) {
		timers(router, now, drained(router, now));
		release(router);
	}
	bpf_timer_start(&router->timer, rw_max(rw_less(due(router), now), SHORTEST_WAIT_NS), 0);
	return 0;
}

static __always_inline void start(struct router *router, void *map, __u64 now)
{
	struct rw_rcp_rule rule = law == ROUTER_PIQI ? RW_PIQI_RULE : RW_RCP_RULE;

	if (IS_XCP)
		rw_xcp_init(&router->port.xcp, router->capacity, now);
	else if (IS_JETMAX)
		rw_jetmax_init(&router->port.jetmax, router->capacity, bpf_get_prandom_u32() % 0xffff + 1, now);
	else
		rw_rcp_init(&router->port.rcp, router->capacity, &rule, now);
	set_capacity(router, router->capacity);
	router->meter.began_ns = now;
	router->is_started = 1;
	bpf_timer_init(&router->timer, map, CLOCK_MONOTONIC);
	bpf_timer_set_callback(&router->timer, on_timer);
	bpf_timer_start(&router->timer, SHORTEST_WAIT_NS, 0);
}

static __always_inline void measure(struct router *router, __u64 now, __u64 size, __u64 waiting)
{
	__u64 capacity;

	rw_meter_packet(&router->meter, rw_less(now, router->behind_at_ns), size, router->behind, waiting);
	capacity = rw_meter_read(&router->meter, now, router->capacity);
	if (capacity != router->capacity)
		set_capacity(router, capacity);
}

/* Header is null where there is none. */
static __always_inline void pass(struct router *router, __u64 now, __u64 size, __u64 waiting, union header *header)
{
	if (is_virtual)
		waiting = drained(router, now);
	if (is_measured)
		measure(router, now, size, waiting);
	router->behind = waiting + size;
	/* Another processor may have been later, and here before. */
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
}

/* What a packet is granted that could not be looked at: no more than those before. */
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

SEC("tc")
int ratewire_router(struct __sk_buff *skb)
{
	struct sk_buff *kernel = bpf_cast_to_kern_ctx(skb);
	union header header = {};
	struct router *router;
	struct found found;
	__u64 now = bpf_ktime_get_ns();
	__u32 zero = 0;
	int has_header;

	router = bpf_map_lookup_elem(&routers, &zero);
	if (!router)
		return TC_ACT_UNSPEC;

	/* The headers of a packet that was built in pieces may not be in one. */
	if (skb->data_end - skb->data < rw_min(MOST_HEADERS, skb->len))
		bpf_skb_pull_data(skb, rw_min(MOST_HEADERS, skb->len));
	has_header = find(skb, &found);
	if (has_header)
		read_header(&found, &header);

	if (take(router)) {
		if (!router->is_started)
			start(router, &routers, now);
		pass(router, now, skb->wire_len, backlog(kernel), has_header ? &header : 0);
		release(router);
	} else {
		miss(router, &header);
	}

	if (has_header)
		write_header(kernel, &found, &header);
	return TC_ACT_UNSPEC;
}

/* What a program costs that does nothing, to measure the other against. */
SEC("tc")
int ratewire_nothing(struct __sk_buff *skb)
{
	(void)skb;
	return TC_ACT_UNSPEC;
}
