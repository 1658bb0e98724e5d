//! Finished runs of a sweep, kept so that it can go on after it was stopped.

use std::io;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Arc, Mutex};

use ratewire_report::parquet::{KeptRun, read_runs, write_runs, write_sweep};
use ratewire_report::{MeasuredRun, Summary, Sweep, SweepAxis};
use rayon::prelude::*;
use sha2::{Digest, Sha256};

use super::store::{DIGITS, SweepStore, is_digest_of_runs, put};
use crate::Error;

/// Name of a sweep's table.
const TABLE: &str = "sweep.parquet";
/// Folder of the data set of finished runs.
const RUNS: &str = "runs";
/// Events of runs that may be lost if the process is killed, about a second's: shorter runs are
/// written together.
const MOST_LOST: u64 = 5_000_000;
/// Most runs in a file.
const MOST_ROWS: usize = 1000;

/// The data set of finished runs: Parquet files, in a folder for each law.
#[derive(Debug)]
pub(super) struct DataSet {
    store: Arc<dyn SweepStore>,
    axes: Vec<SweepAxis>,
    laws: Vec<String>,
    /// Files that were there at the beginning.
    files: Vec<String>,
    waiting: Mutex<Waiting>,
}

/// Runs that are not written yet.
#[derive(Debug, Default)]
struct Waiting {
    /// Index of the law, and the run.
    runs: Vec<(usize, KeptRun)>,
    /// Number of those that were put since the last attempt to write, and events that they handled.
    new: usize,
    events: u64,
}

impl DataSet {
    /// # Errors
    /// An error if the place cannot be read.
    pub(super) fn open(
        store: Arc<dyn SweepStore>,
        axes: Vec<SweepAxis>,
        laws: Vec<String>,
    ) -> Result<DataSet, Error> {
        let mut files = store.list(RUNS)?;
        files.retain(|name| is_of_runs(name));
        files.sort_unstable();
        Ok(DataSet { store, axes, laws, files, waiting: Mutex::default() })
    }

    /// Gives runs that this version of Ratewire has finished, if the digests of what made them are
    /// wanted, with their figures. A file that is damaged is as good as none.
    ///
    /// # Errors
    /// An error if a file cannot be read.
    pub(super) fn each(
        &self,
        is_wanted: impl Fn(&str) -> bool + Sync,
        give: impl Fn(String, Summary) + Sync,
    ) -> Result<(), Error> {
        let is_wanted =
            |digest: &str, version: &str| version == env!("CARGO_PKG_VERSION") && is_wanted(digest);
        self.files.par_iter().try_for_each(|name| {
            let file = self.store.read(name)?.unwrap_or_default();
            // The library of Parquet panics on some damaged files.
            let runs = catch_unwind(AssertUnwindSafe(|| read_runs(file, is_wanted)));
            let runs = runs.ok().and_then(Result::ok).unwrap_or_default();
            runs.into_iter().for_each(|(digest, summary)| give(digest, summary));
            Ok(())
        })
    }

    /// Removes the files that were there at the beginning.
    ///
    /// # Errors
    /// An error if a file cannot be removed.
    pub(super) fn forget(&mut self) -> Result<(), Error> {
        std::mem::take(&mut self.files).iter().try_for_each(|name| self.store.remove(name))
    }

    /// Keeps a finished run. It is written with others, unless it was long.
    ///
    /// # Errors
    /// As [`DataSet::flush`].
    pub(super) fn put(&self, digest: &str, run: &MeasuredRun) -> Result<(), Error> {
        let kept = KeptRun::of(digest, run);
        let full = {
            let mut waiting = self.waiting.lock().expect("no holder panics");
            waiting.runs.push((run.law, kept));
            waiting.new += 1;
            waiting.events += run.summary.engine.events;
            let is_full = waiting.events >= MOST_LOST || waiting.new >= MOST_ROWS;
            is_full.then(|| std::mem::take(&mut *waiting))
        };
        full.map_or(Ok(()), |full| self.write(full))
    }

