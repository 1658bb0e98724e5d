//! The policer among the laws' own senders and ports: XCP's closed loop, and the rates that other
//! laws' ports grant.

use std::collections::VecDeque;
use std::prelude::v1::*;

use proptest::prelude::*;
use ratewire_units::{Bytes, Duration, Rate, Throughput, Time};

use super::{Claim, Policed, Suspect};
use crate::{Header, XcpConstants, XcpPort, XcpReceiver, XcpRules, XcpSender};

const SIZE: Bytes = Bytes::new(1500);
/// B/s.
const CAPACITY: f64 = 12.5e6;
/// The least rate, a packet in 50 ms.
const LEAST: Throughput = Throughput::new(30_000.0);

#[derive(Clone, Copy, PartialEq)]
struct Lie {
    rtt: f64,
    throughput: f64,
    ignores: bool,
    heeds_loss: bool,
}

const HONEST: Lie = Lie { rtt: 1.0, throughput: 1.0, ignores: false, heeds_loss: true };

/// A connection of XCP, its round trip without the queue in ms, and when it starts.
struct Flow {
    lie: Lie,
    rtt: Duration,
    next: Time,
    sender: XcpSender,
    receiver: XcpReceiver,
    suspect: Option<Suspect>,
    /// Acknowledgements on their way: when they come, what they return, or that a loss is noticed.
    acks: VecDeque<(Time, Option<i32>)>,
    srtt: Duration,
    carried: f64,
    corrected: u32,
    dropped: u32,
}

impl Flow {
    fn new(lie: Lie, rtt_ms: u64, start_ms: u64) -> Flow {
        let rtt = Duration::from_millis(rtt_ms);
        let start = Time::ZERO + Duration::from_millis(start_ms);
        let rules = XcpRules::default().heeds_loss(lie.heeds_loss);
        let mut sender = XcpSender::new(Throughput::new(2.0 * CAPACITY), rules);
        sender.start(start, Bytes::new(10 * SIZE.get()), rtt);
        Flow {
            lie,
            rtt,
            next: start,
            sender,
            receiver: XcpReceiver::default(),
            suspect: None,
            acks: VecDeque::new(),
            srtt: rtt,
            carried: 0.0,
            corrected: 0,
            dropped: 0,
        }
    }

    fn header(&mut self, now: Time) -> Header {
        let header = self.sender.on_send(now, (SIZE, SIZE), self.srtt, false, SIZE, LEAST);
        let rate = Throughput::new(header.rate().get() * self.lie.throughput);
        Header::new(rate, header.rtt().scale(self.lie.rtt), header.change())
    }

    fn on_acks(&mut self, now: Time) {
        while let Some((_, returned)) = self.acks.pop_front_if(|(due, _)| *due <= now) {
            match returned {
                Some(change) if self.lie.ignores => {
                    self.sender.on_ack(SIZE, change.max(0), self.srtt, LEAST, true);
                }
                Some(change) => self.sender.on_ack(SIZE, change, self.srtt, LEAST, true),
                None => self.sender.on_loss(LEAST),
            }
        }
    }
}

