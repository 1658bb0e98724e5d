use std::path::Path;

use proptest::prelude::*;
use ratewire_overlay::{Benefit, BudgetRule, Dollars, MOST_NODES, Occupancy, Price};
use ratewire_units::{Bytes, Duration};

use super::*;

/// Everything that a file may say.
const WHOLE: &str = r#"
links = "mesh"
certificates = "keys"

[[daemon]]
name = "alpha"
address = "10.0.0.1:4804"
listen = ["0.0.0.0:4803", "unix:/run/ratewire/groups.sock"]
status = "127.0.0.1:4809"

[[daemon]]
name = "beta"
address = "[fd00::2]:4804"

[flow-control]
salary = 5
cap = 30.5
fee = 0
budget = "paper"
soft-limit = 50
interval = "50 ms"
threshold = 12
first-period = "2 s"
price = "exponential"
price-base = 20
benefit = "concave"
memory = "3 s"
randomise = true
second-thought = "5 ms"

[limits]
clients = 10
groups-per-client = 20
queue-per-client = "1 MB"
window = "2 MB"
handshake-timeout = "1 s"
connections-per-second = 30
longest-stall = "never"

[[group]]
name = "video*"
policy = "drop"

[[group]]
name = "video-4k"
lag = 100

[[group]]
name = "*"
policy = "block"
weight = 0.5

[[group]]
name = "alarm"
weight = 4

[[group]]
name = "quotes"
lag-time = "2 s"

[[client]]
name = "feed*"
salary = 20
weight = 3

[[client]]
name = "feed1"
salary = 15
"#;

/// Two daemons that lack links.
const TWO: &str = r#"
[[daemon]]
name = "a"
address = "127.0.0.1:4804"
[[daemon]]
name = "b"
address = "127.0.0.1:4805"
listen = ["unix:/tmp/b"]
"#;

fn parse(text: &str) -> Result<Config, String> {
    Config::parse(Path::new("/etc/groups.toml"), text).map_err(|error| error.to_string())
}

fn wrong(text: &str) -> String {
    parse(text).map(|config| panic!("{text}\nis taken for {config:?}")).unwrap_err()
}

#[test]
fn a_whole_file_is_read() {
    let config = parse(WHOLE).unwrap();
    let alpha = config.daemon(OverlayNodeId(0));
    let listen = ["0.0.0.0:4803", "unix:/run/ratewire/groups.sock"];
    assert_eq!(alpha.listen, listen.map(|text| text.parse::<Listen>().unwrap()));
    assert_eq!(alpha.status, Some("127.0.0.1:4809".parse().unwrap()));
    assert_eq!(alpha.address, Some("10.0.0.1:4804".parse().unwrap()));
    assert_eq!(config.daemon(OverlayNodeId(1)).listen, Config::single().daemons[0].listen);
    assert_eq!(config.node("beta"), Some(OverlayNodeId(1)));
    assert_eq!(config.protection, Protection::Certificates("/etc/keys".into()));
    let params = Params {
        salary: Dollars::new(5.0),
        cap: Dollars::new(30.5),
        fee: Dollars::ZERO,
        budget: BudgetRule::Paper,
        soft_limit: Occupancy::new(50.0),
        interval: Duration::from_millis(50),
        threshold: Dollars::new(12.0),
        first_period: Duration::from_secs(2),
        price: Price::Exponential { base: 20.0 },
        benefit: Benefit::Concave(Duration::from_secs(3)),
        randomise: true,
        second_thought: Some(Duration::from_millis(5)),
    };
    assert_eq!(config.params, params);
    let limits = Limits {
        clients: 10,
        groups_per_client: 20,
        queue_per_client: Bytes::new(1_000_000),
        window: Bytes::new(2_000_000),
        handshake_timeout: Duration::from_secs(1),
        connections_per_second: 30,
        longest_stall: Patience::ENDLESS,
    };
    assert_eq!(config.limits, limits);
    let policies = ["video-4k", "video", "video-4", "audio"];
    let policies = policies.map(|group| config.policies.of(group.as_bytes()));
    assert_eq!(policies, [Policy::Lag(100), Policy::Drop, Policy::Drop, Policy::Block]);
    assert_eq!(config.policies.of(b"alarm"), Policy::Block);
    assert_eq!(config.policies.of(b"quotes"), Policy::LagTime(Duration::from_secs(2)));
    let weights = ["alarm", "video", "audio"].map(|name| config.policies.weight(name.as_bytes()));
    assert_eq!(weights, [4.0, 1.0, 0.5]);
    let terms = |salary, weight| Terms { salary: Some(Dollars::new(salary)), weight };
    let clients = ["feed1", "feed2", "fee"].map(|name| config.clients.of(name));
    assert_eq!(clients, [terms(15.0, 1.0), terms(20.0, 3.0), Terms::default()]);
    assert_eq!(Config::single().policies.weight(b"alarm"), 1.0);
}

