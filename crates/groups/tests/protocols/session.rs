//! A session recorded between Spread's own client and daemon: we read it, and write the same bytes.

use bytes::{Bytes, BytesMut};
use ratewire_groups::spread::*;
use ratewire_overlay::membership::Service;

/// Who sent the bytes, and the bytes.
fn recorded() -> Vec<(&'static str, Vec<u8>)> {
    let lines = include_str!("../data/spread-4.4.0-session.txt").lines();
    lines
        .filter(|line| !line.starts_with('#'))
        .map(|line| {
            let [from, size, hex] = line.split(' ').collect::<Vec<_>>()[..] else {
                panic!("{line:?} has not three fields")
            };
            let digits = hex.as_bytes().chunks(2).map(|pair| std::str::from_utf8(pair).unwrap());
            let bytes: Vec<u8> = digits.map(|byte| u8::from_str_radix(byte, 16).unwrap()).collect();
            assert_eq!(bytes.len(), size.parse::<usize>().unwrap());
            (from, bytes)
        })
        .collect()
}

fn bytes_of(line: usize, from: &str) -> BytesMut {
    let (sender, bytes) = &recorded()[line];
    assert_eq!(*sender, from);
    BytesMut::from(&bytes[..])
}

fn weir1() -> PrivateName {
    "#weir1#localhost".parse().unwrap()
}

fn grp1() -> GroupName {
    "grp1".parse().unwrap()
}

fn hello_weir() -> Message {
    Message {
        service: Service::Safe,
        self_discard: false,
        groups: vec![grp1()],
        kind: 1,
        order: ByteOrder::Little,
        data: Bytes::from_static(b"hello weir\n"),
    }
}

#[test]
fn hello() {
    let mut bytes = bytes_of(0, "C>D");
    let recorded = bytes.clone();
    let hello = Hello::parse(&mut bytes).unwrap().unwrap();
    assert_eq!(
        hello,
        Hello {
            version: Version::new(4, 4, 0),
            membership: true,
            priority: 0,
            name: Some("weir1".parse().unwrap()),
        }
    );
    assert!(hello.version.authenticates() && bytes.is_empty());
    assert_eq!(hello.encode(), recorded);
}

#[test]
fn authentication() {
    let mut bytes = bytes_of(1, "D>C");
    assert_eq!(offer(), bytes);
    assert_eq!(parse_offer(&mut bytes), Ok(Some(())));
    let mut bytes = bytes_of(2, "C>D");
    assert_eq!(choice()[..], bytes);
    assert_eq!(parse_choice(&mut bytes), Ok(Some(())));
    assert!(bytes.is_empty());
}

#[test]
fn acceptance() {
    let client = Version::new(4, 4, 0);
    let mut bytes = bytes_of(3, "D>C");
    assert_eq!(Acceptance::parse(&mut bytes, client), Ok(None));
    bytes.unsplit(bytes_of(4, "D>C"));
    let recorded = bytes.clone();
    let acceptance = Acceptance::parse(&mut bytes, client).unwrap().unwrap();
    assert_eq!(acceptance, Acceptance { version: client, name: weir1() });
    assert!(bytes.is_empty());
    assert_eq!(acceptance.encode(client), recorded);
}

#[test]
fn requests() {
    let requests = [
        (5, Request::Join(grp1())),
        (7, Request::Multicast(hello_weir())),
        (9, Request::Leave(grp1())),
        (11, Request::Disconnect),
    ];
    for (line, request) in requests {
        let mut bytes = bytes_of(line, "C>D");
        let recorded = bytes.clone();
        assert_eq!(Request::parse(&mut bytes, &weir1()), Ok(Some(request.clone())));
        assert!(bytes.is_empty());
        assert_eq!(request.encode(&weir1(), ByteOrder::Little), recorded, "{request:?}");
    }
}

#[test]
fn what_the_daemon_sends() {
    let membership = Membership {
        group: grp1(),
        id: MembershipId { daemon: 0x7f00_0001, time: 0x6b01_4df4, index: 1 },
        members: vec![weir1()],
        change: Change::Join(weir1()),
    };
    let sent = [
        (6, Received::Membership(membership)),
        (8, Received::Message { sender: weir1(), message: hello_weir() }),
        (10, Received::Left(grp1())),
    ];
    for (line, received) in sent {
        let mut bytes = bytes_of(line, "D>C");
        let recorded = bytes.clone();
        assert_eq!(Received::parse(&mut bytes), Ok(Some(received.clone())));
        assert!(bytes.is_empty());
        assert_eq!(received.encode(ByteOrder::Little), recorded, "{received:?}");
    }
}
