use super::*;
use rand_core::Rng;
use ratewire_units::Duration;

/// A time ahead at which a level begins or ends, or in a bucket beside that time's.
fn edge(wheel: &Wheel, now: u64, r: u64) -> u64 {
    let buckets = [1, BLOCK, BUCKETS, BUCKETS + BLOCK, BLOCK * BLOCKS][(r % 5) as usize];
    let bucket = (now >> wheel.shift) + buckets - 1 + (r >> 8) % 3;
    (bucket << wheel.shift).saturating_sub(now)
}

/// Compares the wheel with a sorted list, for times from nanoseconds to hours apart.
#[test]
fn order_is_time_then_insertion_whatever_the_spread() {
    for scale in [20, 30, 40, 50, 56] {
        let mut random = ratewire_net::random::stream(scale, "wheel", 0);
        let mut wheel = Wheel::default();
        let mut model: BinaryHeap<Reverse<(u64, u64, u32)>> = BinaryHeap::new();
        let mut now = 0;
        let mut order = 0;
        for step in 0..200_000u32 {
            let grow = model.len() < 2000 && (step < 150_000);
            if grow || (random.next_u64().is_multiple_of(2) && step < 190_000) {
                let r = random.next_u64();
                // Most times are near, some are equal to now, and some are far.
                let ahead = match r % 9 {
                    0 => 0,
                    8 => edge(&wheel, now, r >> 8),
                    1 => (r >> 8) % (1 << scale),
                    _ => (r >> 8) % (1 << (scale - 8)),
                };
                order += 1;
                wheel.push(Time::from_ps(now + ahead), step);
                model.push(Reverse((now + ahead, order, step)));
            } else if let Some(Reverse((time, _, what))) = model.pop() {
                assert_eq!(wheel.pop(), Some((Time::from_ps(time), what)));
                now = time;
            }
        }
        while let Some(Reverse((time, _, what))) = model.pop() {
            assert_eq!(wheel.pop(), Some((Time::from_ps(time), what)));
        }
        assert_eq!(wheel.pop(), None);
    }
}

/// Compares the wheel with a sorted list, for limits at, just before and just after the next event,
/// and others. An event may be pushed at a limit before which none was found.
#[test]
fn nothing_comes_at_a_limit_or_after_it() {
    for scale in [20, 30, 40, 50] {
        let mut random = ratewire_net::random::stream(scale, "wheel", 7);
        let mut wheel = Wheel::default();
        let mut model: BinaryHeap<Reverse<(u64, u32)>> = BinaryHeap::new();
        let (mut now, mut popped) = (0, 0);
        for step in 0..100_000u32 {
            let r = random.next_u64();
            if model.len() < 500 && r.is_multiple_of(2) {
                let ahead = match r >> 1 & 7 {
                    0 => 0,
                    1 => edge(&wheel, now, r >> 8),
                    2 => (r >> 8) % (1 << scale),
                    _ => (r >> 8) % (1 << (scale - 8)),
                };
                wheel.push(Time::from_ps(now + ahead), step);
                model.push(Reverse((now + ahead, step)));
                continue;
            }
            let next = model.peek().map(|Reverse((time, _))| *time);
            let seen = wheel.next_time();
            assert_eq!(seen == Time::NEVER, next.is_none());
            assert!(next.is_none_or(|next| seen.ps() <= next));
            let near = next.unwrap_or(now + 1000);
            let limits = [0, now, near.saturating_sub(1), near, near + 1, near + 12_345, u64::MAX];
            let limit = limits[(r >> 8) as usize % limits.len()];
            let expected = model.peek().filter(|Reverse((time, _))| *time < limit).copied();
            let event = wheel.pop_before(Time::from_ps(limit));
            assert_eq!(event, expected.map(|Reverse((time, what))| (Time::from_ps(time), what)));
            match expected {
                Some(Reverse((time, _))) => {
                    model.pop();
                    popped += 1;
                    now = time;
                }
                None if limit < u64::MAX => now = now.max(limit),
                None => (),
            }
        }
        assert!(popped > 10_000, "{popped}");
    }
}

