/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* Functions for Rust: each function of bpf/laws under a name that the linker knows. */
#include "jetmax.h"
#include "meter.h"
#include "police.h"
#include "rcp.h"
#include "xcp.h"

#include <stddef.h>

/* Offset of the n-th field, and after the last the size. */
#define RW_LAYOUT(type, ...) \
	__u64 rw_layout_of_##type(__u32 n); \
	__u64 rw_layout_of_##type(__u32 n) \
	{ \
		const __u64 at[] = { __VA_ARGS__, sizeof(struct type) }; \
		return at[n]; \
	}

/* A congestion header as it is in the option. */
struct rw_fields {
	__u32 rate;
	__u32 rtt_us;
	__s32 change;
};

RW_INLINE struct rw_header rw_read(const struct rw_fields *fields)
{
	return (struct rw_header){ .rate = rw_field_rate(fields->rate),
				   .rtt_us = fields->rtt_us,
				   .change = rw_field_change(fields->change) };
}

RW_INLINE struct rw_fields rw_written(const struct rw_header *header)
{
	return (struct rw_fields){ .rate = rw_rate_field(header->rate),
				   .rtt_us = header->rtt_us,
				   .change = rw_change_field(header->change) };
}

RW_LAYOUT(rw_fields, offsetof(struct rw_fields, rate), offsetof(struct rw_fields, rtt_us),
	  offsetof(struct rw_fields, change))
RW_LAYOUT(rw_share, offsetof(struct rw_share, value), offsetof(struct rw_share, shift))
RW_LAYOUT(rw_xcp_constants, offsetof(struct rw_xcp_constants, alpha), offsetof(struct rw_xcp_constants, beta),
	  offsetof(struct rw_xcp_constants, gamma), offsetof(struct rw_xcp_constants, min_interval_us),
	  offsetof(struct rw_xcp_constants, max_interval_us), offsetof(struct rw_xcp_constants, allowed_queue_us),
	  offsetof(struct rw_xcp_constants, memory), offsetof(struct rw_xcp_constants, pad),
	  offsetof(struct rw_xcp_constants, queue_cap), offsetof(struct rw_xcp_constants, queue_limit))
RW_LAYOUT(rw_xcp, offsetof(struct rw_xcp, capacity), offsetof(struct rw_xcp, constants),
	  offsetof(struct rw_xcp, input), offsetof(struct rw_xcp, sum_x), offsetof(struct rw_xcp, sum_x_known),
	  offsetof(struct rw_xcp, sum_x_rtt), offsetof(struct rw_xcp, residue_pos),
	  offsetof(struct rw_xcp, residue_neg), offsetof(struct rw_xcp, cp), offsetof(struct rw_xcp, cn),
	  offsetof(struct rw_xcp, gain), offsetof(struct rw_xcp, avg_rtt_us), offsetof(struct rw_xcp, interval_us),
	  offsetof(struct rw_xcp, control_at_ns), offsetof(struct rw_xcp, queue),
	  offsetof(struct rw_xcp, least_queue), offsetof(struct rw_xcp, queue_at_ns),
	  offsetof(struct rw_xcp, input_bw), offsetof(struct rw_xcp, feedback), offsetof(struct rw_xcp, unused),
	  offsetof(struct rw_xcp, flows), offsetof(struct rw_xcp, told_rtt_us),
	  offsetof(struct rw_xcp, counted_queue), offsetof(struct rw_xcp, most))
RW_LAYOUT(rw_xcp_sender, offsetof(struct rw_xcp_sender, allowed), offsetof(struct rw_xcp_sender, desired),
	  offsetof(struct rw_xcp_sender, round_us), offsetof(struct rw_xcp_sender, sent),
	  offsetof(struct rw_xcp_sender, limited), offsetof(struct rw_xcp_sender, was_limited),
	  offsetof(struct rw_xcp_sender, measured), offsetof(struct rw_xcp_sender, rtt_us),
	  offsetof(struct rw_xcp_sender, rules))
RW_LAYOUT(rw_xcp_rules, offsetof(struct rw_xcp_rules, throughput), offsetof(struct rw_xcp_rules, aging),
	  offsetof(struct rw_xcp_rules, paced), offsetof(struct rw_xcp_rules, bounded),
	  offsetof(struct rw_xcp_rules, modest), offsetof(struct rw_xcp_rules, heeds_loss),
	  offsetof(struct rw_xcp_rules, weight))
