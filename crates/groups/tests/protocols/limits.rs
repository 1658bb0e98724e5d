//! What breaks the protocol is refused, before its rest has come if possible; names and lengths at
//! their limits.

use bytes::{BufMut, Bytes, BytesMut};
use ratewire_groups::spread::*;
use ratewire_overlay::membership::Service;

/// A header of numbers in big-endian order, which need no mark.
fn header(kind: u32, sender: &str, names: i32, hint: u32, data: i32) -> BytesMut {
    let mut bytes = BytesMut::new();
    bytes.put_u32(kind);
    bytes.put_slice(sender.as_bytes());
    bytes.put_bytes(0, 32 - sender.len());
    bytes.put_i32(names);
    bytes.put_u32(hint);
    bytes.put_i32(data);
    bytes
}

#[test]
fn a_header_is_refused_before_its_message_has_come() {
    let refusal = |kind, sender, names, hint, data| {
        Request::parse(&mut header(kind, sender, names, hint, data), &"#a#b".parse().unwrap())
            .expect_err("the header breaks the protocol")
            .to_string()
    };
    let (safe, join) = (0x20, 0x1_0000);
    let shown = [
        refusal(0, "#a#b", 1, 0, 0),
        refusal(0x22, "#a#b", 1, 0, 0),
        refusal(safe | join, "#a#b", 1, 0, 0),
        refusal(0x6_0000, "#a#b", 1, 0, 0),
        refusal(safe, "#a#c", 1, 0, 0),
        refusal(safe, "a", 1, 0, 0),
        refusal(safe, "#a#b", 101, 0, 0),
        refusal(safe, "#a#b", -1, 0, 0),
        refusal(safe, "#a#b", 1, 0x0100_0000, 0),
        refusal(safe, "#a#b", 1, 0, -1),
        refusal(safe, "#a#b", 1, 0, 143_921),
        refusal(join, "#a#b", 0, 0, 0),
    ];
    assert_eq!(
        shown,
        [
            "kind 0x0 of a message is not exactly one of those known",
            "kind 0x22 of a message is not exactly one of those known",
            "kind 0x10020 of a message is not exactly one of those known",
            "kind 0x60000 of a message is not exactly one of those known",
            "sender \"#a#c\" of a message is not the client of the connection",
            "a name in a message is not valid",
            "a message has 101 names, at most 100 are allowed",
            "a message has 4294967295 names, at most 100 are allowed",
            "hint 0x1000000 has bits outside 0x00ffff00",
            "names and data of a message have 4294967327 bytes, at most 143952 are allowed",
            "names and data of a message have 143953 bytes, at most 143952 are allowed",
            "a request to join or leave names no group",
        ]
    );
}

#[test]
fn the_longest_message_is_accepted() {
    let client: PrivateName = "#a#b".parse().unwrap();
    let data = Bytes::from(vec![7; LONGEST_BODY - 32 * MOST_GROUPS]);
    let message = Message::new(Service::Fifo, &["g".parse().unwrap(); MOST_GROUPS], -1, data);
    assert_eq!(message.check(), Ok(()));
    let mut written = BytesMut::from(&message.encode(&client, ByteOrder::Big)[..]);
    let read = Request::parse(&mut written, &client);
    assert_eq!(read, Ok(Some(Request::Multicast(message.clone()))));
    let longer = Message { data: Bytes::from(vec![7; message.data.len() + 1]), ..message.clone() };
    assert!(matches!(longer.check(), Err(Violation::TooLong { .. })));
    let wider = Message { groups: vec!["g".parse().unwrap(); MOST_GROUPS + 1], ..message };
    assert!(matches!(wider.check(), Err(Violation::TooManyNames { .. })));
}