#[test]
fn a_name_is_enough() {
    let mut config = parse("[[daemon]]\nname = \"localhost\"").unwrap();
    assert!(!config.is_built_in() && Config::single().is_built_in());
    // Daemons of two files would collide at one address for their status.
    assert_eq!(config.daemons[0].status, None);
    config.daemons[0].status = Some("127.0.0.1:4809".parse().unwrap());
    assert_eq!(Config { file: None, ..config }, Config::single());
    let listen = ["127.0.0.1:4803", "unix:/tmp/4803"].map(|text| text.parse::<Listen>().unwrap());
    assert_eq!(Config::single().daemons[0].listen, listen);
    assert_eq!(Config::single().params.interval, Duration::from_millis(100));
}

#[test]
fn links_lead_both_ways() {
    let linked = format!("{TWO}[[link]]\nbetween = [\"b\", \"a\"]\ndelay = \"10 ms\"");
    let [a, b] = [0, 1].map(OverlayNodeId);
    let edges = |delay| [(a, b, delay), (b, a, delay)];
    let found = |text: &str| {
        let edges = parse(text).unwrap().edges();
        edges.iter().map(|edge| (edge.from, edge.to, edge.delay)).collect::<Vec<_>>()
    };
    assert_eq!(found(&linked), edges(Duration::from_millis(10)));
    assert_eq!(found(TWO), edges(Duration::from_millis(1)));
    assert_eq!(found(&format!("links = \"mesh\"{TWO}")), edges(Duration::from_millis(1)));
}

