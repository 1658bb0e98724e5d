//! Tests against the pseudo code of RFC 9332, appendix A.

use ratewire_laws::options::Options;
use ratewire_units::{Bytes, Duration, Time};

use super::*;
use crate::packet::Label;
use crate::queue::sorted::Sorted;
use crate::queue::{Backlog, Head};
use crate::random::stream;
use rand_core::Rng;

const PACKET: Bytes = Bytes::new(1500);

fn ms(n: u64) -> Duration {
    Duration::from_millis(n)
}
fn us(n: u64) -> Duration {
    Duration::from_micros(n)
}

fn dual(given: &[(&str, &str)]) -> DualPi2 {
    let mut options = Options::defaults(OPTIONS);
    given.iter().for_each(|(key, value)| options.set(key, value).unwrap());
    DualPi2::from_options(&options, PACKET).unwrap()
}

/// A DualPI2 with this base probability, and no update for a while.
fn at(base: f64) -> DualPi2 {
    DualPi2 { base, ..dual(&[("update", "1000 s")]) }
}

fn departure(queue: u32, sojourn: Duration, behind: u32) -> Departure {
    let now = Time::ZERO + ms(500);
    let ecn = if queue == LOW_LATENCY { Ecn::Scalable } else { Ecn::NotCapable };
    let backlog = Backlog { packets: behind, bytes: PACKET * u64::from(behind) };
    let next = (behind > 0).then_some(Head { came: now, size: PACKET });
    let link_bytes = backlog.bytes;
    Departure { now, queue, size: PACKET, ecn, sojourn, backlog, link_bytes, next }
}

/// Share of 100,000 departures that is not passed, and how the first of these was treated.
fn signals(dual: &mut DualPi2, one: &Departure) -> (f64, Option<Treatment>) {
    let all: Vec<Treatment> = (0..100_000).map(|_| dual.on_departure(one)).collect();
    let hit: Vec<Treatment> = all.into_iter().filter(|one| *one != Treatment::Pass).collect();
    (hit.len() as f64 / 1e5, hit.first().copied())
}

fn near(a: f64, b: f64) {
    assert!((a - b).abs() <= 1e-9 * b.abs().max(1.0), "{a} and not {b}");
}

/// A.1: alpha = 0.1 Tupdate / RTT_max^2, beta = 0.3 / RTT_max.
#[test]
fn the_defaults_are_those_of_the_pseudo_code() {
    let dual = dual(&[]);
    let (t_update, rtt_max) = (0.015, 0.1);
    assert_eq!((dual.target, dual.updates.interval()), (ms(15), ms(15)));
    near(dual.alpha, 0.1 * t_update / (rtt_max * rtt_max));
    near(dual.beta, 0.3 / rtt_max);
    assert_eq!((dual.coupling, dual.ramp_start, dual.ramp), (2.0, us(800), us(400)));
}

/// dualpi2_update of A.1 and A.2.
#[test]
fn the_base_probability_follows_the_longer_wait() {
    let update = |classic, low_latency| {
        let heads = [classic, low_latency]
            .map(|wait: Option<u64>| wait.map(|wait| Time::ZERO + ms(1000 - wait)));
        let mut dual = DualPi2 { base: 0.1, previous: ms(20), heads, ..dual(&[]) };
        dual.update(Time::ZERO + ms(1000));
        dual
    };
    for (classic, low_latency, wait) in
        [(Some(25), None, 25), (Some(25), Some(1), 25), (Some(5), Some(30), 30), (None, None, 0)]
    {
        let dual = update(classic, low_latency);
        let wait_s = wait as f64 / 1000.0;
        near(dual.base, (0.1 + 0.15 * (wait_s - 0.015) + 3.0 * (wait_s - 0.020)).clamp(0.0, 1.0));
        assert_eq!(dual.previous, ms(wait));
    }
}

