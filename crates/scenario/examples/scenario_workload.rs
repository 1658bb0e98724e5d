//! One scenario as a workload of `make bench`, timed from outside: `scenario_workload SCENARIO`.
//!
//! Nothing is sampled or written, so that the time is the engine's. Prints the delivered data
//! packets, the events, the packet transmissions over all links, and the flows that started and
//! completed.

use std::path::Path;
use std::process::ExitCode;

use ratewire_scenario::Scenario;
use ratewire_sim::record::NoRecorder;

/// The command's allocator, so that the workload shows the command's speed.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

fn main() -> ExitCode {
    let args: Vec<String> = std::env::args().skip(1).collect();
    match run(&args) {
        Ok(text) => {
            println!("{text}");
            ExitCode::SUCCESS
        }
        Err(reason) => {
            eprintln!("{reason}");
            ExitCode::from(2)
        }
    }
}

fn run(args: &[String]) -> Result<String, String> {
    let [path] = args else { return Err("usage: scenario_workload SCENARIO".into()) };
    let scenario = Scenario::load(Path::new(path)).map_err(|e| e.to_string())?;
    let mut setup = scenario.setup(None, None).map_err(|e| e.to_string())?;
    setup.sample_interval = None;
    let outcome = ratewire_sim::run(&setup, &mut NoRecorder).map_err(|e| e.to_string())?;
    let started = outcome.flows.iter().filter(|flow| flow.started.is_some()).count();
    let completed = outcome.flows.iter().filter(|flow| flow.completed.is_some()).count();
    let (packets, events) = (outcome.data_packets_delivered, outcome.events);
    let transmissions = outcome.transmissions();
    Ok(format!(
        "packets {packets} events {events} transmissions {transmissions} \
         flows {started} completed {completed}"
    ))
}
