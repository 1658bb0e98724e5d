//! `ratewire laws --cost`: measures on this machine the work of each law's port for a packet.
//!
//! The time is the minimum of many short batches, because other load only adds to it. The laws take
//! turns, so that a slow phase of the machine affects all. The table also shows the median, and the
//! time of a multiplication, which tells a slow clock from slow work.
//!
//! Callgrind counts instructions if valgrind is installed. Times and instructions of the loop
//! without a port are subtracted.

#![allow(clippy::disallowed_methods, clippy::disallowed_types)]

use std::fmt::Write;
use std::hint::black_box;
use std::process::Command;
use std::time::Instant;

use ratewire::load_law;
use ratewire_laws::{
    Acked, AnyLaw, AnyPort, Draw, FlowContext, Header, LawInfo, LawSet, LinkContext, PortQueue,
    Sending, list,
};
use ratewire_units::{Bytes, Duration, Rate, Time};
use serde::Serialize;

use crate::exit::Exit;
use crate::output::{fail, print};

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
/// Width of the column of laws' names.
const WIDTH: usize = 15;
/// Packets of a run under callgrind, which is fifty times slower.
const COUNTED: u64 = 100_000;

/// Measurements, for `--json`.
#[derive(Serialize)]
struct Costs {
    laws: Vec<Cost>,
    /// Time of a multiplication that depends on the one before, measured between the batches.
    multiplication_ns: Spread,
}

/// Work of a port for a packet.
#[derive(Serialize)]
struct Cost {
    law: String,
    ns: Spread,
    /// Instructions a packet; `None` without valgrind.
    instructions: Option<f64>,
    /// Operations a packet, as the papers count them.
    operations: &'static str,
}

/// Measures all laws with a port and the laws of these files, and prints a table or JSON.
pub(crate) fn show(as_json: bool, rounds: u32, files: &[String]) -> Exit {
    let mut benches: Vec<(String, Bench)> = list()
        .iter()
        .filter_map(|info| Some((info.name.to_string(), Bench::new(&LawSet::default(), info)?)))
        .collect();
    for file in files {
        match of_file(file) {
            Ok(bench) => benches.push((file.clone(), bench)),
            Err(exit) => return exit,
        }
    }
    let costs = measure(benches, rounds);
    if as_json {
        return print(&(serde_json::to_string_pretty(&costs).unwrap_or_default() + "\n"));
    }
    print(&table(&costs, rounds))
}

/// The port of the law in a file.
fn of_file(file: &str) -> Result<Bench, Exit> {
    let laws = load_law(file).map_err(|wrong| fail(&wrong))?;
    let bench = laws.find(file).and_then(|info| Bench::new(&laws, info));
    bench.ok_or_else(|| {
        tell!("ratewire: {file}: the law has no port, so routers do no work for it");
        Exit::Wrong
    })
}

fn measure(mut benches: Vec<(String, Bench)>, rounds: u32) -> Costs {
    let (times, multiplication_ns) = nanoseconds(&mut benches, rounds);
    let mut counts = true;
    let laws = benches.into_iter().zip(times).map(|((law, bench), ns)| {
        let instructions = if counts { instructions(&law) } else { None };
        counts = instructions.is_some();
        Cost { law, ns, instructions, operations: bench.operations }
    });
    Costs { laws: laws.collect(), multiplication_ns }
}

fn table(Costs { laws, multiplication_ns: step }: &Costs, rounds: u32) -> String {
    let mut text = format!("{:WIDTH$}  ns/packet  median  instructions  the papers count\n", "law");
    for Cost { law, ns, instructions, operations } in laws {
        let shown = instructions.map_or("-".to_string(), |n| format!("{n:.0}"));
        let _ = writeln!(
            text,
            "{law:WIDTH$} {:10.1} {:7.1}  {shown:>12}  {operations}",
            ns.least, ns.median
        );
    }
    if laws.iter().any(|law| law.instructions.is_none()) {
        text +=
            "\nInstructions are counted where valgrind is installed: apt-get install valgrind\n";
    }
    let _ = writeln!(
        text,
        "\nMinimum and median of {rounds} batches. A multiplication that depends on the one before took {:.2} and\n\
         {:.2} ns in the same period; if another run differs in this, the clock or the load differed.",
        step.least, step.median
    );
    text += "\nOne arrival and one departure at a port of 1 Gbit/s, timers included. Laws without\n\
             a port are not listed. The evaluation that finds JetMax the cheapest compares JetMax\n\
             with XCP, RCP and PIQI-RCP; EMKC, MaxNet and DCTCP are cheaper still.\n";
    text
}

