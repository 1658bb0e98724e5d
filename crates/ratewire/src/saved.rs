//! Results as the files of their folder: written, read again, or kept as bytes.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use bytes::Bytes;
use ratewire_files::RESULTS;
use ratewire_report::{FlowRow, GroupRow, JSON_HEAD, LinkRow, Transfer, html};
use serde::Deserialize;

use crate::folder::ours::{RUN_FILE, SCENARIO_FILE, is_name_of_run};
use crate::folder::{OutputFolder, REPORT, made_in, write_page};
use crate::results::tables::{
    COMPLETIONS, CONNECTIONS, FLOWS, GROUPS, KeptTables, LINKS, SENDERS, Stored,
};
use crate::{Error, Figures, Results, Run, Samples};

/// Files in a run's folder that belong to its results.
const OF_RUN: [&str; 8] =
    [RUN_FILE, SCENARIO_FILE, FLOWS, LINKS, COMPLETIONS, GROUPS, CONNECTIONS, SENDERS];

/// Results of an experiment as the files of their folder, which `ratewire run`,
/// [`Experiment::folder`](crate::Experiment::folder) and [`Results::save`] write.
///
/// Figures, samples and the page can be read again without another run. Packet captures and the
/// output of programs are left out.
///
/// ```
/// # let text = "duration = '2 s'\nlaw = 'xcp'\n[topology]\nkind = 'dumbbell'\n\
/// #   bottleneck = { rate = '10 Mbit/s', delay = '10 ms' }\n[[flow]]\nfrom = 's1'\nto = 'd1'\n";
/// # let folder = std::env::temp_dir().join(format!("ratewire-saved-{}", std::process::id()));
/// let results = ratewire::Experiment::parse("hello.toml", text)?.run()?;
/// results.save(&folder)?;
/// let saved = ratewire::SavedResults::load(&folder)?;
/// assert_eq!(saved.json(), results.json());
/// assert_eq!(saved.files()?, results.saved()?.files()?);
/// # std::fs::remove_dir_all(&folder).expect("the folder");
/// # Ok::<(), ratewire::Error>(())
/// ```
#[derive(Clone, Debug)]
pub struct SavedResults {
    place: PathBuf,
    json: String,
    page: String,
    /// In the order of the runs.
    runs: Vec<SavedRun>,
    is_partial: bool,
}

/// The files of one run.
#[derive(Clone, Debug)]
struct SavedRun {
    folder: String,
    files: Vec<(&'static str, Stored)>,
}

/// The part of `summary.json` that says which runs there are.
#[derive(Deserialize)]
struct RunList {
    runs: Vec<ListedRun>,
}

/// The part of `run.json`, and of a run in `summary.json`, that distinguishes runs.
#[derive(Deserialize, PartialEq)]
struct ListedRun {
    law: String,
    seed: u64,
    world: String,
    #[serde(default)]
    planned_duration_s: Option<f64>,
}

impl ListedRun {
    fn key(&self) -> (&str, &str, u64) {
        (&self.law, &self.world, self.seed)
    }
}

impl Results {
    /// Writes the results into a folder, as the experiment would have written them there.
    ///
    /// The folder and its parents are created if they are missing. Results replace earlier ones
    /// there, all or none.
    ///
    /// # Errors
    /// [`Error::Setting`] if samples were not kept, [`Error::Refused`] or [`Error::Write`] if the
    /// folder cannot be written.
    pub fn save(&self, folder: impl AsRef<Path>) -> Result<(), Error> {
        self.saved()?.save(folder)
    }

