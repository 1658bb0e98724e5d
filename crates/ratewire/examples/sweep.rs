//! A sweep of a parameter: one experiment for each value, with progress, and a table of results.
//!
//! `cargo run --release -p ratewire --example sweep`

use ratewire::{Error, Experiment, Listener, Running};

/// Prints the name of each run that begins.
struct Told;

impl Listener for Told {
    fn begins(&self, run: &Running<'_>) {
        eprintln!("{}", run.name());
    }
}

fn main() -> Result<(), Error> {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../scenarios/three-flows.toml");
    // A sweep needs only figures, and samples would fill the memory.
    let experiment = Experiment::load(path)?.laws(["xcp", "cubic"]).seeds(1..=2).without_samples();
    println!("{:>12}  {:>6}  {:>11}  {:>13}", "rate", "law", "utilisation", "queue/packets");
    for rate in ["2 Mbit/s", "10 Mbit/s", "50 Mbit/s"] {
        let results = experiment.clone().set("bottleneck.rate", rate)?.run_with(&Told)?;
        for law in ["xcp", "cubic"] {
            let of_law = results.law(law)?;
            let utilisation = of_law.utilisation("bottleneck")?;
            let queue = of_law.queue_packets("bottleneck")?;
            println!("{rate:>12}  {law:>6}  {utilisation:>11.3}  {queue:>13.1}");
        }
    }
    Ok(())
}
