//! What hosts may lie about, and what of it can be checked. Draft -03, section 6.

use ratewire_units::{Duration, Throughput};
use ratewire_wire::xcp::{Format, XcpHeader};

use crate::trust::{Claim, Grant, Hand, Lie};

/// See [`crate::Law::lies`].
pub(super) const LIES: &[&str] = &["rtt", "throughput", "ignore_feedback", "inflate"];

pub(super) fn falsify(header: &mut XcpHeader, lie: &Lie, hand: Hand) {
    match hand {
        Hand::Sending => {
            header.rtt = header.rtt.scale(lie.rtt);
            header.x = header.x.scale(1.0 / lie.throughput);
        }
        Hand::Returning => {
            let feedback = header.reverse_feedback.get();
            let told = if feedback > 0.0 { feedback * lie.inflate } else { feedback / lie.inflate };
            header.reverse_feedback = Throughput::new(told);
        }
        Hand::Reading if lie.ignore_feedback => {
            header.reverse_feedback = header.reverse_feedback.max(Throughput::ZERO);
        }
        Hand::Reading => {}
    }
}

/// Of X and RTT; the wish is no claim, for no port grants more than it has.
pub(super) fn claim(header: &XcpHeader) -> Option<Claim> {
    (header.format == Format::Standard).then_some(Claim {
        rtt: header.rtt,
        spacing: Some(header.x),
        round: None,
    })
}

pub(super) fn correct(header: &mut XcpHeader, spacing: Duration) {
    header.x = spacing;
}

pub(super) fn grant(header: &XcpHeader) -> Option<Grant> {
    (header.format == Format::Standard).then_some(Grant::Change(header.delta_throughput))
}
