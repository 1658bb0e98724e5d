//! What one daemon does for its clients.

use ratewire_groups::client::{Options, blocking};
use ratewire_groups::spread::{
    ByteOrder, Change, Hello, LONGEST_BODY, MOST_GROUPS, Message, Received, Request, Version,
};
use ratewire_overlay::membership::Service;

use super::client::{Client, Stream, group};
use ratewire_testing::free_address;

use super::overlay::{FREE, Overlay, Running};

const SERVICES: [Service; 6] = [
    Service::Unreliable,
    Service::Reliable,
    Service::Fifo,
    Service::Causal,
    Service::Agreed,
    Service::Safe,
];

/// Clients that are members of "chat", and have seen each other join.
fn chatting<const N: usize>(overlay: &Overlay, names: [&str; N]) -> [Client; N] {
    let mut clients = names.map(|name| overlay.local(name));
    let members = clients.each_ref().map(|client| client.name);
    for client in &mut clients {
        client.join("chat");
    }
    for client in &mut clients {
        client.until_members("chat", &members);
    }
    clients
}

#[test]
fn every_service_reaches_all_members_and_the_sender() {
    let (overlay, _daemon) = Overlay::single(FREE);
    let mut clients = chatting(&overlay, ["anna", "bert", "cleo"]);
    let sender = clients[0].name;
    for service in SERVICES {
        clients[0].say(service, &["chat"], format!("{service:?}"));
        for client in &mut clients {
            let (from, message) = client.message();
            assert_eq!((from, message.service), (sender, service));
            assert_eq!(message.data, format!("{service:?}"));
            assert_eq!(message.groups, [group("chat")]);
        }
    }
}

#[test]
fn a_message_to_many_groups_reaches_each_member_once() {
    let (overlay, _daemon) = Overlay::single(FREE);
    let [mut anna, mut bert] = chatting(&overlay, ["anna", "bert"]);
    bert.enter("news");
    let own = bert.name.to_string();
    anna.say(Service::Agreed, &["nobody", "news", "chat", &own, "chat"], "all");
    let (_, message) = bert.message();
    let groups = ["nobody", "news", "chat", &own, "chat"].map(group);
    assert_eq!((&message.data[..], message.groups), (&b"all"[..], groups.to_vec()));
    bert.assert_nothing_more();
    assert_eq!(anna.text(), "all");
    anna.assert_nothing_more();
}

#[test]
fn a_message_that_its_sender_discards_reaches_only_others() {
    let (overlay, _daemon) = Overlay::single(FREE);
    let [mut anna, mut bert] = chatting(&overlay, ["anna", "bert"]);
    let mut message = Message::new(Service::Safe, &[group("chat")], -7, "others"[..].into());
    message.self_discard = true;
    anna.send(&Request::Multicast(message.clone()));
    assert_eq!(bert.message(), (anna.name, message));
    anna.assert_nothing_more();
}

#[test]
fn private_messages_reach_one_client_and_groups_are_open() {
    let (overlay, _daemon) = Overlay::single(FREE);
    let [mut anna, mut bert] = chatting(&overlay, ["anna", "bert"]);
    let mut guest = overlay.quiet("guest", "localhost");
    guest.say(Service::Fifo, &[anna.name.as_str()], "to anna");
    guest.say(Service::Fifo, &["#nobody#localhost", "#anna#elsewhere"], "to nobody");
    guest.say(Service::Causal, &["chat"], "to chat");
    assert_eq!(anna.message().0, guest.name);
    for client in [&mut anna, &mut bert] {
        let (sender, message) = client.message();
        assert_eq!((sender, &message.data[..]), (guest.name, &b"to chat"[..]));
    }
    guest.assert_nothing_more();
}

#[test]
fn the_largest_messages_are_delivered_and_longer_ones_end_the_connection() {
    let (overlay, _daemon) = Overlay::single(FREE);
    let [mut anna, mut bert] = chatting(&overlay, ["anna", "bert"]);
    let data: Vec<u8> = (0..LONGEST_BODY - 32).map(|i| (i % 251) as u8).collect();
    anna.say(Service::Agreed, &["chat"], data.clone());
    assert!(bert.message().1.data == data && anna.message().1.data == data);
    let groups: Vec<String> = (1..MOST_GROUPS).map(|i| format!("group{i}")).collect();
    let mut names: Vec<&str> = groups.iter().map(String::as_str).collect();
    names.push("chat");
    anna.say(Service::Agreed, &names, "many groups");
    assert_eq!(bert.message().1.groups.len(), MOST_GROUPS);
    assert_eq!(anna.text(), "many groups");
    anna.say(Service::Agreed, &["chat"], vec![0; LONGEST_BODY - 31]);
    assert_eq!(anna.next(), None);
    assert_eq!(bert.membership().change, Change::Disconnect(anna.name));
}

