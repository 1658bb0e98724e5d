//! Possible lies of hosts, and those that a policer can check.
//!
//! - **The bottleneck.** A sender that names no router counts as bound elsewhere, and the flows
//!   bound here make room for all that it sends. The policer grants it the rate that the port
//!   proposes, and no more. A sender can also write a proposal of its own, with the virtual loss of
//!   a router that does not exist. That hides the port's proposal, and no header shows it.
//! - **The gap.** With gaps claimed too long one flow counts as many, and all get less, the liar
//!   too. With gaps claimed too short all get too much. Neither pays. Gaps cannot sum to more than
//!   the time.
//! - **The rate** that comes back, inflated or ignored. The policer knows the granted rate.

use ratewire_units::{Duration, Throughput};

use super::{Jetmax, JetmaxHeader};
use crate::trust::{Claim, Grant, Hand, Lie, Trust};

impl Trust for Jetmax {
    type Header = JetmaxHeader;

    fn lies(&self) -> &'static [&'static str] {
        &["throughput", "ignore_feedback", "inflate"]
    }

    fn falsify(&self, header: &mut JetmaxHeader, lie: &Lie, hand: Hand) {
        match hand {
            Hand::Sending => {
                header.gap /= lie.throughput as f32;
                if lie.ignore_feedback {
                    header.bottleneck = 0;
                }
            }
            Hand::Returning => {
                header.fair *= lie.inflate;
                header.proposed_fair *= lie.inflate;
            }
            // The liar accepts any rate, and approves no router that proposes less.
            Hand::Reading if lie.ignore_feedback => {
                header.fair = f64::MAX;
                header.proposed_fair = f64::INFINITY;
            }
            Hand::Reading => {}
        }
    }

    fn claim(&self, header: &JetmaxHeader) -> Option<Claim> {
        (!header.returned).then(|| Claim {
            rtt: Duration::ZERO,
            spacing: Some(Duration::from_secs_f64(f64::from(header.gap))),
            round: Some(header.marker),
        })
    }

    fn correct(&self, header: &mut JetmaxHeader, spacing: Duration) {
        header.gap = spacing.secs() as f32;
    }

    /// The smallest rate that routers have offered so far: an honest flow takes no other.
    fn grant(&self, header: &JetmaxHeader) -> Option<Grant> {
        let fair = header.fair.min(header.proposed_fair);
        (!header.returned && fair.is_finite()).then_some(Grant::Rate(Throughput::new(fair)))
    }
}
