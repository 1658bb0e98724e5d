//! Files, right and wrong.

use proptest::prelude::*;

use super::*;

const FULL: &str = r#"
listen = "0.0.0.0:4816"
key = "peers.key"
member-key = "members.key"
status = "127.0.0.1:4817"
control = "switch.sock"
routing = "hash"
when-down = "move"
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

[register]
listen = "0.0.0.0:4818"
token = "token"
ensemble = "shards"
members = 8
lease = "3 s"
gather = "30 s"

[peer]
address = "10.0.1.1:4816"
law = "rcp,alpha=0.3"

[probe]
frame = "PING"
answer-hex = "00 2b"
interval = "500 ms"
deadline = "200 ms"
failures = 2
successes = 1

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
        address: SocketAddr::from(([10, 0, 0, last], 4816)).into(),
        weight,
        prefixes: prefixes.iter().map(|p| (*p).to_string()).collect(),
    };
    let expected = Config {
        listen: SocketAddr::from(([0, 0, 0, 0], 4816)),
        from: SocketAddr::from(([0, 0, 0, 0], 0)),
        key: "etc/peers.key".into(),
        member_key: "etc/members.key".into(),
        status: Some(SocketAddr::from(([127, 0, 0, 1], 4817))),
        control: Some("etc/switch.sock".into()),
        routing: RoutingConfig::Hash { offset: 2, length: 4 },
        when_down: Some(WhenDown::Move),
        flow_control: FlowControl::Soft,
        transforms: Transforms::Paper,
        silence: Duration::from_secs(2),
        patience: Duration::from_millis(100),
        drain: Duration::from_secs(30),
        limits: Limits { connections: 50, longest_frame: Bytes::new(1_000_000) },
        peer: Some(PeerConfig {
            address: SocketAddr::from(([10, 0, 1, 1], 4816)).into(),
            law: Some("rcp alpha=0.3".to_string()),
        }),
        members: vec![member("a", 2, 1.0, &[]), member("b", 3, 2.5, &["x"])],
        register: Some(RegisterConfig {
            listen: SocketAddr::from(([0, 0, 0, 0], 4818)),
            token: TokenSource::File("etc/token".into()),
            ensemble: "shards".into(),
            members: 8,
            lease: Duration::from_secs(3),
            gather: Duration::from_secs(30),
        }),
        probe: Some(ProbeConfig {
            frame: b"PING".to_vec(),
            answer: b"\0+".to_vec(),
            interval: Duration::from_millis(500),
            deadline: Duration::from_millis(200),
            failures: 2,
            successes: 1,
        }),
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
fn members_and_the_peer_may_be_named() {
    let text = "key = \"k\"\n[peer]\naddress = \"other:4816\"\n\
                [[member]]\nname = \"a\"\naddress = \"redis-1.example:5001\"\n\
                [[member]]\nname = \"b\"\naddress = \"[::1]:5001\"";
    let config = parse(text).unwrap();
    assert_eq!(config.members[0].address, Host::Name("redis-1.example".into(), 5001));
    assert_eq!(config.peer.unwrap().address, Host::Name("other".into(), 4816));
    // Packets to a name leave from an address that reaches any of its kind.
    assert_eq!(config.from, SocketAddr::from(([0; 16], 0)));
    let wrong = text.replace("redis-1.example:5001", "10.0.0.300:5001");
    let error = parse(&wrong).unwrap_err();
    assert!(error.contains("is neither an IP address nor a host's name"), "{error}");
    assert!(error.contains("allowed: an address or a host's name, and a port"), "{error}");
}

#[test]
fn members_that_register_need_no_others() {
    let config = parse("key = \"k\"\n[register]\ntoken-env = \"T\"").unwrap();
    let register = config.register.unwrap();
    assert_eq!(register.token, TokenSource::Environment("T".into()));
    assert_eq!((register.members, &*register.ensemble), (16, "default"));
    assert!(config.from.ip().is_loopback());
    let open = "key = \"k\"\n[register]\ntoken = \"t\"\nlisten = \"10.0.0.1:4818\"";
    assert!(parse(open).unwrap().from.ip().is_unspecified());
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
        (format!("key = \"k\"\nwhen-down = \"fail\"\n{member}"), "`when-down` has no effect"),
        (format!("key = 3\n{member}"), "`key` cannot be the number 3"),
        (format!("key = \"k\"\nlisten = \"here\"\n{member}"), "`listen` cannot be \"here\""),
        ("key = \"k\"\n[register]\n".into(), "[register] needs the key `token`"),
        (
            "key = \"k\"\n[register]\ntoken = \"t\"\ntoken-env = \"T\"".into(),
            "both say where the token is",
        ),
        (format!("key = \"k\"\n[probe]\n{member}"), "[probe] needs the key `frame`"),
        (format!("key = \"k\"\n[probe]\nframe-hex = \"abc\"\n{member}"), "`frame-hex` cannot be"),
        (
            format!("key = \"k\"\n[probe]\nframe = \"a\"\nframe-hex = \"61\"\n{member}"),
            "`frame` and `frame-hex` say the same",
        ),
        (format!("key = \"k\"\n[peer]\n{member}"), "[peer] needs the key `address`"),
        (
            format!("key = \"k\"\n[peer]\naddress = \"127.0.0.1:4816\"\n{member}"),
            "the switch would connect to itself",
        ),
        (
            format!(
                "key = \"k\"\nlisten = \"0.0.0.0:4816\"\n[peer]\naddress = \"127.0.0.1:4816\"\n{member}"
            ),
            "the switch would connect to itself, at `listen`",
        ),
        (
            format!("key = \"k\"\n[peer]\naddress = \"127.0.0.1:0\"\n{member}"),
            "the peer cannot be at 127.0.0.1:0",
        ),
        (
            format!("key = \"k\"\n[peer]\naddress = \"224.0.0.1:4816\"\n{member}"),
            "the peer cannot be at 224.0.0.1:4816",
        ),
        (
            "key = \"k\"\nlisten = \"0.0.0.0:4816\"\n[peer]\naddress = \"10.0.0.2:4816\"\n\
             [[member]]\nname = \"a\"\naddress = \"10.0.0.2:4816\""
                .into(),
            "the peer is at the address of the member \"a\"",
        ),
        (
            format!("key = \"k\"\n[peer]\naddress = \"10.0.0.9:4816\"\n{member}"),
            "only this machine reaches",
        ),
        (
            format!("key = \"k\"\n[peer]\naddress = \"[::1]:4816\"\n{member}"),
            "`listen` is of another kind of address",
        ),
        (
            format!("key = \"k\"\n[peer]\naddress = \"127.0.0.1:9\"\nlaw = \"x\"\n{member}"),
            "`ratewire laws` lists the laws",
        ),
        (
            format!("key = \"k\"\nlisten = \"127.0.0.1:1\"\n{member}"),
            "the member \"a\" is at the switch's own address, `listen`",
        ),
        (
            format!("key = \"k\"\nfrom = \"127.0.0.1:4816\"\n{member}"),
            "`listen` and `from` are both at 127.0.0.1:4816",
        ),
        (format!("key = \"k\"\ncontrol = \"{}\"\n{member}", "x".repeat(200)), "107 bytes"),
        ("key = \"k\"\n[[member]]\nname = \"a b\"\n".into(), "cannot be called \"a b\""),
        ("key = \"k\"\n[[member]]\nname = \"a\"\n".into(), "needs the key `address`"),
    ];
    for (text, expected) in wrong {
        let error = parse(&text).expect_err(&text);
        assert!(error.contains(expected), "{expected:?} is not in\n{error}");
    }
}