RW_LAYOUT(rw_xcp_receiver, offsetof(struct rw_xcp_receiver, sum), offsetof(struct rw_xcp_receiver, bytes))
RW_LAYOUT(rw_rcp_rule, offsetof(struct rw_rcp_rule, spare), offsetof(struct rw_rcp_rule, queue),
	  offsetof(struct rw_rcp_rule, target), offsetof(struct rw_rcp_rule, slot_us))
RW_LAYOUT(rw_rcp, offsetof(struct rw_rcp, capacity), offsetof(struct rw_rcp, rule), offsetof(struct rw_rcp,
	  rate), offsetof(struct rw_rcp, input), offsetof(struct rw_rcp, rtt_bytes), offsetof(struct rw_rcp, sum_rtt),
	  offsetof(struct rw_rcp, rtt), offsetof(struct rw_rcp, sample), offsetof(struct rw_rcp, slot_us),
	  offsetof(struct rw_rcp, slot_at_ns), offsetof(struct rw_rcp, input_bw), offsetof(struct rw_rcp, queue),
	  offsetof(struct rw_rcp, recent_input), offsetof(struct rw_rcp, recent_rate))
RW_LAYOUT(rw_rcp_sender, offsetof(struct rw_rcp_sender, allowed), offsetof(struct rw_rcp_sender, desired),
	  offsetof(struct rw_rcp_sender, offered), offsetof(struct rw_rcp_sender, recent),
	  offsetof(struct rw_rcp_sender, cap), offsetof(struct rw_rcp_sender, climbed_us),
	  offsetof(struct rw_rcp_sender, ramp), offsetof(struct rw_rcp_sender, pad))
RW_LAYOUT(rw_jetmax_constants, offsetof(struct rw_jetmax_constants, gamma),
	  offsetof(struct rw_jetmax_constants, interval_us))
RW_LAYOUT(rw_jetmax, offsetof(struct rw_jetmax, capacity), offsetof(struct rw_jetmax, constants),
	  offsetof(struct rw_jetmax, input),
	  offsetof(struct rw_jetmax, responsive), offsetof(struct rw_jetmax, sum_x), offsetof(struct rw_jetmax,
	  interval_us), offsetof(struct rw_jetmax, interval_at_ns), offsetof(struct rw_jetmax, id),
	  offsetof(struct rw_jetmax, number), offsetof(struct rw_jetmax, fair_field), offsetof(struct rw_jetmax,
	  load_field), offsetof(struct rw_jetmax, input_bw), offsetof(struct rw_jetmax, unresponsive_bw),
	  offsetof(struct rw_jetmax, flows), offsetof(struct rw_jetmax, fair))
RW_LAYOUT(rw_jetmax_header, offsetof(struct rw_jetmax_header, bottleneck), offsetof(struct rw_jetmax_header,
	  proposed), offsetof(struct rw_jetmax_header, fair), offsetof(struct rw_jetmax_header, number),
	  offsetof(struct rw_jetmax_header, proposed_fair), offsetof(struct rw_jetmax_header, load),
	  offsetof(struct rw_jetmax_header, rate), offsetof(struct rw_jetmax_header, marker))
RW_LAYOUT(rw_jetmax_answer, offsetof(struct rw_jetmax_answer, router), offsetof(struct rw_jetmax_answer, fair),
	  offsetof(struct rw_jetmax_answer, number), offsetof(struct rw_jetmax_answer, marker))
RW_LAYOUT(rw_jetmax_sender, offsetof(struct rw_jetmax_sender, allowed), offsetof(struct rw_jetmax_sender,
	  desired), offsetof(struct rw_jetmax_sender, fair), offsetof(struct rw_jetmax_sender, bottleneck),
	  offsetof(struct rw_jetmax_sender, settling), offsetof(struct rw_jetmax_sender, marker),
	  offsetof(struct rw_jetmax_sender, first))
