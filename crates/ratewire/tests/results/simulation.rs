//! A simulation in steps gives the results of the run, and refuses names that it does not know.

use crate::batches;
use ratewire::report::World;
use ratewire::units::{Duration, Rate};
use ratewire::{Experiment, Results, Simulation};

const TEXT: &str = r#"
duration = "6 s"
law = "cubic"
[topology]
kind = "dumbbell"
pairs = 2
bottleneck = { rate = "10 Mbit/s", delay = "10 ms", queue = "30 packets" }
[[flow]]
from = "s*"
to = "d*"
stagger = "1 s"
[record]
rates_at = "bottleneck"
[[traffic]]
name = "short"
between = [["s1", "d1"]]
arrivals = { poisson = "3 /s" }
sizes = { pareto = { mean = "20 KB", shape = 1.5 } }
[[expect]]
metric = "utilisation"
link = "bottleneck"
min = 0.8
[[expect]]
metric = "throughput"
link = "bottleneck"
flow = "s1->d1"
min = "1 Mbit/s"
"#;

fn experiment() -> Experiment {
    Experiment::parse("steps.toml", TEXT).unwrap_or_else(|wrong| panic!("{wrong}"))
}

/// All that results hold, as text. Where hosts of a whole run take turns with the network, as
/// beside arriving traffic, the number of events is another.
fn all(results: &Results) -> String {
    let run = &results.runs()[0];
    let json = results.json();
    let (head, rest) = json.split_once("\"events\": ").expect("events");
    let json = head.to_string() + rest.trim_start_matches(|c: char| c.is_ascii_digit());
    let tables = (batches(&results.flows()), batches(&results.links()));
    format!(
        "{json} {:?} {:?} {:?} {:?}",
        run.verdicts(),
        tables,
        batches(&results.completions()),
        run.report().collected
    )
}

#[test]
fn steps_give_the_results_of_the_run() {
    let whole = experiment().run().unwrap();
    for millis in [3, 700] {
        let mut simulation = Simulation::new(&experiment()).unwrap();
        let step = Duration::from_millis(millis);
        while simulation.now() < simulation.duration() {
            simulation.run_until(simulation.now() + step).unwrap();
            simulation.flow("s1-d1").unwrap();
            simulation.link("bottleneck").unwrap();
        }
        assert_eq!(all(&simulation.finish().unwrap()), all(&whole), "{millis} ms");
    }
}

#[test]
fn what_is_changed_shows_in_the_results() {
    let mut simulation = Simulation::new(&experiment()).unwrap();
    simulation.run_until(Duration::from_secs(2)).unwrap();
    let before = simulation.flow("s2->d2").unwrap().delivered;
    simulation.set_rate("bottleneck", Rate::from_mbps(2)).unwrap();
    simulation.set_delay("bottleneck", Duration::from_millis(50)).unwrap();
    simulation.run_until(Duration::from_secs(4)).unwrap();
    assert!(simulation.flow("s2->d2").unwrap().srtt > Duration::from_millis(60));
    simulation.set_up("bottleneck", false).unwrap();
    let results = simulation.finish().unwrap();
    let run = &results.runs()[0];
    assert!(run.flow("s2->d2").unwrap().delivered_bytes > before.get());
    assert!(run.link("bottleneck").unwrap().throughput_bps < 0.6 * 10e6);
    assert!(!run.verdicts()[0].pass);
}

#[test]
fn losses_and_queues_change_between_steps() {
    let mut simulation = Simulation::new(&experiment()).unwrap();
    simulation.run_until(Duration::from_secs(2)).unwrap();
    let before = simulation.link("bottleneck").unwrap();
    simulation.set_loss("bottleneck", 0.5).unwrap();
    simulation.set_queue("bottleneck", 0).unwrap();
    simulation.run_until(Duration::from_secs(3)).unwrap();
    let after = simulation.link("bottleneck").unwrap();
    assert_eq!(before.lost, 0);
    let sent = (after.sent_packets - before.sent_packets) as f64;
    let share = after.lost as f64 / sent;
    assert!((share - 0.5).abs() < 4.0 * 0.5 / sent.sqrt(), "{} of {sent}", after.lost);
    assert_eq!(after.waiting_packets, 0);
    let refusal = simulation.set_loss("bottleneck", 1.5).unwrap_err().to_string();
    assert!(refusal.contains("1.5 is no probability from 0 to 1"), "{refusal}");
}

#[test]
fn names_and_worlds_that_there_are_not_are_refused() {
    let mut simulation = Simulation::new(&experiment()).unwrap();
    let refusal = simulation.flow("s9->d9").unwrap_err().to_string();
    assert!(refusal.contains("no flow is called \"s9->d9\""), "{refusal}");
    let refusal = simulation.set_rate("botleneck", Rate::from_mbps(1)).unwrap_err().to_string();
    assert!(refusal.contains("did you mean \"bottleneck\"?"), "{refusal}");
    let emulated = experiment().worlds([World::Emulate]);
    let refusal = Simulation::new(&emulated).unwrap_err().to_string();
    assert!(refusal.contains("only simulated runs stop between steps"), "{refusal}");
}
