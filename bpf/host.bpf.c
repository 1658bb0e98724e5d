// SPDX-License-Identifier: MIT OR GPL-2.0-only
/* A host's part of a law: the congestion header as a TCP option on every segment, and a congestion control that
 * sends at the rate the network allows.
 *
 * Both ends offer the option in their SYNs. Only where both do is it sent afterwards, and the congestion control
 * taken; all other connections are left as they are. NoQ has no option: it is taken where the connection's own interface
 * is paused when what it fills has no room, or everywhere. */
#include "kernel.h"

#include <linux/in.h>
#include <linux/tcp.h>

#include "laws/jetmax.h"
#include "laws/rcp.h"
#include "laws/xcp.h"
#include "host.h"

char LICENSE[] SEC("license") = "Dual MIT/GPL";

/* Set before loading. */
const volatile __u32 law = HOST_XCP;
const volatile __u64 desired = RW_MOST_RATE;
const volatile __u32 exid = RW_EXID_XCP;
const volatile __u32 option_len = RW_OPTION_XCP;
const volatile __u32 answer_len = RW_OPTION_MINIMAL;
/* NoQ: whether interfaces need not pause. */
const volatile __u32 is_forced = 0;
/* Whether only connections from the addresses in `addresses` take part. */
const volatile __u32 by_address = 0;
/* The name that struct_ops is registered under, for sockets to choose. */
const volatile char control_name[16] = "rw_xcp";

#define OPTION_SYN 4
#define AF_INET6 10
#define SOL_TCP 6
/* The largest window, in bytes and in the shortest segments: to find how much a socket may buffer, the kernel multiplies a
 * window's segments by twice the memory of each, in 31 bits, and lets it buffer no more where that overflows. */
#define MOST_OUTSTANDING (1u << 28)
#define SHORT_SEGMENT 512
/* B/s from which on nothing is paced, as the drafts never do: 64 kB take 0.1 ms, and what a timer is late by is lost each
 * time. The window holds then, and acknowledgements space. */
#define MOST_PACED 625000000ull

struct {
	__uint(type, BPF_MAP_TYPE_SK_STORAGE);
	__uint(map_flags, BPF_F_NO_PREALLOC);
	__type(key, int);
	__type(value, struct flow);
} flows SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct host);
} host SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, 4096);
	__type(key, struct paused);
	__type(value, __u8);
} pausing SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, 4096);
	__type(key, struct address);
	__type(value, __u8);
} addresses SEC(".maps");

static __always_inline void count(__u64 *counter)
{
	__sync_fetch_and_add(counter, 1);
}

static __always_inline struct host *counters(void)
{
	__u32 zero = 0;

	return bpf_map_lookup_elem(&host, &zero);
}

/* The least rate: a packet a round trip or 50 ms, so that a flow keeps hearing of routers and yet leaves a slow link to
 * many. */
static __always_inline __u64 least_rate(__u64 packet, __u64 rtt_us)
{
	return rw_max(packet * 1000000 / rw_max(rtt_us, 50000), 1);
}

static __always_inline __u64 rate_of(const struct flow *flow)
{
	switch (law) {
	case HOST_XCP:
		return rw_xcp_rate(&flow->xcp);
	case HOST_JETMAX:
		return rw_jetmax_rate(&flow->jetmax);
	case HOST_NOQ:
		return desired;
	}
	return rw_rcp_rate(&flow->rcp);
}

/* ---- The option ---- */

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

