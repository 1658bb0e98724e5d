//! Possible lies of hosts, and those that a policer can check. Draft -03, section 6.

use ratewire_units::{Duration, Throughput};
use ratewire_wire::xcp::{Format, XcpHeader};

use super::Xcp;
use crate::trust::{Claim, Grant, Hand, Lie, Trust};

impl Trust for Xcp {
    type Header = XcpHeader;

    fn lies(&self) -> &'static [&'static str] {
        &["rtt", "throughput", "ignore_feedback", "inflate"]
    }

    fn falsify(&self, header: &mut XcpHeader, lie: &Lie, hand: Hand) {
        match hand {
            Hand::Sending => {
                header.rtt = header.rtt.scale(lie.rtt);
                header.x = header.x.scale(1.0 / lie.throughput);
            }
            Hand::Returning => {
                let feedback = header.reverse_feedback.get();
                let forged =
                    if feedback > 0.0 { feedback * lie.inflate } else { feedback / lie.inflate };
                header.reverse_feedback = Throughput::new(forged);
            }
            Hand::Reading if lie.ignore_feedback => {
                header.reverse_feedback = header.reverse_feedback.max(Throughput::ZERO);
            }
            Hand::Reading => {}
        }
    }

    fn unpoliced(&self) -> Option<&'static str> {
        (self.weight > 1.0).then_some("a policer takes a `weight` above 1 for a lie")
    }

    /// X and RTT are claims. The wish is no claim, because no port grants more than it has.
    fn claim(&self, header: &XcpHeader) -> Option<Claim> {
        (header.format == Format::Standard).then_some(Claim {
            rtt: header.rtt,
            spacing: Some(header.x),
            round: None,
        })
    }

    fn correct(&self, header: &mut XcpHeader, spacing: Duration) {
        header.x = spacing;
    }

    fn grant(&self, header: &XcpHeader) -> Option<Grant> {
        (header.format == Format::Standard).then_some(Grant::Change(header.delta_throughput))
    }
}
