/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* The congestion header in a data packet of ACP, which is in UDP at any port
 * (docs/reference/acp.md). */
#pragma once

#include "transport.h"

#include <linux/udp.h>

/* Length of the congestion header, and of its fields. */
#define ACP_LEN (IS_XCP ? RW_FORWARD_XCP : IS_JETMAX ? RW_FORWARD_JETMAX : RW_FORWARD_RCP)
#define ACP_FIELDS (ACP_LEN - 4)

/* `AC`, version 1, type 0. */
#define ACP_DATA bpf_htonl(0x41430100)

/* The clear part of a data packet. */
struct acp {
	__be32 type;
	__u8 connection[8];
	__be32 number;
	__be32 beginning;
	__be32 fields[RW_JETMAX_WORDS];
};

#define ACP_BEFORE_FIELDS __builtin_offsetof(struct acp, fields)

static __always_inline int has_fields(const struct acp *acp)
{
	return acp->type == ACP_DATA && acp->beginning == BEGINNING(ACP_LEN);
}

/* Finds the header of a packet whose UDP header is at udp. */
static __always_inline void find_in_udp(struct __sk_buff *skb, __u64 udp, struct found *found)
{
	void *data = (void *)(long)skb->data, *end = (void *)(long)skb->data_end;
	struct udphdr *header = data + udp;
	struct acp *acp = (void *)(header + 1);
	__u64 len;

	if ((void *)acp + ACP_BEFORE_FIELDS + ACP_FIELDS > end || acp->type != ACP_DATA)
		return;
	/* The checksum covers this many bytes. A first fragment has fewer. */
	len = bpf_ntohs(header->len);
	if (len < sizeof(*header) + ACP_BEFORE_FIELDS + ACP_FIELDS || udp + len > skb->len)
		return;
	found->acp = udp + sizeof(*header);
	if (!has_fields(acp))
		return;
	found->fields = acp->fields;
	found->covered = header;
	found->check = &header->check;
	found->is_udp = 1;
}
