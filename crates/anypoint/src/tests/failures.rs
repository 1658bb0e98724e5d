//! Members that fail and come back.

use proptest::prelude::*;
use ratewire_transport::{PauseAfter, Writer};
use ratewire_units::{Bytes, Time};

use super::rig::{Loads, PAYLOAD, Rig, ms};
use crate::Side;
use crate::routing::{KeyHash, RoundRobin, Routing};

const PACKETS: u64 = 300;
/// Far off: with one packet in ten lost on each path, and timeouts that double, it takes minutes.
const END: Time = Time::from_ps(36_000 * 1_000_000_000_000);

fn inbound(members: usize, frame: u64) -> Rig {
    let peer = Writer::Sized(Bytes::new(PACKETS * PAYLOAD));
    Rig::new("newreno", members, frame, Loads { peer, members: Writer::Sized(Bytes::ZERO) })
}

fn at(n: u64) -> Time {
    Time::ZERO + ms(n)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(200))]

    /// Whatever member fails at whatever time, all the peer's data is acknowledged, by members that
    /// got it.
    #[test]
    fn nothing_is_lost(
        seed in any::<u64>(),
        frame in 1u64..4,
        loss in prop_oneof![Just(0u64), 20u64..200],
        slow in 5u64..40,
        failures in prop::collection::vec((1usize..4, 1u64..400, 1u64..300), 0..6),
    ) {
        let mut rig = inbound(4, frame * PAYLOAD);
        rig.seed(seed);
        rig.loss = loss;
        rig.delays[2] = ms(slow);
        let mut free = [0; 4];
        for (member, from, length) in failures {
            let from = from.max(free[member]);
            free[member] = from + length + 1;
            rig.fail_at(at(from), member);
            rig.recover_at(at(from + length), member);
        }
        rig.run(END);
        prop_assert!(rig.peer.sender.is_done());
        prop_assert_eq!(rig.switch.acknowledged_inbound(), Bytes::new(PACKETS * PAYLOAD));
        // Only the rest of the last frame, which may still arrive, is kept.
        prop_assert!(rig.switch.remembered() <= 1, "{} ranges", rig.switch.remembered());
        prop_assert_eq!(rig.went.len() as u64, PACKETS);
        let all: Vec<u64> = (0..PACKETS).map(|n| n * PAYLOAD).collect();
        prop_assert_eq!(rig.delivered(), all, "applications have got it");
        // Each packet reached one member and life of it, or another after a failure.
        for (offset, went) in &rig.went {
            let mut lives = went.clone();
            lives.dedup();
            let (last, failed) = lives.split_last().unwrap();
            prop_assert!(!failed.contains(last), "{} went back to {:?}", offset, last);
        }
    }

    /// A member gets its frames in the peer's order.
    #[test]
    fn order_is_kept_for_each_member(
        seed in any::<u64>(), loss in 10u64..100, frame in 1u64..4,
    ) {
        let mut rig = inbound(3, frame * PAYLOAD);
        rig.seed(seed);
        rig.loss = loss;
        rig.run(END);
        prop_assert!(rig.peer.sender.is_done());
        for places in rig.orders.values_mut() {
            places.sort_unstable();
            prop_assert!(places.windows(2).all(|w| w[0].1 <= w[1].1));
        }
    }
}

#[test]
fn what_was_acknowledged_is_not_sent_again() {
    let mut rig = inbound(2, PAYLOAD);
    rig.fail_at(at(50), 0);
    rig.run(at(50));
    let done = rig.switch.acknowledged_inbound().get() / PAYLOAD;
    let before: u64 = rig.went.values().map(|w| w.len() as u64).sum();
    assert!(done >= 10 && before > done, "{done} {before}");
    rig.run(END);
    assert!(rig.peer.sender.is_done());
    let sent: u64 = rig.went.values().map(|w| w.len() as u64).sum();
    // Only packets on their way to the failed member went twice.
    assert!(sent <= PACKETS + (before - done), "{sent}");
    assert!(rig.went.values().all(|w| w.len() <= 2));
}

