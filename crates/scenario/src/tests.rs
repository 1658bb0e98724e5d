//! Compares the table of keys with the keys that are read.

use std::collections::BTreeSet;
use std::path::Path;
use std::sync::Mutex;

use ratewire_laws::OptionSpec;
use ratewire_net::queue::DisciplineInfo;

use crate::{Scenario, keys, topologies};

static READS: Mutex<BTreeSet<(&'static str, &'static str)>> = Mutex::new(BTreeSet::new());

/// Collects the keys that were read.
pub(crate) fn note_reads(reads: &BTreeSet<(&'static str, &'static str)>) {
    READS.lock().unwrap().extend(reads);
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
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/scenarios/everything.toml");
    Scenario::load(&file).unwrap_or_else(|all| panic!("{all}"));
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
    let reads = READS.lock().unwrap();
    let missing: Vec<String> = keys::keys()
        .filter(|key| !reads.contains(&(key.table, key.name)))
        .map(|key| format!("{}.{}", key.table, key.name))
        .collect();
    assert!(missing.is_empty(), "never read: {missing:?}");
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