RW_LAYOUT(rw_meter, offsetof(struct rw_meter, left), offsetof(struct rw_meter, time_ns),
	  offsetof(struct rw_meter, came), offsetof(struct rw_meter, began_ns), offsetof(struct rw_meter, sent))
RW_LAYOUT(rw_claim, offsetof(struct rw_claim, size), offsetof(struct rw_claim, segment),
	  offsetof(struct rw_claim, rate), offsetof(struct rw_claim, rtt_us), offsetof(struct rw_claim, has_rounds),
	  offsetof(struct rw_claim, round), offsetof(struct rw_claim, leeway),
	  offsetof(struct rw_claim, capacity))
RW_LAYOUT(rw_suspect, offsetof(struct rw_suspect, seen_ns), offsetof(struct rw_suspect, began_ns),
	  offsetof(struct rw_suspect, passed), offsetof(struct rw_suspect, claimed),
	  offsetof(struct rw_suspect, base), offsetof(struct rw_suspect, last), offsetof(struct rw_suspect, fresh),
	  offsetof(struct rw_suspect, bytes), offsetof(struct rw_suspect, time),
	  offsetof(struct rw_suspect, unclaimed), offsetof(struct rw_suspect, measured),
	  offsetof(struct rw_suspect, rtt_us), offsetof(struct rw_suspect, round),
	  offsetof(struct rw_suspect, is_rated), offsetof(struct rw_suspect, pad))

#define RW_EXPORT(result, name, declared, given) \
	result rw_native_##name declared; \
	result rw_native_##name declared { given; }

/* Handles a packet as router.bpf.c does: a law writes one field of its header. Work that is due
 * takes another path, so that this one calls nothing and saves no registers. */