/// Data that a failed member had under way leaves a gap that the peer does not wait for.
#[test]
fn the_peer_does_not_wait_for_the_dead() {
    let whole = Bytes::new(3 * PACKETS * PAYLOAD);
    let mut skipped = Bytes::ZERO;
    for seed in 0..8 {
        let sized = Writer::Sized(Bytes::new(PACKETS * PAYLOAD));
        let loads = Loads { peer: Writer::Sized(Bytes::ZERO), members: sized };
        let mut rig = Rig::new("newreno", 3, PAYLOAD, loads);
        rig.seed(seed);
        rig.loss = 30;
        rig.fail_at(at(90), 1);
        rig.recover_at(at(300), 1);
        rig.run(END);
        assert!(rig.members.iter().flatten().all(|member| member.sender.is_done()));
        // The failed member's new stream is complete, beside its data before the failure.
        let before = rig.peer.receiver.delivered() - whole;
        assert!(rig.switch.skipped(Side::Peer) <= before);
        assert_eq!((rig.switch.remembered(), rig.switch.deadline()), (0, Time::NEVER));
        skipped += rig.switch.skipped(Side::Peer);
    }
    assert!(skipped > Bytes::ZERO);
}

#[test]
fn with_nobody_up_the_peer_waits_and_goes_on() {
    let mut rig = inbound(2, PAYLOAD);
    for member in 0..2 {
        rig.fail_at(at(50 + member as u64), member);
    }
    rig.recover_at(at(2_000), 1);
    rig.run(END);
    assert!(rig.peer.sender.is_done());
}

/// A frame routed anew stands behind later frames, one of which is lost. The peer needs an
/// acknowledgement of the first, or it would send that again for ever and never the other.
#[test]
fn what_waits_behind_later_data_is_not_asked_for() {
    let mut rig = inbound(4, 3 * PAYLOAD);
    rig.seed(6_867_555_927_906_136_954);
    rig.loss = 86;
    rig.delays[2] = ms(30);
    for (member, from, length) in [(1, 176, 210), (2, 97, 269)] {
        rig.fail_at(at(from), member);
        rig.recover_at(at(from + length), member);
    }
    rig.run(at(60_000));
    assert!(rig.peer.sender.is_done());
}

/// The peer finishes its last frame when all before is acknowledged. Data that is routed anew does
/// not wait for that, even if no other member is up, or if a module that reads frames wants no
/// other member.
#[test]
fn what_is_not_sent_yet_holds_up_nothing() {
    let modules: [fn() -> Box<dyn Routing>; 2] =
        [|| Box::new(RoundRobin::default()), || Box::new(KeyHash { offset: 0, len: 1 })];
    let mut skipped = Bytes::ZERO;
    let cases = [1, 2, 3].into_iter().flat_map(|n| (0..n).map(move |failed| (n, failed)));
    for ((members, failed), module) in cases.flat_map(|c| modules.map(|module| (c, module()))) {
        let peer = Writer::OnOff {
            burst: Bytes::new(11 * PAYLOAD).into(),
            pause: ms(150).into(),
            pause_after: PauseAfter::Acknowledged,
            count: Some(6),
        };
        let what = format!("{module:?}, {failed} of {members}");
        let loads = Loads { peer, members: Writer::Sized(Bytes::ZERO) };
        let mut rig = Rig::with("newreno", members, 2 * PAYLOAD, loads, module);
        rig.fail_at(at(26), failed);
        rig.recover_at(at(46), failed);
        rig.run(END);
        assert!(rig.peer.sender.is_done(), "{what}");
        skipped += (0..members).map(|k| rig.switch.skipped(Side::Member(k))).sum();
        let all: Vec<u64> = (0..66).map(|n| n * PAYLOAD).collect();
        assert_eq!(rig.delivered(), all, "{what}");
    }
    assert!(skipped > Bytes::ZERO);
}

/// Data that is routed anew may wait behind a frame that is still being sent. The peer continues it
/// soon, and no member gets a signal to skip the rest unless the peer's transport times out.
#[test]
fn frames_of_those_that_stay_up_stay_whole() {
    let mut calm = 0;
    for (members, failed) in [(2, 0), (2, 1), (3, 0), (3, 2)] {
        let mut rig = inbound(members, 5 * PAYLOAD);
        rig.fail_at(at(50), failed);
        rig.run(END);
        assert!(rig.peer.sender.is_done());
        let went: Vec<_> = rig.went.values().collect();
        assert!(went.iter().any(|went| went.len() > 1), "something was routed anew");
        if rig.peer.sender.stats().timeouts == 0 {
            calm += 1;
            let skipped = |k| rig.switch.skipped(Side::Member(k));
            assert!((0..members).all(|k| skipped(k) == Bytes::ZERO));
        }
        for frame in went.chunks(5) {
            let mut living: Vec<_> = frame.iter().copied().flatten().collect();
            living.retain(|(k, life)| rig.lives[*k] == *life);
            living.dedup();
            assert!(living.len() <= 1, "{members} members, {failed} failed: {frame:?}");
        }
    }
    assert!(calm >= 2);
}
