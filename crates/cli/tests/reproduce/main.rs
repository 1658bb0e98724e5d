//! `ratewire reproduce` as its users meet it.

use std::path::{Path, PathBuf};
use std::process::{Command, Output};

mod mutate;
mod tables;

const SCENARIO: &str = r#"
name     = "One link"
duration = "2 s"
law      = ["xcp", "newreno"]

[topology]
kind       = "dumbbell"
bottleneck = { rate = "10 Mbit/s", delay = "10 ms" }

[[flow]]
from = "s1"
to   = "d1"

[[expect]]
metric = "utilisation"
link   = "bottleneck"
during = "1 s .. 2 s"
min    = 0.9
source = "section 1: the link is full"

[[expect]]
laws   = ["xcp"]
metric = "queue_mean"
link   = "bottleneck"
max    = "10 packets"
basis  = "run"
source = "section 1"

[[expect]]
laws   = ["newreno"]
metric = "drops"
max    = 100000
basis  = "differs"
source = "section 2: no drops"
note   = "The buffer is small."
"#;

const PAPER: &str = r#"
title   = "A paper"
authors = "Its authors"
summary = "What it says."

[[figure]]
id        = "Figure 1"
title     = "One link"
caption   = "A link that is full."
note      = "It drops."
scenarios = ["one.toml"]
plots     = ["throughput", "queue"]
apart     = true

[figure.sweep]
over    = "Links"
values  = [1]
metrics = ["utilisation"]
"#;

/// A folder with one paper, separate for each test.
fn folder(test: &str, scenario: &str, paper: &str) -> PathBuf {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("reproduce").join(test);
    let _ = std::fs::remove_dir_all(&folder);
    std::fs::create_dir_all(folder.join("papers/first")).expect("a folder for the test");
    std::fs::write(folder.join("papers/first/one.toml"), scenario).expect("a scenario");
    std::fs::write(folder.join("papers/first/paper.toml"), paper).expect("a paper");
    folder
}

fn ratewire(folder: &Path, args: &[&str]) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_ratewire"));
    command.args(args).current_dir(folder).output().expect("the command starts")
}

fn out(output: &Output) -> String {
    String::from_utf8_lossy(&output.stdout).into_owned()
}

fn err(output: &Output) -> String {
    String::from_utf8_lossy(&output.stderr).into_owned()
}

/// One of two figures is chosen by the beginning of its title; an unknown figure is reported.
#[test]
fn a_single_figure_is_run() {
    let second = PAPER[PAPER.find("[[figure]]").unwrap()..].replace("Figure 1", "Figure 12, left");
    let second = second.replace("one.toml", "two.toml");
    let folder = folder("single", SCENARIO, &format!("{PAPER}{second}"));
    std::fs::write(folder.join("papers/first/two.toml"), SCENARIO).expect("a scenario");
    for (name, page) in [
        ("first/figure-12", "first-figure-12-left"),
        ("papers/first/1", "first-figure-1"),
        ("first/Figure 1", "first-figure-1"),
    ] {
        let done = ratewire(&folder, &["reproduce", "--quiet", name]);
        let said = out(&done);
        assert_eq!(said.contains("first, Figure 12, left:"), name.contains("12"), "{name}: {said}");
        assert_eq!(said.contains("first, Figure 1:"), !name.contains("12"), "{name}: {said}");
        assert!(folder.join(format!("out/reproduce/{page}.html")).is_file(), "{name}");
    }
    let both = ratewire(&folder, &["reproduce", "--quiet", "first/1", "first/12"]);
    assert!(out(&both).contains("Figure 1:") && out(&both).contains("Figure 12, left:"));
    let two = folder.join("papers/second");
    std::fs::create_dir(&two).expect("a folder for a second paper");
    for file in ["one.toml", "two.toml", "paper.toml"] {
        std::fs::copy(folder.join("papers/first").join(file), two.join(file)).expect("a copy");
    }
    let figures = |args: &[&str]| {
        let done = ratewire(&folder, &[&["reproduce", "--all", "--quiet"], args].concat());
        let is_of_figure = |line: &&str| line.contains("Figure 12, left: One link");
        let lines: Vec<String> =
            out(&done).lines().filter(is_of_figure).map(str::to_string).collect();
        (lines, out(&done).contains("the link is full"))
    };
    let (lines, has_claims) = figures(&[]);
    assert!(lines.len() == 2 && !has_claims, "{lines:?}");
    // Claims, then the verdicts on them.
    assert!(lines[1].starts_with("second") && lines[1].contains(" 4  "), "{lines:?}");
    assert!(figures(&["--details"]).1);
    std::fs::remove_dir_all(two).expect("the second paper goes");
    let done = ratewire(&folder, &["reproduce", "first/figure-12-lefd"]);
    assert_eq!(done.status.code(), Some(2));
    let said = String::from_utf8_lossy(&done.stderr).into_owned();
    assert!(
        said.contains(
            "no figure of first is called \"figure-12-lefd\"; did you mean \"figure-12-left\"?"
        ),
        "{said}"
    );
    let done = ratewire(&folder, &["reproduce", "frist/1"]);
    let said = String::from_utf8_lossy(&done.stderr).into_owned();
    assert!(said.contains("did you mean \"first\"?"), "{said}");
}

