//! Writes a page from made-up data that look like a run's, for work on the page.
//!
//! `cargo run -p ratewire-report --example sample_page -- OUT.html [VARIANT]`, where VARIANT is one
//! of `laws` (the default), `single`, `mixed`, `many`, `fat-tree`, `abilene`, `pairs`, `chain`,
//! `star`, `mesh`. The model is a fluid one of a single queue; it is no simulator.

#[path = "sample/nets.rs"]
mod nets;

use std::collections::BTreeMap;

use ratewire_report::{
    CheckedExpectation, Collector, Completion, Conservation, EngineFigures, FlowInfo, FlowRow,
    LinkRow, Page, Run, RunInfo, Summary, html, table,
};
use ratewire_statistics::jain_index;
use ratewire_units::{Bytes, Duration, Throughput, Time};

const CAPACITY: f64 = 100e6;
const PACKET: f64 = 1500.0;
const LIMIT: f64 = 250.0;
const STEP: f64 = 0.002;
const SAMPLE: usize = 10;

fn main() {
    let mut args = std::env::args().skip(1);
    let out = args.next().unwrap_or_else(|| "sample.html".into());
    let variant = args.next().unwrap_or_else(|| "laws".into());
    let (laws, flows): (&[&str], u32) = match variant.as_str() {
        "single" | "mixed" => (&["xcp"], 6),
        "many" => (&["xcp", "cubic", "newreno"], 60),
        _ => (&["xcp", "cubic", "newreno"], 4),
    };
    let runs: Vec<Run> = laws.iter().map(|law| run(law, flows, &variant)).collect();
    print!("{}", table::render(&runs, &table::TableOptions::default()));
    let claim = |law: &str, claim: &str, measured: &str, bound: &str, passed| CheckedExpectation {
        law: law.into(),
        claim: claim.into(),
        measured: measured.into(),
        bound: bound.into(),
        passed,
        source: Some("XCP paper, section 5.1, single bottleneck".into()),
        ..CheckedExpectation::default()
    };
    let page = Page {
        runs,
        expectations: vec![
            claim("xcp", "utilisation of bottleneck, 5 s .. 30 s", "0.986", "at least 0.98", true),
            claim("xcp", "drops", "0 packets", "at most 0 packets", true),
            claim("newreno", "Jain’s index of long flows", "0.871", "at least 0.9", false),
        ],
        scenario_text: Some(SCENARIO.into()),
        ..Page::default()
    };
    let text = html::render(&page);
    println!("{} bytes to {out}", text.len());
    if let Err(error) = std::fs::write(&out, text) {
        eprintln!("cannot write {out}: {error}");
        std::process::exit(1);
    }
}

const SCENARIO: &str = r#"name     = "Four flows join a 100 Mb/s bottleneck"
duration = "30 s"
seed     = 1
law      = "xcp"

[topology]
kind       = "dumbbell"
pairs      = 4
bottleneck = { rate = "100 Mbit/s", delay = "20 ms", queue = "250 packets" }
access     = { rate = "1 Gbit/s", delay = "1 ms" }

[[flow]]
from = "s1"; to = "d1"; start = "0 s"
"#;

/// A generator good enough for made-up data.
struct Noise(u64);

impl Noise {
    fn next(&mut self) -> f64 {
        self.0 =
            self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 40) as f64 / f64::from(1_u32 << 24)
    }
}

struct Flow {
    window: f64,
    start: f64,
    base: f64,
    at_loss: f64,
    lost_at: f64,
    delivered: f64,
    again: f64,
    rtt_sum: f64,
    rtt_least: f64,
}

