//! ARCHITECTURE.md's table "What each crate may know" against the crates' manifests, and the pages
//! of the crates.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use crate::{metadata, root};

/// A row of the table: a crate, and the crates it may know.
#[derive(Clone, Debug, PartialEq)]
struct Row {
    name: String,
    knows: BTreeSet<String>,
}

/// A crate as its manifest has it, by the name of its folder.
#[derive(Clone, Debug, Default, PartialEq)]
struct Manifest {
    /// Crates of the workspace that it is built with.
    built_with: BTreeSet<String>,
    /// Crates of the workspace that only its tests need.
    tested_with: BTreeSet<String>,
}

/// The names in backticks in a cell of the table.
fn names(cell: &str) -> impl Iterator<Item = String> {
    cell.split('`').skip(1).step_by(2).map(str::to_string)
}

/// The rows of the table below the heading: crate, what it is, what it may know.
fn rows(architecture: &str) -> Vec<Row> {
    let section = architecture.split("\n## ").find(|s| s.starts_with("What each crate may know"));
    let lines =
        section.expect("the table's heading").lines().filter(|line| line.starts_with("| `"));
    let row = |line: &str| {
        let cells: Vec<&str> = line.trim_matches('|').split('|').collect();
        let [name, _, knows] = cells[..] else { panic!("not three cells: {line}") };
        Row { name: names(name).next().expect("a name"), knows: names(knows).collect() }
    };
    lines.map(row).collect()
}

/// What breaks the table's rules; empty if nothing does.
fn breaches(rows: &[Row], manifests: &BTreeMap<String, Manifest>) -> Vec<String> {
    let mut found = Vec::new();
    let place = |name: &str| rows.iter().position(|row| row.name == name);
    for (at, row) in rows.iter().enumerate() {
        let name = &row.name;
        if !manifests.contains_key(name) {
            found.push(format!("{name} has a row and is no crate"));
        }
        if place(name) != Some(at) {
            found.push(format!("{name} has two rows"));
        }
        for known in &row.knows {
            if place(known).is_none_or(|place| place >= at) {
                found.push(format!("{name} may not know {known}, which has no row above it"));
            }
        }
    }
    for (name, manifest) in manifests {
        let Some(at) = place(name) else {
            found.push(format!("{name} has no row"));
            continue;
        };
        let row = &rows[at];
        for needed in manifest.built_with.difference(&row.knows) {
            found.push(format!("{name} depends on {needed}, which its row does not list"));
        }
        for listed in row.knows.difference(&manifest.built_with) {
            found.push(format!("{name} does not depend on {listed}, which its row lists"));
        }
        for needed in &manifest.tested_with {
            if place(needed).is_none_or(|place| place >= at) {
                found.push(format!("{name} is tested with {needed}, which has no row above it"));
            }
        }
    }
    found
}

/// The workspace's crates, as cargo understands their manifests.
fn manifests() -> BTreeMap<String, Manifest> {
    let metadata = metadata(&["--no-deps"]).expect("cargo metadata");
    let packages = metadata["packages"].as_array().expect("packages");
    let folder = |path: &serde_json::Value| {
        let path = Path::new(path.as_str().expect("a path"));
        path.file_name().expect("a folder").to_string_lossy().into_owned()
    };
    let mut all = BTreeMap::new();
    for package in packages {
        let mut manifest = Manifest::default();
        for needed in package["dependencies"].as_array().expect("dependencies") {
            // Only crates of the workspace have a path.
            if needed["path"].is_null() {
                continue;
            }
            let of = match needed["kind"].as_str() {
                Some("dev") => &mut manifest.tested_with,
                _ => &mut manifest.built_with,
            };
            of.insert(folder(&needed["path"]));
        }
        let path = Path::new(package["manifest_path"].as_str().expect("a path"));
        let name = path.parent().and_then(Path::file_name).expect("a folder");
        all.insert(name.to_string_lossy().into_owned(), manifest);
    }
    all
}

#[test]
fn crates_know_what_the_table_says_and_no_more() {
    let architecture = std::fs::read_to_string(root().join("ARCHITECTURE.md")).unwrap();
    let (rows, manifests) = (rows(&architecture), manifests());
    assert!(rows.len() > 10 && manifests.len() > 10, "{rows:?} {manifests:?}");
    let found = breaches(&rows, &manifests);
    assert!(found.is_empty(), "against ARCHITECTURE.md's table:\n{}", found.join("\n"));
}

/// Registries show a crate's README.md. That of the Python package is its users' page.
#[test]
fn every_crate_has_a_page_of_its_own() {
    let metadata = metadata(&["--no-deps"]).expect("cargo metadata");
    let packages = metadata["packages"].as_array().expect("packages");
    for package in packages {
        let name = package["name"].as_str().expect("a name");
        let manifest = Path::new(package["manifest_path"].as_str().expect("a path"));
        let page = manifest.with_file_name("README.md");
        let text = std::fs::read_to_string(&page)
            .unwrap_or_else(|problem| panic!("{}: {problem}", page.display()));
        let title = if name == "ratewire-python" { "Ratewire for Python" } else { name };
        assert_eq!(text.lines().next(), Some(&*format!("# {title}")), "{}", page.display());
        assert_eq!(package["readme"].as_str(), Some("README.md"), "{}", manifest.display());
    }
}

#[test]
fn each_breach_of_the_table_is_found() {
    let set = |names: &[&str]| names.iter().map(ToString::to_string).collect::<BTreeSet<_>>();
    let table = "# A\n\n## What each crate may know\n\n| crate | is | knows |\n|---|---|---|\n\
        | `low` | ground | nothing |\n| `high` | top | `low` (its types), and `mid`'s |\n\
        \n## Else\n\n| `other` | not | of it |\n";
    let found = rows(table);
    assert_eq!(found.len(), 2, "{found:?}");
    assert_eq!(found[1], Row { name: "high".into(), knows: set(&["low", "mid"]) });

    let row = |name: &str, knows: &[&str]| Row { name: name.into(), knows: set(knows) };
    let manifest = |built: &[&str], tested: &[&str]| Manifest {
        built_with: set(built),
        tested_with: set(tested),
    };
    let table = [row("low", &[]), row("high", &["low"])];
    let of = |low: Manifest, high: Manifest| {
        BTreeMap::from([("low".to_string(), low), ("high".to_string(), high)])
    };
    let good = of(manifest(&[], &[]), manifest(&["low"], &["low"]));
    assert_eq!(breaches(&table, &good), [] as [&str; 0]);

    let extra = of(manifest(&["high"], &[]), manifest(&["low"], &[]));
    assert_eq!(breaches(&table, &extra), ["low depends on high, which its row does not list"]);
    let fewer = of(manifest(&[], &[]), manifest(&[], &[]));
    assert_eq!(breaches(&table, &fewer), ["high does not depend on low, which its row lists"]);
    let upward = of(manifest(&[], &["high"]), manifest(&["low"], &[]));
    assert_eq!(breaches(&table, &upward), ["low is tested with high, which has no row above it"]);
    let mut new = good.clone();
    new.insert("new".into(), Manifest::default());
    assert_eq!(breaches(&table, &new), ["new has no row"]);
    let gone = BTreeMap::from([("low".to_string(), Manifest::default())]);
    assert_eq!(breaches(&table, &gone), ["high has a row and is no crate"]);
    let around = [row("low", &["high"]), row("high", &["low"])];
    let both = of(manifest(&["high"], &[]), manifest(&["low"], &[]));
    assert_eq!(breaches(&around, &both), ["low may not know high, which has no row above it"]);
}
