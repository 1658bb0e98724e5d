use std::collections::VecDeque;

use proptest::prelude::*;
use ratewire_laws::kernel::{self, Claim, Suspect as KernelSuspect};
use ratewire_laws::{Draw, FlowContext, Sending};
use ratewire_units::{Rate, Throughput};
use ratewire_wire::xcp::{Format, XcpHeader};

use super::*;

const SIZE: Bytes = Bytes::new(1500);
const RTT: Duration = Duration::from_millis(40);
const SPEC: PoliceSpec = PoliceSpec { suspects: 1024, tolerance: 0.1 };

const FLOW: FlowContext = FlowContext {
    mss: SIZE,
    packet: SIZE,
    line_rate: Rate::from_mbps(1000),
    back_pressured: false,
    draw: Draw::new(0),
};
const SENDING: Sending = Sending {
    now: Time::ZERO,
    packet: SIZE,
    in_flight: SIZE,
    receive_window: Bytes::MAX,
    srtt: RTT,
    rto: RTT,
    limited: false,
};

fn policer() -> Policer {
    Policer::new(AnyLaw::new("xcp", &[]).unwrap(), &SPEC, FLOW.line_rate)
}

fn header(spacing: Duration, granted: f64) -> Header {
    Header::Xcp(XcpHeader {
        protocol: 6,
        format: Format::Standard,
        rtt: RTT,
        x: spacing,
        reverse_feedback: Throughput::ZERO,
        delta_throughput: Throughput::new(granted),
    })
}

fn spacing(header: &Header) -> Duration {
    match header {
        Header::Xcp(header) => header.x,
        other => panic!("{other:?}"),
    }
}

/// A policer of XCP: the simulator's, or the kernel's for one flow.
trait Police {
    /// Checks a packet that claims this spacing; returns the spacing that is believed.
    fn arrives(&mut self, now: Time, flow: u32, spacing: Duration) -> (Policed, Duration);
    /// Notes the change in B/s that the port granted in that packet, whose true spacing is given.
    fn departs(&mut self, flow: u32, spacing: Duration, grant: f64);
}

impl Police for Policer {
    fn arrives(&mut self, now: Time, flow: u32, claimed: Duration) -> (Policed, Duration) {
        let mut header = header(claimed, 0.0);
        (self.on_arrival(now, flow, SIZE, &mut header), spacing(&header))
    }
    fn departs(&mut self, flow: u32, spacing: Duration, grant: f64) {
        self.on_departure(flow, &header(spacing, grant));
    }
}

#[derive(Default)]
struct OfKernel {
    suspect: Option<KernelSuspect>,
    claim: Claim,
}

impl Police for OfKernel {
    fn arrives(&mut self, now: Time, _: u32, spacing: Duration) -> (Policed, Duration) {
        let rate = |spacing: Duration| Throughput::new(SIZE.as_f64() / spacing.secs());
        let capacity = FLOW.line_rate.throughput();
        self.claim = Claim::new(SIZE, capacity, rate(spacing), RTT).tolerance(SPEC.tolerance);
        let suspect = self.suspect.get_or_insert_with(|| KernelSuspect::new(&self.claim, now));
        let verdict = match suspect.on_arrival(&mut self.claim, now) {
            kernel::Policed::Passes => Policed::Passes,
            kernel::Policed::Corrected => Policed::Corrected,
            kernel::Policed::Dropped => Policed::Dropped,
        };
        (verdict, Duration::from_secs_f64(SIZE.as_f64() / self.claim.rate().get()))
    }
    /// The kernel's ports grant a change in a second, which the sender takes for the time that the
    /// packet took to send.
    fn departs(&mut self, _: u32, spacing: Duration, grant: f64) {
        let change = Throughput::new(grant / spacing.secs());
        self.suspect.iter_mut().for_each(|suspect| suspect.on_change(&self.claim, change));
    }
}

/// A sender whose packets come straight to the policer.
struct Sender {
    flow: u32,
    now: Time,
    /// Window in bytes.
    window: f64,
    /// Ratio of the claimed spacing to the true one.
    lie: f64,
    listens: bool,
    /// Grants on their way back.
    pending: VecDeque<(Time, f64)>,
    claimed: Duration,
    passed: u64,
    corrected: u64,
    dropped: u64,
}

