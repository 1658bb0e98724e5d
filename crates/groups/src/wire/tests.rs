use std::path::Path;

use bytes::{BufMut, BytesMut};
use proptest::prelude::*;
use ratewire_overlay::{MOST_NODES, OverlayNodeId};
use serde::{Deserialize, Serialize};

use super::frame::{encode_within, read, take};
use super::*;
use crate::config::Config;

/// A value with all that messages are made of.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
enum Sample {
    Nothing,
    Data { groups: Vec<String>, data: Vec<u8> },
    Members(Vec<(u32, Vec<u32>)>),
    Change(Option<Box<Sample>>, i16, bool),
}

fn any_sample() -> impl Strategy<Value = Sample> {
    let members =
        prop::collection::vec((any::<u32>(), prop::collection::vec(any::<u32>(), 0..9)), 0..9);
    let leaf = prop_oneof![
        Just(Sample::Nothing),
        (any::<Vec<String>>(), any::<Vec<u8>>())
            .prop_map(|(groups, data)| Sample::Data { groups, data }),
        members.prop_map(Sample::Members),
    ];
    let change = |inner| (prop::option::of(inner), any::<i16>(), any::<bool>());
    leaf.prop_recursive(3, 3, 1, move |inner| {
        change(inner).prop_map(|(inner, a, b)| Sample::Change(inner.map(Box::new), a, b))
    })
}

fn config(text: &str) -> Config {
    Config::parse(Path::new("groups.toml"), text).unwrap()
}

/// Two daemons, the second called so.
fn pair(name: &str) -> Config {
    let daemon = |name: &str, port| {
        format!(
            "[[daemon]]\nname = {name:?}\naddress = \"127.0.0.1:{port}\"\n\
             listen = [\"unix:/{port}\"]\n"
        )
    };
    config(&[daemon("alpha", 1), daemon(name, 2)].concat())
}

#[test]
fn frames_have_these_bytes() {
    let mut bytes = BytesMut::new();
    encode(&(300u32, "ab"), &mut bytes).unwrap();
    encode(&(), &mut bytes).unwrap();
    assert_eq!(bytes[..], [5, 0, 0, 0, 0xac, 2, 2, b'a', b'b', 0, 0, 0, 0]);
    assert_eq!(decode(&mut bytes), Ok(Some((300u32, "ab".to_string()))));
    assert_eq!((decode(&mut bytes), decode::<()>(&mut bytes)), (Ok(Some(())), Ok(None)));
}

#[test]
fn hostile_lengths_reserve_nothing() {
    for length in [LONGEST_FRAME as u32 + 1, u32::MAX] {
        let mut bytes = BytesMut::from(&length.to_le_bytes()[..]);
        assert_eq!(decode::<Sample>(&mut bytes), Err(WireError::TooLong(LONGEST_FRAME)));
    }
    let mut bytes = BytesMut::from(&(LONGEST_FRAME as u32).to_le_bytes()[..]);
    assert_eq!(decode::<Sample>(&mut bytes), Ok(None));
    assert!(bytes.capacity() < 1000);
    // A list in a short body that claims to have 2^32 - 1 elements.
    let mut bytes = BytesMut::from(&[6, 0, 0, 0, 2, 0xff, 0xff, 0xff, 0xff, 0x0f][..]);
    assert!(matches!(decode::<Sample>(&mut bytes), Err(WireError::Malformed(_))));
}

#[test]
fn the_longest_frame_is_written_and_read_and_a_longer_one_is_not() {
    // A list's length takes two bytes.
    let (most, longest) = (1000, vec![7u8; 998]);
    let mut bytes = BytesMut::from(&b"before"[..]);
    let longer = [&longest[..], &[7]].concat();
    assert_eq!(encode_within(most, &longer, &mut bytes), Err(WireError::TooLong(most)));
    assert_eq!(bytes[..], b"before"[..]);
    let mut bytes = BytesMut::new();
    encode_within(most, &longest, &mut bytes).unwrap();
    assert_eq!(take(most - 1, &mut bytes.clone()), Err(WireError::TooLong(most - 1)));
    let body = take(most, &mut bytes).unwrap().unwrap();
    assert_eq!((read(&body), bytes.len()), (Ok(longest), 0));
}

