/*
 * A congestion control law of one's own, in C, for Ratewire.
 *
 * A shared object exports one function, ratewire_law(), which returns a table. `--law ./mylaw.so`
 * and `law = "./mylaw.so"` in a scenario load it. `ratewire new-law --c NAME` writes a law to begin
 * with.
 *
 * Units: times are seconds since the beginning of the run, INFINITY for never. Rates are bytes per
 * second. Sizes are bytes: "payload" without headers, "packet" with those of the network layer.
 *
 * A run has one thread, but several runs may go on at a time: keep all state in what `create`
 * returns, and none in variables outside. For equal results on any machine, avoid exp(), log() and
 * pow() of the C library, whose last digits differ between its versions.
 *
 * SPDX-License-Identifier: MIT OR Apache-2.0
 */
#ifndef RATEWIRE_LAW_H
#define RATEWIRE_LAW_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Version of this interface. Ratewire loads tables of its own version only. */
#define RATEWIRE_LAW_VERSION 2

/* Longest congestion header, in bytes. */
#define RATEWIRE_MAX_HEADER 32

/* Largest window without a pace, in bytes of payload: the largest of TCP (RFC 7323, 2.2, 2.3). */
#define RATEWIRE_MAX_UNPACED_WINDOW 1073741824

/* Room for the text of an error, in bytes, its final zero included. */
#define RATEWIRE_ERROR_ROOM 256

/* Most quantities of an explanation. */
#define RATEWIRE_MAX_FIGURES 12

/* ------------------------------------------------------------------------------------ options */

/* Values that an option may have, and the meaning of ratewire_value.number. */
enum ratewire_kind {
	RATEWIRE_SWITCH = 0, /* true or false: 1 or 0 */
	RATEWIRE_NUMBER = 1, /* a number from `min` to `max` */
	RATEWIRE_COUNT = 2,  /* a whole number from `min` to `max` */
	RATEWIRE_TIME = 3,   /* "50 ms": seconds */
	RATEWIRE_RATE = 4,   /* "10 Mbit/s": bytes per second */
	RATEWIRE_SIZE = 5,   /* "64 KB": bytes; or "10 packets": packets, with `in_packets` */
	RATEWIRE_WORD = 6    /* one of `words`: its place among them, from 0 */
};

/* Part of the law that reads an option. One that only ports read has no effect in a flow's law. */
enum ratewire_part { RATEWIRE_SOURCE = 0, RATEWIRE_SINK = 1, RATEWIRE_PORT = 2, RATEWIRE_BOTH = 3 };

struct ratewire_option {
	const char *name;
	uint32_t kind;             /* enum ratewire_kind */
	uint32_t part;             /* enum ratewire_part */
	double min, max;           /* of a number or a count */
	const char *words;         /* of a word: "fast|slow" */
	const char *default_value; /* as a user would write it */
	const char *doc;           /* what it does, with unit and source, in a sentence */
};

/* A value of an option, as it was given or by default. */
struct ratewire_value {
	const char *text;
	double number;
	bool in_packets;
};

/* ------------------------------------------------------------------------------- explanations */

/* Units of a quantity, for display. */
enum ratewire_unit {
	RATEWIRE_ONE = 0,
	RATEWIRE_BYTES_PER_SECOND = 1,
	RATEWIRE_BYTES = 2,
	RATEWIRE_SECONDS = 3,
	RATEWIRE_PER_SECOND = 4
};

struct ratewire_figure {
	const char *name; /* in the equation: "cwnd" */
	double value;
	uint32_t unit; /* enum ratewire_unit */
};

/* Why a flow sends, or a port answers, as it does. Texts must stay as long as the law is loaded. */
struct ratewire_reason {
	const char *equation; /* the equation used last: "cwnd = cwnd / 2" */
	struct ratewire_figure figures[RATEWIRE_MAX_FIGURES];
	uint32_t count; /* figures in use */
};

/* ------------------------------------------------------------------------------------- sender */

struct ratewire_flow {
	double line_rate;    /* of the sender's own link */
	uint64_t mss;        /* payload of a full packet */
	uint64_t packet;     /* a full packet */
	bool back_pressured; /* whether the sender's own link is paused when its queue is full */
};

/* A packet is about to be sent. */
struct ratewire_sending {
	double now;
	double srtt; /* smoothed round-trip time; 0 while unknown */
	double rto;  /* retransmission timeout; 0 while unknown */
	uint64_t packet;
	uint64_t in_flight;      /* payload outstanding, this packet included */
	uint64_t receive_window; /* payload; UINT64_MAX without a limit */
	bool limited; /* the application or the receiver has kept the sender from sending since the last */
};

