//! Broken scenarios, each with its expected diagnostics in the text file beside it.
//!
//! `RATEWIRE_BLESS=1 cargo test -p ratewire-scenario` writes the texts anew.

use std::path::Path;

use ratewire_scenario::Scenario;

/// Beginnings of lists that grow with laws, their options and disciplines, which are no matter of
/// this crate.
const GROWING: [&str; 3] =
    ["known: xcp, ", "known: throughput, aging, ", "known: drop-tail, red, codel"];

fn without_registries(text: &str) -> String {
    let cut = |line: &str| {
        let list = GROWING.iter().find_map(|start| Some((line.split_once(start)?.0, start)));
        match list {
            Some((before, start)) => format!("{before}{start}...\n"),
            None => format!("{line}\n"),
        }
    };
    text.lines().map(cut).collect()
}

#[test]
fn broken_scenarios_are_explained() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/broken");
    let mut files: Vec<_> = std::fs::read_dir(&folder)
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .filter(|path| path.extension().is_some_and(|extension| extension == "toml"))
        .collect();
    files.sort();
    assert!(files.len() >= 20);
    let bless = std::env::var_os("RATEWIRE_BLESS").is_some();
    let mut wrong = Vec::new();
    for file in files {
        let text = std::fs::read_to_string(&file).unwrap();
        let name = file.file_name().unwrap().to_string_lossy().into_owned();
        let loader = |name: &str| {
            std::fs::read_to_string(folder.join(name))
                // Operating systems word their errors differently.
                .map_err(|_| std::io::Error::other("no such file"))
        };
        let diagnostics = Scenario::parse(&name, &text, &loader).expect_err(&name).diagnostics;
        let said: Vec<String> = diagnostics.iter().map(|d| format!("{d}\n")).collect();
        let said = without_registries(&said.join("\n"));
        let expected = file.with_extension("txt");
        if bless {
            std::fs::write(&expected, &said).unwrap();
        } else if std::fs::read_to_string(&expected).ok().as_deref() != Some(&said) {
            wrong.push(format!("{name} now says:\n{said}"));
        }
    }
    let remedy = "if that is meant, `RATEWIRE_BLESS=1 cargo test -p ratewire-scenario` writes it";
    assert!(wrong.is_empty(), "{}\n{remedy}", wrong.join("\n"));
}
