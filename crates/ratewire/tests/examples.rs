//! The programs in `examples/` run, and say what they are there to say. `cargo test` builds them.

use std::process::{Command, Output};

fn run(name: &str, arguments: &[&str]) -> Output {
    let output = Command::new(ratewire_testing::example(name)).args(arguments).output();
    output.expect("the program starts")
}

fn example(name: &str, arguments: &[&str]) -> String {
    let output = run(name, arguments);
    assert!(output.status.success(), "{name}: {}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).expect("text")
}

/// The numbers of a line, in order.
fn numbers(line: &str) -> Vec<f64> {
    let plain = |word: &str| word.trim_end_matches(',').parse().ok();
    line.split_whitespace().filter_map(plain).collect()
}

#[test]
fn one_run_has_results_of_both_laws() {
    let said = example("one_run", &[]);
    let lines: Vec<&str> = said.lines().collect();
    let [xcp, cubic] = lines[..] else { panic!("{said}") };
    let (xcp, cubic) = (numbers(xcp), numbers(cubic));
    assert!(xcp[0] > 0.9 && cubic[0] > 0.9, "utilisations: {said}");
    assert!(xcp[1] < cubic[1] / 2.0, "XCP's queue is the shorter: {said}");
}

#[test]
fn an_example_prints_the_text_of_an_error() {
    let output = run("one_run", &["no/such/scenario.toml"]);
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(said.starts_with("error: cannot read the scenario"), "{said}");
    assert_eq!(output.status.code(), Some(1));
}

#[test]
fn a_network_of_ones_own_is_built_and_reported() {
    let folder = tempfile::tempdir().expect("a folder");
    let page = folder.path().join("report.html");
    let said = example("own_network", &[page.to_str().expect("a plain path")]);
    let lines: Vec<Vec<f64>> = said.lines().map(numbers).collect();
    let [xcp, newreno] = &lines[..] else { panic!("{said}") };
    let share = |law: &[f64]| law[0] / law[1];
    assert!((0.8..1.25).contains(&share(xcp)), "XCP shares equally: {said}");
    assert!(share(newreno) > 2.0, "NewReno favours the short path: {said}");
    assert!(std::fs::read_to_string(page).expect("the page").contains("short"));
}

#[test]
fn a_sweep_is_a_table_of_rates_and_laws() {
    let said = example("sweep", &[]);
    let rows: Vec<&str> = said.lines().filter(|line| line.contains(" Mbit/s  ")).collect();
    assert_eq!(rows.len(), 3 * 2, "{said}");
    let last = rows.last().map(|row| numbers(row)).expect("rows");
    assert!(last[0] == 50.0 && last[1] > 50.0, "{said}");
}

#[test]
fn a_law_of_ones_own_fills_the_link_and_shares_it() {
    let said = example("own_law", &[]);
    let own: Vec<f64> = said.lines().next().map(numbers).expect("a line for the law");
    assert!(said.starts_with("offers"), "{said}");
    assert!(own[0] > 0.85 && own[0] < 0.96, "it aims at 95 % of the link: {said}");
    assert!(own[1] < 30.0 && own[2] > 0.99, "CUBIC keeps 300 packets; equal shares: {said}");
}

#[test]
fn under_a_discipline_of_ones_own_newcomers_get_their_share() {
    let said = example("own_discipline", &[]);
    let lines: Vec<&str> = said.lines().collect();
    let [turns, drop_tail] = lines[..] else { panic!("{said}") };
    assert!(turns.starts_with("turns") && drop_tail.starts_with("drop-tail"), "{said}");
    let (turns, drop_tail) = (numbers(turns), numbers(drop_tail));
    assert!(turns[0] > 0.95 && drop_tail[0] > 0.95, "utilisations: {said}");
    assert!(turns[2] > 0.99 && drop_tail[2] < 0.8, "Jain's indices: {said}");
}
