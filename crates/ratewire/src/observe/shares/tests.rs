use ratewire_laws::AnyLaw;
use ratewire_net::spec::Change;
use ratewire_sim::dumbbell::{BOTTLENECK, Dumbbell};
use ratewire_transport::{App, Reader, Writer};
use ratewire_units::{Duration, Rate};

use super::*;

const STEP: Duration = Duration::from_millis(100);

/// Flows f1, f2 ... on 8 Mbit/s with a round trip of 100 ms, so that windows are 400 ms. Each
/// starts a second after the one before.
fn setup(flows: u32) -> Setup {
    let law = AnyLaw::new("newreno", &[]).expect("newreno");
    let stagger = Duration::from_secs(1);
    let rtt = Duration::from_millis(100);
    Dumbbell { stagger, ..Dumbbell::new(law, flows, Rate::from_mbps(8), rtt, 100) }.setup()
}

/// The result if each flow delivers `rates` in every interval of 100 ms, up to `end` tenths of a
/// second.
fn shared(setup: &Setup, end: u64, rates: impl Fn(u64) -> Vec<u64>) -> Sharing {
    watch(Shares::new(setup, Time::ZERO), 1..=end, rates).finish()
}

fn watch(
    mut shares: Shares,
    tenths: impl Iterator<Item = u64>,
    rates: impl Fn(u64) -> Vec<u64>,
) -> Shares {
    for tenth in tenths {
        shares.reach(Time::ZERO + STEP * tenth);
        for (flow, amount) in (0..).zip(rates(tenth)) {
            shares.deliver(flow, Bytes::new(amount));
        }
    }
    shares
}

#[test]
fn settling_is_counted_from_the_change_to_the_first_fair_window() {
    // f2 joins at 1 s; from 2 s on both get equal rates. Windows start at 1.0, 1.4, 1.8, 2.2 ...
    let shared = shared(&setup(2), 60, |tenth| match tenth {
        ..=10 => vec![100, 0],
        11..=20 => vec![70, 30],
        _ => vec![50, 50],
    });
    let [settling] = &shared.settlings[..] else { panic!("{:?}", shared.settlings) };
    assert_eq!(
        (settling.event.as_str(), settling.at_s, settling.flows),
        ("f2 joins at 1 s", 1.0, 2)
    );
    assert!((settling.window_s - 0.4).abs() < 1e-9);
    // Half of the window from 1.8 s on has 70 to 30, which gives 60 to 40: 20 % off.
    assert!((settling.took_s.unwrap() - 1.2).abs() < 1e-9, "{settling:?}");
    // Two windows at 70 to 30, one at 60 to 40, nine at 1; the incomplete last window is left out.
    let expected = (2.0 / 1.16 + 1.0 / 1.04 + 9.0) / 12.0;
    assert!((shared.jain_over_time().unwrap() - expected).abs() < 1e-9);
}

#[test]
fn what_does_not_last_has_not_settled() {
    let flips = |tenth: u64| if tenth % 40 < 24 { vec![50, 50] } else { vec![80, 20] };
    let shared = shared(&setup(2), 80, flips);
    assert_eq!(shared.settlings[0].took_s, None);
}

#[test]
fn a_change_close_behind_leaves_nothing_to_report() {
    let shared = shared(&setup(3), 60, |_| vec![50, 50, 50]);
    // Between f2 and f3 are two windows, after f3 are ten.
    let events: Vec<&str> = shared.settlings.iter().map(|s| s.event.as_str()).collect();
    assert_eq!(events, ["f3 joins at 2 s"]);
    assert_eq!(shared.settlings[0].took_s, Some(0.0));
    assert!((shared.jain_over_time().unwrap() - 1.0).abs() < 1e-12);
}

#[test]
fn a_change_between_samples_spoils_the_interval_it_is_in() {
    let mut setup = setup(2);
    setup.flows[1].start = Time::ZERO + Duration::from_millis(1050);
    // If the interval up to 1.1 s counted, the first window would be unfair.
    let shared = shared(&setup, 60, |tenth| if tenth <= 11 { vec![900, 0] } else { vec![50, 50] });
    let took = shared.settlings[0].took_s.unwrap();
    assert!((took - 0.05).abs() < 1e-9, "{took}: the first whole interval starts 50 ms later");
}

#[test]
fn flows_leave_when_they_stop_or_complete() {
    let mut setup = setup(3);
    setup.flows[2].start = Time::ZERO;
    setup.flows[2].app = App::sized(Bytes::new(5000));
    setup.flows[0].stop = Some(Time::ZERO + Duration::from_secs(8));
    let mut shares = watch(Shares::new(&setup, Time::ZERO), 1..=40, |_| vec![50, 50, 50]);
    // The flow completes in the interval that ends at 4.1 s, and the completion comes before its
    // samples.
    shares.complete(2, Time::ZERO + Duration::from_millis(4020));
    let shared = watch(shares, 41..=80, |_| vec![50, 50, 0]).finish();
    let events: Vec<(&str, u64)> =
        shared.settlings.iter().map(|s| (s.event.as_str(), s.flows)).collect();
    // At 8 s only f2 is left, which shares with no other flow.
    assert_eq!(events, [("f2 joins at 1 s", 3), ("f3 completes", 2)]);
}

