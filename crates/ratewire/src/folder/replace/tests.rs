//! Replacements that fail, or are killed, at each of their steps.

use std::collections::BTreeMap;

use tempfile::TempDir;

use super::*;

/// A disk that fails after a number of steps.
struct Failing {
    steps: usize,
    /// Whether the steps after the failed one succeed.
    recovers: bool,
}

impl Failing {
    fn step(&mut self) -> io::Result<()> {
        let is_failed = self.steps == 0;
        if is_failed && self.recovers {
            self.steps = usize::MAX;
        } else if !is_failed {
            self.steps -= 1;
        }
        if is_failed { Err(io::Error::other("the disk fails")) } else { Ok(()) }
    }
}

impl Disk for Failing {
    fn rename(&mut self, from: &Path, to: &Path) -> io::Result<()> {
        self.step()?;
        System.rename(from, to)
    }
    fn remove_file(&mut self, path: &Path) -> io::Result<()> {
        self.step()?;
        System.remove_file(path)
    }
    fn remove_dir(&mut self, path: &Path) -> io::Result<()> {
        self.step()?;
        System.remove_dir(path)
    }
}

fn write(root: &Path, files: &[(&str, &str)]) {
    for (path, text) in files {
        let path = root.join(path);
        fs::create_dir_all(path.parent().expect("a folder")).expect("a folder");
        fs::write(path, text).expect("a file");
    }
}

/// Every file below a folder, with its content.
fn files(root: &Path) -> BTreeMap<String, String> {
    let mut found = BTreeMap::new();
    let mut folders = vec![root.to_path_buf()];
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(folder).expect("a folder").flatten() {
            let path = entry.path();
            if path.is_dir() {
                folders.push(path);
            } else {
                let name = path.strip_prefix(root).expect("below").display().to_string();
                found.insert(name, fs::read_to_string(path).expect("a file"));
            }
        }
    }
    found
}

const OLD_PAGE: &str = "{\n  \"generator\": \"ratewire 0\"";
const OLD: [(&str, &str); 8] = [
    ("report.html", OLD_PAGE),
    ("notes.txt", "mine"),
    ("xcp-seed-1/links.parquet", "PAR1 old"),
    ("xcp-seed-1/plot.png", "mine"),
    ("xcp-seed-1/programs/1-s1.txt", "old"),
    ("xcp-seed-1/programs/mine.txt", "mine"),
    ("rcp-seed-1/links.parquet", "PAR1 old"),
    ("rcp-seed-1/mine/plot.png", "mine"),
];
const MADE: [(&str, &str); 5] = [
    (".unfinished/report.html", "new"),
    (".unfinished/summary.json", "new"),
    (".unfinished/xcp-seed-1/links.parquet", "PAR1 new"),
    (".unfinished/xcp-seed-1/flows.parquet", "PAR1 new"),
    (".unfinished/abc-seed-1/links.parquet", "PAR1 new"),
];

fn begun<D: Disk>(folder: &Path, disk: D) -> (PathBuf, Result<()>) {
    let aside = folder.join(".unfinished");
    let new = ["xcp-seed-1", "abc-seed-1", "report.html", "summary.json"];
    let gone = vec!["rcp-seed-1".to_string()];
    let done =
        Replacement::begin(folder, &aside, &new, gone, disk).and_then(Replacement::carry_out);
    (aside, done)
}

fn before() -> TempDir {
    let folder = tempfile::tempdir().expect("a folder");
    write(folder.path(), &OLD);
    write(folder.path(), &MADE);
    folder
}

/// The final files: the new results, and the files of others.
fn after() -> BTreeMap<String, String> {
    let own = MADE.map(|(path, text)| (path.replacen(".unfinished/", "", 1), text.to_string()));
    let others = OLD.into_iter().filter(|(_, text)| *text == "mine");
    own.into_iter().chain(others.map(|(path, text)| (path.into(), text.into()))).collect()
}

/// The files before the replacement.
fn old() -> BTreeMap<String, String> {
    OLD.map(|(path, text)| (path.to_string(), text.to_string())).into_iter().collect()
}

/// The files in place, without those in the folder of incomplete results.
fn in_place(folder: &Path) -> BTreeMap<String, String> {
    let mut all = files(folder);
    all.retain(|path, _| !path.starts_with(".unfinished"));
    all
}

/// Steps before the one that puts the journal in place: the moves of the new entries.
const BEFORE: usize = 4;

#[test]
fn a_replacement_that_is_killed_is_carried_out_by_the_next() {
    let mut steps = 0;
    loop {
        let folder = before();
        let (aside, done) = begun(folder.path(), Failing { steps, recovers: false });
        // The next process may find a copy of the folder elsewhere.
        let copy = tempfile::tempdir().expect("a folder");
        let copied = std::process::Command::new("cp")
            .arg("-a")
            .arg(format!("{}/.", folder.path().display()))
            .arg(copy.path())
            .status();
        assert!(copied.expect("cp").success());
        for folder in [folder.path(), copy.path()] {
            let aside = folder.join(".unfinished");
            match Replacement::resume(folder, &aside, System).expect("a journal") {
                Some(left) => left.carry_out().expect("it is carried out"),
                None => assert!(steps <= BEFORE || done.is_ok(), "{steps}"),
            }
            let wanted = if steps <= BEFORE { old() } else { after() };
            assert_eq!(in_place(folder), wanted, "killed at step {steps}");
        }
        if done.is_ok() {
            assert!(files(&aside).is_empty());
            break;
        }
        steps += 1;
    }
    assert!(steps > 15, "each step is one to be killed at");
}

