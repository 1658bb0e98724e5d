//! Where a run's files go: made aside, and put in place together at the end, so that a run that is stopped
//! or comes to nothing leaves an earlier one's as they were.

use std::fs::{self, File, TryLockError};
use std::io;
use std::path::{Path, PathBuf};

use ratewire_run::Failure;

use crate::job::cannot_write;

/// Holds what is not whole, in the folder that it is for: a query over `FOLDER/*/flows.parquet` does not find it.
const UNFINISHED: &str = ".unfinished";

/// Within that: what an earlier run had made, until it is removed.
const EARLIER: &str = "earlier";

/// What is told of all runs together.
const PAGES: [&str; 2] = ["report.html", "summary.json"];

/// A folder that is being filled, by nobody else meanwhile.
pub(crate) struct Output {
    folder: PathBuf,
    /// Locked as long as it is open, however this process ends.
    _held: File,
}

impl Output {
    /// Makes the folder, and room aside for the files of these runs.
    pub(crate) fn open(folder: &Path, runs: &[PathBuf]) -> Result<Output, Failure> {
        make_folder(folder)?;
        let held = File::open(folder).map_err(|e| cannot_write(folder, &e))?;
        match held.try_lock() {
            Err(TryLockError::WouldBlock) => {
                let busy =
                    "another run is writing there; wait for it, or choose another with --out";
                return Err(refused_for(folder, busy));
            }
            // A file system that knows no locks is written to all the same.
            Ok(()) | Err(TryLockError::Error(_)) => {}
        }
        if let Some(page) = PAGES.map(|page| folder.join(page)).iter().find(|page| page.is_dir()) {
            return Err(refused_for(page, "it is a folder; move it, or choose another with --out"));
        }
        let output = Output { folder: folder.to_path_buf(), _held: held };
        for run in runs.iter().map(|run| at_last(run)) {
            if run.symlink_metadata().is_ok() && !is_a_run(&run) {
                let why = "what is there is no earlier run's; move it, or choose another folder with --out";
                return Err(refused_for(&run, why));
            }
        }
        let aside = output.aside();
        match fs::remove_dir_all(&aside) {
            Err(e) if e.kind() != io::ErrorKind::NotFound => return Err(cannot_write(&aside, &e)),
            _ => {}
        }
        fs::create_dir(&aside).map_err(|e| cannot_write(&aside, &e))?;
        Ok(output)
    }

    fn aside(&self) -> PathBuf {
        self.folder.join(UNFINISHED)
    }

    /// Puts runs and what is told of them in the place of an earlier run's, of which nothing stays: queries
    /// over all of a folder's Parquet files would mix the two.
    pub(crate) fn put_in_place(&self, runs: &[&Path], pages: [String; 2]) -> Result<(), Failure> {
        let pages: Vec<PathBuf> = PAGES
            .iter()
            .zip(pages)
            .map(|(name, text)| {
                let page = self.aside().join(name);
                fs::write(&page, text).map(|()| page.clone()).map_err(|e| cannot_write(&page, &e))
            })
            .collect::<Result<_, _>>()?;
        let earlier = self.take_earlier_away()?;
        // The pages last: where they are, the runs are too.
        for made in runs.iter().copied().chain(pages.iter().map(PathBuf::as_path)) {
            rename(made, &at_last(made))?;
        }
        fs::remove_dir_all(&earlier).map_err(|e| cannot_write(&earlier, &e))?;
        // What failed is kept for whoever asks why.
        let _ = fs::remove_dir(self.aside());
        Ok(())
    }

    /// Where an earlier run's pages and samples are then, whole: nothing of them is removed before the new
    /// ones are in their place.
    fn take_earlier_away(&self) -> Result<PathBuf, Failure> {
        let earlier = self.aside().join(EARLIER);
        fs::create_dir(&earlier).map_err(|e| cannot_write(&earlier, &e))?;
        let entries = fs::read_dir(&self.folder).map_err(|e| cannot_write(&self.folder, &e))?;
        for old in entries.flatten().map(|entry| entry.path()) {
            let name = old.file_name().unwrap_or_default();
            if is_a_run(&old) || PAGES.iter().any(|page| name == *page) {
                rename(&old, &earlier.join(name))?;
            }
        }
        Ok(earlier)
    }
}

/// Makes a folder, and those above it.
pub(crate) fn make_folder(folder: &Path) -> Result<(), Failure> {
    if let Some(file) = folder.ancestors().find(|path| path.is_file()) {
        return Err(refused_for(file, "it is a file, not a folder; choose another with --out"));
    }
    fs::create_dir_all(folder).map_err(|e| cannot_write(folder, &e))
}

/// Writes files so that none is in place before all are whole: what cannot be written leaves earlier ones as they were.
pub(crate) fn write_whole(files: &[(PathBuf, &str)]) -> Result<(), Failure> {
    let mut aside = Vec::new();
    let written = files.iter().try_for_each(|(path, text)| {
        // A device or a pipe has no earlier one, and what a link leads to is written, not the link.
        let path = path.canonicalize().unwrap_or_else(|_| path.clone());
        if path.exists() && !path.is_file() {
            return fs::write(&path, text).map_err(|e| cannot_write(&path, &e));
        }
        let name = path.file_name().unwrap_or_default().to_string_lossy();
        let made = path.with_file_name(format!(".{name}.{}", std::process::id()));
        let written = fs::write(&made, text).map_err(|e| cannot_write(&path, &e));
        aside.push((made, path));
        written
    });
    let put = written.and_then(|()| aside.iter().try_for_each(|(made, path)| rename(made, path)));
    if put.is_err() {
        aside.iter().for_each(|(made, _)| drop(fs::remove_file(made)));
    }
    put
}

fn rename(from: &Path, to: &Path) -> Result<(), Failure> {
    fs::rename(from, to).map_err(|e| cannot_write(to, &e))
}

fn refused_for(path: &Path, why: &str) -> Failure {
    Failure::File { path: path.to_path_buf(), reason: why.to_string() }
}

/// Whether a path is the folder of a run of some law from some seed.
fn is_a_run(folder: &Path) -> bool {
    let name = folder.file_name().unwrap_or_default().to_string_lossy();
    let numbered = name.rsplit_once("-seed-").is_some_and(|(_, n)| n.parse::<u64>().is_ok());
    numbered && folder.join("links.parquet").is_file()
}

/// The folder a run's files are made in, within that of all; none of `others`.
pub(crate) fn made_in<'a>(
    folder: &Path,
    law: &str,
    seed: u64,
    others: impl Iterator<Item = &'a Path> + Clone,
) -> PathBuf {
    // Variants may be called anything; folders may not.
    let plain = |c: char| if c.is_ascii_alphanumeric() || "._-".contains(c) { c } else { '_' };
    let name: String = law.chars().map(plain).collect();
    let name = name.trim_start_matches('.');
    let number = |n: u32| if n == 1 { String::new() } else { format!("_{n}") };
    let path = |n| folder.join(UNFINISHED).join(format!("{name}{}-seed-{seed}", number(n)));
    let is_free = |path: &PathBuf| !others.clone().any(|other| other == path);
    (1..).map(path).find(is_free).expect("a number that is free")
}

/// Where what is made aside is found when all is done.
pub(crate) fn at_last(made: &Path) -> PathBuf {
    let aside =
        made.ancestors().find(|part| part.file_name().is_some_and(|name| name == UNFINISHED));
    let place = |aside: &Path| Some(aside.parent()?.join(made.strip_prefix(aside).ok()?));
    aside.and_then(place).unwrap_or_else(|| made.to_path_buf())
}
