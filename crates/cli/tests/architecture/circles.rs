//! No circles between the parts of a module.
//!
//! A module's parts are the files and folders beside its `mod.rs` (or `lib.rs`, `main.rs`).
//! Whatever a folder holds counts as the folder's. A part and the module it belongs to may use each
//! other; two parts of one module may not, directly or through others.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

use crate::root;
use crate::source::{Uses, uses};

/// Circles that wait to be mended: the module, and the parts that use each other. The list may only
/// shrink.
const WAITING: [(&str, &str); 0] = [];

/// Parts of a module, each with the other parts of it that it uses.
type Parts = BTreeMap<String, BTreeSet<String>>;

/// The parts of each module of a crate, by the module's folder.
fn parts(uses: &Uses) -> BTreeMap<String, Parts> {
    let mut modules: BTreeMap<String, Parts> = BTreeMap::new();
    for (file, used) in uses {
        for other in used {
            let Some((folder, [part, other])) = parted(file, other) else { continue };
            let parts = modules.entry(folder).or_default();
            parts.entry(other.clone()).or_default();
            parts.entry(part).or_default().insert(other);
        }
    }
    modules
}

/// The folder where the ways to two files part, and its parts that they are in; `None` where one is
/// the module that the other belongs to.
fn parted(one: &str, other: &str) -> Option<(String, [String; 2])> {
    let is_module = |part: &str| ["mod.rs", "lib.rs", "main.rs"].contains(&part);
    let (ones, others): (Vec<&str>, Vec<&str>) =
        (one.split('/').collect(), other.split('/').collect());
    let same = ones.iter().zip(&others).take_while(|(a, b)| a == b).count();
    let (one, other) = (ones.get(same)?, others.get(same)?);
    let both = || [one.to_string(), other.to_string()];
    (!is_module(one) && !is_module(other)).then(|| (ones[..same].join("/"), both()))
}

/// Parts that use each other, directly or through others: each set of them once.
fn circles(uses: &Parts) -> Vec<BTreeSet<&str>> {
    let reach = |from: &str| {
        let mut reached = BTreeSet::new();
        let mut open: Vec<&str> = uses[from].iter().map(String::as_str).collect();
        while let Some(file) = open.pop() {
            if reached.insert(file) {
                open.extend(uses[file].iter().map(String::as_str));
            }
        }
        reached
    };
    let mut found: Vec<BTreeSet<&str>> = Vec::new();
    for file in uses.keys() {
        let from = reach(file);
        if !from.contains(file.as_str()) || found.iter().any(|set| set.contains(file.as_str())) {
            continue;
        }
        found.push(from.into_iter().filter(|other| reach(other).contains(file.as_str())).collect());
    }
    found
}

struct Circle {
    /// The module and the parts.
    name: String,
    /// What makes it, a line a part.
    uses: Vec<String>,
}

/// The circles of a crate.
fn circles_of(name: &str, folder: &Path) -> Vec<Circle> {
    let uses = uses(&folder.join("src"));
    assert!(!uses.is_empty(), "{name} has no files");
    let mut found = Vec::new();
    for (folder, parts) in parts(&uses) {
        let module = format!("{name}/{folder}").trim_end_matches('/').to_string();
        for circle in circles(&parts) {
            let line = |part: &&str| {
                let within: Vec<&str> = parts[*part]
                    .iter()
                    .map(String::as_str)
                    .filter(|p| circle.contains(p))
                    .collect();
                format!("  {part} uses {}", within.join(", "))
            };
            let names: Vec<&str> = circle.iter().copied().collect();
            let name = format!("{module}: {}", names.join(" "));
            found.push(Circle { name, uses: circle.iter().map(line).collect() });
        }
    }
    found
}

#[test]
fn no_part_of_a_module_uses_another_that_uses_it() {
    let crates = fs::read_dir(root().join("crates")).unwrap().map(|folder| folder.unwrap().path());
    let mut folders: Vec<PathBuf> = crates.chain([root().join("python")]).collect();
    folders.sort();
    let mut waiting = BTreeSet::from(WAITING.map(|(module, parts)| format!("{module}: {parts}")));
    let mut found = Vec::new();
    for folder in folders {
        let name = folder.file_name().unwrap().to_string_lossy();
        for circle in circles_of(&name, &folder) {
            if !waiting.remove(&circle.name) {
                found.push(format!("{}\n{}", circle.name, circle.uses.join("\n")));
            }
        }
    }
    assert!(found.is_empty(), "parts that use each other:\n{}", found.join("\n"));
    assert!(waiting.is_empty(), "no circles any more: take them off the list: {waiting:?}");
}

#[test]
fn circles_are_found() {
    let file = |name: &str, used: &[&str]| {
        (name.to_string(), used.iter().map(ToString::to_string).collect::<BTreeSet<_>>())
    };
    let uses = Parts::from([
        file("a", &["b"]),
        file("b", &["c"]),
        file("c", &["a", "d"]),
        file("d", &[]),
        file("e", &["f"]),
        file("f", &["e"]),
    ]);
    assert_eq!(circles(&uses), [BTreeSet::from(["a", "b", "c"]), BTreeSet::from(["e", "f"])]);
    let straight = Parts::from([file("a", &["b"]), file("b", &["c"]), file("c", &[])]);
    assert!(circles(&straight).is_empty());
}

#[test]
fn a_module_and_its_parts_may_use_each_other() {
    let part = |one, other| parted(one, other).map(|(folder, parts)| (folder, parts.join(" ")));
    let of = |folder: &str, parts: &str| Some((folder.to_string(), parts.to_string()));
    assert_eq!(part("a.rs", "b.rs"), of("", "a.rs b.rs"));
    assert_eq!(part("a/x.rs", "b.rs"), of("", "a b.rs"));
    assert_eq!(part("a/x.rs", "a/y/z.rs"), of("a", "x.rs y"));
    assert_eq!(part("a/x.rs", "a/mod.rs"), None);
    assert_eq!(part("a/mod.rs", "b/y.rs"), of("", "a b"));
    assert_eq!(part("lib.rs", "b/y.rs"), None);
}
