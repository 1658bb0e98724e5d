//! What the log is told.

use super::*;

/// Spare places have no members that could be drained.
#[test]
fn members_that_are_drained_have_names() {
    let mut hub = with_spare(2, 2);
    hub.drain_all(ms(1));
    let drained = ["m0", "m1"].map(|name| HubEvent::MemberDrained(name.into()));
    assert_eq!(hub.take_events(), drained);
}

#[test]
fn a_peer_with_another_key_is_noted_and_gets_no_answer() {
    let mut hub = hub(1);
    let other = Config::new(Credentials::Shared([8; 32]));
    let mut handshakes = Handshakes::new(&other, at(1), false).expect("random numbers");
    let (law, kind, application, target) = ("xcp", EndKind::Host, "", Target::Ensemble);
    let purpose = Purpose { law, kind, application, target };
    handshakes.connect(ms(0), at(9), &other.credentials, purpose).expect("a handshake");
    assert!(handshakes.on_timer(ms(0)).is_none());
    let (_, mut first) = handshakes.poll_packet().expect("a first packet");
    hub.on_datagram(ms(0), Port::Peers, from(at(1)), &mut first, false);
    assert_eq!((hub.take_events(), hub.strangers()), (vec![HubEvent::Stranger(at(1))], 1));
    assert!(sent(&mut hub, ms(0), Port::Peers).is_empty());
}
