//! Reading never panics, and always gives a scenario or diagnostics.

use std::path::Path;

use proptest::prelude::*;
use ratewire_scenario::{fuzzing, keys, reference, topologies};

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn any_text_is_read_or_refused(text in ".*") {
        fuzzing::scenario(text.as_bytes());
    }

    #[test]
    fn any_bytes_are_read_or_refused(bytes in proptest::collection::vec(any::<u8>(), 0..400)) {
        fuzzing::scenario(&bytes);
    }

    /// A real scenario with a part replaced.
    #[test]
    fn damaged_scenarios_are_read_or_refused(
        which in 0..5_usize,
        at in 0.0..1.0_f64,
        length in 0..30_usize,
        with in "[a-z0-9\"= .{}\\[\\]\n-]{0,12}",
    ) {
        let name = ["everything", "xcp-joins", "fat-tree", "abilene", "hsdpa"][which];
        let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/scenarios");
        let mut text = std::fs::read(folder.join(name).with_extension("toml")).unwrap();
        let from = (at * text.len() as f64) as usize;
        let to = (from + length).min(text.len());
        text.splice(from..to, with.bytes());
        fuzzing::scenario(&text);
    }

    /// Keys of the table at their places, with values of all kinds.
    #[test]
    fn keys_with_any_values_are_read_or_refused(
        kind in 0..8_usize,
        chosen in proptest::collection::vec((any::<prop::sample::Index>(), 0..VALUES.len()), 0..8),
    ) {
        let all: Vec<&keys::Key> = keys::keys().collect();
        let mut text = format!(
            "duration = \"1 s\"\nlaw = \"xcp\"\n[topology]\n{}\n", topologies()[kind].example
        );
        for (key, value) in &chosen {
            let key = key.get(&all);
            if ["flow", "traffic", "expect", "link", "node", "change", "path"].contains(&key.table) {
                text.push_str(&format!("[[{}]]\n{} = {}\n", key.table, key.name, VALUES[*value]));
            } else if ["topology", "properties"].contains(&key.table) {
                text = text.replacen(
                    "[topology]\n", &format!("[topology]\n{} = {}\n", key.name, VALUES[*value]), 1,
                );
            }
        }
        fuzzing::scenario(text.as_bytes());
    }
}

const VALUES: &[&str] = &[
    "0",
    "-1",
    "1e308",
    "9223372036854775807",
    "true",
    "\"\"",
    "\"*\"",
    "\"s1\"",
    "\"d1\"",
    "\"s*\"",
    "\"0 s\"",
    "\"1e6 h\"",
    "\"5 ms\"",
    "\"0 bit/s\"",
    "\"1000 Tbit/s\"",
    "\"0 B\"",
    "\"1e18 B\"",
    "\"1e300 packets\"",
    "\"1e300 bdp\"",
    "\"unlimited\"",
    "[]",
    "[[]]",
    "{}",
    "[\"s1\", \"d1\"]",
    "{ red = {} }",
    "{ codel = { target = \"0 s\", interval = \"0 s\" } }",
    "{ random = 2 }",
    "{ on_off = { burst = \"1 B\" } }",
    "{ poisson = \"1e300 /s\" }",
    "{ fraction = 10 }",
    "{ fixed = \"1 packet\" }",
    "\"0 s .. 1 s\"",
    "\"jain\"",
    "\"goodput\"",
    "1979-05-27",
    "\"100 %\"",
];

#[test]
fn the_corpus_is_read_or_refused() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fuzz/corpus/scenario");
    let mut files: Vec<_> =
        std::fs::read_dir(&folder).unwrap().map(|entry| entry.unwrap().path()).collect();
    files.sort();
    assert!(files.len() >= 10, "{} holds too little", folder.display());
    for file in files {
        fuzzing::scenario(&std::fs::read(file).unwrap());
    }
}

#[test]
fn the_reference_names_every_key() {
    let text = reference();
    for key in keys::keys() {
        assert!(text.contains(&format!("| `{}` |", key.name)), "{}", key.name);
        assert!(text.contains(&key.doc.replace('|', "\\|")), "{}", key.name);
    }
    for info in topologies() {
        assert!(text.contains(&format!("### `{}`", info.kind)));
    }
    // Each row of a Markdown table has as many columns as its heading.
    for line in text.lines().filter(|line| line.starts_with("| `")) {
        let bars = line.replace("\\|", "").matches('|').count();
        assert!(bars == 5 || bars == 4, "{line}");
    }
}
