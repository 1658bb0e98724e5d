//! What an HPCC port must conserve: it counts each departing byte once.

use alloc::boxed::Box;

use ratewire_units::Bytes;

use super::{Hpcc, HpccHeader};
use crate::law::invariants::{close, figure};
use crate::law::{Books, Invariants, Promises};
use crate::reason::Reason;

impl Invariants for Hpcc {
    type Header = HpccHeader;

    /// Units of the stamps, and the times after which they wrap, depend on the rate.
    fn promises(&self) -> Promises {
        Promises { any_speed: false, ..Promises::default() }
    }
    fn extremes(&self) -> &'static [&'static [(&'static str, &'static str)]] {
        &[
            &[("base_rtt", "10 us"), ("max_stage", "0"), ("flows", "1"), ("eta", "0.01")],
            &[("initial_window", "0 B"), ("eta", "1"), ("after_loss", "ignore")],
        ]
    }
    fn returns(&self, header: &HpccHeader) -> bool {
        header.returning()
    }
    fn books(&self) -> Option<Box<dyn Books<Header = HpccHeader>>> {
        Some(Box::new(HpccBooks))
    }
}

/// A port stamps a packet at most once, and counts each departing byte once.
struct HpccBooks;

impl Books for HpccBooks {
    type Header = HpccHeader;

    fn departed(
        &mut self,
        size: Bytes,
        (was, before): (&HpccHeader, &Reason),
        (is, after): (&HpccHeader, &Reason),
    ) {
        assert!(is.hops() >= was.hops() && is.hops() - was.hops() <= 1, "hops");
        let [tx, sum] = [before, after].map(|reason| figure(reason, "txBytes"));
        close(sum, tx + size.as_f64(), sum, "txBytes");
    }
}
