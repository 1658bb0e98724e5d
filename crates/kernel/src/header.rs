//! The congestion header, and its units on the wire.

use ratewire_units::{Duration, Throughput};

/// A congestion header as it is in the option (`bpf/laws/option.h`). The laws compute in finer
/// units; every value that passes from one part to another has been on the wire.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Header {
    rate: u32,
    rtt_us: u32,
    pub(crate) change: i32,
}

unsafe extern "C" {
    safe fn rw_native_rate_field(rate: u64) -> u32;
    safe fn rw_native_field_rate(field: u32) -> u64;
    safe fn rw_native_change_field(change: i64) -> i32;
    safe fn rw_native_field_change(field: i32) -> i64;
}

impl Header {
    /// A header with these fields, rounded down. A negative rate or NaN becomes 0; a change may be
    /// negative.
    pub fn new(rate: Throughput, rtt: Duration, change: Throughput) -> Header {
        Header {
            rate: rw_native_rate_field(rate.get() as u64),
            rtt_us: u32::try_from(rtt.ps() / 1_000_000).unwrap_or(u32::MAX),
            change: rw_native_change_field(change.get() as i64),
        }
    }

    /// XCP: the sender's rate. RCP: the rate that routers allow.
    pub fn rate(&self) -> Throughput {
        Throughput::new(rw_native_field_rate(self.rate) as f64)
    }
    /// The sender's RTT, zero while unknown.
    pub fn rtt(&self) -> Duration {
        Duration::from_micros(u64::from(self.rtt_us))
    }
    /// XCP: the change of the rate in each second; first the wish, then the grant.
    pub fn change(&self) -> Throughput {
        Throughput::new(rw_native_field_change(self.change) as f64)
    }

    /// The fields on the wire: rate, RTT and change.
    pub fn to_fields(self) -> [u32; 3] {
        [self.rate, self.rtt_us, self.change.cast_unsigned()]
    }
    /// A header from fields that have been on the wire.
    pub fn from_fields([rate, rtt_us, change]: [u32; 3]) -> Header {
        Header { rate, rtt_us, change: change.cast_signed() }
    }
}

#[cfg(test)]
mod layout {
    use super::*;

    crate::tests::laid_out_as_in_c! {
        header: Header, rw_layout_of_rw_fields, [rate, rtt_us, change];
    }
}
