//! A law outside the workspace's crates, by its name in scenarios.

#[path = "../../../laws/tests/external/toy.rs"]
mod toy;

use std::io;

use ratewire_laws::LawSet;
use ratewire_scenario::{Finding, Loader, Scenario, ScenarioError};
use toy::Toy;

use crate::common::dumbbell;

fn parse(text: &str) -> Result<Scenario, ScenarioError> {
    let mut laws = LawSet::default();
    laws.register::<Toy>().expect("a name of its own");
    let no_files = |_: &str| Err(io::ErrorKind::NotFound.into());
    Loader::from(&laws).parse("own.toml", text, &no_files)
}

#[track_caller]
fn scenario(text: &str) -> Scenario {
    parse(text).unwrap_or_else(|all| panic!("{all}"))
}

fn refused(text: &str) -> String {
    parse(text).expect_err("it should be refused").to_string()
}

/// Three flows of the law through a bottleneck; they start at 0, 2 and 4 s.
fn three(more: &str) -> String {
    let text =
        dumbbell(&format!("[[flow]]\nfrom = \"s*\"\nto = \"d*\"\nstagger = \"2 s\"\n{more}"));
    text.replace("kind", "pairs = 3\nkind").replace("\"xcp\"", "\"toy\"")
}

fn verdicts(scenario: &Scenario, law: Option<&str>) -> Vec<Finding> {
    let plan = scenario.plan(law, None).unwrap_or_else(|all| panic!("{all}"));
    let mut evaluator = scenario.evaluator(&plan);
    let outcome = ratewire_sim::run(&plan.setup, &mut evaluator).unwrap();
    evaluator.finish(&outcome)
}

#[track_caller]
fn all_pass(text: &str, law: Option<&str>) {
    let verdicts = verdicts(&scenario(text), law);
    let texts: Vec<String> = verdicts.iter().map(ToString::to_string).collect();
    assert!(!verdicts.is_empty() && verdicts.iter().all(|v| v.pass), "{}", texts.join("\n"));
}

/// Flows start at a hundredth of their own link's rate. They would stay there if the port could not
/// write headers, or if the source could not read them.
#[test]
fn its_ports_fill_the_bottleneck_and_its_flows_share_equally() {
    let expect = |utilisation: f64| {
        format!(
            "[[expect]]\nmetric = \"jain\"\nduring = \"7 s .. 10 s\"\nmin = 0.999\n\
             [[expect]]\nmetric = \"utilisation\"\nlink = \"bottleneck\"\nduring = \"7 s .. 10 s\"\n\
             equals = {utilisation}\ntolerance = \"2 %\"\n"
        )
    };
    all_pass(&three(&expect(0.9)), None);
    all_pass(&three(&format!("{}[options.toy]\ngamma = 0.6\n", expect(0.6))), None);
    let variant = format!("{}[variant.half]\nlaw = \"toy\"\ngamma = 0.5\n", expect(0.5));
    all_pass(&three(&variant), Some("half"));
}

#[test]
fn its_headers_are_the_same_in_their_bytes() {
    let run = |wire: &str| {
        let scenario = scenario(&format!("wire = \"{wire}\"\n{}", three("")));
        let outcome = ratewire_sim::run(
            &scenario.setup(None, None).unwrap(),
            &mut ratewire_sim::record::NoRecorder,
        );
        format!("{:?}", outcome.unwrap())
    };
    assert_eq!(run("decoded"), run("exact"));
}

/// The law's port counts packets of other laws, and ignores their missing headers.
#[test]
fn it_takes_what_a_law_of_the_workspace_leaves() {
    let flows = "[[flow]]\nfrom = \"s1\"\nto = \"d1\"\n[[flow]]\nfrom = \"s2\"\nto = \"d2\"\n\
                 law = \"fixed\"\noptions = { rate = \"3 Mbit/s\" }\n\
                 [[expect]]\nmetric = \"utilisation\"\nlink = \"bottleneck\"\n\
                 during = \"5 s .. 10 s\"\nequals = 0.9\ntolerance = \"2 %\"\n\
                 [[expect]]\nmetric = \"share\"\nflow = \"s1->d1\"\nduring = \"5 s .. 10 s\"\n\
                 equals = 0.667\ntolerance = \"3 %\"\n";
    let text = dumbbell(flows).replace("kind", "pairs = 2\nkind").replace("\"xcp\"", "\"toy\"");
    all_pass(&text, None);
}

#[test]
fn mistakes_are_reported_as_of_other_laws() {
    let text = three("").replace("\"toy\"", "\"toi\"");
    let message = refused(&text);
    assert!(
        message.contains("no law or variant is called \"toi\"") && message.contains("toy"),
        "{message}"
    );
    let message = refused(&three("[options.toy]\ngama = 0.5\n"));
    assert!(
        message.contains("toy has no option `gama`") && message.contains("did you mean"),
        "{message}"
    );
    let message = refused(&three("[options.toy]\ngamma = 7\n"));
    assert!(
        message.contains("option `gamma` of toy: found 7; allowed is a number from 0.1 to 1"),
        "{message}"
    );
    let message = refused(&three("[variant.toy]\nlaw = \"xcp\"\n"));
    assert!(message.contains("a variant cannot be called \"toy\""), "{message}");
    let set = [("options.toy.gamma".to_string(), "9".to_string())];
    let message = scenario(&three("")).with_overrides(&set).expect_err("too large").to_string();
    assert!(message.contains("allowed is a number from 0.1 to 1"), "{message}");
    let unknown = Scenario::parse("own.toml", &three(""), &|_| Err(io::ErrorKind::NotFound.into()));
    assert!(unknown.expect_err("no such law").to_string().contains("no law or variant is called"));
}