/// A.1: p_C = p'^2 and p_CL = k p'.
#[test]
fn the_square_of_the_base_drops_classic_packets_and_twice_the_base_marks_the_others() {
    for base in [0.05, 0.1, 0.3, 0.45] {
        let (share, how) = signals(&mut at(base), &departure(CLASSIC, ms(15), 9));
        assert!((share - base * base).abs() < 1e-4, "{share}");
        assert_eq!(how, Some(Treatment::MarkOrDrop), "marked if it can be, else dropped");
        let (share, how) = signals(&mut at(base), &departure(LOW_LATENCY, us(100), 9));
        assert!((share - 2.0 * base).abs() < 1e-4, "{share}");
        assert_eq!(how, Some(Treatment::MarkOrDrop));
    }
}

/// recur of A.1: even spacing, not chance.
#[test]
fn signals_are_evenly_spaced() {
    let mut dual = at(0.125);
    let one = departure(LOW_LATENCY, us(0), 9);
    let marked: Vec<u32> =
        (1..=20).filter(|_| dual.on_departure(&one) != Treatment::Pass).collect();
    assert_eq!(marked, [5, 9, 13, 17], "k p' = 1/4: where the sum exceeds a whole");
}

/// laqm of A.1, and Th_len of A.2.
#[test]
fn the_low_latency_queue_marks_along_its_ramp() {
    for (wait, share) in
        [(800, 0.0), (900, 0.25), (1000, 0.5), (1100, 0.75), (1200, 1.0), (5000, 1.0)]
    {
        let (of, _) = signals(&mut at(0.0), &departure(LOW_LATENCY, us(wait), 9));
        assert!((of - share).abs() < 1e-4, "{wait} us: {of}");
    }
    // The greater of the native and the coupled probability counts.
    let (of, _) = signals(&mut at(0.2), &departure(LOW_LATENCY, us(900), 9));
    assert!((of - 0.4).abs() < 1e-4, "{of}");
    let (of, _) = signals(&mut at(0.0), &departure(LOW_LATENCY, us(5000), 1));
    assert_eq!(of, 0.0, "one packet is no queue");
    let mut step = DualPi2 { ramp: Duration::ZERO, ..at(0.0) };
    assert_eq!(signals(&mut step, &departure(LOW_LATENCY, us(800), 9)).0, 0.0);
    assert!(signals(&mut step, &departure(LOW_LATENCY, us(801), 9)).0 > 0.999);
}

/// A.2: from p_CL = 1 on, which is p_C = 1/4, signals are drops in both queues.
#[test]
fn overload_drops_in_both_queues() {
    let (share, how) = signals(&mut at(0.5), &departure(CLASSIC, ms(15), 9));
    assert!((share - 0.25).abs() < 1e-4 && how == Some(Treatment::Drop), "{share}");
    let mut dual = at(0.6);
    let one = departure(LOW_LATENCY, us(100), 9);
    let all: Vec<Treatment> = (0..100_000).map(|_| dual.on_departure(&one)).collect();
    let of = |how| all.iter().filter(|one| **one == how).count() as f64 / 1e5;
    // Drops and marks share one count: a share of p_C = 0.36 is dropped, and the rest is marked.
    assert!((of(Treatment::Drop) - 0.36).abs() < 0.01, "{}", of(Treatment::Drop));
    assert!(of(Treatment::Pass) < 0.02, "{}", of(Treatment::Pass));
}

/// dualpi2_enqueue: ECN bits modulo 2.
#[test]
fn the_codepoint_chooses_the_queue() {
    let mut dual = dual(&[]);
    for (ecn, queue) in [
        (Ecn::NotCapable, CLASSIC),
        (Ecn::Capable, CLASSIC),
        (Ecn::Scalable, LOW_LATENCY),
        (Ecn::Marked, LOW_LATENCY),
    ] {
        let backlog = Backlog::default();
        let arrival =
            Arrival { now: Time::ZERO, size: PACKET, flow: 0, ecn, packet_time: None, backlog };
        assert_eq!(dual.place(&arrival, &mut || panic!("nothing is drawn")), queue);
    }
}

