/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* What Rust calls: each function of bpf/laws under a name that the linker knows. */
#include "rcp.h"
#include "xcp.h"

#define RW_SIZE(type) \
	__u64 rw_size_of_##type(void); \
	__u64 rw_size_of_##type(void) { return sizeof(struct type); }

RW_SIZE(rw_header)
RW_SIZE(rw_xcp)
RW_SIZE(rw_xcp_sender)
RW_SIZE(rw_xcp_receiver)
RW_SIZE(rw_rcp)
RW_SIZE(rw_rcp_sender)

#define RW_EXPORT(result, name, declared, given) \
	result rw_native_##name declared; \
	result rw_native_##name declared { given; }

RW_EXPORT(__u64, mul_shift, (__u64 a, __u64 b, __u32 shift), return rw_mul_shift(a, b, shift))
RW_EXPORT(__u64, share_times, (__u64 n, __u64 d, __u64 of),
	  struct rw_share share; rw_share_of(&share, n, d); return rw_times(&share, of))
RW_EXPORT(__u64, share_part, (__u64 n, __u64 d, __u32 of),
	  struct rw_share share; rw_share_of(&share, n, d); return rw_part(&share, of))
RW_EXPORT(__u32, rate_field, (__u64 rate), return rw_rate_field(rate))
RW_EXPORT(__u64, field_rate, (__u32 field), return rw_field_rate(field))
RW_EXPORT(__s32, change_field, (__s64 change), return rw_change_field(change))
RW_EXPORT(__s64, field_change, (__s32 field), return rw_field_change(field))

RW_EXPORT(void, xcp_init, (struct rw_xcp *port, __u64 capacity, __u64 now_ns), rw_xcp_init(port, capacity, now_ns))
RW_EXPORT(void, xcp_timers, (struct rw_xcp *port, __u64 now_ns, __u64 queue), rw_xcp_timers(port, now_ns, queue))
RW_EXPORT(void, xcp_packet, (struct rw_xcp *port, __u64 now_ns, __u64 size, __u64 queue, struct rw_header *header),
	  rw_xcp_packet(port, now_ns, size, queue, header))
RW_EXPORT(void, xcp_start, (struct rw_xcp_sender *sender, __u64 now_us, __u64 window, __u64 rtt_us),
	  rw_xcp_start(sender, now_us, window, rtt_us))
RW_EXPORT(void, xcp_send,
	  (struct rw_xcp_sender *sender, __u64 now_us, __u64 size, __u64 rtt_us, __u32 limited, __u64 least,
	   struct rw_header *header),
	  rw_xcp_send(sender, now_us, size, rtt_us, limited, least, header))
RW_EXPORT(void, xcp_acked,
	  (struct rw_xcp_sender *sender, __u64 acked, __s64 change, __u64 rtt_us, __u64 least, __u32 may_grow),
	  rw_xcp_acked(sender, acked, change, rtt_us, least, may_grow))
RW_EXPORT(void, xcp_loss, (struct rw_xcp_sender *sender, __u64 least), rw_xcp_loss(sender, least))
RW_EXPORT(void, xcp_arrived, (struct rw_xcp_receiver *receiver, __s32 field, __u64 bytes),
	  rw_xcp_arrived(receiver, field, bytes))
RW_EXPORT(__s32, xcp_returned, (const struct rw_xcp_receiver *receiver), return rw_xcp_returned(receiver))
RW_EXPORT(void, xcp_answered, (struct rw_xcp_receiver *receiver), rw_xcp_answered(receiver))

RW_EXPORT(void, rcp_init, (struct rw_rcp *port, __u64 capacity, __u32 is_piqi, __u64 now_ns),
	  struct rw_rcp_rule rule = RW_RCP_RULE;
	  if (is_piqi) rule = RW_PIQI_RULE;
	  rw_rcp_init(port, capacity, &rule, now_ns))
RW_EXPORT(void, rcp_timers, (struct rw_rcp *port, __u64 now_ns, __u64 queue), rw_rcp_timers(port, now_ns, queue))
RW_EXPORT(void, rcp_packet, (struct rw_rcp *port, __u64 now_ns, __u64 size, __u64 queue, struct rw_header *header),
	  rw_rcp_packet(port, now_ns, size, queue, header))
RW_EXPORT(void, rcp_send, (const struct rw_rcp_sender *sender, __u64 rtt_us, struct rw_header *header),
	  rw_rcp_send(sender, rtt_us, header))
RW_EXPORT(void, rcp_offered,
	  (struct rw_rcp_sender *sender, __u64 now_us, __u64 rate, __u64 rtt_us, __u32 may_grow),
	  rw_rcp_offered(sender, now_us, rate, rtt_us, may_grow))
RW_EXPORT(void, rcp_loss, (struct rw_rcp_sender *sender, __u64 least), rw_rcp_loss(sender, least))
RW_EXPORT(__u32, piqi_ramp, (void), return RW_PIQI_RAMP)
