//! How clients introduce themselves, and whom the daemon refuses.

use std::net::SocketAddr;

use bytes::BytesMut;
use ratewire_groups::spread::{
    Acceptance, ByteOrder, Hello, Refusal, Request, Version, choice, offer,
};
use ratewire_testing::free_address;
use socket2::{Domain, Socket, Type};

use super::client::{Client, Stream, refusal};
use super::overlay::{FREE, Overlay, Running};

fn stream(overlay: &Overlay) -> Stream {
    Stream::unix(&overlay.socket("localhost"))
}

/// What the daemon answers to these bytes before it ends the connection.
fn answer(overlay: &Overlay, bytes: &[u8]) -> Vec<u8> {
    let mut stream = stream(overlay);
    stream.write(bytes);
    stream.rest()
}

fn refused(overlay: &Overlay, bytes: &[u8]) -> Refusal {
    match answer(overlay, bytes)[..] {
        [byte] => refusal(byte),
        ref answer => panic!("{bytes:?} are answered {answer:?}"),
    }
}

#[test]
fn each_version_gets_the_answer_that_it_knows() {
    let (overlay, _daemon) = Overlay::single(FREE);
    for bytes in [&b"\x03\x00\x01\x03old"[..], b"\x02\x09\x01\x03old", b"\x00\x00\x00\x00"] {
        assert_eq!(refused(&overlay, bytes), Refusal::Version);
    }
    let versions = [(3, 1, 0), (3, 14, 0), (3, 15, 0), (3, 16, 0), (4, 4, 0), (5, 0, 1), (9, 9, 9)];
    for (major, minor, patch) in versions {
        let version = Version::new(major, minor, patch);
        let name = Some(format!("v{major}{minor}{patch}").parse().unwrap());
        let hello = Hello { version, membership: true, priority: 0, name };
        let mut client = Client::introduce(stream(&overlay), &hello, ByteOrder::NATIVE).unwrap();
        assert_eq!(client.name.daemon(), "localhost");
        assert_eq!(client.enter("versions").change.clone(), {
            ratewire_groups::spread::Change::Join(client.name)
        });
        client.send(&Request::Disconnect);
        assert_eq!(client.next(), None);
    }
}

#[test]
fn the_daemon_tells_its_version_in_the_form_of_the_client() {
    let (overlay, _daemon) = Overlay::single(FREE);
    let mut old = stream(&overlay);
    old.write(b"\x03\x01\x00\x03old");
    assert_eq!(old.read(18), b"\x01\x05\x00\x0e#old#localhost");
    let mut middle = stream(&overlay);
    middle.write(b"\x03\x0f\x00\x00\x03mid");
    assert_eq!(middle.read(19), b"\x01\x05\x00\x01\x0e#mid#localhost");
    let mut new = stream(&overlay);
    new.write(b"\x05\x00\x01\x00\x03new");
    assert_eq!(new.read(6), offer());
    new.write(&choice());
    let mut answer = BytesMut::from(&new.read(19)[..]);
    let acceptance = Acceptance::parse(&mut answer, Version::NEWEST).unwrap().unwrap();
    assert_eq!(acceptance.name.as_str(), "#new#localhost");
}

#[test]
fn illegal_names_are_refused() {
    let (overlay, _daemon) = Overlay::single(FREE);
    for name in [&b"a b"[..], b"a#b", b"a\x7f", b"\xff", b"elevenbytes"] {
        let bytes = [&[5, 0, 1, 1, name.len() as u8], name].concat();
        assert_eq!(refused(&overlay, &bytes), Refusal::IllegalName);
    }
}

#[test]
fn a_name_is_one_clients_until_it_disconnects() {
    let (overlay, _daemon) = Overlay::single(FREE);
    let mut first = overlay.local("same");
    let again = || Client::try_connect(&overlay.socket("localhost"), "same", true);
    assert_eq!(again().err(), Some(Refusal::NotUnique));
    first.assert_nothing_more();
    first.send(&Request::Disconnect);
    assert_eq!(first.next(), None);
    // The daemon has ended the connection before the name is free.
    while let Err(refusal) = again() {
        assert_eq!(refusal, Refusal::NotUnique);
    }
}

