//! Intervals end without packets. Needs root.

// The kernel's own time is what is tested.
#![allow(clippy::disallowed_methods, clippy::disallowed_types)]

use std::thread::sleep;
use std::time::{Duration, Instant};

use ratewire_live::KernelLaw;
use ratewire_live::probe::{Probe, ProbeMemory};
use ratewire_units::{Rate, Throughput};

const PATIENCE: Duration = Duration::from_secs(10);

#[test]
fn an_interval_in_which_no_packet_comes_ends_too() {
    for law in KernelLaw::OF_ROUTERS {
        let mut room = ProbeMemory::uninit();
        let probe = match Probe::new(&mut room, law, Rate::from_mbps(100)) {
            Ok(probe) => probe,
            Err(why) => {
                assert!(std::env::var_os("RATEWIRE_REQUIRE_ROOT").is_none(), "cannot run: {why}");
                return eprintln!("skipped: {why}");
            }
        };
        let status = || probe.status().expect("a state");
        let start = Instant::now();
        while status().input == Throughput::ZERO {
            probe.pass(&[0; 1500]).expect("it takes the frame");
            assert!(start.elapsed() < PATIENCE, "{law:?}: no interval ends");
        }
        let packets = status().packets;
        // Only an interval that ended without a packet has no input.
        while status().input != Throughput::ZERO {
            sleep(Duration::from_millis(1));
            assert!(start.elapsed() < PATIENCE, "{law:?}: {:?}", status());
        }
        assert_eq!(status().packets, packets, "{law:?}: nobody sends");
    }
}