/* An acknowledgement has arrived. */
struct ratewire_ack {
	double now;
	double rtt;  /* of the newest packet acknowledged; negative if that one was sent twice (Karn) */
	double srtt; /* smoothed round-trip time, with this sample */
	uint64_t bytes;         /* payload newly acknowledged, cumulatively or selectively */
	uint64_t in_flight;     /* payload outstanding after it */
	uint64_t was_in_flight; /* and before it */
	uint64_t cumulative;    /* offset of the stream up to which all is acknowledged */
	uint64_t next;          /* offset of the next byte never sent */
	uint64_t receive_window;
	uint64_t lost; /* payload found lost since the acknowledgement before */
	bool limited;  /* the application or the receiver keeps the sender from using its window */
	bool in_recovery;
	bool marked; /* a packet that it covers was marked (ECN) */
};

/* Congestion was noticed. */
struct ratewire_congestion {
	double now;
	double srtt;
	uint64_t in_flight; /* payload sent and not cumulatively acknowledged (FlightSize, RFC 5681) */
};

/* The sender's part. A null pointer is allowed where "optional" says so. */
struct ratewire_source {
	/* State of a new flow; NULL ends the run with an error. */
	void *(*create)(const void *law, const struct ratewire_flow *flow);
	void (*destroy)(void *source);
	/* A packet leaves: writes its header, all bytes of it, and returns whether it has one.
	   Optional for laws without headers. */
	bool (*on_send)(void *source, const struct ratewire_sending *sending, uint8_t *header);
	/* `header` is NULL if the acknowledgement has none of this law. */
	void (*on_ack)(void *source, const struct ratewire_ack *ack, const uint8_t *header);
	/* A loss was found; at most once a window. */
	void (*on_loss)(void *source, const struct ratewire_congestion *congestion);
	/* A mark (ECN) came back; at most once a window. Optional: as on_loss. */
	void (*on_mark)(void *source, const struct ratewire_congestion *congestion);
	/* The retransmission timer has expired. */
	void (*on_timeout)(void *source, const struct ratewire_congestion *congestion);
	/* All that was outstanding when a loss was noticed has arrived. Optional. */
	void (*on_recovered)(void *source, double now);
	/* The last loss or timeout was none: its packets were late. A law that has slowed down goes back
	   to where it was. on_recovered follows. Optional. */
	void (*on_spurious)(void *source, double now);
	/* Payload that may be outstanding once a loss is repaired (ssthresh of RFC 5681), 0 or more. What
	   is outstanding then falls to it bit by bit (PRR, RFC 9937). Asked after on_loss. Optional: else
	   the window holds during a repair, too. */
	double (*slow_start_threshold)(const void *source);
	/* When to call on_timer. Asked as the flow begins, when a time in the past means at once, and
	   after on_timer, when it must be later. Optional, both or none. */
	double (*next_timer)(const void *source);
	void (*on_timer)(void *source, double now);
	/* Payload that may be outstanding; 0 or more, of which at least a packet is used. More than
	   1 GiB (RATEWIRE_MAX_UNPACED_WINDOW), and INFINITY, need a pace. Asked after each of the calls
	   above, as `pace` is. */
	double (*window)(const void *source);
	/* Rate at which to send packets, finite and 0 or more; returns false to send as the window
	   allows. Optional. */
	bool (*pace)(const void *source, double *rate);
	/* For `--why`. Optional. */
	void (*reason)(const void *source, struct ratewire_reason *reason);
};

/* ------------------------------------------------------------------------------------- router */

struct ratewire_link {
	double rate;
	double delay; /* propagation */
	uint32_t id;  /* unique in the network, not 0 */
};

/* Packets in the queue of the port, without the one being sent. */
struct ratewire_queue {
	uint64_t bytes;
	uint32_t packets;
};

/* The router's part, at the queue of an outgoing link. `header` is NULL for packets of other laws,
   which still count as traffic. All optional together (create is NULL): routers take no part. */
