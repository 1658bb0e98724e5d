//! What an experiment does with its settings, its listeners and its folder.

use std::ops::ControlFlow;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

use crate::batches;
use ratewire::report::{FlowRow, LinkRow};
use ratewire::units::{Duration, Time};
use ratewire::{
    Cancel, Cancelled, Error, Experiment, Interrupt, Listener, Progress, Running, StopReason,
    Warning, World,
};

const TEXT: &str = r#"
duration = "2 s"
law      = "xcp"

[topology]
kind       = "dumbbell"
pairs      = 2
bottleneck = { rate = "10 Mbit/s", delay = "10 ms" }

[[flow]]
from = "s*"
to   = "d*"

[[expect]]
metric = "utilisation"
link   = "bottleneck"
during = "1 s .. 2 s"
min    = 0.9
"#;

fn experiment() -> Experiment {
    Experiment::parse("hello.toml", TEXT).expect("a scenario")
}

/// Counts the calls that it gets.
#[derive(Default)]
struct Count {
    begun: AtomicUsize,
    ended: AtomicUsize,
    flows: AtomicUsize,
    links: AtomicUsize,
    names: Mutex<Vec<String>>,
}

impl Listener for Count {
    fn begins(&self, run: &Running<'_>) {
        self.begun.fetch_add(1, Ordering::Relaxed);
        self.names.lock().expect("no panic").push(run.name());
    }
    fn flow_sample(&self, run: &Running<'_>, sample: &FlowRow) {
        assert!(run.info.flows.get(sample.flow as usize).is_some());
        self.flows.fetch_add(1, Ordering::Relaxed);
    }
    fn link_sample(&self, _run: &Running<'_>, _sample: &LinkRow) {
        self.links.fetch_add(1, Ordering::Relaxed);
    }
    fn ends(&self, _run: &Running<'_>) {
        self.ended.fetch_add(1, Ordering::Relaxed);
    }
}

#[test]
fn runs_are_in_the_order_of_laws_and_seeds_and_named_once() {
    let results = experiment().laws(["cubic", "xcp", "cubic"]).seeds([7, 3, 7]).run().unwrap();
    let runs: Vec<_> = results.runs().iter().map(|run| (run.law(), run.seed())).collect();
    assert_eq!(runs, [("cubic", 7), ("cubic", 3), ("xcp", 7), ("xcp", 3)]);
    assert_eq!(results.law("xcp").unwrap().runs().len(), 2);
    assert!(results.hold() && results.expectations().count() == 4);
}

#[test]
fn both_of_a_pair_of_listeners_get_every_run() {
    let (first, second) = (Count::default(), Count::default());
    let experiment = experiment().laws(["xcp", "cubic"]);
    let results = experiment.run_with(&(&first, (&second, ()))).unwrap();
    for count in [&first, &second] {
        let of = |number: &AtomicUsize| number.load(Ordering::Relaxed);
        assert_eq!((of(&count.begun), of(&count.ended)), (2, 2));
        let rows = |batches: Vec<arrow_array::RecordBatch>| -> usize {
            batches.iter().map(arrow_array::RecordBatch::num_rows).sum()
        };
        assert_eq!(of(&count.flows), rows(batches(&results.flows())));
        assert_eq!(of(&count.links), rows(batches(&results.links())));
        let mut names = count.names.lock().unwrap().clone();
        names.sort();
        assert_eq!(names, ["cubic, seed 1", "xcp, seed 1"]);
    }
}

/// Keeps warnings.
#[derive(Default)]
struct Warnings(Mutex<Vec<String>>);

impl Listener for Warnings {
    fn warning(&self, _: &Running<'_>, warning: &Warning) {
        self.0.lock().expect("no panic").push(warning.to_string());
    }
}

#[test]
fn a_run_warns_if_it_queues_most_where_no_queue_is_meant_to_be() {
    let warned = |law: &str, more: &str| {
        let text = TEXT.replace("[[flow]]", &format!("{more}\n[[flow]]"));
        let text = text.split("[[expect]]").next().expect("a text").to_string();
        let experiment = Experiment::parse("hello.toml", &text).expect("a scenario").laws([law]);
        let warnings = Warnings::default();
        experiment.run_with(&warnings).expect("it runs");
        warnings.0.into_inner().expect("no panic").join("\n")
    };
    let slow = "access = { rate = \"4 Mbit/s\", delay = \"1 ms\" }";
    let off = format!("{slow}\n[transport]\nsmall_queues = false");
    assert_eq!(warned("newreno", ""), "");
    assert_eq!(warned("xcp", slow), "", "its port keeps the queue short");
    let small = warned("newreno", slow);
    assert!(small.starts_with("newreno, seed 1: s") && small.contains("->r1 held "), "{small}");
    assert!(small.contains(" packets: this is the bottleneck"), "{small}");
    assert!(small.contains("give s") && !small.contains("small_queues"), "{small}");
    assert!(warned("newreno", &off).contains("or set `small_queues = true`"));
    // At a router, only a queue without limit is a mistake, and not where it is the bottleneck's.
    let queue = |link: &str, queue: &str| {
        let slow = if link == "bottleneck" { "" } else { "rate = \"3 Mbit/s\"\n" };
        warned("newreno", &format!("[[link]]\nname = \"{link}\"\n{slow}queue = \"{queue}\""))
    };
    let said = queue("r2->d*", "unlimited");
    assert!(said.contains(": r2->d") && said.contains("has no limit"), "{said}");
    assert_eq!(queue("r2->d*", "20 packets"), "");
    assert_eq!(queue("bottleneck", "unlimited"), "");
}

