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
} router SEC(".maps");

/* Room for a TCP header, and as much again for the verifier's sake: any index it can think of is inside. */
#define MOST_TCP 60
#define BUFFER 128

/* Ethernet, two tags, IPv6. */
#define MOST_HEADERS (14 + 8 + 40)

struct vlan {
	__be16 tag;
	__be16 type;
};

/* Where the TCP header begins, or 0 where there is none that we can follow. */
static __always_inline __u32 find_tcp(struct __sk_buff *skb)
{
	void *data = (void *)(long)skb->data, *end = (void *)(long)skb->data_end;
	struct ethhdr *eth = data;
	void *next = eth + 1;
	__be16 type;

	if (next > end)
		return 0;
	type = eth->h_proto;
	for (int tags = 0; tags < 2; tags++) {
		struct vlan *vlan = next;

		if (type != bpf_htons(ETH_P_8021Q) && type != bpf_htons(ETH_P_8021AD))
			break;
		next = vlan + 1;
		if (next > end)
			return 0;
		type = vlan->type;
	}
	if (type == bpf_htons(ETH_P_IP)) {
		struct iphdr *ip = next;

		/* Later fragments have no TCP header. */
		if ((void *)(ip + 1) > end || ip->protocol != IPPROTO_TCP || ip->ihl < 5 ||
		    (ip->frag_off & bpf_htons(0x1fff)))
			return 0;
		return (__u32)(next - data) + ip->ihl * 4;
	}
	if (type == bpf_htons(ETH_P_IPV6)) {
		struct ipv6hdr *ip = next;

		if ((void *)(ip + 1) > end || ip->nexthdr != IPPROTO_TCP)
			return 0;
		return (__u32)(next - data) + sizeof(*ip);
	}
	return 0;
}

struct tcp_bytes {
	__u8 at[BUFFER];
};

#define IS_OURS 0x100

/* The length of the option that begins here, with IS_OURS where it is the one wanted; 0 where there is none. A
 * function of its own so that the verifier forgets which it was. */
__attribute__((noinline)) int option_at(const struct tcp_bytes *tcp RW_NONNULL, __u32 at, __u32 exid, __u32 wanted)
{
	__u32 kind, size;

	at &= 63;
	kind = tcp->at[at];
	if (kind == 0)
		return 0;
	if (kind == 1)
		return 1;
	size = tcp->at[at + 1];
	if (size < 2)
		return 0;
	if (kind == RW_OPTION_KIND && size == wanted && tcp->at[at + 2] == exid >> 8 &&
	    tcp->at[at + 3] == (exid & 0xff))
		return IS_OURS | size;
	return size;
}

/* Copies the TCP header that begins here; whether it is whole. */
static __always_inline int load_tcp(struct __sk_buff *skb, __u32 tcp, struct tcp_bytes *bytes)
{
	__u32 len;

	if (!bpf_skb_load_bytes(skb, tcp, bytes->at, MOST_TCP))
		return 1;
	/* Shorter with all its payload. */
	if (bpf_skb_load_bytes(skb, tcp, bytes->at, sizeof(struct tcphdr)))
		return 0;
	len = (bytes->at[12] >> 4) * 4;
	return len > sizeof(struct tcphdr) && len <= MOST_TCP &&
	       !bpf_skb_load_bytes(skb, tcp + sizeof(struct tcphdr), bytes->at + sizeof(struct tcphdr),
				   len - sizeof(struct tcphdr));
}

/* Where in the TCP header of this length our option of this length begins, or 0. */
static __always_inline __u32 find_option(const struct tcp_bytes *tcp, __u32 len, __u32 exid, __u32 wanted)
{
	__u32 at = sizeof(struct tcphdr);

	for (int i = 0; i < MOST_TCP - (int)sizeof(struct tcphdr); i++) {
		__u32 size;

		if (at + wanted > len || at > MOST_TCP)
			return 0;
		size = option_at(tcp, at, exid, wanted);
		if (size & IS_OURS)
			return at;
		if (!size)
			return 0;
		at += size;
	}
	return 0;
}

static __always_inline __u32 get32(const __u8 *bytes)
{
	return (__u32)bytes[0] << 24 | (__u32)bytes[1] << 16 | (__u32)bytes[2] << 8 | bytes[3];
}

/* Writes a field that has changed, at this offset of the packet. */
static __always_inline int put32(struct __sk_buff *skb, __u32 tcp, __u32 at, __u32 before, __u32 after)
{
	__be32 from = bpf_htonl(before), to = bpf_htonl(after), field;
	/* The checksum is over 16-bit words from the header's start: at an odd offset each pair is swapped. */
	__u32 odd = at & 1;

	if (from == to)
		return 0;
	if (odd) {
		from = (from >> 24) | (from << 8);
		to = (to >> 24) | (to << 8);
	}
	field = bpf_htonl(after);
	if (bpf_skb_store_bytes(skb, tcp + at, &field, 4, 0))
		return -1;
	return bpf_l4_csum_replace(skb, tcp + __builtin_offsetof(struct tcphdr, check), from, to, 4);
}

/* Bytes waiting at the interface. */
static __always_inline __u64 backlog(struct __sk_buff *skb)
{
	struct sk_buff *kernel = bpf_cast_to_kern_ctx(skb);

	return kernel->dev->qdisc->qstats.backlog;
}