    /// The results as the files of a folder, in memory.
    ///
    /// # Errors
    /// [`Error::Setting`] if samples were not kept, or if nothing ran.
    pub fn saved(&self) -> Result<SavedResults, Error> {
        let refuse = |reason: &str| Error::Setting {
            setting: "save".to_string(),
            reason: reason.to_string(),
        };
        if self.runs.is_empty() {
            return Err(refuse("there are no results"));
        }
        let files = |run: &Run| {
            let Some(origin) = &run.origin else {
                let why =
                    "the experiment kept no samples\n  help: run it without `without_samples`";
                return Err(refuse(why));
            };
            let text = |text: &str| Stored::Memory(Bytes::from(text.to_string()));
            let mut files =
                vec![(RUN_FILE, text(&origin.run)), (SCENARIO_FILE, text(&origin.scenario))];
            let tables = run.held.iter().flat_map(KeptTables::named);
            files.extend(tables.map(|(name, table)| (name, table.clone())));
            Ok(SavedRun { folder: origin.folder.clone(), files })
        };
        Ok(SavedResults {
            place: "results".into(),
            json: self.json(),
            page: html::render(&self.page()),
            runs: self.runs.iter().map(files).collect::<Result<_, Error>>()?,
            is_partial: self.is_partial(),
        })
    }
}

impl SavedResults {
    /// Reads the results in a folder. Tables are read when they are asked for.
    ///
    /// # Errors
    /// [`Error::Read`] if the folder has no results of a run, or lacks files of a run.
    pub fn load(folder: impl AsRef<Path>) -> Result<SavedResults, Error> {
        let folder = folder.as_ref();
        let entries = fs::read_dir(folder)
            .map_err(|source| Error::Read { path: folder.to_path_buf(), source })?;
        let names = entries.flatten().filter_map(|entry| entry.file_name().into_string().ok());
        let mut files = Vec::new();
        for run in names.filter(|name| is_name_of_run(name)) {
            let there = OF_RUN.map(|name| (name, folder.join(&run).join(name)));
            let there = there.into_iter().filter(|(_, path)| path.is_file());
            files.extend(there.map(|(name, path)| (format!("{run}/{name}"), Stored::File(path))));
        }
        let pages = REPORT.map(|name| (name.to_string(), Stored::File(folder.join(name))));
        files.extend(pages);
        SavedResults::of_stored(folder, files)
    }

    /// Reads results from the files of a folder: pairs of a path in the folder and a content, as
    /// [`SavedResults::files`] returns them.
    ///
    /// # Errors
    /// As [`SavedResults::load`].
    pub fn of_files(
        files: impl IntoIterator<Item = (String, Vec<u8>)>,
    ) -> Result<SavedResults, Error> {
        let stored = |(name, bytes): (String, Vec<u8>)| (name, Stored::Memory(bytes.into()));
        SavedResults::of_stored(Path::new("results"), files.into_iter().map(stored).collect())
    }

    fn of_stored(place: &Path, files: Vec<(String, Stored)>) -> Result<SavedResults, Error> {
        let unreadable = |path: PathBuf, why: &str| Error::Read {
            path,
            source: io::Error::other(why.to_string()),
        };
        let wrong = |name: &str, why: &str| unreadable(place.join(name), why);
        let text = |name: &str| {
            let stored = files.iter().find(|(path, _)| path == name);
            let none = || wrong(name, "no results of `ratewire run` are there");
            whole(&stored.ok_or_else(none)?.1)
        };
        let [page, json] = [text(REPORT[0])?, text(REPORT[1])?];
        if !json.starts_with(JSON_HEAD) {
            return Err(wrong(REPORT[1], "Ratewire did not write the file"));
        }
        let listed: RunList = serde_json::from_str(&json)
            .map_err(|e| wrong(REPORT[1], &format!("it is damaged: {e}")))?;
        let mut found: Vec<(ListedRun, SavedRun)> = Vec::new();
        for (path, _) in &files {
            let Some(folder) = path.strip_suffix(&format!("/{RUN_FILE}")) else { continue };
            let run = serde_json::from_str(&text(path)?)
                .map_err(|e| wrong(path, &format!("it is damaged: {e}")))?;
            let own = OF_RUN.iter().filter_map(|name| {
                let path = format!("{folder}/{name}");
                let stored = &files.iter().find(|(other, _)| *other == path)?.1;
                Some((*name, stored.clone()))
            });
            found.push((run, SavedRun { folder: folder.to_string(), files: own.collect() }));
        }
        let is_partial = listed.runs.iter().any(|run| run.planned_duration_s.is_some());
        let mut runs = Vec::new();
        for run in &listed.runs {
            let at = found.iter().position(|(other, _)| other.key() == run.key());
            let none =
                || format!("there is no folder of the run of {}, seed {}", run.law, run.seed);
            let at = at.ok_or_else(|| unreadable(place.to_path_buf(), &none()))?;
            runs.push(found.swap_remove(at).1);
        }
        Ok(SavedResults { place: place.to_path_buf(), json, page, runs, is_partial })
    }