/// Lets flows share a link for some seconds, in whose second half `carried` counts.
fn share(flows: &mut [Flow], is_policed: bool, seconds: u64) {
    let rate = Rate::from_bps((CAPACITY * 8.0) as u64);
    let mut port = XcpPort::new(rate, &XcpConstants::default(), Time::ZERO);
    let end = Time::ZERO + Duration::from_secs(seconds);
    let mut free = Time::ZERO;
    loop {
        let flow = flows.iter_mut().min_by_key(|flow| flow.next).expect("there are flows");
        let now = flow.next;
        if now >= end {
            return;
        }
        flow.on_acks(now);
        flow.next = now + Duration::from_secs_f64(SIZE.as_f64() / flow.sender.rate().get());
        let mut header = flow.header(now);
        let mut claim = Claim::new(SIZE, Throughput::new(CAPACITY), header.rate(), header.rtt());
        let suspect = flow.suspect.get_or_insert_with(|| Suspect::new(&claim, now));
        if is_policed {
            match suspect.on_arrival(&mut claim, now) {
                Policed::Passes => {}
                Policed::Corrected => {
                    flow.corrected += 1;
                    header = Header::new(claim.rate(), header.rtt(), header.change());
                }
                Policed::Dropped => {
                    flow.dropped += 1;
                    // The sender halves once for the losses of a round trip.
                    if flow.acks.iter().all(|(_, returned)| returned.is_some()) {
                        flow.acks.push_back((now + flow.rtt, None));
                    }
                    continue;
                }
            }
        }
        let wait = free.max(now).since(now);
        let waiting = Bytes::new((wait.secs() * CAPACITY) as u64);
        port.on_packet(now, SIZE, waiting, Some(&mut header));
        suspect.on_change(&claim, header.change());
        free = free.max(now) + Duration::from_secs_f64(SIZE.as_f64() / CAPACITY);
        flow.receiver.on_data(&header, SIZE);
        flow.srtt = flow.rtt + wait;
        flow.acks.push_back((free + flow.rtt, Some(flow.receiver.on_ack())));
        if now.since(Time::ZERO) > Duration::from_secs(seconds / 2) {
            flow.carried += SIZE.as_f64();
        }
    }
}

/// The first flow's part of what is carried, in fair shares, beside three honest flows.
fn share_of(lie: Lie, is_policed: bool) -> (f64, Vec<Flow>) {
    let mut flows = vec![Flow::new(lie, 40, 0)];
    flows.extend((1..4).map(|i| Flow::new(HONEST, 40, i * 100)));
    share(&mut flows, is_policed, 20);
    let all: f64 = flows.iter().map(|flow| flow.carried).sum();
    (flows[0].carried / all * flows.len() as f64, flows)
}

#[test]
fn lies_that_pay_do_not_under_police() {
    let understating = Lie { throughput: 0.25, ..HONEST };
    let deaf = Lie { ignores: true, ..HONEST };
    let deafest = Lie { ignores: true, heeds_loss: false, ..HONEST };
    let [overstating, boasting] = [4.0, 1000.0].map(|throughput| Lie { throughput, ..deafest });
    for (name, lie, without) in [
        ("throughput", understating, 2.0),
        ("deaf", deaf, 2.0),
        ("deaf to losses", deafest, 2.0),
        ("deaf and overstating", overstating, 2.0),
        ("deaf and boasting", boasting, 2.0),
    ] {
        let (free, _) = share_of(lie, false);
        assert!(free > without, "{name}: {free}");
        let (held, flows) = share_of(lie, true);

        assert!(held < 1.1, "{name}: {held}");
        for honest in &flows[1..] {
            assert_eq!((honest.corrected, honest.dropped), (0, 0), "{name}");
        }
    }
}

/// The round trip only sets the length of routers' intervals.
#[test]
fn a_lie_about_the_round_trip_gains_nothing() {
    for rtt in [0.1, 25.0] {
        for is_policed in [false, true] {
            let (part, _) = share_of(Lie { rtt, ..HONEST }, is_policed);

            assert!(part < 1.1, "{rtt}, {is_policed}: {part}");
        }
    }
}

#[test]
fn a_rate_that_is_granted_holds_until_the_sender_must_know_of_the_next() {
    let claim =
        || Claim::new(SIZE, Throughput::new(CAPACITY), Throughput::ZERO, Duration::from_millis(40));
    let mut suspect = Suspect::new(&claim(), Time::ZERO);
    // Sends at 1 MB/s throughout, and is granted that for 3 s, then a quarter of it.
    let mut passed = Vec::new();
    for i in 0..4_000 {
        let now = Time::ZERO + Duration::from_micros(1_500) * i;
        if suspect.on_arrival(&mut claim(), now) == Policed::Passes {
            suspect.on_rate(Throughput::new(if i < 2_000 { 1e6 } else { 0.25e6 }));
            passed.push(i);
        }
    }
    let later = passed.iter().filter(|i| **i >= 3_000).count() as f64;
    assert_eq!(passed.iter().filter(|i| **i < 2_000).count(), 2_000);
    assert!((later - 1_000.0 * 0.25 * 1.05).abs() < 5.0, "{later}");
}

