//! One flow of a law through two ports, under any sequence of events.

use alloc::vec::Vec;

use ratewire_units::{Bytes, Duration, Rate, Time};

use super::events::{Event, What};
use super::headers;
use crate::external::is_excess;
use crate::law::{
    Acked, Buffer, Congestion, Draw, FlowContext, LinkContext, MAX_HEADER, PortQueue, Sending,
};
use crate::reason::{Figure, Reason};
use crate::registry::{AnyBooks, AnyLaw, AnyPort, AnySink, AnySource, Header};

const FLOW: FlowContext = FlowContext {
    mss: Bytes::new(1460),
    packet: Bytes::new(1500),
    line_rate: Rate::from_mbps(10_000),
    back_pressured: false,
    draw: Draw::new(0),
};
const LINKS: [LinkContext; 2] = [
    LinkContext {
        rate: Rate::from_mbps(100),
        delay: Duration::from_millis(10),
        id: 1,
        draw: Draw::new(0),
    },
    LinkContext { rate: Rate::from_mbps(60), delay: Duration::ZERO, id: 2, draw: Draw::new(0) },
];

/// Upper bound of a window that its options do not make unlimited: larger than any path holds.
const ABSURD: Bytes = Bytes::new(1 << 62);

pub(super) struct Flow<'a> {
    law: &'a AnyLaw,
    source: AnySource,
    ports: [Option<(AnyPort, Option<AnyBooks>)>; 2],
    sink: Option<(AnySink, Option<AnyBooks>)>,
    now: Time,
    cumulative: u64,
    next: u64,
    /// The last header as the source wrote it, and as it left the ports.
    sent: Header,
    passed: Header,
    /// Payload that the application has read.
    read: u64,
    explained: Explained,
}

