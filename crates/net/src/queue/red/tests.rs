//! Tests of the 1993 paper's probabilities, and of the decay of the average.

use ratewire_laws::options::Options;
use ratewire_units::{Bytes, Duration, Time};

use super::*;
use crate::packet::Ecn;
use crate::queue::Backlog;
use crate::random::{stream, unit};
use rand_core::Rng;

fn red(weight: &str) -> Red {
    let mut options = Options::defaults(OPTIONS);
    for (key, value) in [("min", "10 KB"), ("max", "30 KB"), ("weight", weight)] {
        options.set(key, value).unwrap();
    }
    Red::from_options(&options, Bytes::new(1500)).unwrap()
}

fn arrive(red: &mut Red, now: Time, waiting: u64, draw: &mut dyn FnMut() -> f64) -> Treatment {
    let arrival = Arrival {
        now,
        size: Bytes::new(1000),
        flow: 0,
        ecn: Ecn::Capable,
        packet_time: Some(Duration::from_millis(1)),
        backlog: Backlog { packets: waiting.div_ceil(1000) as u32, bytes: Bytes::new(waiting) },
    };
    red.on_arrival(&arrival, draw)
}

#[test]
fn red_passes_below_min_drops_above_twice_max_and_some_between() {
    let mut random = stream(1, "red", 0);
    let mut draw = || unit(random.next_u64());
    let mut share = |waiting: u64| {
        let mut red = red("1");
        red.idle_since = None;
        let hits = (0..10_000)
            .filter(|_| arrive(&mut red, Time::ZERO, waiting, &mut draw) != Treatment::Pass)
            .count();
        hits as f64 / 10_000.0
    };
    assert_eq!(share(9_000), 0.0);
    assert_eq!(share(60_000), 1.0);
    // The even spreading makes the gap uniform on 1..1/p, whose mean is about 1/(2p).
    let between = share(20_000);
    assert!((0.08..0.11).contains(&between), "{between}");
}

/// After a long queue has emptied, packets pass without waiting; the average decays with the time.
#[test]
fn red_forgets_with_idle_time_and_not_only_with_packets() {
    let mut random = stream(1, "red", 0);
    let mut draw = || unit(random.next_u64());
    let mut red = red("0.01");
    let ms = |n| Time::ZERO + Duration::from_millis(n);
    for i in 0..1000 {
        arrive(&mut red, ms(i), 25_000, &mut draw);
    }
    assert!(red.average > 24_000.0, "{}", red.average);
    red.on_empty(ms(1000));
    arrive(&mut red, ms(1010), 0, &mut draw);
    let after_ten = red.average;
    assert!((after_ten / 25_000.0 - 0.99f64.powi(11)).abs() < 0.01, "{after_ten}");
    // That packet did not wait, so the time after it is idle time too.
    arrive(&mut red, ms(1110), 0, &mut draw);
    assert!((red.average / after_ten - 0.99f64.powi(101)).abs() < 0.01, "{}", red.average);
    // This packet finds another one waiting, so the queue was not empty.
    let before = red.average;
    arrive(&mut red, ms(2000), 1, &mut draw);
    assert!((red.average / before - 0.99).abs() < 0.001);
}

#[test]
fn thresholds_in_the_wrong_order_are_refused() {
    let mut options = Options::defaults(OPTIONS);
    options.set("min", "15 packets").unwrap();
    let e = Red::from_options(&options, Bytes::new(1000)).unwrap_err();
    assert_eq!(e.message, "`min` of RED (15 KB) must be below `max` (15 KB)");
}
