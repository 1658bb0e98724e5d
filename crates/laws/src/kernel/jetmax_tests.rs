use alloc::format;
use alloc::string::ToString;
use alloc::vec;
use alloc::vec::Vec;

use proptest::prelude::*;
use ratewire_kernel::{JetmaxAnswer, JetmaxHeader};
use ratewire_units::{Bytes, Duration, Rate, Throughput};

use super::jetmax::{JetmaxKernel, JetmaxKernelHeader};
use super::tests::{Flow, arrivals, catch_up, flows, link, made};
use crate::feedback::rig::FLOW;
use crate::jetmax::{Jetmax, JetmaxHeader as Exact};
use crate::law::{Acked, HeaderFormat, Law, MAX_HEADER, Port, PortQueue, Signal, Sink, Source};
use crate::testing::{acked, congestion, sending};

const NO_QUEUE: PortQueue = PortQueue { bytes: Bytes::ZERO, packets: 0 };

fn gap(flow: &Flow) -> f64 {
    flow.size as f64 / flow.rate
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 300, failure_persistence: None, ..ProptestConfig::default() })]

    /// From the same packets both ports give equal rates to flows bound here, and propose equal
    /// rates to others. Tolerances: 0.01 %, because rates have 19 bits; and one packet, because
    /// nanoseconds decide on which side of an interval's end it counts.
    #[test]
    fn jetmax_says_what_the_law_in_rust_says(
        flows in flows(),
        bound in 0_usize..8,
        load in 0.3..3.0_f64,
        (gamma, interval_ms) in (0.7..1.0_f64, 30_u64..100),
    ) {
        let (by_gamma, interval) = (gamma.to_string(), format!("{interval_ms} ms"));
        let set = [("gamma", &*by_gamma), ("interval", &interval)];
        let total: f64 = flows.iter().map(|f| f.rate).sum();
        let capacity = Rate::from_bps((total / load * 8.0) as u64);
        let exact: Jetmax = made(&set);
        let kernel: JetmaxKernel = made(&set);
        let mut exact = exact.port(&link(capacity)).expect("a port");
        let mut kernel = kernel.port(&link(capacity)).expect("a port");
        let id = 1;
        let mut said = Vec::new();
        for (now, i) in arrivals(&flows) {
            let flow = flows[i];
            let size = Bytes::new(flow.size);
            catch_up(&mut exact, now, NO_QUEUE);
            catch_up(&mut kernel, now, NO_QUEUE);
            // `link` gives this port the number 1 in both laws; 0 is none.
            let mut header = Exact::bound(u32::from(i < bound), gap(&flow));
            exact.on_arrival(now, size, Some(&mut header), NO_QUEUE);
            exact.on_departure(now, size, Some(&mut header), NO_QUEUE);
            let request = JetmaxHeader::new(if i < bound { id } else { 0 }, Throughput::new(flow.rate));
            let mut option = JetmaxKernelHeader::Request(request);
            kernel.on_arrival(now, size, Some(&mut option), NO_QUEUE);
            let JetmaxKernelHeader::Request(option) = option else { unreachable!() };
            if i < bound {
                said.push((header.fair, option.fair().expect("it is bound here").get()));
            } else {
                let (router, fair) = option.proposed().expect("nobody else is");
                prop_assert_eq!((router, header.proposed), (u32::from(id), 1));
                said.push((header.proposed_fair, fair.get()));
            }
        }
        let target = gamma * capacity.throughput().get();
        let largest = flows.iter().map(|f| f.size).max().unwrap_or(0) as f64;
        // A packet of each flow more or less in an interval; and a flow's part of the count.
        let interval = interval_ms as f64 / 1000.0;
        let bytes = flows.len() as f64 * largest / interval;
        let counted = flows.iter().map(|f| gap(f) / interval).sum::<f64>();
        let near = said.iter().filter(|(exact, kernel)| (exact - kernel).abs() < 1e-3 * target);
        prop_assert!(near.count() * 10 >= said.len() * 9, "nine of ten to 0.1 % of the link");
        for (exact, kernel) in said {
            let is_near_the_margin = (0.97..1.04).contains(&(load / gamma)) && bound == 0;
            let tolerance = 1e-4 * target + bytes + exact * counted;
            prop_assert!(is_near_the_margin || (exact - kernel).abs() < tolerance, "{} for {}", exact, kernel);
        }
    }

    #[test]
    fn headers_come_back_from_their_bytes(words: [u32; 6], alone: [u32; 2]) {
        let law: JetmaxKernel = made(&[]);
        let request = JetmaxKernelHeader::Request(JetmaxHeader::from_words(&words));
        // Bits that are not in use.
        let answer = JetmaxKernelHeader::Answer(JetmaxAnswer::from_words_alone(&[alone[0] & !0xff00, alone[1]]));
        for (header, expected) in [(request, 28), (answer, 12)] {
            let mut bytes = [0; MAX_HEADER];
            let len = law.encode(&header, Bytes::new(1500), &mut bytes);
            prop_assert_eq!(len, expected);
            prop_assert_eq!(law.decode(&bytes[..len], Bytes::new(1500)), Ok(header));
        }
    }
}

