/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* A congestion control that sends at the allowed rate. */
#pragma once

#include "connection.h"

#include <linux/tcp.h>

/* The largest window, in bytes and in the shortest segments. To size a socket's buffer, the kernel
 * multiplies a window's segments by twice the memory of each, in 31 bits, and stops growing the
 * buffer if that overflows. */
#define MOST_OUTSTANDING (1u << 28)
#define SHORT_SEGMENT 512
/* Rate in B/s from which on there is no pacing, although the drafts always pace. At this rate 64
 * kB take 0.1 ms, and each burst loses the timer's lateness. The window then limits the sender,
 * and acknowledgements space its packets. */
#define MOST_PACED 625000000ull

/* Network-layer bytes of a full-size segment, the unit of the laws. */
static __always_inline __u64 packet_of(struct sock *sk)
{
	struct tcp_sock *tp = (struct tcp_sock *)sk;
	__u32 ip = sk->__sk_common.skc_family == AF_INET6 ? 40 : 20;

	return rw_max(tp->mss_cache, 1) + tp->tcp_header_len + option_len + ip;
}

/* Outstanding data, in segments. */
static __always_inline __u32 outstanding(const struct tcp_sock *tp)
{
	return tp->packets_out + tp->retrans_out - tp->sacked_out - tp->lost_out;
}

/* Whether packets are spread over the RTT. */
static __always_inline int is_paced(void)
{
	return law != HOST_XCP || xcp_rules.paced;
}

static __always_inline void set_window(struct sock *sk, const struct flow *flow, __u64 rtt_us)
{
	struct tcp_sock *tp = (struct tcp_sock *)sk;
	__u64 packet = packet_of(sk), rate = rate_of(flow);
	__u64 window = rw_mul_shift(rate, rtt_us, 0) / 1000000 / packet;
	__u32 most = MOST_OUTSTANDING / (__u32)rw_max(packet, SHORT_SEGMENT);

	/* The pace limits; the window only bounds outstanding data. Under laws that state a rate, a
	 * round trip's worth may be sent without another acknowledgement: bound by the rate alone,
	 * a sender would stand still at each cut of the rate. At rates without a pace the window has
	 * room for the segments of 64 kB that are being made and acknowledged. If the law does not
	 * pace, the window alone limits. NoQ has no window.
	 */
	if (!is_paced())
		rate = ~0ull;
	else if (rate >= MOST_PACED)
		window += 2 * 65536 / packet;
	else
		window += law == HOST_XCP ? 2 : 2 + outstanding(tp);
	window = rw_max(window, 1);
	tp->snd_cwnd = law == HOST_NOQ ? most : rw_min(window, most);
	/* TCP's own pacing counts payload, a queueing discipline's all bytes. */
	if (sk->sk_pacing_status != SK_PACING_FQ)
		rate = rw_mul_shift(rate, tp->mss_cache, 0) / packet;
	if (rate >= MOST_PACED)
		rate = ~0ull;
	sk->sk_pacing_rate = rw_min(rate, sk->sk_max_pacing_rate);
}

/* Falls back to CUBIC. A program may have chosen the law for a connection whose other end does
 * not speak it, or outside the cgroup. No feedback would ever come back, and the sender would
 * keep its first window for ever. */
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
		flow->xcp = (struct rw_xcp_sender){ .desired = desired, .rules = rules() };
	else if (law == HOST_JETMAX)
		flow->jetmax = (struct rw_jetmax_sender){ .desired = desired };
	else if (law != HOST_NOQ)
		flow->rcp = (struct rw_rcp_sender){ .desired = desired, .ramp = law == HOST_PIQI ? RW_PIQI_RAMP : 0 };
	flow->packet = packet_of(sk);
}

/* Whether something other than the law holds the sender back. The kernel's sample shows a pause
 * only once a packet written after it has been acknowledged. Aging must know of the pause
 * earlier, when everything has been acknowledged. */
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

/* The kernel's state of loss repair. A copy from set_state would be wrong after a change that the
 * law did not see: the program used another congestion control, or the kernel skipped the call. A
 * repair would then seem to go on, and the rate would not grow. */
static __always_inline __u32 repair_state(struct sock *sk)
{
	return BPF_CORE_READ_BITFIELD((struct inet_connection_sock *)sk, icsk_ca_state);
}

/* Ends the law where it would flood queues that nobody pauses. What is outstanding fills them now:
 * half of it is the window, as after a loss (RFC 5681, 3.1). */
static __always_inline void fall_back(struct sock *sk, struct flow *flow)
{
	struct tcp_sock *tp = (struct tcp_sock *)sk;
	struct host *counter = counters();

	if (flow->fell_back) {
		be_plain(sk);
		return;
	}
	flow->fell_back = 1;
	tp->snd_cwnd = rw_max(outstanding(tp) / 2, 2);
	tp->snd_ssthresh = tp->snd_cwnd;
	be_plain(sk);
	if (counter)
		count(&counter->fell_back);
}

