//! Members that come, go and refuse, by datagrams.

mod events;
mod gateways;

use ratewire_acp::channel::NetworkPath;
use ratewire_acp::connection::Connection;
use ratewire_acp::handshakes::{Event, HANDSHAKE, Purpose};
use ratewire_acp::socket::Packets;
use ratewire_acp::wire::{EndKind, Initial, PacketType, Target, packet_type};
use ratewire_acp::{Config, Credentials};
use ratewire_anypoint::routing::RoundRobin;
use ratewire_anypoint::{FlowControl, Transforms};
use ratewire_units::Time;

use super::*;

fn acp() -> Config {
    Config::new(Credentials::Shared([7; 32]))
}

fn at(port: u16) -> SocketAddr {
    SocketAddr::from(([10, 0, 0, 1], port))
}

/// All ends are at one host.
fn from(remote: SocketAddr) -> NetworkPath {
    NetworkPath { local: at(0).ip(), remote }
}

fn hub(members: u16) -> Hub {
    with_spare(members, 0)
}

fn with_spare(members: u16, spare: usize) -> Hub {
    with_peer(members, spare, None)
}

fn with_peer(members: u16, spare: usize, peer: Option<SocketAddr>) -> Hub {
    Hub::new(
        HubConfig {
            peers: acp(),
            peer,
            session: SessionConfig {
                acp: acp(),
                flow_control: FlowControl::Strict,
                transforms: Transforms::Refusals { shuffle: 0.1 },
                silence: ratewire_units::Duration::from_secs(1),
            },
            members: (0..members).map(member).collect(),
            spare,
            routing: Box::new(|| Box::new(RoundRobin::default())),
            told: Told::default(),
            patience: Duration::from_millis(500),
        },
        [at(2), at(3)],
    )
    .expect("random numbers")
}

fn member(k: u16) -> Member {
    Member::new(&format!("m{k}"), at(100 + k), Credentials::Shared([7; 32]))
}

fn ms(ms: u64) -> Duration {
    Duration::from_millis(ms)
}

/// Packets that leave a port now.
fn sent(hub: &mut Hub, now: Duration, port: Port) -> Vec<(SocketAddr, Vec<u8>)> {
    let mut packets = Vec::new();
    let mut of_port = hub.port(port);
    packets.extend(std::iter::from_fn(|| of_port.poll_packet()));
    while let Some(key) = of_port.poll_dirty() {
        let mut bytes = Vec::new();
        while let Some(transmit) = of_port.poll_transmit(now, key, &mut bytes) {
            packets.push((transmit.to, core::mem::take(&mut bytes)));
        }
        of_port.settle(key);
    }
    packets
}

/// A peer whose handshake is over and who has sent a packet.
fn peer(hub: &mut Hub, now: Duration) {
    peer_for(hub, now, "");
}

/// A peer that is for an application.
fn peer_for(hub: &mut Hub, now: Duration, application: &str) {
    let opening = opening(hub, now, application);
    begin(hub, now, opening);
}

fn begin(hub: &mut Hub, now: Duration, mut opening: Vec<u8>) {
    hub.on_datagram(now, Port::Peers, from(at(1)), &mut opening, false);
}

/// A peer whom the switch has accepted, its number for the connection, and the switch's packets.
fn accepted(
    hub: &mut Hub,
    now: Duration,
    (application, target): (&str, Target),
) -> (Handshakes, ConnectionId, Vec<Vec<u8>>) {
    let purpose = Purpose { law: "xcp", kind: EndKind::Host, application, target };
    let mut handshakes = Handshakes::new(&acp(), at(1), false).expect("random numbers");
    let id = handshakes.connect(now, at(9), &Credentials::Shared([7; 32]), purpose).expect("keys");
    assert!(handshakes.on_timer(now).is_none());
    let (_, mut first) = handshakes.poll_packet().expect("a first packet");
    hub.on_datagram(now, Port::Peers, from(at(1)), &mut first, false);
    let packets = sent(hub, now, Port::Peers).into_iter().map(|(_, packet)| packet).collect();
    (handshakes, id, packets)
}

