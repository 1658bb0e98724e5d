//! What is said of a run agrees with itself and with the run.

use ratewire_report::{FlowSummary, Run};
use ratewire_run::Labels;
use ratewire_scenario::Scenario;
use ratewire_sim::record::NoRecorder;

fn run(text: &str) -> Run {
    let scenario =
        Scenario::parse("test.toml", text, &|_| Err(std::io::Error::other("no such file")));
    let scenario = scenario.unwrap_or_else(|all| panic!("{all:?}"));
    let setup = scenario.setup(None, None).unwrap_or_else(|all| panic!("{all:?}"));
    ratewire_run::run(&setup, &Labels::default(), None, &mut NoRecorder).unwrap().0
}

/// A peer, a switch and three members.
fn ensemble(more: &str) -> String {
    let mut text =
        "duration = \"10 s\"\nlaw = \"xcp\"\n[topology]\nkind = \"custom\"\n".to_string();
    for node in ["c", "a1", "a2", "a3"] {
        text += &format!("[[node]]\nname = \"{node}\"\n");
    }
    text += "[[node]]\nname = \"q\"\nhost = false\n";
    for (node, rate) in [("c", 20), ("a1", 2), ("a2", 30), ("a3", 30)] {
        text += &format!(
            "[[link]]\nbetween = [\"q\", \"{node}\"]\nrate = \"{rate} Mbit/s\"\ndelay = \"3 ms\"\n"
        );
    }
    text + "[[ensemble]]\nname = \"kv\"\npeer = \"c\"\nswitch = \"q\"\nmembers = [\"a*\"]\n" + more
}

/// Of cables of which one is slowest and another loaded, figures are about the latter, by name.
#[test]
fn the_loaded_link_is_what_verdicts_are_about() {
    let more = "direction = \"inbound\"\nrouting = { weighted = [1, 98, 1] }\n";
    let run = run(&ensemble(more));
    let table = ratewire_report::table::render(&[run], &ratewire_report::table::Options::default());
    assert!(table.contains("utilisation and queue (packets) of c->q"), "{table}");
}

/// Members that differ by much, each with an end: every byte counts once, however long a flow lasted.
#[test]
fn shares_of_ensembles_are_parts_of_one_total() {
    let run = run(&ensemble("size = \"600 KB\"\n"));
    let flows = &run.summary.flows;
    let share = |name: &str| -> f64 {
        let of = |flow: &&FlowSummary| flow.name == name;
        flows.iter().find(of).unwrap_or_else(|| panic!("no {name}")).share
    };
    // 600 KB there, three times as much back.
    for (name, wanted) in [("kv", 0.25), ("kv.out", 0.75), ("kv.a1.out", 0.25)] {
        assert!((share(name) - wanted).abs() < 1e-12, "{name}: {}", share(name));
    }
    let there: f64 = (1..=3).map(|i| share(&format!("kv.a{i}"))).sum();
    assert!((there - share("kv")).abs() < 1e-12, "{there}");
    assert!(flows.iter().all(|flow| flow.completion_s.is_some()));
    // Transfers are those of applications: one of the peer, three of the members.
    assert_eq!(run.summary.completions.map(|all| all.flows), Some(4));
    assert_eq!(run.summary.unfinished_flows, Some(0));
    // And the total that is drawn is of what arrives.
    let total = &run.collected.total_goodput_bps;
    let bytes: f64 = total.values().sum::<f64>() * total.interval().secs() / 8.0;
    assert!((bytes / 2.4e6 - 1.0).abs() < 0.01, "{bytes}");
}
