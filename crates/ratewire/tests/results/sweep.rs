//! What a sweep does with its grid, its folder, and with being stopped.

use std::ops::ControlFlow;
use std::path::Path;
use std::sync::Mutex;

use ratewire::folder::SWEEP;
use ratewire::{Error, Experiment, Interrupt, Listener, Progress, Running, StopReason, Sweep};

const TEXT: &str = r#"
duration = "500 ms"
law      = "xcp"

[topology]
kind       = "dumbbell"
bottleneck = { rate = "10 Mbit/s", delay = "5 ms", loss = { random = 0.01 } }

[[flow]]
from = "s1"
to   = "d1"
"#;

/// Twelve runs: three rates, two laws, two seeds.
fn sweep() -> Sweep {
    let experiment = Experiment::parse("hello.toml", TEXT).expect("a scenario");
    let experiment = experiment.laws(["xcp", "cubic"]).seeds([1, 2]);
    Sweep::of(experiment).over("bottleneck.rate", "1M..4M:log3").expect("a range")
}

fn read(folder: &Path, name: &str) -> Vec<u8> {
    std::fs::read(folder.join(name)).unwrap_or_else(|e| panic!("{name}: {e}"))
}

/// Interrupts the sweep when some runs have ended.
struct After(usize, Interrupt, Mutex<usize>);

impl Listener for After {
    fn reached(&self, run: &Running<'_>, progress: &Progress) -> ControlFlow<StopReason> {
        self.1.reached(run, progress)
    }
    fn ends(&self, _: &Running<'_>) {
        let mut ended = self.2.lock().unwrap();
        *ended += 1;
        if *ended == self.0 {
            self.1.interrupt();
        }
    }
}

#[test]
fn a_point_of_the_grid_is_the_experiment_with_its_values() {
    let results = sweep().run().unwrap();
    assert!(results.failures().is_empty() && results.unwritten().is_none());
    let swept = results.sweep();
    assert_eq!((swept.runs.len(), swept.missing_runs), (12, 0));
    let values: Vec<&str> = swept.axes[0].values.iter().map(|value| &*value.text).collect();
    assert_eq!(values, ["1M", "2M", "4M"]);
    let experiment = Experiment::parse("hello.toml", TEXT).unwrap().laws(["cubic"]).seeds([2]);
    let alone = experiment.set("bottleneck.rate", "2M").unwrap().run().unwrap();
    let own = swept.runs.iter().find(|run| (&run.point[..], run.law, run.seed) == (&[1], 1, 2));
    let at = swept.figures.iter().position(|figure| figure.name == "utilisation").unwrap();
    let utilisation = alone.runs()[0].utilisation("bottleneck").unwrap();
    assert_eq!(own.unwrap().values[at], Some(utilisation));
    assert!(results.table().contains("bottleneck.rate"), "{}", results.table());
}

#[test]
fn a_sweep_that_was_interrupted_goes_on_and_gives_the_same_bytes() {
    let root = tempfile::tempdir().unwrap();
    let (whole, parts) = (root.path().join("whole"), root.path().join("parts"));
    let results = sweep().folder(&whole).run().unwrap();
    assert!(results.unwritten().is_none(), "{:?}", results.unwritten());

    let swept = sweep().folder(&parts);
    let planned = swept.plan().unwrap();
    let ready = planned.open().unwrap();
    assert_eq!((planned.runs(), ready.pending().len()), (12, 12));
    let results = ready.run(&After(3, Interrupt::default(), Mutex::new(0)));
    let done = results.sweep().runs.len();
    assert!((3..12).contains(&done), "{done} runs have ended");
    assert_eq!(results.sweep().missing_runs, 12 - done);
    assert!(results.failures().iter().all(|failed| failed.is_interrupted()));
    let name = &results.failures()[0].run;
    assert!(name.starts_with("bottleneck.rate=") && name.contains(", seed "), "{name}");
    let page = String::from_utf8(read(&parts, "sweep.html")).unwrap();
    assert!(page.contains(&format!("partial: {} runs without results", 12 - done)), "{done}");

    let ready = planned.open().unwrap();
    assert_eq!(ready.pending().len(), 12 - done);
    let results = ready.run(&());
    assert_eq!((results.sweep().missing_runs, results.failures().len()), (0, 0));
    for name in [SWEEP[0], SWEEP[1], "sweep.parquet"] {
        assert!(read(&parts, name) == read(&whole, name), "{name}");
    }
    // A part of a wider sweep does not take its place.
    let wider = sweep().folder(&parts).over("bottleneck.delay", "5 ms,6 ms").unwrap();
    let planned = wider.plan().unwrap();
    let results = planned.open().unwrap().run(&After(1, Interrupt::default(), Mutex::new(0)));
    assert!(results.sweep().missing_runs > 0 && results.unwritten().is_some());
    assert!(read(&parts, SWEEP[1]) == read(&whole, SWEEP[1]));
    // Other values share runs with those that are kept.
    let kept = 24 - results.sweep().missing_runs;
    let more = sweep().folder(&parts);
    let more = more.over("bottleneck.delay", "5 ms,6 ms").unwrap();
    let planned = more.plan().unwrap();
    assert_eq!((planned.runs(), planned.open().unwrap().pending().len()), (24, 24 - kept));
}

