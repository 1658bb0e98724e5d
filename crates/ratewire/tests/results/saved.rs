//! Results that are written after their runs, and read again.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use crate::batches;
use ratewire::{Error, Experiment, SavedResults};

const TEXT: &str = r#"
duration = "1 s"
law      = ["xcp", "cubic"]

[topology]
kind       = "dumbbell"
bottleneck = { rate = "10 Mbit/s", delay = "10 ms" }

[[flow]]
from = "s1"
to   = "d1"

[[flow]]
from = "s1"
to   = "d1"
size = "20 KB"
"#;

fn experiment() -> Experiment {
    Experiment::parse("hello.toml", TEXT).expect("a scenario").seeds([1, 2])
}

/// All files below a folder, by their paths in it.
fn files(folder: &Path) -> BTreeMap<String, Vec<u8>> {
    let mut all = BTreeMap::new();
    for path in fs::read_dir(folder).expect("a folder").map(|entry| entry.expect("one").path()) {
        let name = path.file_name().expect("a name").to_string_lossy().into_owned();
        if path.is_dir() {
            let inner = files(&path).into_iter();
            all.extend(inner.map(|(inner, bytes)| (format!("{name}/{inner}"), bytes)));
        } else {
            all.insert(name, fs::read(&path).expect("a file"));
        }
    }
    all
}

#[test]
fn results_saved_after_the_runs_are_those_that_the_runs_write() {
    let folder = tempfile::tempdir().expect("a folder");
    let [written, saved, again] =
        ["written", "saved", "again"].map(|name| folder.path().join(name));
    experiment().folder(&written).run().expect("results");
    let results = experiment().run().expect("results");
    results.save(&saved).expect("a folder");
    let expected = files(&written);
    assert_eq!(expected.len(), 2 + 4 * 5, "{:?}", expected.keys());
    assert_eq!(files(&saved), expected);
    // Earlier results of other laws leave the folder.
    let other = experiment().laws(["newreno"]).run().expect("results");
    other.save(&saved).expect("a folder");
    assert!(!files(&saved).keys().any(|name| name.starts_with("xcp")));

    let loaded = SavedResults::load(&written).expect("results");
    assert_eq!(loaded.json(), results.json());
    assert_eq!(batches(&loaded.links()), batches(&results.links()));
    assert_eq!(loaded.figures().list(), results.figures().list());
    let bytes = loaded.files().expect("files").into_iter().map(|(name, b)| (name, b.to_vec()));
    SavedResults::of_files(bytes).expect("results").save(&again).expect("a folder");
    assert_eq!(files(&again), expected);
}

#[test]
fn results_without_samples_are_not_saved() {
    let folder = tempfile::tempdir().expect("a folder");
    let results = experiment().without_samples().run().expect("results");
    let wrong = results.save(folder.path().join("out")).expect_err("no samples");
    assert!(wrong.to_string().contains("kept no samples"), "{wrong}");
    assert!(!folder.path().join("out").exists());
}

#[test]
fn what_is_no_folder_of_results_is_refused() {
    let folder = tempfile::tempdir().expect("a folder");
    let refusal = |path: &Path| SavedResults::load(path).expect_err("no results").to_string();
    assert!(refusal(folder.path()).contains("cannot read"), "{}", refusal(folder.path()));
    experiment().folder(folder.path()).run().expect("results");
    fs::remove_dir_all(folder.path().join("cubic-seed-2")).expect("a run");
    let why = "there is no folder of the run of cubic, seed 2";
    assert!(refusal(folder.path()).contains(why), "{}", refusal(folder.path()));
    fs::write(folder.path().join("summary.json"), "{}").expect("a file");
    let wrong = SavedResults::load(folder.path()).expect_err("no results");
    assert!(matches!(wrong, Error::Read { .. }), "{wrong}");
}