#[test]
fn every_mistake_has_a_line_and_a_remedy() {
    let link = |rest: &str| format!("{TWO}[[link]]\n{rest}");
    let in_a = |line: &str| TWO.replacen("name = \"a\"", &format!("name = \"a\"\n{line}"), 1);
    let cases: &[(String, &str)] = &[
        ("".into(), "1:1: the file names no daemon"),
        ("daemon = []".into(), "1:1: the file names no daemon"),
        ("daemon = 3".into(), "1:10: `daemon` cannot be the number 3"),
        ("daemon = [3]".into(), "1:11: `daemon` cannot be the number 3"),
        ("x = [".into(), "not TOML"),
        ("a = 1\na = 2".into(), "2:1: not TOML: duplicate key"),
        ("[[daemon]]".into(), "1:1: [[daemon]] needs the key `name`"),
        ("[[daemon]]\nname = \"\"".into(), "2:8: the daemon's name \"\" has 0 characters"),
        (TWO.replace("\"a\"", "\"a.b\""), "\"a.b\" has a character that is not allowed"),
        (TWO.replace("\"a\"", "\"CA\""), "\"CA\" is the name of the certificates' authority"),
        (TWO.replace("\"a\"", &format!("{:?}", "x".repeat(20))), "has 20 characters"),
        (TWO.replace("\"a\"", "\"B\""), "5:1: two daemons are called `b`"),
        (
            TWO.replace("4805", "4804"),
            "7:11: `a` and `b` are on one host and listen on 127.0.0.1:4804",
        ),
        (TWO.replace("address = \"127.0.0.1:4805\"", ""), "[[daemon]] needs the key `address`"),
        (TWO.replace("127.0.0.1:4805", "localhost:4805"), "`address` cannot be \"localhost:4805\""),
        (TWO.replace("127.0.0.1:4805", "0.0.0.0:4805"), "cannot reach `address` 0.0.0.0:4805"),
        (TWO.replace("127.0.0.1:4805", "10.0.0.1:4805"), "nothing protects the links of"),
        (in_a("listen = []"), "`listen` is empty"),
        (in_a("listen = [\"unix:x\"]"), "4:11: `listen` cannot have \"unix:x\""),
        (in_a(&format!("listen = [\"unix:/{}\"]", "x".repeat(107))), "more than 107 bytes"),
        (in_a("listen = [\"unix:/x\", \"unix:/x\"]"), "`listen` has \"unix:/x\" twice"),
        (in_a("listen = [\"127.0.0.1:4804\"]"), "`a` listens twice on 127.0.0.1:4804"),
        (
            in_a("lisen = []"),
            "4:1: unknown key `lisen` in [[daemon]]\n  help: did you mean `listen`",
        ),
        (format!("links = \"ring\"{TWO}"), "1:9: `links` cannot be \"ring\""),
        (format!("links = \"mesh\"{}", link("between = [\"a\", \"b\"]")), "exclude each other"),
        (link(""), "9:1: [[link]] needs the key `between`"),
        (link("between = [\"a\"]"), "10:11: `between` has 1 names"),
        (link("between = [\"a\", \"c\"]"), "10:17: no daemon is called \"c\"\n  help: known: a, b"),
        (link("between = [\"a\", \"a\"]"), "the link leads from a daemon to itself"),
        (link("between = [\"a\", \"b\"]\ndelay = \"0 s\""), "11:9: `delay` cannot be 0 s"),
        (link("between = [\"a\", \"b\"]\n[[link]]\nbetween = [\"b\", \"a\"]"), "linked twice"),
        (
            link("between = [\"a\", \"b\"]\n[[daemon]]\nname = \"c\"\naddress = \"[::1]:1\""),
            "11:1: no links lead from `a` to `c`",
        ),
        (format!("certificates = \"x\"\nplaintext = true{TWO}"), "exclude each other"),
        (format!("plaintext = 1{TWO}"), "`plaintext` cannot be the number 1"),
        (format!("{TWO}[flow-control]\nfee = 21"), "10:7: `fee` is more than `cap`"),
        (format!("{TWO}[flow-control]\nsalary = nan"), "`salary` cannot be NaN"),
        (format!("{TWO}[flow-control]\nsalary = \"10\""), "help: allowed: a number from 0.000001"),
        (format!("{TWO}[flow-control]\ninterval = \"100\""), "\"100\" has no unit"),
        (format!("{TWO}[flow-control]\ninterval = \"1 ms\""), "help: allowed: 10 ms to 10 s"),
        (format!("{TWO}[limits]\nclients = -1"), "`clients` cannot be -1\n  help: allowed: 1 to"),
        (format!("{TWO}[limits]\nwindow = \"1 KB\""), "help: allowed: 256 KB to 1 GB"),
        (
            format!("{TWO}[limits]\nlongest-stall = \"1 ms\""),
            "cannot be 1 ms\n  help: allowed: 1 s to never",
        ),
        (format!("{TWO}[limits]\nlongest-stall = \"ever\""), "`longest-stall` cannot be \"ever\""),
        (format!("limits = 3{TWO}"), "`limits` cannot be the number 3"),
        (format!("{TWO}[[group]]\nlag = 3"), "[[group]] needs the key `name`"),
        (format!("{TWO}[[group]]\nname = \"#a\"\nlag = 3"), "no group can be called \"#a\""),
        (format!("{TWO}[[group]]\nname = \"x\""), "[[group]] needs the key `policy`"),
        (format!("{TWO}[[group]]\nname = \"x\"\npolicy = \"lose\""), "cannot be \"lose\""),
        (format!("{TWO}[[group]]\nname = \"x\"\npolicy = \"drop\"\nlag = 1"), "exclude each other"),
        (
            format!("{TWO}[[group]]\nname = \"x\"\nlag-time = \"9 s\"\nlag = 1"),
            "exclude each other",
        ),
        (format!("{TWO}[[group]]\nname = \"x\"\nlag-time = \"9 ms\""), "`lag-time` cannot be"),
        (format!("{TWO}[[group]]\nname = \"x\"\nweight = 0"), "`weight` cannot be 0"),
        (format!("{TWO}[[client]]\nsalary = 3"), "[[client]] needs the key `name`"),
        (format!("{TWO}[[client]]\nname = \"x\""), "[[client]] needs the key `salary`"),
        (format!("{TWO}[[client]]\nname = \"x\"\nsalary = 0"), "`salary` cannot be 0"),
        (format!("{TWO}[[client]]\nname = \"x\"\nweight = 2000"), "`weight` cannot be 2000"),
        (format!("{TWO}[[client]]\nname = \"#x\"\nsalary = 3"), "no client can be called \"#x\""),
        (format!("{TWO}{}", "[[client]]\nname = \"x\"\nsalary = 1\n".repeat(2)), "two [[client]]"),
        (format!("{TWO}{}", "[[group]]\nname = \"x\"\nlag = 1\n".repeat(2)), "are called \"x\""),
    ];
    for (text, expected) in cases {
        let said = wrong(text);
        assert!(said.contains(expected), "{text}\n{said}");
        assert!(said.starts_with("/etc/groups.toml:") && said.contains("\n  help: "), "{said}");
        assert!(!fuzzing::config(text.as_bytes()));
    }
}