impl Sender {
    fn new(flow: u32, packets: f64) -> Sender {
        Sender {
            flow,
            now: Time::ZERO,
            window: packets * SIZE.as_f64(),
            lie: 1.0,
            listens: true,
            pending: VecDeque::new(),
            claimed: Duration::ZERO,
            passed: 0,
            corrected: 0,
            dropped: 0,
        }
    }

    /// Sends a packet; if it passes, the port grants the flow `grant` more packets a round trip.
    fn send(&mut self, policer: &mut impl Police, grant: f64) {
        let true_spacing = RTT.scale(SIZE.as_f64() / self.window);
        self.now += true_spacing;
        let (verdict, believed) =
            policer.arrives(self.now, self.flow, true_spacing.scale(self.lie));
        self.corrected += u64::from(verdict == Policed::Corrected);
        if verdict == Policed::Dropped {
            self.dropped += 1;
            return;
        }
        self.passed += 1;
        self.claimed += believed;
        let grant = grant * SIZE.as_f64() / RTT.secs();
        policer.departs(self.flow, true_spacing, grant);
        self.pending.push_back((self.now + RTT, grant));
        while let Some((_, grant)) = self.pending.pop_front_if(|(due, _)| *due <= self.now) {
            if self.listens {
                self.window = (self.window + grant * RTT.secs()).max(SIZE.as_f64());
            }
        }
    }
}

#[test]
fn a_flow_that_claims_four_times_the_spacing_counts_once() {
    let (mut policer, mut liar) = (policer(), Sender::new(1, 50.0));
    liar.lie = 4.0;
    (0..10_000).for_each(|_| liar.send(&mut policer, 0.0));
    let elapsed = liar.now.since(Time::ZERO).secs();
    let ratio = liar.claimed.secs() / elapsed;
    assert!((1.0..1.03).contains(&ratio), "{ratio}");
    assert!(liar.corrected + liar.dropped > 7_000, "{} {}", liar.corrected, liar.dropped);
}

#[test]
fn a_sender_that_ignores_grants_gets_no_more_through() {
    let (mut policer, mut deaf) = (policer(), Sender::new(1, 100.0));
    deaf.listens = false;
    // The port takes 75 of its 100 packets a round trip.
    (0..75).for_each(|_| deaf.send(&mut policer, -1.0));
    (0..2_000).for_each(|_| deaf.send(&mut policer, 0.0));
    let (before, from) = (deaf.passed, deaf.now);
    (0..10_000).for_each(|_| deaf.send(&mut policer, 0.0));
    let rounds = deaf.now.since(from).secs() / RTT.secs();
    let window = (deaf.passed - before) as f64 / rounds;
    assert!((window - 25.0 * 1.1).abs() < 0.5, "{window}");
}

#[test]
fn a_flow_may_speed_up_as_it_is_granted_and_no_further() {
    let (mut policer, mut honest) = (policer(), Sender::new(1, 2.0));
    (0..5).for_each(|_| honest.send(&mut policer, 40.0));
    (0..5_000).for_each(|_| honest.send(&mut policer, 0.0));
    assert!(honest.window > 190.0 * SIZE.as_f64());
    assert_eq!((honest.dropped, honest.corrected), (0, 0));
    honest.window *= 1.5;
    (0..5_000).for_each(|_| honest.send(&mut policer, 0.0));
    assert!(honest.dropped > 1_000, "{}", honest.dropped);
}

