//! Clients that break the protocol or say nothing. The daemon goes on serving others.

use std::net::Shutdown;

use ratewire_groups::spread::{Hello, Message, Request, Version, choice};
use ratewire_overlay::membership::Service;

use super::client::{Client, Stream, group};
use super::overlay::{FREE, Overlay, Running};
use super::slow::{LIMITS, Pair};

/// A daemon, and two clients that need it.
struct Site {
    overlay: Overlay,
    pair: Pair,
    _daemon: Running,
}

impl Site {
    fn new(limits: &str) -> Site {
        let (overlay, daemon) = Overlay::single(&format!("{FREE}{limits}"));
        let pair = Pair(overlay.local("x"), overlay.local("y"));
        Site { overlay, pair, _daemon: daemon }
    }

    fn stream(&self) -> Stream {
        Stream::unix(&self.overlay.socket("localhost"))
    }

    fn check(&mut self) {
        self.pair.exchange(5);
    }

    /// A client called `bad` that sends these bytes is disconnected, and gets nothing before.
    fn ends(&mut self, what: &str, bytes: &[u8]) {
        let mut bad = self.connect();
        bad.stream.write(bytes);
        assert_eq!(bad.next(), None, "{what}");
        self.check();
    }

    /// Connects as `bad`, as soon as the last client of this name is gone.
    fn connect(&self) -> Client {
        loop {
            match Client::try_connect(&self.overlay.socket("localhost"), "bad", true) {
                Ok(client) => return client,
                Err(refusal) => assert_eq!(refusal.code(), -6),
            }
        }
    }
}

/// A header of a client called `bad`.
fn header(kind: u32, sender: &str, names: u32, hint: u32, data: u32) -> Vec<u8> {
    let mut name = sender.as_bytes().to_vec();
    name.resize(32, 0);
    let [kind, hint] = [kind | 0x8000_0080, hint | 0x8000_0080].map(u32::to_le_bytes);
    [&kind[..], &name, &names.to_le_bytes(), &hint, &data.to_le_bytes()].concat()
}

fn message() -> Vec<u8> {
    let message = Message::new(Service::Fifo, &[group("chat")], 0, "data"[..].into());
    let name = "#bad#localhost".parse().unwrap();
    Request::Multicast(message).encode(&name, ratewire_groups::spread::ByteOrder::NATIVE).to_vec()
}

#[test]
fn headers_that_break_the_protocol_end_the_connection() {
    const SELF: &str = "#bad#localhost";
    const FIFO: u32 = 4;
    const JOIN: u32 = 0x1_0000;
    let mut site = Site::new("");
    for (what, header) in [
        ("data of 2 GB", header(FIFO, SELF, 1, 0, i32::MAX as u32)),
        ("data of a negative size", header(FIFO, SELF, 1, 0, -1i32 as u32)),
        ("2 billion groups", header(FIFO, SELF, i32::MAX as u32, 0, 0)),
        ("a negative number of groups", header(FIFO, SELF, -1i32 as u32, 0, 0)),
        ("101 groups", header(FIFO, SELF, 101, 0, 0)),
        ("a join of 2 billion groups", header(JOIN, SELF, i32::MAX as u32, 0, 0)),
        ("a join of no group", header(JOIN, SELF, 0, 0, 0)),
        ("another sender", header(FIFO, "#x#localhost", 1, 0, 4)),
        ("a sender of another daemon", header(FIFO, "#bad#elsewhere", 1, 0, 4)),
        ("a sender that is no name", header(FIFO, "bad", 1, 0, 4)),
        ("two services", header(FIFO | 8, SELF, 1, 0, 4)),
        ("a service and a join", header(FIFO | JOIN, SELF, 1, 0, 4)),
        ("no kind", header(0, SELF, 1, 0, 4)),
        ("a notice", header(0x1100, SELF, 1, 0, 4)),
        ("a hint with bits that it cannot have", header(FIFO, SELF, 1, 1, 4)),
    ] {
        site.ends(what, &header);
    }
    let private = [header(JOIN, SELF, 1, 0, 0), b"#x#localhost".to_vec(), vec![0; 20]].concat();
    site.ends("a join of a private name", &private);
    let illegal = [header(JOIN, SELF, 1, 0, 0), b"a b".to_vec(), vec![0; 29]].concat();
    site.ends("a join of an illegal name", &illegal);
    site.ends("bytes without sense", &[0xa5; 200]);
}

