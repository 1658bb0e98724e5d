//! Members that do not read: senders wait, nothing is lost, and others go on.

use std::io::ErrorKind;
use std::thread;

use bytes::{Buf, Bytes};
use ratewire_groups::spread::{Message, Received, Refusal, Request};
use ratewire_overlay::membership::Service;

use super::client::{Client, group};
use super::overlay::{FREE, Overlay};

/// The smallest limits that a configuration can have.
pub const LIMITS: &str = "[limits]\nqueue-per-client = \"256 KB\"\nwindow = \"256 KB\"\n";
pub const QUEUE: usize = 256_000;
const WINDOW: usize = 256_000;
/// Data of a message: one packet.
pub const SIZE: usize = 1440;
/// A message with one group on a connection.
const FRAME: usize = 48 + 32 + SIZE;
/// Bytes that the daemon reads from a client at a time, at most: its buffer may have grown.
pub const READ: usize = 128 << 10;
/// Round trips of others through the daemon in which a sender that is not held would go on.
const ROUNDS: usize = 200;

/// A numbered message.
pub fn numbered(service: Service, name: &str, number: u64) -> Request {
    let mut data = number.to_be_bytes().to_vec();
    data.resize(SIZE, 0);
    Request::Multicast(Message::new(service, &[group(name)], 0, data.into()))
}

/// Number of the next message.
pub fn number(client: &mut Client) -> u64 {
    let (_, message) = client.message();
    assert_eq!(message.data.len(), SIZE);
    (&message.data[..]).get_u64()
}

/// Two clients that send each other messages, to see that their daemons still serve.
pub struct Pair(pub Client, pub Client);

impl Pair {
    pub fn exchange(&mut self, rounds: usize) {
        let names = [self.0.name, self.1.name].map(|name| name.to_string());
        for round in 0..rounds {
            self.0.say(Service::Agreed, &[&names[1]], format!("ping {round}"));
            assert_eq!(self.1.text(), format!("ping {round}"));
            self.1.say(Service::Agreed, &[&names[0]], format!("pong {round}"));
            assert_eq!(self.0.text(), format!("pong {round}"));
        }
    }
}

/// A sender that is held.
pub struct Held {
    pub sender: Client,
    /// Requests that were begun, and the rest of the last one.
    pub begun: u64,
    pub rest: Bytes,
}

/// Sends messages until the daemon reads no more. No more than `most` bytes may go before.
fn fill(sender: Client, service: Service, name: &str, most: usize, others: &mut Pair) -> Held {
    fill_with(sender, |number| numbered(service, name, number), most, others)
}

/// Sends requests until the daemon reads no more. No more than `most` bytes may go before.
pub fn fill_with(
    mut sender: Client,
    request: impl Fn(u64) -> Request,
    most: usize,
    others: &mut Pair,
) -> Held {
    let (mut begun, mut sent, mut idle) = (0, 0, 0);
    let mut rest = Bytes::new();
    while idle < ROUNDS {
        if rest.is_empty() {
            rest = sender.encode(&request(begun));
            begun += 1;
        }
        match sender.stream.write_now(&rest) {
            Ok(written) => {
                rest.advance(written);
                sent += written;
                idle = 0;
                assert!(sent <= most, "{sent} bytes were taken, and {most} may wait");
            }
            Err(error) => {
                assert_eq!(error.kind(), ErrorKind::WouldBlock);
                others.exchange(1);
                idle += 1;
            }
        }
    }
    Held { sender, begun, rest }
}

impl Held {
    /// Sends the rest and more, while these read. All of them must get every message in order.
    fn release(self, service: Service, name: &str, more: u64, readers: &mut [&mut Client]) {
        let Held { mut sender, begun, rest } = self;
        let all = begun + more;
        thread::scope(|scope| {
            scope.spawn(move || {
                sender.stream.write(&rest);
                (begun..all).for_each(|i| sender.send(&numbered(service, name, i)));
                sender.assert_nothing_more();
            });
            for reader in readers {
                scope.spawn(move || (0..all).for_each(|i| assert_eq!(number(reader), i)));
            }
        });
    }
}

/// Most bytes of a sender that may wait in one daemon: in the socket from the sender, in the
/// daemon's buffer, in the queue to the receiver, and in the socket to it. All messages of one read
/// may go into the queue before the daemon looks at its length.
fn bound(client: &Client) -> usize {
    2 * client.stream.send_buffer() + 2 * READ + QUEUE + 3 * FRAME
}

#[test]
fn a_member_that_does_not_read_holds_its_senders_and_nobody_else() {
    let (overlay, _daemon) = Overlay::single(&format!("{FREE}{LIMITS}"));
    let sender = overlay.quiet("sender", "localhost");
    let mut slow = overlay.local("slow");
    slow.enter("chat");
    let mut others = Pair(overlay.local("x"), overlay.local("y"));
    let most = bound(&sender);
    let held = fill(sender, Service::Agreed, "chat", most, &mut others);
    others.exchange(500);
    held.release(Service::Agreed, "chat", 500, &mut [&mut slow]);
    slow.assert_nothing_more();
}

