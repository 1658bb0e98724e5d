//! Handshakes as datagrams.

use super::*;
use crate::channel::CloseReason;
use crate::handshakes::{HALF_OPEN, HANDSHAKE};
use crate::keys::Credentials;
use crate::wire::{LONGEST_LAW, Target};

const NOW: Duration = Duration::from_secs(5);

fn hub(accepts: bool) -> Hub {
    of(Config::new(Credentials::Shared([7; 32])), accepts)
}

/// Clients are at one address, servers at another.
fn of(config: Config, accepts: bool) -> Hub {
    Hub::new(config, at(u16::from(accepts)), accepts).expect("random numbers")
}

fn at(port: u16) -> SocketAddr {
    SocketAddr::from(([10, 0, 0, 1], port))
}

/// Packets that a hub sends now.
fn sent(hub: &mut Hub) -> Vec<Vec<u8>> {
    hub.on_timer(NOW);
    let mut all: Vec<Vec<u8>> =
        std::iter::from_fn(|| hub.poll_packet()).map(|(_, bytes)| bytes).collect();
    while let Some(id) = hub.poll_dirty() {
        let mut bytes = Vec::new();
        while hub.poll_transmit(NOW, id, &mut bytes).is_some() {
            all.push(core::mem::take(&mut bytes));
        }
        hub.settle(id);
    }
    all
}

/// Gives a hub packets from a port; returns what it answers.
fn give(hub: &mut Hub, port: u16, packets: Vec<Vec<u8>>) -> Vec<Vec<u8>> {
    for mut packet in packets {
        let path = NetworkPath { local: at(0).ip(), remote: at(port) };
        hub.on_datagram(NOW, path, &mut packet, false);
    }
    sent(hub)
}

fn kinds(packets: &[Vec<u8>]) -> Vec<PacketType> {
    packets.iter().map(|packet| packet_type(packet).expect("a packet").0).collect()
}

/// A client's hub and its first packet.
fn client() -> (Hub, Vec<Vec<u8>>) {
    let mut hub = hub(false);
    hub.connect(NOW, at(1), Target::Ensemble).expect("a connection");
    let packets = sent(&mut hub);
    (hub, packets)
}

#[test]
fn clients_that_do_not_show_their_keys_cost_cookies_only() {
    let mut server = hub(true);
    for port in 0..HALF_OPEN as u16 {
        let (_, first) = client();
        let answers = give(&mut server, port, first);
        // The server also begins its own direction.
        assert_eq!(kinds(&answers), [PacketType::Accept, PacketType::Data]);
    }
    let (mut client, first) = client();
    let again = first.clone();
    let answers = give(&mut server, 999, first);
    assert_eq!(kinds(&answers), [PacketType::Retry]);
    assert!(answers[0].len() < again[0].len() && server.slots.len() == HALF_OPEN);
    let with_cookie = give(&mut client, 1, answers);
    assert_eq!(kinds(&give(&mut server, 998, with_cookie.clone())), [PacketType::Retry]);
    assert_eq!(kinds(&give(&mut server, 999, with_cookie))[0], PacketType::Accept);
    // Those who never show them are forgotten.
    server.on_timer(NOW + HANDSHAKE);
    assert!(server.slots.is_empty() && server.handshakes.half_open() == 0);
}

#[test]
fn a_repeated_first_packet_makes_no_second_connection() {
    let (mut server, (_, first)) = (hub(true), client());
    let answers = give(&mut server, 1, first.clone());
    assert_eq!(give(&mut server, 1, first), answers[..1]);
    assert_eq!(server.slots.len(), 1);
}

/// A switch asks whether a member is there, and knows nothing of that connection when it connects.
#[test]
fn a_client_that_knows_its_connection_no_more_takes_no_room() {
    let mut config = Config::new(Credentials::Shared([7; 32]));
    config.connections = 1;
    let mut server = of(config, true);
    let (_, first) = client();
    let accepted = give(&mut server, 1, first);
    assert_eq!(kinds(&accepted), [PacketType::Accept, PacketType::Data]);
    let unknown = give(&mut hub(false), 1, accepted);
    assert_eq!(kinds(&unknown), [PacketType::Unknown]);
    give(&mut server, 1, unknown);
    assert_eq!((server.slots.len(), server.confirmed()), (0, 0));
    let (mut client, first) = client();
    let opening = give(&mut client, 1, give(&mut server, 1, first));
    give(&mut server, 1, opening);
    assert_eq!((server.accepted.len(), server.confirmed()), (1, 1));
}

/// Copies come from many addresses. Four are answered.
#[test]
fn copies_of_a_first_packet_keep_nobody_out() {
    let mut config = Config::new(Credentials::Shared([7; 32]));
    config.connections = 2;
    let mut server = of(config, true);
    let (_, first) = client();
    let answered = |server: &mut Hub, port| !give(server, port, first.clone()).is_empty();
    assert_eq!((1..100).filter(|port| answered(&mut server, *port)).count(), 4);
    assert_eq!(server.slots.len(), 4);
    // Those who show that they have the keys are counted, and the third has no room.
    let mut openings = Vec::new();
    for port in 200..203 {
        let (mut client, first) = client();
        let accepted = give(&mut server, port, first);
        openings.push((port, give(&mut client, 1, accepted)));
    }
    for (port, opening) in openings {
        give(&mut server, port, opening);
    }
    assert_eq!(server.accepted.len(), 2);
    let refused = server.slots.values().filter(|slot| slot.connection.closed().is_some());
    assert_eq!(refused.count(), 1);
    // Nor has a fourth, who is not even answered.
    assert_eq!(give(&mut server, 300, client().1), [[0; 0]; 0]);
}

