//! Whom a daemon lets in as another daemon.

use std::net::Shutdown;
use std::time::SystemTime;

use bytes::BytesMut;
use ratewire_groups::certificates::{Identity, Making, make};
use ratewire_groups::config::Config;
use ratewire_groups::wire::{Agreement, Greeting, encode};
use ratewire_overlay::membership::Service;
use tokio::io::{AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt};
use tokio::net::TcpStream;

use super::client::Stream;
use super::overlay::{FREE, Overlay, Running};
use super::several::{MESH, NAMES, Three, meet};

/// What a daemon that calls itself `name` says first to one with a higher number.
fn introduction(config: &Config, name: &str) -> BytesMut {
    let mut out = BytesMut::new();
    Greeting::new(config, config.node(name).unwrap(), 1).encode(&mut out).unwrap();
    encode(&1u64, &mut out).unwrap();
    out
}

/// As [`introduction`], of a daemon that has seen that the other has another configuration.
fn differing(config: &Config, name: &str) -> BytesMut {
    let mut out = introduction(config, name);
    Agreement::new(config).encode(&mut out).unwrap();
    out
}

/// A daemon of three that is alone.
fn alone(top: &str, prepare: impl FnOnce(&Overlay)) -> (Overlay, Running) {
    let overlay = Overlay::new(top, &NAMES, MESH, FREE);
    prepare(&overlay);
    let daemon = overlay.start("c");
    (overlay, daemon)
}

#[test]
fn a_daemon_of_another_configuration_is_not_let_in() {
    let (overlay, _daemon) = alone("", |_| {});
    let config = overlay.config();
    let address = config.daemons[2].address.unwrap();
    let others = [
        overlay.with(&overlay.text.replace("fee = 0", "fee = 1")),
        overlay
            .with(&overlay.text.replace("name = \"b\"", "name = \"d\"").replace("\"b\"", "\"d\"")),
    ];
    for other in others {
        let mut stream = Stream::tcp(address);
        stream.write(&differing(&other, "a"));
        // The daemon greets, says what must be agreed on, and sends nothing more.
        let mut answer = BytesMut::from(&stream.rest()[..]);
        assert_eq!(Greeting::decode(&mut answer).unwrap().unwrap().daemon, "c");
        assert_eq!(Agreement::decode(&mut answer), Ok(Some(Agreement::new(&config))));
        assert!(answer.is_empty(), "{answer:?}");
    }
    // One that says nothing more.
    let mut stream = Stream::tcp(address);
    stream.write(&introduction(&overlay.with(&overlay.text.replace("fee = 0", "fee = 1")), "a"));
    stream.shutdown(Shutdown::Write);
    stream.rest();
    for bytes in [&b"GET / HTTP/1.1\r\n\r\n"[..], &[0xff; 64], &[0; 64]] {
        let mut stream = Stream::tcp(address);
        stream.write(bytes);
        stream.rest();
    }
    overlay.client("good", "c").assert_nothing_more();
    // One of the same configuration is let in: it gets link states.
    let mut stream = Stream::tcp(address);
    stream.write(&introduction(&config, "a"));
    let mut answer = BytesMut::new();
    while Greeting::decode(&mut answer.clone()).unwrap().is_none() {
        assert!(stream.read_some(&mut answer));
    }
    Greeting::decode(&mut answer).unwrap();
    while answer.is_empty() {
        assert!(stream.read_some(&mut answer));
    }
}

/// A change of these spreads from daemon to daemon.
#[test]
fn daemons_with_other_policies_salaries_and_weights_are_linked() {
    let end = format!("{FREE}[[group]]\nname = \"chat\"\nweight = 3\n");
    let overlay = Overlay::new("", &NAMES, MESH, &end);
    let text = overlay.text.replace("weight = 3", "weight = 2\nlag = 7");
    let newer = overlay.with(&format!("{text}[[client]]\nname = \"feed\"\nsalary = 3\n"));
    assert_ne!(newer.fingerprint(), overlay.config().fingerprint());
    let daemons = [Running::start(newer, "a"), overlay.start("b"), overlay.start("c")];
    let mut clients = ["a", "b", "c"].map(|name| overlay.client(&format!("at-{name}"), name));
    clients.iter_mut().for_each(|client| client.join("chat"));
    let [a, b, c] = &mut clients;
    meet(&mut [a, b, c]);
    c.say(Service::Safe, &["chat"], "to all");
    clients.iter_mut().for_each(|client| assert_eq!(client.text(), "to all"));
    daemons.into_iter().for_each(Running::stop);
}