#[test]
fn a_client_without_a_name_gets_one_of_its_own() {
    let (overlay, _daemon) = Overlay::single(FREE);
    let mut clients = ["", "r2", "", ""].map(|name| overlay.local(name));
    let mut names = clients.each_ref().map(|client| client.name);
    names.sort_unstable();
    assert!(names.windows(2).all(|pair| pair[0] != pair[1]), "{names:?}");
    clients.iter_mut().for_each(Client::assert_nothing_more);
}

#[test]
fn an_unknown_way_of_authentication_is_refused() {
    let (overlay, _daemon) = Overlay::single(FREE);
    let hello = b"\x05\x00\x01\x01\x03new";
    let mut padded = choice();
    padded[30..35].copy_from_slice(b"OTHER");
    for choice in [[0; 90], [b'N'; 90], padded] {
        let bytes = [&hello[..], &choice].concat();
        let rest = answer(&overlay, &bytes);
        assert_eq!(rest[..6], *offer());
        assert_eq!((refusal(rest[6]), rest.len()), (Refusal::Authentication, 7));
    }
}

#[test]
fn a_choice_that_stays_incomplete_ends_with_the_handshake() {
    let rest = format!("{FREE}[limits]\nhandshake-timeout = \"1 s\"\n");
    let (overlay, _daemon) = Overlay::single(&rest);
    let short = [&b"\x05\x00\x01\x01\x03new"[..], &choice()[..89]].concat();
    assert_eq!(answer(&overlay, &short), offer());
    assert_eq!(answer(&overlay, b"\x05\x00\x01\x01\x05ab"), b"");
    assert_eq!(answer(&overlay, b""), b"");
    overlay.local("ab").assert_nothing_more();
}

#[test]
fn more_clients_than_allowed_are_refused() {
    let rest = format!("{FREE}[limits]\nclients = 2\n");
    let (overlay, _daemon) = Overlay::single(&rest);
    let mut clients = ["anna", "bert"].map(|name| overlay.local(name));
    let third = || Client::try_connect(&overlay.socket("localhost"), "cleo", true);
    assert_eq!(third().err(), Some(Refusal::Quota));
    clients.iter_mut().for_each(Client::assert_nothing_more);
    let [anna, _bert] = clients;
    drop(anna);
    while let Err(refusal) = third() {
        assert_eq!(refusal, Refusal::Quota);
    }
}

/// A connection from another address of this host.
fn from(end: u8, to: SocketAddr) -> Stream {
    let socket = Socket::new(Domain::IPV4, Type::STREAM, None).unwrap();
    socket.bind(&SocketAddr::from(([127, 0, 0, end], 0)).into()).unwrap();
    socket.connect(&to.into()).unwrap();
    Stream::Tcp(socket.into())
}

#[test]
fn who_connects_again_and_again_does_not_keep_others_waiting() {
    let overlay = Overlay::new("", &["localhost"], &[], FREE);
    let to = free_address();
    let text = overlay.text.replace("listen = [", &format!("listen = [\"{to}\", "));
    let limit = "[limits]\nconnections-per-second = 4\n";
    let _daemon = Running::start(overlay.with(&format!("{text}{limit}")), "localhost");
    let named = |name: &str| Hello {
        version: Version::NEWEST,
        membership: false,
        priority: 0,
        name: Some(name.parse().unwrap()),
    };
    let many: Vec<Stream> = (0..100)
        .map(|i| {
            let mut stream = from(1, to);
            stream.write(&named(&format!("m{i}")).encode());
            stream
        })
        .collect();
    let other = Client::introduce(from(2, to), &named("other"), ByteOrder::NATIVE).unwrap();
    assert_eq!(other.name.client(), "other");
    let is_answered = |stream: &Stream| match stream {
        Stream::Tcp(stream) => {
            stream.set_nonblocking(true).unwrap();
            stream.peek(&mut [0]).is_ok()
        }
        Stream::Unix(_) => unreachable!("all connect by TCP"),
    };
    // They have come before; ten are accepted for each one that is served.
    let answered = many.iter().filter(|stream| is_answered(stream)).count();
    assert!(answered < 50, "{answered} of 100 were answered first");
}
