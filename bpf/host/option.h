/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* The congestion header as a TCP option on every segment of a connection that takes part, and the
 * choice of such connections. */
#pragma once

#include "lie.h"

#include <linux/in.h>
#include <linux/tcp.h>

/* Set before loading. */
const volatile __u32 exid = RW_EXID_XCP;
const volatile __u32 answer_len = RW_OPTION_MINIMAL;
/* Whether only connections from the addresses in `addresses` take part. */
const volatile __u32 by_address = 0;
/* The name that struct_ops is registered under, for sockets to choose. */
const volatile char control_name[16] = "rw_xcp";

#define OPTION_SYN 4

struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, 4096);
	__type(key, struct address);
	__type(value, __u8);
} addresses SEC(".maps");

struct option {
	__u8 kind;
	__u8 len;
	__be16 exid;
	__be32 fields[RW_JETMAX_WORDS];
};

static __always_inline void set_callbacks(struct bpf_sock_ops *skops, int on)
{
	int flags = BPF_SOCK_OPS_WRITE_HDR_OPT_CB_FLAG | BPF_SOCK_OPS_PARSE_UNKNOWN_HDR_OPT_CB_FLAG;
	int now = skops->bpf_sock_ops_cb_flags;

	bpf_sock_ops_cb_flags_set(skops, on ? now | flags : now & ~flags);
}

/* Length of the option of the segment about to be sent. */
static __always_inline __u32 length(struct bpf_sock_ops *skops)
{
	if (skops->skb_tcp_flags & 0x02)
		return OPTION_SYN;
	/* The kernel asks for the segment size, or the segment has data. A pure acknowledgement
	 * has no request for routers. */
	if (skops->args[0] == BPF_WRITE_HDR_TCP_CURRENT_MSS)
		return option_len;
	return skops->skb_len ? option_len : answer_len;
}

/* Whether the other end's SYN offers the option. */
static __always_inline int is_offered(struct bpf_sock_ops *skops, __u64 flags)
{
	struct option option = { .kind = RW_OPTION_KIND, .len = OPTION_SYN, .exid = bpf_htons(exid) };

	return bpf_load_hdr_opt(skops, &option, OPTION_SYN, flags) == OPTION_SYN;
}

/* Whether a connection is from the chosen addresses. This works in both ends' handshakes: a
 * connection request has no route yet, but has an address. */
static __always_inline int is_from_here(struct bpf_sock_ops *skops)
{
	struct bpf_sock_ops_kern *kernel = bpf_cast_to_kern_ctx(skops);
	struct address key = {};

	if (!by_address)
		return 1;
	key.netns = BPF_CORE_READ(kernel, sk, __sk_common.skc_net.net, ns.inum);
	/* IPv4 is mapped into IPv6, which matches dual-stack sockets too. */
	key.words[2] = bpf_htonl(0xffff);
	key.words[3] = skops->local_ip4;
	if (bpf_map_lookup_elem(&addresses, &key))
		return 1;
	if (skops->family != AF_INET6)
		return 0;
	key.words[0] = skops->local_ip6[0];
	key.words[1] = skops->local_ip6[1];
	key.words[2] = skops->local_ip6[2];
	key.words[3] = skops->local_ip6[3];
	return bpf_map_lookup_elem(&addresses, &key) != 0;
}

static __always_inline int reserve(struct bpf_sock_ops *skops)
{
	__u32 len = length(skops);
	struct bpf_sock *sk = skops->sk;
	struct flow *flow;

	/* Does not answer a SYN that lacks the option. */
	if ((skops->skb_tcp_flags & 0x12) == 0x12 &&
	    (!is_offered(skops, BPF_LOAD_HDR_OPT_TCP_SYN) || !is_from_here(skops)))
		return 1;
	if (len != OPTION_SYN) {
		flow = sk ? bpf_sk_storage_get(&flows, sk, 0, 0) : 0;
		if (!flow)
			return 1;
		flow->reserved = len;
	}
	bpf_reserve_hdr_opt(skops, len, 0);
	return 1;
}

