//! The work of a law's port for a packet, measured on this machine.
//!
//! The time is the minimum of many short batches, because other load only adds to it. Ports take
//! turns, so that a slow phase of the machine affects all. The time of the loop without a port is
//! subtracted.

#![allow(clippy::disallowed_methods, clippy::disallowed_types)]

use std::hint::black_box;
use std::time::Instant;

use ratewire_laws::{
    Acked, AnyLaw, AnyPort, Draw, FlowContext, Header, LawInfo, LawSet, LinkContext, PortQueue,
    Sending,
};
use ratewire_units::{Bytes, Duration, Rate, Time};
use serde::Serialize;

const PACKET: Bytes = Bytes::new(1500);
/// 1 Gbit/s, at which such a packet takes 12 us.
const RATE: Rate = Rate::from_mbps(1000);
const GAP: Duration = Duration::from_micros(12);
const RTT: Duration = Duration::from_millis(50);
/// A backlog above zero, so that no port takes its branch for an empty queue.
const QUEUE: PortQueue = PortQueue { bytes: Bytes::new(4500), packets: 3 };
/// Number of different headers, which fit the first-level cache.
const HEADERS: usize = 256;
/// Packets of a batch: a fraction of a millisecond, and several control intervals of a law.
const BATCH: u64 = 20_000;

/// Time of batches, in nanoseconds a packet.
#[derive(Clone, Copy, Debug, Serialize)]
pub struct TimeSpread {
    /// The shortest.
    pub least: f64,
    /// The median.
    pub median: f64,
}

impl TimeSpread {
    /// Difference of the batches `with` and `without` a port, in nanoseconds a packet.
    fn of(mut with: Vec<f64>, mut without: Vec<f64>, batch: u64) -> TimeSpread {
        for times in [&mut with, &mut without] {
            times.sort_by(f64::total_cmp);
        }
        let at = |n: usize| (with[n] - without[n]).max(0.0) / batch as f64;
        let median = at(with.len() / 2);
        // Each is a difference of two times of that rank, which need not rise with the rank.
        TimeSpread { least: at(0).min(median), median }
    }
}

/// Times of a packet at each port, and of a multiplication measured in the same period. Each is
/// timed in `rounds` batches.
///
/// # Panics
/// If `rounds` is 0.
pub fn port_costs(ports: &mut [BenchedPort], rounds: u32) -> (Vec<TimeSpread>, TimeSpread) {
    let time = |pass: &mut dyn FnMut()| {
        let start = Instant::now();
        pass();
        start.elapsed().as_secs_f64() * 1e9
    };
    let mut steps = Vec::new();
    let mut times = vec![(Vec::new(), Vec::new()); ports.len()];
    for _ in 0..rounds {
        steps.push(time(&mut || multiply(BATCH)));
        for (port, (with, without)) in ports.iter_mut().zip(&mut times) {
            with.push(time(&mut || port.pass(BATCH)));
            without.push(time(&mut || port.pass_by(BATCH)));
        }
    }
    let spreads = times.into_iter().map(|(with, without)| TimeSpread::of(with, without, BATCH));
    (spreads.collect(), TimeSpread::of(steps, vec![0.0; rounds as usize], BATCH))
}

/// Multiplications that each depend on the one before.
fn multiply(times: u64) {
    let mut n = black_box(0x9e37_79b9_7f4a_7c15_u64);
    for _ in 0..times {
        n = n.wrapping_mul(n | 1);
    }
    black_box(n);
}

/// A port of 1 Gbit/s, and the headers of a flow of its law.
#[derive(Debug)]
pub struct BenchedPort {
    port: AnyPort,
    headers: Vec<Header>,
    now: Time,
    timer: Time,
    marks: bool,
}

impl BenchedPort {
    /// The port of a law with its default options; `None` if it has none, and routers do no work
    /// for it.
    pub fn new(laws: &LawSet, info: &LawInfo) -> Option<BenchedPort> {
        let law = laws.make(info.name, &[]).ok()?;
        let link =
            LinkContext { rate: RATE, delay: Duration::from_millis(10), id: 1, draw: Draw::new(0) };
        let port = law.port(&link)?;
        let timer = port.next_timer();
        let headers = Vec::new();
        let mut bench = BenchedPort { port, headers, now: Time::ZERO, timer, marks: law.marks() };
        bench.headers = bench.talk(&law);
        Some(bench)
    }

    /// What the port has done that no law may, once it has.
    pub fn fault(&self) -> Option<String> {
        self.port.fault()
    }

    /// Runs a flow through the port until enough headers have been sent that look as in operation.
    fn talk(&mut self, law: &AnyLaw) -> Vec<Header> {
        let mss = PACKET - Bytes::new(40) - law.header_len();
        let flow = FlowContext {
            mss,
            packet: PACKET,
            line_rate: RATE,
            back_pressured: false,
            draw: Draw::new(0),
        };
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

    /// Inlined, as in the simulator, where ports are part of the packet loop.
    #[inline(always)]
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

    /// Lets packets arrive and depart, timers included.
    pub fn pass(&mut self, packets: u64) {
        for i in 0..packets {
            let mut header = self.headers[i as usize % HEADERS];
            self.one(&mut header);
            black_box(&header);
        }
    }

    /// The loop of [`BenchedPort::pass`] without the port.
    pub fn pass_by(&mut self, packets: u64) {
        for i in 0..packets {
            let mut header = self.headers[i as usize % HEADERS];
            self.now += GAP;
            if self.timer == Time::ZERO {
                header = Header::None;
            }
            black_box(&header);
        }
    }
}