#[test]
fn while_both_wait_the_classic_queue_gets_its_share() {
    let mut dual = DualPi2 { heads: [Some(Time::ZERO); 2], ..at(0.0) };
    let mut sorted = Sorted::default();
    (0..1000).for_each(|_| sorted.push(CLASSIC, Time::ZERO, Label { size: 1500, ..Label::NONE }));
    (0..10_000)
        .for_each(|_| sorted.push(LOW_LATENCY, Time::ZERO, Label { size: 500, ..Label::NONE }));
    let mut bytes = [0; 2];
    for step in 0..3000 {
        let queue = dual.choose(Time::ZERO, sorted.queues());
        let label = sorted.pop(queue).unwrap();
        assert!(step > 0 || queue == LOW_LATENCY);
        let size = Bytes::new(u64::from(label.size));
        let next = sorted.queues().head(queue);
        dual.on_departure(&Departure { size, next, ..departure(queue, us(0), 9) });
        bytes[queue as usize] += label.size;
    }
    let share = f64::from(bytes[0]) / f64::from(bytes[0] + bytes[1]);
    assert!((share - 0.1).abs() < 0.002, "{share}");
    // A queue alone gets the whole link.
    let mut alone = Sorted::default();
    (0..9).for_each(|_| alone.push(CLASSIC, Time::ZERO, Label { size: 1500, ..Label::NONE }));
    assert_eq!(dual.choose(Time::ZERO, alone.queues()), CLASSIC);
}

/// A long time alone neither saves up credit nor runs up a debt.
#[test]
fn a_queue_that_was_alone_changes_no_credit() {
    for alone in [CLASSIC, LOW_LATENCY] {
        let mut dual = at(0.0);
        let before = dual.credit;
        for _ in 0..100_000 {
            dual.on_departure(&departure(alone, us(0), 9));
        }
        assert_eq!(dual.credit, before);
    }
}

/// Updates computed at arrivals and departures equal those of a timer.
#[test]
fn updates_need_no_timer() {
    let mut random = stream(1, "dualpi2", 0);
    let mut benches = [(); 2].map(|()| (dual(&[]), Sorted::default()));
    let (mut now, mut due, mut signals) = (Time::ZERO, Time::ZERO + ms(15), 0);
    for step in 0..20_000u32 {
        let wait = match step % 700 {
            0 => random.next_u64() % 3_000_000,
            _ => random.next_u64() % 2_000,
        };
        now += us(wait);
        // The second bench has an event at each multiple of the interval.
        while due <= now {
            benches[1].0.catch_up(due);
            due += ms(15);
        }
        let (arrives, scalable) =
            (random.next_u64() % 100 < 52, random.next_u64().is_multiple_of(4));
        let ecn = if scalable { Ecn::Scalable } else { Ecn::NotCapable };
        let treated = benches.each_mut().map(|(dual, sorted)| {
            if arrives {
                let backlog = Backlog::default();
                let arrival =
                    Arrival { now, size: PACKET, flow: 0, ecn, packet_time: None, backlog };
                let queue = dual.place(&arrival, &mut || 0.0);
                sorted.push(queue, now, Label { size: 1500, ecn, ..Label::NONE });
                return None;
            }
            if sorted.queues().head(0).is_none() && sorted.queues().head(1).is_none() {
                return None;
            }
            let queue = dual.choose(now, sorted.queues());
            let label = sorted.pop(queue).unwrap();
            let (queues, sojourn) = (sorted.queues(), now.since(label.time));
            let (backlog, next) = (queues.backlog(queue), queues.head(queue));
            let (ecn, link_bytes) = (label.ecn, queues.bytes());
            let one =
                Departure { now, queue, size: PACKET, ecn, sojourn, backlog, link_bytes, next };
            let treatment = dual.on_departure(&one);
            if queues.head(0).is_none() && queues.head(1).is_none() {
                dual.on_empty(now);
            }
            Some(treatment)
        });
        assert_eq!(treated[0], treated[1]);
        signals += u32::from(treated[0].is_some_and(|how| how != Treatment::Pass));
        let mut lazy = benches[0].0.clone();
        lazy.catch_up(now);
        assert_eq!(format!("{lazy:?}"), format!("{:?}", benches[1].0), "step {step}");
    }
    assert!(signals > 100, "{signals}");
}
