//! `--mutate`: which claims notice a wrong law.

use std::collections::BTreeSet;

use ratewire::papers::read_all;
use ratewire_laws::LawSet;
use ratewire_scenario::Scenario;

use crate::{PAPER, SCENARIO, err, folder, out, ratewire, root};

/// Two constants of XCP and one of a key, of which the last changes nothing that is claimed.
const MUTATIONS: &str = "\n[[mutation]]\nlaw = 'xcp'\noption = 'alpha'\nto = ['-1x', 0.4]\n\
    [[mutation]]\nkey = 'transport.min_rto'\nto = ['2x']\n";

/// The scenario with a table for the key.
fn with_transport() -> String {
    SCENARIO.replace("[topology]", "[transport]\nmin_rto = \"1 s\"\n\n[topology]")
}

/// XCP that slows down where it should speed up fills no link; NewReno's claims are not run again
/// for it.
#[test]
fn a_wrong_law_is_noticed_by_the_claims_that_it_breaks() {
    let folder = folder("mutate", &with_transport(), &format!("{PAPER}{MUTATIONS}"));
    let done = ratewire(&folder, &["reproduce", "first", "--mutate", "--json"]);
    assert_eq!(done.status.code(), Some(0), "{}", err(&done));
    let figures: serde_json::Value = serde_json::from_str(&out(&done)).expect("JSON");
    let figure = &figures[0];
    assert_eq!((&figure["paper"], &figure["claims"]), (&"first".into(), &4.into()));
    // 0.4 is alpha's own value: no mutant.
    let mutants = figure["mutants"].as_array().expect("mutants");
    assert_eq!(mutants.len(), 2, "{mutants:?}");
    let [alpha, rto] = [&mutants[0], &mutants[1]];
    assert_eq!((&alpha["constant"], &alpha["change"]), (&"alpha of xcp".into(), &"-1x".into()));
    let claims = alpha["claims"].as_array().expect("claims");
    assert!(claims.iter().all(|claim| claim["law"] == "xcp") && claims.len() == 2, "{claims:?}");
    let noticed: Vec<_> = claims.iter().filter(|claim| claim["passed"] == false).collect();
    assert!(noticed.len() == 1 && noticed[0]["metric"] == "utilisation", "{noticed:?}");
    assert!(noticed[0]["right"].as_f64() >= Some(0.9) && noticed[0]["value"].as_f64() < Some(0.5));
    let claims = rto["claims"].as_array().expect("claims");
    assert!(claims.len() == 4 && claims.iter().all(|claim| claim["passed"] == true));
    assert!(!folder.join("out").exists(), "no page is written");

    let done = ratewire(&folder, &["reproduce", "first/1", "--mutate", "--quiet"]);
    assert_eq!(done.status.code(), Some(0), "{}", err(&done));
    for line in [
        "alpha of xcp           -1x       2       1             1       1",
        "transport.min_rto       2x       4       0             2       0",
        "first  Figure 1       4            1        2        1                1",
        "Figures without a mutant: 0 of 1",
        "Figures that notice nothing: 0 of 1",
    ] {
        assert!(out(&done).contains(line), "{line}: {}", out(&done));
    }
}

/// A figure's own list replaces the paper's; one that notices nothing is counted and named.
#[test]
fn a_figure_that_notices_nothing_is_counted() {
    let own = MUTATIONS[MUTATIONS.rfind("[[mutation]]").unwrap()..].replace("[[m", "[[figure.m");
    let paper = PAPER.replace("[figure.sweep]", &format!("{own}\n[figure.sweep]"));
    let first = MUTATIONS.split("[[").nth(1).map(|table| format!("\n[[{table}")).unwrap();
    let folder = folder("unnoticed", &with_transport(), &format!("{paper}{first}"));
    let done = ratewire(&folder, &["reproduce", "first", "--mutate", "--quiet"]);
    assert_eq!(done.status.code(), Some(0), "{}", err(&done));
    let said = out(&done);
    assert!(said.contains("Figures that notice nothing: 1 of 1: first, Figure 1"), "{said}");
    assert!(said.contains("transport.min_rto") && !said.contains("alpha"), "{said}");
}

#[test]
fn mistakes_in_mutations_are_explained() {
    let cases = [
        (
            "law = 'xpc'\noption = 'alpha'\nto = ['2x']",
            "no law is called \"xpc\"",
            "did you mean `xcp`",
        ),
        (
            "law = 'xcp'\noption = 'alfa'\nto = ['2x']",
            "xcp has no option \"alfa\"",
            "did you mean `alpha`",
        ),
        (
            "law = 'xcp'\noption = 'pacing'\nto = ['2x']",
            "a word cannot be multiplied",
            "true or false",
        ),
        ("law = 'xcp'\noption = 'probe'\nto = ['nil']", "found \"nil\"", "a factor such as \"2x\""),
        ("law = 'xcp'\noption = 'min_interval'\nto = ['-1x']", "only a number", "a time"),
        ("law = 'xcp'\nto = ['2x']", "needs the constant that it breaks", "`law` and `option`"),
        ("key = 'overlay.cap'\nto = []", "without wrong values", "to = ["),
        ("law = 'xcp'\nconstant = 'alpha'\nto = ['2x']", "unknown field `constant`", "`option`"),
        (
            "key = 'transport.min_rto'\nto = ['soon']",
            "transport.min_rto cannot be so",
            "a time such as",
        ),
        ("key = 'transport.min_rta'\nto = [1]", "no key \"min_rta\"", "did you mean `min_rto`"),
    ];
    for (table, what, remedy) in cases {
        let folder =
            folder("mutations", &with_transport(), &format!("{PAPER}\n[[mutation]]\n{table}\n"));
        let done = ratewire(&folder, &["reproduce", "first", "--mutate"]);
        assert_eq!(done.status.code(), Some(2), "{table}: {}", out(&done));
        let said = err(&done);
        for part in [what, remedy, "paper.toml"] {
            assert!(said.contains(part), "{table}: no {part} in {said}");
        }
    }
    let folder = folder("page", SCENARIO, PAPER);
    let done = ratewire(&folder, &["reproduce", "first", "--mutate", "--out", "a.html"]);
    assert_eq!(done.status.code(), Some(2));
}

/// Each constant of the papers' tables is one that some scenario of the paper has, and each wrong
/// value gives a run.
#[test]
fn each_mutation_of_the_papers_changes_a_run() {
    for paper in read_all(&root().join("papers")).expect("papers") {
        assert!(paper.wrong_mutations(&LawSet::in_tree()).is_empty(), "{}", paper.name);
        let mut changed = BTreeSet::new();
        for figure in &paper.figures {
            let load =
                |file: &String| Scenario::load(&paper.folder.join(file)).expect("a scenario");
            let loaded: Vec<Scenario> = figure.scenarios.iter().map(load).collect();
            for mutant in figure.mutants(&paper, &loaded).expect("the values fit") {
                assert!(mutant.jobs().next().is_some(), "{}", paper.name);
                changed.insert((mutant.constant, mutant.change));
            }
        }
        let own = paper.figures.iter().flat_map(|figure| &figure.mutations);
        for mutation in paper.mutations.iter().chain(own) {
            for value in mutation.to.iter().map(toml::Spanned::get_ref) {
                let text = value.as_str().map_or_else(|| value.to_string(), str::to_string);
                let one = (mutation.name(), text);
                assert!(changed.contains(&one), "{}: {one:?} changes no run", paper.name);
            }
        }
    }
}
