/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* The congestion header of a packet: its content, and changes to it. */
#pragma once

#include "acp.h"
#include "tcp.h"

#define CHECKSUM_PARTIAL 3

/* Finds a packet's congestion header. */
static __always_inline void find(struct __sk_buff *skb, struct found *found)
{
	__u64 at = find_transport(skb, found);

	if (at > MOST_HEADERS)
		return;
	found->transport = at;
	if (found->protocol == IPPROTO_TCP)
		find_in_tcp(skb, at, found);
	else if (found->protocol == IPPROTO_UDP)
		find_in_udp(skb, at, found);
}

/* Reads the flow of a packet with a congestion header. */
static __always_inline void read_flow(struct __sk_buff *skb, const struct found *found, struct flow_key *flow)
{
	*flow = (struct flow_key){ .protocol = found->protocol };
	if (found->is_v6) {
		bpf_skb_load_bytes(skb, found->ip + __builtin_offsetof(struct ipv6hdr, saddr), flow->from,
				   sizeof(flow->from) + sizeof(flow->to));
	} else {
		bpf_skb_load_bytes(skb, found->ip + __builtin_offsetof(struct iphdr, saddr), &flow->from[3], 4);
		bpf_skb_load_bytes(skb, found->ip + __builtin_offsetof(struct iphdr, daddr), &flow->to[3], 4);
	}
	bpf_skb_load_bytes(skb, found->transport, &flow->ports, sizeof(flow->ports));
}

/* The part of a packet that concerns a law. */
union header {
	struct rw_header rates;
	struct {
		struct rw_jetmax_header header;
		struct rw_jetmax_answer answer;
	} jetmax;
};

static __always_inline void read_header(const __be32 *fields, union header *header)
{
	if (IS_JETMAX) {
		__u32 words[RW_JETMAX_WORDS];

		for (int i = 0; i < RW_JETMAX_WORDS; i++)
			words[i] = bpf_ntohl(fields[i]);
		rw_jetmax_read(words, &header->jetmax.header);
		rw_jetmax_read_answer(words, &header->jetmax.answer);
		return;
	}
	header->rates.rate = rw_field_rate(bpf_ntohl(fields[0]));
	header->rates.rtt_us = bpf_ntohl(fields[1]);
	header->rates.change = IS_XCP ? rw_field_change((__s32)bpf_ntohl(fields[2])) : 0;
}

/* Writes a field that may have changed; returns the increase of the sum of 16-bit words. */
static __always_inline __u64 put32(__be32 *field, __u32 value)
{
	__be32 from = *field, to = bpf_htonl(value);

	*field = to;
	return (__u64)(__u32)~from + to;
}

/* Writes what a law may have changed; returns the increase of the sum of 16-bit words. */
static __always_inline __u64 write_header(__be32 *fields, const union header *header)
{
	__u32 words[RW_JETMAX_WORDS];
	__u64 more = 0;

	if (IS_XCP)
		more = put32(fields + 2, (__u32)rw_change_field(header->rates.change));
	/* A policer corrects XCP's, too. */
	if (!IS_JETMAX && (!IS_XCP || is_policed))
		more += put32(fields, rw_rate_field(header->rates.rate));
	if (!IS_JETMAX)
		return more;
	rw_jetmax_write(&header->jetmax.header, &header->jetmax.answer, words);
	/* Routers write no later field, but for the rate that a policer corrects. */
	for (int i = 0; i < 4; i++)
		more += put32(fields + i, words[i]);
	if (is_policed)
		more += put32(fields + 5, words[5]);
	return more;
}

/* One's complement sums. */
static __always_inline __u32 fold(__u64 sum)
{
	sum = (sum >> 16) + (sum & 0xffff);
	sum = (sum >> 16) + (sum & 0xffff);
	return (sum >> 16) + (sum & 0xffff);
}

/* Adds the increase of the fields' words to the checksum. */
static __always_inline void correct(const struct sk_buff *kernel, const struct found *found, __u64 more)
{
	__u16 check;

	/* If the interface is to compute the sum, it contains only the addresses yet. */
	if (BPF_CORE_READ_BITFIELD(kernel, ip_summed) == CHECKSUM_PARTIAL)
		return;
	if (found->is_udp && !*found->check)
		return;
	more = fold(more);
	/* The sum's words begin with the header: at an odd offset the bytes of each pair are
	 * swapped. */
	if (((long)found->fields - (long)found->covered) & 1)
		more = more >> 8 | (more & 0xff) << 8;
	check = ~fold((__u16)~*found->check + more);
	*found->check = found->is_udp && !check ? 0xffff : check;
}