#[test]
fn a_figure_within_others_is_printed_with_them() {
    let cases =
        [("Figures 12 to 14", "figures-12-to-14", "15"), ("Figures 11, 13", "figures-11-13", "12")];
    for (id, handle, other) in cases {
        let folder = folder("within", SCENARIO, &PAPER.replace("Figure 1", id));
        for name in ["figure-13", "13"] {
            let done = ratewire(&folder, &["reproduce", &format!("first/{name}")]);
            assert_eq!(done.status.code(), Some(2));
            let says = format!("{name} of first is run as a part of {handle}");
            assert!(err(&done).contains(&says), "{}", err(&done));
        }
        let done = ratewire(&folder, &["reproduce", &format!("first/figure-{other}")]);
        assert!(err(&done).contains("no figure of first is called"), "{}", err(&done));
    }
}

#[test]
fn without_a_name_papers_and_figures_are_listed() {
    let folder = folder("list", SCENARIO, PAPER);
    let done = ratewire(&folder, &["reproduce"]);
    assert_eq!(done.status.code(), Some(0), "{}", err(&done));
    for part in ["first\n", "A paper", "figure-1  One link", "as first/figure-1;"] {
        assert!(out(&done).contains(part), "{part}: {}", out(&done));
    }
    assert!(!folder.join("out").exists(), "a list runs nothing");
}

#[test]
fn a_paper_ends_in_counts_and_a_page_that_keep_the_kinds_of_verdict_apart() {
    let folder = folder("paper", SCENARIO, PAPER);
    let done = ratewire(&folder, &["reproduce", "first"]);
    assert_eq!(done.status.code(), Some(0), "{}", err(&done));
    let counts = out(&done).lines().find(|l| l.starts_with("first ")).map(str::to_string);
    let counts: Vec<String> =
        counts.expect("counts").split_whitespace().skip(1).map(str::to_string).collect();
    // Figures, claims; reproduced under two laws, derived, fitted, set after a run, not reproduced,
    // failed.
    assert_eq!(counts, ["1", "4", "2", "0", "0", "1", "1", "0"]);
    let page = std::fs::read_to_string(folder.join("out/reproduce/first.html")).expect("a page");
    assert!(page.len() < 5_000_000);
    for part in [
        "✓ 2 reproduced",
        "○ 1 set after a run",
        "≠ 1 not reproduced",
        "A link that is full.",
        "It drops.",
        "The buffer is small.",
        "class=\"panel apart\"",
        "data-key=\"queue\"",
        "Utilisation against Links",
    ] {
        assert!(page.contains(part), "{part}");
    }
}

