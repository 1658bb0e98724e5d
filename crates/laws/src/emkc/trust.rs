//! What hosts may lie about, and what of it can be checked.
//!
//! Senders write nothing but their round: a price that is there already can only be too high. What
//! pays is not to pay the price. A port does not know a flow's rate, but by how much the flow has
//! to change it each round. A flow that hides its rounds is taken to have one a second.

use ratewire_units::{Duration, Throughput};

use super::{Emkc, EmkcHeader};
use crate::trust::{Claim, Grant, Hand, Lie, Trust};

impl Trust for Emkc {
    type Header = EmkcHeader;

    fn lies(&self) -> &'static [&'static str] {
        &["ignore_feedback", "inflate"]
    }

    fn falsify(&self, header: &mut EmkcHeader, lie: &Lie, hand: Hand) {
        match hand {
            Hand::Sending => {}
            Hand::Returning if header.loss > 0.0 => header.loss /= lie.inflate,
            Hand::Returning => header.loss *= lie.inflate,
            Hand::Reading if lie.ignore_feedback => header.loss = header.loss.min(0.0),
            Hand::Reading => {}
        }
    }

    fn claim(&self, header: &EmkcHeader) -> Option<Claim> {
        (!header.returned).then_some(Claim {
            rtt: Duration::ZERO,
            spacing: None,
            round: Some(header.marker),
        })
    }

    /// What the source's equation comes to at the price so far.
    fn grant(&self, header: &EmkcHeader) -> Option<Grant> {
        (!header.returned && header.loss.is_finite()).then(|| {
            let share = (1.0 - self.options.number("beta") * header.loss).max(0.0);
            Grant::Step(share, Throughput::new(self.alpha))
        })
    }
}
