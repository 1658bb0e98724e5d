//! A law behind a pointer gives the same runs as the same law in the enum.

use ratewire_laws::{
    Acked, AnyLaw, Congestion, FlowContext, Law, LawInfo, LawSet, LinkContext, Named, NoHeader,
    NoSink, OptionError, Options, Port, PortQueue, Reason, Sending, Source,
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

/// A law whose ports never move their timer, or whose senders divide zero by zero.
#[derive(Clone, Debug)]
struct Broken {
    pace: f64,
    has_port: bool,
}

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
        Ok(Broken { pace: 1e5, has_port: true })
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
        Bytes::MAX
    }
    fn pacing(&self) -> Option<Throughput> {
        Some(Throughput::new(self.pace))
    }
    fn reason(&self) -> Reason {
        Reason::new("sends at its pace", [])
    }
}

impl Port for Broken {
    type Header = NoHeader;

    fn on_arrival(&mut self, _: Time, _: Bytes, _: Option<&mut NoHeader>, _: PortQueue) {}
    fn on_departure(&mut self, _: Time, _: Bytes, _: Option<&mut NoHeader>, _: PortQueue) {}
    fn next_timer(&self) -> Time {
        secs(0.02)
    }
    fn on_timer(&mut self, _: Time, _: PortQueue) {}
    fn on_rate_change(&mut self, _: Time, _: Rate) {}
    fn reason(&self) -> Reason {
        Reason::new("nothing", [])
    }
}

/// Why a run of a flow under a broken law ends.
fn broken(pace: f64, has_port: bool) -> Result<(), String> {
    let mut laws = LawSet::default();
    laws.register_as(&Broken::INFO, move |_| Ok(Broken { pace, has_port })).unwrap();
    let mut net = Net::pair(laws.make("broken", &[]).unwrap(), MBPS(10), MS(5));
    net.flow(0, 1, App::unlimited());
    let done = ratewire_sim::run(&net.setup, &mut NoRecorder);
    done.map(|_| ()).map_err(|wrong| wrong.to_string())
}

#[test]
fn a_law_that_breaks_a_rule_ends_the_run_with_a_remedy() {
    assert_eq!(broken(1e5, false), Ok(()));
    let timer = broken(1e5, true).unwrap_err();
    assert!(timer.starts_with("law \"broken\": the timer of the port at link \"n"), "{timer}");
    assert!(timer.contains("Port::next_timer"), "{timer}");
    for pace in [f64::NAN, -1.0] {
        let pace = broken(pace, false).unwrap_err();
        assert!(pace.starts_with("law \"broken\": the pace of flow \"f0\" at"), "{pace}");
    }
}
