/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* The congestion header as an option of TCP (laws/option.h). */
#pragma once

#include "transport.h"

#include <linux/tcp.h>

#define OPTION_LEN (IS_XCP ? RW_OPTION_XCP : IS_JETMAX ? RW_OPTION_JETMAX : RW_OPTION_RCP)

/* Timestamps after two bytes of padding, as all systems send them. */
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
	const __be32 beginning = BEGINNING(OPTION_LEN);
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

/* Finds the header of a packet whose TCP header is at tcp. */
static __always_inline void find_in_tcp(struct __sk_buff *skb, __u64 tcp, struct found *found)
{
	__u64 option = find_option(skb, tcp);
	void *data = (void *)(long)skb->data, *end = (void *)(long)skb->data_end;
	struct tcphdr *header = data + tcp;
	__be32 *fields = data + option + 4;

	if (option > MOST_HEADERS || (void *)(header + 1) > end || (void *)fields + OPTION_LEN - 4 > end)
		return;
	found->fields = fields;
	found->covered = header;
	found->check = &header->check;
}
