//! Every law in the registry keeps its head whatever happens, in whatever order: no panic, a window of
//! at least a packet, a pace that can be used.
//!
//! Packets pass a port and a sink of the same law, so that the headers that come back are what the law
//! itself makes of the same wild events.

use proptest::prelude::*;
use proptest::test_runner::FileFailurePersistence;

use ratewire_laws::{
    Acked, AnyLaw, AnyPort, AnySink, AnySource, Congestion, FlowContext, Header, LinkContext,
    PortQueue, Sending, Signal, list,
};
use ratewire_units::{Bytes, Duration, Rate, Time};

const FLOW: FlowContext = FlowContext {
    mss: Bytes::new(1460),
    packet: Bytes::new(1500),
    line_rate: Rate::from_mbps(10_000),
};

/// Larger than any path holds: what a window may come to, unless it is unlimited by its options.
const ABSURD: Bytes = Bytes::new(1 << 62);

/// Options that switch on what is off by default.
const VARIANTS: &[(&str, &[(&str, &str)])] = &[
    ("newreno", &[("pacing", "true"), ("hystart", "true"), ("initial_ssthresh", "20 packets")]),
    ("newreno", &[("abc", "inf"), ("initial_window", "1 packets"), ("initial_ssthresh", "0 B")]),
    ("newreno", &[("initial_window", "0 B"), ("idle_restart", "false")]),
    ("cubic", &[("pacing", "true"), ("fast_convergence", "false")]),
    ("cubic", &[("hystart", "false"), ("c", "1000000"), ("beta", "0.01"), ("abc", "inf")]),
    ("cubic", &[("c", "0.000001"), ("beta", "0.99"), ("initial_ssthresh", "1 packets")]),
    (
        "bbr",
        &[("offload", "false"), ("initial_window", "0 B"), ("loss_thresh", "0"), ("beta", "1")],
    ),
    ("bbr", &[("loss_thresh", "0.5"), ("headroom", "0.9"), ("probe_rtt_interval", "0 s")]),
    ("bbr", &[("probe_wait", "0 s"), ("probe_rtt_duration", "0 s"), ("min_rtt_window", "0 s")]),
    ("dctcp", &[("pacing", "true"), ("g", "1"), ("initial_alpha", "0"), ("threshold", "0 B")]),
    ("abc", &[("fallback", "none"), ("additive", "100"), ("eta", "0"), ("queue_delay", "0 s")]),
    ("abc", &[("capacity", "0 bit/s"), ("delta", "1 us"), ("window", "1 us"), ("additive", "0")]),
    ("hpcc", &[("base_rtt", "10 us"), ("max_stage", "0"), ("flows", "1"), ("eta", "0.01")]),
    ("hpcc", &[("initial_window", "0 B"), ("eta", "1"), ("after_loss", "ignore")]),
    ("xcp", &[("pacing", "false"), ("throughput", "outstanding"), ("after_loss", "stay-reno")]),
    ("xcp", &[("throughput", "cwnd"), ("rtt_zero", "count"), ("cap_to_receive_window", "false")]),
    ("rcp", &[("capacity", "0 bit/s"), ("min_packets", "1000000"), ("after_loss", "ignore")]),
    ("rcp", &[("slot", "1 us"), ("initial_rate", "0"), ("probe", "1 us"), ("desired", "1 bit/s")]),
    ("piqi-rcp", &[("proportional", "1"), ("integral", "10"), ("ramp", "10"), ("fall", "ramp")]),
    ("piqi-rcp", &[("ramp", "0"), ("after_loss", "ignore"), ("initial_rtt", "1 us")]),
    ("xcp", &[("after_loss", "ignore"), ("queue_measure", "mean"), ("rtt_zero", "ignore")]),
    ("jetmax", &[("tau", "4"), ("after_loss", "ignore"), ("initial_rate", "0 bit/s")]),
    ("jetmax", &[("interval", "1 us"), ("longest_gap", "1 us"), ("capacity", "0 bit/s")]),
    ("emkc", &[("beta", "4"), ("alpha", "0 bit/s"), ("after_loss", "ignore")]),
    ("emkc", &[("alpha", "1000 Tbit/s"), ("interval", "1 us"), ("longest_gap", "100 s")]),
    ("maxnet", &[("x_max", "1 bit/s"), ("k", "1000"), ("after_loss", "ignore")]),
    ("maxnet", &[("floor", "zero"), ("capacity", "0 bit/s"), ("interval", "10 s")]),
];

#[derive(Clone, Debug)]
struct Event {
    after: u64,
    what: What,
    /// Bytes: a packet's size, or what is acknowledged, outstanding, allowed, queued.
    sizes: [u64; 4],
    rtt: Option<u64>,
    srtt: u64,
    rto: u64,
    limited: bool,
    in_recovery: bool,
}

#[derive(Clone, Copy, Debug)]
enum What {
    Send,
    Ack,
    Congestion(Signal),
    Recovered,
    Timer,
    Rate,
}

/// Zero, ordinary, and as large as can be.
fn wild(ordinary: u64) -> impl Strategy<Value = u64> {
    prop_oneof![
        2 => Just(0),
        6 => 1..ordinary,
        1 => any::<u64>(),
        1 => Just(u64::MAX),
    ]
}

