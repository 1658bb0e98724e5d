//! Three daemons: orders that hold at all of them.

use std::thread;

use bytes::Buf;
use ratewire_groups::spread::{PrivateName, Received};
use ratewire_overlay::membership::Service;

use super::client::Client;
use super::overlay::{FREE, Overlay, Running};

pub const NAMES: [&str; 3] = ["a", "b", "c"];
pub const LINE: &[[&str; 2]] = &[["a", "b"], ["b", "c"]];
pub const MESH: &[[&str; 2]] = &[["a", "b"], ["b", "c"], ["a", "c"]];

/// Three daemons, and a client of each: members of "chat" that have seen each other.
pub struct Three {
    pub overlay: Overlay,
    pub daemons: Vec<Running>,
    pub clients: [Client; 3],
}

impl Three {
    pub fn new(top: &str, links: &[[&str; 2]]) -> Three {
        Three::of(Overlay::new(top, &NAMES, links, FREE))
    }

    pub fn of(overlay: Overlay) -> Three {
        let start = |name: &str| {
            let daemon = overlay.start(name);
            let mut client = overlay.client(&format!("at-{name}"), name);
            client.join("chat");
            (daemon, client)
        };
        let ((at_c, mut c), (at_b, mut b)) = (start("c"), start("b"));
        meet(&mut [&mut b, &mut c]);
        let (at_a, mut a) = start("a");
        meet(&mut [&mut a, &mut b, &mut c]);
        Three { overlay, daemons: vec![at_a, at_b, at_c], clients: [a, b, c] }
    }

    pub fn names(&self) -> [PrivateName; 3] {
        self.clients.each_ref().map(|client| client.name)
    }
}

/// Waits until these are the members of "chat", and no more notices are on their way.
///
/// A daemon that comes has up to two links. The first makes a view of all, the second another one.
/// A daemon that has missed the former is lost to those that have not, and found again: they are
/// told so. Messages of all come after that, since a daemon is in the view of a member that has
/// been told of all, or on its way there.
pub fn meet(clients: &mut [&mut Client]) {
    let members: Vec<PrivateName> = clients.iter().map(|client| client.name).collect();
    for client in &mut *clients {
        client.until_members("chat", &members);
    }
    for client in &mut *clients {
        client.say(Service::Agreed, &["chat"], "here");
    }
    for client in clients {
        let mut here = 0;
        while here < members.len() {
            here += usize::from(matches!(client.receive(), Received::Message { .. }));
        }
    }
}

/// Each client sends `count` messages of these services in turn. Returns what each has got.
fn exchange(three: Three, services: &[Service], count: usize) -> Vec<Vec<(PrivateName, u64)>> {
    let all = 3 * count;
    thread::scope(|scope| {
        let receivers = three.clients.into_iter().map(|mut client| {
            let mut sender = client.sender();
            scope.spawn(move || {
                for i in 0..count as u64 {
                    let service = services[i as usize % services.len()];
                    sender.say(service, &["chat"], i.to_be_bytes().to_vec());
                }
            });
            scope.spawn(move || {
                let mut got = Vec::new();
                while got.len() < all {
                    let (sender, message) = client.message();
                    got.push((sender, (&message.data[..]).get_u64()));
                }
                got
            })
        });
        let receivers: Vec<_> = receivers.collect();
        receivers.into_iter().map(|receiver| receiver.join().unwrap()).collect()
    })
}

/// Whether each sender's messages come in the order of sending, and none is missing.
fn assert_by_sender(got: &[(PrivateName, u64)], names: &[PrivateName]) {
    for name in names {
        let numbers = got.iter().filter(|(sender, _)| sender == name).map(|(_, number)| *number);
        assert!(numbers.eq(0..(got.len() / names.len()) as u64), "{name}");
    }
}

fn one_order(links: &[[&str; 2]]) {
    let three = Three::new("", links);
    let names = three.names();
    let got = exchange(three, &[Service::Agreed, Service::Agreed, Service::Safe], 1000);
    assert_by_sender(&got[0], &names);
    assert!(got[0] == got[1] && got[1] == got[2], "members have got messages in different orders");
}

#[test]
fn all_members_get_all_messages_in_one_order_over_a_line() {
    one_order(LINE);
}

#[test]
fn all_members_get_all_messages_in_one_order_over_a_mesh() {
    one_order(MESH);
}

#[test]
fn fifo_messages_come_in_the_order_of_their_sender() {
    let three = Three::new("", LINE);
    let names = three.names();
    for got in exchange(three, &[Service::Fifo, Service::Causal, Service::Fifo], 300) {
        assert_by_sender(&got, &names);
    }
}

#[test]
fn an_answer_comes_after_its_question() {
    let mut three = Three::new("", MESH);
    for round in 0..200 {
        let [a, b, c] = &mut three.clients;
        let (question, answer) = (format!("question {round}"), format!("answer {round}"));
        a.say(Service::Causal, &["chat"], question.clone());
        assert_eq!(b.text(), question);
        b.say(Service::Causal, &["chat"], answer.clone());
        assert_eq!(b.text(), answer);
        for client in [a, c] {
            assert_eq!(client.text(), question);
            assert_eq!(client.text(), answer);
        }
    }
}

#[test]
fn private_messages_and_guests_cross_daemons() {
    let mut three = Three::new("", LINE);
    let mut guest = three.overlay.quiet("guest", "c");
    let to = three.clients[0].name.to_string();
    guest.say(Service::Safe, &[&to, "#at-a#b", "#nobody#b"], "to one");
    guest.say(Service::Agreed, &["chat"], "to all");
    assert_eq!(three.clients[0].text(), "to one");
    for client in &mut three.clients {
        let (sender, message) = client.message();
        assert_eq!((sender, &message.data[..]), (guest.name, &b"to all"[..]));
    }
    guest.assert_nothing_more();
}