SEC("struct_ops")
void BPF_PROG(rw_control, struct sock *sk, __u32 ack, int flag, const struct rate_sample *rs)
{
	struct flow *flow = bpf_sk_storage_get(&flows, sk, 0, 0);
	struct tcp_sock *tp = (struct tcp_sock *)sk;
	__u64 rtt_us = tp->srtt_us >> 3, packet = packet_of(sk), now = now_us(), least;
	__u32 state = repair_state(sk), is_repairing;

	if (!flow)
		return;
	if (law == HOST_NOQ && !has_pauses(sk, 1)) {
		fall_back(sk, flow);
		return;
	}
	if (!rtt_us)
		return;
	flow->packet = packet;
	flow->limited = is_limited(tp, rs);
	least = least_rate(packet, rtt_us);
	/* Holes are being filled. A timeout does not count as repair: everything is sent again,
	 * which at half of a rate, or at the least rate, would take very long. */
	is_repairing = state > TCP_CA_Disorder && state != TCP_CA_Loss;
	if (law == HOST_XCP) {
		if (!flow->xcp.allowed)
			rw_xcp_start(&flow->xcp, now, tp->snd_cwnd * packet, rtt_us);
		rw_xcp_bound(&flow->xcp, (__u64)tp->snd_wnd * packet / rw_max(tp->mss_cache, 1), rtt_us, least);
		if (flow->has_returned)
			rw_xcp_acked(&flow->xcp, rs->acked_sacked * packet, rw_field_change((__s32)flow->returned), rtt_us,
				     least, !is_repairing);
	} else if (law == HOST_JETMAX) {
		if (!flow->jetmax.allowed)
			rw_jetmax_start(&flow->jetmax, tp->snd_cwnd * packet, rtt_us);
		/* If the receiver's window has yet to grow, routers count only the used part of the
		 * flow. The source would later use the whole rate that grew meanwhile, so its rate
		 * must not grow. A source that waits for its program now and then is not limited in
		 * this sense. If many share a processor, it would miss rounds in which it may grow,
		 * and fall behind the others.
		 */
		if (flow->has_returned)
			rw_jetmax_heard(&flow->jetmax, &flow->heard, least, is_repairing, !is_held_by_receiver(tp));
	} else if (law != HOST_NOQ && flow->has_returned) {
		rw_rcp_offered(&flow->rcp, now, rw_field_rate(flow->returned), rtt_us, least, is_repairing);
	} else if (law != HOST_NOQ && state > TCP_CA_Disorder && !rs->losses) {
		rw_rcp_unheard(&flow->rcp, now, rtt_us);
	}
	/* Each answer is used once: without a new answer nothing changes. */
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
	if (law == HOST_XCP && !xcp_rules.heeds_loss) {
		flow->before_loss = 0;
		return tp->snd_cwnd;
	}
	flow->before_loss = *allowed(flow);
	least = least_rate(flow->packet, tp->srtt_us >> 3);
	if (law == HOST_XCP)
		rw_xcp_loss(&flow->xcp, least);
	else if (law == HOST_JETMAX)
		rw_jetmax_loss(&flow->jetmax, least);
	else if (law == HOST_NOQ)
		/* The transport repairs the loss, which is no sign of congestion. */
		return tp->snd_cwnd;
	else
		rw_rcp_loss(&flow->rcp, least);
	return rw_max(tp->snd_cwnd / 2, 2);
}

/* Restores the former rate: segments were late or reordered, and none was lost. */
SEC("struct_ops")
__u32 BPF_PROG(rw_undo, struct sock *sk)
{
	struct flow *flow = bpf_sk_storage_get(&flows, sk, 0, 0);

	if (flow)
		*allowed(flow) = rw_max(*allowed(flow), flow->before_loss);
	return ((struct tcp_sock *)sk)->snd_cwnd;
}

/* Handles the end of the law's use: the connection ends, or its program chose another congestion
 * control. Later segments state no rate, because routers do not control it. */
SEC("struct_ops")
void BPF_PROG(rw_release, struct sock *sk)
{
	struct flow *flow = bpf_sk_storage_get(&flows, sk, 0, 0);
	struct host *counter = counters();

	if (!flow || !counter || sk->__sk_common.skc_state == BPF_TCP_CLOSE)
		return;
	*allowed(flow) = 0;
	if (!flow->fell_back)
		count(&counter->chose_another);
}

SEC(".struct_ops.link")
struct tcp_congestion_ops control = {
	.init = (void *)rw_init,
	.release = (void *)rw_release,
	.cong_control = (void *)rw_control,
	.ssthresh = (void *)rw_ssthresh,
	.undo_cwnd = (void *)rw_undo,
	.name = "rw_xcp",
};
