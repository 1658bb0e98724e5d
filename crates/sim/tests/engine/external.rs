//! A law behind a pointer gives the same runs as the same law in the enum.

use std::sync::{Arc, Mutex};

use ratewire_laws::{
    Acked, AnyLaw, Congestion, FlowContext, Law, LawInfo, LawSet, LinkContext, Named, NoHeader,
    NoPort, NoSink, OptionError, Options, Port, PortQueue, Reason, Sending, Source,
};
use ratewire_net::spec::Limit;
use ratewire_sim::outcome::Outcome;
use ratewire_sim::record::NoRecorder;
use ratewire_sim::setup::Follow;
use ratewire_transport::App;
use ratewire_units::{Bytes, Rate, Throughput, Time};

use crate::net::*;
use crate::outside;

/// Three flows through a narrow link, one of them in the other direction; some packets are lost.
fn run(law: AnyLaw, exact_wire: bool) -> (Outcome, Log) {
    let mut net = Net::new(law);
    net.nodes(4);
    net.cable(0, 1, MBPS(50), MS(2));
    let narrow = net.cable(1, 2, MBPS(10), MS(10));
    net.cable(2, 3, MBPS(50), MS(2));
    net.link(narrow).limit = Limit::Packets(3);
    for (i, (from, to)) in [(0, 3), (0, 3), (3, 0)].into_iter().enumerate() {
        let flow = net.flow(from, to, App::unlimited());
        flow.start = secs(i as f64);
        flow.transport.handshake = i == 0;
    }
    net.setup.exact_wire = exact_wire;
    net.setup.sample_interval = Some(MS(100));
    net.setup.follow = Follow { in_turn: true, asked: None };
    net.seconds(5.0).log()
}

#[test]
fn a_law_behind_a_pointer_gives_the_same_runs() {
    let mut outcomes = Vec::new();
    for exact_wire in [false, true] {
        let (inside, log) = run(law("rcp", &[]), exact_wire);
        let (outside, other) = run(outside::law(), exact_wire);
        assert!(inside.packets.dropped > 0 && inside.data_packets_delivered > 3000, "{inside:?}");
        assert_eq!(format!("{inside:?}"), format!("{outside:?}"));
        let explained = |log: &Log| -> Vec<String> {
            let all = log.followed.iter();
            all.map(|one| format!("{:?} {:?} {:?}", one.sent, one.bound(), one.reason)).collect()
        };
        assert!(log.followed.len() > 20, "{}", log.followed.len());
        assert_eq!(explained(&log), explained(&other));
        outcomes.push(format!("{inside:?}"));
    }
    assert_ne!(outcomes[0], outcomes[1], "rates are rounded to 64 B/s on the wire");
}

/// A law whose ports never move their timer, whose senders do not, or divide zero by zero, or whose
/// parts tell of a fault.
#[derive(Clone, Debug)]
struct Broken {
    pace: f64,
    has_port: bool,
    port_timer: Time,
    source_timer: Time,
    fault: Option<&'static str>,
}

/// Breaks no rule.
const SOUND: Broken = Broken {
    pace: 1e5,
    has_port: false,
    port_timer: Time::NEVER,
    source_timer: Time::NEVER,
    fault: None,
};

impl Named for Broken {
    const INFO: LawInfo = LawInfo {
        name: "broken",
        title: "Broken",
        summary: "breaks rules",
        explanation: "",
        operations: "",
        options: &[],
    };

    fn from_options(_: &Options) -> Result<Broken, OptionError> {
        Ok(SOUND)
    }
}

impl Law for Broken {
    type Header = NoHeader;
    type Source = Broken;
    type Port = Broken;
    type Sink = NoSink;

    fn source(&self, _: &FlowContext) -> Broken {
        self.clone()
    }
    fn port(&self, _: &LinkContext) -> Option<Broken> {
        self.has_port.then(|| self.clone())
    }
}

impl Source for Broken {
    type Header = NoHeader;

    fn on_send(&mut self, _: &Sending) -> Option<NoHeader> {
        None
    }
    fn on_ack(&mut self, _: &Acked, _: Option<&NoHeader>) {}
    fn on_congestion(&mut self, _: &Congestion) {}
    fn window(&self) -> Bytes {
        Bytes::new(20_000)
    }
    fn pacing(&self) -> Option<Throughput> {
        Some(Throughput::new(self.pace))
    }
    fn next_timer(&self) -> Time {
        self.source_timer
    }
    fn reason(&self) -> Reason {
        Reason::new("sends at its pace", [])
    }
    fn fault(&self) -> Option<String> {
        self.fault.filter(|_| !self.has_port).map(str::to_string)
    }
}

impl Port for Broken {
    type Header = NoHeader;

