/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* The congestion header in a packet: its place, its content, and changes to it. */
#pragma once

#include "../kernel.h"

#include <linux/if_ether.h>
#include <linux/in.h>
#include <linux/ip.h>
#include <linux/ipv6.h>
#include <linux/tcp.h>

#include "../laws/jetmax.h"
#include "../laws/meter.h"
#include "../laws/rcp.h"
#include "../laws/xcp.h"
#include "../router.h"

/* Set before loading. */
const volatile __u32 law = ROUTER_XCP;

#define IS_XCP (law == ROUTER_XCP)
#define IS_JETMAX (law == ROUTER_JETMAX)
#define EXID (IS_XCP ? RW_EXID_XCP : IS_JETMAX ? RW_EXID_JETMAX : RW_EXID_RCP)
#define OPTION_LEN (IS_XCP ? RW_OPTION_XCP : IS_JETMAX ? RW_OPTION_JETMAX : RW_OPTION_RCP)

#define CHECKSUM_PARTIAL 3

/* Ethernet, two tags, IPv6, TCP. */
#define MOST_TCP 60
#define MOST_HEADERS (14 + 8 + 40 + MOST_TCP)

/* An offset beyond any header. */
#define NOWHERE ~0ull

struct vlan {
	__be16 tag;
	__be16 type;
};

/* Offset of the TCP header, or NOWHERE if none can be found. */
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

/* First bytes of an option, and of timestamps after two bytes of padding, as all systems send
 * them. */
#define BEGINNING(exid, len) bpf_htonl((__u32)RW_OPTION_KIND << 24 | (len) << 16 | (exid))
#define TIMESTAMPS bpf_htonl(0x0101080a)
#define TIMESTAMPS_LEN 12

#define IS_OURS 0x100

/* Length of the option that begins at `at`, with IS_OURS if it is the wanted one; 0 if there is
 * none. A separate function, so that the verifier merges its paths. */
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

/* Offset of our option in this range, or NOWHERE. */
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

/* Offset of our option in a packet whose TCP header is at tcp, or NOWHERE. */
static __always_inline __u64 find_option(struct __sk_buff *skb, __u64 tcp)
{
	const __be32 beginning = BEGINNING(EXID, OPTION_LEN);
	void *data = (void *)(long)skb->data, *packet_end = (void *)(long)skb->data_end;
	struct tcphdr *header = data + tcp;
	__be32 *options = (void *)(header + 1);
	__u64 at = tcp + sizeof(*header), end;
	__be32 first;

	/* All our options are at least this long. */
	if ((void *)(options + TIMESTAMPS_LEN / 4 + 1) > packet_end)
		return NOWHERE;
	end = tcp + header->doff * 4;
	first = *options;
	if (first == TIMESTAMPS) {
		first = options[TIMESTAMPS_LEN / 4];
		at += TIMESTAMPS_LEN;
	}
	/* A header that is longer than its packet is malformed. */
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

/* The part of a packet that concerns a law. */
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

/* Writes a field that may have changed; returns the increase of the sum of 16-bit words. */
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
		/* Routers write no later field. */
		for (int i = 0; i < 4; i++)
			more += put32(found, i, words[i]);
	} else if (IS_XCP) {
		more = put32(found, 2, (__u32)rw_change_field(header->rates.change));
	} else {
		more = put32(found, 0, rw_rate_field(header->rates.rate));
	}
	/* If the interface is to compute the sum, it contains only the addresses yet. */
	if (BPF_CORE_READ_BITFIELD(kernel, ip_summed) == CHECKSUM_PARTIAL)
		return;
	more = fold(more);
	/* The sum's words begin with the header: at an odd offset the bytes of each pair are
	 * swapped. */
	if (((long)found->fields - (long)found->tcp) & 1)
		more = more >> 8 | (more & 0xff) << 8;
	found->tcp->check = ~fold((__u16)~found->tcp->check + more);
}
