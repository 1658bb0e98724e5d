//! What hosts may lie about, and what of it can be checked.
//!
//! Senders write nothing: a price that is there already can only be too high. What pays is not to pay
//! the price, and its rate can be told from the price.

use ratewire_units::{Duration, Throughput};

use super::MaxnetHeader;
use crate::trust::{Claim, Grant, Hand, Lie};

/// See [`crate::Law::lies`].
pub(super) const LIES: &[&str] = &["ignore_feedback", "inflate"];

pub(super) fn falsify(header: &mut MaxnetHeader, lie: &Lie, hand: Hand) {
    match hand {
        Hand::Sending => {}
        // A rate so many times as high has a price so much lower.
        Hand::Returning => header.price -= libm::log(lie.inflate),
        Hand::Reading if lie.ignore_feedback && header.price.is_finite() => header.price = 0.0,
        Hand::Reading => {}
    }
}

/// Nothing but that it is one of these flows.
pub(super) fn claim(header: &MaxnetHeader) -> Option<Claim> {
    (!header.returned).then_some(Claim { rtt: Duration::ZERO, spacing: None, round: None })
}

pub(super) fn grant(header: &MaxnetHeader, x_max: f64) -> Option<Grant> {
    (!header.returned && header.price.is_finite())
        .then(|| Grant::Rate(Throughput::new(x_max * libm::exp(-header.price))))
}