#[test]
fn all_papers_are_one_page_and_one_list_of_claims() {
    let folder = folder("all", SCENARIO, PAPER);
    std::fs::create_dir_all(folder.join("papers/second")).expect("a folder");
    for file in ["one.toml", "paper.toml"] {
        let from = folder.join("papers/first").join(file);
        std::fs::copy(from, folder.join("papers/second").join(file)).expect("a copy");
    }
    let done = ratewire(&folder, &["reproduce", "--all", "--out", "page.html"]);
    assert_eq!(done.status.code(), Some(0), "{}", err(&done));
    assert!(out(&done).lines().any(|l| l.starts_with("together ") && l.contains(" 8 ")));
    let page = std::fs::read_to_string(folder.join("page.html")).expect("a page");
    assert!(page.contains("2 papers, figure by figure") && page.contains("id=\"p1f0\""));
    let done = ratewire(&folder, &["reproduce", "second", "--json"]);
    let claims: serde_json::Value = serde_json::from_str(&out(&done)).expect("JSON");
    assert_eq!(claims[0]["paper"], "second");
    assert_eq!(
        (&claims[0]["verdict"], &claims[0]["basis"]),
        (&"reproduced".into(), &"claim".into())
    );
}

#[test]
fn a_claim_that_no_longer_holds_fails_whatever_its_basis() {
    let broken = SCENARIO.replace("max    = \"10 packets\"", "min    = \"1000 packets\"");
    let folder = folder("fails", &broken, PAPER);
    let done = ratewire(&folder, &["reproduce", "first"]);
    assert_eq!(done.status.code(), Some(1), "{}", err(&done));
    let page = std::fs::read_to_string(folder.join("out/reproduce/first.html")).expect("a page");
    assert!(page.contains("✗ 1 failed") && !page.contains("set after a run</span></td>"));
}

/// A source's value that a parameter was chosen to meet is neither reproduced nor a claim.
#[test]
fn a_fitted_value_has_a_verdict_of_its_own() {
    let fitted = SCENARIO.replace("basis  = \"run\"", "basis  = \"fit\"");
    let folder = folder("fitted", &fitted, PAPER);
    let done = ratewire(&folder, &["reproduce", "first"]);
    assert_eq!(done.status.code(), Some(0), "{}", err(&done));
    let said = out(&done);
    assert!(said.lines().any(|l| l.starts_with("fitted ") && l.contains("(fitted)")), "{said}");
    let counts = said.lines().find(|l| l.starts_with("first ")).expect("counts");
    assert!(counts.ends_with('0') && counts.contains(" 1 "), "{counts}");
    let counts: Vec<&str> = counts.split_whitespace().skip(1).collect();
    assert_eq!(counts, ["1", "4", "2", "0", "1", "0", "1", "0"]);
    let page = std::fs::read_to_string(folder.join("out/reproduce/first.html")).expect("a page");
    assert!(page.contains("≈ 1 fitted") && page.contains("is-fitted"));
    let done = ratewire(&folder, &["reproduce", "first", "--json"]);
    let claims: serde_json::Value = serde_json::from_str(&out(&done)).expect("JSON");
    let fitted = claims.as_array().expect("a list").iter().find(|c| c["basis"] == "fit");
    assert_eq!(fitted.expect("a fitted claim")["verdict"], "fitted");
}

/// Values of emulated runs with two mistakes.
const OTHERS: &str = "[[figure.emulated]]\nscenarios = ['two.toml']\nset = ['rate']\n\
    why = 'so'\n\n[figure.sweep]";

