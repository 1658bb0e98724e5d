//! Invariants of MaxNet's prices: none is below zero, and a packet collects the largest on its
//! path.

use alloc::boxed::Box;

use ratewire_units::Bytes;

use super::{Maxnet, MaxnetHeader};
use crate::law::invariants::figure;
use crate::law::{Books, Invariants, Promises};
use crate::reason::Reason;

impl Invariants for Maxnet {
    type Header = MaxnetHeader;

    fn promises(&self) -> Promises {
        Promises { pace_within_line: true, ..Promises::default() }
    }
    fn extremes(&self) -> &'static [&'static [(&'static str, &'static str)]] {
        &[
            &[("x_max", "1 bit/s"), ("k", "1000"), ("after_loss", "ignore")],
            &[("floor", "zero"), ("capacity", "0 bit/s"), ("interval", "10 s")],
        ]
    }
    fn returns(&self, header: &MaxnetHeader) -> bool {
        header.returned
    }
    fn books(&self) -> Option<Box<dyn Books<Header = MaxnetHeader>>> {
        Some(Box::new(MaxnetBooks))
    }
}

/// A packet leaves with the larger of its price and `p`, which is not below zero.
struct MaxnetBooks;

impl Books for MaxnetBooks {
    type Header = MaxnetHeader;

    fn departed(
        &mut self,
        _: Bytes,
        (was, _): (&MaxnetHeader, &Reason),
        (is, after): (&MaxnetHeader, &Reason),
    ) {
        assert_eq!(is.price, was.price.max(figure(after, "p")), "price");
    }

    fn timer(&mut self, _: &Reason, after: &Reason) {
        assert!(figure(after, "p") >= 0.0, "{after:?}");
    }
}