/* Without a queue to look at: what a link of this capacity would have waiting. */
static __always_inline __u64 virtual_queue(struct router *router, __u64 now, __u64 size)
{
	__u64 passed = rw_min(rw_less(now, router->queue_at_ns), 1ull << 32);
	__u64 left = rw_mul_shift(router->capacity, passed, 0) / 1000000000;
	__u64 queue = rw_less(router->virtual_queue, left);

	router->virtual_queue = queue + size;
	/* Another processor may have been later, and here before. */
	router->queue_at_ns = rw_max(router->queue_at_ns, now);
	return queue;
}

/* How often another processor is waited for: it needs less than a microsecond. */
#define MOST_TRIES 4096

/* BPF's own lock allows no calls while it is held, and the laws are too large for the verifier without. */
static __always_inline int take(struct router *router)
{
	for (int i = 0; i < MOST_TRIES; i++) {
		if (!__sync_val_compare_and_swap(&router->busy, 0, 1))
			return 1;
	}
	return 0;
}

static __always_inline void release(struct router *router)
{
	__sync_val_compare_and_swap(&router->busy, 1, 0);
}

static __always_inline void start(struct router *router, __u64 now)
{
	struct rw_rcp_rule rule = router->law == ROUTER_PIQI ? RW_PIQI_RULE : RW_RCP_RULE;

	if (router->law == ROUTER_XCP)
		rw_xcp_init(&router->xcp, router->capacity, now);
	else
		rw_rcp_init(&router->rcp, router->capacity, &rule, now);
	router->is_started = 1;
}

static __always_inline void law(struct router *router, __u64 now, __u64 size, __u64 waiting, struct rw_header *header)
{
	if (!router->is_started)
		start(router, now);
	if (router->is_virtual)
		waiting = virtual_queue(router, now, size);
	if (router->law == ROUTER_XCP) {
		rw_xcp_packet(&router->xcp, now, size, waiting, header);
		router->input = router->xcp.input_bw;
		router->mean_rtt_us = router->xcp.avg_rtt_us;
		router->says = router->xcp.feedback;
	} else {
		rw_rcp_packet(&router->rcp, now, size, waiting, header);
		router->input = router->rcp.input_bw;
		router->mean_rtt_us = router->rcp.rtt >> RW_RCP_FRACTION;
		router->says = (__s64)(router->rcp.rate >> RW_RCP_FRACTION);
	}
	router->packets += 1;
	router->bytes += size;
	router->with_header += header != 0;
	router->waiting = waiting;
}

SEC("tc")
int ratewire_router(struct __sk_buff *skb)
{
	struct tcp_bytes bytes = {};
	struct rw_header header = {};
	struct router *at_router;
	__u32 zero = 0, tcp, len, option = 0, option_len, before_rate = 0, before_change = 0;
	__u64 now = bpf_ktime_get_ns(), waiting, size = skb->wire_len;
	__u16 exid;
	int has_header = 0;

	at_router = bpf_map_lookup_elem(&router, &zero);
	if (!at_router)
		return TC_ACT_UNSPEC;
	waiting = backlog(skb);
	exid = at_router->law == ROUTER_XCP ? RW_EXID_XCP : RW_EXID_RCP;
	option_len = at_router->law == ROUTER_XCP ? RW_OPTION_XCP : RW_OPTION_RCP;

	/* The headers of a packet that was built in pieces may not be in one. */
	if (skb->data_end - skb->data < MOST_HEADERS)
		bpf_skb_pull_data(skb, rw_min(MOST_HEADERS, skb->len));
	tcp = find_tcp(skb);
	if (tcp && load_tcp(skb, tcp, &bytes)) {
		len = (bytes.at[12] >> 4) * 4;
		option = find_option(&bytes, len, exid, option_len);
	}
	if (option && option <= MOST_TCP) {
		before_rate = get32(bytes.at + option + 4);
		header.rate = rw_field_rate(before_rate);
		header.rtt_us = get32(bytes.at + option + 8);
		if (at_router->law == ROUTER_XCP) {
			before_change = get32(bytes.at + option + 12);
			header.change = rw_field_change((__s32)before_change);
		}
		has_header = 1;
	}

	if (!take(at_router)) {
		__sync_fetch_and_add(&at_router->missed, 1);
		header.change = header.change < 0 ? header.change : 0;
		if (at_router->law != ROUTER_XCP && at_router->is_started)
			header.rate = rw_min(header.rate, at_router->rcp.rate >> RW_RCP_FRACTION);
	} else {
		law(at_router, now, size, waiting, has_header ? &header : 0);
		release(at_router);
	}

	if (!has_header)
		return TC_ACT_UNSPEC;
	if (at_router->law == ROUTER_XCP)
		put32(skb, tcp, option + 12, before_change, (__u32)rw_change_field(header.change));
	else
		put32(skb, tcp, option + 4, before_rate, rw_rate_field(header.rate));
	return TC_ACT_UNSPEC;
}

/* What a program costs that does nothing, to measure the other against. */
SEC("tc")
int ratewire_nothing(struct __sk_buff *skb)
{
	(void)skb;
	return TC_ACT_UNSPEC;
}