struct ratewire_port {
	void *(*create)(const void *law, const struct ratewire_link *link);
	void (*destroy)(void *port);
	/* A packet has arrived for the queue, and may yet be dropped. */
	void (*on_arrival)(void *port, double now, uint64_t packet, uint8_t *header,
			   const struct ratewire_queue *queue);
	/* A packet leaves the queue. */
	void (*on_departure)(void *port, double now, uint64_t packet, uint8_t *header,
			     const struct ratewire_queue *queue);
	/* As for sources, with two differences: packets must not move the timer, and it is also asked
	   after on_rate_change. Optional, both or none. */
	double (*next_timer)(const void *port);
	void (*on_timer)(void *port, double now, const struct ratewire_queue *queue);
	/* The link has a new rate, which may be 0. */
	void (*on_rate_change)(void *port, double now, double rate);
	/* For `--why`. Optional. */
	void (*reason)(const void *port, struct ratewire_reason *reason);
};

/* ----------------------------------------------------------------------------------- receiver */

/* The receiver's part, which answers with headers. All optional together (create is NULL):
   acknowledgements have none. */
struct ratewire_sink {
	void *(*create)(const void *law, const struct ratewire_flow *flow);
	void (*destroy)(void *sink);
	/* A data packet has arrived. */
	void (*on_data)(void *sink, double now, const uint8_t *header);
	/* An acknowledgement leaves: writes its header and returns whether it has one. */
	bool (*on_ack)(void *sink, double now, uint8_t *header);
};

/* -------------------------------------------------------------------------------------- books */

/* A data packet has left a port. */
struct ratewire_departure {
	uint64_t packet;
	const uint8_t *was, *is; /* its header before and after */
	/* Values of the port's reason before and after, in its order; NAN behind the last. */
	const double *before, *after;
};

/* What the law conserves, such as feedback that a port has to give and a receiver returns. Only
   `ratewire check-law` keeps books: some for each port, and some for each receiver. Functions return
   NULL if the books balance, or what does not; that text must stay until the next call. All optional
   together (create is NULL): the law promises nothing. */
struct ratewire_books {
	void *(*create)(const void *law);
	void (*destroy)(void *books);
	const char *(*departed)(void *books, const struct ratewire_departure *departure);
	/* The port's timer was due: values of its reason, as above. Optional. */
	const char *(*timer)(void *books, const double *before, const double *after);
	/* The receiver has got a data packet with this header. Optional, as the next one. */
	const char *(*received)(void *books, const uint8_t *header);
	/* It has written the header of an acknowledgement. */
	const char *(*answered)(void *books, const uint8_t *header);
};

/* ---------------------------------------------------------------------------------------- law */

/* Properties and promises, added up. */
#define RATEWIRE_GOES_BY_PACE 1u   /* the pace alone controls; the window only bounds what is lost */
#define RATEWIRE_GOES_BY_LOSSES 2u /* senders are regular until a packet is lost */
#define RATEWIRE_DOES_NOT_REACT 4u /* senders do not slow down when the network is overloaded */
#define RATEWIRE_EQUAL_SHARES 8u   /* promise: equal flows end within 5 % of equal shares in a minute */
#define RATEWIRE_SMALL_QUEUES 32u  /* senders wait while their host's queue has enough of the flow */
#define RATEWIRE_ANY_SPEED 16u     /* promise: the same course at four times all rates */

struct ratewire_law {
	uint32_t version; /* RATEWIRE_LAW_VERSION */
	uint32_t size;    /* sizeof(struct ratewire_law) */
	const char *name; /* in scenarios: letters, digits, - _ . @ */
	const char *title;   /* in prose */
	const char *summary; /* one line */
	const char *explanation; /* idea, equations, sources: for `ratewire explain` */
	const struct ratewire_option *options;
	uint32_t option_count;
	uint32_t header_length; /* bytes that each packet carries, 0 to RATEWIRE_MAX_HEADER */
	uint32_t flags;
	/* The law with its options, in the order of `options`; NULL with a text in `error` to refuse
	   them. Optional, both or none: the parts then get NULL as law. */
	void *(*create)(const struct ratewire_value *values, char *error);
	void (*destroy)(void *law);
	/* Fields of a header for display; returns how many it wrote, at most RATEWIRE_MAX_FIGURES.
	   Optional. */
	uint32_t (*fields)(const uint8_t *header, struct ratewire_figure *figures);
	struct ratewire_source source;
	struct ratewire_port port;
	struct ratewire_sink sink;
	struct ratewire_books books;
};

#if defined(_WIN32)
#define RATEWIRE_EXPORT __declspec(dllexport)
#else
#define RATEWIRE_EXPORT __attribute__((visibility("default")))
#endif

/* The one function that a law exports. The table must stay as it is. */
RATEWIRE_EXPORT const struct ratewire_law *ratewire_law(void);

#ifdef __cplusplus
}
#endif

#endif