    /// Writes the results into a folder, as [`Results::save`].
    ///
    /// # Errors
    /// [`Error::Refused`] or [`Error::Write`] if the folder cannot be written, [`Error::Read`] if a
    /// file of the results cannot be read any more. Earlier results are then unchanged.
    pub fn save(&self, folder: impl AsRef<Path>) -> Result<(), Error> {
        let folder = folder.as_ref();
        let made: Vec<PathBuf> = self.runs.iter().map(|run| made_in(folder, &run.folder)).collect();
        let output = OutputFolder::open(folder, REPORT, &made)?;
        for (run, made) in self.runs.iter().zip(&made) {
            fs::create_dir_all(made).map_err(|e| Error::write(made, e))?;
            for (name, stored) in &run.files {
                let path = made.join(name);
                fs::write(&path, stored.bytes()?).map_err(|e| Error::write(&path, e))?;
            }
        }
        let made: Vec<&Path> = made.iter().map(PathBuf::as_path).collect();
        let pages = [self.page.clone(), self.json.clone()];
        if self.is_partial {
            output.put_partial(&made, pages)
        } else {
            output.put_in_place(&made, pages)
        }
    }

    /// All files: the path in the folder, and the content.
    ///
    /// # Errors
    /// [`Error::Read`] if a file cannot be read.
    pub fn files(&self) -> Result<Vec<(String, Bytes)>, Error> {
        let pages = [&self.page, &self.json].map(|text| Bytes::from(text.clone()));
        let mut all: Vec<(String, Bytes)> =
            REPORT.map(String::from).into_iter().zip(pages).collect();
        for run in &self.runs {
            for (name, stored) in &run.files {
                all.push((format!("{}/{name}", run.folder), stored.bytes()?));
            }
        }
        Ok(all)
    }

    /// Figures of all runs and the expectations: the text of `summary.json`.
    pub fn json(&self) -> &str {
        &self.json
    }

    /// The page of all runs: the text of `report.html`.
    pub fn page(&self) -> &str {
        &self.page
    }

    /// Writes the page, as [`Results::report`].
    ///
    /// # Errors
    /// As [`Results::report`].
    pub fn report(&self, path: impl AsRef<Path>) -> Result<(), Error> {
        write_page(path.as_ref(), &self.page)
    }

    /// The figures of the page, to be drawn for a paper.
    pub fn figures(&self) -> Figures {
        Figures::of_page(self.place.clone(), &self.page)
    }

    /// Samples of every flow, of all runs.
    pub fn flows(&self) -> Samples<FlowRow> {
        self.samples(FLOWS)
    }

    /// Samples of every link, of all runs.
    pub fn links(&self) -> Samples<LinkRow> {
        self.samples(LINKS)
    }

    /// Flows of a given size, complete or not, of all runs.
    pub fn completions(&self) -> Samples<Transfer> {
        self.samples(COMPLETIONS)
    }

    /// Samples of every group of an overlay, of all runs; empty without an overlay.
    pub fn groups(&self) -> Samples<GroupRow> {
        self.samples(GROUPS)
    }

    fn samples<R>(&self, name: &str) -> Samples<R> {
        let files = self.runs.iter().flat_map(|run| &run.files);
        Samples::new(files.filter(|file| file.0 == name).map(|file| file.1.clone()).collect())
    }
}

/// The text of a file, which has at most [`RESULTS`] bytes.
fn whole(stored: &Stored) -> Result<String, Error> {
    Ok(String::from_utf8_lossy(&stored.bytes_up_to(RESULTS)?).into_owned())
}