#[test]
fn queues_of_hosts_are_no_surprise_where_all_links_are_alike() {
    let warned = |access: &str| {
        let text = format!(
            "duration = '1 s'\nlaw = 'newreno'\n[topology]\nkind = 'star'\nhosts = 4\n\
             link = {{ rate = '10 Mbit/s', delay = '1 ms', {access} }}\n\
             [transport]\nsmall_queues = false\n\
             [[flow]]\nfrom = 'h1'\nto = 'h2'\n[[flow]]\nfrom = 'h3'\nto = 'h4'\n"
        );
        let experiment = Experiment::parse("star.toml", &text).expect("a scenario");
        let warnings = Warnings::default();
        experiment.run_with(&warnings).expect("it runs");
        warnings.0.into_inner().expect("no panic").join("\n")
    };
    assert_eq!(warned("queue = '50 packets'"), "");
    assert!(warned("queue = 'unlimited'").contains("packets: this is the bottleneck"));
}

#[test]
fn a_cancelled_run_says_so_and_takes_nothing_of_the_others() {
    /// Cancels as soon as CUBIC's run begins.
    struct Against<'a>(&'a Cancel);
    impl Listener for Against<'_> {
        fn reached(&self, run: &Running<'_>, at: &Progress) -> ControlFlow<StopReason> {
            match run.info.law.as_str() {
                "cubic" => {
                    self.0.cancel();
                    self.0.reached(run, at)
                }
                _ => ControlFlow::Continue(()),
            }
        }
    }
    let cancel = Cancel::default();
    let failed = experiment().laws(["xcp", "cubic"]).run_with(&Against(&cancel)).unwrap_err();
    assert!(cancel.is_cancelled());
    let shown = format!("{failed:?}");
    assert!(shown.starts_with("Incomplete(Results { failures: [Failed { run: \"cubic"), "{shown}");
    assert!(shown.len() < 500, "it names the runs and does not show them: {shown}");
    let Error::Incomplete(results) = failed else { panic!("{failed}") };
    assert_eq!((results.runs().len(), results.runs()[0].law()), (1, "xcp"));
    let [failed] = results.failures() else { panic!("one failure") };
    assert_eq!(failed.run, "cubic, seed 1");
    let Error::Stopped { source, .. } = &failed.error else { panic!("{}", failed.error) };
    assert!(source.is::<Cancelled>());
    assert!(failed.error.to_string().contains("stopped at 0 s of its time: it was cancelled"));
}

#[test]
fn a_folder_holds_what_is_else_kept_in_memory() {
    let folder = tempfile::tempdir().unwrap();
    let out = folder.path().join("results");
    let written = experiment().folder(&out).run().unwrap();
    let kept = experiment().run().unwrap();
    for name in ["report.html", "summary.json", "xcp-seed-1/flows.parquet"] {
        assert!(out.join(name).is_file(), "{name}");
    }
    assert_eq!(std::fs::read_to_string(out.join("summary.json")).unwrap(), kept.json());
    let page = folder.path().join("page.html");
    kept.report(&page).unwrap();
    assert_eq!(std::fs::read(page).unwrap(), std::fs::read(out.join("report.html")).unwrap());
    let rows = batches(&kept.flows());
    assert!(!rows.is_empty());
    assert_eq!(batches(&written.flows()), rows);
    let table = folder.path().join("flows.parquet");
    kept.flows().write_parquet(&table).unwrap();
    let again = std::fs::read(table).unwrap();
    let own = out.join("xcp-seed-1/flows.parquet");
    assert_eq!(again, std::fs::read(&own).unwrap());
    written.flows().write_parquet(&own).unwrap();
    assert_eq!(again, std::fs::read(&own).unwrap(), "a table is copied over itself");
    let none = experiment().without_samples().run().unwrap();
    assert!(batches(&none.flows()).is_empty());
}

