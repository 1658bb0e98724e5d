//! What hosts may lie about, and what of it can be checked.
//!
//! Senders write nothing: a price that is there already can only be too high. What pays is not to
//! pay the price, and its rate can be told from the price.

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
            // A rate so many times as high has a price so much lower.
            Hand::Returning => header.price -= libm::log(lie.inflate),
            Hand::Reading if lie.ignore_feedback && header.price.is_finite() => header.price = 0.0,
            Hand::Reading => {}
        }
    }

    /// Nothing but that it is one of these flows.
    fn claim(&self, header: &MaxnetHeader) -> Option<Claim> {
        (!header.returned).then_some(Claim { rtt: Duration::ZERO, spacing: None, round: None })
    }

    fn grant(&self, header: &MaxnetHeader) -> Option<Grant> {
        (!header.returned && header.price.is_finite())
            .then(|| Grant::Rate(Throughput::new(self.x_max * libm::exp(-header.price))))
    }
}