/// The kernel's policer corrects to a measured rate and not to the time that is left, and holds
/// flows to rates and not to windows.
#[test]
fn the_kernels_policer_judges_as_this_one() {
    // Packets a round trip; the lie; whether it listens; grants in turns, and of how many packets.
    for (packets, lie, listens, grants) in [
        (50.0, 1.0, true, &[(40.0, 5), (0.0, 5_000), (-0.1, 200), (0.05, 5_000)][..]),
        (50.0, 4.0, true, &[(0.0, 10_000)]),
        (50.0, 0.25, true, &[(0.0, 10_000)]),
        (100.0, 1.0, false, &[(-1.0, 75), (0.0, 12_000)]),
        (20.0, 1.0, false, &[(1.0, 50), (0.0, 2_000), (-0.5, 40), (0.0, 10_000)]),
    ] {
        let senders = [(); 2].map(|()| Sender { lie, listens, ..Sender::new(1, packets) });
        let [mut here, mut in_kernel] = senders;
        let (mut policer, mut of_kernel) = (policer(), OfKernel::default());
        for (grant, times) in grants.iter().copied() {
            (0..times).for_each(|_| here.send(&mut policer, grant));
            (0..times).for_each(|_| in_kernel.send(&mut of_kernel, grant));
        }
        let told = |sender: &Sender| {
            let sent = (sender.passed + sender.dropped) as f64;
            let elapsed = sender.now.since(Time::ZERO).secs();
            [
                sender.passed as f64 / sent,
                sender.corrected as f64 / sent,
                sender.claimed.secs() / elapsed,
            ]
        };
        let (here, in_kernel) = (told(&here), told(&in_kernel));
        let is_near = here.iter().zip(&in_kernel).all(|(a, b)| (a - b).abs() < 0.05);
        assert!(
            is_near,
            "{packets}, {lie}, {listens}: {here:.3?} here, {in_kernel:.3?} in the kernel"
        );
    }
}

#[test]
fn a_rate_that_is_granted_holds_until_the_sender_must_know_of_the_next() {
    let mut policer = Policer::new(AnyLaw::new("rcp", &[]).unwrap(), &SPEC, FLOW.line_rate);
    let packet = |rate: f64| {
        let rate = Throughput::new(rate);
        let mut source = AnyLaw::new("rcp", &[]).unwrap().source(&FLOW);
        let mut header = source.on_send(&SENDING);
        if let Header::Rcp(rcp) = &mut header {
            rcp.rate = rate;
        }
        header
    };
    // Sends at 1 MB/s throughout, and is granted that for 3 s, then a quarter of it.
    let mut passed = Vec::new();
    for i in 0..4_000 {
        let now = Time::ZERO + Duration::from_micros(1_500) * i;
        let granted = packet(if i < 2_000 { 1e6 } else { 0.25e6 });
        if policer.on_arrival(now, 1, SIZE, &mut granted.clone()) == Policed::Passes {
            policer.on_departure(1, &granted);
            passed.push(i);
        }
    }
    let before = passed.iter().filter(|i| **i < 2_000).count();
    let later = passed.iter().filter(|i| **i >= 3_000).count();
    assert_eq!(before, 2_000);
    assert!((later as f64 - 1_000.0 * 0.25 * 1.1).abs() < 5.0, "{later}");
}

/// Sends at 1 MB/s under a law that numbers its rounds, of 100 ms each; `write` fills in each
/// header. Returns the numbers of the packets that pass, and how many were corrected.
fn send_in_rounds(
    name: &str,
    packets: u64,
    mut write: impl FnMut(u64, &mut Header),
) -> (Vec<u64>, usize) {
    let law = AnyLaw::new(name, &[]).unwrap();
    let mut policer = Policer::new(law.clone(), &SPEC, FLOW.line_rate);
    let mut source = law.source(&FLOW);
    let (mut passed, mut corrected) = (Vec::new(), 0);
    for i in 0..packets {
        let now = Time::ZERO + Duration::from_micros(1_500) * i;
        let mut header = source.on_send(&Sending { now, ..SENDING });
        write(i, &mut header);
        let verdict = policer.on_arrival(now, 1, SIZE, &mut header);
        corrected += usize::from(verdict == Policed::Corrected);
        if verdict != Policed::Dropped {
            policer.on_departure(1, &header);
            passed.push(i);
        }
    }
    (passed, corrected)
}

fn round(i: u64) -> u8 {
    (i * 1_500 / 100_000) as u8
}

