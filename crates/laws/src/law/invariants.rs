//! A law's promises, which the fuzz targets and the property tests check.
//!
//! Tests check of every law that its window holds a packet and is bounded, and that its pace is a
//! number. Its equations must be explained, and its headers survive their bytes. Here a law states
//! further promises.

use alloc::boxed::Box;

use ratewire_units::Bytes;

use crate::reason::Reason;

/// Promises of a law, for tests to check. The default is all that a law of rates can promise.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Promises {
    /// Equal flows through one bottleneck end within 5 % of equal shares in a minute.
    pub equal_shares: bool,
    /// Flows take the same course at four times all rates, with packets of unchanged size.
    pub any_speed: bool,
    /// Flows take the same course at four times all rates and sizes.
    pub any_scale: bool,
    /// The window follows from feedback, and is bounded. Otherwise an option or the receiver sets
    /// it.
    pub bounded_window: bool,
    /// The pace is above 0 and at most the rate of the sender's own link.
    pub pace_within_line: bool,
    /// A header that was read from bytes is written as the same bytes.
    pub rounds_once: bool,
}

impl Default for Promises {
    fn default() -> Promises {
        Promises {
            equal_shares: true,
            any_speed: true,
            any_scale: true,
            bounded_window: true,
            pace_within_line: false,
            rounds_once: true,
        }
    }
}

/// A law's promises beyond those of every law.
pub trait Invariants {
    /// The congestion header.
    type Header;

    /// Promises that tests may rely on.
    fn promises(&self) -> Promises {
        Promises::default()
    }
    /// Sets of options worth testing: values at the ends of their ranges, and switches for features
    /// that are off by default.
    fn extremes(&self) -> &'static [&'static [(&'static str, &'static str)]] {
        &[]
    }
    /// Whether a header is on its way back to the sender, where ports do not change it.
    fn returns(&self, _header: &Self::Header) -> bool {
        false
    }
    /// The header that replaces `header` in a test, chosen by `seed`, for headers without bytes of
    /// their own to overwrite.
    fn tampered(&self, _header: &Self::Header, _seed: [u32; 2]) -> Option<Self::Header> {
        None
    }
    /// Books on one port or one sink; `None` if there is nothing to keep.
    fn books(&self) -> Option<Box<dyn Books<Header = Self::Header>>> {
        None
    }
}

/// Books on one port or one sink: they check conservation of the quantities that headers carry.
///
/// Each method panics when the books do not balance.
pub trait Books {
    /// The congestion header.
    type Header;

    /// A data packet of `size` network-layer bytes has left the port: its header and the port's
    /// reason, as they were before and as they are after.
    fn departed(
        &mut self,
        _size: Bytes,
        _before: (&Self::Header, &Reason),
        _after: (&Self::Header, &Reason),
    ) {
    }
    /// The port's timer was due; the port's reason before and after.
    fn timer(&mut self, _before: &Reason, _after: &Reason) {}
    /// The sink has received a packet with this header.
    fn received(&mut self, _header: &Self::Header) {}
    /// The sink has written the header of an acknowledgement.
    fn answered(&mut self, _header: &Self::Header) {}
}

/// Relative rounding error of sums of many numbers.
pub(crate) const GRAIN: f64 = 1e-9;

/// The figure called `name`.
pub(crate) fn figure(reason: &Reason, name: &str) -> f64 {
    let found = reason.figures.iter().find(|figure| figure.name == name);
    found.unwrap_or_else(|| panic!("no {name} in {reason:?}")).value
}

/// Checks that two numbers are equal but for the rounding of numbers of the size of `scale`.
pub(crate) fn close(found: f64, wanted: f64, scale: f64, what: &str) {
    let error = (found - wanted).abs();
    assert!(error <= GRAIN * scale.abs(), "{what}: {found}, not {wanted}");
}
