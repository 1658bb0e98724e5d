/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* The kernel's own types, as far as the programs read or write them. Only fields named here are
 * used; their offsets are found when the program is loaded (CO-RE). */
#pragma once

#include <linux/bpf.h>
#include <linux/types.h>

#include <bpf/bpf_helpers.h>
#include <bpf/bpf_core_read.h>
#include <bpf/bpf_endian.h>
#include <bpf/bpf_tracing.h>

#pragma clang attribute push(__attribute__((preserve_access_index)), apply_to = record)

struct gnet_stats_queue {
	__u32 backlog;
};

/* Counter of a queue's bytes, on machines with 64-bit longs. */
typedef struct {
	__s64 counter;
} atomic64_t;

typedef struct {
	atomic64_t a;
} local_t;

typedef struct {
	local_t a;
} local64_t;

typedef struct {
	local64_t v;
} u64_stats_t;

struct gnet_stats_basic_sync {
	u64_stats_t bytes;
};

struct Qdisc {
	struct gnet_stats_basic_sync bstats;
	struct gnet_stats_queue qstats;
};

struct ns_common {
	unsigned int inum;
};

struct list_head {
	struct list_head *next;
};

struct net {
	struct ns_common ns;
	struct list_head list;
	__u64 net_cookie;
};

struct nsproxy {
	struct net *net_ns;
};

struct task_struct {
	struct nsproxy *nsproxy;
};

typedef struct {
	struct net *net;
} possible_net_t;

struct net_device {
	struct Qdisc *qdisc;
	int ifindex;
	possible_net_t nd_net;
};

struct dst_entry {
	struct net_device *dev;
};

struct sk_buff {
	struct net_device *dev;
	unsigned char *head;
	unsigned char *data;
	/* Offset of the skb_shared_info from the head, on machines with 64-bit longs. */
	unsigned int end;
	__u16 network_header;
	__u8 ip_summed : 2;
};

struct skb_shared_info {
	unsigned int gso_type;
};

struct sock_common {
	unsigned short skc_family;
	unsigned char skc_state;
	possible_net_t skc_net;
};

struct sock {
	struct sock_common __sk_common;
	struct dst_entry *sk_dst_cache;
	unsigned long sk_pacing_rate;
	unsigned long sk_max_pacing_rate;
	__u32 sk_pacing_status;
};

struct bpf_sock_ops_kern {
	struct sock *sk;
};

struct inet_connection_sock {
	__u8 icsk_ca_state : 5;
};

struct tcp_sock {
	__u32 snd_nxt;
	__u32 write_seq;
	__u32 snd_wnd;
	__u32 snd_cwnd;
	__u32 snd_ssthresh;
	__u32 packets_out;
	__u32 retrans_out;
	__u32 sacked_out;
	__u32 lost_out;
	__u32 srtt_us;
	__u32 mss_cache;
	__u16 tcp_header_len;
	__u8 chrono_type : 2;
};

struct rate_sample;

struct tcp_congestion_ops {
	char name[16];
	__u32 (*ssthresh)(struct sock *sk);
	void (*cong_control)(struct sock *sk, __u32 ack, int flag, const struct rate_sample *rs);
	__u32 (*undo_cwnd)(struct sock *sk);
	void (*init)(struct sock *sk);
	void (*release)(struct sock *sk);
	__u32 flags;
};

struct rate_sample {
	__u32 acked_sacked;
	int losses;
	_Bool is_app_limited;
};

#pragma clang attribute pop

enum sk_pacing {
	SK_PACING_NONE = 0,
	SK_PACING_NEEDED = 1,
	SK_PACING_FQ = 2,
};

/* Kinds of a packet that is cut later: datagrams of UDP, and with it packets that have kept their
 * own headers. */
#define SKB_GSO_UDP_L4 (1 << 17)
#define SKB_GSO_FRAGLIST (1 << 18)

/* Limits of a sender: from here on its receiver's window, or its own buffer. */
#define TCP_CHRONO_RWND_LIMITED 2

extern void *bpf_cast_to_kern_ctx(void *) __ksym;
