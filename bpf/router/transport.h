/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* The place of TCP or UDP in a packet, and of a congestion header there. */
#pragma once

#include "../kernel.h"

#include <linux/if_ether.h>
#include <linux/in.h>
#include <linux/ip.h>
#include <linux/ipv6.h>

#include "../laws/jetmax.h"
#include "../laws/meter.h"
#include "../laws/police.h"
#include "../laws/rcp.h"
#include "../laws/xcp.h"
#include "../router.h"

/* Set before loading. */
const volatile __u32 law = ROUTER_XCP;
const volatile __u32 is_policed = 0;

#define IS_XCP (law == ROUTER_XCP)
#define IS_JETMAX (law == ROUTER_JETMAX)
#define EXID (IS_XCP ? RW_EXID_XCP : IS_JETMAX ? RW_EXID_JETMAX : RW_EXID_RCP)

/* First four bytes of a congestion header. */
#define BEGINNING(len) bpf_htonl((__u32)RW_OPTION_KIND << 24 | (len) << 16 | EXID)

/* Ethernet, two tags, IPv6, TCP; also the same with IPv4's longest header, UDP and the longest
 * header of ACP. */
#define MOST_TCP 60
#define MOST_HEADERS (14 + 8 + 40 + MOST_TCP)

/* An offset beyond any header. */
#define NOWHERE ~0ull

struct vlan {
	__be16 tag;
	__be16 type;
};

/* A congestion header in a packet. */
struct found {

	/* Null if there is none. */
	__be32 *fields;
	/* The checksum, and the first byte that it covers. */
	void *covered;
	__sum16 *check;
	/* UDP: a sum of 0 says that there is none. */
	int is_udp;
	/* Offset of the payload of a UDP datagram that begins as ACP's data does; 0 for others. */
	__u64 acp;
	/* Offsets of the headers of IP and of TCP or UDP. */
	__u16 ip;
	__u16 transport;
	__u8 protocol;
	__u8 is_v6;
};

/* Offset of the header of this or that protocol, which is set, or NOWHERE if there is none. */
static __always_inline __u64 find_transport(struct __sk_buff *skb, struct found *found)
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

		/* Later fragments have no header of TCP or UDP. */
		if ((void *)(ip + 1) > end || ip->ihl < 5 || (ip->frag_off & bpf_htons(0x1fff)))
			return NOWHERE;
		found->protocol = ip->protocol;
		found->ip = next - data;
		return next - data + ip->ihl * 4;
	}
	if (type == bpf_htons(ETH_P_IPV6)) {
		struct ipv6hdr *ip = next;

		if ((void *)(ip + 1) > end)
			return NOWHERE;
		found->protocol = ip->nexthdr;
		found->ip = next - data;
		found->is_v6 = 1;
		return next - data + sizeof(*ip);
	}
	return NOWHERE;
}
