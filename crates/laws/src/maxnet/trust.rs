//! Possible lies of hosts, and those that a policer can check.
//!
//! Senders write no price. A false price on a packet can only be too high. Ignoring the price pays;
//! a policer can compute the right rate from the price.

use ratewire_units::{Duration, Throughput};

use super::{Maxnet, MaxnetHeader};
use crate::trust::{Claim, Grant, Hand, Lie, Trust};

impl Trust for Maxnet {
    type Header = MaxnetHeader;

    fn lies(&self) -> &'static [&'static str] {
        &["ignore_feedback", "inflate"]
    }

    fn falsify(&self, header: &mut MaxnetHeader, lie: &Lie, hand: Hand) {
        match hand {
            Hand::Sending => {}
            // A rate higher by a factor has a price lower by the factor's logarithm.
            Hand::Returning => header.price -= libm::log(lie.inflate),
            Hand::Reading if lie.ignore_feedback && header.price.is_finite() => header.price = 0.0,
            Hand::Reading => {}
        }
    }

    /// The header claims only that its flow is under this law.
    fn claim(&self, header: &MaxnetHeader) -> Option<Claim> {
        (!header.returned).then_some(Claim { rtt: Duration::ZERO, spacing: None, round: None })
    }

    fn grant(&self, header: &MaxnetHeader) -> Option<Grant> {
        (!header.returned && header.price.is_finite())
            .then(|| Grant::Rate(Throughput::new(self.x_max * libm::exp(-header.price))))
    }
}
