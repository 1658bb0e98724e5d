use proptest::prelude::*;

use super::*;

fn us(n: u64) -> Time {
    Time::ZERO + Duration::from_micros(n)
}

/// 100 Gbit/s, 2 us and 1 us: 37,500 bytes, shared by those that are active.
#[test]
fn the_threshold_is_what_is_sent_until_a_pause_is_felt() {
    let rate = Rate::from_mbps(100_000);
    assert_eq!(threshold(rate, Duration::from_micros(2), 1), Bytes::new(37_500));
    assert_eq!(threshold(rate, Duration::from_micros(2), 3), Bytes::new(12_500));
    assert_eq!(threshold(rate, Duration::from_micros(2), 0), Bytes::new(37_500));
}

#[test]
fn a_queue_goes_on_when_the_last_counted_packet_has_left() {
    let mut filter = Filter::new(40);
    assert!(filter.count(33) && !filter.count(33));
    assert!(filter.count(2));
    assert!(filter.paused().contains(33) && !filter.paused().contains(1));
    assert!(!filter.uncount(33) && filter.uncount(33));
    assert_eq!(filter.paused(), LaneSet(1 << 2));
}

#[test]
fn flows_keep_their_queue_until_they_are_silent() {
    let mut flows = Assignment::new(4);
    let free = |queue: u32| queue >= 2;
    assert_eq!(flows.place(us(0), 7, || 1, free), 3);
    assert_eq!(flows.place(us(1), 7, || 0, free), 3, "it waits there");
    flows.leave(us(2), 7);
    flows.leave(us(3), 7);
    assert_eq!(flows.place(us(9), 7, || 0, free), 3, "6 us are not more than 6");
    flows.leave(us(9), 7);
    assert_eq!(flows.place(us(16), 7, || 0, free), 2);
    assert_eq!(flows.place(us(16), 8, || 5, |_| false), 1, "any, where none is free");
}

proptest! {
    /// The map has a bit exactly where packets are counted, and each change of the map is reported.
    #[test]
    fn the_map_is_what_is_counted(steps in prop::collection::vec((0u32..6, any::<bool>()), 1..300)) {
        let mut filter = Filter::new(6);
        let mut counted = [0u32; 6];
        for (lane, comes) in steps {
            let before = filter.paused();
            let told = if comes {
                counted[lane as usize] += 1;
                filter.count(lane)
            } else if counted[lane as usize] > 0 {
                counted[lane as usize] -= 1;
                filter.uncount(lane)
            } else {
                false
            };
            prop_assert_eq!(told, filter.paused() != before);
            for (lane, count) in counted.iter().enumerate() {
                prop_assert_eq!(filter.paused().contains(lane as u32), *count > 0);
            }
        }
    }
}
