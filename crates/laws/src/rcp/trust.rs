//! Possible lies of hosts under RCP and PIQI-RCP, and those that a policer can check.

use ratewire_units::Throughput;

use super::header::{Formats, RcpHeader, RcpKind};
use crate::trust::{Claim, Grant, Hand, Lie, Trust};

impl Trust for Formats {
    type Header = RcpHeader;

    fn lies(&self) -> &'static [&'static str] {
        &["rtt", "ignore_feedback", "inflate"]
    }

    fn falsify(&self, header: &mut RcpHeader, lie: &Lie, hand: Hand) {
        match hand {
            Hand::Sending => header.rtt = header.rtt.scale(lie.rtt),
            Hand::Returning => {
                header.reverse_rate = Throughput::new(header.reverse_rate.get() * lie.inflate);
            }
            // The liar ignores the feedback and sends at its desired rate.
            Hand::Reading if lie.ignore_feedback => {
                header.reverse_rate = Throughput::new(f64::INFINITY);
            }
            Hand::Reading => {}
        }
    }

    /// The header does not state the flow's rate.
    fn claim(&self, header: &RcpHeader) -> Option<Claim> {
        (header.kind == RcpKind::Request).then_some(Claim {
            rtt: header.rtt,
            spacing: None,
            round: None,
        })
    }

    fn grant(&self, header: &RcpHeader) -> Option<Grant> {
        (header.kind == RcpKind::Request).then_some(Grant::Rate(header.rate))
    }
}