fn run(law: &str, count: u32, variant: &str) -> Run {
    let mut info = nets::info(variant, count);
    (info.scenario, info.law) = ("Four flows join a 100 Mb/s bottleneck".into(), law.into());
    (info.seed, info.version) = (1, env!("CARGO_PKG_VERSION").into());
    (info.duration, info.sampling) = (Duration::from_secs(30), Duration::from_millis(20));
    for (i, flow) in info.flows.iter_mut().enumerate() {
        flow.law = if variant == "mixed" && i % 2 == 1 { "cubic".into() } else { law.into() };
    }
    let mut collector = Collector::new(&info);
    let mut noise = Noise(7);
    let spacing = 12.0 / f64::from(count);
    let mut flows: Vec<Flow> = (0..count)
        .map(|i| Flow {
            window: 3.0,
            start: f64::from(i) * spacing,
            base: 0.044 + 0.002 * f64::from(i % 8),
            at_loss: 100.0,
            lost_at: -1.0,
            delivered: 0.0,
            again: 0.0,
            rtt_sum: 0.0,
            rtt_least: f64::INFINITY,
        })
        .collect();
    let (mut queue, mut history, mut drops) = (0.0_f64, Vec::new(), 0_u64);
    let (mut busy, mut most, mut total) = (0.0, 0.0_f64, 0.0);
    let mut interval = (0.0, 0.0_f64, 0.0, 0_u64);
    let mut bytes = vec![(0.0, 0.0); flows.len()];
    for step in 0..15_000_usize {
        let now = step as f64 * STEP;
        let active = flows.iter().filter(|f| f.start <= now).count().max(1) as f64;
        let wait = queue * PACKET * 8.0 / CAPACITY;
        let rates: Vec<f64> = flows
            .iter()
            .map(|f| if f.start <= now { f.window * PACKET * 8.0 / (f.base + wait) } else { 0.0 })
            .collect();
        let offered: f64 = rates.iter().sum();
        let served = if queue > 0.5 { CAPACITY } else { offered.min(CAPACITY) };
        queue = (queue + (offered - CAPACITY) / 8.0 / PACKET * STEP).max(0.0);
        let full = queue >= LIMIT;
        let victim = if full { ((noise.next() * active) as usize).min(flows.len() - 1) } else { 0 };
        queue = queue.min(LIMIT);
        for (i, flow) in flows.iter_mut().enumerate().filter(|(_, f)| f.start <= now) {
            let rtt = flow.base + wait;
            match info.flows[i].law.as_str() {
                "xcp" => {
                    let fair = CAPACITY * 0.985 / active * rtt / PACKET / 8.0;
                    let spare = if offered < CAPACITY { 1.0 } else { -queue / LIMIT };
                    flow.window += (fair - flow.window) * STEP / rtt * 0.35 + spare * STEP * 2.0;
                    flow.window += (noise.next() - 0.5) * 0.2;
                }
                "cubic" => {
                    let k = libm::cbrt(flow.at_loss * 0.3 / 0.4);
                    let t = now - flow.lost_at - k;
                    let target = 0.4 * t * t * t + flow.at_loss;
                    let slow_start = flow.lost_at < 0.0;
                    flow.window += if slow_start {
                        flow.window * STEP / rtt
                    } else {
                        (target - flow.window) * 0.05
                    };
                }
                _ if flow.lost_at < 0.0 => flow.window += flow.window * STEP / rtt,
                _ => flow.window += STEP / rtt,
            }
            if full && (i == victim || flow.lost_at < 0.0) && now - flow.lost_at > rtt {
                let keep = if info.flows[i].law == "cubic" { 0.7 } else { 0.5 };
                (flow.at_loss, flow.lost_at) = (flow.window, now);
                flow.window *= keep;
                drops += 3;
                interval.3 += 3;
                bytes[i].1 += 3.0 * PACKET;
            }
            flow.window = flow.window.max(2.0);
            bytes[i].0 += rates[i] / offered.max(1.0) * served / 8.0 * STEP;
            flow.rtt_sum += rtt;
            flow.rtt_least = flow.rtt_least.min(rtt);
        }
        (busy, total, most) = (busy + served, total + queue, most.max(queue));
        history.push(queue);
        interval = (interval.0 + queue, interval.1.max(queue), interval.2 + served, interval.3);
        if (step + 1).is_multiple_of(SAMPLE) {
            let at = Time::ZERO + Duration::from_millis(20 * ((step + 1) / SAMPLE) as u64);
            sample(&mut collector, &info, at, &mut flows, &mut bytes, wait);
            links(&mut collector, &info, at, interval);
            interval = (0.0, 0.0, 0.0, 0);
        }
    }
    let summary = summarise(&info, &flows, history, (busy, total, most, drops), law);
    complete(&mut collector, law, &mut noise);
    let collected = collector.finish();
    Run {
        summary: Summary { completions: collected.completion_summary.clone(), ..summary },
        info,
        collected,
    }
}

fn sample(
    collector: &mut Collector,
    info: &RunInfo,
    at: Time,
    flows: &mut [Flow],
    bytes: &mut [(f64, f64)],
    wait: f64,
) {
    for (i, flow) in flows.iter_mut().enumerate().filter(|(_, f)| f.start < at.secs()) {
        let (delivered, again) = std::mem::take(&mut bytes[i]);
        flow.delivered += delivered;
        flow.again += again;
        let interval = Duration::from_millis(20);
        let window = Bytes::new((flow.window * PACKET) as u64);
        let pacing = (info.flows[i].law == "xcp").then(|| Throughput::new(delivered / 0.02 * 1.01));
        collector.flow(&FlowRow {
            at,
            interval,
            flow: i as u32,
            goodput: Throughput::new(delivered / interval.secs()),
            cwnd: window,
            in_flight: Some(Bytes::new((flow.window * PACKET * 0.96) as u64)),
            receive_window: Bytes::MAX,
            srtt: Duration::from_secs_f64(flow.base + wait),
            pacing,
            retransmitted: Bytes::new(again as u64),
            at_link: None,
        });
    }
}