impl<'a> Flow<'a> {
    pub(super) fn new(law: &'a AnyLaw, has_books: bool) -> Flow<'a> {
        let books = || law.books().filter(|_| has_books);
        Flow {
            law,
            source: law.source(&FLOW),
            ports: LINKS.map(|link| law.port(&link).map(|port| (port, books()))),
            sink: law.sink(&FLOW).map(|sink| (sink, books())),
            now: Time::ZERO,
            cumulative: 0,
            next: 0,
            sent: Header::None,
            passed: Header::None,
            read: 0,
            explained: Explained::default(),
        }
    }

    /// Checks that the window is allowed before anything has happened.
    pub(super) fn check_start(&self) {
        if let Some(fault) = self.source.fault() {
            panic!("{}: {fault}", self.law.info().name);
        }
    }

    pub(super) fn happen(&mut self, event: &Event) {
        self.now += event.after;
        let now = self.now;
        let [size, in_flight, was_in_flight, receive_window] = event.sizes;
        let srtt = event.srtt;
        match event.what {
            What::Send => {
                self.next = self.next.saturating_add(size.get());
                let header = self.source.on_send(&Sending {
                    now,
                    packet: size,
                    in_flight,
                    receive_window,
                    srtt,
                    rto: event.rto,
                    limited: event.limited,
                });
                self.pass(header, size, event);
            }
            What::Foreign => {
                for port in 0..self.ports.len() {
                    self.pass_port(port, Header::None, size, event);
                }
            }
            What::Ack => {
                self.cumulative = self.cumulative.saturating_add(size.get()).min(self.next);
                let header = self.answer(size, event);
                let acked = Acked {
                    now,
                    bytes: size,
                    in_flight,
                    was_in_flight,
                    rtt: event.rtt,
                    srtt,
                    cumulative: self.cumulative,
                    next: self.next,
                    receive_window,
                    limited: event.limited,
                    in_recovery: event.in_recovery,
                    marked: event.marked,
                    lost: if event.in_recovery { size } else { Bytes::ZERO },
                };
                self.source.on_ack(&acked, &header);
            }
            What::Open => {
                let header = self.source.on_open(now);
                self.pass(header, size, event);
                let header = self.answer(size, event);
                self.source.on_opened(now, event.rtt, &header);
            }
            What::Congestion(signal) => {
                self.source.on_congestion(&Congestion { now, signal, in_flight, srtt });
            }
            What::Recovered => {
                if event.limited {
                    self.source.on_spurious(now);
                }
                self.source.on_recovered(now);
            }
            What::Timer => self.timers(queue(event)),
            What::Rate => {
                for (port, _) in self.ports.iter_mut().flatten() {
                    port.on_rate_change(now, Rate::from_bps(size.get()));
                }
            }
        }
    }

    /// Checks all that a caller sees: a window of at least a packet, a usable pace, and reasons
    /// with a number for each symbol of their equations.
    pub(super) fn check(&mut self) {
        let name = self.law.info().name;
        let window = self.source.window();
        assert!(window >= FLOW.mss, "{name}: window {window}");
        let promises = self.law.promises();
        assert!(
            window < ABSURD || !promises.bounded_window,
            "{name}: a window of {window} is no bound: keep it below {ABSURD}, or say \
             bounded_window: false in Invariants::promises if an option or the receiver sets it"
        );
        if let Some(pace) = self.source.pacing() {
            let pace = pace.get();
            assert!(pace.is_finite() && pace >= 0.0, "{name}: pace {pace}");
            if promises.pace_within_line {
                let line = FLOW.line_rate.throughput().get();
                assert!(pace > 0.0 && pace <= line, "{name}: pace {pace} on a link of {line}");
            }
        }
        if let Some(fault) = self.source.fault().filter(|fault| !is_excess(fault)) {
            panic!("{name}: {fault}");
        }
        for (port, _) in self.ports.iter().flatten() {
            if let Some(fault) = port.fault() {
                panic!("{name}: {fault}");
            }
        }
        self.explained.check(name, &self.source.reason(), &[]);
        // Some equations name fields of a header.
        let is_explained = self.sent != Header::None || self.law.header_len() == Bytes::ZERO;
        if is_explained {
            let mut packet = self.law.fields(&self.sent);
            packet.push(Figure::bytes("size", FLOW.packet.as_f64()));
            for (port, _) in self.ports.iter().flatten() {
                self.explained.check(name, &port.reason(), &packet);
            }
        }
    }

    /// Delivers a packet to the receiver.
    fn pass(&mut self, header: Header, size: Bytes, event: &Event) {
        self.check_header(&header, size);
        self.sent = header;
        let mut header = tampered(self.law, header, size, event);
        for port in 0..self.ports.len() {
            header = self.pass_port(port, header, size, event);
        }
        self.passed = header;
        if let Some((sink, books)) = &mut self.sink {
            if sink.watches_buffer() {
                let unread = queue(event).bytes;
                self.read += unread.get() % 1500;
                let (read, refused) = (Bytes::new(self.read), self.read / 1400);
                sink.on_buffer(
                    self.now,
                    size,
                    &Buffer { size: FLOW.mss * 9, unread, read, refused },
                );
            }
            sink.on_data(self.now, &header);
            if let Some(books) = books {
                books.received(&header);
            }
        }
    }

    fn pass_port(&mut self, port: usize, header: Header, size: Bytes, event: &Event) -> Header {
        let Some((port, books)) = &mut self.ports[port] else { return header };
        let mut after = header;
        let queue = queue(event);
        port.on_arrival(self.now, size, &mut after, queue);
        let _ = port.mark(self.now, size, queue);
        let before = port.reason();
        port.on_departure(self.now, size, &mut after, queue);
        if self.law.returns(&header) {
            assert_eq!(after, header, "{}: changed on its way back", self.law.info().name);
        } else if let Some(books) = books {
            books.departed(size, (&header, &before), (&after, &port.reason()));
        }
        self.check_header(&after, size);
        after
    }

    /// Header of an acknowledgement as it reaches the sender. If the receiver returns none, or the
    /// event says so, it is the last header that went the other way.
    fn answer(&mut self, size: Bytes, event: &Event) -> Header {
        let mut header = self.passed;
        if let Some((sink, books)) = &mut self.sink {
            let answer = sink.on_ack(self.now);
            // A sink that watches its buffer does not return the sum of the headers that arrived.
            if let Some(books) = books.as_mut().filter(|_| !sink.watches_buffer()) {
                books.answered(&answer);
            }
            if answer != Header::None && !event.limited {
                header = answer;
            }
        }
        self.check_header(&header, size);
        tampered(self.law, header, size, event)
    }

    fn timers(&mut self, queue: PortQueue) {
        let due = self.source.next_timer();
        if due != Time::NEVER {
            self.now = self.now.max(due);
            self.source.on_timer(self.now);
            let next = self.source.next_timer();
            assert!(
                next > self.now || self.now == Time::NEVER,
                "{}: a timer of the sender due at {next}, set at {}",
                self.law.info().name,
                self.now
            );
        }
        for (port, books) in self.ports.iter_mut().flatten() {
            let due = port.next_timer();
            if due == Time::NEVER {
                continue;
            }
            self.now = self.now.max(due);
            let before = port.reason();
            port.on_timer(self.now, queue);
            if let Some(books) = books {
                books.timer(&before, &port.reason());
            }
            let next = port.next_timer();
            assert!(
                next > self.now || self.now == Time::NEVER,
                "{}: a timer due at {next}, set at {}",
                self.law.info().name,
                self.now
            );
        }
    }

    fn check_header(&self, header: &Header, size: Bytes) {
        numbers(self.law.info().name, &self.law.fields(header));
        headers::travels(self.law, header, size);
    }
}

fn queue(event: &Event) -> PortQueue {
    let bytes = event.sizes[2];
    PortQueue { bytes, packets: bytes.get().div_ceil(FLOW.packet.get()) as u32 }
}

/// Equations whose symbols all have a number, by the names of their figures.
///
/// Each equation is parsed once for each list of names: parsing takes 30 times as long as the
/// checked event.
#[derive(Default)]
struct Explained(Vec<(&'static str, Vec<&'static str>)>);

impl Explained {
    /// Checks that each symbol of a reason's equation has a number, from the reason or from the
    /// packet.
    fn check(&mut self, law: &str, reason: &Reason, packet: &[Figure]) {
        numbers(law, &reason.figures);
        let names = || reason.figures.iter().chain(packet).map(|figure| figure.name);
        let is_known = |(equation, figures): &(&str, Vec<&str>)| {
            *equation == reason.equation && figures.iter().copied().eq(names())
        };
        if self.0.iter().any(is_known) {
            return;
        }
        let whole = reason.clone().with(packet.iter().copied());
        let missing: Vec<_> = whole.without_figure().collect();
        let remedy = "give each a `Figure` of its name in the `Reason`, or call it otherwise";
        let equation = whole.equation;
        assert!(
            missing.is_empty(),
            "{law}: the equation {equation:?} has no figure of {missing:?}: {remedy}"
        );
        self.0.push((reason.equation, names().collect()));
    }
}

/// Checks that no figure is NaN. Infinity stands for a limit that is not set.
fn numbers(law: &str, figures: &[Figure]) {
    for figure in figures {
        assert!(!figure.value.is_nan(), "{law}: {figure}");
    }
}

/// The header with some bytes overwritten, if the result is still a header.
fn tampered(law: &AnyLaw, header: Header, size: Bytes, event: &Event) -> Header {
    let Some((at, new)) = event.overwrite else { return header };
    if let Some(other) = law.tampered(&header, [u32::from_be_bytes(new), at as u32]) {
        return other;
    }
    let mut bytes = [0; MAX_HEADER];
    let len = law.encode(&header, size, &mut bytes);
    for (byte, new) in bytes[..len].iter_mut().skip(at % len.max(1)).zip(new) {
        *byte = new;
    }
    law.decode(&bytes[..len], size).unwrap_or(header)
}

#[cfg(test)]
mod tests {
    use super::*;