/* How long the option of the segment about to be sent is. */
static __always_inline __u32 length(struct bpf_sock_ops *skops)
{
	if (skops->skb_tcp_flags & 0x02)
		return OPTION_SYN;
	/* Asked for the segment size, or with data. A pure acknowledgement has nothing to ask routers for. */
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

/* Whether a connection is from where it is to be, which both of its ends' handshakes ask alike: a request to connect has
 * no route yet, but an address. */
static __always_inline int is_from_here(struct bpf_sock_ops *skops)
{
	struct bpf_sock_ops_kern *kernel = bpf_cast_to_kern_ctx(skops);
	struct address key = {};

	if (!by_address)
		return 1;
	key.netns = BPF_CORE_READ(kernel, sk, __sk_common.skc_net.net, ns.inum);
	/* Of IPv4 in a socket for both, too. */
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

	/* An answer to a SYN without the option has none. */
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

static __always_inline __u64 now_us(void)
{
	return bpf_ktime_get_ns() / 1000;
}

/* What is returned to the other end: the mean change of what arrived since the last answer, or the last rate. */
static __always_inline __u32 take_answer(struct flow *flow)
{
	if (law == HOST_XCP && flow->receiver.bytes) {
		flow->answer = (__u32)rw_xcp_returned(&flow->receiver);
		rw_xcp_answered(&flow->receiver);
	}
	return flow->answer;
}

static __always_inline void write_words(struct option *option, const __u32 *words, int count)
{
	for (int i = 0; i < count; i++)
		option->fields[i] = bpf_htonl(words[i]);
}

static __always_inline void write_jetmax(struct flow *flow, struct option *option, int is_data)
{
	__u32 words[RW_JETMAX_WORDS] = {};
	struct rw_jetmax_header header;

	if (is_data) {
		rw_jetmax_send(&flow->jetmax, &header);
		rw_jetmax_write(&header, &flow->reply, words);
		write_words(option, words, RW_JETMAX_WORDS);
	} else {
		rw_jetmax_write_alone(&flow->reply, words);
		write_words(option, words, RW_JETMAX_ANSWER_WORDS);
	}
}

static __always_inline int write_option(struct bpf_sock_ops *skops)
{
	struct option option = { .kind = RW_OPTION_KIND, .exid = bpf_htons(exid) };
	struct bpf_sock *sk = skops->sk;
	struct rw_header header = {};
	struct flow *flow;
	__u32 len = OPTION_SYN, rtt_us, answer, ip;
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
	/* The segment with its TCP header, as it is now; and the IP header to come. */
	ip = skops->family == AF_INET6 ? 40 : 20;
	size = skops->skb_len + ip;
	len = flow->reserved == answer_len ? answer_len : option_len;
	if (law == HOST_JETMAX) {
		write_jetmax(flow, &option, len != answer_len);
	} else if (len == answer_len) {
		option.fields[0] = bpf_htonl(take_answer(flow));
	} else if (law == HOST_XCP) {
		answer = take_answer(flow);
		rw_xcp_send(&flow->xcp, now_us(), size, rtt_us, flow->limited, least_rate(flow->packet, rtt_us), &header);
		option.fields[0] = bpf_htonl(rw_rate_field(header.rate));
		option.fields[1] = bpf_htonl(header.rtt_us);
		option.fields[2] = bpf_htonl((__u32)rw_change_field(header.change));
		option.fields[3] = bpf_htonl(answer);
	} else {
		rw_rcp_send(&flow->rcp, rtt_us, &header);
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
}

/* A segment has arrived, with an option that the kernel does not know. */
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
	/* Found by kind and identifier: four bytes are looked at. */
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
	flow->has_returned = 1;
	return 1;
}

/* Whether the connection's own interface pauses. */
static __always_inline int is_paused(struct bpf_sock *sk)
{
	struct tcp_sock *tp = bpf_skc_to_tcp_sock(sk);
	struct paused key = {};
	struct net_device *dev;

	if (!tp)
		return 0;
	dev = BPF_CORE_READ((struct sock *)tp, sk_dst_cache, dev);
	key.ifindex = BPF_CORE_READ(dev, ifindex);
	key.netns = BPF_CORE_READ(dev, nd_net.net, ns.inum);
	return bpf_map_lookup_elem(&pausing, &key) != 0;
}

/* The handshake is over: whether this connection takes part. */
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
	if (law == HOST_NOQ ? !is_forced && !is_paused(sk) : !is_offered(skops, where)) {
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

	/* It has no option. */
	if (law == HOST_NOQ)
		return skops->op == BPF_SOCK_OPS_ACTIVE_ESTABLISHED_CB ||
		       skops->op == BPF_SOCK_OPS_PASSIVE_ESTABLISHED_CB ? established(skops, 0) : 1;
	switch (skops->op) {
	case BPF_SOCK_OPS_TCP_LISTEN_CB:
		/* What a SYN offered is asked when its handshake is over. */
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

/* ---- The congestion control ---- */

/* Network-layer bytes of a full-size segment: those are what laws count. */
static __always_inline __u64 packet_of(struct sock *sk)
{
	struct tcp_sock *tp = (struct tcp_sock *)sk;
	__u32 ip = sk->__sk_common.skc_family == AF_INET6 ? 40 : 20;

	return rw_max(tp->mss_cache, 1) + tp->tcp_header_len + option_len + ip;
}

/* In segments. */
static __always_inline __u32 outstanding(const struct tcp_sock *tp)
{
	return tp->packets_out + tp->retrans_out - tp->sacked_out - tp->lost_out;
}

static __always_inline void set_window(struct sock *sk, const struct flow *flow, __u64 rtt_us)
{
	struct tcp_sock *tp = (struct tcp_sock *)sk;
	__u64 packet = packet_of(sk), rate = rate_of(flow);
	__u64 window = rw_mul_shift(rate, rtt_us, 0) / 1000000 / packet;
	__u32 most = MOST_OUTSTANDING / (__u32)rw_max(packet, SHORT_SEGMENT);

	/* The pace limits; the window only bounds what is outstanding. Under laws that say a rate a round trip's worth may be sent
	 * without another acknowledgement: bound by the rate alone, a sender would stand still each time that is cut. Without a
	 * pace the window has room for the segments of 64 kB that are being made and acknowledged. NoQ has none. */
	if (rate >= MOST_PACED)
		window += 2 * 65536 / packet;
	else
		window += law == HOST_XCP ? 2 : 2 + outstanding(tp);
	tp->snd_cwnd = law == HOST_NOQ ? most : rw_min(window, most);
	/* TCP's own pacing counts payload, a queueing discipline's all. */
	if (sk->sk_pacing_status != SK_PACING_FQ)
		rate = rw_mul_shift(rate, tp->mss_cache, 0) / packet;
	if (rate >= MOST_PACED)
		rate = ~0ull;
	sk->sk_pacing_rate = rw_min(rate, sk->sk_max_pacing_rate);
}

/* A program may have chosen the law for a connection whose other end does not speak it, or outside of the cgroup: nothing
 * would ever come back, and it would send its first window for ever. */
static __always_inline void be_plain(struct sock *sk)
{
	char cubic[] = "cubic", reno[] = "reno";

	if (bpf_setsockopt(sk, SOL_TCP, TCP_CONGESTION, cubic, sizeof(cubic)))
		bpf_setsockopt(sk, SOL_TCP, TCP_CONGESTION, reno, sizeof(reno));
}

SEC("struct_ops")
void BPF_PROG(rw_init, struct sock *sk)
{
	struct flow *flow = bpf_sk_storage_get(&flows, sk, 0, law == HOST_NOQ ? BPF_SK_STORAGE_GET_F_CREATE : 0);

	if (!flow) {
		be_plain(sk);
		return;
	}
	if (sk->sk_pacing_status == SK_PACING_NONE)
		sk->sk_pacing_status = SK_PACING_NEEDED;
	if (law == HOST_XCP)
		flow->xcp = (struct rw_xcp_sender){ .desired = desired };
	else if (law == HOST_JETMAX)
		flow->jetmax = (struct rw_jetmax_sender){ .desired = desired };
	else if (law != HOST_NOQ)
		flow->rcp = (struct rw_rcp_sender){ .desired = desired, .ramp = law == HOST_PIQI ? RW_PIQI_RAMP : 0 };
	flow->packet = packet_of(sk);
}

/* Whether something other than the law holds the sender back. The kernel's sample tells of a pause only once a packet that
 * was written after it has been acknowledged: what is aged for it must be known before, as all has been acknowledged. */
static __always_inline int is_limited(const struct tcp_sock *tp, const struct rate_sample *rs)
{
	int has_nothing = !tp->packets_out && tp->write_seq == tp->snd_nxt;

	return has_nothing || rs->is_app_limited ||
	       BPF_CORE_READ_BITFIELD(tp, chrono_type) >= TCP_CHRONO_RWND_LIMITED;
}

static __always_inline int is_held_by_receiver(const struct tcp_sock *tp)
{
	return BPF_CORE_READ_BITFIELD(tp, chrono_type) == TCP_CHRONO_RWND_LIMITED;
}

SEC("struct_ops")
void BPF_PROG(rw_control, struct sock *sk, __u32 ack, int flag, const struct rate_sample *rs)
{
	struct flow *flow = bpf_sk_storage_get(&flows, sk, 0, 0);
	struct tcp_sock *tp = (struct tcp_sock *)sk;
	__u64 rtt_us = tp->srtt_us >> 3, packet = packet_of(sk), now = now_us(), least;
	__u32 may_grow;

	if (!flow || !rtt_us)
		return;
	flow->packet = packet;
	flow->limited = is_limited(tp, rs);
	least = least_rate(packet, rtt_us);
	/* Not while holes are filled; but after a timeout all is sent anew, and at the least rate that would take for ever. */
	may_grow = flow->state <= TCP_CA_Disorder || flow->state == TCP_CA_Loss;
	if (law == HOST_XCP) {
		if (!flow->xcp.allowed)
			rw_xcp_start(&flow->xcp, now, tp->snd_cwnd * packet, rtt_us);
		if (flow->has_returned)
			rw_xcp_acked(&flow->xcp, rs->acked_sacked * packet, rw_field_change((__s32)flow->returned), rtt_us,
				     least, may_grow);
	} else if (law == HOST_JETMAX) {
		if (!flow->jetmax.allowed)
			rw_jetmax_start(&flow->jetmax, tp->snd_cwnd * packet, rtt_us);
		/* A source whose receiver's window has yet to grow is counted as the part of a flow that it uses, and would come
		 * with all of what it was allowed meanwhile. One that its program keeps waiting now and then is not: where many
		 * share a processor, rounds would pass in which it may not grow, and it would stay behind the others. */
		if (flow->has_returned)
			rw_jetmax_heard(&flow->jetmax, &flow->heard, least, may_grow && !is_held_by_receiver(tp));
	} else if (law != HOST_NOQ && flow->has_returned) {
		rw_rcp_offered(&flow->rcp, now, rw_field_rate(flow->returned), rtt_us, may_grow);
	}
	/* Said once, and heeded once: where nothing comes back, nothing changes. */
	flow->has_returned = 0;
	if (rate_of(flow))
		set_window(sk, flow, rtt_us);
}

static __always_inline __u64 *allowed(struct flow *flow)
{
	return law == HOST_XCP ? &flow->xcp.allowed : law == HOST_JETMAX ? &flow->jetmax.allowed : &flow->rcp.allowed;
}

SEC("struct_ops")
__u32 BPF_PROG(rw_ssthresh, struct sock *sk)
{
	struct flow *flow = bpf_sk_storage_get(&flows, sk, 0, 0);
	struct tcp_sock *tp = (struct tcp_sock *)sk;
	__u64 least;

	if (!flow)
		return rw_max(tp->snd_cwnd / 2, 2);
	flow->before_loss = *allowed(flow);
	least = least_rate(flow->packet, tp->srtt_us >> 3);
	if (law == HOST_XCP)
		rw_xcp_loss(&flow->xcp, least);
	else if (law == HOST_JETMAX)
		rw_jetmax_loss(&flow->jetmax, least);
	else if (law == HOST_NOQ)
		/* A loss is repaired, and is no sign of anything else. */
		return tp->snd_cwnd;
	else
		rw_rcp_loss(&flow->rcp, least);
	return rw_max(tp->snd_cwnd / 2, 2);
}

SEC("struct_ops")
void BPF_PROG(rw_set_state, struct sock *sk, __u8 state)
{
	struct flow *flow = bpf_sk_storage_get(&flows, sk, 0, 0);

	if (flow)
		flow->state = state;
}

/* Segments came late or in another order, and nothing was lost: the rate is as before. */
SEC("struct_ops")
__u32 BPF_PROG(rw_undo, struct sock *sk)
{
	struct flow *flow = bpf_sk_storage_get(&flows, sk, 0, 0);

	if (flow)
		*allowed(flow) = rw_max(*allowed(flow), flow->before_loss);
	return ((struct tcp_sock *)sk)->snd_cwnd;
}

SEC(".struct_ops.link")
struct tcp_congestion_ops control = {
	.init = (void *)rw_init,
	.cong_control = (void *)rw_control,
	.ssthresh = (void *)rw_ssthresh,
	.set_state = (void *)rw_set_state,
	.undo_cwnd = (void *)rw_undo,
	.name = "rw_xcp",
};
