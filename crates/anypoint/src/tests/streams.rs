//! Acknowledgements, windows and loss across the switch.

use ratewire_laws::{AnyLaw, Header};
use ratewire_transport::{Ack, Epoch, SackBlocks, Segment, SegmentKind, Stamp, Writer};
use ratewire_units::{Bytes, Time};

use super::rig::{IDLE_EXPIRY, Loads, PAYLOAD, Rig, ms};
use crate::routing::{KeyHash, RoundRobin, Routing};
use crate::{FlowControl, FrameOf, Output, Side, Switch, SwitchConfig, Transforms};

fn switch(flow_control: FlowControl, members: usize) -> Switch {
    switch_by(Box::new(RoundRobin::default()), flow_control, members)
}

fn switch_by(routing: Box<dyn Routing>, flow_control: FlowControl, members: usize) -> Switch {
    let config = SwitchConfig {
        law: AnyLaw::new("newreno", &[]).unwrap(),
        members,
        frame: Bytes::new(PAYLOAD),
        payload: Bytes::new(PAYLOAD),
        packet: Bytes::new(PAYLOAD + 40),
        flow_control,
        transforms: Transforms::Refusals { shuffle: 0.1 },
        idle_expiry: IDLE_EXPIRY,
        peer_spreads: false,
    };
    Switch::new(config, routing)
}

fn segment(packet: u64) -> Segment {
    let kind = SegmentKind::Data { again: false };
    let offset = packet * PAYLOAD;
    Segment { kind, offset, payload: Bytes::new(PAYLOAD), stamp: Stamp::NONE, header: Header::None }
}

fn ack(packets: u64, window: u64, beyond: &[(u64, u64)]) -> Ack {
    let cumulative = packets * PAYLOAD;
    let mut sack = SackBlocks::default();
    beyond.iter().for_each(|(s, e)| sack.push(cumulative, s * PAYLOAD, e * PAYLOAD));
    let window = Bytes::new(window);
    Ack {
        opens: false,
        cumulative,
        window,
        sack,
        marked: false,
        duplicate: false,
        epoch: Epoch::UNKNOWN,
        header: Header::None,
    }
}

fn send(switch: &mut Switch, from: Side, packet: u64) -> Vec<Output> {
    let mut out = Vec::new();
    switch.on_segment(Time::ZERO, from, &segment(packet), FrameOf::default(), false, &mut out);
    out
}

/// Destination, position, window and ranges of an acknowledgement.
type AckParts = (Side, u64, u64, Vec<(u64, u64)>);

/// Acknowledgements that the switch makes of one.
fn answer(switch: &mut Switch, from: Side, ack: &Ack) -> Vec<AckParts> {
    let mut out = Vec::new();
    switch.on_ack(Time::ZERO, from, ack, &mut out);
    let acks = out.iter().map(|output| match output {
        Output::Ack(to, a) => {
            let packets = |(s, e): (u64, u64)| (s / PAYLOAD, e / PAYLOAD);
            let sack = a.sack.iter(a.cumulative).map(packets).collect();
            (*to, a.cumulative / PAYLOAD, a.window.get(), sack)
        }
        other => panic!("{other:?}"),
    });
    acks.collect()
}

const A: Side = Side::Member(0);
const B: Side = Side::Member(1);

#[test]
fn the_peer_gets_acknowledgements_of_what_all_members_have() {
    let mut s = switch(FlowControl::Strict, 2);
    for packet in 0..6 {
        let out = send(&mut s, Side::Peer, packet);
        let to = Side::Member(packet as usize % 2);
        assert!(matches!(out[..], [Output::Segment(side, made)]
            if side == to && made.offset == packet / 2 * PAYLOAD));
    }
    // B is nearer: its acknowledgement does not show a loss of A's data.
    assert_eq!(answer(&mut s, B, &ack(1, 9000, &[])), [(Side::Peer, 0, 9000, vec![])]);
    assert_eq!(answer(&mut s, B, &ack(3, 9000, &[])), [(Side::Peer, 0, 9000, vec![])]);
    assert_eq!(answer(&mut s, A, &ack(1, 5000, &[])), [(Side::Peer, 2, 5000, vec![])]);
    // A has its third packet and misses its second, which is now overtaken.
    let missing = answer(&mut s, A, &ack(1, 5000, &[(2, 3)]));
    assert_eq!(missing, [(Side::Peer, 2, 5000, vec![(3, 6)])]);
    // A retransmission keeps its place.
    let again = send(&mut s, Side::Peer, 2);
    assert!(matches!(again[..], [Output::Segment(A, made)] if made.offset == PAYLOAD));
    assert_eq!(answer(&mut s, A, &ack(3, 5000, &[])), [(Side::Peer, 6, 5000, vec![])]);
    assert_eq!(s.remembered(), 0);
    // The switch itself answers repeated data.
    let twice = send(&mut s, Side::Peer, 1);
    assert!(matches!(twice[..], [Output::Ack(Side::Peer, a)] if a.cumulative == 6 * PAYLOAD));
}