/// The first packet of a peer whom the switch has accepted.
fn opening(hub: &mut Hub, now: Duration, application: &str) -> Vec<u8> {
    let mut connection = connection(hub, now, (application, Target::Ensemble));
    let mut packet = Vec::new();
    connection.poll_transmit(Time::ZERO, &mut packet).expect("an opening");
    packet
}

/// A peer's end of a connection that the switch has accepted.
fn connection(hub: &mut Hub, now: Duration, purpose: (&str, Target)) -> Connection {
    let (mut handshakes, _, mut packets) = accepted(hub, now, purpose);
    let first = packets.remove(0);
    let (_, id, message) = packet_type(&first).expect("an answer");
    let Some(Event::Connected(ends)) = handshakes.on_accept(at(9), id, message) else {
        panic!("connected")
    };
    let mut connection = Connection::new(Time::ZERO, acp().law, &acp(), ends);
    for mut packet in packets {
        connection.on_datagram(Time::ZERO, at(9), &mut packet, false);
    }
    connection
}

/// Has a member answer the first packets that the switch has sent to it.
fn answer(hub: &mut Hub, now: Duration, member: u16, packets: &[(SocketAddr, Vec<u8>)]) {
    answer_for(hub, now, (member, ""), packets);
}

/// Has a member that is for an application do so.
fn answer_for(
    hub: &mut Hub,
    now: Duration,
    (member, application): (u16, &str),
    packets: &[(SocketAddr, Vec<u8>)],
) {
    let config = Config { application: application.into(), ..acp() };
    let mut handshakes = Handshakes::new(&config, at(8), true).expect("random numbers");
    for (_, packet) in packets.iter().filter(|(to, _)| *to == at(100 + member)) {
        let Ok((PacketType::Initial, id, rest)) = packet_type(packet) else { continue };
        let initial = Initial::read(rest, packet.len()).expect("a first packet");
        handshakes.on_initial(now, from(at(8)), id, &initial, true);
    }
    while let Some((_, mut packet)) = handshakes.poll_packet() {
        hub.on_datagram(now, Port::Members, from(at(100 + member)), &mut packet, false);
    }
}

fn run(hub: &mut Hub, until: Duration) {
    while let Some(at) = hub.deadline().filter(|at| *at <= until) {
        hub.on_timer(at);
        for port in [Port::Peers, Port::Members] {
            sent(hub, at, port);
        }
    }
}

fn health(hub: &Hub) -> Vec<Health> {
    hub.members().map(|member| member.health.clone()).collect()
}

/// Only peers that have shown that they have the keys are counted, and take room.
#[test]
fn peers_beyond_the_limit_are_refused() {
    let mut hub = hub(1);
    hub.config.peers.connections = 2;
    let openings: Vec<_> = (0..3).map(|_| opening(&mut hub, ms(0), "")).collect();
    assert_eq!((hub.sessions(), hub.seats.len()), (0, 3));
    for opening in openings {
        begin(&mut hub, ms(0), opening);
    }
    let connected = [HubEvent::PeerConnected(at(1)), HubEvent::PeerConnected(at(1))];
    assert_eq!(hub.take_events(), connected);
    let is_refused = |seat: &&Seat| seat.session.closed().is_some();
    assert_eq!(hub.seats.values().filter(is_refused).count(), 1);
    run(&mut hub, HANDSHAKE);
    assert_eq!(hub.sessions(), 2);
}

