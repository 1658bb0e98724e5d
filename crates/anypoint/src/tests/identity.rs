//! With one member the switch changes nothing.

use ratewire_transport::Writer;
use ratewire_units::{Bytes, Time};

use super::rig::{Loads, PAYLOAD, Rig, ms};

/// Every packet of a connection both ways, with losses, leaves as it came.
fn check(law: &str, loss: u64) {
    let sized = || Writer::Sized(Bytes::new(400 * PAYLOAD));
    let mut rig = Rig::new(law, 1, 2 * PAYLOAD, Loads { peer: sized(), members: sized() });
    rig.loss = loss;
    rig.run(Time::ZERO + ms(60_000));
    assert!(rig.peer.sender.is_done(), "{law}");
    let member = rig.members[0].as_ref().unwrap();
    assert!(member.sender.is_done(), "{law}");
    assert!(rig.segments.len() >= 750 && rig.acks.len() >= 750, "{law}");
    for (came, left) in &rig.segments {
        // The kind says whether the packet was sent before, which no header carries.
        assert_eq!(format!("{came:?}"), format!("{left:?}"), "{law}");
    }
    for (came, left) in rig.acks.iter().filter(|_| loss == 0) {
        assert_eq!(format!("{came:?}"), format!("{left:?}"), "{law}");
    }
    for (came, left) in &rig.acks {
        assert_eq!((came.cumulative, came.window), (left.cumulative, left.window), "{law}");
        assert_eq!(format!("{:?}", came.header), format!("{:?}", left.header), "{law}");
    }
}

#[test]
fn one_member_gets_what_the_peer_sent_and_the_reverse() {
    for law in ["xcp", "rcp", "piqi-rcp", "newreno", "cubic"] {
        check(law, 0);
    }
}

#[test]
fn so_it_is_when_packets_are_lost() {
    for law in ["xcp", "rcp", "newreno"] {
        check(law, 50);
    }
}
