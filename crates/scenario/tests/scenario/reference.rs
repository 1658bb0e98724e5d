//! Pages and tables that list keys and scenarios.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

use ratewire_scenario::{Scenario, reference};
use ratewire_testing::hold_first_cells;

const ROOT: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../..");

fn read(page: &str) -> String {
    fs::read_to_string(Path::new(ROOT).join(page)).unwrap_or_else(|e| panic!("{page}: {e}"))
}

/// `RATEWIRE_BLESS=1` writes the page anew.
#[test]
fn the_documentation_lists_every_key() {
    const PAGE: &str = "docs/reference/scenario.md";
    if std::env::var_os("RATEWIRE_BLESS").is_some() {
        fs::write(Path::new(ROOT).join(PAGE), reference()).unwrap();
    }
    let remedy = "`RATEWIRE_BLESS=1 cargo test -p ratewire-scenario` writes it";
    assert!(read(PAGE) == reference(), "{PAGE} is not that of the keys: {remedy}");
}

/// A key that is not read where it stands is an error of the scenario.
#[test]
fn the_documentation_of_custom_networks_is_read_to_the_last_key() {
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/scenarios/everything.toml");
    Scenario::load(&file).unwrap_or_else(|all| panic!("{all}"));
}

/// Scenarios in a folder below `scenarios`, by their paths from there.
fn scenarios(below: &str) -> BTreeSet<String> {
    let top = Path::new(ROOT).join("scenarios").join(below);
    let (mut found, mut folders) = (BTreeSet::new(), vec![top.clone()]);
    while let Some(folder) = folders.pop() {
        let entries = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
        let (inner, files): (Vec<PathBuf>, Vec<PathBuf>) = entries.partition(|path| path.is_dir());
        folders.extend(inner);
        let is_scenario = |path: &PathBuf| path.extension().is_some_and(|end| end == "toml");
        let name = |path: PathBuf| path.strip_prefix(&top).unwrap().to_str().unwrap().to_string();
        found.extend(files.into_iter().filter(is_scenario).map(name));
    }
    found
}

#[test]
fn every_discipline_has_a_scenario() {
    let own = scenarios("").into_iter().filter(|file| !file.contains('/'));
    let texts = own.map(|file| read(&format!("scenarios/{file}")));
    let dense = |text: String| text.split_whitespace().collect::<String>();
    let texts: Vec<String> = texts.map(dense).collect();
    for name in ratewire_net::queue::list().iter().map(|info| info.name) {
        let forms = [format!("discipline=\"{name}\""), format!("discipline={{{name}=")];
        let is_used = texts.iter().any(|text| forms.iter().any(|form| text.contains(form)));
        assert!(is_used, "no scenario uses the discipline {name}: write scenarios/{name}.toml");
    }
}

#[test]
fn the_documentation_lists_every_scenario() {
    let mut own = scenarios("");
    own.retain(|file| !file.starts_with("hostile/"));
    let heading = "| file | what it shows, with seed 1 | laws | run time |";
    hold_first_cells(
        "scenarios/README.md",
        &read("scenarios/README.md"),
        heading,
        &Vec::from_iter(own),
    );
    // One row describes a scenario without a policer and with one.
    let mut hostile = scenarios("hostile");
    let all = hostile.clone();
    hostile.retain(|file| {
        let unpoliced = file.strip_suffix("-policed.toml").map(|name| format!("{name}.toml"));
        unpoliced.is_none_or(|unpoliced| !all.contains(&unpoliced))
    });
    let heading = "| file | what is done | what happens | remedy, measured |";
    hold_first_cells(
        "scenarios/hostile/README.md",
        &read("scenarios/hostile/README.md"),
        heading,
        &Vec::from_iter(hostile),
    );
}
