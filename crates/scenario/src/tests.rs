//! Compares the table of keys with the keys that are read, and with the defaults that are taken.

use std::cell::RefCell;
use std::collections::BTreeSet;
use std::path::Path;

use ratewire_laws::OptionSpec;
use ratewire_net::queue::DisciplineInfo;

use crate::{Scenario, keys, topologies};

/// Tables and names of keys.
type Keys = BTreeSet<(&'static str, &'static str)>;

// A test has a thread of its own.
thread_local! {
    static READS: RefCell<Keys> = RefCell::default();
    static DEFAULTS: RefCell<Keys> = RefCell::default();
}

/// Collects the keys that were given and read, and those whose default was taken from the table.
pub(crate) fn note_reads(reads: &Keys, defaults: &Keys) {
    READS.with_borrow_mut(|all| all.extend(reads));
    DEFAULTS.with_borrow_mut(|all| all.extend(defaults));
}

/// A scenario around a `[topology]` table.
fn around(topology: &str) -> String {
    format!("duration = \"1 s\"\nlaw = \"xcp\"\n[topology]\n{topology}\n")
}

fn loader(name: &str) -> std::io::Result<String> {
    let data = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../data/topology-zoo");
    std::fs::read_to_string(data.join(name))
}

/// A topology whose bottleneck has a discipline with all its options, each as in its example.
fn with_discipline(info: &DisciplineInfo) -> String {
    let key = |option: &OptionSpec| keys::find(info.name, option.name).expect(option.name);
    let options = info.options.iter().map(|o| format!("{} = {}", o.name, key(o).example));
    let options: Vec<String> = options.collect();
    format!(
        "kind = \"dumbbell\"\n[topology.bottleneck]\nrate = \"1 Mbit/s\"\ndelay = \"1 ms\"\n\
         discipline = {{ {} = {{ {} }} }}",
        info.name,
        options.join(", ")
    )
}

#[test]
fn every_key_is_read_and_every_read_key_exists() {
    // `Section` itself panics if a key that is read is not in the table.
    for name in ["everything", "everything-of-a-dumbbell", "everything-of-a-graph"] {
        let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/scenarios");
        Scenario::load(&file.join(name).with_extension("toml"))
            .unwrap_or_else(|all| panic!("{all}"));
    }
    for info in topologies() {
        if info.kind != "custom" {
            let text = around(info.example);
            let read = Scenario::parse(info.kind, &text, &loader);
            read.unwrap_or_else(|all| panic!("{all}"));
        }
    }
    for info in ratewire_net::queue::list() {
        let text = around(&with_discipline(info));
        let read = Scenario::parse(info.name, &text, &loader);
        read.unwrap_or_else(|all| panic!("{all}"));
    }
    let missing = lacking(keys::keys(), &READS.take());
    assert!(
        missing.is_empty(),
        "keys that no scenario uses: {missing:?}; write them into \
         crates/scenario/tests/scenarios/everything.toml. If one is there, nothing reads it: read \
         it where its section is read, in crates/scenario/src/"
    );
}

/// Keys of `of` that are not in `found`.
fn lacking<'k>(of: impl Iterator<Item = &'k keys::Key>, found: &Keys) -> Vec<String> {
    let others = of.filter(|key| !found.contains(&(key.table, key.name)));
    others.map(|key| format!("{}.{}", key.table, key.name)).collect()
}

#[test]
fn every_default_is_taken_from_the_table() {
    // `Section` itself panics if a default is not a value of its key, and if a key with a default
    // is read without it.
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/scenarios/least.toml");
    Scenario::load(&file).unwrap_or_else(|all| panic!("{all}"));
    for info in topologies() {
        let required = info.parameters().filter(|key| key.default == keys::REQUIRED);
        let required: Vec<String> =
            required.map(|key| format!("{} = {}", key.name, key.example)).collect();
        let text = around(&format!("kind = {:?}\n{}", info.kind, required.join("\n")));
        // A custom topology without nodes is an error.
        let _ = Scenario::parse(info.kind, &text, &loader);
    }
    // Disciplines know the defaults of their options, which the table shows.
    let is_option = |key: &keys::Key| ratewire_net::queue::find(key.table).is_some();
    let with_value = keys::keys().filter(|key| !key.default.starts_with('(') && !is_option(key));
    let missing = lacking(with_value, &DEFAULTS.take());
    assert!(
        missing.is_empty(),
        "defaults that nothing takes: {missing:?}; read them by `time_or` and its like. If that is \
         so, their table is missing in crates/scenario/tests/scenarios/least.toml"
    );
}

#[test]
fn every_topology_reads_the_keys_it_says() {
    for info in topologies() {
        assert!(keys::keys().any(|key| match key.kind {
            keys::KeyKind::Word(words) => key.table == "topology" && words.contains(&info.kind),
            _ => false,
        }));
        assert_eq!(info.parameters().next().is_none(), info.kind == "custom");
    }
}

#[test]
fn the_reference_s_examples_are_toml() {
    for table in keys::tables() {
        let read = toml::de::DeTable::parse(table.example);
        assert!(read.is_ok(), "{}: {}", table.heading, table.example);
    }
    for key in keys::keys().filter(|key| !key.example.contains("[[") || key.name == "between") {
        let abridged = key.example.contains("...") || key.example.starts_with("[options.");
        let heading = toml::de::DeTable::parse(key.example).is_ok();
        let value = toml::de::DeValue::parse(key.example).is_ok();
        assert!(value || heading || abridged, "{}: {}", key.name, key.example);
    }
}