    /// Writes runs that wait for others.
    ///
    /// # Errors
    /// [`Error::Refused`] if a file of others is in the way, or the error of the place. Runs that
    /// could not be written wait for the next call.
    pub(super) fn flush(&self) -> Result<(), Error> {
        let waiting = std::mem::take(&mut *self.waiting.lock().expect("no holder panics"));
        self.write(waiting)
    }

    /// Writes `sweep.parquet`, a row a run. `made_by` says what made the runs.
    ///
    /// # Errors
    /// As [`DataSet::flush`].
    pub(super) fn write_table(&self, sweep: &Sweep, made_by: &str) -> Result<(), Error> {
        let table = write_sweep(sweep, made_by, Vec::new());
        let place = || self.store.place().join(TABLE);
        let table = table.map_err(|e| Error::write(&place(), io::Error::other(e)))?;
        put(&*self.store, TABLE, &table)
    }

    fn write(&self, waiting: Waiting) -> Result<(), Error> {
        let mut of_laws: Vec<Vec<KeptRun>> = vec![Vec::new(); self.laws.len()];
        waiting.runs.into_iter().for_each(|(law, run)| of_laws[law].push(run));
        let mut first = Ok(());
        for (law, runs) in of_laws.into_iter().enumerate().filter(|(_, runs)| !runs.is_empty()) {
            let name = name_of(&self.laws[law], &runs);
            let file = write_runs(&self.axes, &runs, Vec::new())
                .map_err(|e| Error::write(&self.store.place().join(&name), io::Error::other(e)));
            if let Err(error) = file.and_then(|file| put(&*self.store, &name, &file)) {
                let mut waiting = self.waiting.lock().expect("no holder panics");
                waiting.runs.extend(runs.into_iter().map(|run| (law, run)));
                first = first.and(Err(error));
            }
        }
        first
    }
}

/// Whether a file is one of runs: `runs/law=xcp/0123456789abcdef.parquet`.
fn is_of_runs(name: &str) -> bool {
    let parts: Vec<&str> = name.split('/').collect();
    matches!(parts[..], [RUNS, folder, file] if folder.starts_with("law=")
        && file.strip_suffix(".parquet").is_some_and(is_digest_of_runs))
}

