//! Where a run's files go: made aside, and put in place together when all are whole, so that a run that
//! is stopped or fails leaves an earlier one's as they were.

use std::fs::{self, File, TryLockError};
use std::io;
use std::path::{Path, PathBuf};

use ratewire_run::Failure;

use crate::job::cannot_write;

/// Holds what is not whole, in the folder that it is for: no query over all of that folder's runs finds it.
const UNFINISHED: &str = ".unfinished";

/// What is told of all runs together. A folder that has both was filled by a run.
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
        let refused = |e| cannot_write(folder, &e);
        fs::create_dir_all(folder).map_err(refused)?;
        let held = File::open(folder).map_err(refused)?;
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
        let aside = self.aside();
        for (name, text) in PAGES.iter().zip(pages) {
            let page = aside.join(name);
            fs::write(&page, text).map_err(|e| cannot_write(&page, &e))?;
        }
        self.remove_earlier()?;
        // The pages last: where they are, the runs are too.
        let pages = PAGES.map(|name| aside.join(name));
        for made in runs.iter().copied().chain(pages.iter().map(PathBuf::as_path)) {
            let place = at_last(made);
            fs::rename(made, &place).map_err(|e| cannot_write(&place, &e))?;
        }
        // What failed is kept for whoever asks why; nothing else is left in there.
        let _ = fs::remove_dir(&aside);
        Ok(())
    }

    /// Only what a run has made is touched, and its pages first: what is left of it if this is stopped
    /// is known by its samples.
    fn remove_earlier(&self) -> Result<(), Failure> {
        let entries = fs::read_dir(&self.folder).map_err(|e| cannot_write(&self.folder, &e))?;
        let mut old: Vec<PathBuf> = entries.flatten().map(|entry| entry.path()).collect();
        old.retain(|folder| is_a_run(folder));
        let told = PAGES.map(|name| self.folder.join(name));
        if !old.is_empty() || told.iter().all(|file| file.is_file()) {
            for file in told.iter().filter(|file| file.is_file()) {
                fs::remove_file(file).map_err(|e| cannot_write(file, &e))?;
            }
        }
        old.iter()
            .try_for_each(|folder| fs::remove_dir_all(folder).map_err(|e| cannot_write(folder, &e)))
    }
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

/// The folder a run's files are made in, within that of all.
pub(crate) fn made_in(folder: &Path, law: &str, seed: u64) -> PathBuf {
    // Variants may be called anything; folders may not.
    let plain = |c: char| if c.is_ascii_alphanumeric() || "._-".contains(c) { c } else { '_' };
    let name: String = law.chars().map(plain).collect();
    folder.join(UNFINISHED).join(format!("{}-seed-{seed}", name.trim_start_matches('.')))
}

/// Where what is made aside is found when all is done.
pub(crate) fn at_last(made: &Path) -> PathBuf {
    made.components().filter(|part| part.as_os_str() != UNFINISHED).collect()
}