/// A port that has no rate to offer yet takes none away.
#[test]
fn a_rate_of_zero_is_no_grant() {
    let claim = || {
        Claim::new(SIZE, Throughput::new(CAPACITY), Throughput::new(1e6), Duration::ZERO).round(0)
    };
    let mut suspect = Suspect::new(&claim(), Time::ZERO);
    for i in 0..4_000 {
        let now = Time::ZERO + Duration::from_micros(1_500) * i;
        let mut claim = Claim { round: (i / 70) as u32 & 0xff, ..claim() };
        assert_eq!(suspect.on_arrival(&mut claim, now), Policed::Passes, "{i}");
        suspect.on_rate(Throughput::ZERO);
    }
}

/// Where ports grant rates, one that is claimed too high is not believed either.
#[test]
fn a_claim_above_the_granted_rate_is_corrected() {
    let claim = |rate: f64, i: u64| {
        Claim::new(SIZE, Throughput::new(CAPACITY), Throughput::new(rate), Duration::ZERO)
            .round((i / 70) as u8)
    };
    for (lie, is_corrected) in [(1.0, false), (4.0, true), (0.25, true)] {
        let mut suspect = Suspect::new(&claim(1e6, 0), Time::ZERO);
        let mut corrected = 0;
        for i in 0..2_000 {
            let now = Time::ZERO + Duration::from_micros(1_500) * i;
            let mut claim = claim(1e6 * lie, i);
            let verdict = suspect.on_arrival(&mut claim, now);
            assert_ne!(verdict, Policed::Dropped, "{lie}: {i}");
            corrected += u32::from(verdict == Policed::Corrected);
            suspect.on_rate(Throughput::new(1e6));
        }
        assert_eq!(corrected > 1_700, is_corrected, "{lie}: {corrected}");
        assert!(is_corrected || corrected == 0, "{lie}: {corrected}");
    }
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, cases: 24, ..Default::default() })]

    #[test]
    fn honest_flows_pass(all in prop::collection::vec((1_u64..200, 0_u64..4000), 1..12)) {
        let mut flows: Vec<Flow> =
            all.into_iter().map(|(rtt, start)| Flow::new(HONEST, rtt, start)).collect();
        share(&mut flows, true, 6);
        for flow in &flows {
            prop_assert_eq!((flow.dropped, flow.corrected), (0, 0));
        }
    }

    /// Whatever a flow claims in whatever rhythm: the recent mean of a rate that swings by up to 20
    /// times lags behind it.
    #[test]
    fn lies_make_little_more_time_than_has_passed(
        lie in 0.001..1.0_f64,
        slow in 1.0..20.0_f64,
        every in 1_u64..400,
    ) {
        let mut now = Time::ZERO;
        let mut claimed = 0.0;
        let mut suspect = None;
        for i in 0..20_000 {
            // A megabyte a second, or as much slower, in turns.
            let rate = if i / every % 2 == 0 { 1e6 } else { 1e6 / slow };
            now += Duration::from_secs_f64(SIZE.as_f64() / rate);
            let mut claim =
                Claim::new(SIZE, Throughput::new(CAPACITY), Throughput::new(rate * lie), Duration::from_millis(20)).tolerance(1.0);
            let suspect = suspect.get_or_insert_with(|| Suspect::new(&claim, now));
            if suspect.on_arrival(&mut claim, now) != Policed::Dropped {
                claimed += SIZE.as_f64() / claim.rate().get();
            }
            suspect.on_change(&claim, Throughput::new(1e6));
        }
        let passed = now.since(Time::ZERO).secs();
        prop_assert!(claimed < 1.6 * passed + 1.0, "{} of {}", claimed, passed);
    }
}
