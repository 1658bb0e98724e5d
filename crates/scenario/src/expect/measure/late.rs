//! Late acknowledgements, seen at one point of a path.
//!
//! A data packet passes the far end of a link. The acknowledgement of all bytes up to its end later
//! passes on the link back.

use std::collections::BTreeMap;

use ratewire_net::Body;
use ratewire_sim::record::PacketSeen;
use ratewire_units::{Duration, Time};

/// Round-trip times beyond a link.
#[derive(Clone, Debug)]
pub(super) struct LateAcks {
    link: usize,
    back: usize,
    late_by: Duration,
    /// Time at which a data packet passed, by flow and end of payload; `None` if it passed twice.
    passed: BTreeMap<(u32, u64), Option<Time>>,
    trips: Vec<Duration>,
}

impl LateAcks {
    pub fn new(link: usize, back: usize, late_by: Duration) -> LateAcks {
        LateAcks { link, back, late_by, passed: BTreeMap::new(), trips: Vec::new() }
    }

    /// Notes a packet at the far end of a link; `counts` says whether a trip that ends now is
    /// counted.
    pub fn see(&mut self, seen: &PacketSeen, counts: bool) {
        let (flow, packet) = (seen.flow.0, &seen.packet);
        match packet.content.body {
            Body::Data { offset, payload, .. }
                if packet.link.index() == self.link && payload > 0 =>
            {
                let end = (flow, offset.saturating_add(u64::from(payload)));
                let again = self.passed.contains_key(&end);
                self.passed.insert(end, (!again).then_some(packet.at));
            }
            Body::Ack { cumulative, .. } if packet.link.index() == self.back => {
                let passed = self.passed.get(&(flow, cumulative)).copied().flatten();
                if let (Some(passed), true) = (passed, counts) {
                    self.trips.push(packet.at.since(passed));
                }
                while let Some((&end, _)) = self.passed.range((flow, 0)..=(flow, cumulative)).next()
                {
                    self.passed.remove(&end);
                }
            }
            _ => {}
        }
    }

    /// Share of trips that took longer than the shortest by more than `late_by`.
    pub fn value(&self) -> Result<f64, String> {
        let Some(nominal) = self.trips.iter().min() else {
            return Err("no acknowledgement came back over the link".to_string());
        };
        let late = self.trips.iter().filter(|trip| **trip > *nominal + self.late_by).count();
        Ok(late as f64 / self.trips.len() as f64)
    }
}