/// Byte for byte as `bpf/laws/option.h` draws it.
#[test]
fn options_are_laid_out_as_drawn() {
    let law: JetmaxKernel = made(&[]);
    let mut port = law.port(&link(Rate::from_mbps(100))).expect("a port");
    let mut header =
        JetmaxKernelHeader::Request(JetmaxHeader::new(1, Throughput::new(1_250_000.0)));
    port.on_arrival(ratewire_units::Time::ZERO, Bytes::new(1500), Some(&mut header), NO_QUEUE);
    let mut bytes = [0; MAX_HEADER];
    let len = law.encode(&header, Bytes::new(1500), &mut bytes);
    // g is 11,874,961 B/s, 0.95 in 2^-16 of 12.5 MB/s: 371,092 << 5; the rate is 312,500 << 2.
    let fair = 371_092_u32 | 5 << 19;
    let rate = 312_500_u32 | 2 << 19;
    let mut expected = vec![254, 28, 0x52, 0x6a, 0, 1, 0, 0];
    expected.extend(fair.to_be_bytes());
    expected.extend([0, 255, 255, 255, 0, 0, 0, 0, 0, 255, 255, 255]);
    expected.extend(rate.to_be_bytes());
    assert_eq!(bytes[..len], expected);
}

/// A flow over a port of 1 Gbit/s, or one of 100 Mbit/s.
struct Exchange {
    source: super::JetmaxKernelSource,
    sink: super::JetmaxKernelSink,
    ports: [super::JetmaxKernelPort; 2],
}

impl Exchange {
    fn new() -> Exchange {
        let law: JetmaxKernel = made(&[]);
        Exchange {
            source: law.source(&FLOW),
            sink: law.sink(&FLOW).expect("a sink"),
            ports: [1000, 100].map(|mbps| law.port(&link(Rate::from_mbps(mbps))).expect("a port")),
        }
    }

    /// A packet passes the port after an interval, and this acknowledgement comes back. Returns the
    /// rate from then on.
    fn round(&mut self, port: usize, acked: &Acked) -> f64 {
        let mut header = self.source.on_send(&sending()).expect("a header");
        let port = &mut self.ports[port];
        let now = port.next_timer();
        port.on_timer(now, NO_QUEUE);
        port.on_arrival(now, Bytes::new(1), Some(&mut header), NO_QUEUE);
        self.sink.on_data(now, &header);
        self.source.on_ack(acked, self.sink.on_ack(now).as_ref());
        self.source.pacing().map_or(0.0, Throughput::get)
    }
}

/// From 12 MB/s to 1 MB/s and up again: each round the error is 0.4 of what it was.
#[test]
fn a_sender_takes_tau_of_the_way_each_round() {
    let mut exchange = Exchange::new();
    for (port, target) in [0.95 * 1.25e8, 0.95 * 1.25e7].into_iter().enumerate() {
        // The router is proposed, chosen, and measures from the second interval on. The flow keeps
        // its router, because both ports have one number.
        let mut rate = exchange.round(port, &acked());
        for _ in 0..4 {
            rate = exchange.round(port, &acked());
        }
        for _ in 0..3 {
            let error = rate - target;
            rate = exchange.round(port, &acked());
            assert!((rate - target - 0.4 * error).abs() < 1e-3 * target, "{rate} of {target}");
        }
    }
}