/// Two daemons with these addresses, listeners and a status.
fn pair(addresses: [&str; 2], listen: [&str; 2], status: &str) -> String {
    let daemon = |n: usize| {
        let (name, address, listen) = (["a", "b"][n], addresses[n], listen[n]);
        let listen = if listen.is_empty() { String::new() } else { format!("listen = {listen}\n") };
        format!("[[daemon]]\nname = \"{name}\"\naddress = \"{address}\"\n{listen}")
    };
    format!("plaintext = true\n{}{status}{}", daemon(0), daemon(1))
}

#[test]
fn daemons_of_one_host_need_ports_and_sockets_of_their_own() {
    let one = ["10.0.0.1:1", "10.0.0.1:2"];
    let status = "status = \"0.0.0.0:4809\"\n";
    let cases = [
        (one, ["", ""], "", "5:1: `a` and `b` are on one host and listen on 127.0.0.1:4803"),
        (["127.0.0.1:1", "127.0.0.2:1"], ["", ""], "", "on one host and listen on 127.0.0.1:4803"),
        (["[::1]:1", "[::ffff:127.0.0.1]:1"], ["", ""], "", "listen on 127.0.0.1:4803"),
        (one, ["[\"unix:/x\"]", "[\"unix:/x\"]"], "", "9:10: `a` and `b` are on one host"),
        (one, ["[\"0.0.0.0:3\"]", "[\"10.0.0.1:3\"]"], "", "on 0.0.0.0:3 and 10.0.0.1:3\n"),
        (one, ["[\"[::]:3\"]", "[\"[fd00::1]:3\"]"], "", "on [::]:3 and [fd00::1]:3\n"),
        (
            one,
            ["[\"127.0.0.1:3\"]", "[\"127.0.0.1:4809\"]"],
            status,
            "0.0.0.0:4809 and 127.0.0.1:4809",
        ),
        (one, ["[\"0.0.0.0:2\"]", "[\"127.0.0.1:3\"]"], "", "8:11: `a` and `b` are on one host"),
    ];
    for (addresses, listen, status, expected) in cases {
        let text = pair(addresses, listen, status);
        let said = wrong(&text);
        assert!(
            said.contains(expected) && said.contains("without `listen` takes"),
            "{text}\n{said}"
        );
    }
    // Hosts of their own may have what they want, and these ports are different ones.
    let two = ["10.0.0.1:1", "10.0.0.2:1"];
    for (addresses, listen) in [
        (two, ["", ""]),
        (two, ["[\"0.0.0.0:4803\"]", "[\"0.0.0.0:4803\"]"]),
        (two, ["[\"10.0.0.9:4803\"]", "[\"10.0.0.9:4803\"]"]),
        (["10.0.0.1:1", "127.0.0.1:1"], ["", ""]),
        (["[fe80::1%2]:1", "[fe80::1%3]:1"], ["", ""]),
        (one, ["[\"127.0.0.1:0\"]", "[\"127.0.0.1:0\"]"]),
        (one, ["[\"[::]:3\"]", "[\"127.0.0.1:3\"]"]),
        (one, ["[\"127.0.0.1:3\"]", "[\"127.0.0.2:3\"]"]),
    ] {
        parse(&pair(addresses, listen, "")).unwrap();
    }
    let said =
        wrong("[[daemon]]\nname = \"a\"\nlisten = [\"0.0.0.0:1\"]\nstatus = \"127.0.0.1:1\"");
    assert!(said.contains("`a` listens twice on 0.0.0.0:1 and 127.0.0.1:1"), "{said}");
}

/// Deeply nested values and tables do not exhaust the stack.
#[test]
fn deep_nesting_is_refused() {
    let deep = 100_000;
    for (open, close) in [("[", "]"), ("{ a = ", "}"), ("\n[a]\nx = [", "]")] {
        assert!(
            wrong(&format!("x = {}{}", open.repeat(deep), close.repeat(deep))).contains("TOML")
        );
    }
    assert!(wrong(&format!("{}x = 1", "a.".repeat(deep))).contains("1:"));
}