/// A peer that was restarted while it connected.
#[test]
fn a_peer_that_knows_its_connection_no_more_takes_no_room() {
    let mut hub = hub(1);
    hub.config.peers.connections = 1;
    let (_, id, _) = accepted(&mut hub, ms(0), ("", Target::Ensemble));
    let mut restarted = Handshakes::new(&acp(), at(1), false).expect("random numbers");
    restarted.answer_unknown(ms(0), from(at(9)), id, 100);
    let (_, mut unknown) = restarted.poll_packet().expect("a proof");
    // It comes from the peer's address.
    hub.on_datagram(ms(0), Port::Peers, from(at(4)), &mut unknown, false);
    sent(&mut hub, ms(0), Port::Peers);
    assert_eq!(hub.seats.len(), 1);
    hub.on_datagram(ms(0), Port::Peers, from(at(1)), &mut unknown, false);
    sent(&mut hub, ms(0), Port::Peers);
    assert_eq!((hub.seats.len(), hub.sessions()), (0, 0));
    peer(&mut hub, ms(0));
    assert_eq!(hub.take_events(), [HubEvent::PeerConnected(at(1))]);
}

#[test]
fn a_session_begins_without_members_that_do_not_answer() {
    let mut hub = hub(2);
    peer(&mut hub, ms(0));
    assert_eq!(hub.take_events(), [HubEvent::PeerConnected(at(1))]);
    hub.on_timer(ms(0));
    let asked = sent(&mut hub, ms(0), Port::Members);
    answer(&mut hub, ms(1), 0, &asked);
    assert_eq!(hub.take_events(), [HubEvent::MemberUp(0)]);
    run(&mut hub, ms(499));
    assert_eq!(health(&hub)[1], Health::Unknown);
    run(&mut hub, ms(500));
    assert!(matches!(health(&hub)[1], Health::Down { .. }));
    assert_eq!(hub.members().map(|member| member.sessions).collect::<Vec<_>>(), [1, 0]);
}

#[test]
fn a_member_that_has_come_back_stays_though_earlier_handshakes_end() {
    let mut hub = hub(2);
    peer(&mut hub, ms(0));
    hub.on_timer(ms(0));
    let asked = sent(&mut hub, ms(0), Port::Members);
    answer(&mut hub, ms(1), 0, &asked);
    // The other is asked every second, for a long time, and then answers the last question.
    let mut now = ms(0);
    let mut last = Vec::new();
    while now < HANDSHAKE + ms(5000) {
        now += ms(50);
        hub.on_timer(now);
        let asked = sent(&mut hub, now, Port::Members);
        if asked.iter().any(|(to, _)| *to == at(101)) {
            last = asked;
        }
        sent(&mut hub, now, Port::Peers);
    }
    hub.take_events();
    answer(&mut hub, now, 1, &last);
    assert_eq!(hub.take_events(), [HubEvent::MemberUp(1)]);
    // Its session's handshake is answered, too.
    hub.on_timer(now);
    let asked = sent(&mut hub, now, Port::Members);
    answer(&mut hub, now, 1, &asked);
    assert_eq!(hub.members().map(|member| member.sessions).collect::<Vec<_>>()[1], 1);
    run(&mut hub, now + ms(900));
    assert_eq!(health(&hub)[1], Health::Up);
    run(&mut hub, now + HANDSHAKE - ms(100));
    let downs = hub.take_events().into_iter();
    let downs = downs.filter(|event| {
        *event == HubEvent::MemberDown(1, "it has not answered a handshake".into())
    });
    assert_eq!(downs.count(), 0);
}

/// A hub with a peer and two members that have answered.
fn running() -> Hub {
    let mut hub = with_spare(2, 1);
    peer(&mut hub, ms(0));
    hub.on_timer(ms(0));
    let asked = sent(&mut hub, ms(0), Port::Members);
    (0..2).for_each(|k| answer(&mut hub, ms(1), k, &asked));
    hub.take_events();
    hub
}

fn sessions(hub: &Hub) -> Vec<usize> {
    hub.members().map(|member| member.sessions).collect()
}