#define RW_PACKET(law, field) \
	static void law##_late(struct rw_##law *port, __u64 now_ns, __u64 size, __u64 queue, struct rw_fields *fields); \
	RW_EXPORT(void, law##_packet, \
		  (struct rw_##law *port, __u64 now_ns, __u64 size, __u64 queue, struct rw_fields *fields), \
		  struct rw_header header; \
		  if (rw_##law##_is_due(port, now_ns)) { \
			  law##_late(port, now_ns, size, queue, fields); \
			  return; \
		  } \
		  if (!fields) { \
			  rw_##law##_packet(port, now_ns, size, queue, 0); \
			  return; \
		  } \
		  header = rw_read(fields); \
		  rw_##law##_packet(port, now_ns, size, queue, &header); \
		  fields->field = rw_##field##_field(header.field)) \
	static __attribute__((noinline)) void law##_late(struct rw_##law *port, __u64 now_ns, __u64 size, __u64 queue, \
							 struct rw_fields *fields) \
	{ \
		rw_##law##_timers(port, now_ns, queue); \
		rw_native_##law##_packet(port, now_ns, size, queue, fields); \
	}

RW_EXPORT(__u64, mul_shift, (__u64 a, __u64 b, __u32 shift), return rw_mul_shift(a, b, shift))
RW_EXPORT(__u64, share_times, (__u64 n, __u64 d, __u64 of),
	  struct rw_share share; rw_share_of(&share, n, d); return rw_times(&share, of))
RW_EXPORT(__u64, share_part, (__u64 n, __u64 d, __u32 of),
	  struct rw_share share; rw_share_of(&share, n, d); return rw_part(&share, of))
RW_EXPORT(__u32, rate_field, (__u64 rate), return rw_rate_field(rate))
RW_EXPORT(__u64, field_rate, (__u32 field), return rw_field_rate(field))
RW_EXPORT(__s32, change_field, (__s64 change), return rw_change_field(change))
RW_EXPORT(__s64, field_change, (__s32 field), return rw_field_change(field))

RW_EXPORT(void, xcp_constants, (struct rw_xcp_constants *constants),
	  *constants = (struct rw_xcp_constants)RW_XCP_CONSTANTS)
RW_EXPORT(void, xcp_init,
	  (struct rw_xcp *port, __u64 capacity, const struct rw_xcp_constants *constants, __u64 now_ns),
	  rw_xcp_init(port, capacity, constants, now_ns))
RW_EXPORT(void, xcp_timers, (struct rw_xcp *port, __u64 now_ns, __u64 queue), rw_xcp_timers(port, now_ns, queue))
RW_PACKET(xcp, change)
RW_EXPORT(void, xcp_start, (struct rw_xcp_sender *sender, __u64 now_us, __u64 window, __u64 rtt_us),
	  rw_xcp_start(sender, now_us, window, rtt_us))
RW_EXPORT(void, xcp_send,
	  (struct rw_xcp_sender *sender, __u64 now_us, __u64 size, __u64 rtt_us, __u32 limited, __u64 outstanding,
	   __u64 packet, __u64 least, struct rw_fields *fields),
	  struct rw_header header;
	  rw_xcp_send(sender, now_us, size, rtt_us, limited, outstanding, packet, least, &header);
	  *fields = rw_written(&header))
RW_EXPORT(void, xcp_bound, (struct rw_xcp_sender *sender, __u64 window, __u64 rtt_us, __u64 least),
	  rw_xcp_bound(sender, window, rtt_us, least))
RW_EXPORT(void, xcp_rules, (struct rw_xcp_rules *rules), *rules = (struct rw_xcp_rules)RW_XCP_RULES)
RW_EXPORT(void, xcp_acked,
	  (struct rw_xcp_sender *sender, __u64 acked, __s32 returned, __u64 rtt_us, __u64 least, __u32 may_grow),
	  rw_xcp_acked(sender, acked, rw_field_change(returned), rtt_us, least, may_grow))
RW_EXPORT(void, xcp_loss, (struct rw_xcp_sender *sender, __u64 least), rw_xcp_loss(sender, least))
RW_EXPORT(void, xcp_arrived, (struct rw_xcp_receiver *receiver, __s32 field, __u64 bytes),
	  rw_xcp_arrived(receiver, field, bytes))
RW_EXPORT(__s32, xcp_returned, (const struct rw_xcp_receiver *receiver), return rw_xcp_returned(receiver))
RW_EXPORT(void, xcp_answered, (struct rw_xcp_receiver *receiver), rw_xcp_answered(receiver))

RW_EXPORT(void, rcp_rule, (struct rw_rcp_rule *rule), *rule = (struct rw_rcp_rule)RW_RCP_RULE)
RW_EXPORT(void, piqi_rule, (struct rw_rcp_rule *rule), *rule = (struct rw_rcp_rule)RW_PIQI_RULE)
RW_EXPORT(void, rcp_init,
	  (struct rw_rcp *port, __u64 capacity, const struct rw_rcp_rule *rule, __u64 now_ns),
	  rw_rcp_init(port, capacity, rule, now_ns))
RW_EXPORT(void, rcp_timers, (struct rw_rcp *port, __u64 now_ns, __u64 queue), rw_rcp_timers(port, now_ns, queue))
RW_PACKET(rcp, rate)
RW_EXPORT(void, rcp_send, (const struct rw_rcp_sender *sender, __u64 rtt_us, struct rw_fields *fields),
	  struct rw_header header;
	  rw_rcp_send(sender, rtt_us, &header);
	  *fields = rw_written(&header))
RW_EXPORT(void, rcp_offered,
	  (struct rw_rcp_sender *sender, __u64 now_us, __u64 rate, __u64 rtt_us, __u64 least, __u32 is_repairing),
	  rw_rcp_offered(sender, now_us, rate, rtt_us, least, is_repairing))
RW_EXPORT(void, rcp_unheard, (struct rw_rcp_sender *sender, __u64 now_us, __u64 rtt_us),
	  rw_rcp_unheard(sender, now_us, rtt_us))
RW_EXPORT(void, rcp_loss, (struct rw_rcp_sender *sender, __u64 least), rw_rcp_loss(sender, least))
RW_EXPORT(__u32, piqi_ramp, (void), return RW_PIQI_RAMP)
RW_EXPORT(__u32, xcp_fraction, (void), return RW_XCP_FRACTION)
RW_EXPORT(__u32, jetmax_tau, (void), return RW_JETMAX_TAU)

RW_EXPORT(void, jetmax_constants, (struct rw_jetmax_constants *constants),
	  *constants = (struct rw_jetmax_constants)RW_JETMAX_CONSTANTS)
RW_EXPORT(void, jetmax_init,
	  (struct rw_jetmax *port, __u64 capacity, const struct rw_jetmax_constants *constants, __u32 id,
	   __u64 now_ns),
	  rw_jetmax_init(port, capacity, constants, id, now_ns))
RW_EXPORT(void, jetmax_timers, (struct rw_jetmax *port, __u64 now_ns), rw_jetmax_timers(port, now_ns))
RW_EXPORT(void, jetmax_packet,
	  (struct rw_jetmax *port, __u64 now_ns, __u64 size, struct rw_jetmax_header *header),
	  rw_jetmax_packet(port, now_ns, size, header))
RW_EXPORT(__u64, jetmax_target, (const struct rw_jetmax *port), return rw_jetmax_target(port))
RW_EXPORT(void, jetmax_answer, (const struct rw_jetmax_header *header, struct rw_jetmax_answer *answer),
	  rw_jetmax_answer(header, answer))
RW_EXPORT(void, jetmax_start, (struct rw_jetmax_sender *sender, __u64 window, __u64 rtt_us),
	  rw_jetmax_start(sender, window, rtt_us))
RW_EXPORT(void, jetmax_send, (const struct rw_jetmax_sender *sender, struct rw_jetmax_header *header),
	  rw_jetmax_send(sender, header))
RW_EXPORT(void, jetmax_heard,
	  (struct rw_jetmax_sender *sender, const struct rw_jetmax_answer *answer, __u64 least, __u32 is_repairing,
	   __u32 may_grow),
	  rw_jetmax_heard(sender, answer, least, is_repairing, may_grow))
RW_EXPORT(void, jetmax_loss, (struct rw_jetmax_sender *sender, __u64 least), rw_jetmax_loss(sender, least))
RW_EXPORT(void, jetmax_read, (const __u32 (*words)[RW_JETMAX_WORDS], struct rw_jetmax_header *header),
	  rw_jetmax_read(*words, header))
RW_EXPORT(void, jetmax_read_answer, (const __u32 (*words)[RW_JETMAX_WORDS], struct rw_jetmax_answer *answer),
	  rw_jetmax_read_answer(*words, answer))
RW_EXPORT(void, jetmax_write,
	  (const struct rw_jetmax_header *header, const struct rw_jetmax_answer *answer,
	   __u32 (*words)[RW_JETMAX_WORDS]),
	  rw_jetmax_write(header, answer, *words))
RW_EXPORT(void, jetmax_read_alone,
	  (const __u32 (*words)[RW_JETMAX_ANSWER_WORDS], struct rw_jetmax_answer *answer),
	  rw_jetmax_read_alone(*words, answer))
RW_EXPORT(void, jetmax_write_alone,
	  (const struct rw_jetmax_answer *answer, __u32 (*words)[RW_JETMAX_ANSWER_WORDS]),
	  rw_jetmax_write_alone(answer, *words))
RW_EXPORT(__u32, rate_real, (__u64 rate), return rw_rate_real(rate))
RW_EXPORT(__u64, real_rate, (__u32 field), return rw_real_rate(field))

RW_EXPORT(void, meter_packet,
	  (struct rw_meter *meter, __u64 passed_ns, __u64 size, __u64 queue, __u64 sent),
	  rw_meter_packet(meter, passed_ns, size, queue, sent))
RW_EXPORT(__u64, meter_read, (struct rw_meter *meter, __u64 now_ns, __u64 believed),
	  return rw_meter_read(meter, now_ns, believed))

RW_EXPORT(void, suspect_init, (struct rw_suspect *suspect, const struct rw_claim *claim, __u64 now_ns),
	  rw_suspect_init(suspect, claim, now_ns))
RW_EXPORT(__u32, police_arrival, (struct rw_suspect *suspect, struct rw_claim *claim, __u64 now_ns),
	  return rw_police_arrival(suspect, claim, now_ns))
RW_EXPORT(void, police_change, (struct rw_suspect *suspect, const struct rw_claim *claim, __s64 change),
	  rw_police_change(suspect, claim, change))
RW_EXPORT(void, police_rate, (struct rw_suspect *suspect, __u64 rate), rw_police_rate(suspect, rate))
RW_EXPORT(__u32, police_tolerance, (void), return RW_POLICE_TOLERANCE)
