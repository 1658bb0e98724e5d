//! One scenario under two laws: utilisation of the bottleneck and length of its queue.
//!
//! `cargo run --release -p ratewire --example one_run [SCENARIO]`

use ratewire::{Error, Experiment};

fn main() {
    if let Err(error) = run() {
        eprintln!("{error}");
        std::process::exit(1);
    }
}

fn run() -> Result<(), Error> {
    let default = concat!(env!("CARGO_MANIFEST_DIR"), "/../../scenarios/three-flows.toml");
    let path = std::env::args().nth(1).unwrap_or(default.to_string());
    let results = Experiment::load(path)?.laws(["xcp", "cubic"]).run()?;
    for run in results.runs() {
        let link = run.link("bottleneck")?;
        println!(
            "{:6} utilisation {:.3}, queue {:.1} packets on average",
            run.law(),
            link.utilisation,
            link.queue_packets_mean
        );
    }
    Ok(())
}