#[test]
fn a_server_that_was_restarted_says_so() {
    let (mut server, (mut client, first)) = (hub(true), client());
    let accepted = give(&mut server, 1, first);
    let opening = give(&mut client, 1, accepted);
    assert_eq!(kinds(&opening), [PacketType::Data]);
    let mut restarted = hub(true);
    let unknown = give(&mut restarted, 1, opening.clone());
    assert_eq!(kinds(&unknown), [PacketType::Unknown]);
    assert!(unknown[0].len() < opening[0].len(), "no answer is longer than what it answers");
    let closed = |client: &Hub| {
        client.slots.values().next().and_then(|slot| slot.connection.closed().cloned())
    };
    // Another's proof ends nothing, and neither does this one for another number or from elsewhere.
    let mut false_proof = unknown.clone();
    false_proof[0][20] ^= 1;
    give(&mut client, 1, false_proof);
    let mut of_another = unknown.clone();
    of_another[0][11] ^= 1;
    give(&mut client, 1, of_another);
    give(&mut client, 2, unknown.clone());
    assert_eq!(closed(&client), None);
    give(&mut client, 1, unknown);
    assert_eq!(closed(&client), Some(crate::CloseReason::Forgotten));
}

/// Answers of a hub to packets of a connection that it does not know, from a host.
fn answers(hub: &mut Hub, host: u8, packets: usize) -> usize {
    let path = NetworkPath { local: at(0).ip(), remote: ([10, 0, 0, host], 9).into() };
    let mut unknown = [&[b'A', b'C', 1, 0][..], &[9; 80]].concat();
    for _ in 0..packets {
        hub.on_datagram(NOW, path, &mut unknown, false);
    }
    std::iter::from_fn(|| hub.poll_packet()).filter(|(to, _)| *to == path.remote).count()
}

/// A flood must not keep a peer from hearing that this end was restarted.
#[test]
fn a_flood_of_unknown_packets_takes_no_answers_from_others() {
    let mut server = hub(true);
    assert_eq!(answers(&mut server, 9, 1000), 100);
    // A few may have bad luck for a second.
    let others = (10..250).filter(|host| answers(&mut server, *host, 1) == 1);
    assert!(others.count() > 200);
    // A peer that has shown that it has the keys, and one that this end connects to.
    let (mut client, first) = client();
    let opening = give(&mut client, 1, give(&mut server, 1, first));
    assert!(answers(&mut server, 1, 1000) <= 100, "it has not shown them");
    give(&mut server, 1, opening);
    assert_eq!(answers(&mut server, 1, 1000), 1000);
    assert_eq!(answers(&mut client, 1, 1000), 1000);
}

#[test]
fn a_law_that_a_handshake_has_no_room_for_is_refused_at_once() {
    for (length, is_taken) in [(LONGEST_LAW, true), (LONGEST_LAW + 1, false)] {
        let law_name = format!("{:0<length$}", "xcp gamma=0.1");
        let config = Config { law_name, ..Config::new(Credentials::Shared([7; 32])) };
        let mut client = of(config, false);
        let begun = client.connect(NOW, at(1), Target::Ensemble);
        if is_taken {
            begun.expect("a connection");
            let answers = give(&mut hub(true), 1, sent(&mut client));
            assert_eq!(kinds(&answers), [PacketType::Accept, PacketType::Data]);
        } else {
            assert!(matches!(begun, Err(Error::LongLaw { .. })), "{begun:?}");
        }
    }
}

#[test]
fn a_host_has_no_members_to_connect_with() {
    let (mut client, mut server) = (hub(false), hub(true));
    let id = client.connect(NOW, at(1), Target::Member(3)).expect("a connection");
    let mut packets = sent(&mut client);
    for _ in 0..3 {
        let answers = give(&mut server, 0, packets);
        packets = give(&mut client, 1, answers);
    }
    let closed = client.slot(id).expect("a connection").connection.closed().cloned();
    assert!(matches!(&closed, Some(CloseReason::Reset { code: NO_TARGET, .. })), "{closed:?}");
}

#[test]
fn who_is_shut_takes_no_new_connections() {
    let (mut server, (mut client, first)) = (hub(true), client());
    let answers = give(&mut server, 0, first);
    let opening = give(&mut client, 1, answers);
    give(&mut server, 0, opening);
    assert!(server.has_accepted());
    server.shut();
    assert!(!server.has_accepted(), "nobody takes it");
    let (_, first) = self::client();
    assert!(!kinds(&give(&mut server, 9, first)).contains(&PacketType::Accept));
}