/// Notes whether the folder has a sweep when a run reports.
struct Claimed<'a>(&'a Path, Mutex<Vec<bool>>);

impl Listener for Claimed<'_> {
    fn reached(&self, _: &Running<'_>, _: &Progress) -> ControlFlow<StopReason> {
        self.1.lock().unwrap().push(self.0.join(SWEEP[1]).exists());
        ControlFlow::Continue(())
    }
}

#[test]
fn a_folder_is_the_sweeps_before_anything_is_finished() {
    let root = tempfile::tempdir().unwrap();
    let folder = root.path().join("own");
    let swept = sweep().folder(&folder);
    let planned = swept.plan().unwrap();
    let listener = Claimed(&folder, Mutex::default());
    let results = planned.open().unwrap().run(&listener);
    assert_eq!(results.sweep().missing_runs, 0);
    let looks = listener.1.into_inner().unwrap();
    assert!(!looks.is_empty() && looks.iter().all(|is_there| *is_there));
    let ready = planned.open().unwrap();
    assert_eq!(ready.pending().len(), 0);
    let anew = ready.anew().unwrap();
    assert_eq!(anew.pending().len(), 12, "if it is asked for");
    assert_eq!(files_of_runs(&folder), 0, "and then they are forgotten");
    let page = read(&folder, SWEEP[0]);
    assert!(anew.run(&()).unwritten().is_none());
    assert!(read(&folder, SWEEP[0]) == page);
    assert!(files_of_runs(&folder) > 0);
}

/// Files of finished runs.
fn files_of_runs(folder: &Path) -> usize {
    let of_law = |law: &str| std::fs::read_dir(folder.join("runs").join(law)).into_iter().flatten();
    ["law=xcp", "law=cubic"].into_iter().flat_map(of_law).count()
}

/// `1M` and `1 Mbit/s` make the same runs.
#[test]
fn two_values_may_make_one_run() {
    let root = tempfile::tempdir().unwrap();
    let twice = |folder: &Path| {
        let experiment = Experiment::parse("hello.toml", TEXT).unwrap();
        let sweep = Sweep::of(experiment).over("bottleneck.rate", "1M,1000 kbit/s").unwrap();
        sweep.folder(folder).run().unwrap()
    };
    let results = twice(root.path());
    assert_eq!((results.sweep().runs.len(), results.sweep().missing_runs), (2, 0));
    let first = read(root.path(), SWEEP[1]);
    let results = twice(root.path());
    assert!(results.unwritten().is_none() && read(root.path(), SWEEP[1]) == first);
}

#[test]
fn runs_that_cannot_be_kept_are_results_nevertheless() {
    let root = tempfile::tempdir().unwrap();
    let swept = sweep().folder(root.path());
    let planned = swept.plan().unwrap();
    let ready = planned.open().unwrap();
    let runs = root.path().join("runs");
    std::fs::write(&runs, "a file in the way").unwrap();
    let results = ready.run(&());
    assert_eq!((results.sweep().runs.len(), results.failures().len()), (12, 0));
    assert!(
        matches!(results.unwritten(), Some(Error::Refused { .. })),
        "{:?}",
        results.unwritten()
    );
}

#[test]
fn mistakes_are_found_before_anything_runs() {
    let wrong = |key: &str, values: &str| match sweep().over(key, values) {
        Ok(sweep) => sweep.plan().map(|_| ()).unwrap_err().to_string(),
        Err(wrong) => wrong.to_string(),
    };
    for (key, values, says) in [
        ("bottleneck.rat", "1M,2M", "did you mean `rate`?"),
        ("bottleneck.delay", "5 ms,5 m", "set:1:18"),
        ("bottleneck.delay", "5ms..9ms", "set:1:18"),
        ("topology.bottleneck.rate", "5M,6M", "is set twice"),
        ("bottleneck.delay", "5ms..1ms:lin3", "set bottleneck.delay=5ms..1ms:lin3: "),
        ("law", "xcp,cubic", "swept by --law"),
        ("pairs", "1..9000", "at most 100000 are allowed"),
    ] {
        let wrong = wrong(key, values);
        assert!(wrong.contains(says), "{key}={values}: {wrong}");
    }
    let none = Sweep::of(Experiment::parse("hello.toml", TEXT).unwrap());
    let Err(Error::Setting { reason, .. }) = none.plan() else { panic!("nothing varies") };
    assert!(reason.contains("nothing is swept"), "{reason}");
}