#[test]
fn a_price_slows_down_by_a_step_each_round() {
    // A price at which a flow settles at 1 MB/s; later, one at which it settles at a quarter.
    let at_rest = 25_000.0 / (0.5 * 1e6);
    let (passed, _) = send_in_rounds("emkc", 12_000, |i, header| {
        let Header::Emkc(header) = header else { panic!("{header:?}") };
        header.marker = round(i);
        header.loss = match i {
            // The granted window grows to what the flow sends.
            0..500 => -1.0,
            500..6_000 => at_rest,
            _ => 4.0 * at_rest,
        };
    });
    let between = |from, to| passed.iter().filter(|i| (from..to).contains(*i)).count() as f64;
    assert_eq!(between(500, 6_000), 5_500.0);
    // The window goes a tenth of the way each round: after forty rounds, it is there.
    let later = between(9_000, 12_000) / 3_000.0;
    assert!((later - 0.25 * 1.1).abs() < 0.02, "{later}");
    let soon = between(6_000, 6_300) / 300.0;
    assert!(soon > 0.75, "{soon}");
}

#[test]
fn a_flow_that_hides_its_rounds_has_one_a_second() {
    let passed_at = |marker: fn(u64) -> u8| {
        let (passed, _) = send_in_rounds("emkc", 12_000, |i, header| {
            let Header::Emkc(header) = header else { panic!("{header:?}") };
            header.marker = if i < 2_000 { round(i) } else { marker(i) };
            header.loss = if i < 500 { -1.0 } else { 0.2 };
        });
        passed.iter().filter(|i| **i >= 9_000).count()
    };
    let (honest, hidden) = (passed_at(round), passed_at(|_| 0));
    assert!((820..860).contains(&honest), "{honest}");
    assert!((honest + 1..2 * honest).contains(&hidden), "{hidden}");
}

#[test]
fn gaps_are_held_to_the_time_and_to_the_rate() {
    let times = |lie: f32| {
        send_in_rounds("jetmax", 2_000, |i, header| {
            let Header::Jetmax(header) = header else { panic!("{header:?}") };
            header.marker = round(i);
            header.gap = 0.0015 * lie;
            header.fair = 1e6;
        })
    };
    let (passed, corrected) = times(1.0);
    assert_eq!((passed.len(), corrected), (2_000, 0));
    for lie in [4.0, 0.25] {
        let (passed, corrected) = times(lie);
        assert_eq!(passed.len(), 2_000, "{lie}");
        assert!(corrected > 1_700, "{lie}: {corrected}");
    }
}

#[test]
fn memory_is_bounded_and_keeps_the_largest_sender() {
    let (mut policer, mut deaf) = (policer(), Sender::new(0, 100.0));
    deaf.listens = false;
    let mut mice = 0;
    for i in 0..20_000 {
        deaf.send(&mut policer, if i < 50 { -1.0 } else { 0.0 });
        // For each of its packets, ten new flows send one packet each.
        for _ in 0..10 {
            mice += 1;
            policer.on_arrival(deaf.now, mice, SIZE, &mut header(RTT, 0.0));
        }
    }
    assert_eq!(policer.sets.len() * WAYS, SPEC.suspects as usize);
    assert!(deaf.dropped > 8_000, "{}", deaf.dropped);
}

#[test]
fn packets_that_claim_nothing_pass() {
    let mut policer = policer();
    let minimal = Header::Xcp(XcpHeader::minimal(6, Throughput::new(1.0)));
    for mut header in [minimal, Header::None] {
        for _ in 0..100 {
            assert_eq!(policer.on_arrival(Time::ZERO, 1, SIZE, &mut header), Policed::Passes);
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..Default::default() })]

    #[test]
    fn honest_flows_pass_whatever_they_are_granted(
        packets in 2.0..200.0f64,
        grants in prop::collection::vec((-0.3..0.3f64, 1usize..200), 1..40),
    ) {
        let (mut policer, mut honest) = (policer(), Sender::new(1, packets));
        for (grant, times) in grants {
            (0..times).for_each(|_| honest.send(&mut policer, grant));
        }
        prop_assert_eq!((honest.dropped, honest.corrected), (0, 0));
    }

    #[test]
    fn no_lie_makes_more_time_than_has_passed(lie in 0.1..1000.0f64, packets in 2.0..200.0f64) {
        let (mut policer, mut liar) = (policer(), Sender::new(1, packets));
        liar.lie = lie;
        (0..2_000).for_each(|_| liar.send(&mut policer, 0.0));
        let most = liar.now.since(Time::ZERO).secs() * ROUNDING + 2.0 * RTT.secs();
        prop_assert!(liar.claimed.secs() <= most + 1e-6);
    }
}