#[test]
fn members_are_told_who_joins_leaves_and_disconnects() {
    let (overlay, _daemon) = Overlay::single(FREE);
    let mut anna = overlay.local("anna");
    let mut bert = overlay.local("bert");
    let (a, b) = (anna.name, bert.name);
    let alone = anna.enter("chat");
    assert_eq!((alone.members, alone.change), (vec![a], Change::Join(a)));
    let joined = bert.enter("chat");
    assert_eq!((&joined.members[..], &joined.change), (&[a, b][..], &Change::Join(b)));
    assert_eq!(anna.membership(), joined);
    assert!(joined.id > alone.id, "a later view has a larger identifier");
    bert.leave("chat");
    assert_eq!(bert.receive(), Received::Left(group("chat")));
    let left = anna.membership();
    assert_eq!((left.members, left.change), (vec![a], Change::Leave(b)));
    bert.enter("chat");
    assert_eq!(anna.membership().members, [a, b]);
    // One client says that it ends, the other's connection just ends.
    bert.send(&Request::Disconnect);
    assert_eq!(bert.next(), None);
    assert_eq!(anna.membership().change, Change::Disconnect(b));
    let mut bert = overlay.local("bert");
    bert.enter("chat");
    assert_eq!(anna.membership().change, Change::Join(b));
    drop(bert);
    let gone = anna.membership();
    assert_eq!((gone.members, gone.change), (vec![a], Change::Disconnect(b)));
    anna.assert_nothing_more();
}

#[test]
fn joining_twice_and_leaving_without_joining_do_nothing() {
    let (overlay, _daemon) = Overlay::single(FREE);
    let mut anna = overlay.local("anna");
    anna.leave("chat");
    anna.enter("chat");
    anna.join("chat");
    anna.leave("other");
    anna.assert_nothing_more();
}

#[test]
fn a_client_that_wants_no_notices_gets_none() {
    let (overlay, _daemon) = Overlay::single(FREE);
    let mut quiet = overlay.quiet("quiet", "localhost");
    let mut anna = overlay.local("anna");
    quiet.join("chat");
    quiet.assert_nothing_more();
    assert_eq!(anna.enter("chat").members, [anna.name, quiet.name]);
    anna.say(Service::Fifo, &["chat"], "hello");
    assert_eq!(quiet.text(), "hello");
    anna.leave("chat");
    quiet.leave("chat");
    quiet.assert_nothing_more();
}

#[test]
fn too_many_groups_are_rejected() {
    let rest = format!("{FREE}[limits]\ngroups-per-client = 2\n");
    let (overlay, _daemon) = Overlay::single(&rest);
    let mut anna = overlay.local("anna");
    anna.enter("one");
    anna.enter("two");
    anna.join("three");
    let request = Request::Join(group("three"));
    assert_eq!(anna.receive(), Received::Rejected { sender: anna.name, request });
    anna.leave("one");
    assert_eq!(anna.receive(), Received::Left(group("one")));
    anna.enter("three");
}

#[test]
fn clients_of_either_byte_order_by_tcp_and_unix_sockets() {
    let mut overlay = Overlay::new("", &["localhost"], &[], FREE);
    let address = free_address();
    overlay.text = overlay.text.replace("listen = [", &format!("listen = [\"{address}\", "));
    let _daemon = Running::start(overlay.config(), "localhost");
    let hello = |name: &str| Hello {
        version: Version::new(4, 4, 0),
        membership: false,
        priority: 1,
        name: Some(name.parse().unwrap()),
    };
    let introduce =
        |name, order| Client::introduce(Stream::tcp(address), &hello(name), order).unwrap();
    let mut big = introduce("big", ByteOrder::Big);
    let mut little = introduce("little", ByteOrder::Little);
    let mut unix = overlay.quiet("unix", "localhost");
    let options = Options { name: Some("library".parse().unwrap()), ..Options::default() };
    let tcp = address.to_string().parse().unwrap();
    let mut library = blocking::Connection::connect(&tcp, options).unwrap();
    for client in [&mut big, &mut little, &mut unix] {
        client.join("chat");
        client.assert_nothing_more();
    }
    library.join(group("chat")).unwrap();
    library.multicast(Service::Agreed, &[group("chat")], 300, "from library").unwrap();
    for client in [&mut big, &mut little, &mut unix] {
        let (sender, message) = client.message();
        assert_eq!((sender, message.kind), (library.private_name(), 300));
    }
    big.say(Service::Agreed, &["chat"], "from big");
    for client in [&mut big, &mut little, &mut unix] {
        let (sender, message) = client.message();
        assert_eq!((sender.client(), message.order), ("big", ByteOrder::Big));
    }
    assert!(
        matches!(library.receive(), Ok(Received::Message { message, .. }) if message.kind == 300)
    );
    assert!(
        matches!(library.receive(), Ok(Received::Message { sender, .. }) if sender == big.name)
    );
    library.disconnect().unwrap();
}

#[test]
fn frames_of_a_big_endian_client_byte_by_byte() {
    let (overlay, _daemon) = Overlay::single(FREE);
    let mut big = overlay.local("big");
    let name = |text: &str| {
        let mut name = text.as_bytes().to_vec();
        name.resize(32, 0);
        name
    };
    let frame = |kind: u32, hint: u32, data: &[u8]| {
        let numbers = [1, hint, data.len() as u32].map(u32::to_be_bytes).concat();
        [&kind.to_be_bytes()[..], &name("#big#localhost"), &numbers, &name("chat"), data].concat()
    };
    big.stream.write(&frame(0x1_0000, 0, b""));
    assert_eq!(big.membership().members, [big.name]);
    big.stream.write(&frame(0x20, 0x0001_0200, b"safe"));
    let (_, message) = big.message();
    assert_eq!((message.kind, message.order), (0x102, ByteOrder::Big));
    assert_eq!((message.service, &message.data[..]), (Service::Safe, &b"safe"[..]));
    big.stream.write(&frame(0x2_0000, 0, b""));
    assert_eq!(big.receive(), Received::Left(group("chat")));
    big.stream.write(&frame(0x4_0000, 0, b""));
    assert_eq!(big.next(), None);
}
