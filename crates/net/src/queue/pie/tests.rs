//! Tests of RFC 8033's numbers, section by section.

use ratewire_laws::options::Options;
use ratewire_units::{Bytes, Duration, Time};

use super::*;
use crate::packet::Ecn;
use crate::queue::Backlog;
use crate::random::{stream, unit};
use rand_core::Rng;

const PACKET: Bytes = Bytes::new(1000);

fn ms(n: u64) -> Duration {
    Duration::from_millis(n)
}

fn pie(given: &[(&str, &str)]) -> Pie {
    let mut options = Options::defaults(OPTIONS);
    given.iter().for_each(|(key, value)| options.set(key, value).unwrap());
    Pie::from_options(&options, PACKET).unwrap()
}

/// A PIE under way, with this probability and latency and no burst allowance left.
fn at(probability: f64, delay: Duration) -> Pie {
    Pie { probability, delay, old_delay: delay, allowance: Duration::ZERO, ..pie(&[]) }
}

fn arrive(pie: &mut Pie, now: Time, packets: u32, draw: &mut dyn FnMut() -> f64) -> Treatment {
    let bytes = PACKET * u64::from(packets);
    let backlog = Backlog { packets, bytes };
    pie.on_arrival(
        &Arrival { now, size: PACKET, flow: 0, ecn: Ecn::Capable, packet_time: None, backlog },
        draw,
    )
}

fn depart(pie: &mut Pie, now: Time, sojourn: Duration) {
    let backlog = Backlog { packets: 9, bytes: PACKET * 9 };
    let treatment = pie.on_departure(&Departure {
        now,
        queue: 0,
        size: PACKET,
        ecn: Ecn::Capable,
        sojourn,
        backlog,
        link_bytes: backlog.bytes,
        next: None,
    });
    assert_eq!(treatment, Treatment::Pass, "PIE drops at arrival only");
}

fn near(a: f64, b: f64) {
    assert!((a - b).abs() <= 1e-9 * b.abs(), "{a} and not {b}");
}

/// Section 4.2: alpha = 1/8, beta = 1 + 1/4, divided by the table's numbers.
#[test]
fn the_gains_are_scaled_by_the_probability() {
    let table = [
        (0.000_000_5, 2048.0),
        (0.000_005, 512.0),
        (0.000_05, 128.0),
        (0.000_5, 32.0),
        (0.005, 8.0),
        (0.05, 2.0),
        (0.5, 1.0),
    ];
    for (p, divisor) in table {
        let mut pie = Pie { old_delay: ms(17), ..at(p, ms(18)) };
        pie.update();
        // 3 ms above the target, and 1 ms more than before.
        near(pie.probability - p, (0.125 * 0.003 + 1.25 * 0.001) / divisor);
        assert_eq!(pie.old_delay, ms(18));
    }
}

/// Section 4.2: bounded by 0 and 1; decays by 0.98 when there is no latency.
#[test]
fn the_probability_is_bounded_and_decays_without_latency() {
    let mut pie = Pie { old_delay: ms(0), ..at(0.995, ms(500)) };
    pie.update();
    assert_eq!(pie.probability, 1.0);
    let mut pie = Pie { old_delay: ms(60), ..at(0.01, ms(0)) };
    pie.update();
    assert_eq!(pie.probability, 0.0);
    let mut pie = at(0.5, ms(0));
    pie.update();
    near(pie.probability, (0.5 - 0.125 * 0.015) * 0.98);
    // One sample of latency: no decay.
    let mut pie = Pie { old_delay: ms(1), ..at(0.5, ms(0)) };
    pie.update();
    near(pie.probability, 0.5 - 0.125 * 0.015 - 1.25 * 0.001);
}

/// Section 5.5.
#[test]
fn a_high_probability_grows_by_two_hundredths_at_most() {
    let mut pie = Pie { old_delay: ms(0), ..at(0.1, ms(200)) };
    pie.update();
    near(pie.probability, 0.12);
    let mut pie = Pie { old_delay: ms(0), ..at(0.099, ms(200)) };
    pie.update();
    near(pie.probability, 0.099 + (0.125 * 0.185 + 1.25 * 0.2) / 2.0);
}

/// Section 4.1.
#[test]
fn packets_pass_where_the_queue_is_short() {
    let mut never = || -> f64 { panic!("nothing is drawn") };
    let mut pie = at(0.19, Duration::from_micros(7_499));
    assert_eq!(arrive(&mut pie, Time::ZERO, 100, &mut never), Treatment::Pass);
    let mut pie = at(0.9, ms(100));
    assert_eq!(arrive(&mut pie, Time::ZERO, 2, &mut never), Treatment::Pass);
    let mut pie = at(0.9, ms(100));
    assert_eq!(arrive(&mut pie, Time::ZERO, 3, &mut || 0.0), Treatment::Drop);
    // A latency of half the target is no short queue, and neither is a probability of 0.2.
    let mut pie = Pie { accumulated: 1.0, ..at(0.19, Duration::from_micros(7_500)) };
    assert_eq!(arrive(&mut pie, Time::ZERO, 100, &mut || 0.0), Treatment::Drop);
    let mut pie = Pie { accumulated: 1.0, ..at(0.2, ms(1)) };
    assert_eq!(arrive(&mut pie, Time::ZERO, 100, &mut || 0.0), Treatment::Drop);
}