fn links(
    collector: &mut Collector,
    info: &RunInfo,
    at: Time,
    (sum, most, served, drops): (f64, f64, f64, u64),
) {
    for (link, l) in (0..).zip(&info.topology.links) {
        let share = nets::share(link, l);
        let queue = if l.bottleneck { 1.0 } else { 0.01 * share };
        collector.link(&LinkRow {
            at,
            interval: Duration::from_millis(20),
            link,
            utilisation: served / SAMPLE as f64 / CAPACITY * share,
            throughput: Throughput::new(served / SAMPLE as f64 / 8.0),
            queue_packets_mean: sum / SAMPLE as f64 * queue,
            queue_packets_max: (most * queue) as u32,
            queue_bytes_mean: sum / SAMPLE as f64 * PACKET * queue,
            drops: if l.bottleneck { drops } else { 0 },
            marks: 0,
            paused: 0.0,
        });
    }
}

fn summarise(
    info: &RunInfo,
    flows: &[Flow],
    mut history: Vec<f64>,
    (busy, total, most, drops): (f64, f64, f64, u64),
    law: &str,
) -> Summary {
    let steps = history.len() as f64;
    history.sort_by(f64::total_cmp);
    let p99 = history[history.len() * 99 / 100];
    let mut summary = Summary::of(info);
    let sum: f64 = flows.iter().map(|f| f.delivered / (30.0 - f.start)).sum();
    for (s, f) in summary.flows.iter_mut().zip(flows) {
        s.start_s = f.start;
        s.delivered_bytes = f.delivered as u64;
        s.goodput_bps = f.delivered * 8.0 / (30.0 - f.start);
        s.share = f.delivered / (30.0 - f.start) / sum;
        (s.retransmitted_bytes, s.retransmitted_packets) =
            (f.again as u64, (f.again / PACKET) as u64);
        s.rtt_mean_s = Some(f.rtt_sum / ((30.0 - f.start) / STEP));
        s.rtt_min_s = Some(f.rtt_least);
    }
    for (l, link) in summary.links.iter_mut().zip(&info.topology.links) {
        let share = nets::share(l.link, link);
        l.utilisation = busy / steps / CAPACITY * share * if law == "newreno" { 0.95 } else { 1.0 };
        l.throughput_bps = busy / steps * share;
        let queue = if l.bottleneck { 1.0 } else { 0.01 * share };
        (l.queue_packets_mean, l.queue_packets_p99) = (total / steps * queue, p99 * queue);
        l.queue_packets_max = (most * queue) as u64;
        (l.queue_bytes_mean, l.queue_bytes_p99) =
            (l.queue_packets_mean * PACKET, l.queue_packets_p99 * PACKET);
        l.queue_bytes_max = l.queue_packets_max * 1500;
        if l.bottleneck && drops > 0 {
            l.drops = BTreeMap::from([("queue full".to_string(), drops)]);
        }
    }
    let goodputs: Vec<f64> = summary.flows.iter().map(|f| f.goodput_bps).collect();
    summary.jain_index = jain_index(&goodputs);
    let delivered = flows.iter().map(|f| (f.delivered / PACKET) as u64).sum::<u64>();
    summary.conservation = Conservation {
        sent_packets: delivered * 2 + drops + 420,
        duplicated_packets: 0,
        delivered_packets: delivered * 2,
        dropped_packets: drops,
        in_flight_packets: 420,
    };
    summary.engine = EngineFigures { events: delivered * 9, data_packets_delivered: delivered };
    summary
}

/// Short flows beside the long ones.
fn complete(collector: &mut Collector, law: &str, noise: &mut Noise) {
    let slow = match law {
        "xcp" => 1.0,
        "cubic" => 1.9,
        _ => 2.4,
    };
    for flow in 0..3_000_u64 {
        let size = (3e3 / libm::pow(1.0 - noise.next(), 0.8)).min(5e7);
        let ideal = 0.044 * libm::ceil(libm::log(size / 15e3 + 2.0) / 0.69) + size * 8.0 / CAPACITY;
        let luck = 1.0 + 0.6 * slow * libm::pow(noise.next(), 3.0);
        let took = ideal * luck * (0.9 + 0.3 * slow * noise.next());
        collector.completion(Completion {
            traffic: None,
            flow,
            law: law.into(),
            size: Bytes::new(size as u64),
            start: Time::ZERO + Duration::from_millis(10 * flow),
            took: Duration::from_secs_f64(took),
            ideal: Some(Duration::from_secs_f64(ideal * 0.9)),
        });
    }
}

/// A flow and its name.
fn flow(from: u32, to: u32, i: u32) -> FlowInfo {
    FlowInfo { name: format!("s{} → d{}", i + 1, i + 1), from, to, ..FlowInfo::default() }
}