#[test]
fn a_member_that_comes_later_joins_all_sessions_and_leaves_them_when_it_goes() {
    let mut hub = running();
    let member = Member { name: "late".into(), ..member(2) };
    assert_eq!((sessions(&hub), hub.place("late")), (vec![1, 1], None));
    hub.enlist(ms(2), 2, member.clone());
    hub.on_timer(ms(2));
    let asked = sent(&mut hub, ms(2), Port::Members);
    answer(&mut hub, ms(3), 2, &asked);
    assert_eq!(hub.take_events(), [HubEvent::MemberUp(2)]);
    assert_eq!((sessions(&hub), hub.place("late")), (vec![1, 1, 1], Some(2)));
    // The same member again keeps its sessions; one with another address gets new ones.
    hub.enlist(ms(4), 2, member.clone());
    assert_eq!(sessions(&hub), [1, 1, 1]);
    hub.enlist(ms(5), 2, Member { address: at(103), ..member });
    assert_eq!(sessions(&hub), [1, 1, 0]);
    hub.on_timer(ms(5));
    let asked = sent(&mut hub, ms(5), Port::Members);
    answer(&mut hub, ms(6), 3, &asked);
    assert_eq!(sessions(&hub), [1, 1, 1]);
    hub.dismiss(ms(7), 2);
    assert_eq!((sessions(&hub), hub.place("late")), (vec![1, 1], None));
}

#[test]
fn a_drained_member_gets_no_new_sessions_until_it_is_undrained() {
    let mut hub = running();
    assert!(hub.drain(ms(2), 1) && !hub.drain(ms(2), 1));
    assert_eq!(hub.duty(1), Duty::Draining, "its session lasts until it has ended its stream");
    // It dies before that.
    hub.miss(ms(3), 1, "it is gone");
    assert_eq!(hub.duty(1), Duty::Drained);
    let down = HubEvent::MemberDown(1, "it is gone".into());
    assert_eq!(hub.take_events(), [down, HubEvent::MemberDrained("m1".into())]);
    hub.hear(ms(4), 1);
    run(&mut hub, ms(200));
    assert_eq!((sessions(&hub), hub.duty(1)), (vec![1, 0], Duty::Drained));
    assert!(hub.undrain(ms(200), 1) && !hub.undrain(ms(200), 1));
    hub.on_timer(ms(200));
    let asked = sent(&mut hub, ms(200), Port::Members);
    answer(&mut hub, ms(201), 1, &asked);
    assert_eq!((sessions(&hub), hub.duty(1)), (vec![1, 1], Duty::Serving));
}

#[test]
fn a_member_that_fails_its_probes_is_down_whatever_else_it_answers() {
    let mut hub = running();
    hub.distrust(ms(2), 1, "probes failed");
    assert!(matches!(health(&hub)[1], Health::Down { .. }));
    hub.hear(ms(3), 1);
    run(&mut hub, ms(200));
    assert!(matches!(health(&hub)[1], Health::Down { .. }));
    assert_eq!(sessions(&hub), [1, 0]);
    hub.take_events();
    hub.trust(ms(200), 1);
    assert_eq!(hub.take_events(), [HubEvent::MemberUp(1)]);
    hub.on_timer(ms(200));
    let asked = sent(&mut hub, ms(200), Port::Members);
    answer(&mut hub, ms(201), 1, &asked);
    assert_eq!((sessions(&hub), health(&hub)[1].clone()), (vec![1, 1], Health::Up));
}

/// A member that takes frames for other requests than the peer's gets none of them.
#[test]
fn a_member_for_another_application_gets_no_frames() {
    let mut hub = hub(2);
    peer_for(&mut hub, ms(0), "resp");
    hub.on_timer(ms(0));
    let asked = sent(&mut hub, ms(0), Port::Members);
    answer_for(&mut hub, ms(1), (0, "resp"), &asked);
    answer_for(&mut hub, ms(1), (1, "memcached"), &asked);
    let why = "it is for memcached, and the peer at 10.0.0.1:1 for resp";
    let refuses = HubEvent::MemberRefuses(1, why.into());
    let events = hub.take_events();
    let expected = [HubEvent::MemberUp(0), refuses.clone(), HubEvent::MemberUp(1)];
    assert_eq!(events[1..], expected, "{events:?}");
    assert_eq!(sessions(&hub), [1, 0]);
    let refusals: Vec<_> = hub.members().map(|member| member.refusal).collect();
    assert_eq!(refusals, [None, Some(why)]);
    assert_eq!(hub.seats.values().next().and_then(|seat| seat.session.closed()), None);
    // It is asked again, and has the framing of the peer by then.
    hub.on_timer(ms(2));
    let asked = sent(&mut hub, ms(2), Port::Members);
    answer_for(&mut hub, ms(3), (1, "resp"), &asked);
    assert_eq!(sessions(&hub), [1, 1]);
    assert!(hub.members().all(|member| member.refusal.is_none()));
}

