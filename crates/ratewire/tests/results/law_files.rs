//! Laws of shared objects, named by their files: in experiments, values and scenarios.

use std::path::{Path, PathBuf};
use std::process::Command;

use crate::batches;
use arrow_array::Array;
use arrow_array::cast::AsArray;
use arrow_array::types::{UInt32Type, UInt64Type};
use ratewire::{Error, Experiment, LawCheck, Results};

fn plugin() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../plugin")
}

/// Compiles a law of `plugin/laws`, with texts of its main file replaced, as `name` in the folder.
fn build(folder: &Path, law: &str, name: &str, replaced: &[(&str, &str)]) {
    let file = plugin().join("laws").join(law).with_extension("c");
    let mut text = std::fs::read_to_string(&file).expect("the law");
    for (from, to) in replaced {
        assert!(text.contains(from), "{from}");
        text = text.replace(from, to);
    }
    let source = folder.join(name).with_extension("c");
    std::fs::write(&source, text).expect("a file");
    let done = Command::new("cc")
        .args(["-std=c99", "-O2", "-ffp-contract=off", "-Wall", "-Wextra", "-Werror"])
        .args(["-shared", "-fPIC", "-I"])
        .args([&plugin().join("include"), Path::new("-I"), file.parent().expect("a folder")])
        .args([Path::new("-o"), &folder.join(name), &source])
        .arg("-lm")
        .output()
        .expect("a C compiler");
    assert!(done.status.success(), "{}", String::from_utf8_lossy(&done.stderr));
}

/// Flows that lose packets, fall idle, and time out.
const TEXT: &str = r#"
duration = "20 s"
law = "newreno"
[topology]
kind = "dumbbell"
pairs = 3
rtt = "60 ms"
bottleneck = { rate = "10 Mbit/s", delay = "10 ms", queue = "20 packets", loss = { random = 0.002 } }
[transport]
handshake = true
[[flow]]
from = "s1"
to = "d1"
[[flow]]
from = "s2"
to = "d2"
start = "3 s"
[[flow]]
from = "s3"
to = "d3"
app = { on_off = { burst = "40 packets", pause = "2 s" } }
[record]
interval = "10 ms"
"#;

/// Windows of a law's flows at each sample.
fn windows(results: &Results, law: &str) -> Vec<(u32, Option<u64>)> {
    let mut all = Vec::new();
    let run = results.runs().iter().find(|run| run.law() == law).expect("a run");
    for batch in batches(&run.flow_samples()) {
        let flows = batch["flow"].as_primitive::<UInt32Type>();
        let windows = batch["cwnd_bytes"].as_primitive::<UInt64Type>();
        let window = |row: usize| windows.is_valid(row).then(|| windows.value(row));
        all.extend((0..batch.num_rows()).map(|row| (flows.value(row), window(row))));
    }
    all
}

/// Loss, idling, timeouts: the same windows to the byte.
#[test]
fn laws_in_c_have_the_windows_of_their_own_kind() {
    let folder = tempfile::tempdir().unwrap();
    for (law, source) in [("newreno", "newreno"), ("xcp", "xcp/xcp")] {
        build(folder.path(), source, &format!("{law}.so"), &[]);
        let object = folder.path().join(law).with_extension("so").display().to_string();
        let experiment = Experiment::parse("c.toml", TEXT).unwrap();
        let experiment = experiment.law_files([&object]).unwrap().laws([law, &object]);
        let results = experiment.run().unwrap_or_else(|wrong| panic!("{wrong}"));
        let other = format!("{law}-c");
        let names: Vec<&str> = results.runs().iter().map(ratewire::Run::law).collect();
        assert_eq!(names, [law, &other]);
        let [own, other] = [law, &other].map(|law| windows(&results, law));
        assert!(own.len() > 5000);
        let differ = own.iter().zip(&other).position(|(own, other)| own != other);
        let at = differ.map(|at| (at, own[at], other[at]));
        assert!(own == other, "{law}: of {} samples, {at:?} differs first", own.len());
        let drops: u64 = results.runs()[0].link("bottleneck").unwrap().drops.values().sum();
        assert!(drops > 20, "{law}: {drops} losses");
    }
}

