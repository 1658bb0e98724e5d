//! A build with few features simulates, and refuses the rest by the name of the feature.

use ratewire::Experiment;

const TEXT: &str = "duration = '2 s'\nlaw = 'xcp'\n[topology]\nkind = 'dumbbell'\n\
    bottleneck = { rate = '10 Mbit/s', delay = '10 ms' }\n[[flow]]\nfrom = 's1'\nto = 'd1'\n\
    [[expect]]\nmetric = 'utilisation'\nlink = 'bottleneck'\nduring = '1 s .. 2 s'\nmin = 0.5\n";

fn experiment() -> Experiment {
    Experiment::parse("hello.toml", TEXT).expect("a scenario")
}

#[test]
fn runs_are_simulated_checked_compared_and_drawn() {
    let results = experiment().laws(["xcp", "cubic"]).run().expect("results");
    assert!(results.hold() && results.expectations().count() == 2);
    let xcp = results.law("xcp").expect("runs").utilisation("bottleneck").expect("a link");
    assert!(xcp > 0.5, "{xcp}");
    let figure = results.plot("throughput").expect("a figure");
    assert!(figure.svg(&ratewire::Style::default()).starts_with("<svg"));
    let compared =
        ratewire::Compare::of(experiment(), &["xcp", "cubic"], &[1, 2, 3]).expect("a comparison");
    assert!(compared.run().expect("results").table().contains("cubic"));
    let sweep = ratewire::Sweep::of(experiment()).over("bottleneck.rate", "5M,10M");
    let swept = sweep.expect("a sweep").run().expect("results");
    assert_eq!((swept.sweep().runs.len(), swept.failures().len()), (2, 0));
    let folder = tempfile::tempdir().expect("a folder");
    results.report(folder.path().join("report.html")).expect("a page");
}

/// Most crates that the library takes without features, with its own.
const MOST_CRATES: usize = 76;

#[test]
fn a_build_without_features_takes_few_crates() {
    let done = std::process::Command::new(env!("CARGO"))
        .args(["tree", "--offline", "-p", "ratewire", "--no-default-features"])
        .args(["-e", "normal", "--prefix", "none", "--no-dedupe"])
        .current_dir(env!("CARGO_MANIFEST_DIR"))
        .output()
        .expect("cargo tree");
    assert!(done.status.success(), "{}", String::from_utf8_lossy(&done.stderr));
    let printed = String::from_utf8(done.stdout).expect("text");
    let crates: std::collections::BTreeSet<&str> = printed.lines().collect();
    let found = crates.len();
    assert!(crates.iter().any(|name| name.starts_with("ratewire-sim ")), "{printed}");
    assert!(found <= MOST_CRATES, "{found} crates, and {MOST_CRATES} are allowed: {crates:#?}");
}

/// The message of an error about a missing feature.
#[cfg(not(all(feature = "emulate", feature = "parquet", feature = "plugin")))]
fn refusal<T>(result: Result<T, ratewire::Error>, feature: &str) -> String {
    let Err(ratewire::Error::Setting { setting, reason }) = result else { panic!("no refusal") };
    let help = format!("\n  help: enable the feature `{feature}` of the crate `ratewire`");
    let what = reason.strip_suffix(&help).unwrap_or_else(|| panic!("{reason}"));
    format!("{setting}: {what}")
}

#[cfg(not(feature = "emulate"))]
#[test]
fn emulated_runs_need_their_feature() {
    use ratewire::{Job, World};
    let planned = experiment().worlds([World::Simulate, World::Emulate]).run();
    assert_eq!(refusal(planned, "emulate"), "world: this build has no world emulate");
    let experiment = experiment();
    let plan = experiment.scenario().plan(None, None).expect("a plan");
    let ran = Job::new(experiment.scenario(), plan, World::Emulate).run(&());
    assert_eq!(refusal(ran, "emulate"), "world: this build has no world emulate");
}

#[cfg(not(feature = "parquet"))]
#[test]
fn folders_of_results_need_their_feature() {
    let folder = tempfile::tempdir().expect("a folder");
    let out = folder.path().join("out");
    let what = "folder: this build writes no tables, which a folder of results has";
    assert_eq!(refusal(experiment().folder(&out).run(), "parquet"), what);
    let sweep = ratewire::Sweep::of(experiment()).over("bottleneck.rate", "5M,10M");
    assert_eq!(refusal(sweep.expect("a sweep").folder(&out).run(), "parquet"), what);
    assert!(!out.exists(), "nothing is begun that cannot be finished");
}

#[cfg(not(feature = "plugin"))]
#[test]
fn laws_in_files_need_their_feature() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("own.toml");
    std::fs::write(&path, TEXT.replace("'xcp'", "'./mine.so'")).expect("a scenario");
    let what = "law ./mine.so: this build loads no laws from files";
    assert_eq!(refusal(Experiment::load_trusting(&path, &[]), "plugin"), what);
    assert_eq!(refusal(experiment().law_files(["./mine.so"]), "plugin"), what);
    assert_eq!(refusal(ratewire::load_law("./mine.so"), "plugin"), what);
}

#[cfg(not(feature = "images"))]
#[test]
fn pictures_need_their_feature() {
    use ratewire::{Figures, Style};
    let folder = tempfile::tempdir().expect("a folder");
    let figure = experiment().run().expect("results").plot("queue").expect("a figure");
    let path = folder.path().join("queue.pdf");
    let wrong = Figures::write(&figure, &path, &Style::default()).expect_err("no picture");
    assert!(wrong.to_string().contains("lacks the feature `images`; write an SVG"), "{wrong}");
    assert!(!path.exists());
    Figures::write(&figure, path.with_extension("svg"), &Style::default()).expect("an SVG");
}
