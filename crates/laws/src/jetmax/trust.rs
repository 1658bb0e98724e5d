//! What hosts may lie about, and what of it can be checked.
//!
//! - **The bottleneck.** Who names no router counts as bound elsewhere, and those that are bound
//!   here make room for whatever it sends. It is granted what the port proposes to it, and no more.
//!   A sender that also writes a proposal of its own, with the virtual loss of a router that is not
//!   there, hides the port's: that no header can tell.
//! - **The gap.** Gaps claimed too long make one flow count as many, and all are given less, the
//!   liar too; too short, and all are given too much. Neither pays. Gaps cannot sum to more than
//!   the time.
//! - **The rate** that comes back, inflated or ignored: what was granted is known.

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
            // It takes any rate for its own, and no router's proposal for less.
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

    /// The least of what routers have offered it so far: an honest flow takes no other.
    fn grant(&self, header: &JetmaxHeader) -> Option<Grant> {
        let fair = header.fair.min(header.proposed_fair);
        (!header.returned && fair.is_finite()).then_some(Grant::Rate(Throughput::new(fair)))
    }
}