    const EQUATION: &str = "x = a_b + size";

    fn reason(names: &[&'static str]) -> Reason {
        let figures: Vec<_> = names.iter().map(|name| Figure::one(name, 1.0)).collect();
        Reason::new(EQUATION, figures)
    }

    #[test]
    fn a_packet_gives_what_a_port_does_not() {
        let mut explained = Explained::default();
        for _ in 0..2 {
            explained.check("law", &reason(&["x", "a_b"]), &[Figure::one("size", 1.0)]);
            explained.check("law", &reason(&["x", "a_b", "size"]), &[]);
        }
        assert_eq!(explained.0.len(), 1, "the names are the same");
    }

    #[test]
    #[should_panic(expected = "has no figure of [\"a_b\"]: give each")]
    fn an_equation_checked_once_needs_its_numbers_again() {
        let mut explained = Explained::default();
        explained.check("law", &reason(&["x", "a_b", "size"]), &[]);
        explained.check("law", &reason(&["x", "size"]), &[]);
    }

    #[test]
    #[should_panic(expected = "law: x = ")]
    fn a_number_of_a_checked_equation_is_checked_each_time() {
        let mut explained = Explained::default();
        let mut reason = reason(&["x", "a_b", "size"]);
        explained.check("law", &reason, &[]);
        reason.figures[0].value = f64::NAN;
        explained.check("law", &reason, &[]);
    }
}
