//! `ratewire laws --cost`: what a port does for each packet, measured on this machine.
//!
//! Time is the least of several rounds, less what the same loop takes without a port. Instructions
//! are counted by callgrind, where valgrind is installed: it runs this program once with packets
//! and once without, and the difference is divided by their number.

#![allow(clippy::disallowed_methods, clippy::disallowed_types)]

use std::fmt::Write;
use std::hint::black_box;
use std::process::Command;
use std::time::Instant;

use ratewire_laws::{
    Acked, AnyLaw, AnyPort, FlowContext, Header, LawInfo, LinkContext, PortQueue, Sending, list,
};
use ratewire_units::{Bytes, Duration, Rate, Time};

use super::print;
use crate::Exit;

const PACKET: Bytes = Bytes::new(1500);
/// 1 Gbit/s, on which such a packet takes 12 microseconds.
const RATE: Rate = Rate::from_mbps(1000);
const GAP: Duration = Duration::from_micros(12);
const RTT: Duration = Duration::from_millis(50);
/// A few packets wait, so that no branch for an empty queue is taken.
const QUEUE: PortQueue = PortQueue { bytes: Bytes::new(4500), packets: 3 };
/// Headers in turn: as many as fit the nearest cache.
const HEADERS: usize = 256;
const PACKETS: u64 = 1_000_000;
const ROUNDS: usize = 5;
/// Under callgrind, which is fifty times slower.
const COUNTED: u64 = 100_000;

/// Prints the table.
pub(crate) fn table() -> Exit {
    let mut text = String::from("law         ns/packet  instructions  the papers count\n");
    let mut counts = true;
    for info in list() {
        let Some(mut bench) = Bench::new(info) else { continue };
        let ns = bench.nanoseconds();
        let instructions = if counts { instructions(info.name) } else { None };
        counts = instructions.is_some();
        let shown = instructions.map_or("-".to_string(), |n| format!("{n:.0}"));
        let _ = writeln!(text, "{:10} {ns:10.1}  {shown:>12}  {}", info.name, info.operations);
    }
    if !counts {
        text +=
            "\nInstructions are counted where valgrind is installed: apt-get install valgrind\n";
    }
    text += "\nOne arrival and one departure at a port of 1 Gbit/s, timers included. Laws that are not\n\
             listed have no part in routers.\n";
    print(&text)
}

/// Passes packets through the port of a law, to be counted from outside.
pub(crate) fn pass(law: &str, packets: u64) -> Exit {
    let Some(mut bench) = ratewire_laws::find(law).and_then(Bench::new) else {
        return Exit::Wrong;
    };
    bench.pass(packets);
    Exit::Done
}

/// Instructions a packet, if callgrind can be had.
fn instructions(law: &str) -> Option<f64> {
    let count = |packets: u64| {
        let output = Command::new("valgrind")
            .args(["--tool=callgrind", "--callgrind-out-file=/dev/null"])
            .arg(std::env::current_exe().ok()?)
            .args(["laws", "--cost-of", law, "--packets", &packets.to_string()])
            .output()
            .ok()
            .filter(|output| output.status.success())?;
        let text = String::from_utf8_lossy(&output.stderr).into_owned();
        let line = text.lines().find(|line| line.contains("refs:"))?;
        line.rsplit(' ').next()?.replace(',', "").parse::<f64>().ok()
    };
    Some((count(COUNTED)? - count(0)?) / COUNTED as f64)
}

/// A port and the headers that a flow of the same law sends past it.
struct Bench {
    port: AnyPort,
    headers: Vec<Header>,
    now: Time,
    timer: Time,
    marks: bool,
}

impl Bench {
    fn new(info: &LawInfo) -> Option<Bench> {
        let law = AnyLaw::new(info.name, &[]).ok()?;
        let link = LinkContext { rate: RATE, delay: Duration::from_millis(10), id: 1 };
        let port = law.port(&link)?;
        let timer = port.next_timer();
        let headers = Vec::new();
        let mut bench = Bench { port, headers, now: Time::ZERO, timer, marks: law.marks() };
        bench.headers = bench.talk(&law);
        Some(bench)
    }

    /// A flow that sends past the port and hears its answers, until it has sent enough headers that
    /// look as they do in operation.
    fn talk(&mut self, law: &AnyLaw) -> Vec<Header> {
        let mss = PACKET - Bytes::new(40) - law.header_len();
        let flow = FlowContext { mss, packet: PACKET, line_rate: RATE, back_pressured: false };
        let (mut source, mut sink) = (law.source(&flow), law.sink(&flow));
        let mut opening = source.on_open(self.now);
        self.one(&mut opening);
        if let Some(sink) = &mut sink {
            sink.on_data(self.now, &opening);
            source.on_opened(self.now, Some(RTT), &sink.on_ack(self.now));
        }
        let warm = 20 * HEADERS;
        let mut headers = Vec::new();
        for i in 0..warm + HEADERS {
            let sent = source.on_send(&Sending {
                now: self.now,
                packet: PACKET,
                in_flight: mss * 100,
                receive_window: Bytes::MAX,
                srtt: RTT,
                rto: RTT * 4,
                limited: false,
            });
            if i >= warm {
                headers.push(sent);
            }
            let mut header = sent;
            self.one(&mut header);
            let Some(sink) = &mut sink else { continue };
            sink.on_data(self.now, &header);
            let answer = sink.on_ack(self.now);
            let next = (i as u64 + 1) * mss.get();
            source.on_ack(
                &Acked {
                    now: self.now,
                    bytes: mss,
                    in_flight: mss * 99,
                    was_in_flight: mss * 100,
                    rtt: Some(RTT),
                    srtt: RTT,
                    cumulative: next.saturating_sub(mss.get() * 99),
                    next,
                    receive_window: Bytes::MAX,
                    limited: false,
                    in_recovery: false,
                    marked: false,
                    lost: Bytes::ZERO,
                },
                &answer,
            );
        }
        headers
    }

    #[inline]
    fn one(&mut self, header: &mut Header) {
        self.now += GAP;
        if self.timer <= self.now {
            self.port.on_timer(self.now, QUEUE);
            self.timer = self.port.next_timer();
        }
        self.port.on_arrival(self.now, PACKET, header, QUEUE);
        if self.marks {
            black_box(self.port.mark(self.now, PACKET, QUEUE));
        }
        self.port.on_departure(self.now, PACKET, header, QUEUE);
    }

    fn pass(&mut self, packets: u64) {
        for i in 0..packets {
            let mut header = self.headers[i as usize % HEADERS];
            self.one(&mut header);
            black_box(&header);
        }
    }

    /// The loop of [`Bench::pass`] without the port.
    fn pass_by(&mut self, packets: u64) {
        for i in 0..packets {
            let mut header = self.headers[i as usize % HEADERS];
            self.now += GAP;
            if self.timer == Time::ZERO {
                header = Header::None;
            }
            black_box(&header);
        }
    }

    fn nanoseconds(&mut self) -> f64 {
        let least = |bench: &mut Bench, pass: fn(&mut Bench, u64)| {
            let round = |_| {
                let start = Instant::now();
                pass(bench, PACKETS);
                start.elapsed().as_secs_f64()
            };
            (0..ROUNDS).map(round).fold(f64::INFINITY, f64::min)
        };
        let with = least(self, Bench::pass);
        let without = least(self, Bench::pass_by);
        (with - without).max(0.0) * 1e9 / PACKETS as f64
    }
}