/// As many memberships as a daemon's clients may have, each in a group of its own.
#[test]
fn the_members_of_all_groups_fit_one_frame() {
    use crate::config::MOST_MEMBERSHIPS;
    // A length before each: of the group's name, of its list, of the client's name.
    let (group, label, lengths) = (31, 10, 3);
    let number = postcard::to_stdvec(&u32::MAX).unwrap().len();
    assert!(MOST_MEMBERSHIPS * (group + label + lengths + number) < LONGEST_FRAME);
}

#[test]
fn greetings_have_these_bytes() {
    let mut bytes = BytesMut::new();
    let greeting = Greeting { daemon: "a".into(), incarnation: 2, configuration: 3 };
    greeting.encode(&mut bytes).unwrap();
    assert_eq!(bytes[..], *b"\x0d\0\0\0RWGROUPS\x03\x01a\x02\x03");
    assert_eq!(Greeting::decode(&mut bytes), Ok(Some(greeting)));
}

#[test]
fn peers_that_are_no_daemons_are_told_apart() {
    let decode = |bytes: &[u8]| Greeting::decode(&mut BytesMut::from(bytes));
    let said = |bytes: &[u8]| decode(bytes).unwrap_err().to_string();
    assert!(said(b"GET / HTTP/1.1\r\n").contains("no daemon of Ratewire"));
    // A greeting of TLS, and a client of Spread.
    assert!(said(b"\x16\x03\x01\x02\x00").contains("no daemon of Ratewire"));
    assert_eq!(decode(b"\x05\0\0\0\x05hello"), Err(WireError::NotADaemon));
    assert_eq!(decode(b"\x0d\0\0\0RWGROUPZ\x03\x01a\x02\x03"), Err(WireError::NotADaemon));
    // What follows another version is not read.
    assert_eq!(decode(b"\x0a\0\0\0RWGROUPS\x02\xff"), Err(WireError::OtherVersion(2)));
    assert!(
        said(b"\x0a\0\0\0RWGROUPS\x02\xff").contains("format 2, this daemon's 3; run the same")
    );
    assert_eq!(decode(b"\x0e\0\0\0RWGROUPS\x03\x01a\x02\x03\x04"), Err(WireError::Trailing(1)));
    assert_eq!(decode(b"\x0d\0\0\0RWGROUPS\x03\x01a"), Ok(None));
}

#[test]
fn a_greeting_is_checked_against_the_configuration() {
    let (config, other) = (pair("beta"), pair("gamma"));
    let [alpha, beta] = [0, 1].map(OverlayNodeId);
    let check = |greeting: &Greeting, expected| {
        greeting.check(&config, alpha, expected).map_err(|error| error.to_string())
    };
    let greeting = Greeting::new(&config, beta, 5);
    assert_eq!(check(&greeting, Some(beta)), Ok(beta));
    assert_eq!(check(&greeting, None), Ok(beta));
    let has = |result: Result<_, String>, words: &str| {
        let said = result.unwrap_err();
        assert!(said.contains(words), "{said}");
    };
    has(check(&Greeting::new(&other, beta, 5), None), "no daemon `gamma`; write it there");
    let stale = Greeting { configuration: 1, ..greeting.clone() };
    assert!(greeting.has_configuration(&config) && !stale.has_configuration(&config));
    let unknown = |name: &str| {
        let greeting = Greeting { daemon: name.into(), ..greeting.clone() };
        Err(greeting.check_unknown(&config).to_string())
    };
    has(unknown("gamma"), "no daemon `gamma`");
    has(unknown("beta"), "says that it is daemon `beta`, but its certificate is of no daemon");
    has(check(&greeting, Some(alpha)), "says that it is daemon `beta`, but is `alpha`");
    has(check(&Greeting::new(&config, alpha, 5), None), "another daemon runs as `alpha`");
    let steering = Greeting { daemon: "\u{1b}[31m".into(), ..greeting };
    has(check(&steering, None), "no daemon `\\u001b[31m`");
}

