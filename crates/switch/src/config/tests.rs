//! Files, right and wrong.

use super::*;

const FULL: &str = r#"
listen = "0.0.0.0:4816"
key = "peers.key"
member-key = "members.key"
status = "127.0.0.1:4817"
routing = "hash"
flow-control = "soft"
transforms = "paper"
silence = "2 s"
patience = "100 ms"
drain = "30 s"

[hash]
offset = 2
length = 4

[limits]
connections = 50
longest-frame = "1 MB"

[[member]]
name = "a"
address = "10.0.0.2:4816"

[[member]]
name = "b"
address = "10.0.0.3:4816"
weight = 2.5
prefixes = ["x"]
"#;

fn parse(text: &str) -> Result<Config, String> {
    Config::parse(Path::new("etc/switch.toml"), text).map_err(|error| error.to_string())
}

#[test]
fn every_key_is_read() {
    let config = parse(FULL).unwrap();
    let member = |name: &str, last, weight, prefixes: &[&str]| MemberConfig {
        name: name.into(),
        address: SocketAddr::from(([10, 0, 0, last], 4816)),
        weight,
        prefixes: prefixes.iter().map(|p| (*p).to_string()).collect(),
    };
    let expected = Config {
        listen: SocketAddr::from(([0, 0, 0, 0], 4816)),
        from: SocketAddr::from(([0, 0, 0, 0], 0)),
        key: "etc/peers.key".into(),
        member_key: "etc/members.key".into(),
        status: Some(SocketAddr::from(([127, 0, 0, 1], 4817))),
        routing: RoutingConfig::Hash { offset: 2, length: 4 },
        flow_control: FlowControl::Soft,
        transforms: Transforms::Paper,
        silence: Duration::from_secs(2),
        patience: Duration::from_millis(100),
        drain: Duration::from_secs(30),
        limits: Limits { connections: 50, longest_frame: Bytes::new(1_000_000) },
        members: vec![member("a", 2, 1.0, &[]), member("b", 3, 2.5, &["x"])],
    };
    assert_eq!(config, expected);
}

#[test]
fn a_short_file_is_for_this_host() {
    let config = parse("key = \"k\"\n[[member]]\nname = \"a\"\naddress = \"127.0.0.1:1\"").unwrap();
    assert_eq!(config.listen, SocketAddr::from(([127, 0, 0, 1], 4816)));
    assert_eq!(config.from, SocketAddr::from(([127, 0, 0, 1], 0)));
    assert_eq!((config.member_key, config.status), ("etc/k".into(), None));
    assert_eq!(config.routing, RoutingConfig::RoundRobin);
}

#[test]
fn mistakes_have_places_and_remedies() {
    let error = parse("routing = \"random\"\n[hash]\noffset = 0").unwrap_err();
    for line in [
        "etc/switch.toml:1:11: `routing` cannot be \"random\"",
        "the file needs the key `key`",
        "the file needs the key `member`",
        "[hash] has no effect",
    ] {
        assert!(error.contains(line), "{line:?} is not in\n{error}");
    }
    let member = "[[member]]\nname = \"a\"\naddress = \"127.0.0.1:1\"\n";
    let wrong = [
        (format!("key = \"k\"\n{member}{member}"), "two members called \"a\""),
        (format!("key = \"k\"\n{member}weight = 0"), "`weight` cannot be 0"),
        (format!("key = \"k\"\nrouting = \"prefix\"\n{member}"), "no member has prefixes"),
        (format!("key = \"k\"\nrouting = \"wasm\"\n{member}"), "the module's file is not named"),
        (format!("key = 3\n{member}"), "`key` cannot be the number 3"),
        (format!("key = \"k\"\nlisten = \"here\"\n{member}"), "`listen` cannot be \"here\""),
        ("key = \"k\"\n[[member]]\nname = \"a b\"\n".into(), "cannot be called \"a b\""),
        ("key = \"k\"\n[[member]]\nname = \"a\"\n".into(), "needs the key `address`"),
    ];
    for (text, expected) in wrong {
        let error = parse(&text).expect_err(&text);
        assert!(error.contains(expected), "{expected:?} is not in\n{error}");
    }
}