#[test]
fn a_member_at_another_daemon_holds_senders_too() {
    let links = [["a", "b"], ["b", "c"]];
    let overlay = Overlay::new("", &["a", "b", "c"], &links, &format!("{FREE}{LIMITS}"));
    let _daemons = ["a", "b", "c"].map(|name| overlay.start(name));
    let mut others = Pair(overlay.client("x", "a"), overlay.client("y", "c"));
    let mut slow = overlay.client("slow", "c");
    others.0.join("chat");
    slow.join("chat");
    let members = [others.0.name, slow.name];
    others.0.until_members("chat", &members);
    slow.until_members("chat", &members);
    others.0.leave("chat");
    slow.until_members("chat", &members[1..]);
    assert_eq!(others.0.receive(), Received::Left(group("chat")));
    let sender = overlay.quiet("sender", "a");
    let most = bound(&sender) + WINDOW + FRAME;
    let held = fill(sender, Service::Safe, "chat", most, &mut others);
    others.exchange(200);
    held.release(Service::Safe, "chat", 200, &mut [&mut slow]);
}

#[test]
fn what_a_sender_has_sent_is_delivered_after_its_end() {
    let (overlay, _daemon) = Overlay::single(&format!("{FREE}{LIMITS}"));
    let sender = overlay.quiet("sender", "localhost");
    let mut slow = overlay.local("slow");
    slow.enter("chat");
    let mut others = Pair(overlay.local("x"), overlay.local("y"));
    let most = bound(&sender);
    let Held { sender, begun, rest } = fill(sender, Service::Agreed, "chat", most, &mut others);
    drop(sender);
    let whole = if rest.is_empty() { begun } else { begun - 1 };
    (0..whole).for_each(|i| assert_eq!(number(&mut slow), i));
    // The daemon has seen the end of the connection when the name is free.
    let again = || Client::try_connect(&overlay.socket("localhost"), "sender", false);
    while let Err(refusal) = again() {
        assert_eq!(refusal, Refusal::NotUnique);
    }
    slow.assert_nothing_more();
}

#[test]
fn a_sender_that_is_its_own_slow_member_is_served_again_when_it_reads() {
    let (overlay, _daemon) = Overlay::single(&format!("{FREE}{LIMITS}"));
    let mut sender = overlay.local("sender");
    sender.enter("chat");
    let mut reader = sender.sender();
    let mut others = Pair(overlay.local("x"), overlay.local("y"));
    let most = bound(&sender);
    let held = fill(sender, Service::Fifo, "chat", most, &mut others);
    let Held { mut sender, begun, rest } = held;
    thread::scope(|scope| {
        scope.spawn(move || sender.stream.write(&rest));
        (0..begun).for_each(|i| assert_eq!(number(&mut reader), i));
    });
}

#[test]
fn only_unreliable_messages_are_dropped_and_only_for_the_member_that_is_slow() {
    let policy = "[[group]]\nname = \"video*\"\npolicy = \"drop\"\n";
    let (overlay, _daemon) = Overlay::single(&format!("{FREE}{LIMITS}{policy}"));
    let mut sender = overlay.local("sender");
    let (mut fast, mut slow) =
        (overlay.quiet("fast", "localhost"), overlay.quiet("slow", "localhost"));
    for client in [&mut fast, &mut slow] {
        client.join("video1");
        client.assert_nothing_more();
    }
    let sent = 2 * bound(&sender) / FRAME;
    for i in 0..sent as u64 {
        sender.send(&numbered(Service::Unreliable, "video1", i));
        assert_eq!(number(&mut fast), i);
    }
    // Messages to a client are not dropped: this one waits until the client reads.
    sender.send(&numbered(Service::Fifo, slow.name.as_str(), u64::MAX));
    let mut numbers = vec![number(&mut slow)];
    while *numbers.last().unwrap() != u64::MAX {
        numbers.push(number(&mut slow));
    }
    assert!(numbers.is_sorted_by(|a, b| a < b), "{numbers:?}");
    assert!(numbers.len() <= sent, "nothing was dropped");
    // Others are not dropped either.
    let mut others = Pair(overlay.local("x"), overlay.local("y"));
    let most = bound(&sender);
    let held = fill(sender, Service::Agreed, "video1", most, &mut others);
    held.release(Service::Agreed, "video1", 100, &mut [&mut slow, &mut fast]);
}

#[test]
fn a_private_message_waits_for_its_receiver_whatever_pattern_fits_its_name() {
    let policy = "[[group]]\nname = \"*\"\nlag = 10\n";
    let (overlay, _daemon) = Overlay::single(&format!("{FREE}{LIMITS}{policy}"));
    let sender = overlay.quiet("sender", "localhost");
    let mut slow = overlay.local("slow");
    let mut others = Pair(overlay.local("x"), overlay.local("y"));
    let (most, name) = (bound(&sender), slow.name);
    let held = fill(sender, Service::Agreed, name.as_str(), most, &mut others);
    held.release(Service::Agreed, name.as_str(), 100, &mut [&mut slow]);
}