#[test]
fn all_mistakes_are_told_in_the_order_of_the_file() {
    let said = wrong("[limits]\nclients = 0\nfoo = 1\n[[daemon]]\nname = \"x y\"");
    let places: Vec<&str> =
        said.lines().filter_map(|line| line.strip_prefix("/etc/groups.toml:")).collect();
    let places: Vec<&str> = places.iter().map(|line| line.split(' ').next().unwrap()).collect();
    assert_eq!(places, ["2:11:", "3:1:", "5:8:"]);
}

/// A file with so many daemons.
fn daemons(count: usize) -> String {
    let daemon = |n| format!("[[daemon]]\nname = \"d{n}\"\naddress = \"10.0.0.{}:1\"\n", n + 1);
    "plaintext = true\n".to_string() + &(0..count).map(daemon).collect::<String>()
}

#[test]
fn as_many_daemons_as_the_overlay_has_nodes() {
    let config = parse(&daemons(MOST_NODES)).unwrap();
    assert_eq!(config.edges().len(), MOST_NODES * (MOST_NODES - 1));
    assert!(wrong(&daemons(MOST_NODES + 1)).contains("386:1: 129 daemons are too many"));
}

#[test]
fn a_missing_file_is_named() {
    let error = Config::read(Path::new("/nowhere/groups.toml")).unwrap_err();
    assert!(error.to_string().starts_with("/nowhere/groups.toml: cannot be read: "));
    assert!(std::error::Error::source(&error).is_some());
}

#[test]
fn fingerprints_tell_what_daemons_must_agree_on() {
    let print = |text: &str| parse(text).unwrap().fingerprint();
    let whole = print(WHOLE);
    let others = [
        ("salary = 5", "salary = 6"),
        ("\"beta\"", "\"zeta\""),
        ("lag = 100", "lag = 9"),
        ("price-base = 20", "price-base = 19"),
        ("\"exponential\"\nprice-base = 20", "\"square\""),
        ("\"concave\"\nmemory = \"3 s\"", "\"per-receiver\""),
        ("\"concave\"", "\"layered\""),
        ("weight = 4", "weight = 5"),
        ("weight = 3", "weight = 2"),
        ("salary = 15", "salary = 16"),
        ("\"feed1\"", "\"feed2\""),
        ("memory = \"3 s\"", "memory = \"4 s\""),
        ("randomise = true\nsecond-thought = \"5 ms\"", "randomise = false"),
        ("second-thought = \"5 ms\"", ""),
        ("second-thought = \"5 ms\"", "second-thought = \"6 ms\""),
    ];
    for (old, new) in others {
        assert_ne!(print(&WHOLE.replace(old, new)), whole, "{new}");
    }
    let own = [
        ("clients = 10", "clients = 9"),
        ("0.0.0.0:4803", "0.0.0.0:4800"),
        ("\"paper\"", "\"bursts\""),
    ];
    for (old, new) in own {
        assert_eq!(print(&WHOLE.replace(old, new)), whole, "{new}");
    }
    // Daemons with other policies, salaries and weights link.
    let link_prints = |text: &str| parse(text).unwrap().link_fingerprints();
    let spreads = ["lag = 9", "weight = 5", "weight = 2", "salary = 16", "\"feed2\""];
    for (old, new) in others {
        let is_local = spreads.contains(&new);
        let is_same = link_prints(&WHOLE.replace(old, new)) == link_prints(WHOLE);
        assert_eq!(is_same, is_local, "{new}");
    }
    // Other releases and machines compute the same number.
    assert_eq!(Config::single().fingerprint(), 1_734_127_395_596_364_315);
}

/// Choices that are written out and are the usual ones make no other configuration.
#[test]
fn the_usual_choices_may_be_written_out() {
    let plain = "[[daemon]]\nname = \"localhost\"\n[flow-control]\n";
    let written = format!(
        "{plain}budget = \"bursts\"\nprice = \"exponential\"\nbenefit = \"per-message\"\nrandomise = true\n"
    );
    assert_eq!(parse(&written).unwrap().params, Config::single().params);
    assert_eq!(parse(&written).unwrap().fingerprint(), parse(plain).unwrap().fingerprint());
}

