//! Replacements that fail, or are killed, at each of their steps.

use std::collections::BTreeMap;

use tempfile::TempDir;

use super::*;

/// A disk that does so many steps, and no more.
struct Failing {
    steps: usize,
    /// Whether it does those after the failed one.
    recovers: bool,
    can_exchange: bool,
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
    fn exchange(&mut self, one: &Path, other: &Path) -> io::Result<bool> {
        if !self.can_exchange {
            return Ok(false);
        }
        self.step()?;
        System.exchange(one, other)
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

/// Every file below a folder, with what is in it.
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

const OLD: [(&str, &str); 8] = [
    ("report.html", "old"),
    ("notes.txt", "mine"),
    ("xcp-seed-1/links.parquet", "old"),
    ("xcp-seed-1/plot.png", "mine"),
    ("xcp-seed-1/programs/1-s1.txt", "old"),
    ("xcp-seed-1/programs/mine.txt", "mine"),
    ("rcp-seed-1/links.parquet", "old"),
    ("rcp-seed-1/mine/plot.png", "mine"),
];
const NEW: [(&str, &str); 5] = [
    (".unfinished/report.html", "new"),
    (".unfinished/summary.json", "new"),
    (".unfinished/xcp-seed-1/links.parquet", "new"),
    (".unfinished/xcp-seed-1/flows.parquet", "new"),
    (".unfinished/abc-seed-1/links.parquet", "new"),
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
    write(folder.path(), &NEW);
    folder
}

/// What is there at the end: the new results, and what was never ours.
fn after() -> BTreeMap<String, String> {
    let own = NEW.map(|(path, text)| (path.replacen(".unfinished/", "", 1), text.to_string()));
    let others = OLD.into_iter().filter(|(_, text)| *text == "mine");
    own.into_iter().chain(others.map(|(path, text)| (path.into(), text.into()))).collect()
}

fn old() -> BTreeMap<String, String> {
    OLD.map(|(path, text)| (path.to_string(), text.to_string())).into_iter().collect()
}

/// What is in place, without what is aside.
fn in_place(folder: &Path) -> BTreeMap<String, String> {
    let mut all = files(folder);
    all.retain(|path, _| !path.starts_with(".unfinished"));
    all
}

#[test]
fn a_replacement_that_is_killed_is_carried_out_by_the_next() {
    for can_exchange in [true, false] {
        let mut steps = 0;
        loop {
            let folder = before();
            let disk = Failing { steps, recovers: false, can_exchange };
            let (aside, done) = begun(folder.path(), disk);
            let is_whole = done.is_ok();
            let resumed = Replacement::resume(folder.path(), &aside, System).expect("a journal");
            match resumed {
                Some(left) => left.carry_out().expect("it is carried out"),
                // The journal is written by the first step, and removed by the last but one.
                None => assert!(steps == 0 || files(&aside).is_empty(), "{steps}"),
            }
            let wanted = if steps == 0 { old() } else { after() };
            assert_eq!(in_place(folder.path()), wanted, "killed at step {steps}");
            if is_whole {
                break;
            }
            steps += 1;
        }
        assert!(steps > 15, "each step is one to be killed at");
    }
}

#[test]
fn a_step_that_fails_takes_back_those_before_it() {
    for can_exchange in [true, false] {
        let mut steps = 0;
        loop {
            let folder = before();
            let disk = Failing { steps, recovers: true, can_exchange };
            let (aside, done) = begun(folder.path(), disk);
            if done.is_ok() {
                break;
            }
            let found = in_place(folder.path());
            if found == old() {
                let made = files(&aside);
                let is_kept = NEW.iter().all(|(path, text)| {
                    made.get(path.trim_start_matches(".unfinished/")).is_some_and(|s| s == text)
                });
                assert!(is_kept, "the new results are whole after step {steps}: {made:?}");
            } else {
                // Only what removes the earlier results has failed: the new ones are in place.
                let is_placed = |(path, text): (&String, &String)| found.get(path) == Some(text);
                let own = after().into_iter().filter(|(_, text)| text == "new");
                assert!(own.into_iter().all(|(path, text)| is_placed((&path, &text))), "{found:?}");
                if let Some(left) = Replacement::resume(folder.path(), &aside, System).expect("one")
                {
                    left.carry_out().expect("it is carried out");
                }
                assert_eq!(in_place(folder.path()), after(), "failed at step {steps}");
            }
            steps += 1;
        }
        assert!(steps > 15, "each step is one to fail at");
    }
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
