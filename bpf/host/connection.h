/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* A connection under a law, as both of the host's parts know it. */
#pragma once

#include "../kernel.h"

#include "../laws/jetmax.h"
#include "../laws/rcp.h"
#include "../laws/xcp.h"
#include "../host.h"

/* Set before loading. */
const volatile __u32 law = HOST_XCP;
const volatile __u64 desired = RW_MOST_RATE;
const volatile __u32 option_len = RW_OPTION_XCP;
const volatile struct rw_xcp_rules xcp_rules = RW_XCP_RULES;

/* NoQ: whether it is set even if the interface does not pause. */
const volatile __u32 is_forced = 0;

#define AF_INET6 10
#define SOL_TCP 6

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

static __always_inline struct rw_xcp_rules rules(void)
{
	return (struct rw_xcp_rules){ .throughput = xcp_rules.throughput, .aging = xcp_rules.aging,
				      .paced = xcp_rules.paced, .bounded = xcp_rules.bounded,
				      .modest = xcp_rules.modest, .heeds_loss = xcp_rules.heeds_loss,
				      .weight = xcp_rules.weight };
}

static __always_inline void count(__u64 *counter)
{
	__sync_fetch_and_add(counter, 1);
}

static __always_inline struct host *counters(void)
{
	__u32 zero = 0;

	return bpf_map_lookup_elem(&host, &zero);
}

/* The least rate: a packet a round trip or 50 ms. It keeps feedback coming, and leaves room for
 * many flows on a slow link. */
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

static __always_inline __u64 now_us(void)
{
	return bpf_ktime_get_ns() / 1000;
}

/* Interfaces that pause, and until when that is believed, in nanoseconds of the monotonic clock. A
 * program outside looks again and again; if it ends, none is believed any more. */
struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, 4096);
	__type(key, struct paused);
	__type(value, __u64);
} pausing SEC(".maps");

/* NoQ: whether a connection may do without a window: its own interface pauses, or that does not
 * matter. `otherwise` is the answer where the connection has no route at the moment. */
static __always_inline int has_pauses(void *tp, int otherwise)
{
	struct paused key = {};
	struct net_device *dev;
	__u64 *until;

	if (is_forced)
		return 1;
	if (!tp)
		return otherwise;
	dev = BPF_CORE_READ((struct sock *)tp, sk_dst_cache, dev);
	if (!dev)
		return otherwise;
	key.ifindex = BPF_CORE_READ(dev, ifindex);
	key.netns = BPF_CORE_READ(dev, nd_net.net, ns.inum);
	until = bpf_map_lookup_elem(&pausing, &key);
	return until && *until > bpf_ktime_get_ns();
}