#[test]
fn choices_that_do_not_fit_are_told() {
    let said =
        |lines: &str| wrong(&format!("[[daemon]]\nname = \"localhost\"\n[flow-control]\n{lines}"));
    let table = [
        ("budget = \"burst\"", "did you mean `bursts`?"),
        ("price = \"cubic\"", "`price` cannot be \"cubic\""),
        ("price = \"lineal\"", "did you mean `linear`?"),
        ("price = \"linear\"\nprice-base = 20", "only the exponential price has a base"),
        ("price-base = 1", "`price-base` cannot be 1"),
        ("benefit = 3", "`benefit` cannot be"),
        ("memory = \"2 s\"", "only the concave and the layered benefit have a memory"),
        ("benefit = \"concave\"\nmemory = \"1 ms\"", "`memory` cannot be"),
        ("randomise = \"no\"", "true or false"),
        ("second-thought = \"0 s\"", "`second-thought` cannot be"),
        ("randomise = false\nsecond-thought = \"5 ms\"", "means nothing with `randomise = false`"),
        ("benefit = \"layer\"\nmemory = \"2 s\"", "did you mean `layered`?"),
    ];
    for (lines, message) in table {
        let said = said(lines);
        assert!(said.contains(message), "{lines}: {said}");
        assert_eq!(said.matches("help: ").count(), 1, "one mistake is told once: {lines}: {said}");
    }
}

#[test]
fn layers_forget_with_their_memory() {
    let text = "[[daemon]]\nname = \"localhost\"\n[flow-control]\nbenefit = \"layered\"\n";
    let benefit = |rest: &str| parse(&format!("{text}{rest}")).unwrap().params.benefit;
    assert_eq!(benefit(""), Benefit::Layered(Duration::from_secs(1)));
    assert_eq!(benefit("memory = \"10 s\""), Benefit::Layered(Duration::from_secs(10)));
}

/// Every key has a row in the reference.
#[test]
fn the_reference_has_every_key() {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/reference/groups-toml.md");
    let page = std::fs::read_to_string(path).unwrap();
    let tables = [
        KEYS,
        daemon::KEYS,
        link::KEYS,
        settings::FLOW_CONTROL_KEYS,
        settings::LIMITS_KEYS,
        policy::KEYS,
        client::KEYS,
    ];
    for key in tables.concat() {
        let is_told = page.contains(&format!("| `{key}` |")) || page.contains(&format!("[{key}]"));
        assert!(is_told, "{key}");
    }
    let example = page.split("```toml\n").nth(1).and_then(|rest| rest.split("```").next()).unwrap();
    parse(example).unwrap();
}

/// Every input in `fuzz/corpus/groups_config` at the root.
#[test]
fn the_corpus_of_configurations() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fuzz/corpus/groups_config");
    let (mut used, mut refused) = (0, 0);
    for entry in std::fs::read_dir(&folder).unwrap() {
        let path = entry.unwrap().path();
        println!("{}", path.display());
        match fuzzing::config(&std::fs::read(path).unwrap()) {
            true => used += 1,
            false => refused += 1,
        }
    }
    assert!(used >= 3 && refused >= 5, "{used} used and {refused} refused");
}

/// A file as a user may write it, with some lines of others in between.
fn any_file() -> impl Strategy<Value = String> {
    let lines: Vec<String> = format!("{WHOLE}{TWO}").lines().map(str::to_string).collect();
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

    #[test]
    fn what_is_written_is_read(
        names in proptest::collection::btree_set("[a-z0-9]([a-z0-9_-]{0,17}[a-z0-9])?", 1..10),
        delays in proptest::collection::vec(1u64..60_000, 10),
        salary in 1e-6..1e9f64,
        window in 256u64..1_000_000,
        lag in 1u32..1_000_000,
    ) {
        prop_assume!(!names.contains("ca"));
        let names: Vec<String> = names.into_iter().collect();
        let mut text = "plaintext = true\n".to_string();
        for (number, name) in names.iter().enumerate() {
            text += &format!("[[daemon]]\nname = {name:?}\naddress = \"10.0.0.{}:1\"\n", number + 1);
        }
        for (pair, delay) in names.windows(2).zip(&delays) {
            text += &format!("[[link]]\nbetween = {pair:?}\ndelay = \"{delay} ms\"\n");
        }
        text += &format!("[flow-control]\nsalary = {salary:?}\n[limits]\nwindow = \"{window} KB\"\n");
        text += &format!("[[group]]\nname = \"x\"\nlag = {lag}\n");
        let config = parse(&text).unwrap();
        prop_assert!(config.daemons.iter().map(|daemon| &daemon.name).eq(&names));
        let read: Vec<Duration> = config.links.iter().map(|link| link.delay).collect();
        prop_assert!(read.into_iter().eq(delays.iter().take(names.len() - 1).map(|ms| Duration::from_millis(*ms))));
        prop_assert_eq!(config.params.salary.get(), salary);
        prop_assert_eq!(config.limits.window, Bytes::new(window * 1000));
        prop_assert_eq!(config.policies.of(b"x"), Policy::Lag(lag));
        prop_assert!(fuzzing::config(text.as_bytes()));
    }
}