#[test]
fn daemons_agree_if_one_knows_the_first_of_the_others_daemons() {
    let of = |names: &[&str], rest: &str| {
        let mut text = "plaintext = true\nlinks = \"mesh\"\n".to_string();
        for (place, name) in names.iter().enumerate() {
            let address = format!("10.0.0.{}:4804", place + 1);
            text += &format!("[[daemon]]\nname = \"{name}\"\naddress = \"{address}\"\n");
        }
        Agreement::new(&Config::parse(Path::new("groups.toml"), &(text + rest)).unwrap())
    };
    let (two, three) = (of(&["a", "b"], ""), of(&["a", "b", "c"], ""));
    let check = |ours: &Agreement, theirs: &Agreement, me| {
        ours.check(theirs, OverlayNodeId(me), "x").map_err(|error| error.to_string())
    };
    assert_eq!((check(&two, &three, 1), check(&three, &two, 1)), (Ok(()), Ok(())));
    let said = check(&three, &two, 2).unwrap_err();
    assert!(said.contains("groups.toml of daemon `x` does not have this daemon"), "{said}");
    let fee = "[flow-control]\nfee = 2\n";
    for other in [of(&["a", "z"], ""), of(&["z"], ""), of(&["a", "b", "d"], fee), Agreement(vec![])]
    {
        let said = check(&three, &other, 0).unwrap_err();
        assert!(said.contains("daemon `x` has another groups.toml"), "{said}");
    }
    let mut bytes = BytesMut::new();
    let most = Agreement(vec![u64::MAX; MOST_NODES]);
    most.encode(&mut bytes).unwrap();
    assert_eq!(Agreement::decode(&mut bytes), Ok(Some(most)));
    assert!(Agreement(vec![u64::MAX; 2 * MOST_NODES]).encode(&mut bytes).is_err());
}

#[test]
fn greetings_of_all_names_fit() {
    let longest = "x".repeat(crate::config::LONGEST_NAME);
    let most = u64::MAX;
    let greeting = Greeting { daemon: longest, incarnation: most, configuration: most };
    greeting.encode(&mut BytesMut::new()).unwrap();
    let greeting = Greeting { daemon: "x".repeat(256), ..greeting };
    assert!(matches!(greeting.encode(&mut BytesMut::new()), Err(WireError::TooLong(256))));
}

proptest! {
    #[test]
    fn what_is_written_is_read_however_it_arrives(
        samples in prop::collection::vec(any_sample(), 0..6),
        cuts in prop::collection::vec(1usize..40, 1..20),
    ) {
        let mut bytes = BytesMut::new();
        for sample in &samples {
            encode(sample, &mut bytes).unwrap();
        }
        let (mut arrived, mut read) = (BytesMut::new(), Vec::new());
        for cut in cuts.iter().cycle() {
            if bytes.is_empty() {
                break;
            }
            arrived.put(bytes.split_to(bytes.len().min(*cut)));
            while let Some(sample) = decode::<Sample>(&mut arrived).unwrap() {
                read.push(sample);
            }
        }
        prop_assert_eq!(read, samples);
        prop_assert!(arrived.is_empty());
    }

    #[test]
    fn any_bytes_are_read_or_refused(body in any::<Vec<u8>>(), rest in any::<Vec<u8>>()) {
        let length = body.len() as u32;
        let mut bytes = BytesMut::from(&[&length.to_le_bytes()[..], &body, &rest].concat()[..]);
        match decode::<Sample>(&mut bytes) {
            Ok(sample) => {
                prop_assert!(sample.is_some());
                prop_assert_eq!(&bytes[..], &rest[..]);
            }
            Err(error) => prop_assert!(!error.to_string().is_empty()),
        }
        _ = decode::<Sample>(&mut BytesMut::from(&body[..]));
        _ = Greeting::decode(&mut BytesMut::from(&body[..]));
        let greeting = [&(length + 9).to_le_bytes()[..], b"RWGROUPS\x02", &body].concat();
        _ = Greeting::decode(&mut BytesMut::from(&greeting[..]));
    }

    #[test]
    fn greetings_are_read(daemon in ".{0,19}", incarnation: u64, configuration: u64) {
        let greeting = Greeting { daemon, incarnation, configuration };
        let mut bytes = BytesMut::new();
        greeting.encode(&mut bytes).unwrap();
        prop_assert_eq!(Greeting::decode(&mut bytes), Ok(Some(greeting)));
    }
}