#[test]
fn mistakes_are_explained() {
    let folder = folder("mistakes", SCENARIO, PAPER);
    let expect = |args: &[&str], code: i32, part: &str| {
        let done = ratewire(&folder, args);
        assert_eq!(done.status.code(), Some(code), "{args:?}: {}", err(&done));
        assert!(err(&done).contains(part), "{part}: {}", err(&done));
    };
    expect(&["reproduce", "frist"], 2, "known: first");
    expect(&["reproduce", "--papers", "nowhere"], 3, "--papers FOLDER");
    expect(&["reproduce", "--papers", "papers/first"], 2, "paper.toml");
    expect(&["reproduce", "first", "--out", "papers/first/one.toml/x"], 3, "it is a file");
    let file = folder.join("papers/first/paper.toml");
    for (from, to, part) in [
        ("\"one.toml\"", "\"two.toml\"", "there is no two.toml"),
        ("values  = [1]", "values  = [1, 2]", "a sweep over 1 has 2 values"),
        ("\"queue\"", "\"quue\"", "quue"),
        ("\"one.toml\"", "\"one.toml\", \"one.toml\"", "one.toml is in two figures"),
        ("apart     = true", "drawn = [\"two.toml\"]", "two.toml is drawn, but not among"),
        ("[figure.sweep]", OTHERS, "two.toml is not among"),
        ("[figure.sweep]", &OTHERS.replace("two.toml", "one.toml"), "is not KEY=VALUE"),
    ] {
        std::fs::write(&file, PAPER.replace(from, to)).expect("a paper");
        let done = ratewire(&folder, &["reproduce"]);
        assert!(err(&done).contains(part), "{part}: {}", err(&done));
        assert_eq!(done.status.code(), Some(2));
    }
    for (from, to, parts) in [
        (
            "\"utilisation\"]",
            "\"utilization\"]",
            ["has the metric \"utilization\"", "paper.toml:18:12", "`utilisation`?"],
        ),
        (
            "\"utilisation\"]",
            "\"utilisation of bottleneg\"]",
            ["has the metric", "paper.toml:18:12", "`utilisation of bottleneck`?"],
        ),
        (
            "apart     = true",
            "laws = [\"xpc\"]",
            ["has the law \"xpc\"", "paper.toml:13:9", "known: newreno, xcp"],
        ),
        (
            "apart     = true",
            "links = [\"bottleneck\", \"s1-r1\"]",
            ["has the link \"s1-r1\"", "paper.toml:13:24", "`s1->r1`?"],
        ),
        (
            "metrics = [\"utilisation\"]",
            "metrics = [\"utilisation\"]\nof = [\"bottleneg\"]",
            ["has the target \"bottleneg\"", "paper.toml:19:7", "`bottleneck`?"],
        ),
    ] {
        std::fs::write(&file, PAPER.replace(from, to)).expect("a paper");
        let done = ratewire(&folder, &["reproduce", "first"]);
        for part in parts {
            assert!(err(&done).contains(part), "{part}: {}", err(&done));
        }
        assert_eq!(done.status.code(), Some(2));
        assert!(!folder.join("out").exists(), "nothing is run");
    }
    std::fs::write(&file, PAPER).expect("a paper");
    std::fs::write(folder.join("papers/first/two.toml"), SCENARIO).expect("a scenario");
    expect(&["reproduce"], 2, "two.toml is in no figure");
}

#[test]
fn a_paper_is_no_scenario() {
    let folder = folder("check", SCENARIO, PAPER);
    let done = ratewire(&folder, &["check", "--syntax", "papers"]);
    assert_eq!(done.status.code(), Some(0), "{}", err(&done));
    assert!(err(&done).contains("1 scenario read, 0 with errors"), "{}", err(&done));
}

/// Every scenario in `papers/` belongs to one figure; otherwise the command would refuse the
/// folder.
#[test]
fn the_papers_that_ship_are_complete() {
    let papers = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../papers");
    let folder = folder("shipped", SCENARIO, PAPER);
    let done = ratewire(&folder, &["reproduce", "--papers", papers.to_str().expect("a path")]);
    assert_eq!(done.status.code(), Some(0), "{}", err(&done));
    let folders = std::fs::read_dir(&papers).expect("papers").flatten();
    for name in folders.filter(|f| f.path().is_dir()).map(|f| f.file_name()) {
        let name = name.to_string_lossy().into_owned();
        assert!(out(&done).lines().any(|line| line == name), "{name}");
    }
}

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}