/* The answer to the other end: the mean of the changes since the last answer, or the last rate. */
static __always_inline __u32 take_answer(struct flow *flow)
{
	if (law == HOST_XCP && flow->receiver.bytes) {
		flow->answer = (__u32)rw_xcp_returned(&flow->receiver);
		rw_xcp_answered(&flow->receiver);
	}
	return lie_returning(flow, flow->answer);
}

static __always_inline void write_words(struct option *option, const __u32 *words, int count)
{
	for (int i = 0; i < count; i++)
		option->fields[i] = bpf_htonl(words[i]);
}

static __always_inline void write_jetmax(struct flow *flow, struct option *option, int is_data)
{
	__u32 words[RW_JETMAX_WORDS] = {};
	struct rw_jetmax_answer reply = flow->reply;
	struct rw_jetmax_header header;

	lie_returning_jetmax(flow, &reply);
	if (is_data) {
		rw_jetmax_send(&flow->jetmax, &header);
		lie_sending_jetmax(flow, &header);
		rw_jetmax_write(&header, &reply, words);
		write_words(option, words, RW_JETMAX_WORDS);
	} else {
		rw_jetmax_write_alone(&reply, words);
		write_words(option, words, RW_JETMAX_ANSWER_WORDS);
	}
}

static __always_inline int write_option(struct bpf_sock_ops *skops)
{
	struct option option = { .kind = RW_OPTION_KIND, .exid = bpf_htons(exid) };
	struct bpf_sock *sk = skops->sk;
	struct rw_header header = {};
	struct flow *flow;
	__u32 len = OPTION_SYN, rtt_us, answer, ip, outstanding;
	__u64 size;

	if (skops->skb_tcp_flags & 0x02) {
		option.len = len;
		bpf_store_hdr_opt(skops, &option, len, 0);
		return 1;
	}
	if (!sk)
		return 1;
	flow = bpf_sk_storage_get(&flows, sk, 0, 0);
	if (!flow)
		return 1;
	rtt_us = skops->srtt_us >> 3;
	/* The segment with its TCP header as it is now; the IP header is still to come. */
	ip = skops->family == AF_INET6 ? 40 : 20;
	size = skops->skb_len + ip;
	len = flow->reserved == answer_len ? answer_len : option_len;
	if (law == HOST_JETMAX) {
		write_jetmax(flow, &option, len != answer_len);
	} else if (len == answer_len) {
		option.fields[0] = bpf_htonl(take_answer(flow));
	} else if (law == HOST_XCP) {
		answer = take_answer(flow);
		outstanding = skops->packets_out + skops->retrans_out - skops->sacked_out - skops->lost_out;
		rw_xcp_send(&flow->xcp, now_us(), size, rtt_us, flow->limited, (__u64)outstanding * flow->packet,
			    flow->packet, least_rate(flow->packet, rtt_us), &header);
		lie_sending(flow, &header);
		option.fields[0] = bpf_htonl(rw_rate_field(header.rate));
		option.fields[1] = bpf_htonl(header.rtt_us);
		option.fields[2] = bpf_htonl((__u32)rw_change_field(header.change));
		option.fields[3] = bpf_htonl(answer);
	} else {
		rw_rcp_send(&flow->rcp, rtt_us, &header);
		lie_sending(flow, &header);
		option.fields[0] = bpf_htonl(rw_rate_field(header.rate));
		option.fields[1] = bpf_htonl(header.rtt_us);
		option.fields[2] = bpf_htonl(take_answer(flow));
	}
	option.len = len;
	bpf_store_hdr_opt(skops, &option, len, 0);
	return 1;
}

static __always_inline void read_jetmax(struct flow *flow, const struct option *option, int is_data)
{
	__u32 words[RW_JETMAX_WORDS];
	struct rw_jetmax_header header;

	for (int i = 0; i < RW_JETMAX_WORDS; i++)
		words[i] = bpf_ntohl(option->fields[i]);
	if (is_data) {
		rw_jetmax_read(words, &header);
		rw_jetmax_answer(&header, &flow->reply);
		rw_jetmax_read_answer(words, &flow->heard);
	} else {
		rw_jetmax_read_alone(words, &flow->heard);
	}
	lie_reading_jetmax(flow, &flow->heard);
}

