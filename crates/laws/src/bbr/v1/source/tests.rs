use std::vec::Vec;

use ratewire_units::{Bytes, Duration, Rate, Time};

use super::{Bbr1Source, Mode, Repair};
use crate::bbr::Bbr1;
use crate::bbr::tests::path::{self, MSS, PACKET, Version, at, source};
use crate::law::{Congestion, Signal, Source};

type Path = path::Path<Bbr1Source>;

impl Version for Bbr1Source {
    /// The mode, and the pacing gain.
    type State = (Mode, f64);

    fn state(&self) -> (Mode, f64) {
        (self.mode, self.pacing_gain())
    }
}

const RTT: Duration = Duration::from_millis(40);
/// Packets that a path of 100 Mbit/s and 40 ms holds.
const BDP: u64 = 333;

fn path(buffer: u64) -> Path {
    Path::new(*source::<Bbr1>(&[], 1), 1, Rate::from_mbps(100), RTT, buffer)
}

fn is_in(mode: Mode) -> impl Fn(&Path) -> bool {
    move |path| path.source.mode == mode
}

/// Share of the path's rate that was delivered between two times.
fn share(path: &mut Path, from: Time, to: Time) -> f64 {
    path.run_until(from);
    let before = path.delivered;
    path.run_until(to);
    (path.delivered - before) as f64 / to.since(from).secs() / path.goodput()
}

#[track_caller]
fn near(value: f64, expected: f64, tolerance: f64) {
    assert!((value / expected - 1.0).abs() <= tolerance, "{value} instead of {expected}");
}

#[test]
fn startup_ends_on_the_plateau_and_drain_when_the_queue_is_gone() {
    let mut p = path(4 * BDP);
    p.run_to(is_in(Mode::Drain));
    near(p.source.bw(), p.goodput(), 0.02);
    near(p.source.pacing_gain(), 1.0 / 2.885, 1e-9);
    assert!(p.queue() > 0.5 * p.bdp(), "{}", p.queue());
    p.run_to(is_in(Mode::ProbeBw));
    assert!(p.in_flight() as f64 <= p.source.inflight(1.0));
    assert_eq!(p.lost, 0);
}

/// The phases and their gains, each a round trip long; the probe adds a quarter of the bdp, and
/// the phase after it takes that away.
#[test]
fn eight_phases_make_a_cycle() {
    let mut p = path(4 * BDP);
    p.run_to(is_in(Mode::ProbeBw));
    p.run_until(at(6_000));
    let gains: Vec<f64> = p.states.iter().map(|state| state.1.1).collect();
    let first = gains.iter().position(|gain| *gain == 1.25).expect("a probe");
    assert!(gains[first..].chunks_exact(3).all(|three| three == [1.25, 0.75, 1.0]), "{gains:?}");
    let probes: Vec<Time> = p.states.iter().filter(|s| s.1.1 == 1.25).map(|s| s.0).collect();
    for pair in probes.windows(2) {
        let rounds = pair[1].since(pair[0]).secs() / RTT.secs();
        assert!((7.0..10.0).contains(&rounds), "{rounds} rounds");
    }
    p.run_to(|p| p.source.pacing_gain() == 1.25);
    p.run_to(|p| p.source.pacing_gain() == 0.75);
    assert!((0.2 * p.bdp()..0.35 * p.bdp()).contains(&p.queue()), "{}", p.queue());
    p.run_to(|p| p.source.pacing_gain() == 1.0);
    assert!(p.queue() < 0.1 * p.bdp(), "{}", p.queue());
    let now = p.now;
    near(share(&mut p, now, now + Duration::from_secs(2)), 0.99, 0.015);
}

#[test]
fn the_first_phase_is_random_and_never_drains() {
    let mut seen = [0; 8];
    let mut s = *source::<Bbr1>(&[], 1);
    for _ in 0..1000 {
        s.start_probe_bw(at(0));
        seen[s.cycle.phase] += 1;
    }
    assert_eq!(seen[1], 0);
    assert!(
        seen.iter().enumerate().all(|(phase, n)| phase == 1 || (100..190).contains(n)),
        "{seen:?}"
    );
}

/// As long as the RTT is as low as the minimum from time to time, nothing need be measured.
#[test]
fn probe_rtt_keeps_four_packets_outstanding_ten_seconds_after_the_last_minimum() {
    let mut p = path(BDP);
    p.run_until(at(20_000));
    assert!(p.states.iter().all(|state| state.1.0 != Mode::ProbeRtt));
    let before = p.now;
    p.rtt += Duration::from_micros(100);
    p.run_to(is_in(Mode::ProbeRtt));
    let waited = p.now.since(before).secs();
    assert!((9.5..10.1).contains(&waited), "{waited} s");
    p.run_until(p.now + Duration::from_millis(150));
    assert!(p.window() == 4.0 && (3..=4).contains(&(p.in_flight() / MSS)), "{}", p.in_flight());
    let begun = p.now - Duration::from_millis(150);
    p.run_to(is_in(Mode::ProbeBw));
    assert!(p.window() > 2.0 * p.bdp(), "{}", p.window());
    let lasted = p.now.since(begun).millis();
    assert!((200.0..320.0).contains(&lasted), "{lasted} ms");
    near(p.source.min_rtt.unwrap(), RTT.secs() + 220e-6, 0.001);
}