#[test]
fn values_take_the_place_of_the_scenarios_and_leave_what_was_chosen() {
    let chosen =
        experiment().laws(["cubic"]).seeds([5]).set("bottleneck.rate", "5 Mbit/s").unwrap();
    let results = chosen.run().unwrap();
    let run = &results.runs()[0];
    assert_eq!((run.law(), run.seed()), ("cubic", 5));
    assert_eq!(run.link("bottleneck").unwrap().rate_bps, 5_000_000);
    let own = experiment().set("law", "cubic").unwrap().set("seed", "9").unwrap();
    let results = own.run().unwrap();
    assert_eq!((results.runs()[0].law(), results.runs()[0].seed()), ("cubic", 9));
}

#[test]
fn mistakes_name_what_is_nearest() {
    let says = |wrong: Error| wrong.to_string();
    let wrong = says(experiment().set("bottleneck.rat", "5 Mbit/s").unwrap_err());
    assert!(wrong.contains("rat") && wrong.contains("`rate`"), "{wrong}");
    let wrong = says(experiment().laws(["xpc"]).run().unwrap_err());
    assert!(wrong.contains("no law or variant is called \"xpc\""), "{wrong}");
    let wrong = says(experiment().capture(["botleneck"]).run().unwrap_err());
    assert!(wrong.starts_with("capture: no link") && wrong.contains("\"bottleneck\""), "{wrong}");
    let wrong = says(experiment().capture(["bottle*"]).run().unwrap_err());
    assert!(wrong.contains("\"bottleneck\" or \"bottleneck.reverse\"\n  help: "), "{wrong}");
    let wrong = says(experiment().why("s1-d9@1s").run().unwrap_err());
    assert!(wrong.contains("no flow is called \"s1-d9\"") && wrong.contains("s1->d1"), "{wrong}");
    let wrong = says(experiment().why("s1->d1 at 1s").run().unwrap_err());
    assert!(wrong.contains("write FLOW@TIME"), "{wrong}");
    let results = experiment().run().unwrap();
    let wrong = says(results.law("cubic").unwrap_err());
    assert_eq!(wrong, "results: no law is called \"cubic\"; known: xcp");
    let wrong = says(results.runs()[0].utilisation("bottlenec").unwrap_err());
    assert!(wrong.contains("did you mean \"bottleneck\"?"), "{wrong}");
}

/// A program has no options of a command line.
#[test]
fn messages_name_settings_and_no_options() {
    let folder = tempfile::tempdir().unwrap();
    let page = folder.path().join("mine.html");
    std::fs::write(&page, "mine").unwrap();
    let file = folder.path().join("file");
    std::fs::write(&file, "mine").unwrap();
    let results = experiment().run().unwrap();
    for (wrong, part) in [
        (experiment().set("bottleneck.rat", "5 Mbit/s").unwrap_err(), " --> set:1:1\n"),
        (experiment().set("wan->b.rate", "1M").unwrap_err(), "did you mean `link.wan->b.rate`?"),
        (experiment().set("pairs", "0").unwrap_err(), " --> set:1:7\n"),
        (experiment().laws(["xpc"]).run().unwrap_err(), " --> law\n"),
        (results.report(&page).unwrap_err(), "move it, or choose another path"),
        (experiment().folder(&file).run().unwrap_err(), "not a folder; choose another path"),
    ] {
        let wrong = wrong.to_string();
        let has_option = wrong.replace(" --> ", "").contains("--");
        assert!(wrong.contains(part) && !has_option, "{part} in {wrong}");
    }
    assert_eq!(std::fs::read_to_string(page).unwrap(), "mine");
}

#[test]
fn what_only_simulated_packets_have_is_refused_in_real_time() {
    let emulated = || experiment().worlds([World::Emulate]);
    for refused in [emulated().why("s1->d1@1s"), emulated().capture(["bottleneck"])] {
        let wrong = refused.plan().unwrap_err().to_string();
        assert!(wrong.contains("only simulated packets"), "{wrong}");
    }
}

#[test]
fn the_answer_to_a_question_is_in_the_run() {
    let results = experiment().why("s1->d1@1s").run().unwrap();
    let why = results.runs()[0].why().expect("an answer");
    assert!(why.starts_with("Why s1->d1 sends as it does under xcp, seed 1"), "{why}");
    assert_eq!(experiment().run().unwrap().runs()[0].why(), None);
    for spelling in ["s1-d1@1s", "s1:d1@1s"] {
        let results = experiment().why(spelling).run().unwrap();
        assert_eq!(results.runs()[0].why(), Some(why), "{spelling}");
    }
}

