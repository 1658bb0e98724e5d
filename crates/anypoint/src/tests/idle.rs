//! Connections that are silent for longer than their state is kept.

use proptest::prelude::*;
use ratewire_transport::{PauseAfter, Writer};
use ratewire_units::{Bytes, Time};

use super::rig::{IDLE_EXPIRY, Loads, PAYLOAD, Rig, ms};

const BURSTS: u64 = 6;
const END: Time = Time::from_ps(36_000 * 1_000_000_000_000);

/// Bursts, with a pause after each has arrived.
fn bursts(packets: u64, pause: u64) -> Writer {
    Writer::OnOff {
        burst: Bytes::new(packets * PAYLOAD).into(),
        pause: ms(pause).into(),
        pause_after: PauseAfter::Acknowledged,
        count: Some(BURSTS),
    }
}

fn law() -> impl Strategy<Value = &'static str> {
    prop_oneof![Just("newreno"), Just("xcp"), Just("rcp")]
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(200))]

    /// Bursts may end within a frame, packets of both directions may be lost, and members fail: all
    /// data arrives, once.
    #[test]
    fn who_speaks_again_is_set_up_anew(
        seed in any::<u64>(),
        law in law(),
        frame in 1u64..4,
        there in 1u64..20,
        back in 0u64..20,
        pause in 150u64..400,
        loss in prop_oneof![Just(0u64), 10u64..100],
        failures in prop::collection::vec((0usize..3, 1u64..2000, 1u64..300), 0..3),
    ) {
        let sized = |packets| if packets == 0 { Writer::Sized(Bytes::ZERO) } else { bursts(packets, pause) };
        let loads = Loads { peer: sized(there), members: sized(back) };
        let mut rig = Rig::new(law, 3, frame * PAYLOAD, loads);
        rig.seed(seed);
        rig.loss = loss;
        let outbound_fails = back > 0;
        let mut free = [0; 3];
        // Nobody sends again what a failed member wrote, so there is no sum to check.
        for (member, from, length) in failures.into_iter().filter(|_| !outbound_fails) {
            let from = from.max(free[member]);
            free[member] = from + length + 1;
            rig.fail_at(Time::ZERO + ms(from), member);
            rig.recover_at(Time::ZERO + ms(from + length), member);
        }
        rig.run(END);
        prop_assert!(rig.peer.sender.is_done());
        prop_assert_eq!(rig.switch.acknowledged_inbound(), Bytes::new(BURSTS * there * PAYLOAD));
        let all: Vec<u64> = (0..BURSTS * there).map(|n| n * PAYLOAD).collect();
        prop_assert_eq!(rig.delivered(), all);
        for went in rig.went.values() {
            let mut lives = went.clone();
            lives.dedup();
            prop_assert!(lives.len() == 1 || free != [0; 3], "went to {:?}", went);
        }
        let each = Bytes::new(BURSTS * back * PAYLOAD);
        for (k, member) in rig.members.iter().enumerate() {
            prop_assert!(member.as_ref().is_some_and(|m| m.sender.is_done()));
            prop_assert_eq!(rig.switch.acknowledged_outbound(k), each);
        }
        prop_assert_eq!(rig.peer.receiver.delivered(), Bytes::new(3 * each.get()));
        prop_assert!(rig.switch.is_idle() && rig.switch.remembered() <= 1);
        // A retransmission after a failure may fill a pause.
        if back == 0 && loss == 0 && free == [0; 3] {
            prop_assert!(rig.expired >= BURSTS, "{} times", rig.expired);
        }
    }
}

/// Without losses, a connection that expires in every pause sends the same packets as without
/// pauses.
#[test]
fn expiry_costs_no_packet() {
    for law in ["newreno", "xcp", "rcp"] {
        let loads = Loads { peer: bursts(9, 1000), members: bursts(5, 1000) };
        let mut rig = Rig::new(law, 3, 2 * PAYLOAD, loads);
        rig.run(END);
        assert_eq!(rig.expired, BURSTS, "{law}");
        assert_eq!(rig.went.len() as u64, 9 * BURSTS, "{law}");
        assert!(rig.went.values().all(|went| went.len() == 1), "{law}");
        let again = |member: &super::rig::End| member.sender.stats().retransmitted_packets;
        assert_eq!(rig.members.iter().flatten().map(again).sum::<u64>(), 0, "{law}");
    }
}

/// A connection that owes something is remembered, however long it takes.
#[test]
fn outstanding_data_does_not_expire() {
    let loads = Loads { peer: bursts(4, 1000), members: Writer::Sized(Bytes::ZERO) };
    let mut rig = Rig::new("newreno", 2, PAYLOAD, loads);
    rig.delays[2] = IDLE_EXPIRY * 5;
    rig.run(Time::ZERO + IDLE_EXPIRY * 4);
    assert!(!rig.switch.is_idle() && rig.expired == 0);
    rig.run(END);
    assert!(rig.peer.sender.is_done() && rig.switch.is_idle());
}
