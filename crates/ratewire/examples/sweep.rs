//! A sweep of a parameter: two laws at three rates, from two seeds, with progress and one table.
//!
//! `cargo run --release -p ratewire --example sweep`

use ratewire::{Error, Experiment, Listener, Running, Sweep};

/// Prints the name of each run that begins.
struct PrintName;

impl Listener for PrintName {
    fn begins(&self, run: &Running<'_>) {
        eprintln!("{}", run.name());
    }
}

fn main() {
    if let Err(error) = run() {
        eprintln!("{error}");
        std::process::exit(1);
    }
}

fn run() -> Result<(), Error> {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../scenarios/three-flows.toml");
    let experiment = Experiment::load(path)?.laws(["xcp", "cubic"]).seeds(1..=2);
    let sweep = Sweep::of(experiment).over("bottleneck.rate", "2 Mbit/s, 10 Mbit/s, 50 Mbit/s")?;
    // With `.folder("out/rates")` a sweep also writes a page and a Parquet file, and goes on after
    // it was stopped.
    print!("{}", sweep.plan()?.open()?.run(&PrintName).table());
    Ok(())
}