#[test]
fn events_of_one_time_may_ignore_the_order_of_insertion() {
    let at = Time::from_ps(1 << 30);
    let events = |order: [u32; 3], renumbers: bool| {
        let mut wheel = Wheel::default();
        wheel.order_by_what();
        order.into_iter().for_each(|what| wheel.push_in_any_order(at, what));
        wheel.push(at, 9);
        wheel.push(at, 8);
        if renumbers {
            wheel.renumber();
        }
        wheel.push_in_any_order(at, 0);
        core::iter::from_fn(|| wheel.pop()).map(|(_, what)| what).collect::<Vec<_>>()
    };
    for order in [[1, 2, 3], [3, 1, 2], [2, 3, 1]] {
        assert_eq!(events(order, false), [9, 8, 0, 1, 2, 3]);
        assert_eq!(events(order, true), [9, 8, 0, 1, 2, 3]);
    }
}

/// A link on a medium is scheduled twice for one time.
#[test]
fn equal_events_without_numbers_come_out_as_often_as_they_went_in() {
    let (at, later) = (Time::from_ps(1 << 30), Time::from_ps((1 << 30) + 1));
    let mut wheel = Wheel::default();
    wheel.order_by_what();
    for (at, what) in
        [(at, 1), (at, 1), (at, 1), (later, 2), (at, 1), (later, 2), (later, 1), (at, 1)]
    {
        wheel.push_in_any_order(at, what);
    }
    let events: Vec<_> = core::iter::from_fn(|| wheel.pop()).collect();
    let first = [(at, 1); 5];
    assert_eq!(events, [&first[..], &[(later, 1), (later, 2), (later, 2)]].concat());
}

#[test]
fn equal_times_keep_their_order_across_levels() {
    let mut wheel = Wheel::default();
    let far = Time::from_ps(1 << 50);
    wheel.push(far, 1);
    wheel.push(Time::from_ps((1 << 50) - 1), 0);
    wheel.push(far, 2);
    assert_eq!(wheel.pop().map(|e| e.1), Some(0));
    wheel.push(far, 3);
    assert_eq!([wheel.pop(), wheel.pop(), wheel.pop()].map(|e| e.unwrap().1), [1, 2, 3]);
}

/// The numbers run out while many events are pending, some of them at the same time.
#[test]
fn order_is_kept_where_numbers_begin_anew() {
    let mut wheel = Wheel { number: u32::MAX - 50, ..Wheel::default() };
    // Times from now to beyond the far level.
    let time = |i: u32| Time::from_ps(u64::from(i % 7) << 46);
    for i in 0..100 {
        wheel.push(time(i), i);
    }
    assert!(wheel.number < 1000, "they began anew");
    let mut expected: Vec<u32> = (0..100).collect();
    expected.sort_by_key(|i| time(*i));
    let popped: Vec<u32> = core::iter::from_fn(|| wheel.pop()).map(|(_, what)| what).collect();
    assert_eq!(popped, expected);
}

/// Events at one time share a bucket of any width.
#[test]
fn the_width_follows_the_density() {
    const PENDING: u64 = 1000;
    let width_after = |spacing: u64, at_once: u64| {
        let mut random = ratewire_net::random::stream(spacing, "wheel", 2);
        let mut ahead = || random.next_u64() % (2 * PENDING) / at_once * at_once * spacing;
        let mut wheel = Wheel::default();
        for _ in 0..PENDING {
            wheel.push(Time::from_ps(ahead()), 0);
        }
        for _ in 0..500_000 {
            let (now, _) = wheel.pop().expect("a thousand are pending");
            let now = now.ps() / (at_once * spacing) * (at_once * spacing);
            wheel.push(Time::from_ps(now + ahead()), 0);
        }
        1 << wheel.shift
    };
    for spacing in [1 << 10, 1 << 20, 1 << 30] {
        let width = width_after(spacing, 1);
        assert!(width <= 2 * spacing && width >= spacing / 32, "{width} for {spacing}");
        let at_once = width_after(spacing, 50);
        assert!(at_once >= spacing / 32, "{at_once} for fifty times {spacing}");
    }
}

