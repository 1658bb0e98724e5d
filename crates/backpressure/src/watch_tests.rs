use proptest::prelude::*;

use super::*;

const THRESHOLDS: Thresholds = Thresholds {
    xoff: Bytes::new(10_000),
    xon: Bytes::new(4_000),
    refresh: Duration::from_micros(100),
    room: Bytes::new(12_000),
};

fn us(n: u64) -> Time {
    Time::ZERO + Duration::from_micros(n)
}

#[test]
fn stops_above_goes_on_below_and_says_so_once() {
    let mut watch = Watch::new(THRESHOLDS);
    assert_eq!(watch.add(us(0), Bytes::new(10_000)), None);
    assert_eq!(watch.add(us(1), Bytes::new(1)), Some(PauseSignal::Stop));
    assert_eq!(watch.add(us(2), Bytes::new(1500)), None);
    assert_eq!(watch.remove(Bytes::new(7500)), None, "4001 are left");
    assert_eq!(watch.remove(Bytes::new(1)), Some(PauseSignal::Go));
    assert_eq!(watch.remove(Bytes::new(1000)), None);
    assert_eq!(watch.held(), Bytes::new(3000));
}

#[test]
fn has_room_for_what_just_fits() {
    let mut watch = Watch::new(THRESHOLDS);
    watch.add(us(0), Bytes::new(11_000));
    assert!(watch.has_room_for(Bytes::new(1000)) && !watch.has_room_for(Bytes::new(1001)));
}

#[test]
fn a_stop_is_said_again_while_it_holds() {
    let mut watch = Watch::new(THRESHOLDS);
    assert_eq!(watch.refresh(us(0)), None);
    watch.add(us(5), Bytes::new(20_000));
    assert_eq!(watch.deadline(), us(105));
    assert_eq!(watch.refresh(us(104)), None);
    assert_eq!(watch.refresh(us(105)), Some(PauseSignal::Stop));
    assert!(watch.stands_still());
    let looks = (2..=128).filter(|n| {
        watch.refresh(us(105 + 100 * (n - 1)));
        watch.stands_still()
    });
    assert_eq!(looks.collect::<Vec<_>>(), [2, 4, 8, 16, 32, 64, 128]);
    watch.remove(Bytes::new(1000));
    assert!(!watch.stands_still());
    watch.remove(Bytes::new(19_000));
    assert_eq!((watch.deadline(), watch.refresh(us(205))), (Time::NEVER, None));
}

proptest! {
    /// The state follows from the thresholds alone: paused above the upper, not paused at the
    /// lower, and unchanged between them. Signals alternate.
    #[test]
    fn the_state_follows_the_thresholds(steps in prop::collection::vec((any::<bool>(), 1u64..3000), 1..200)) {
        let mut watch = Watch::new(THRESHOLDS);
        let (mut held, mut stopped) = (0u64, false);
        for (i, (adds, size)) in steps.into_iter().enumerate() {
            let size = if adds { size } else { size.min(held) };
            let signal = if adds {
                held += size;
                watch.add(us(i as u64), Bytes::new(size))
            } else {
                held -= size;
                watch.remove(Bytes::new(size))
            };
            let expected = if held > 10_000 { true } else if held <= 4_000 { false } else { stopped };
            prop_assert_eq!(watch.has_stopped(), expected);
            prop_assert_eq!(signal, match (stopped, expected) {
                (false, true) => Some(PauseSignal::Stop),
                (true, false) => Some(PauseSignal::Go),
                _ => None,
            });
            stopped = expected;
            prop_assert_eq!(watch.held(), Bytes::new(held));
        }
    }
}