fn what() -> impl Strategy<Value = What> {
    prop_oneof![
        6 => Just(What::Send),
        6 => Just(What::Ack),
        1 => Just(What::Congestion(Signal::Loss)),
        1 => Just(What::Congestion(Signal::Mark)),
        1 => Just(What::Congestion(Signal::Timeout)),
        1 => Just(What::Recovered),
        2 => Just(What::Timer),
        1 => Just(What::Rate),
    ]
}

fn event() -> impl Strategy<Value = Event> {
    const SECOND: u64 = 1_000_000_000_000;
    let size = || wild(100_000);
    (
        prop_oneof![9 => 0..SECOND, 1 => 0..1_000_000 * SECOND],
        what(),
        [size(), size(), size(), size()],
        proptest::option::of(wild(SECOND)),
        wild(SECOND),
        wild(SECOND),
        any::<bool>(),
        any::<bool>(),
    )
        .prop_map(|(after, what, sizes, rtt, srtt, rto, limited, in_recovery)| Event {
            after,
            what,
            sizes,
            rtt,
            srtt,
            rto,
            limited,
            in_recovery,
        })
}

struct Flow {
    source: AnySource,
    port: Option<AnyPort>,
    sink: Option<AnySink>,
    now: Time,
    cumulative: u64,
    next: u64,
}

impl Flow {
    fn new(law: &AnyLaw) -> Flow {
        let link =
            LinkContext { rate: Rate::from_mbps(100), delay: Duration::from_millis(10), id: 1 };
        Flow {
            source: law.source(&FLOW),
            port: law.port(&link),
            sink: law.sink(&FLOW),
            now: Time::ZERO,
            cumulative: 0,
            next: 0,
        }
    }

    fn happen(&mut self, event: &Event) {
        self.now += Duration::from_ps(event.after);
        let now = self.now;
        let [size, in_flight, was_in_flight, receive_window] = event.sizes.map(Bytes::new);
        let queue = PortQueue { bytes: was_in_flight, packets: event.sizes[2] as u32 };
        let srtt = Duration::from_ps(event.srtt);
        match event.what {
            What::Send => {
                self.next = self.next.saturating_add(size.get());
                let rto = Duration::from_ps(event.rto);
                let limited = event.limited;
                let packet = size;
                let mut header = self.source.on_send(&Sending {
                    now,
                    packet,
                    in_flight,
                    receive_window,
                    srtt,
                    rto,
                    limited,
                });
                if let Some(port) = &mut self.port {
                    port.on_arrival(now, size, &mut header, queue);
                    port.on_departure(now, size, &mut header, queue);
                }
                if let Some(sink) = &mut self.sink {
                    sink.on_data(now, &header);
                }
            }
            What::Ack => {
                self.cumulative = self.cumulative.saturating_add(size.get()).min(self.next);
                let header = self.sink.as_mut().map_or(Header::None, |sink| sink.on_ack(now));
                let acked = Acked {
                    now,
                    bytes: size,
                    in_flight,
                    was_in_flight,
                    rtt: event.rtt.map(Duration::from_ps),
                    srtt,
                    cumulative: self.cumulative,
                    next: self.next,
                    receive_window,
                    limited: event.limited,
                    in_recovery: event.in_recovery,
                    marked: event.in_recovery,
                    lost: size,
                };
                self.source.on_ack(&acked, &header);
            }
            What::Congestion(signal) => {
                self.source.on_congestion(&Congestion { now, signal, in_flight, srtt });
            }
            What::Recovered => self.source.on_recovered(now),
            What::Timer => {
                if let Some(port) = &mut self.port {
                    self.now = self.now.max(port.next_timer());
                    port.on_timer(self.now, queue);
                }
            }
            What::Rate => {
                if let Some(port) = &mut self.port {
                    port.on_rate_change(now, Rate::from_bps(event.sizes[0]));
                }
            }
        }
    }
}

fn keeps_its_head(law: &AnyLaw, events: &[Event]) -> Result<(), TestCaseError> {
    let name = law.info().name;
    let mut flow = Flow::new(law);
    for (i, event) in events.iter().enumerate() {
        flow.happen(event);
        let window = flow.source.window();
        prop_assert!(window >= FLOW.mss, "{name}: window {window} after event {i}");
        prop_assert!(window < ABSURD || name == "fixed", "{name}: window {window} after event {i}");
        if let Some(pace) = flow.source.pacing() {
            let pace = pace.get();
            prop_assert!(pace.is_finite() && pace >= 0.0, "{name}: pace {pace} after event {i}");
        }
    }
    Ok(())
}

proptest! {
    #![proptest_config(ProptestConfig {
        cases: 400,
        failure_persistence: Some(Box::new(FileFailurePersistence::Off)),
        ..ProptestConfig::default()
    })]

    #[test]
    fn whatever_happens_every_law_keeps_its_head(
        events in proptest::collection::vec(event(), 1..120),
    ) {
        for info in list() {
            let law = AnyLaw::new(info.name, &[]).unwrap();
            keeps_its_head(&law, &events)?;
        }
        for (name, options) in VARIANTS {
            let law = AnyLaw::new(name, options).unwrap();
            keeps_its_head(&law, &events)?;
        }
    }
}