/// Passes packets through the port of a law, or past it, while callgrind counts.
pub(crate) fn pass(law: &str, by: bool) -> Exit {
    let ours = || Bench::new(&LawSet::default(), ratewire_laws::find(law)?);
    let mut bench = match ours().map_or_else(|| of_file(law), Ok) {
        Ok(bench) => bench,
        Err(exit) => return exit,
    };
    let pass = if by { Bench::pass_by } else { Bench::pass };
    pass(&mut bench, COUNTED);
    Exit::Done
}

/// Time of batches, in nanoseconds a packet.
#[derive(Serialize)]
struct Spread {
    least: f64,
    median: f64,
}

impl Spread {
    /// Difference of the batches `with` and `without` a port, in nanoseconds a packet.
    fn of(mut with: Vec<f64>, mut without: Vec<f64>, batch: u64) -> Spread {
        for times in [&mut with, &mut without] {
            times.sort_by(f64::total_cmp);
        }
        let at = |n: usize| (with[n] - without[n]).max(0.0) / batch as f64;
        Spread { least: at(0), median: at(with.len() / 2) }
    }
}

/// Times of a packet at each port, and of a multiplication measured in the same period.
fn nanoseconds(benches: &mut [(String, Bench)], rounds: u32) -> (Vec<Spread>, Spread) {
    let time = |pass: &mut dyn FnMut()| {
        let start = Instant::now();
        pass();
        start.elapsed().as_secs_f64() * 1e9
    };
    let mut steps = Vec::new();
    let mut times = vec![(Vec::new(), Vec::new()); benches.len()];
    for _ in 0..rounds {
        steps.push(time(&mut || multiply(BATCH)));
        for ((_, bench), (with, without)) in benches.iter_mut().zip(&mut times) {
            with.push(time(&mut || bench.pass(BATCH)));
            without.push(time(&mut || bench.pass_by(BATCH)));
        }
    }
    let spreads = times.into_iter().map(|(with, without)| Spread::of(with, without, BATCH));
    (spreads.collect(), Spread::of(steps, vec![0.0; rounds as usize], BATCH))
}

/// Multiplications that each depend on the one before.
fn multiply(times: u64) {
    let mut n = black_box(0x9e37_79b9_7f4a_7c15_u64);
    for _ in 0..times {
        n = n.wrapping_mul(n | 1);
    }
    black_box(n);
}

/// Instructions a packet, if callgrind is installed.
fn instructions(law: &str) -> Option<f64> {
    let count = |way: &[&str]| {
        let output = Command::new("valgrind")
            .args(["--tool=callgrind", "--callgrind-out-file=/dev/null"])
            .arg(std::env::current_exe().ok()?)
            .args(["laws", "--cost-of", law])
            .args(way)
            .output()
            .ok()
            .filter(|output| output.status.success())?;
        let text = String::from_utf8_lossy(&output.stderr).into_owned();
        let line = text.lines().find(|line| line.contains("refs:"))?;
        line.rsplit(' ').next()?.replace(',', "").parse::<f64>().ok()
    };
    Some((count(&[])? - count(&["--by"])?) / COUNTED as f64)
}

/// A port and the headers of a flow of its law.
struct Bench {
    operations: &'static str,
    port: AnyPort,
    headers: Vec<Header>,
    now: Time,
    timer: Time,
    marks: bool,
}

impl Bench {
    fn new(laws: &LawSet, info: &LawInfo) -> Option<Bench> {
        let law = laws.make(info.name, &[]).ok()?;
        let link =
            LinkContext { rate: RATE, delay: Duration::from_millis(10), id: 1, draw: Draw::new(0) };
        let port = law.port(&link)?;
        let timer = port.next_timer();
        let headers = Vec::new();
        let mut bench = Bench {
            operations: info.operations,
            port,
            headers,
            now: Time::ZERO,
            timer,
            marks: law.marks(),
        };
        bench.headers = bench.talk(&law);
        Some(bench)
    }

    /// Runs a flow through the port until enough headers have been sent that look as in operation.
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
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_table_says_where_instructions_are_missing() {
        let ns = || Spread { least: 1.25, median: 2.0 };
        let cost = |instructions| Cost {
            law: "xcp".into(),
            ns: ns(),
            instructions,
            operations: "3 additions",
        };
        let costs = |all: &[Option<f64>]| Costs {
            laws: all.iter().map(|instructions| cost(*instructions)).collect(),
            multiplication_ns: ns(),
        };
        let text = table(&costs(&[Some(40.4), None]), 2);
        assert!(text.contains("            40  3 additions\n"), "{text}");
        assert!(
            text.contains("             -  3 additions\n") && text.contains("valgrind"),
            "{text}"
        );
        assert!(!table(&costs(&[Some(40.4)]), 2).contains("valgrind"));
    }
}