#[test]
fn connections_that_end_anywhere_do_no_harm() {
    let mut site = Site::new("");
    let hello = b"\x05\x00\x01\x01\x03bad";
    let handshake = [&hello[..], &choice()].concat();
    for length in [0, 1, 3, 6, hello.len(), hello.len() + 45] {
        let mut stream = site.stream();
        stream.write(&handshake[..length]);
        drop(stream);
        let mut stream = site.stream();
        stream.write(&handshake[..length]);
        stream.shutdown(Shutdown::Write);
        stream.rest();
        site.check();
    }
    for length in [0, 1, 47, 48, 60, message().len() - 1] {
        let mut bad = site.connect();
        bad.stream.write(&message()[..length]);
        drop(bad);
        site.check();
    }
    let mut watch = site.overlay.local("watch");
    watch.enter("chat");
    // What came before the end is done.
    let mut bad = site.connect();
    bad.join("chat");
    bad.stream.write(&message());
    bad.stream.write(&message()[..50]);
    bad.stream.shutdown(Shutdown::Write);
    watch.membership();
    assert_eq!(watch.text(), "data");
    assert_eq!(watch.membership().members, [watch.name]);
    site.check();
}

#[test]
fn a_client_that_sends_byte_by_byte_is_served() {
    let site = Site::new("");
    let mut slow = site.stream();
    let hello = b"\x05\x00\x01\x01\x03bad";
    let join = Request::Join(group("chat"));
    let join =
        join.encode(&"#bad#localhost".parse().unwrap(), ratewire_groups::spread::ByteOrder::Big);
    let all = [&hello[..], &choice(), &join, &message()].concat();
    for byte in all {
        slow.write(&[byte]);
    }
    let answer = 6 + 5 + "#bad#localhost".len();
    assert!(slow.read(answer).ends_with(b"#bad#localhost"));
    // The notice, and the message with its group.
    slow.read(48 + 32 + 12 + 8 + 4 + 32);
    assert!(slow.read(48 + 32 + 4).ends_with(b"data"));
}

#[test]
fn a_client_that_stops_reading_for_good_is_gone() {
    let mut site = Site::new("");
    let mut watch = site.overlay.local("watch");
    watch.enter("chat");
    let mut deaf = site.connect();
    deaf.enter("chat");
    assert_eq!(watch.membership().members.len(), 2);
    deaf.stream.shutdown(Shutdown::Read);
    watch.say(Service::Agreed, &["chat"], "anybody there?");
    assert_eq!(watch.text(), "anybody there?");
    assert_eq!(watch.membership().members, [watch.name]);
    site.check();
}

#[test]
fn connections_that_say_nothing_keep_no_client_out() {
    let limits = "clients = 10\nconnections-per-second = 100000\nhandshake-timeout = \"1 s\"";
    let mut site = Site::new(&format!("{LIMITS}{limits}\n"));
    let mut silent: Vec<Stream> = (0..250).map(|_| site.stream()).collect();
    let mut late = site.overlay.local("late");
    late.assert_nothing_more();
    for stream in &mut silent {
        assert_eq!(stream.rest(), b"");
    }
    site.check();
}

#[test]
fn connections_that_end_at_once_do_not_use_up_the_limit() {
    let limits = "clients = 3\nconnections-per-second = 100000\n";
    let mut site = Site::new(&format!("{LIMITS}{limits}"));
    for round in 0..400 {
        let hello = Hello {
            version: Version::NEWEST,
            membership: true,
            priority: 0,
            name: Some(format!("bad{round}").parse().unwrap()),
        };
        site.stream().write(&hello.encode());
    }
    let mut good = site.connect();
    good.assert_nothing_more();
    site.check();
}