#[test]
fn what_is_no_message_ends_the_link_and_nothing_else() {
    let (overlay, _daemon) = alone("", |_| {});
    let config = overlay.config();
    let mut client = overlay.client("good", "c");
    client.enter("chat");
    let frame = |body: &[u8]| [&[0x40 | body.len() as u8], body].concat();
    for bytes in [
        // Of an unknown kind, and too long.
        [0xff; 64].to_vec(),
        [&[0x5f][..], &[0xff; 4], &[0x7f]].concat(),
        // Bodies that are unknown, cut off, with a rest, and empty.
        frame(&[9]),
        frame(&[0, 1]),
        frame(&[3, 1, 0, 1, 9]),
        frame(&[]),
        // A view of a daemon that is none.
        frame(&[3, 1, 77, 1]),
    ] {
        let mut stream = Stream::tcp(config.daemons[2].address.unwrap());
        stream.write(&introduction(&config, "a"));
        stream.write(&[0x60]);
        stream.write(&bytes);
        stream.rest();
        client.assert_nothing_more();
    }
    assert_eq!(overlay.client("other", "c").enter("chat").members.len(), 2);
}

fn certified(overlay: &Overlay) {
    let folder = overlay.folder.path().join("certificates");
    make(&folder, &NAMES, now(), Making::default()).unwrap();
}

fn now() -> SystemTime {
    SystemTime::now()
}

#[test]
fn daemons_with_certificates_serve_as_those_without() {
    let overlay = Overlay::new("certificates = \"certificates\"", &NAMES, MESH, FREE);
    certified(&overlay);
    let mut three = Three::of(overlay);
    for sender in 0..3 {
        for i in 0..50 {
            three.clients[sender].say(Service::Agreed, &["chat"], format!("{sender} {i}"));
        }
        for i in 0..50 {
            let expected = format!("{sender} {i}");
            three.clients.iter_mut().for_each(|client| assert_eq!(client.text(), expected));
        }
    }
}

/// What a daemon sends over a connection that it should not accept.
async fn answer<S: AsyncRead + AsyncWrite + Unpin>(mut stream: S, say: &[u8]) -> Vec<u8> {
    let mut answer = Vec::new();
    // The connection may end in an error.
    if stream.write_all(say).await.is_ok() {
        stream.read_to_end(&mut answer).await.ok();
    }
    answer
}

#[tokio::test]
async fn only_daemons_with_the_right_certificate_are_let_in() {
    let (overlay, _daemon) = alone("certificates = \"certificates\"", certified);
    let config = overlay.config();
    let address = config.daemons[2].address.unwrap();
    let folder = overlay.folder.path();
    let connect = || async { TcpStream::connect(address).await.unwrap() };
    // No certificate at all.
    let said = introduction(&config, "a");
    let reply = answer(connect().await, &said).await;
    assert!(Greeting::decode(&mut BytesMut::from(&reply[..])).is_err(), "{reply:?}");
    // One of another authority.
    make(&folder.join("others"), &NAMES, now(), Making::default()).unwrap();
    let other = Identity::load(&folder.join("others"), "a").unwrap();
    assert!(other.connect(connect().await, "c").await.is_err());
    // One of another daemon than the greeting says.
    let b = Identity::load(&folder.join("certificates"), "b").unwrap();
    let stream = b.connect(connect().await, "c").await.unwrap();
    let mut reply = BytesMut::from(&answer(stream, &said).await[..]);
    assert_eq!(Greeting::decode(&mut reply).unwrap().unwrap().daemon, "c");
    assert!(reply.is_empty(), "{reply:?}");
    // The right one gets link states after the greeting.
    let a = Identity::load(&folder.join("certificates"), "a").unwrap();
    let mut stream = a.connect(connect().await, "c").await.unwrap();
    stream.write_all(&said).await.unwrap();
    let mut reply = BytesMut::new();
    while Greeting::decode(&mut reply.clone()).unwrap().is_none() {
        assert!(stream.read_buf(&mut reply).await.unwrap() > 0);
    }
    Greeting::decode(&mut reply).unwrap();
    while reply.is_empty() {
        assert!(stream.read_buf(&mut reply).await.unwrap() > 0);
    }
}

#[test]
fn silent_connections_keep_no_daemon_out() {
    let patient = format!("{FREE}[limits]\nhandshake-timeout = \"300 s\"\n");
    let overlay = Overlay::new("certificates = \"certificates\"", &NAMES, MESH, &patient);
    certified(&overlay);
    let _daemon = overlay.start("c");
    let address = overlay.config().daemons[2].address.unwrap();
    let mut silent: Vec<Stream> = (0..200).map(|_| Stream::tcp(address)).collect();
    let _other = overlay.start("a");
    let mut clients = ["a", "c"].map(|daemon| overlay.client("client", daemon));
    let names = clients.each_ref().map(|client| client.name);
    for client in &mut clients {
        client.join("chat");
    }
    for client in &mut clients {
        client.until_members("chat", &names);
    }
    // The oldest are ended.
    assert_eq!(silent[0].rest(), b"");
}
