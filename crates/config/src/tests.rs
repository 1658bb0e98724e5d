//! Tables and values, right and wrong.

use std::net::SocketAddr;
use std::path::Path;

use proptest::prelude::*;
use ratewire_units::Duration;

use super::*;

/// Everything that a file of these tests may say.
#[derive(Debug, Default, PartialEq)]
struct Found {
    name: Option<String>,
    status: Option<SocketAddr>,
    names: Vec<String>,
    timeout: Option<Duration>,
    share: Option<f64>,
    is_open: bool,
    counts: Vec<u32>,
}

fn parse(text: &str) -> Result<Found, ConfigError> {
    let keys = ["name", "names", "status", "open", "limits", "peer"];
    super::parse(Path::new("a.toml"), text, &keys, |root| {
        if !root.has("name") {
            root.missing("name", "write a name");
        }
        let limits = root.table("[limits]", &["timeout", "share"]);
        let second = Duration::from_secs(1);
        let peers = root.tables("[[peer]]", &["count"]);
        Found {
            name: root.text("name", "a name").map(|at| at.value.to_string()),
            status: root.parsed("status", "an address").map(|at| at.value),
            names: root.texts("names", "a list of names").map_or_else(Vec::new, |names| {
                names.into_iter().map(|at| at.value.to_string()).collect()
            }),
            timeout: limits.as_ref().map(|l| l.quantity("timeout", second, second..=second * 9)),
            share: limits.as_ref().map(|limits| limits.number("share", 0.5, 0.0..=1.0)),
            is_open: root.flag("open"),
            counts: peers.iter().map(|peer| peer.count("count", 7, 1..=10)).collect(),
        }
    })
}

#[test]
fn values_are_read_and_defaults_fill_in() {
    let text = "name = \"a\"\nnames = [\"b\", \"c\"]\nstatus = \"127.0.0.1:1\"\nopen = true\n\
                [limits]\ntimeout = \"2 s\"\nshare = 1\n[[peer]]\ncount = 0x0_a\n[[peer]]\n";
    let found = Found {
        name: Some("a".to_string()),
        status: Some("127.0.0.1:1".parse().unwrap()),
        names: vec!["b".to_string(), "c".to_string()],
        timeout: Some(Duration::from_secs(2)),
        share: Some(1.0),
        is_open: true,
        counts: vec![10, 7],
    };
    assert_eq!(parse(text).unwrap(), found);
    let name = Some("a".to_string());
    assert_eq!(parse("name = \"a\"").unwrap(), Found { name, ..Found::default() });
}

#[test]
fn all_mistakes_are_listed_in_the_order_of_the_file() {
    let text = "open = 1\nstatus = \"here\"\nnaems = []\n[[peer]]\ncount = 11\n\
                [limits]\nshare = \"x\"\ntimeout = \"1\"\n";
    let error = parse(text).unwrap_err();
    let said: Vec<String> = error
        .to_string()
        .lines()
        .filter(|line| line.starts_with("a.toml"))
        .map(Into::into)
        .collect();
    let expected = [
        "a.toml:1:1: the file needs the key `name`",
        "a.toml:1:8: `open` cannot be the number 1",
        "a.toml:2:10: `status` cannot be \"here\": invalid socket address syntax",
        "a.toml:3:1: unknown key `naems` in the file",
        "a.toml:5:9: `count` cannot be 11",
        "a.toml:7:9: `share` cannot be \"x\"",
        "a.toml:8:11: `timeout` cannot be \"1\": \"1\" has no unit",
    ];
    assert_eq!(said.len(), expected.len(), "{error}");
    for (said, expected) in said.iter().zip(expected) {
        assert!(said.starts_with(expected), "{said} is not {expected}");
    }
    fuzzing::check(text, &error);
}

#[test]
fn a_text_that_is_not_toml_is_not_checked_further() {
    let error = parse("name = [\nnaems = 1").unwrap_err();
    assert!(error.problems.iter().all(|problem| problem.message.starts_with("not TOML: ")));
}

#[test]
fn a_file_that_cannot_be_read_is_named() {
    let error = read(Path::new("/nowhere/a.toml")).unwrap_err();
    assert!(error.to_string().starts_with("/nowhere/a.toml: cannot be read: "));
    assert!(std::error::Error::source(&error).is_some());
}

proptest! {
    #[test]
    fn any_text_is_read_or_refused_with_places(text in any::<String>(), start in 0usize..60) {
        let known = "name = \"a\"\n[limits]\nshare = 1\ntimeout = \"1 s\"\n[[peer]]\ncount = 3\n";
        for text in [text.clone(), format!("{}{text}", &known[..start])] {
            if let Err(error) = parse(&text) {
                fuzzing::check(&text, &error);
            }
        }
    }
}