/// Section 5.4: nothing below 0.85, a drop at 8.5, and in between by chance.
#[test]
fn drops_are_spaced() {
    let gap = |p: f64, drawn: f64| {
        let mut pie = at(p, ms(30));
        let dropped = |_: &u32| arrive(&mut pie, Time::ZERO, 100, &mut || drawn) != Treatment::Pass;
        (1..).find(dropped)
    };
    // 0.85 * 64 is 54.4, 0.85 * 16 is 13.6, and 8.5 * 16 is 136.
    assert_eq!(gap(1.0 / 64.0, 0.0), Some(55));
    assert_eq!(gap(1.0 / 16.0, 0.0), Some(14));
    assert_eq!(gap(1.0 / 16.0, 0.99), Some(136));
    // With random draws, 16 packets pass for certain, and then 1 / 0.05 = 20 packets make a mean
    // gap.
    let mut random = stream(1, "pie", 0);
    let mut draw = || unit(random.next_u64());
    let mut pie = at(0.05, ms(30));
    let drops = (0..100_000)
        .filter(|_| arrive(&mut pie, Time::ZERO, 100, &mut draw) != Treatment::Pass)
        .count();
    let mean_gap = 100_000.0 / drops as f64;
    assert!((mean_gap - (16.0 + 20.0)).abs() < 1.0, "{mean_gap}");
}

/// Section 5.1: marks below 10 %, drops from there on.
#[test]
fn packets_are_marked_up_to_the_threshold() {
    for (ecn, p, treatment) in [
        ("true", 0.099, Treatment::MarkOrDrop),
        ("true", 0.1, Treatment::Drop),
        ("false", 0.099, Treatment::Drop),
    ] {
        let under_way = Pie { accumulated: 1.0, ..at(p, ms(30)) };
        let mut pie = Pie { ecn: pie(&[("ecn", ecn)]).ecn, ..under_way };
        assert_eq!(arrive(&mut pie, Time::ZERO, 100, &mut || 0.0), treatment);
    }
}

/// Section 4.4: a burst passes for 150 ms, whatever its latency; the next one passes only if the
/// queue was short before.
#[test]
fn bursts_pass_for_their_allowance() {
    let mut pie = pie(&[]);
    let mut first_drop = |start: u64| {
        (start..start + 2000).find(|now| {
            let at = Time::ZERO + ms(*now);
            depart(&mut pie, at, ms(100));
            // The draw always hits, and drops are not spaced: a packet passes only by the
            // allowance.
            pie.accumulated = 1.0;
            arrive(&mut pie, at, 100, &mut || 0.0) != Treatment::Pass
        })
    };
    assert_eq!(first_drop(0), Some(150));
    // Still congested: no further allowance.
    assert_eq!(first_drop(151), Some(151));
    // Ten seconds without latency, then another burst; the allowance is renewed by its first
    // packet.
    pie.on_empty(Time::ZERO + ms(2000));
    assert_eq!(arrive(&mut pie, Time::ZERO + ms(12_000), 0, &mut || 0.0), Treatment::Pass);
    assert_eq!((pie.probability, pie.allowance), (0.0, ms(150)));
}

/// Updates computed at arrivals and departures equal those of a timer.
#[test]
fn updates_need_no_timer() {
    let mut random = stream(1, "pie", 1);
    let (mut lazy, mut timed) = (pie(&[]), pie(&[]));
    let (mut now, mut due, mut drops) = (Time::ZERO, Time::ZERO + ms(15), 0);
    for step in 0..20_000u32 {
        // Most waits are within an interval; a few are of many intervals.
        let wait =
            if step % 500 == 0 { random.next_u64() % 2_000_000 } else { random.next_u64() % 3_000 };
        now += Duration::from_micros(wait);
        // `timed` has an event at each multiple of the interval.
        while due <= now {
            timed.catch_up(due);
            due += ms(15);
        }
        let drawn = unit(random.next_u64());
        let sojourn = Duration::from_micros(20_000 + random.next_u64() % 40_000);
        let what = random.next_u64() % 8;
        let treatments = [&mut lazy, &mut timed].map(|pie| match what {
            0 if step % 64 == 0 => {
                pie.on_empty(now);
                None
            }
            0..4 => {
                depart(pie, now, sojourn);
                None
            }
            _ => Some(arrive(pie, now, 50, &mut || drawn)),
        });
        assert_eq!(treatments[0], treatments[1]);
        drops += u32::from(treatments[0] == Some(Treatment::Drop));
        assert_eq!(format!("{lazy:?}"), format!("{timed:?}"), "step {step}");
    }
    assert!(drops > 100, "{drops}");
}

#[test]
fn long_idle_times_take_few_steps() {
    let mut pie = pie(&[("update", "1 us"), ("burst", "1 ms")]);
    let day = Time::ZERO + Duration::from_secs(86_400);
    pie.catch_up(day);
    assert_eq!(pie.updates.take(day), None);
    assert_eq!(
        pie.updates.take(day + Duration::from_micros(1)),
        Some(day + Duration::from_micros(1))
    );
}