#[test]
fn a_scenario_names_the_file_of_a_law_wherever_a_law_may_stand() {
    let folder = tempfile::tempdir().unwrap();
    build(folder.path(), "newreno", "own.so", &[("\"newreno-c\"", "\"own\"")]);
    let text = TEXT.replace("law = \"newreno\"", "law = [\"./own.so\", \"cubic\"]")
        + "[options.\"./own.so\"]\ninitial_window = \"4 packets\"\n\
           [variant.large]\nlaw = \"./own.so\"\ninitial_window = \"30 packets\"\n";
    let text = text.replace("from = \"s2\"", "law = \"large\"\nfrom = \"s2\"");
    let file = folder.path().join("own.toml");
    std::fs::write(&file, &text).unwrap();
    let refused = Experiment::load(&file).unwrap_err().to_string();
    assert!(refused.contains("./own.so is code that would run with your rights"), "{refused}");
    // A value is the caller's word for what it names itself, and for nothing else.
    let named = [("name".to_string(), "about ./own.so".to_string())];
    assert!(matches!(Experiment::load_with(&file, &named), Err(Error::UntrustedLaw { .. })));
    let plain = folder.path().join("plain.toml");
    std::fs::write(&plain, TEXT).unwrap();
    let law = [("law".to_string(), "./own.so".to_string())];
    Experiment::load_with(&plain, &law).unwrap_or_else(|wrong| panic!("{wrong}"));
    let load = || Experiment::load_trusting(&file, &[]).unwrap_or_else(|wrong| panic!("{wrong}"));
    let experiment = load();
    assert_eq!(experiment.scenario().laws(), ["own", "cubic"]);
    let results = experiment.run().unwrap();
    let run = &results.runs()[0];
    let laws: Vec<&str> = run.info().flows.iter().map(|flow| &*flow.law).collect();
    assert_eq!(laws, ["own", "large", "own"]);
    // What makes the run counts the object's content, and can be run again in that folder.
    let record = experiment.record();
    assert_eq!(record.files.len(), 1);
    assert_eq!((&*record.files[0].name, record.files[0].sha256.len()), ("own", 64));
    let again = experiment.scenario().effective("own", 1);
    assert!(again.contains("law = \"./own.so\""), "{again}");
    std::fs::write(folder.path().join("again.toml"), again).unwrap();
    let again = Experiment::load_trusting(folder.path().join("again.toml"), &[]).unwrap();
    let again = again.run().unwrap();
    assert_eq!(windows(&again, "own"), windows(&results, "own"));
    // A value may name it, too.
    assert!(load().set("flow.1.law", "./own.so").is_ok());
    let plain = folder.path().join("plain.toml");
    std::fs::write(&plain, TEXT).unwrap();
    assert!(Experiment::load(&plain).unwrap().set("flow.1.law", "./own.so").is_ok());
    let values = [("flow.1.law".to_string(), "./own.so".to_string())];
    assert!(Experiment::load_with(&plain, &values).is_ok());
    let missing = load().set("flow.1.law", "./none.so").unwrap_err();
    assert!(missing.to_string().contains("cannot read"), "{missing}");
}

#[test]
fn a_law_that_gives_a_wrong_number_ends_its_run_by_name() {
    let folder = tempfile::tempdir().unwrap();
    let broken =
        [("return ((const struct source *)source)->cwnd;", "(void)source;\n\treturn NAN;")];
    build(folder.path(), "newreno", "nan.so", &broken);
    let object = folder.path().join("nan.so").display().to_string();
    let experiment = Experiment::parse("c.toml", TEXT).unwrap();
    let failed = experiment.law_files([&object]).unwrap().laws([&object]).run().unwrap_err();
    let message = failed.to_string();
    assert!(
        message.contains("newreno-c") && message.contains("`source.window` gave NaN bytes"),
        "{message}"
    );
}

#[test]
fn checks_of_a_law_pass_or_report() {
    let folder = tempfile::tempdir().unwrap();
    build(folder.path(), "newreno", "newreno.so", &[]);
    let object = folder.path().join("newreno.so").display().to_string();
    let laws = ratewire::load_law(&object).unwrap();
    for check in LawCheck::all() {
        let due = check.is_due(&laws, &object).unwrap();
        let is_promise = ["conserved", "equal-shares", "any-speed"].contains(&check.name);
        assert_eq!(due, !is_promise, "{}", check.name);
        if due {
            check
                .check(&laws, &object, 1)
                .unwrap_or_else(|wrong| panic!("{}: {wrong}", check.name));
        }
    }
    // One that keeps a count outside its states, and promises what it does not keep.
    let careless = [
        ("\"newreno-c\"", "\"careless\""),
        ("s->cwnd = s->initial;", "static int flows;\n\ts->cwnd = s->initial * (1 + flows++);"),
        (".flags = RATEWIRE_GOES_BY_LOSSES", ".flags = RATEWIRE_EQUAL_SHARES | RATEWIRE_ANY_SPEED"),
    ];
    build(folder.path(), "newreno", "careless.so", &careless);
    let object = folder.path().join("careless.so").display().to_string();
    let laws = ratewire::load_law(&object).unwrap();
    for name in ["deterministic", "equal-shares", "any-speed"] {
        let check = LawCheck::all().iter().find(|check| check.name == name).unwrap();
        assert!(check.is_due(&laws, &object).unwrap());
        assert!(check.check(&laws, &object, 1).is_err(), "{name}");
    }
}