#[test]
fn what_is_lost_before_the_switch_is_reported_at_once() {
    let mut s = switch(FlowControl::Strict, 2);
    send(&mut s, Side::Peer, 0);
    // 1 is lost; B's place in the order is kept for it.
    send(&mut s, Side::Peer, 2);
    let out = send(&mut s, Side::Peer, 3);
    assert!(matches!(out[..], [Output::Segment(B, made)] if made.offset == PAYLOAD));
    assert_eq!(answer(&mut s, A, &ack(2, 9000, &[])), [(Side::Peer, 1, 9000, vec![])]);
    // B has the packet after 1, so 1 is late.
    assert_eq!(answer(&mut s, B, &ack(0, 9000, &[(1, 2)])), [(Side::Peer, 1, 9000, vec![(2, 4)])]);
}

#[test]
fn the_peers_acknowledgements_go_to_whom_they_concern() {
    let mut s = switch(FlowControl::Strict, 2);
    send(&mut s, A, 0);
    send(&mut s, B, 0);
    let out = send(&mut s, A, 1);
    assert!(matches!(out[..], [Output::Segment(Side::Peer, made)] if made.offset == 2 * PAYLOAD));
    assert_eq!(answer(&mut s, Side::Peer, &ack(1, 8000, &[])), [(A, 1, 4000, vec![])]);
    // B's packet is lost.
    assert_eq!(answer(&mut s, Side::Peer, &ack(1, 8000, &[(2, 3)])), [(A, 2, 4000, vec![])]);
    let again = send(&mut s, B, 0);
    assert!(matches!(again[..], [Output::Segment(Side::Peer, made)] if made.offset == PAYLOAD));
    assert_eq!(answer(&mut s, Side::Peer, &ack(3, 8000, &[])), [(B, 1, 4000, vec![])]);
    // A window update alone goes to all members.
    assert_eq!(
        answer(&mut s, Side::Peer, &ack(3, 9000, &[])),
        [(A, 2, 4500, vec![]), (B, 1, 4500, vec![])]
    );
}

#[test]
fn a_member_that_lost_a_packet_gets_the_gap() {
    let mut s = switch(FlowControl::Strict, 2);
    send(&mut s, A, 0);
    // A's packet 1 is lost on its way to the switch: its place is kept.
    let out = send(&mut s, A, 2);
    assert!(matches!(out[..], [Output::Segment(Side::Peer, made)] if made.offset == 2 * PAYLOAD));
    send(&mut s, B, 0);
    assert_eq!(answer(&mut s, Side::Peer, &ack(1, 8000, &[])), [(A, 1, 4000, vec![])]);
    let answered = answer(&mut s, Side::Peer, &ack(1, 8000, &[(2, 4)]));
    assert_eq!(answered, [(A, 1, 4000, vec![(2, 3)]), (B, 1, 4000, vec![])]);
}

#[test]
fn windows_are_divided_or_not() {
    let mut strict = switch(FlowControl::Strict, 4);
    for k in 0..4 {
        answer(&mut strict, Side::Member(k), &ack(0, 8000 + 1000 * k as u64, &[]));
    }
    assert_eq!(answer(&mut strict, A, &ack(0, 8000, &[]))[0].2, 8000);
    send(&mut strict, A, 0);
    assert_eq!(answer(&mut strict, Side::Peer, &ack(1, 8000, &[]))[0].2, 2000);
    send(&mut strict, A, 1);
    assert_eq!(answer(&mut strict, Side::Peer, &ack(2, 3000, &[]))[0].2, 1000, "a packet");

    let mut soft = switch(FlowControl::Soft, 4);
    for k in 0..4 {
        answer(&mut soft, Side::Member(k), &ack(0, 8000 + 1000 * k as u64, &[]));
    }
    assert_eq!(answer(&mut soft, A, &ack(0, 8000, &[]))[0].2, 11_000);
    send(&mut soft, A, 0);
    assert_eq!(answer(&mut soft, Side::Peer, &ack(1, 8000, &[]))[0].2, 8000);
}

