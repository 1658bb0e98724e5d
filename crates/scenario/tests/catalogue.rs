//! Our own scenarios are examples: nothing in them goes unread.

mod common;

use std::path::{Path, PathBuf};

use common::shown;
use ratewire_scenario::Scenario;

fn files(folder: &Path, found: &mut Vec<PathBuf>) {
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        let is_scenario = path.extension().is_some_and(|extension| extension == "toml")
            && path.file_name().is_some_and(|name| name != "paper.toml");
        if path.is_dir() {
            files(&path, found);
        } else if is_scenario {
            found.push(path);
        }
    }
}

#[test]
fn our_own_scenarios_are_read_to_the_last_key() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let mut found = Vec::new();
    ["papers", "scenarios"].iter().for_each(|folder| files(&root.join(folder), &mut found));
    assert!(found.len() > 100, "{} files", found.len());
    let warned: Vec<String> = found
        .iter()
        .filter_map(|path| {
            let scenario = Scenario::load(path).unwrap_or_else(|all| panic!("{}", shown(&all)));
            (!scenario.warnings.is_empty()).then(|| shown(&scenario.warnings))
        })
        .collect();
    assert!(warned.is_empty(), "{}", warned.join("\n"));
}