/// The whole run has fewer events than lie between two reports of progress by number.
#[test]
fn a_short_run_can_be_ended_by_its_own_time() {
    struct HalfWay;
    impl Listener for HalfWay {
        fn reached(&self, _run: &Running<'_>, progress: &Progress) -> ControlFlow<StopReason> {
            match progress.now < Time::from_secs(1) {
                true => ControlFlow::Continue(()),
                false => ControlFlow::Break(Box::new(Cancelled)),
            }
        }
    }
    let Err(Error::Incomplete(results)) = experiment().run_with(&HalfWay) else { panic!("it ran") };
    let Error::Stopped { at, .. } = results.failures()[0].error else { panic!("stopped") };
    assert_eq!(at, Time::from_secs(1));
}

/// Interrupts a run at a time.
struct At(Interrupt, Time);

impl Listener for At {
    fn reached(&self, run: &Running<'_>, progress: &Progress) -> ControlFlow<StopReason> {
        if progress.now >= self.1 {
            self.0.interrupt();
        }
        self.0.reached(run, progress)
    }
}

#[test]
fn an_interrupted_run_keeps_what_it_has_measured_and_says_so() {
    let listener = At(Interrupt::default(), Time::from_secs(1));
    let every = |duration: &str| {
        let set = experiment().set("record.interval", "10 ms").unwrap();
        set.set("duration", duration).unwrap()
    };
    let failed = every("2 s").run_with(&listener).unwrap_err();
    assert_eq!(failed.to_string(), "the run of xcp, seed 1 was interrupted after 1 s of 2 s");
    let Error::Incomplete(results) = failed else { panic!("{failed}") };
    let [run] = results.runs() else { panic!("one run") };
    assert!(run.is_partial() && !run.holds() && run.expectations().is_empty());
    assert_eq!((run.summary().duration_s, run.summary().planned_duration_s), (1.0, Some(2.0)));
    let rows: usize = batches(&run.link_samples()).iter().map(|b| b.num_rows()).sum();
    assert_eq!(rows, 100 * run.info().topology.links.len());
    let whole = every("1 s").run().unwrap();
    let (part, whole) = (run.flow("s1->d1").unwrap(), whole.runs()[0].flow("s1->d1").unwrap());
    // The last instant of the whole run has events that the interrupted run has not.
    assert!(whole.delivered_bytes - part.delivered_bytes < 3000, "{part:?} {whole:?}");
    assert!(results.json().contains("\"planned_duration_s\": 2.0"));
    assert!(!every("1 s").run().unwrap().json().contains("planned_duration_s"));
}

/// An outcome can be made at any sample: packets and messages are conserved.
#[test]
fn runs_of_all_kinds_can_be_interrupted() {
    for file in ["three-flows", "mice-and-elephant", "market-data", "grid-bulk-transfer"] {
        let path = format!("{}/../../scenarios/{file}.toml", env!("CARGO_MANIFEST_DIR"));
        let experiment = Experiment::load_with(path, &[("duration".into(), "2 s".into())]).unwrap();
        let law = experiment.scenario().laws()[0].clone();
        for at in [1, 700, 1500] {
            let listener = At(Interrupt::default(), Time::ZERO + Duration::from_millis(at));
            let failed = experiment.clone().laws([&law]).run_with(&listener).unwrap_err();
            let Error::Incomplete(results) = failed else { panic!("{file}: {failed}") };
            assert!(results.runs().iter().all(|run| run.is_partial()), "{file}");
            assert_eq!((results.runs().len(), results.failures().len()), (1, 0), "{file}");
        }
    }
}

#[test]
fn partial_results_do_not_replace_earlier_ones() {
    let folder = tempfile::tempdir().unwrap();
    let out = folder.path().join("o");
    let interrupted = || {
        let listener = At(Interrupt::default(), Time::from_secs(1));
        match experiment().folder(&out).run_with(&listener).unwrap_err() {
            Error::Incomplete(results) => results,
            failed => panic!("{failed}"),
        }
    };
    let read = |path: &str| std::fs::read_to_string(out.join(path)).unwrap();
    assert!(interrupted().is_written());
    assert!(read("report.html").contains("xcp: partial, 1 s of 2 s"));
    experiment().folder(&out).run().unwrap();
    let whole = read("summary.json");
    let results = interrupted();
    let why = results.unwritten().expect("earlier results").to_string();
    assert!(why.contains("earlier results are there, which partial ones do not replace"), "{why}");
    assert_eq!(read("summary.json"), whole);
    assert!(read(".unfinished/summary.json").contains("planned_duration_s"));

    let interrupt = Interrupt::default();
    interrupt.interrupt();
    let Err(Error::Incomplete(results)) = experiment().run_with(&interrupt) else { panic!("ran") };
    assert!(results.runs().is_empty() && results.is_partial());
    assert!(results.failures()[0].is_interrupted());
}