#[test]
fn a_step_that_fails_takes_back_those_before_it() {
    let mut steps = 0;
    loop {
        let folder = before();
        let (aside, done) = begun(folder.path(), Failing { steps, recovers: true });
        if done.is_ok() {
            break;
        }
        let found = in_place(folder.path());
        if found == old() {
            let made = files(&aside);
            for (path, text) in MADE {
                let name = path.trim_start_matches(".unfinished/");
                let is_kept = [name, &format!("new/{name}")]
                    .iter()
                    .any(|name| made.get(*name).is_some_and(|kept| kept == text));
                assert!(is_kept, "{name} is whole after step {steps}: {made:?}");
            }
            assert!(!aside.join(JOURNAL).exists());
        } else {
            // Only the removal of earlier results has failed: the new ones are in place.
            for (path, text) in after().into_iter().filter(|(_, text)| text == "new") {
                assert_eq!(found.get(&path), Some(&text), "failed at step {steps}");
            }
            let left = Replacement::resume(folder.path(), &aside, System).expect("a journal");
            left.expect("it was not removed").carry_out().expect("it is carried out");
            assert_eq!(in_place(folder.path()), after(), "failed at step {steps}");
        }
        steps += 1;
    }
    assert!(steps > 15, "each step is one to fail at");
}

/// Somebody has put files there since the process was killed.
#[test]
fn what_has_come_to_be_in_the_way_is_not_replaced() {
    for (path, text) in [("report.html", "mine"), ("abc-seed-1", "mine")] {
        let folder = before();
        let (aside, _) = begun(folder.path(), Failing { steps: BEFORE + 1, recovers: false });
        assert!(aside.join(JOURNAL).exists());
        let _ = fs::remove_file(folder.path().join(path));
        write(folder.path(), &[(path, text)]);
        let failed = Replacement::resume(folder.path(), &aside, System).err().expect("refused");
        assert_eq!(failed.0, folder.path().join(path));
        assert_eq!(fs::read_to_string(&failed.0).expect("a file"), text);
        fs::remove_file(&failed.0).expect("it is moved");
        let left = Replacement::resume(folder.path(), &aside, System).expect("a journal");
        left.expect("it is still there").carry_out().expect("it is carried out");
        assert_eq!(in_place(folder.path()), after());
    }
}

/// Files of others with names of Ratewire's, in Ratewire's folders.
#[test]
fn what_others_call_as_we_do_is_kept_under_a_number() {
    let folder = before();
    write(folder.path(), &[("xcp-seed-1/flows.parquet/mine", "mine")]);
    write(folder.path(), &[("rcp-seed-1/flows.parquet", "mine")]);
    std::os::unix::fs::symlink("elsewhere", folder.path().join("rcp-seed-1/programs"))
        .expect("a link");
    begun(folder.path(), System).1.expect("it is carried out");
    let kept = folder.path().join("xcp-seed-1/flows.parquet.2/mine");
    assert_eq!(fs::read_to_string(kept).expect("the file"), "mine");
    assert!(folder.path().join("rcp-seed-1/programs").is_symlink());
    let kept = folder.path().join("rcp-seed-1/flows.parquet");
    assert_eq!(fs::read_to_string(kept).expect("the file"), "mine");
}

#[test]
fn a_journal_that_leads_out_of_the_folder_is_refused() {
    let folder = tempfile::tempdir().expect("a folder");
    let out = folder.path().join("o");
    let aside = out.join(".unfinished");
    write(folder.path(), &[("victim/links.parquet", "mine")]);
    for text in ["{}", "nonsense", r#"{"new":[],"gone":["../victim"]}"#] {
        write(&aside, &[(JOURNAL, text)]);
        let resumed = Replacement::resume(&out, &aside, System);
        assert!(resumed.is_err(), "{text}");
    }
}

#[test]
fn a_link_in_the_place_of_a_run_goes_and_what_it_leads_to_stays() {
    let folder = before();
    let elsewhere = tempfile::tempdir().expect("a folder");
    let own = folder.path().join("xcp-seed-1");
    fs::rename(&own, elsewhere.path().join("moved")).expect("it moves");
    std::os::unix::fs::symlink(elsewhere.path().join("moved"), &own).expect("a link");
    begun(folder.path(), System).1.expect("it is carried out");
    assert!(!own.is_symlink() && own.join("flows.parquet").is_file());
    assert!(elsewhere.path().join("moved/links.parquet").is_file());
}
