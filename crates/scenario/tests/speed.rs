//! Any scenario with all that is only for speed turned off.

use std::path::Path;

use ratewire_scenario::Scenario;
use ratewire_sim::Speed;
use ratewire_sim::outcome::Outcome;
use ratewire_sim::record::NoRecorder;
use ratewire_sim::setup::Setup;

fn outcome(setup: &Setup, speed: Speed) -> String {
    let t = std::time::Instant::now();
    let outcome = ratewire_sim::run_with(setup, &mut NoRecorder, speed).expect("it runs");
    eprintln!("    {speed:?} {} events, {:?}", outcome.events, t.elapsed());
    format!("{:?}", Outcome { events: 0, ..outcome })
}

#[test]
#[ignore]
fn explore() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let list = std::env::var("LIST").unwrap();
    let secs: f64 = std::env::var("SECS").unwrap().parse().unwrap();
    for file in list.split_whitespace() {
        let Ok(scenario) = Scenario::load(&root.join(file)) else {
            eprintln!("{file} no");
            continue;
        };
        let Ok(plan) = scenario.plan(None, None) else { continue };
        let mut setup = plan.setup.clone();
        setup.duration = setup.duration.min(ratewire_units::Duration::from_secs_f64(secs));
        eprintln!(
            "{file} links {} flows {} traffic {}",
            setup.network.links.len(),
            setup.flows.len(),
            setup.traffic.len()
        );
        let full = outcome(&setup, Speed::full());
        let off = outcome(&setup, Speed::off());
        let no_lag = outcome(&setup, Speed::full().without_host_lag());
        let no_lines = outcome(&setup, Speed::full().without_delay_lines());
        eprintln!("  off {} nolag {} nolines {}", full == off, off == no_lag, off == no_lines);
    }
}
