//! A network made in code, without a scenario file, and the page of its runs.
//!
//! `cargo run --release -p ratewire --example own_network [REPORT.html]`

use ratewire::scenario::{Expect, Flow, Link, Scenario};
use ratewire::units::{Duration, Rate};
use ratewire::{Error, Experiment};

fn main() {
    if let Err(error) = run() {
        eprintln!("{error}");
        std::process::exit(1);
    }
}

fn run() -> Result<(), Error> {
    let (ms, secs) = (Duration::from_millis, Duration::from_secs);
    let scenario = Scenario::builder("A short and a long path share a link", secs(20), "xcp")
        .host("near")
        .host("far")
        .router("r")
        .host("server")
        .cable("near", "r", Link::new(Rate::from_mbps(100), ms(2)))
        .cable("far", "r", Link::new(Rate::from_mbps(100), ms(60)))
        .cable("r", "server", Link::new(Rate::from_mbps(10), ms(5)).named("bottleneck"))
        .flow(Flow::new("near", "server").named("short"))
        .flow(Flow::new("far", "server").named("long"))
        .expect(
            Expect::of("utilisation").link("bottleneck").during(secs(5), secs(20)).at_least(0.9),
        )
        .build()?;

    let results = Experiment::of(scenario).laws(["xcp", "newreno"]).run()?;
    for law in ["xcp", "newreno"] {
        let of_law = results.law(law)?;
        let [short, long] = [of_law.goodput_bps("short")?, of_law.goodput_bps("long")?];
        println!(
            "{law:8} short path {:.2} Mbit/s, long path {:.2} Mbit/s",
            short / 1e6,
            long / 1e6
        );
    }
    if let Some(page) = std::env::args().nth(1) {
        results.report(page)?;
    }
    Ok(())
}