/// Pops half a million events, and pushes another a period later for each. Returns the bucket width
/// at the end.
fn width_of(mut wheel: Wheel, period: Duration) -> u64 {
    for _ in 0..500_000 {
        let (now, what) = wheel.pop().expect("as many are pending as at first");
        wheel.push(now + period, what);
    }
    1 << wheel.shift
}

/// Events soon after a bucket's first one are in order and close to it, but go through the bucket's
/// list.
#[test]
fn buckets_whose_lists_are_always_used_become_narrower() {
    let mut wheel = Wheel::default();
    (0..8).for_each(|i| wheel.push(Time::from_ps(u64::from(i) << 17), i));
    let width = width_of(wheel, Duration::from_ps(1 << 20));
    assert!(width <= 1 << 18, "eight events a microsecond in buckets of {width} ps");
}

/// Narrower buckets would not separate events that are only picoseconds apart.
#[test]
fn events_at_nearly_one_time_make_no_buckets_narrow() {
    let mut wheel = Wheel::default();
    (0..8).for_each(|i| wheel.push(Time::from_ps(u64::from(i)), i));
    let width = width_of(wheel, Duration::from_ps(1 << 20));
    assert!(width >= 1 << 12, "eight events within 8 ps make buckets of {width} ps");
}

/// The width follows a change of the density, even if all events are beyond the far level.
#[test]
fn the_width_recovers() {
    let mut wheel = Wheel { shift: NARROWEST_BUCKET_LOG2, ..Wheel::default() };
    let mut random = ratewire_net::random::stream(3, "wheel", 3);
    for i in 0..200_000 {
        let now = wheel.pop().map_or(Time::ZERO, |(now, _)| now);
        for _ in 0..if i < 100 { 2 } else { 1 } {
            wheel.push(now + Duration::from_ps(random.next_u64() % (1 << 40)), i);
        }
    }
    assert!(wheel.shift > 24, "a hundred in a second, in buckets of {} ps", 1u64 << wheel.shift);
}

/// An event's place is found without passing all other events, even if too few came for a review of
/// the width.
#[test]
fn a_crowd_is_put_in_order_in_few_steps() {
    const EVENTS: u32 = WORTH_A_REVIEW - 100;
    let mut random = ratewire_net::random::stream(4, "wheel", 4);
    let mut shuffled = |within: u64| Time::from_ps(random.next_u64() % within);
    let close: Vec<Time> = (0..EVENTS).map(|_| shuffled(1 << 20)).collect();
    let far: Vec<Time> = close.iter().map(|t| *t + Duration::from_secs(1)).collect();
    let mut behind = vec![Time::from_ps(1 << 22)];
    behind.resize(EVENTS as usize, Time::ZERO);
    for times in [close, far, behind] {
        let mut wheel = Wheel::default();
        times.iter().for_each(|time| wheel.push(*time, 0));
        // If the events are far away, a later one is near before they are.
        let first = times[0];
        if first > Time::from_ps(1 << 30) {
            wheel.push(first - Duration::from_millis(10), 1);
            assert_eq!(wheel.pop().map(|e| e.1), Some(1));
            wheel.push(first + Duration::from_micros(2), 0);
        }
        let popped: Vec<Time> = core::iter::from_fn(|| wheel.pop()).map(|e| e.0).collect();
        assert!(popped.is_sorted() && popped.len() >= times.len());
        let steps = wheel.near.steps;
        assert!(steps < 100 * u64::from(EVENTS), "{steps} steps");
    }
}
