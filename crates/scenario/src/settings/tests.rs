//! Every value of every scenario of the workspace can be set to itself.

use std::path::{Path, PathBuf};

use super::*;

fn scenarios(folder: &Path, found: &mut Vec<PathBuf>) {
    for entry in folder.read_dir().expect("a folder").flatten() {
        let path = entry.path();
        if path.is_dir() {
            scenarios(&path, found);
        } else if path.extension().is_some_and(|end| end == "toml") {
            found.push(path);
        }
    }
}

#[test]
fn a_value_set_to_itself_changes_nothing() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let mut files = vec![root.join("tests/scenarios/everything.toml")];
    scenarios(&root.join("../../scenarios"), &mut files);
    files.sort();
    let mut values = 0;
    for file in files {
        let Ok(scenario) = Scenario::load(&file) else { continue };
        let laws = scenario.laws();
        let effective = scenario.effective(&laws[0], scenario.seed);
        let all = scenario.settings(&laws, usize::MAX);
        // One document with every value set at once: as many checks, and one reading.
        let set: Vec<(String, String)> =
            all.given.iter().map(|one| (one.path.clone(), one.value.clone())).collect();
        values += set.len();
        let again = scenario.with_overrides(&set).unwrap_or_else(|wrong| {
            panic!("{}: {wrong}", file.display());
        });
        assert_eq!(again.effective(&laws[0], again.seed), effective, "{}", file.display());
        // The values, and no keys that were made on the way, are found again.
        assert_eq!(again.settings(&laws, usize::MAX).given, all.given, "{}", file.display());
    }
    assert!(values > 500, "{values}");
}

fn dumbbell(rest: &str) -> Scenario {
    let text = format!(
        "duration = \"2 s\"\nlaw = [\"xcp\", \"cubic\"]\n{rest}\n[topology]\nkind = \"dumbbell\"\n\
         bottleneck = {{ rate = \"10 Mbit/s\", delay = \"10 ms\", discipline = {{ codel = {{ ecn = true }} }} }}\n\
         [[flow]]\nfrom = \"s1\"\nto = \"d1\"\nname = \"2\"\n\
         [[flow]]\nfrom = \"s1\"\nto = \"d1\"\n"
    );
    let no_files = |_: &str| Err(std::io::ErrorKind::NotFound.into());
    Scenario::parse("one.toml", &text, &no_files).expect("a scenario")
}

#[test]
fn paths_are_those_of_set() {
    let scenario = dumbbell("[options.xcp]\nalpha = 0.3");
    let all = scenario.settings(&scenario.laws(), usize::MAX);
    let value = |path: &str| {
        let found = all.given.iter().find(|one| one.path == path);
        found.unwrap_or_else(|| panic!("{path}: {all:?}")).value.clone()
    };
    assert_eq!(value("duration"), "2 s");
    assert_eq!(value("bottleneck.rate"), "10 Mbit/s");
    assert_eq!(value("bottleneck.discipline.codel.ecn"), "true");
    assert_eq!(value("options.xcp.alpha"), "0.3");
    assert_eq!(value("flow.1.name"), "2");
    // `flow.2` would be the first flow, by its name, or the second.
    assert_eq!(value("flow.02.to"), "d1");
    assert_eq!(value("law"), "[\"xcp\", \"cubic\"]");
    let open = |path: &str| all.open.iter().find(|one| one.path == path);
    assert_eq!(open("transport.packet").map(|one| one.kind), Some(KeyKind::Bytes));
    assert_eq!(open("link.*.rate").map(|one| one.value.as_str()), Some("1 Gbit/s"));
    assert_eq!(open("options.xcp.beta").map(|one| one.value.as_str()), Some("0.226"));
    assert!(open("bottleneck.queue").is_some() && open("flow.1.start").is_some());
    assert!(open("bottleneck.rate").is_none() && open("hops").is_none());
    assert!(open("bottleneck.reverse.rate").is_none(), "no end otherwise");
}

#[test]
fn options_of_a_flow_have_the_ranges_of_its_law() {
    let flow = "[[flow]]\nfrom = \"s1\"\nto = \"d1\"\noptions = { alpha = 0.3 }";
    let scenario = dumbbell(flow);
    let all = scenario.settings(&scenario.laws(), usize::MAX).given;
    let alpha = all.iter().find(|one| one.path == "flow.1.options.alpha").expect("the option");
    assert!(matches!(alpha.kind, KeyKind::Number(min, max) if min >= 0.0 && max.is_finite()));
}