/// Members at different distances cause no retransmission.
#[test]
fn distance_is_not_loss() {
    let sized = || Writer::Sized(Bytes::new(500 * PAYLOAD));
    let mut rig = Rig::new("newreno", 3, PAYLOAD, Loads { peer: sized(), members: sized() });
    rig.delays = vec![ms(5), ms(1), ms(10), ms(40)];
    rig.run(Time::ZERO + ms(60_000));
    assert!(rig.peer.sender.is_done());
    assert_eq!(rig.peer.sender.stats().retransmitted_packets, 0);
    for member in rig.members.iter().flatten() {
        assert!(member.sender.is_done());
        assert_eq!(member.sender.stats().retransmitted_packets, 0);
    }
}

#[test]
fn a_content_module_is_asked_when_the_frame_comes() {
    let routing = crate::routing::Prefix::new(vec![(b"a".to_vec(), 0), (b"b".to_vec(), 1)]);
    let config = SwitchConfig {
        law: AnyLaw::new("newreno", &[]).unwrap(),
        members: 2,
        frame: Bytes::new(PAYLOAD),
        payload: Bytes::new(PAYLOAD),
        packet: Bytes::new(PAYLOAD + 40),
        flow_control: FlowControl::Strict,
        transforms: Transforms::Refusals { shuffle: 0.1 },
        idle_expiry: IDLE_EXPIRY,
        peer_spreads: false,
    };
    let mut s = Switch::new(config, Box::new(routing));
    let mut to = |packet: u64, content: &[u8]| {
        let mut out = Vec::new();
        s.on_segment(Time::ZERO, Side::Peer, &segment(packet), content.into(), false, &mut out);
        match out[..] {
            [Output::Segment(side, made)] => (side, made.offset / PAYLOAD),
            _ => panic!("{out:?}"),
        }
    };
    assert_eq!(to(0, b"bx"), (B, 0));
    // Packet 1 is missing; only its content says where it goes.
    assert_eq!(to(2, b"by"), (B, 1));
    assert_eq!(to(1, b"bz"), (B, 2));
    assert_eq!(to(3, b"a"), (A, 0));
}

/// Skipped ranges of another switch's merged stream need not match this switch's packets.
#[test]
fn a_packet_may_have_several_places() {
    let mut s = switch(FlowControl::Strict, 2);
    (0..4).for_each(|packet| drop(send(&mut s, Side::Peer, packet)));
    answer(&mut s, B, &ack(1, 9000, &[]));
    let two = Segment { payload: Bytes::new(2 * PAYLOAD), ..segment(0) };
    let mut out = Vec::new();
    s.on_segment(Time::ZERO, Side::Peer, &two, FrameOf::default(), false, &mut out);
    assert_eq!(out, [Output::Segment(A, segment(0)), Output::Segment(B, segment(0))]);
}

/// Data of a failed member beyond a hole of its own is lost, although it was acknowledged to the
/// peer. This holds even for the first data that the peer waits for.
#[test]
fn what_a_failed_member_had_beyond_a_hole_is_not_acknowledged_any_more() {
    const C: Side = Side::Member(2);
    let mut s = switch(FlowControl::Strict, 3);
    (0..5).for_each(|packet| drop(send(&mut s, Side::Peer, packet)));
    s.fail(Time::ZERO, 0, &mut Vec::new());
    assert_eq!(send(&mut s, Side::Peer, 0), [Output::Segment(C, segment(1))]);
    let acks = answer(&mut s, C, &ack(0, 9000, &[(1, 2)]));
    assert_eq!(acks, [(Side::Peer, 0, 9000, vec![(0, 1)])]);
    s.fail(Time::ZERO, 2, &mut Vec::new());
    let acks = answer(&mut s, B, &ack(1, 9000, &[]));
    assert_eq!(acks, [(Side::Peer, 0, 9000, vec![(1, 2)])]);
    assert_eq!(send(&mut s, Side::Peer, 0), [Output::Segment(B, segment(2))]);
    let acks = answer(&mut s, B, &ack(3, 9000, &[]));
    assert_eq!(acks, [(Side::Peer, 2, 9000, vec![(4, 5)])]);
    assert_eq!(s.outstanding(B), Bytes::ZERO);
}

/// Sends bytes of a frame of its own size; returns members and offsets in their streams.
fn send_of(
    switch: &mut Switch,
    (start, end): (u64, u64),
    (offset, payload): (u64, u64),
    content: &[u8],
) -> Vec<(usize, u64)> {
    let segment = Segment { offset, payload: Bytes::new(payload), ..segment(0) };
    let frame = FrameOf { content, bounds: Some((start, end)), ..FrameOf::default() };
    let mut out = Vec::new();
    switch.on_segment(Time::ZERO, Side::Peer, &segment, frame, false, &mut out);
    let place = |output: &Output| match output {
        Output::Segment(Side::Member(k), segment) => Some((*k, segment.offset)),
        _ => None,
    };
    out.iter().filter_map(place).collect()
}

