//! The draft's test cases (appendix A), most on a path of 100 Mbit/s and 40 ms, which holds 333
//! packets.

mod parts;

use std::vec::Vec;

use ratewire_units::{Duration, Rate, Time};

use super::{Bbr3Source, State};
use crate::bbr::Bbr3;
use crate::bbr::tests::path::{self, MSS, PACKET, Version, at, source};
use crate::law::Source;

type Path = path::Path<Bbr3Source>;

impl Version for Bbr3Source {
    type State = State;

    fn state(&self) -> State {
        self.state
    }
}

const RTT: Duration = Duration::from_millis(40);
const BDP: u64 = 333;

fn bbr(options: &[(&str, &str)], scale: u64) -> Bbr3Source {
    *source::<Bbr3>(options, scale)
}

fn path(buffer: u64) -> Path {
    Path::new(bbr(&[], 1), 1, Rate::from_mbps(100), RTT, buffer)
}

fn is_in(state: State) -> impl Fn(&Path) -> bool {
    move |path| path.source.state == state
}

/// When a state was entered.
fn entered(path: &Path, state: State) -> Vec<Time> {
    path.states.iter().filter(|entry| entry.1 == state).map(|entry| entry.0).collect()
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

/// A.1, A.3, A.8.
#[test]
fn startup_ends_on_the_plateau_and_drain_when_the_queue_is_gone() {
    let mut p = path(4 * BDP);
    p.run_to(is_in(State::Drain));
    near(p.source.model.max_bw(), p.goodput(), 0.02);
    assert!(p.source.full_pipe.now && p.source.full_pipe.reached);
    // Ten packets doubled each round are 640 after six, and three more show the plateau.
    let rounds = p.source.round.count;
    assert!((8..=11).contains(&rounds), "{rounds} rounds");
    assert!(p.queue() > 0.5 * p.bdp(), "{}", p.queue());

    p.run_to(|p| p.source.state != State::Drain);
    assert!(p.in_flight() as f64 <= p.source.inflight(p.source.model.bw()) + 1.0);
    assert!(p.source.round.count <= rounds + 3);
    p.run_to(is_in(State::Cruise));
    assert!(p.queue() < 5.0, "{}", p.queue());
    assert_eq!(p.lost, 0);
}

/// A.2.
#[test]
fn losses_end_startup_though_the_application_limits_the_rate() {
    let mut p = path(BDP);
    p.app = Duration::from_micros(300);
    p.run_until(at(1_000));
    assert_eq!(p.source.state, State::Startup);
    p.lose_every = 15;
    p.run_to(|p| p.source.state != State::Startup);
    assert!(p.now < at(1_500), "{}", p.now);
    assert!(p.source.full_pipe.reached && !p.source.full_pipe.now);
    assert!(p.source.model.inflight_longterm >= p.source.bdp());
}

/// A.7, A.20.
#[test]
fn without_losses_an_application_that_sends_little_stays_in_startup() {
    let mut p = path(BDP);
    p.app = Duration::from_millis(1);
    p.run_until(at(20_000));
    let seen = |state| p.states.iter().any(|entry| entry.1 == state);
    assert!(seen(State::Startup) && seen(State::ProbeRtt), "{:?}", p.states);
    assert!(p.states.iter().all(|s| matches!(s.1, State::Startup | State::ProbeRtt)));
}

/// A.10, and 5.3.4.2: no more than 2 % of the rate is sacrificed, beside the pacing margin.
#[test]
fn probe_rtt_halves_what_is_outstanding_every_five_seconds() {
    let mut p = path(BDP);
    p.run_to(is_in(State::ProbeRtt));
    p.run_until(p.now + Duration::from_millis(150));
    near(p.window(), 0.5 * p.bdp(), 0.02);
    assert!(p.in_flight() <= p.source.window().get());
    p.run_until(at(40_000));

    let begun = entered(&p, State::ProbeRtt);
    for pair in begun.windows(2) {
        let interval = pair[1].since(pair[0]).secs();
        assert!((5.2..5.5).contains(&interval), "{interval} s between two");
    }
    for (start, _) in p.states.iter().filter(|s| s.1 == State::ProbeRtt) {
        let (end, next) = *p.states.iter().find(|s| s.0 > *start).unwrap();
        let lasted = end.since(*start).millis();
        assert!((200.0..350.0).contains(&lasted), "{lasted} ms");
        assert_eq!(next, State::Cruise);
    }
    near(share(&mut p, at(40_000), at(80_000)), 0.99 * 0.98, 0.01);
    near(p.source.model.min_rtt().unwrap(), RTT.secs(), 0.01);
}

#[test]
fn probes_for_bandwidth_come_every_two_to_three_seconds_in_their_order() {
    let mut p = path(BDP);
    p.run_until(at(60_000));
    let refills = entered(&p, State::Refill);
    // At least one between two ProbeRTTs, which come every 5.2 s.
    assert!(refills.len() >= 11, "{}", refills.len());
    for i in 1..p.states.len() {
        let (now, before) = (p.states[i].1, p.states[i - 1].1);
        let in_order = match now {
            State::Startup => false,
            State::Drain => before == State::Startup,
            State::Down => matches!(before, State::Drain | State::Up),
            // A state that ends with the acknowledgement that began it is not recorded.
            State::Cruise => before != State::Startup && before != State::Refill,
            State::Refill => matches!(before, State::Cruise | State::Down),
            State::Up => before == State::Refill,
            State::ProbeRtt => true,
        };
        assert!(in_order, "{before:?} to {now:?}");
        if now == State::Refill {
            // Counted from DOWN, which may not be recorded, or from ProbeRTT, which takes another
            // 0.2 s.
            let since = if before == State::Cruise { p.states[i - 1].0 } else { p.states[i].0 };
            let waited = p.states[i].0.since(since).secs();
            assert!((1.5..3.1).contains(&waited), "{waited} s");
        }
    }
    // The queue of a probe drains within a second.
    p.run_to(is_in(State::Up));
    p.run_to(is_in(State::Cruise));
    assert!(p.queue() < 5.0, "{}", p.queue());
}

/// A.11.
#[test]
fn idling_stands_in_for_probe_rtt_and_the_pace_is_resumed() {
    let mut p = path(BDP);
    p.run_until(at(3_000));
    p.app = Duration::from_secs(6);
    p.run_to(|p| p.in_flight() == 0);
    p.app = Duration::ZERO;
    p.run_to(|p| p.in_flight() > 0);
    assert!(p.now > at(8_000), "{}", p.now);
    assert!(p.source.idle_restart);
    near(p.source.pacing_rate, 0.99 * p.source.model.bw(), 1e-9);
    let now = p.now;
    p.run_until(now + Duration::from_secs(4));
    assert!(entered(&p, State::ProbeRtt).iter().all(|begun| *begun < at(3_000)), "{:?}", p.states);
    assert!(share(&mut p, now + Duration::from_secs(4), now + Duration::from_millis(4_500)) > 0.9);
}

/// A.14.
#[test]
fn four_packets_are_outstanding_where_the_path_holds_less_than_one() {
    let rate = Rate::from_bps(256_000);
    let mut p = Path::new(bbr(&[("offload", "false")], 1), 1, rate, Duration::from_millis(1), 20);
    p.run_until(at(3_000));
    p.run_to(is_in(State::Cruise));
    assert!((4.0..6.0).contains(&p.window()), "{}", p.window());
    near(p.source.model.max_bw(), p.goodput(), 0.02);
    assert!(share(&mut p, at(10_000), at(40_000)) > 0.98);
}

/// A.15.
#[test]
fn ten_times_the_bandwidth_is_found_in_a_few_probes() {
    let mut p = Path::new(bbr(&[], 1), 1, Rate::from_mbps(10), RTT, BDP);
    p.run_until(at(20_000));
    near(p.source.model.max_bw(), p.goodput(), 0.02);
    p.rate = Rate::from_mbps(100);
    assert!(share(&mut p, at(25_000), at(26_000)) > 0.8);
}

/// A.16.
#[test]
fn a_tenth_of_the_bandwidth_is_seen_by_losses_at_once_and_by_the_filter_after_two_cycles() {
    let mut p = path(BDP / 10);
    p.run_until(at(20_000));
    let before = p.source.model.max_bw();
    p.rate = Rate::from_mbps(10);
    p.run_until(at(21_500));
    assert!(p.source.model.bw() < 0.5 * before, "{:?}", p.source.reason());
    assert!(p.source.model.max_bw() > 0.9 * before);
    p.run_until(at(34_000));
    near(p.source.model.max_bw(), p.goodput(), 0.02);
}

/// A.21.
#[test]
fn a_probe_that_loses_too_much_ends_and_bounds_what_is_outstanding() {
    let mut p = path(4 * BDP);
    p.run_to(is_in(State::Up));
    p.lose_every = 20;
    p.run_to(is_in(State::Down));
    assert!(p.source.cycle.prev_too_high);
    let longterm = p.source.model.inflight_longterm;
    assert!(longterm >= 0.7 * p.source.target_inflight() && longterm.is_finite());
    // The next probe stops at that bound, and the one after continues.
    p.run_to(is_in(State::Cruise));
    p.lose_every = 0;
    p.run_to(is_in(State::Up));
    p.run_to(is_in(State::Down));
    assert!(p.source.model.inflight_longterm <= 1.1 * longterm);
    p.run_to(is_in(State::Refill));
    assert!(!p.source.cycle.prev_too_high);
}

/// 5.3.3.5.3: each round with losses keeps the share of the rate that got through, until the next
/// probe.
#[test]
fn one_packet_in_a_hundred_lost_is_borne_and_one_in_twenty_is_not() {
    for (every, least, most) in [(100, 0.7, 0.97), (20, 0.0, 0.2)] {
        let mut p = path(BDP);
        p.run_until(at(5_000));
        p.lose_every = every;
        let share = share(&mut p, at(10_000), at(70_000));
        assert!((least..most).contains(&share), "one in {every}: {share}");
    }
}

#[test]
fn a_shallow_buffer_is_used_without_losing_more_than_the_threshold() {
    for (share_of_bdp, least) in [(10, 0.88), (4, 0.94)] {
        let mut p = path(BDP / share_of_bdp);
        let share = share(&mut p, at(5_000), at(65_000));
        assert!(share > least, "1/{share_of_bdp} BDP: {share}");
        let loss = p.lost as f64 / (p.lost + p.delivered) as f64;
        assert!(loss < 0.02, "1/{share_of_bdp} BDP: {loss} lost");
    }
}

/// With packets and rate ten times as large the course is equal in packets, except for the quantum
/// of 64 KB.
#[test]
fn the_trajectory_does_not_depend_on_the_scale() {
    let run = |scale: u64| {
        let rate = Rate::from_mbps(100 * scale);
        let mut p = Path::new(bbr(&[("offload", "false")], scale), scale, rate, RTT, BDP);
        p.run_until(at(15_000));
        p
    };
    let (small, large) = (run(1), run(10));
    assert_eq!(small.states, large.states);
    assert!(small.states.len() > 15);
    near(large.window(), small.window(), 1e-9);
    assert_eq!(small.delivered * 10, large.delivered);
}

#[test]
fn the_pace_counts_headers() {
    let mut p = path(BDP);
    p.run_until(at(3_000));
    p.run_to(is_in(State::Cruise));
    near(p.source.pacing().unwrap().get(), p.source.pacing_rate * PACKET as f64 / MSS as f64, 1e-9);
    near(p.source.pacing().unwrap().get() * 8.0, 0.99 * 100e6, 0.01);
}