/// Name of a file of runs: that of its law's folder, as Hive writes it, and the runs' digest.
fn name_of(law: &str, runs: &[KeptRun]) -> String {
    let plain = |byte: u8| byte.is_ascii_alphanumeric() || b"-_.".contains(&byte);
    let escaped = law.bytes().map(|byte| match plain(byte) {
        true => char::from(byte).to_string(),
        false => format!("%{byte:02X}"),
    });
    let digest = runs.iter().fold(Sha256::new(), |all, run| all.chain_update(&run.digest));
    let digest = digest.finalize();
    let digits = digest[..DIGITS / 2].iter().map(|byte| format!("{byte:02x}"));
    format!("{RUNS}/law={}/{}.parquet", escaped.collect::<String>(), digits.collect::<String>())
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::path::Path;

    use ratewire_report::EngineFigures;

    use super::super::store::Folder;
    use super::*;

    fn run(seed: u64, version: &str, events: u64) -> MeasuredRun {
        let version = version.to_string();
        let engine = EngineFigures { events, ..EngineFigures::default() };
        let summary = Summary { seed, version, engine, ..Summary::default() };
        MeasuredRun { point: Vec::new(), law: 0, summary }
    }

    fn open(folder: &Path) -> DataSet {
        let store = Arc::new(Folder(folder.to_path_buf()));
        DataSet::open(store, Vec::new(), vec!["./my law.so".into()]).expect("a data set")
    }

    fn seeds(set: &DataSet) -> Vec<u64> {
        let seeds = Mutex::new(Vec::new());
        let give = |_, summary: Summary| seeds.lock().expect("a lock").push(summary.seed);
        set.each(|_| true, give).expect("files that can be read");
        let mut seeds = seeds.into_inner().expect("a lock");
        seeds.sort_unstable();
        seeds
    }

    const CURRENT: &str = env!("CARGO_PKG_VERSION");

    #[test]
    fn runs_of_this_version_in_whole_files_are_taken() {
        let folder = tempfile::tempdir().expect("a folder");
        let set = open(folder.path());
        set.put("a", &run(1, CURRENT, 1)).expect("it waits");
        assert_eq!(seeds(&open(folder.path())), [] as [u64; 0], "short runs wait for others");
        set.put("b", &run(2, "0.0.0", MOST_LOST)).expect("both are written");
        assert_eq!(seeds(&open(folder.path())), [1], "another version may measure otherwise");
        set.put("c", &run(3, CURRENT, 1)).expect("it waits");
        set.flush().expect("it is written");
        let mut set = open(folder.path());
        assert_eq!((seeds(&set), set.files.len()), (vec![1, 3], 2));
        assert!(set.files.iter().all(|name| name.starts_with("runs/law=.%2Fmy%20law.so/")));
        let damaged = folder.path().join(&set.files[0]);
        let file = fs::read(&damaged).expect("a file");
        fs::write(&damaged, &file[..file.len() / 2]).expect("a damaged file");
        assert_eq!(seeds(&set).len(), 1, "of the other file");
        set.forget().expect("files that can be removed");
        assert_eq!(seeds(&open(folder.path())), [] as [u64; 0]);
    }

    #[test]
    fn files_of_others_are_left() {
        let folder = tempfile::tempdir().expect("a folder");
        let set = open(folder.path());
        let name = name_of("./my law.so", &[KeptRun::of("a", &run(1, CURRENT, MOST_LOST))]);
        let path = folder.path().join(name);
        fs::create_dir_all(path.parent().expect("a folder")).expect("a folder");
        fs::write(&path, "mine").expect("a file of somebody's own");
        let put = set.put("a", &run(1, CURRENT, MOST_LOST));
        assert!(matches!(put, Err(Error::Refused { .. })), "{put:?}");
        assert_eq!(fs::read(&path).expect("the file"), b"mine");
    }

    /// A place that fails at first.
    #[derive(Debug)]
    struct Shaky(Folder, Mutex<u32>);

    impl SweepStore for Shaky {
        fn place(&self) -> &Path {
            self.0.place()
        }
        fn list(&self, folder: &str) -> Result<Vec<String>, Error> {
            self.0.list(folder)
        }
        fn read(&self, name: &str) -> Result<Option<Vec<u8>>, Error> {
            self.0.read(name)
        }
        fn write(&self, name: &str, content: &[u8]) -> Result<(), Error> {
            let mut failures = self.1.lock().expect("a lock");
            if *failures == 0 {
                return self.0.write(name, content);
            }
            *failures -= 1;
            Err(Error::write(&self.place().join(name), io::ErrorKind::TimedOut.into()))
        }
        fn remove(&self, name: &str) -> Result<(), Error> {
            self.0.remove(name)
        }
    }

    #[test]
    fn runs_that_could_not_be_written_are_written_later() {
        let folder = tempfile::tempdir().expect("a folder");
        let store = Shaky(Folder(folder.path().to_path_buf()), Mutex::new(1));
        let laws = vec!["./my law.so".to_string(), "xcp".to_string()];
        let set = DataSet::open(Arc::new(store), Vec::new(), laws).expect("a data set");
        set.put("a", &run(1, CURRENT, 1)).expect("it waits");
        let of_xcp = MeasuredRun { law: 1, ..run(2, CURRENT, MOST_LOST) };
        set.put("b", &of_xcp).expect_err("the place fails");
        assert_eq!(seeds(&open(folder.path())), [2], "the other law's file is written");
        set.flush().expect("the place is well");
        assert_eq!(seeds(&open(folder.path())), [1, 2]);
    }

    #[test]
    fn drafts_of_killed_processes_are_removed_and_nothing_else() {
        let folder = tempfile::tempdir().expect("a folder");
        let runs = folder.path().join(RUNS);
        fs::create_dir(&runs).expect("a folder");
        let draft = crate::folder::pages::draft(&runs.join("0123456789abcdef.parquet"));
        let others = [".notes.parquet.1", ".0123456789abcdef.parquet.x"];
        let others = others.map(|name| runs.join(name));
        for file in others.iter().chain([&draft]) {
            fs::write(file, "PAR1").expect("a file");
        }
        open(folder.path());
        assert!(!draft.exists() && others.iter().all(|file| file.exists()));
    }
}
