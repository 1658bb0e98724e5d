//! Writes results into a folder in one step: they are made aside and put in place together at the
//! end. A run that is stopped or fails leaves earlier results unchanged.

mod choose;
pub(crate) mod ours;
pub(crate) mod pages;
mod replace;

use std::fs::{self, File, TryLockError};
use std::io;
use std::path::{Path, PathBuf};

use crate::Error;
pub use choose::{LATEST, holds_another, own_folder, point_latest};
use ours::JOURNAL;
pub(crate) use pages::write_whole;
pub use pages::{check_page, write_page};
use pages::{check_replaceable, make_folder};
use replace::{NEW, Replacement, System};

/// Subfolder for incomplete results, which a query over `FOLDER/*/flows.parquet` does not find.
const UNFINISHED: &str = ".unfinished";

/// Pages that `ratewire run` writes for all runs together.
pub const REPORT: [&str; 2] = ["report.html", "summary.json"];
/// Pages that `ratewire compare` writes.
pub const COMPARISON: [&str; 2] = ["comparison.html", "comparison.json"];

/// Pages that `ratewire sweep` writes.
pub const SWEEP: [&str; 2] = ["sweep.html", "sweep.json"];

/// A results folder, locked while it is being filled.
#[derive(Debug)]
pub struct OutputFolder {
    folder: PathBuf,
    pages: [&'static str; 2],
    /// Holds the folder's lock, which the system releases when this process ends.
    _held: File,
}

impl OutputFolder {
    /// Makes the folder and its subfolder for incomplete results, with these pages and runs.
    ///
    /// First completes a replacement that an earlier process left incomplete.
    pub fn open(
        folder: &Path,
        pages: [&'static str; 2],
        runs: &[PathBuf],
    ) -> Result<OutputFolder, Error> {
        make_folder(folder)?;
        let held = File::open(folder).map_err(|e| Error::write(folder, e))?;
        match held.try_lock() {
            Err(TryLockError::WouldBlock) => {
                let busy = "another run is writing there; wait for it, or choose another path";
                return Err(Error::refused(folder, busy));
            }
            // A file system without locks is written without one.
            Ok(()) | Err(TryLockError::Error(_)) => {}
        }
        let output = OutputFolder { folder: folder.to_path_buf(), pages, _held: held };
        let aside = output.aside();
        if let Some(left) = failing(Replacement::resume(folder, &aside, System))? {
            failing(left.carry_out())?;
        }
        output.check_pages()?;
        for run in runs.iter().map(|run| at_last(run)) {
            if run.symlink_metadata().is_ok() && !ours::is_run(&run) {
                return Err(Error::refused(&run, ours::NO_RUN));
            }
        }
        if let Some(other) = ours::remove_unfinished(&aside).map_err(|e| Error::write(&aside, e))? {
            let why = "Ratewire did not write what is there; move it, or choose another path";
            return Err(Error::refused(&other, why));
        }
        fs::create_dir(&aside).map_err(|e| Error::write(&aside, e))?;
        Ok(output)
    }

    fn aside(&self) -> PathBuf {
        self.folder.join(UNFINISHED)
    }

    fn check_pages(&self) -> Result<(), Error> {
        self.pages.iter().try_for_each(|page| check_replaceable(&self.folder.join(page)))
    }

    /// Puts runs and pages in the place of earlier ones.
    ///
    /// If `runs` has any, all earlier runs are removed: queries over a folder's Parquet files would
    /// mix the two.
    pub fn put_in_place(&self, runs: &[&Path], pages: [String; 2]) -> Result<(), Error> {
        let aside = self.aside();
        self.write_pages(pages)?;
        let names = runs.iter().filter_map(|run| run.file_name()?.to_str());
        // Pages come last, so that where pages are, the runs are too.
        let new: Vec<&str> = names.chain(self.pages).collect();
        let gone = if runs.is_empty() { Vec::new() } else { self.earlier_runs(&new)? };
        let replacement = failing(Replacement::begin(&self.folder, &aside, &new, gone, System))?;
        replacement.carry_out().map_err(|(path, e)| {
            let state = match aside.join(JOURNAL).exists() {
                true => {
                    "the next run into this folder goes on replacing earlier results".to_string()
                }
                false => format!(
                    "earlier results are as they were; the new ones are in {} until the next run",
                    aside.join(NEW).display()
                ),
            };
            Error::write(&path, io::Error::new(e.kind(), format!("{e}; {state}")))
        })?;
        // Files of failed runs are kept for inspection.
        let _ = fs::remove_dir(aside);
        Ok(())
    }

    /// As [`OutputFolder::put_in_place`] for the results of an experiment that was interrupted.
    ///
    /// Earlier results are more than a part, and stay. The partial ones are then kept in the
    /// folder for incomplete results until the next run.
    ///
    /// # Errors
    /// Also [`Error::Refused`] if there are earlier results.
    pub fn put_partial(&self, runs: &[&Path], pages: [String; 2]) -> Result<(), Error> {
        if !self.pages.iter().any(|page| self.folder.join(page).exists()) {
            return self.put_in_place(runs, pages);
        }
        self.write_pages(pages)?;
        let why = "earlier results are there, which partial ones do not replace; the partial ones are in \
                   `.unfinished` there until the next run";
        Err(Error::refused(&self.folder, why))
    }

    /// Writes pages into the folder for incomplete results.
    fn write_pages(&self, pages: [String; 2]) -> Result<(), Error> {
        self.pages.iter().zip(pages).try_for_each(|(name, text)| {
            let page = self.aside().join(name);
            fs::write(&page, text).map_err(|e| Error::write(&page, e))
        })
    }

    /// Names of earlier runs that no new run has.
    fn earlier_runs(&self, new: &[&str]) -> Result<Vec<String>, Error> {
        let entries = fs::read_dir(&self.folder).map_err(|e| Error::write(&self.folder, e))?;
        let runs = entries.flatten().filter(|entry| ours::is_run(&entry.path()));
        let names = runs.filter_map(|entry| entry.file_name().into_string().ok());
        Ok(names.filter(|name| !new.contains(&name.as_str())).collect())
    }
}

fn failing<T>(done: replace::Result<T>) -> Result<T, Error> {
    done.map_err(|(path, e)| Error::write(&path, e))
}

/// The folder in which the files of the run `name` are made.
pub(crate) fn made_in(folder: &Path, name: &str) -> PathBuf {
    folder.join(UNFINISHED).join(name)
}

/// Name of a run's folder, `xcp-seed-1`; different from `others`.
pub(crate) fn name_of_folder<'a>(
    law: &str,
    seed: u64,
    others: impl Iterator<Item = &'a str> + Clone,
) -> String {
    // Names of variants may contain characters that folders should not.
    let plain = |c: char| if c.is_ascii_alphanumeric() || "._-".contains(c) { c } else { '_' };
    let name: String = law.chars().map(plain).collect();
    let name = name.trim_start_matches('.');
    let number = |n: u32| if n == 1 { String::new() } else { format!("_{n}") };
    let numbered = |n| format!("{name}{}-seed-{seed}", number(n));
    let is_free = |name: &String| !others.clone().any(|other| other == name);
    (1..).map(numbered).find(is_free).expect("a number that is free")
}

/// The final path of a file that is made aside.
pub(crate) fn at_last(made: &Path) -> PathBuf {
    let aside =
        made.ancestors().find(|part| part.file_name().is_some_and(|name| name == UNFINISHED));
    let place = |aside: &Path| Some(aside.parent()?.join(made.strip_prefix(aside).ok()?));
    aside.and_then(place).unwrap_or_else(|| made.to_path_buf())
}