    fn on_arrival(&mut self, _: Time, _: Bytes, _: Option<&mut NoHeader>, _: PortQueue) {}
    fn on_departure(&mut self, _: Time, _: Bytes, _: Option<&mut NoHeader>, _: PortQueue) {}
    fn next_timer(&self) -> Time {
        self.port_timer
    }
    fn on_timer(&mut self, _: Time, _: PortQueue) {}
    fn acts_on_arrival_only(&self) -> bool {
        // Not true where it has a timer, which must be called all the same.
        true
    }
    fn on_rate_change(&mut self, _: Time, _: Rate) {}
    fn reason(&self) -> Reason {
        Reason::new("nothing", [])
    }
    fn fault(&self) -> Option<String> {
        self.fault.map(str::to_string)
    }
}

/// Why a run of a flow under a broken law ends.
fn broken(law: Broken) -> Result<(), String> {
    let mut laws = LawSet::default();
    laws.register_as(&Broken::INFO, move |_| Ok(law.clone())).unwrap();
    let mut net = Net::pair(laws.make("broken", &[]).unwrap(), MBPS(10), MS(5));
    net.flow(0, 1, App::unlimited());
    let done = ratewire_sim::run(&net.setup, &mut NoRecorder);
    done.map(|_| ()).map_err(|wrong| wrong.to_string())
}

#[test]
fn a_law_that_breaks_a_rule_ends_the_run_with_a_remedy() {
    assert_eq!(broken(SOUND), Ok(()));
    let timer = broken(Broken { has_port: true, port_timer: secs(0.02), ..SOUND }).unwrap_err();
    assert!(timer.starts_with("law \"broken\": the timer of the port at link \"n"), "{timer}");
    assert!(timer.contains("Port::next_timer"), "{timer}");
    let timer = broken(Broken { source_timer: secs(0.02), ..SOUND }).unwrap_err();
    assert!(timer.starts_with("law \"broken\", flow \"f0\", noticed at "), "{timer}");
    assert!(timer.contains("Source::next_timer"), "{timer}");
    for pace in [f64::NAN, f64::INFINITY, -1.0] {
        let pace = broken(Broken { pace, ..SOUND }).unwrap_err();
        assert!(pace.starts_with("law \"broken\": the pace of flow \"f0\" at"), "{pace}");
    }
    let fault = Broken { fault: Some("divides by zero"), ..SOUND };
    let at = |place: &str, told: String| {
        assert!(told.starts_with(&format!("law \"broken\", {place}")), "{told}");
        assert!(told.ends_with(": divides by zero"), "{told}");
    };
    at("link \"n", broken(Broken { has_port: true, ..fault.clone() }).unwrap_err());
    at("flow \"f0\"", broken(fault).unwrap_err());
}

/// Notes when its timer is called: every 30 ms, for the first time at once.
#[derive(Debug)]
struct Ticking {
    next: Time,
    ticks: Arc<Mutex<Vec<Time>>>,
}

impl Law for Ticking {
    type Header = NoHeader;
    type Source = Ticking;
    type Port = NoPort;
    type Sink = NoSink;

    fn source(&self, _: &FlowContext) -> Ticking {
        Ticking { next: Time::ZERO, ticks: self.ticks.clone() }
    }
}

impl Source for Ticking {
    type Header = NoHeader;

    fn on_send(&mut self, _: &Sending) -> Option<NoHeader> {
        None
    }
    fn on_ack(&mut self, _: &Acked, _: Option<&NoHeader>) {}
    fn on_congestion(&mut self, _: &Congestion) {}
    fn next_timer(&self) -> Time {
        self.next
    }
    fn on_timer(&mut self, now: Time) {
        self.ticks.lock().unwrap().push(now);
        self.next = now + MS(30);
    }
    fn window(&self) -> Bytes {
        Bytes::new(20_000)
    }
    fn reason(&self) -> Reason {
        Reason::new("a set window", [])
    }
}

#[test]
fn a_source_is_called_at_its_times_while_its_flow_is_open() {
    let ticks = Arc::new(Mutex::new(Vec::new()));
    let mut laws = LawSet::default();
    let noted = ticks.clone();
    let info = &LawInfo { name: "ticking", ..Broken::INFO };
    laws.register_as(info, move |_| Ok(Ticking { next: Time::ZERO, ticks: noted.clone() }))
        .unwrap();
    let mut net = Net::pair(laws.make("ticking", &[]).unwrap(), MBPS(10), MS(5));
    let flow = net.flow(0, 1, App::unlimited());
    flow.start = secs(1.0);
    flow.stop = Some(secs(1.1));
    // Ten milliseconds there and back, before the handshake is over.
    flow.transport.handshake = true;
    ratewire_sim::run(&net.setup, &mut NoRecorder).unwrap();
    let ticks = ticks.lock().unwrap();
    let gaps: Vec<_> = ticks.windows(2).map(|pair| pair[1].since(pair[0])).collect();
    assert!(ticks[0] > secs(1.01) && ticks[0] < secs(1.02), "{ticks:?}");
    assert!(!gaps.is_empty() && gaps.iter().all(|gap| *gap == MS(30)), "{ticks:?}");
    assert!(*ticks.last().unwrap() < secs(1.2), "{ticks:?}");
}