#[test]
fn frames_of_their_own_sizes_go_whole_to_their_members() {
    let mut s = switch(FlowControl::Strict, 2);
    assert_eq!(send_of(&mut s, (0, 300), (0, 300), b""), [(0, 0)]);
    assert_eq!(send_of(&mut s, (300, 2800), (300, 1000), b""), [(1, 0)]);
    // The middle is lost, and comes after a short frame.
    assert_eq!(send_of(&mut s, (300, 2800), (2300, 500), b""), [(1, 2000)]);
    assert_eq!(send_of(&mut s, (2800, 2840), (2800, 40), b""), [(0, 300)]);
    assert_eq!(send_of(&mut s, (300, 2800), (1300, 1000), b""), [(1, 1000)]);
    assert_eq!(send_of(&mut s, (2840, 4000), (2840, 1000), b""), [(1, 2500)]);
    // Two lost frames stay together, before the one that overtakes them.
    assert_eq!(send_of(&mut s, (4500, 4600), (4500, 100), b""), [(1, 3660)]);
    assert_eq!(send_of(&mut s, (4300, 4500), (4300, 200), b""), [(0, 640)]);
    assert_eq!(send_of(&mut s, (4000, 4300), (4000, 300), b""), [(0, 340)]);
}

#[test]
fn a_module_that_reads_sees_the_beginning_of_a_frame() {
    let routing = Box::new(KeyHash { offset: 0, len: 1 });
    let mut s = switch_by(routing, FlowControl::Strict, 4);
    let [(of_key, 0)] = send_of(&mut s, (0, 10), (0, 10), b"k")[..] else { panic!("one packet") };
    assert_eq!(send_of(&mut s, (10, 3010), (1010, 1000), b""), [], "its beginning is lost");
    assert_eq!(send_of(&mut s, (10, 3010), (10, 1000), b"k"), [(of_key, 10)]);
    assert_eq!(send_of(&mut s, (10, 3010), (1010, 1000), b""), [(of_key, 1010)]);
}

#[test]
fn a_frame_is_acknowledged_for_good_when_a_member_has_all_of_it() {
    let mut s = switch(FlowControl::Strict, 2);
    for offset in [0, 1000, 2000] {
        send_of(&mut s, (0, 3000), (offset, 1000), b"");
    }
    let acks = answer(&mut s, Side::Member(0), &ack(2, 5000, &[]));
    // The window begins behind what the member has.
    assert_eq!(acks, [(Side::Peer, 0, 7000, vec![(0, 2)])]);
    assert_eq!(s.acknowledged_below(Side::Peer), 0);
    // The member fails: another gets the whole frame.
    s.fail(Time::ZERO, 0, &mut Vec::new());
    assert_eq!(send_of(&mut s, (0, 3000), (0, 1000), b""), [(1, 0)]);
    send_of(&mut s, (0, 3000), (1000, 1000), b"");
    send_of(&mut s, (0, 3000), (2000, 1000), b"");
    let acks = answer(&mut s, Side::Member(1), &ack(3, 5000, &[]));
    assert_eq!(acks, [(Side::Peer, 3, 5000, vec![])]);
}

#[test]
fn what_waits_at_the_switch_is_acknowledged_and_taken_back() {
    let routing = Box::new(KeyHash { offset: 0, len: 1 });
    let mut s = switch_by(routing, FlowControl::Strict, 1);
    assert!(!s.must_wait(0) && s.must_wait(10));
    let mut out = Vec::new();
    s.hold(Time::ZERO, 10, 20, &mut out);
    let [Output::Ack(Side::Peer, ack_to_peer)] = out[..] else { panic!("{out:?}") };
    assert_eq!(ack_to_peer.sack.iter(0).collect::<Vec<_>>(), [(10, 20)]);
    assert_eq!(send_of(&mut s, (0, 10), (0, 10), b"k"), [(0, 0)]);
    assert!(!s.must_wait(10));
    s.release(10, 20);
    assert_eq!(send_of(&mut s, (10, 20), (10, 10), b"k"), [(0, 10)]);
    // Only the member's word counts now.
    let mut from_member = ack(0, 5000, &[]);
    from_member.cumulative = 10;
    s.on_ack(Time::ZERO, Side::Member(0), &from_member, &mut out);
    let Some(Output::Ack(Side::Peer, ack_to_peer)) = out.last() else { panic!("{out:?}") };
    assert_eq!((ack_to_peer.cumulative, ack_to_peer.sack.iter(10).count()), (10, 0));
}
