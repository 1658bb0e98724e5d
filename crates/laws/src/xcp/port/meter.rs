//! The capacity of a link whose rate nobody can tell.

use ratewire_units::{Bytes, Time};

use crate::law::PortQueue;

/// Measures the link's rate: from one departure to the next the link only sends, if packets wait in
/// between.
#[derive(Clone, Debug)]
pub(super) struct Meter {
    probe: f64,
    /// Departure of the last packet if others waited behind it; [`Time::NEVER`] if none did.
    started: Time,
    size: f64,
    /// Bytes that left while others waited, and seconds that they took, in this control interval.
    bytes: f64,
    time: f64,
}

impl Meter {
    pub(super) fn new(probe: f64) -> Meter {
        Meter { probe, started: Time::NEVER, size: 0.0, bytes: 0.0, time: 0.0 }
    }

    #[inline]
    pub(super) fn observe(&mut self, now: Time, size: Bytes, queue: PortQueue) {
        if self.started != Time::NEVER {
            self.bytes += self.size;
            self.time += now.since(self.started).secs();
        }
        self.started = if queue.packets > 0 { now } else { Time::NEVER };
        self.size = size.as_f64();
    }

    /// Capacity to assume from now on. Evidence is weighted by the part of the interval that it
    /// covers.
    pub(super) fn read(&mut self, believed: f64, input_bw: f64, interval: f64) -> f64 {
        let (bytes, time) = (core::mem::take(&mut self.bytes), core::mem::take(&mut self.time));
        if time > 0.0 {
            return believed + (bytes / time - believed) * (time / interval).min(1.0);
        }
        // No packet waited, although arrivals reached about the assumed capacity.
        let is_full = input_bw >= (1.0 - self.probe) * believed;
        if is_full { believed * (1.0 + self.probe) } else { believed }
    }
}
