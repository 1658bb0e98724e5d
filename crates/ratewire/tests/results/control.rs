//! A program controls a flow by its window and pace.

use ratewire::scenario::Scenario;
use ratewire::units::{Bytes, Duration, Throughput};
use ratewire::{ControlledFlow, Measured};

const TEXT: &str = r#"
duration = "10 s"
law = "cubic"
[topology]
kind = "dumbbell"
pairs = 2
bottleneck = { rate = "10 Mbit/s", delay = "10 ms", queue = "30 packets" }
[[flow]]
from = "s1"
to = "d1"
start = "0.5 s"
[[change]]
link = "bottleneck"
at = "5 s"
rate = "5 Mbit/s"
"#;

fn flow() -> ControlledFlow {
    let no_files = |_: &str| Err(std::io::ErrorKind::NotFound.into());
    let scenario = Scenario::parse("control.toml", TEXT, &no_files).unwrap();
    ControlledFlow::new(&scenario, None, "s1->d1", 1).unwrap_or_else(|wrong| panic!("{wrong}"))
}

/// Steps of 100 ms until the flow is so old.
fn run(flow: &mut ControlledFlow, secs: f64) -> Vec<Measured> {
    let mut all = Vec::new();
    while flow.elapsed().secs() < secs {
        all.push(flow.run_for(Duration::from_millis(100)).unwrap());
    }
    all
}

fn rate(measured: &Measured) -> f64 {
    Throughput::over(measured.delivered, measured.interval).bps()
}

#[test]
fn a_window_of_a_bandwidth_delay_product_fills_the_link_without_a_queue() {
    let mut flow = flow();
    let bdp = flow.bottleneck_rate().throughput().get() * flow.base_rtt().secs();
    flow.set(Bytes::new((1.05 * bdp) as u64), None);
    let measured = run(&mut flow, 3.0);
    let last = measured.last().unwrap();
    assert!(rate(last) > 0.95 * 0.95 * 10e6, "{last:?}");
    assert!(last.rtt.unwrap() < flow.base_rtt().scale(1.2), "{last:?}");
    assert_eq!(last.lost, Bytes::ZERO);
    assert!(flow.min_rtt().unwrap() >= flow.base_rtt());
    run(&mut flow, 5.0);
    assert_eq!(flow.bottleneck_rate().bps(), 5_000_000, "the scenario changes it");
    assert_eq!(flow.bottleneck(), "bottleneck");
}

#[test]
fn a_pace_and_a_new_window_take_effect_at_once() {
    let mut flow = flow();
    flow.set(Bytes::new(1_000_000), Some(Throughput::new(2e6 / 8.0)));
    let measured = run(&mut flow, 2.0);
    assert!((1.8e6..2.0e6).contains(&rate(measured.last().unwrap())), "{measured:?}");
    flow.set(flow.packet(), None);
    run(&mut flow, 2.5);
    assert_eq!(flow.state().in_flight, flow.packet());
    flow.set(flow.packet() * 5, None);
    assert_eq!(flow.state().in_flight, flow.packet() * 5, "nothing has to arrive first");
}

#[test]
fn too_large_a_window_loses_packets_and_equal_calls_measure_the_same() {
    let all = || {
        let mut flow = flow();
        flow.set(Bytes::new(1_000_000), None);
        let measured = run(&mut flow, 9.0);
        assert!(!flow.is_over());
        flow.run_for(Duration::from_secs(9)).unwrap();
        assert!(flow.is_over());
        measured
    };
    let measured = all();
    assert!(measured.iter().any(|m| m.lost > Bytes::ZERO));
    assert_eq!(measured, all());
}