#[test]
fn links_change_too() {
    let mut setup = setup(2);
    let at = Time::ZERO + Duration::from_secs(4);
    setup.changes.push((at, BOTTLENECK, Change::Rate(Rate::from_mbps(2))));
    setup.changes.push((at, BOTTLENECK, Change::Delay(Duration::ZERO)));
    let shared = shared(&setup, 100, |tenth| if tenth <= 60 { vec![60, 40] } else { vec![50, 50] });
    let events: Vec<&str> = shared.settlings.iter().map(|s| s.event.as_str()).collect();
    assert_eq!(events, ["f2 joins at 1 s", "r1->r2 changes at 4 s"]);
    assert_eq!(shared.settlings[0].took_s, None);
    assert!((shared.settlings[1].took_s.unwrap() - 2.0).abs() < 1e-9);
}

#[test]
fn windows_are_long_enough_for_forty_packets_of_the_smallest_part() {
    let mut setup = setup(2);
    setup.network.links[BOTTLENECK.index()].service =
        ratewire_net::spec::Service::Rate(Rate::from_bps(400_000));
    // 40 packets of 8,000 bits at 200 kbit/s.
    let shared = shared(&setup, 200, |_| vec![50, 50]);
    assert!((shared.settlings[0].window_s - 1.6).abs() < 1e-9, "{:?}", shared.settlings);
}

#[test]
fn who_does_not_take_what_it_gets_does_not_contend() {
    let mut setup = setup(3);
    setup.flows[2].app.reader = Reader::Slow(Duration::from_secs(1));
    let shared = shared(&setup, 60, |_| vec![50, 50, 1]);
    assert_eq!(shared.settlings.len(), 1);
    assert_eq!(shared.jain_over_time(), Some(1.0));
}

#[test]
fn fair_is_by_weight() {
    let mut setup = setup(2);
    setup.weights = vec![1.0, 3.0];
    let fair = shared(&setup, 60, |_| vec![25, 75]);
    assert_eq!(fair.settlings[0].took_s, Some(0.0));
    assert!((fair.jain_over_time().unwrap() - 1.0).abs() < 1e-12);
    assert_eq!(shared(&setup, 60, |_| vec![50, 50]).settlings[0].took_s, None);
}

#[test]
fn fair_is_max_min() {
    let mut setup = setup(2);
    // The second pair's access link is tighter: f2 may have 2 Mbit/s, f1 the rest.
    let access = setup.network.links.iter_mut().find(|link| link.name == "s2->r1").unwrap();
    access.service = ratewire_net::spec::Service::Rate(Rate::from_mbps(2));
    let shared = shared(&setup, 60, |_| vec![75, 25]);
    assert_eq!(shared.settlings[0].took_s, Some(0.0));
    assert!((shared.jain_over_time().unwrap() - 1.0).abs() < 1e-12);
}

#[test]
fn what_is_due_to_a_flow_follows_from_all_that_ran_beside_it() {
    let mut setup = setup(3);
    setup.flows[1].stop = Some(Time::ZERO + Duration::from_millis(3050));
    setup.measured = Some((Time::ZERO + STEP * 5, Time::ZERO + STEP * 45));
    // f2 from 1 to 3.05 s, f3 from 2 s on.
    let shares = Shares::new(&setup, Time::ZERO + Duration::from_millis(1500));
    let due = watch(shares, 1..=60, |_| vec![50, 50, 50]).finish().due;
    let thirds = 1.05 / 3.0;
    let expected = [0.5 / 2.0 + thirds + 1.45 / 2.0, 0.5 / 2.0 + thirds, thirds + 1.45 / 2.0];
    for (due, seconds) in due.iter().zip(expected) {
        assert!((due.expect("a contender") - 8e6 * seconds).abs() < 1.0, "{due:?} {expected:?}");
    }
}

#[test]
fn flows_of_constant_rate_take_their_part_and_are_not_judged() {
    let mut setup = setup(3);
    setup.flows[2].app.writer = Writer::Constant { rate: Rate::from_mbps(2) };
    let shared = shared(&setup, 80, |_| vec![50, 50, 900]);
    let events: Vec<(&str, u64, Option<f64>)> =
        shared.settlings.iter().map(|s| (s.event.as_str(), s.flows, s.took_s)).collect();
    assert_eq!(events, [("f3 joins at 2 s", 2, Some(0.0))]);
    assert_eq!(shared.jain_over_time(), Some(1.0));
    // 8 Mbit/s for a second, two halves of it for another, and then of what is left of it.
    let config = &setup.flows[2].transport;
    let payload = (config.packet - config.headers).as_f64() / config.packet.as_f64();
    let left = (8e6 - 2e6 / payload) / 2.0;
    let due = shared.due[0].expect("a contender");
    assert!((due - (8e6 + 4e6 + 6.0 * left)).abs() < 1.0, "{due}");
    assert_eq!(shared.due[2], None);
}
