//! Measured rate of a link: `bpf/laws/meter.h`.

use ratewire_units::{Bytes, Duration, Throughput, Time};

/// Departures while the queue was not empty.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default)]
pub struct Meter {
    left: u64,
    time_ns: u64,
    came: u64,
    began_ns: u64,
    sent: u64,
}

// Safe for the reasons given in `xcp.rs`.
unsafe extern "C" {
    safe fn rw_native_meter_packet(
        meter: &mut Meter,
        passed_ns: u64,
        size: u64,
        queue: u64,
        sent: u64,
    );
    safe fn rw_native_meter_read(meter: &mut Meter, now_ns: u64, believed: u64) -> u64;
}

impl Meter {
    /// Handles a packet that comes this long after the one before, behind `queue`, when `sent` has
    /// left in all.
    pub fn on_packet(&mut self, passed: Duration, size: Bytes, queue: Bytes, sent: Bytes) {
        let passed = passed.ps() / 1000;
        rw_native_meter_packet(self, passed, size.get(), queue.get(), sent.get());
    }
    /// Capacity to assume from now on.
    pub fn read(&mut self, now: Time, believed: Throughput) -> Throughput {
        let read = rw_native_meter_read(self, now.ps() / 1000, believed.get() as u64);
        Throughput::new(read as f64)
    }
}

#[cfg(test)]
mod layout {
    use super::*;

    crate::tests::laid_out_as_in_c! {
        meter: Meter, rw_layout_of_rw_meter, [left, time_ns, came, began_ns, sent];
    }
}