#[test]
fn a_running_daemon_takes_over_what_others_need_not_know_at_once() {
    let old = parse(WHOLE).unwrap();
    let me = OverlayNodeId(0);
    let check = |text: &str| {
        let next = parse(text).unwrap();
        let found = old.check_reload(&next, me).map_err(|error| error.to_string());
        // What is taken over agrees with what was, in the part that both know.
        let prints = next.link_fingerprints();
        found.inspect(|()| assert_eq!(prints[..2], old.link_fingerprints()))
    };
    let gamma = "[[daemon]]\nname = \"gamma\"\naddress = \"10.0.0.3:4804\"\n";
    let retired = "name = \"beta\"\nretired = true";
    for text in [
        WHOLE.to_string(),
        format!("{WHOLE}{gamma}"),
        WHOLE.replace("[fd00::2]", "[fd00::3]"),
        WHOLE.replace("lag = 100", "lag = 9"),
        WHOLE.replace("salary = 20\nweight = 3", "weight = 2"),
        WHOLE.replace("name = \"beta\"", retired),
    ] {
        assert_eq!(check(&text), Ok(()), "{text}");
    }
    let at_alpha = WHOLE.replace("10.0.0.1:", "10.0.0.9:");
    for (text, words) in [
        (WHOLE.replace("\"beta\"", "\"zeta\""), "`beta` is not daemon 2 any more"),
        (WHOLE.replace("cap = 30.5", "cap = 31"), "[flow-control] cannot change"),
        (WHOLE.replace("clients = 10", "clients = 11"), "[limits] cannot change"),
        (WHOLE.replace("\"keys\"", "\"other\""), "`certificates` or `plaintext` cannot change"),
        (format!("measure-latency = true\n{WHOLE}"), "`measure-latency` cannot change"),
        (at_alpha, "of this daemon cannot change"),
        (WHOLE.replace("name = \"alpha\"", "name = \"alpha\"\nretired = true"), "is retired"),
    ] {
        let said = check(&text).unwrap_err();
        assert!(said.contains(words) && said.contains("help: "), "{said}");
    }
}

#[test]
fn links_to_a_daemon_come_behind_those_between_earlier_ones() {
    let config = parse(&daemons(4)).unwrap();
    let ends: Vec<_> = config.links.iter().map(|link| link.ends.map(|end| end.0)).collect();
    assert_eq!(ends, [[0, 1], [0, 2], [1, 2], [0, 3], [1, 3], [2, 3]]);
}

#[test]
fn retired_daemons_have_a_place_and_nothing_else() {
    let table = |name: &str, rest: &str| format!("[[daemon]]\nname = \"{name}\"\n{rest}\n");
    let text = |links: &[[&str; 2]]| {
        let links = links.iter().map(|[a, b]| format!("[[link]]\nbetween = [\"{a}\", \"{b}\"]\n"));
        let at = |last: u8| format!("address = \"10.0.0.{last}:4804\"");
        let daemons = [
            table("a", &at(1)),
            table("b", "retired = true"),
            // Where `b` listened.
            table("c", &at(1).replace("4804", "4805")) + "listen = [\"unix:/run/c\"]\n",
        ];
        format!("plaintext = true\n{}{}", daemons.concat(), links.collect::<String>())
    };
    let config = parse(&text(&[["a", "b"], ["a", "c"]])).unwrap();
    assert!(config.daemons[1].is_retired);
    let said = config.me(Some("b")).unwrap_err().to_string();
    assert!(said.contains("daemon `b` is retired\n  help: take `retired` away"), "{said}");
    assert!(wrong(&text(&[["a", "b"], ["b", "c"]])).contains("no links lead from `a` to `c`"));
}
