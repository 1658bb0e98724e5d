//! What results say of the experiment that made them, and the folders that keep experiments apart.

mod common;

use std::path::Path;

use common::{HELLO, err, folder, out, ratewire, write};
use serde_json::{Value, json};

fn read(folder: &Path, path: &str) -> String {
    std::fs::read_to_string(folder.join(path)).unwrap_or_else(|e| panic!("{path}: {e}"))
}

fn json_of(folder: &Path, path: &str) -> Value {
    serde_json::from_str(&read(folder, path)).expect("JSON")
}

fn done(folder: &Path, args: &[&str]) -> (String, String) {
    let done = ratewire(folder, args);
    assert_eq!(done.status.code(), Some(0), "{args:?}: {}", err(&done));
    (out(&done), err(&done))
}

#[test]
fn each_run_says_what_made_it() {
    let folder = folder("made-by");
    let traced = HELLO.replace("rate = \"10 Mbit/s\"", "trace = \"trace\"");
    write(&folder, "hello.toml", &format!("name = \"Hello\"\n{traced}"));
    write(&folder, "trace", "1\n2\n");
    let args = ["run", "hello.toml", "--seed", "3", "--set", "bottleneck.delay=11ms", "--out", "o"];
    done(&folder, &args);
    let run = json_of(&folder, "o/xcp-seed-3/run.json");
    assert_eq!(run["set"], json!([{ "key": "bottleneck.delay", "value": "11ms" }]));
    assert_eq!(
        (&run["law"], &run["seed"], &run["world"]),
        (&json!("xcp"), &json!(3), &json!("simulate"))
    );
    assert_eq!(run["generator"], concat!("ratewire ", env!("CARGO_PKG_VERSION")));
    assert_eq!(run["file"], "hello.toml");
    let command: Vec<&str> =
        run["command"].as_array().expect("words").iter().filter_map(Value::as_str).collect();
    assert!(command[0].ends_with("ratewire") && command[1..] == args, "{command:?}");
    assert_eq!(run["files"][0]["name"], "trace");
    let digest = run["files"][0]["sha256"].as_str().expect("a digest");
    assert_eq!(digest, "a6e2b7a040683432de03a18fd8a1939a2fdf82585b364bfc874bdd4095c4cae1");

    // The scenario in the run's folder makes the same run from the scenario's folder.
    let effective = read(&folder, "o/xcp-seed-3/scenario.toml");
    assert!(effective.contains("\n# Set: bottleneck.delay=11ms\n"), "{effective}");
    write(&folder, "again.toml", &effective);
    done(&folder, &["run", "again.toml", "--out", "again"]);
    assert_eq!(json_of(&folder, "again/xcp-seed-3/run.json")["digest"], run["digest"]);
    let figures = |path| json_of(&folder, path)["runs"].clone();
    assert_eq!(figures("again/summary.json"), figures("o/summary.json"));

    let summary = json_of(&folder, "o/summary.json");
    assert_eq!(summary["experiment"]["set"], run["set"]);
    assert_eq!(summary["experiment"]["files"], run["files"]);
    let fact = "<dt>Set</dt><dd>bottleneck.delay=11ms</dd>";
    assert!(read(&folder, "o/report.html").contains(fact));
    assert!(!read(&folder, "again/report.html").contains("<dt>Set</dt>"));
}

#[test]
fn different_experiments_have_different_folders_and_latest_leads_to_the_last() {
    let folder = folder("apart");
    write(&folder, "hello.toml", HELLO);
    let folders = || {
        let entries = std::fs::read_dir(folder.join("out")).expect("a folder").flatten();
        let mut names: Vec<String> =
            entries.filter_map(|entry| entry.file_name().into_string().ok()).collect();
        names.sort();
        names
    };
    let latest = || std::fs::read_link(folder.join("out/latest")).expect("a link");
    let digest = |of: &Path| {
        let summary = json_of(&folder, &format!("out/{}/summary.json", of.display()));
        summary["experiment"]["digest"].as_str().expect("a digest").to_string()
    };
    let run = |more: &[&str]| done(&folder, &[&["run", "hello.toml"], more].concat()).0;
    assert!(run(&[]).contains("Report: out/hello/report.html"));
    assert_eq!((folders(), latest()), (vec!["hello".to_string(), "latest".into()], "hello".into()));
    let own = digest(Path::new("hello"));

    let changed = run(&["--set", "bottleneck.rate=5M"]);
    let beside = latest();
    assert!(
        changed.contains(&format!("Report: out/{}/report.html", beside.display())),
        "{changed}"
    );
    let name = format!("hello-{}", &digest(&beside)[..8]);
    assert_eq!((beside.to_str(), folders().len()), (Some(&name[..]), 3));
    for more in [&["--law", "cubic"][..], &["--seed", "2"]] {
        run(more);
        assert_ne!(latest(), beside);
    }
    assert_eq!(folders().len(), 5);
    // An experiment that is repeated gets its folder again, and what it captures is no other.
    run(&["--set", "topology.bottleneck.rate=5 Mbit/s", "--capture", "bottleneck"]);
    assert_eq!((latest(), folders().len()), (beside, 5));
    assert_eq!(digest(Path::new("hello")), own, "the first results are as they were");

    let compare = |laws| done(&folder, &["compare", "hello.toml", "--law", laws]);
    compare("xcp,cubic");
    assert_eq!(latest(), Path::new("hello"), "no other comparison is there");
    compare("xcp,newreno");
    assert!(latest().to_str().is_some_and(|name| name.starts_with("hello-")), "{:?}", latest());
    assert_eq!(folders().len(), 6);
}

#[test]
fn results_of_another_experiment_are_not_replaced_without_a_word() {
    let folder = folder("replaced");
    write(&folder, "hello.toml", HELLO);
    let run = |more: &[&str]| {
        done(&folder, &[&["run", "hello.toml", "--out", "o", "--quiet"], more].concat()).1
    };
    assert_eq!([run(&[]), run(&[])], ["", ""]);
    let said = run(&["--law", "cubic"]);
    assert!(said.starts_with("warning: o has results of another experiment"), "{said}");
    assert!(said.contains("help: --out with another folder"), "{said}");
    assert!(!folder.join("out").exists(), "a link beside a given folder would be in the way");
}