/// A peer hears why it has no member.
#[test]
fn a_peer_without_a_member_for_its_application_is_told() {
    let mut hub = hub(1);
    peer_for(&mut hub, ms(0), "resp");
    hub.on_timer(ms(0));
    let asked = sent(&mut hub, ms(0), Port::Members);
    answer_for(&mut hub, ms(1), (0, "memcached"), &asked);
    let closed = hub.seats.values().next().and_then(|seat| seat.session.closed());
    let text = "member m0 is for memcached, and this peer for resp";
    let Some(CloseReason::Local { code: 5, text: told }) = closed else { panic!("{closed:?}") };
    assert_eq!(told, text);
}

/// A switch asks its peer again and again, and says once that it has no answer.
#[test]
fn a_peer_that_does_not_answer_is_asked_on() {
    let mut hub = with_peer(1, 0, Some(at(9)));
    run(&mut hub, HANDSHAKE * 3);
    assert_eq!(hub.take_events(), [HubEvent::PeerSilent(at(9))]);
    assert_eq!(hub.dialled(), Some((at(9), false)));
    let now = HANDSHAKE * 3;
    let asked = (0..200).flat_map(|k| {
        hub.on_timer(now + ms(10 * k));
        sent(&mut hub, now + ms(10 * k), Port::Peers)
    });
    let initial = asked.filter(|(to, _)| *to == at(9)).last().expect("a first packet").1;
    let mut handshakes = Handshakes::new(&acp(), at(8), true).expect("random numbers");
    let (_, id, rest) = packet_type(&initial).expect("a packet");
    let read = Initial::read(rest, initial.len()).expect("a first packet");
    let Some(Event::Accepted(ends)) = handshakes.on_initial(now, from(at(8)), id, &read, true)
    else {
        panic!("accepted")
    };
    assert_eq!(ends.params.kind, EndKind::Switch);
    let (_, mut answer) = handshakes.poll_packet().expect("an answer");
    hub.on_datagram(now + ms(2000), Port::Peers, from(at(9)), &mut answer, false);
    assert_eq!(hub.take_events(), [HubEvent::PeerConnected(at(9))]);
    assert_eq!((hub.dialled(), hub.sessions()), (Some((at(9), true)), 1));
}

/// A peer that resets each connection is asked less and less often.
#[test]
fn short_connections_are_made_less_and_less_often() {
    let mut hub = with_peer(0, 0, Some(at(9)));
    let mut dialled = Vec::new();
    let mut now = ms(0);
    while now < Duration::from_secs(200) {
        hub.on_timer(now);
        let first = sent(&mut hub, now, Port::Peers);
        if let Some((_, packet)) = first.iter().find(|(to, _)| *to == at(9)) {
            let mut handshakes = Handshakes::new(&acp(), at(8), true).expect("random numbers");
            if let Ok((PacketType::Initial, id, rest)) = packet_type(packet) {
                dialled.push(now.as_secs());
                let initial = Initial::read(rest, packet.len()).expect("a first packet");
                handshakes.on_initial(now, from(at(8)), id, &initial, true);
                let (_, mut answer) = handshakes.poll_packet().expect("an answer");
                hub.on_datagram(now, Port::Peers, from(at(9)), &mut answer, false);
                hub.reset_all(now, "enough");
                sent(&mut hub, now, Port::Peers);
            }
        }
        now += ms(100);
    }
    let gaps: Vec<u64> = dialled.windows(2).map(|two| two[1] - two[0]).collect();
    assert!(gaps.is_sorted() && gaps.first() == Some(&1) && gaps.last() == Some(&30), "{gaps:?}");
}