/// The window is two bdp, three quanta of 6250 bytes a millisecond, and even.
#[test]
fn the_window_is_two_bdp_and_three_quanta() {
    let mut p = path(4 * BDP);
    p.run_until(at(3_000));
    p.run_to(|p| p.source.pacing_gain() == 1.0);
    let quantum = p.source.send_quantum() / MSS as f64;
    assert_eq!(quantum, 8.0);
    let target = p.source.quantised(p.source.bdp(p.source.bw(), 2.0)) / MSS as f64;
    assert_eq!(target % 2.0, 0.0);
    near(target, 2.0 * p.bdp() + 3.0 * quantum, 0.02);
    near(p.window(), target, 0.02);
}

#[test]
fn one_packet_in_a_hundred_lost_costs_little_more() {
    let mut p = path(BDP);
    p.lose_every = 100;
    let share = share(&mut p, at(5_000), at(35_000));
    assert!((0.95..0.98).contains(&share), "{share}");
}

#[test]
fn a_policer_is_found_and_its_rate_is_kept() {
    // A bucket drops two packets of five beyond its rate; the path itself is never full.
    let mut p = path(BDP);
    p.run_until(at(3_000));
    p.lose_every = 4;
    p.run_to(|p| p.source.policer.rate().is_some());
    assert!(p.source.bw() < 0.9 * p.source.max_bw.of_ten_rounds() + 1.0);
    let begun = p.now;
    p.lose_every = 0;
    p.run_to(|p| p.source.policer.rate().is_none());
    let rounds = p.now.since(begun).secs() / RTT.secs();
    assert!((45.0..52.0).contains(&rounds), "{rounds} rounds");
}

fn congestion(source: &mut Bbr1Source, signal: Signal) {
    let (in_flight, srtt) = (Bytes::new(10 * MSS), Duration::from_millis(100));
    source.on_congestion(&Congestion { now: at(100), signal, in_flight, srtt });
}

#[test]
fn a_recovery_conserves_packets_for_a_round_and_restores_the_window() {
    let mut p = path(BDP);
    p.run_until(at(3_000));
    p.run_to(|p| p.source.pacing_gain() == 1.0);
    let before = p.source.cwnd;
    p.lose_every = 50;
    p.run_to(|p| p.source.repair_before == Repair::Recovery);
    assert!(p.source.conserves);
    assert!(p.source.cwnd < 0.7 * before, "{} after {before}", p.source.cwnd);
    p.lose_every = 0;
    p.run_to(|p| !p.source.conserves);
    p.run_to(|p| p.source.repair_before == Repair::None);
    assert!(p.source.cwnd >= before - 4.0 * MSS as f64, "{} after {before}", p.source.cwnd);
}

#[test]
fn a_timeout_leaves_one_packet_and_is_undone_by_the_next_acknowledgement() {
    let mut p = path(BDP);
    p.run_until(at(3_000));
    p.run_to(|p| p.source.pacing_gain() == 1.0);
    let before = p.source.cwnd;
    congestion(&mut p.source, Signal::Mark);
    assert_eq!(p.source.cwnd, before);
    congestion(&mut p.source, Signal::Timeout);
    assert_eq!(p.source.window(), Bytes::new(MSS));
    p.source.on_spurious(at(3_100));
    p.source.on_recovered(at(3_100));
    p.run_until(p.now + Duration::from_millis(1));
    assert!(p.source.cwnd >= before - 2.0 * MSS as f64, "{} after {before}", p.source.cwnd);
}

#[test]
fn the_pace_counts_headers() {
    let mut p = path(BDP);
    p.run_until(at(3_000));
    p.run_to(|p| p.source.pacing_gain() == 1.0);
    near(p.source.pacing().unwrap().get(), p.source.pacing_rate * PACKET as f64 / MSS as f64, 1e-9);
    near(p.source.pacing().unwrap().get() * 8.0, 0.99 * 100e6, 0.01);
}

#[test]
fn the_first_pace_is_that_of_the_initial_window_and_the_first_rtt() {
    let mut s = *source::<Bbr1>(&[], 1);
    near(s.pacing_rate, 0.99 * 2.885 * (10 * MSS) as f64 / 1e-3, 1e-9);
    s.on_opened(at(50), Some(Duration::from_millis(50)), None);
    near(s.pacing_rate, 0.99 * 2.885 * (10 * MSS) as f64 / 0.05, 1e-9);
    assert_eq!(s.min_rtt, Some(0.05));
}
