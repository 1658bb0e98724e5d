//! What hosts may lie about, and what of it can be checked: RCP and PIQI-RCP alike.

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
            // Told nothing, it sends as fast as it wishes.
            Hand::Reading if lie.ignore_feedback => {
                header.reverse_rate = Throughput::new(f64::INFINITY);
            }
            Hand::Reading => {}
        }
    }

    /// The header does not say how fast the flow is.
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
