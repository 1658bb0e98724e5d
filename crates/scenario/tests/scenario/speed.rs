//! Scenarios with everything turned off that serves only speed.

use std::path::Path;

use ratewire_scenario::Scenario;
use ratewire_sim::outcome::Outcome;
use ratewire_sim::record::NoRecorder;
use ratewire_sim::setup::Setup;
use ratewire_sim::{Speed, run_with};
use ratewire_units::Duration;

/// The first seconds of one of the project's scenarios under one law.
fn setup(file: &str, law: &str, seconds: f64) -> Setup {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").join(file);
    let scenario = Scenario::load(&path).unwrap_or_else(|_| panic!("{file}"));
    let plan = scenario.plan(Some(law), None).unwrap_or_else(|_| panic!("{file} with {law}"));
    Setup { duration: Duration::from_secs_f64(seconds), ..plan.setup }
}

fn outcome(setup: &Setup, speed: Speed) -> Outcome {
    // The number of events may depend on what is only for speed.
    Outcome { events: 0, ..run_with(setup, &mut NoRecorder, speed).expect("it runs") }
}

/// Scenarios whose outcome is the same to the bit without the code that serves only speed.
///
/// Lagging hosts change the order of packets that meet at one instant. This changes the number of
/// events and, in few scenarios, the outcome: see the test below.
#[test]
fn results_do_not_depend_on_what_is_only_for_speed() {
    for (file, law, seconds) in [
        // 2,002 links and 1,000 flows: delay lines of routers and of lagging hosts, with ports.
        ("papers/xcp-sigcomm-2002/flows-500.toml", "xcp", 0.5),
        // Flows that keep arriving: lagging hosts, whose bursts use delay lines where no port is.
        ("scenarios/geant-websearch.toml", "xcp", 2.0),
        ("scenarios/geant-websearch.toml", "cubic", 2.0),
        ("scenarios/abilene-websearch.toml", "newreno", 2.0),
        ("papers/xcp-sigcomm-2002/mice-200.toml", "xcp", 2.0),
        // Ports that act on arrival only: departures are worked out as packets arrive.
        ("scenarios/fat-tree-hadoop.toml", "dctcp", 0.005),
        ("scenarios/mice-and-elephant.toml", "dctcp", 2.0),
        // Parts that hosts cannot lag behind: an overlay's nodes, switches of ensembles, switches
        // that pause.
        ("scenarios/market-data.toml", "newreno", 1.0),
        ("scenarios/sharded-key-value.toml", "xcp", 1.0),
        ("papers/network-of-queues/ring.toml", "noq", 1.0),
        // Features that few links have: traces, media, disciplines, losses, changes.
        ("scenarios/hsdpa-bus.toml", "cubic", 5.0),
        ("scenarios/half-duplex.toml", "xcp", 5.0),
        ("scenarios/aqm.toml", "cubic", 5.0),
        ("scenarios/random-and-burst-loss.toml", "newreno", 5.0),
        ("scenarios/link-down.toml", "xcp", 15.0),
        ("scenarios/hostile/every-lie-policed.toml", "xcp", 5.0),
    ] {
        let setup = setup(file, law, seconds);
        let off = outcome(&setup, Speed::off());
        assert!(off.packets.delivered > 100, "{file} with {law}: {:?}", off.packets);
        let off = format!("{off:?}");
        for speed in [Speed::full(), Speed::full().without_host_lag()] {
            assert!(format!("{:?}", outcome(&setup, speed)) == off, "{file} with {law}: {speed:?}");
        }
    }
}

/// Equal flows, so that packets of many hosts reach one queue at one instant.
///
/// The order of these packets decides which are dropped. Nothing else may differ.
#[test]
fn where_packets_come_at_one_instant_only_their_order_depends_on_speed() {
    let setup = setup("papers/xcp-sigcomm-2002/capacity-10mbit.toml", "xcp", 2.0);
    let off = outcome(&setup, Speed::off());
    let sequential = outcome(&setup, Speed::full().without_host_lag());
    assert_eq!(
        format!("{sequential:?}"),
        format!("{off:?}"),
        "nothing lags: the order is the same"
    );
    let full = outcome(&setup, Speed::full());
    assert_eq!(full.flows.len(), off.flows.len());
    let sums = |outcome: &Outcome| {
        let delivered: u64 = outcome.flows.iter().map(|flow| flow.delivered.get()).sum();
        let busy = outcome.links.iter().map(|link| link.busy.secs()).fold(0.0, f64::max);
        (delivered as f64, busy, outcome.packets.sent as f64)
    };
    let (is, was) = (sums(&full), sums(&off));
    let near = |is: f64, was: f64| (is / was - 1.0).abs() < 0.005;
    assert!(near(is.0, was.0) && near(is.1, was.1) && near(is.2, was.2), "{is:?} {was:?}");
}