#[test]
fn a_rejected_message_loses_its_last_group_if_there_is_no_room_for_the_sender() {
    let groups: Vec<GroupName> =
        (0..MOST_GROUPS).map(|i| format!("g{i}").parse().unwrap()).collect();
    let mut message = Message::new(Service::Agreed, &groups, 0, Bytes::from_static(b"data"));
    let sender = "#a#b".parse().unwrap();
    let rejected = |message: &Message| Received::Rejected {
        sender,
        request: Request::Multicast(message.clone()),
    };
    let written = rejected(&message).encode(ByteOrder::Little);
    let read = Received::parse(&mut BytesMut::from(&written[..]));
    message.groups.pop();
    assert_eq!(read, Ok(Some(rejected(&message))));
}

#[test]
fn what_comes_after_the_end_of_a_name_is_not_read() {
    let client = "#a#b".parse().unwrap();
    let mut bytes = header(0x1_0000, "#a#b", 1, 0, 0);
    bytes.put_slice(b"group\0 left in memory of C");
    bytes.put_bytes(0, 80 - bytes.len());
    let request = Request::parse(&mut bytes, &client);
    assert_eq!(request, Ok(Some(Request::Join("group".parse().unwrap()))));
}

#[test]
fn no_one_joins_a_private_name_or_a_name_of_other_characters() {
    let client = "#a#b".parse().unwrap();
    for name in ["#a#b", "#a", "two words", ""] {
        let mut bytes = header(0x1_0000, "#a#b", 1, 0, 0);
        bytes.put_slice(name.as_bytes());
        bytes.put_bytes(0, 80 - bytes.len());
        assert!(Request::parse(&mut bytes, &client).is_err(), "{name:?}");
    }
}

#[test]
fn names_that_no_group_can_have_are_left_out_of_a_message() {
    let client = "#a#b".parse().unwrap();
    let mut bytes = header(0x20, "#a#b", 3, 0, 0);
    for name in [&b"one"[..], b"", &[b'x'; 32]] {
        bytes.put_slice(name);
        bytes.put_bytes(0, 32 - name.len());
    }
    let Ok(Some(Request::Multicast(message))) = Request::parse(&mut bytes, &client) else {
        panic!("it is a message")
    };
    assert_eq!(message.groups, ["one".parse().unwrap()]);
    assert!(bytes.is_empty());
}

#[test]
fn names() {
    for name in
        ["$", "~", "a-group.of/32_characters-less-1", "#c#d", "#client-010#daemon-of-19-letter"]
    {
        assert_eq!(name.parse::<GroupName>().unwrap().to_string(), name);
    }
    let long = "a".repeat(32);
    for name in ["", "#", "#c", "##d", "#c#", "#c#d#", "a#b", "a b", "a\u{7f}", "ü", &long] {
        assert!(name.parse::<GroupName>().is_err(), "{name:?}");
        assert!(name.parse::<PrivateName>().is_err(), "{name:?}");
    }
    assert!("c".parse::<PrivateName>().is_err());
    assert!("elevencharx".parse::<ClientName>().is_err());
    let error = "a b".parse::<ClientName>().unwrap_err().to_string();
    assert_eq!(error, "\"a b\" cannot be the name of a client: 1 to 10 characters from `$` to `~`");
}

#[test]
fn refusals() {
    let refusal = |bytes: &[u8]| Hello::parse(&mut BytesMut::from(bytes)).unwrap_err();
    assert_eq!(refusal(&[3, 0]), Refusal::Version);
    assert_eq!(refusal(&[4, 4, 0, 0, 11]), Refusal::IllegalName);
    assert_eq!(refusal(b"\x04\x04\x00\x00\x03a#b"), Refusal::IllegalName);
    assert_eq!(parse_choice(&mut BytesMut::zeroed(90)), Err(Refusal::Authentication));
    let ip = BytesMut::from(&b"\x03IP "[..]);
    assert_eq!(parse_offer(&mut ip.clone()), Err(Refusal::Authentication));
    for code in -128..0 {
        let byte = [code as u8];
        let refusal = parse_offer(&mut BytesMut::from(&byte[..])).unwrap_err();
        assert_eq!((refusal.code(), refusal.encode()), (code, byte));
        let refusal = Acceptance::parse(&mut BytesMut::from(&byte[..]), Version::NEWEST);
        assert_eq!(refusal.unwrap_err().code(), code);
    }
}
