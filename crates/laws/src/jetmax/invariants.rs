//! What a JetMax port must conserve: flows bound here get, together, the capacity that other flows
//! leave.

use alloc::boxed::Box;

use ratewire_units::Bytes;

use super::{Jetmax, JetmaxHeader};
use crate::law::invariants::{close, figure};
use crate::law::{Books, Invariants, Promises};
use crate::reason::Reason;

impl Invariants for Jetmax {
    type Header = JetmaxHeader;

    fn promises(&self) -> Promises {
        Promises { pace_within_line: true, ..Promises::default() }
    }
    fn extremes(&self) -> &'static [&'static [(&'static str, &'static str)]] {
        &[
            &[("tau", "4"), ("after_loss", "ignore"), ("initial_rate", "0 bit/s")],
            &[("interval", "1 us"), ("longest_gap", "2 us"), ("capacity", "0 bit/s")],
        ]
    }
    fn returns(&self, header: &JetmaxHeader) -> bool {
        header.returned
    }
    fn books(&self) -> Option<Box<dyn Books<Header = JetmaxHeader>>> {
        Some(Box::new(JetmaxBooks))
    }
}

/// Virtual loss only grows along the path. Flows bound here get, together, the part of `gamma C`
/// that other flows leave.
struct JetmaxBooks;

impl Books for JetmaxBooks {
    type Header = JetmaxHeader;

    fn departed(
        &mut self,
        _: Bytes,
        (was, _): (&JetmaxHeader, &Reason),
        (is, _): (&JetmaxHeader, &Reason),
    ) {
        assert!(is.loss >= was.loss, "loss {} after {}", is.loss, was.loss);
    }

    fn timer(&mut self, _: &Reason, after: &Reason) {
        let of = |name| figure(after, name);
        if of("N") > 0.0 {
            let left = (of("gamma C") - of("u")).max(0.0);
            close(of("g") * of("N").max(1.0), left, left, "given to all");
        }
    }
}
