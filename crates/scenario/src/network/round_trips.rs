//! How long packets and their acknowledgements travel, without queues.

use std::collections::BTreeSet;

use ratewire_units::Duration;

use super::Net;
use super::routes::{self, Routes};

/// Longest propagation round trips of the pairs of nodes that communicate.
#[derive(Debug, Default)]
pub(crate) struct RoundTrips {
    /// Longest round trip of the pairs that cross each link in either direction.
    over: Vec<Option<Duration>>,
    /// Longest round trip of all pairs.
    pub longest: Option<Duration>,
}

impl RoundTrips {
    /// Round trips of `pairs`; pairs without a route are left out.
    pub fn new(
        net: &Net,
        routes: &mut Routes<'_>,
        pairs: impl IntoIterator<Item = (usize, usize)>,
    ) -> RoundTrips {
        let mut trips = RoundTrips { over: vec![None; net.links.len()], longest: None };
        let mut seen = BTreeSet::new();
        for (a, b) in pairs {
            if a == b || !seen.insert((a, b)) {
                continue;
            }
            let (Some(there), Some(back)) = (routes.shares(a, b), routes.shares(b, a)) else {
                continue;
            };
            let rtt = routes::delay(net, &there) + routes::delay(net, &back);
            for (id, _) in there.iter().chain(&back) {
                trips.over[*id] = trips.over[*id].max(Some(rtt));
            }
            trips.longest = trips.longest.max(Some(rtt));
        }
        trips
    }

    /// Longest round trip of the pairs that cross a link in either direction.
    pub fn over(&self, link: usize) -> Option<Duration> {
        self.over.get(link).copied().flatten()
    }
}