#[test]
fn random_bursts_and_phases_have_fields() {
    let app = |app: &str| {
        let scenario =
            dumbbell(&format!("[[flow]]\nfrom = \"s1\"\nto = \"d1\"\nname = \"x\"\napp = {app}\n"));
        let all = scenario.settings(&scenario.laws(), usize::MAX);
        let of = |list: &[Setting]| -> Vec<String> {
            let mine = list.iter().filter(|one| one.path.starts_with("flow.1.app."));
            mine.map(|one| format!("{}={}", &one.path[11..], one.value)).collect()
        };
        (scenario, of(&all.given), of(&all.open))
    };
    let on_off = "{ on_off = { burst = { exponential = \"500 KB\" }, \
                  pause = { pareto = { shape = 1.5, mean = \"1 s\" } } } }";
    let (_, given, open) = app(on_off);
    let wanted = [
        "on_off.burst.exponential=500 KB",
        "on_off.pause.pareto.shape=1.5",
        "on_off.pause.pareto.mean=1 s",
    ];
    assert_eq!(given, wanted);
    assert!(open.iter().all(|one| !one.contains("turn_bad")), "not a loss: {open:?}");
    let (scenario, given, _) =
        app("{ phases = [{ app = \"silent\", lasts = \"1 s\" }, { size = \"1 MB\" }] }");
    assert_eq!(given, ["phases.1.app=silent", "phases.1.lasts=1 s", "phases.2.size=1 MB"]);
    let policed = dumbbell(
        "[[link]]\nname = \"bottleneck\"\npolicer = { rate = \"1 Mbit/s\", burst = \"64 KB\" }\n",
    );
    let all = policed.settings(&policed.laws(), usize::MAX);
    let burst = all.given.iter().find(|one| one.path.ends_with("policer.burst")).expect("a field");
    assert!(!burst.doc.is_empty(), "{burst:?}");
    let set = [("flow.1.app.phases.1.lasts".to_string(), "2 s".to_string())];
    let set = scenario.with_overrides(&set).expect("a scenario");
    let all = set.settings(&set.laws(), usize::MAX).given;
    assert!(all.iter().any(|one| one.path == "flow.1.app.phases.1.lasts" && one.value == "2 s"));
}

#[test]
fn links_that_a_path_made_keep_their_name() {
    let set = [("link.*.delay".to_string(), "3 ms".to_string())];
    let scenario = dumbbell("").with_overrides(&set).expect("a scenario");
    let all = scenario.settings(&scenario.laws(), usize::MAX);
    assert!(all.given.iter().any(|one| (&*one.path, &*one.value) == ("link.*.delay", "3 ms")));
}

#[test]
fn a_path_that_set_cannot_write_is_left_out() {
    assert!(is_settable("link.\"a.b\".rate") && is_settable("flow.*.start"));
    for path in ["variant.a\"b.x", "link.a=b.rate", " duration", "variant.\"\".law"] {
        assert!(!is_settable(path), "{path}");
    }
}

#[test]
fn of_a_long_list_the_first_entries_and_those_with_set_values_are_found() {
    let flow = "[[flow]]\nfrom = \"s1\"\nto = \"d1\"\n";
    let text = format!(
        "duration = \"2 s\"\nlaw = \"xcp\"\n[topology]\nkind = \"dumbbell\"\n\
         bottleneck = {{ rate = \"10 Mbit/s\", delay = \"10 ms\" }}\n{}{flow}name = \"last\"\n",
        flow.repeat(5_000)
    );
    let no_files = |_: &str| Err(std::io::ErrorKind::NotFound.into());
    let set = |paths: &[&str]| {
        let values: Vec<_> = paths.iter().map(|path| (path.to_string(), "1 s".into())).collect();
        let scenario = Scenario::parse("one.toml", &text, &no_files).expect("a scenario");
        scenario.with_values(&values).expect("a scenario").settings(&scenario.laws(), 10)
    };
    let of_flows = |found: &Settings, path: &str| found.given.iter().any(|one| one.path == path);
    let all = set(&["flow.*.start"]);
    assert_eq!(all.left_out, 4_991, "a value of all entries names none");
    assert!(of_flows(&all, "flow.10.from") && !of_flows(&all, "flow.11.from"));
    assert!(all.open.len() < 1_000, "{}", all.open.len());
    let some = set(&["flow.4000.start", "flow.last.start"]);
    assert_eq!(some.left_out, 4_989);
    assert!(of_flows(&some, "flow.4000.start") && of_flows(&some, "flow.5001.start"));
}