/// Every key stands in the reference.
#[test]
fn the_reference_has_every_key() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let page = std::fs::read_to_string(root.join("docs/reference/switch-toml.md")).unwrap();
    for line in FULL.lines().filter(|line| !line.is_empty()) {
        let key = line.split(" = ").next().unwrap_or_default();
        let quoted = match key.starts_with('[') {
            true => key.trim_matches(['[', ']']).to_string(),
            false => format!("`{key}`"),
        };
        assert!(page.contains(&quoted), "{key}");
    }
}

/// Every input in `fuzz/corpus/switch_config` at the root.
#[test]
fn the_corpus_of_configurations() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fuzz/corpus/switch_config");
    let (mut used, mut refused) = (0, 0);
    for entry in std::fs::read_dir(&folder).unwrap() {
        let path = entry.unwrap().path();
        println!("{}", path.display());
        match fuzzing::config(&std::fs::read(path).unwrap()) {
            true => used += 1,
            false => refused += 1,
        }
    }
    assert!(used >= 5 && refused >= 8, "{used} used and {refused} refused");
}

/// A file as a user may write it, with some lines of others in between.
fn any_file() -> impl Strategy<Value = String> {
    let lines: Vec<String> = FULL.lines().map(str::to_string).collect();
    let line = prop_oneof![8 => proptest::sample::select(lines), 1 => any::<String>()];
    proptest::collection::vec(line, 0..40).prop_map(|lines| lines.join("\n"))
}

proptest! {
    #[test]
    fn any_text_is_read_or_refused(text in any::<String>()) {
        fuzzing::config(text.as_bytes());
    }

    #[test]
    fn any_lines_are_read_or_refused(text in any_file()) {
        fuzzing::config(text.as_bytes());
    }
}
