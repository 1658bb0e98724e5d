//! Possible lies of hosts, and those that a policer can check.
//!
//! Senders write only their round. A false price on a packet can only be too high. Ignoring the
//! price pays. A port does not know a flow's rate, but knows by how much the flow must change it
//! each round. A flow that hides its rounds counts as having one a second.

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

    /// Rate change by the source's equation at the price so far.
    fn grant(&self, header: &EmkcHeader) -> Option<Grant> {
        (!header.returned && header.loss.is_finite()).then(|| {
            let share = (1.0 - self.options.number("beta") * header.loss).max(0.0);
            Grant::Step(share, Throughput::new(self.alpha))
        })
    }
}
