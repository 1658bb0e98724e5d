//! The project's own scenarios are examples: every key in them has an effect.

use std::path::{Path, PathBuf};

use ratewire_scenario::{Scenario, Severity};
use ratewire_sim::record::NoRecorder;
use ratewire_units::Duration;

use crate::common::shown;

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

fn shipped() -> Vec<PathBuf> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let mut found = Vec::new();
    ["papers", "scenarios"].iter().for_each(|folder| files(&root.join(folder), &mut found));
    assert!(found.len() > 100, "{} files", found.len());
    found
}

#[test]
fn our_own_scenarios_are_read_to_the_last_key() {
    let warned: Vec<String> = shipped()
        .iter()
        .filter_map(|path| {
            let scenario = Scenario::load(path).unwrap_or_else(|all| panic!("{all}"));
            (!scenario.warnings.is_empty()).then(|| shown(&scenario.warnings))
        })
        .collect();
    assert!(warned.is_empty(), "{}", warned.join("\n"));
}

#[test]
fn the_effective_text_of_a_scenario_gives_the_same_setup() {
    for path in shipped() {
        let scenario = Scenario::load(&path).unwrap_or_else(|all| panic!("{all}"));
        let folder = path.parent().unwrap();
        let read = |name: &str| std::fs::read_to_string(folder.join(name));
        let law = &scenario.laws()[0];
        let text = scenario.effective(law, 7);
        let again = Scenario::parse("effective.toml", &text, &read)
            .unwrap_or_else(|all| panic!("{}: {all}", path.display()));
        assert_eq!((again.laws(), again.seed), (vec![law.clone()], 7));
        assert_eq!(again.expectations.len(), scenario.expectations.len());
        let own = format!("{:?}", scenario.setup(Some(law), Some(7)).unwrap());
        assert!(own == format!("{:?}", again.setup(None, None).unwrap()), "{}", path.display());
    }
}

/// Scenarios that claim no chance run alike from every seed.
#[test]
fn the_seed_matters_to_none_of_our_scenarios_without_chance() {
    let mut claims = 0;
    for path in shipped() {
        let scenario = Scenario::load(&path).unwrap_or_else(|all| panic!("{all}"));
        let mut setup = scenario.setup(None, None).unwrap();
        if setup.has_chance() {
            continue;
        }
        claims += 1;
        setup.duration = setup.duration.min(Duration::from_secs(1));
        let outcomes = [1, 2].map(|seed| {
            setup.seed = seed;
            format!("{:?}", ratewire_sim::run(&setup, &mut NoRecorder).unwrap())
        });
        assert!(outcomes[0] == outcomes[1], "{}", path.display());
    }
    assert!(claims > 50, "{claims} scenarios");
}

#[test]
fn keys_and_first_timers_that_are_drawn_are_chance() {
    let has_chance = |name: &str| {
        let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").join(name);
        let scenario = Scenario::load(&path).unwrap_or_else(|all| panic!("{all}"));
        scenario.setup(None, None).unwrap().has_chance()
    };
    assert!(has_chance("scenarios/sharded-key-value.toml"));
    assert!(has_chance("papers/ns2-reference/three-joins-10mbit.toml"));
    assert!(!has_chance("papers/explicit-cc-evaluation/maxmin-own-upstream-2.toml"));
}

/// Everything else is read, and errors that only follow from the missing network are not reported.
#[test]
fn a_wrong_topology_is_one_error() {
    let keys = ["kind", "pairs", "hosts", "hops", "routers", "depth", "k", "file"];
    let key = |line: &str| line.split(' ').next().map(str::to_string);
    let mut broken = 0;
    for path in shipped() {
        let text = std::fs::read_to_string(&path).unwrap();
        let load = |name: &str| std::fs::read_to_string(path.with_file_name(name));
        let lines: Vec<&str> = text.lines().collect();
        let Some(heading) = lines.iter().position(|line| *line == "[topology]") else { continue };
        let table = lines[heading + 1..].iter().take_while(|line| !line.starts_with('['));
        for (at, given) in table.enumerate() {
            let Some(name) = keys.iter().find(|name| key(given).as_deref() == Some(**name)) else {
                continue;
            };
            let mut lines = lines.clone();
            let wrong = format!("{name} = true");
            lines[heading + 1 + at] = &wrong;
            let all = Scenario::parse("broken.toml", &lines.join("\n"), &load).unwrap_err();
            let errors = all.diagnostics.iter().filter(|d| d.severity == Severity::Error);
            assert_eq!(errors.count(), 1, "{}: {wrong}\n{all}", path.display());
            broken += 1;
        }
    }
    assert!(broken > 300, "{broken} tried");
}
