//! Builds small networks and logs their runs.

use std::ops::ControlFlow;

use ratewire_laws::AnyLaw;
use ratewire_net::CapturedFrame;
use ratewire_net::spec::*;
use ratewire_sim::outcome::Outcome;
use ratewire_sim::record::*;
use ratewire_sim::setup::*;
use ratewire_transport::{App, TransportConfig};
use ratewire_units::{Bytes, Duration, Rate, Time};

pub const MS: fn(u64) -> Duration = Duration::from_millis;
pub const MBPS: fn(u64) -> Rate = Rate::from_mbps;

/// The discipline called `name`, for full packets of 1000 bytes.
pub fn discipline(name: &str, options: &[(&str, &str)]) -> AnyDiscipline {
    AnyDiscipline::new(name, options, Bytes::new(1000)).unwrap()
}

pub fn secs(s: f64) -> Time {
    Time::ZERO + Duration::from_secs_f64(s)
}

pub fn law(name: &str, options: &[(&str, &str)]) -> AnyLaw {
    AnyLaw::new(name, options).unwrap()
}

/// 1,500-byte packets with 40 bytes of headers, acknowledged one by one, without a handshake.
pub fn transport() -> TransportConfig {
    TransportConfig { handshake: false, ..TransportConfig::default() }
}

/// Payload of `n` full packets.
pub fn packets(n: u64) -> Bytes {
    Bytes::new(1460 * n)
}

#[derive(Clone)]
pub struct Net {
    pub setup: Setup,
}

impl Net {
    /// An empty network whose flows follow this law, for ten seconds.
    pub fn new(law: AnyLaw) -> Net {
        Net { setup: Setup { laws: vec![law], ..Setup::default() } }
    }

    /// Two hosts on one cable: nodes 0 and 1, links 0 there and 1 back.
    pub fn pair(law: AnyLaw, rate: Rate, delay: Duration) -> Net {
        let mut net = Net::new(law);
        net.nodes(2);
        net.cable(0, 1, rate, delay);
        net
    }

    pub fn nodes(&mut self, n: u32) {
        for _ in 0..n {
            let name = format!("n{}", self.setup.network.nodes.len());
            self.setup.network.nodes.push(NodeSpec { name, is_host: true, position: None });
        }
    }

    /// A link each way; returns the number of the first.
    pub fn cable(&mut self, a: u32, b: u32, rate: Rate, delay: Duration) -> u32 {
        let first = self.setup.network.links.len() as u32;
        for (from, to) in [(a, b), (b, a)] {
            self.setup.network.links.push(LinkSpec {
                name: format!("n{from}->n{to}.{first}"),
                from: NodeId(from),
                to: NodeId(to),
                service: Service::Rate(rate),
                delay,
                law: Some(0),
                ..LinkSpec::default()
            });
        }
        first
    }

    pub fn link(&mut self, link: u32) -> &mut LinkSpec {
        &mut self.setup.network.links[link as usize]
    }

    pub fn flow(&mut self, from: u32, to: u32, app: App) -> &mut FlowSpec {
        self.setup.flows.push(FlowSpec {
            name: format!("f{}", self.setup.flows.len()),
            from: NodeId(from),
            to: NodeId(to),
            app,
            transport: transport(),
            ..FlowSpec::default()
        });
        self.setup.flows.last_mut().unwrap()
    }

    /// Traffic from node 0 to node 1.
    pub fn traffic(&mut self, arrivals: Arrivals, sizes: Sizes) -> &mut TrafficSpec {
        self.setup.traffic.push(TrafficSpec {
            fan_in: 1,
            name: format!("t{}", self.setup.traffic.len()),
            pairs: vec![(NodeId(0), NodeId(1), 1.0)],
            arrivals,
            sizes,
            start: Time::ZERO,
            stop: Time::NEVER,
            law: 0,
            transport: transport(),
        });
        self.setup.traffic.last_mut().unwrap()
    }

    pub fn seconds(mut self, s: f64) -> Net {
        self.setup.duration = Duration::from_secs_f64(s);
        self
    }

    pub fn run(&self) -> Outcome {
        ratewire_sim::run(&self.setup, &mut NoRecorder).unwrap()
    }

    pub fn log(&self) -> (Outcome, Log) {
        let mut log = Log::default();
        let outcome = ratewire_sim::run(&self.setup, &mut log).unwrap();
        (outcome, log)
    }
}

/// All reports of a run.
#[derive(Default)]
pub struct Log {
    /// Hash of every call with its arguments.
    pub hash: u64,
    pub started: Vec<(FlowId, Time)>,
    pub flows: Vec<FlowSample>,
    pub links: Vec<LinkSample>,
    pub completed: Vec<FlowCompleted>,
    pub packets: u64,
    pub frames: u64,
    pub arriving: Vec<ArrivingSample>,
    pub followed: Vec<Followed>,
    progress: Time,
}

impl Log {
    fn note(&mut self, call: &impl core::fmt::Debug) {
        for byte in format!("{call:?}").bytes() {
            self.hash = (self.hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3);
        }
    }
}

impl Recorder for Log {
    fn flow_started(&mut self, started: &FlowStarted<'_>) {
        self.note(started);
        self.started.push((started.flow, started.at));
    }
    fn flow_sample(&mut self, sample: &FlowSample) {
        self.note(sample);
        self.flows.push(*sample);
    }
    fn arriving_sample(&mut self, sample: &ArrivingSample) {
        self.note(sample);
        self.arriving.push(*sample);
    }
    fn link_sample(&mut self, sample: &LinkSample) {
        self.note(sample);
        self.links.push(*sample);
    }
    fn flow_completed(&mut self, completed: &FlowCompleted) {
        self.note(completed);
        self.completed.push(*completed);
    }
    fn packet(&mut self, seen: &PacketSeen) {
        self.note(seen);
        self.packets += 1;
    }
    fn frame(&mut self, seen: &CapturedFrame) {
        self.note(seen);
        assert!(seen.at >= self.progress, "told too late: {seen:?} after {}", self.progress);
        self.frames += 1;
    }
    fn followed(&mut self, followed: &Followed) {
        self.note(followed);
        self.followed.push(followed.clone());
    }
    fn progress(&mut self, progress: &Progress) -> ControlFlow<()> {
        self.progress = progress.now;
        ControlFlow::Continue(())
    }
}
