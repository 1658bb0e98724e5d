//! A policer: `bpf/laws/police.h`.

use ratewire_units::{Bytes, Duration, Throughput, Time};

use crate::arithmetic::fixed;

/// What a packet claims, to a policer.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default)]
pub struct Claim {
    size: u64,
    segment: u64,
    rate: u64,
    rtt_us: u32,
    has_rounds: u32,
    round: u32,
    leeway: u32,
    capacity: u64,
}

/// A flow that a policer watches.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default)]
pub struct Suspect {
    seen_ns: u64,
    began_ns: u64,
    passed: u64,
    claimed: u64,
    base: i64,
    last: i64,
    fresh: i64,
    bytes: u64,
    time: u64,
    unclaimed: u64,
    measured: u64,
    rtt_us: u32,
    round: u32,
    is_rated: u32,
    pad: u32,
}

/// What a policer does with a packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Policed {
    /// The packet passes.
    Passes,
    /// The packet passes with a corrected claim.
    Corrected,
    /// The packet is dropped.
    Dropped,
}

// Safe for the reasons given in `xcp.rs`.
unsafe extern "C" {
    safe fn rw_native_suspect_init(suspect: &mut Suspect, claim: &Claim, now_ns: u64);
    safe fn rw_native_police_arrival(suspect: &mut Suspect, claim: &mut Claim, now_ns: u64) -> u32;
    safe fn rw_native_police_change(suspect: &mut Suspect, claim: &Claim, change: i64);
    safe fn rw_native_police_rate(suspect: &mut Suspect, rate: u64);
    safe fn rw_native_police_tolerance() -> u32;
}

/// `1 + tolerance` as the C has it.
pub fn police_leeway(tolerance: f64) -> u32 {
    fixed(1.0 + tolerance)
}

impl Claim {
    /// A packet of this many link-layer bytes, in one segment, at a port of this rate, whose header
    /// states this rate and RTT, zero for none. A flow may exceed its granted rate by the default
    /// tolerance.
    pub fn new(size: Bytes, capacity: Throughput, rate: Throughput, rtt: Duration) -> Claim {
        Claim {
            size: size.get(),
            segment: size.get(),
            capacity: capacity.get() as u64,
            rate: rate.get() as u64,
            rtt_us: u32::try_from(rtt.ps() / 1_000_000).unwrap_or(u32::MAX),
            leeway: 65536 + rw_native_police_tolerance(),
            ..Claim::default()
        }
    }
    /// The claim of a packet that is cut into segments of this size later.
    #[must_use]
    pub fn segments(self, segment: Bytes) -> Claim {
        Claim { segment: segment.get(), ..self }
    }
    /// The claim of a sender that numbers its rounds.
    #[must_use]
    pub fn round(self, round: u8) -> Claim {
        Claim { has_rounds: 1, round: u32::from(round), ..self }
    }
    /// The claim, where a flow may exceed its granted rate by this share, 0 to 1.
    #[must_use]
    pub fn tolerance(self, tolerance: f64) -> Claim {
        Claim { leeway: police_leeway(tolerance), ..self }
    }
    /// The rate that it states, after [`Suspect::on_arrival`] the rate that is believed.
    pub fn rate(&self) -> Throughput {
        Throughput::new(self.rate as f64)
    }
}

impl Suspect {
    /// A flow whose first packet claims this.
    pub fn new(claim: &Claim, now: Time) -> Suspect {
        let mut suspect = Suspect::default();
        rw_native_suspect_init(&mut suspect, claim, ns(now));
        suspect
    }
    /// Checks an arriving packet, before the port sees it, and corrects its claim.
    pub fn on_arrival(&mut self, claim: &mut Claim, now: Time) -> Policed {
        match rw_native_police_arrival(self, claim, ns(now)) {
            0 => Policed::Passes,
            1 => Policed::Corrected,
            _ => Policed::Dropped,
        }
    }
    /// Notes the change of the flow's rate in a second that the port granted in this packet.
    pub fn on_change(&mut self, claim: &Claim, change: Throughput) {
        rw_native_police_change(self, claim, change.get() as i64);
    }
    /// Notes the rate that the port granted.
    pub fn on_rate(&mut self, rate: Throughput) {
        rw_native_police_rate(self, rate.get() as u64);
    }
}

fn ns(time: Time) -> u64 {
    time.ps() / 1000
}

#[cfg(test)]
mod tests;

#[cfg(test)]
mod layout {
    use super::*;

    crate::tests::laid_out_as_in_c! {
        claim: Claim, rw_layout_of_rw_claim, [size, segment, rate, rtt_us, has_rounds, round, leeway, capacity];
        suspect: Suspect, rw_layout_of_rw_suspect, [seen_ns, began_ns, passed, claimed, base, last, fresh, bytes, time, unclaimed, measured, rtt_us, round, is_rated, pad];
    }
}