#[test]
fn a_sender_that_is_held_back_takes_less_and_no_more() {
    let limited = Acked { limited: true, ..acked() };
    let mut exchange = Exchange::new();
    let mut rate = exchange.round(1, &acked());
    for _ in 0..6 {
        rate = exchange.round(1, &acked());
    }
    for _ in 0..6 {
        assert_eq!(exchange.round(0, &limited), rate, "ten times as much is there");
    }
    while exchange.round(0, &acked()) < 0.9e8 {}
    let mut less = f64::INFINITY;
    for _ in 0..6 {
        less = exchange.round(1, &limited);
    }
    assert!(less < 0.2e8, "{less}");
}

#[test]
fn an_acknowledgement_leaves_room_for_a_round_trip_and_a_timeout_for_no_more() {
    let law: JetmaxKernel = made(&[]);
    let mut source = law.source(&FLOW);
    source.on_opened(ratewire_units::Time::ZERO, Some(acked().srtt), None);
    let alone = source.window();
    source.on_ack(&acked(), None);
    assert_eq!(source.window(), alone + acked().in_flight);
    source.on_congestion(&congestion(Signal::Loss, 9));
    assert!(source.window() > acked().in_flight);
    source.on_congestion(&congestion(Signal::Timeout, 9));
    assert!(source.window() < alone, "the rate is half of it, twice");
}

#[test]
fn a_packet_that_no_kernel_makes_counts_as_the_longest() {
    let law: JetmaxKernel = made(&[]);
    let inputs = [1_u64 << 19, 1 << 40].map(|size| {
        let mut port = law.port(&link(Rate::from_mbps(100))).expect("a port");
        port.on_arrival(port.next_timer(), Bytes::new(size), None, NO_QUEUE);
        port.on_timer(port.next_timer(), NO_QUEUE);
        port.reason().figures.iter().find(|f| f.name == "u").expect("a figure").value
    });
    assert_eq!(inputs[0], inputs[1]);
    assert!(inputs[0] > 0.0);
}

#[test]
fn a_stale_round_and_silence_change_nothing() {
    let law: JetmaxKernel = made(&[]);
    let mut source = law.source(&FLOW);
    source.on_opened(ratewire_units::Time::ZERO, Some(Duration::from_millis(50)), None);
    let before = source.pacing();
    // Ten packets of 1500 bytes in 50 ms.
    assert_eq!(before, Some(Throughput::new(300_000.0)));
    source.on_ack(&acked(), None);
    let stale = JetmaxAnswer::from_words_alone(&[77, 1000]);
    source.on_ack(&acked(), Some(&JetmaxKernelHeader::Answer(stale)));
    assert_eq!(source.pacing(), before);
}

/// After a switch a rate is believed once its router has measured an interval with the flow among
/// its own, however many intervals passed in silence; an answer that was overtaken does not count.
#[test]
fn a_sender_that_was_silent_believes_the_next_answer() {
    for (since, is_believed) in [
        (0_u32, false),
        (1, false),
        (2, true),
        (127, true),
        (128, true),
        (200, true),
        (239, true),
        (255, false),
        (258, true),
    ] {
        let law: JetmaxKernel = made(&[]);
        let mut source = law.source(&FLOW);
        source.on_opened(ratewire_units::Time::ZERO, Some(Duration::from_millis(50)), None);
        let before = source.pacing();
        let mut pacing_after = |router: u32, marker: u32, number: u32, fair: u32| {
            let words = [router << 16 | marker, (number & 0xff) << 24 | fair];
            let answer = JetmaxAnswer::from_words_alone(&words);
            source.on_ack(&acked(), Some(&JetmaxKernelHeader::Answer(answer)));
            source.pacing()
        };
        // A router is proposed, and chosen; its first answer states the last interval.
        pacing_after(7, 0, 0, 0xff_ffff);
        assert_eq!(pacing_after(0, 1, 100, 1000), before, "not yet measured");
        assert_eq!(
            pacing_after(0, 1, 100 + since, 1000) != before,
            is_believed,
            "{since} intervals later"
        );
    }
}