/* A segment has arrived with an option that the kernel does not know. */
static __always_inline int read_option(struct bpf_sock_ops *skops)
{
	struct option option = { .kind = RW_OPTION_KIND, .exid = bpf_htons(exid) };
	struct bpf_sock *sk = skops->sk;
	struct flow *flow;
	int len;

	if (!sk)
		return 1;
	flow = bpf_sk_storage_get(&flows, sk, 0, 0);
	if (!flow)
		return 1;
	/* Kind and identifier, the first four bytes, identify the option. */
	option.len = 4;
	len = bpf_load_hdr_opt(skops, &option, sizeof(option), 0);
	if (len != (int)answer_len && len != (int)option_len)
		return 1;
	if (law == HOST_JETMAX) {
		read_jetmax(flow, &option, len != (int)answer_len);
	} else if (len == (int)answer_len) {
		flow->returned = bpf_ntohl(option.fields[0]);
	} else if (law == HOST_XCP) {
		rw_xcp_arrived(&flow->receiver, (__s32)bpf_ntohl(option.fields[2]), skops->skb_len);
		flow->returned = bpf_ntohl(option.fields[3]);
	} else {
		flow->answer = bpf_ntohl(option.fields[0]);
		flow->returned = bpf_ntohl(option.fields[2]);
	}
	flow->returned = lie_reading(flow, flow->returned);
	flow->has_returned = 1;
	return 1;
}

/* Decides, after the handshake, whether this connection takes part. */
static __always_inline int established(struct bpf_sock_ops *skops, __u64 where)
{
	struct bpf_sock *sk = skops->sk;
	struct host *counter = counters();
	struct flow *flow;

	if (!sk || !counter)
		return 1;
	if (!is_from_here(skops)) {
		set_callbacks(skops, 0);
		return 1;
	}
	if (law == HOST_NOQ ? !has_pauses(bpf_skc_to_tcp_sock(sk), 0) : !is_offered(skops, where)) {
		set_callbacks(skops, 0);
		count(&counter->plain);
		return 1;
	}
	flow = bpf_sk_storage_get(&flows, sk, 0, BPF_SK_STORAGE_GET_F_CREATE);
	if (!flow)
		return 1;
	flow->packet = skops->mss_cache;
	flow->reserved = answer_len;
	flow->reply.fair = RW_REAL_UNKNOWN;
	flow->lies = is_lying(skops->local_port, bpf_ntohl(skops->remote_port));
	if (law != HOST_NOQ)
		set_callbacks(skops, 1);
	if (bpf_setsockopt(skops, SOL_TCP, TCP_CONGESTION, (void *)control_name, sizeof(control_name)))
		count(&counter->refused);
	else
		count(&counter->taking_part);
	return 1;
}

SEC("sockops")
int ratewire_option(struct bpf_sock_ops *skops)
{
	int save = 1;

	/* NoQ has no option. */
	if (law == HOST_NOQ)
		return skops->op == BPF_SOCK_OPS_ACTIVE_ESTABLISHED_CB ||
		       skops->op == BPF_SOCK_OPS_PASSIVE_ESTABLISHED_CB ? established(skops, 0) : 1;
	switch (skops->op) {
	case BPF_SOCK_OPS_TCP_LISTEN_CB:
		/* The SYN's option is read when its handshake is over. */
		bpf_setsockopt(skops, SOL_TCP, TCP_SAVE_SYN, &save, sizeof(save));
		set_callbacks(skops, 1);
		return 1;
	case BPF_SOCK_OPS_TCP_CONNECT_CB:
		if (is_from_here(skops))
			set_callbacks(skops, 1);
		return 1;
	case BPF_SOCK_OPS_ACTIVE_ESTABLISHED_CB:
		return established(skops, 0);
	case BPF_SOCK_OPS_PASSIVE_ESTABLISHED_CB:
		return established(skops, BPF_LOAD_HDR_OPT_TCP_SYN);
	case BPF_SOCK_OPS_HDR_OPT_LEN_CB:
		return reserve(skops);
	case BPF_SOCK_OPS_WRITE_HDR_OPT_CB:
		return write_option(skops);
	case BPF_SOCK_OPS_PARSE_HDR_OPT_CB:
		return read_option(skops);
	}
	return 1;
}
