//! What an EMKC port must conserve: the load less the loss is `gamma C`, or less on an idle link.

use alloc::boxed::Box;

use ratewire_units::Bytes;

use super::{Emkc, EmkcHeader};
use crate::law::invariants::{GRAIN, figure};
use crate::law::{Books, Invariants, Promises};
use crate::reason::Reason;

impl Invariants for Emkc {
    type Header = EmkcHeader;

    fn promises(&self) -> Promises {
        Promises { pace_within_line: true, ..Promises::default() }
    }
    fn extremes(&self) -> &'static [&'static [(&'static str, &'static str)]] {
        &[
            &[("beta", "4"), ("alpha", "0 bit/s"), ("after_loss", "ignore")],
            &[("alpha", "1000 Tbit/s"), ("interval", "1 us"), ("longest_gap", "100 s")],
        ]
    }
    fn returns(&self, header: &EmkcHeader) -> bool {
        header.returned
    }
    fn books(&self) -> Option<Box<dyn Books<Header = EmkcHeader>>> {
        Some(Box::new(EmkcBooks))
    }
}

/// A packet leaves with the larger of its loss and `p`; the load less the loss is at most
/// `gamma C`.
struct EmkcBooks;

impl Books for EmkcBooks {
    type Header = EmkcHeader;

    fn departed(
        &mut self,
        _: Bytes,
        (was, _): (&EmkcHeader, &Reason),
        (is, after): (&EmkcHeader, &Reason),
    ) {
        assert_eq!(is.loss, was.loss.max(figure(after, "p")), "loss");
    }

    fn timer(&mut self, _: &Reason, after: &Reason) {
        let [load, loss, capacity] = ["S", "p", "gamma C"].map(|name| figure(after, name));
        let rest = load * (1.0 - loss);
        assert!(loss <= 1.0 && rest <= capacity + GRAIN * (load + capacity), "{after:?}");
    }
}
