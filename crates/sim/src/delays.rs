//! Round-trip times, one-way delays and losses of packets.

use ratewire_statistics::Histogram;
use ratewire_units::{Duration, Time};

/// Percentiles within 0.05 %: queues may be that short beside the path.
pub type Fine = Histogram<10>;

/// Delays of one flow's packets, or of several flows', in whole nanoseconds, and losses.
#[derive(Clone, Debug, Default)]
pub struct Delays {
    /// Round trips that senders measured.
    pub round_trip: Fine,
    /// Times of data packets from the sending host, which queued them, to the receiving one.
    pub one_way: Fine,
    /// Data packets that were dropped or lost.
    pub lost: u64,
}

impl Delays {
    /// Counts all delays of another flow.
    pub fn merge(&mut self, other: &Delays) {
        self.round_trip.merge(&other.round_trip);
        self.one_way.merge(&other.one_way);
        self.lost += other.lost;
    }

    /// Share of the data packets that were dropped or lost, among these and those that arrived.
    /// `None` without any.
    pub fn loss_share(&self) -> Option<f64> {
        let all = self.lost + self.one_way.count();
        (all > 0).then(|| self.lost as f64 / all as f64)
    }
}

/// Delays of all flows of a run within its measuring window.
#[derive(Clone, Debug, Default)]
pub struct AllDelays {
    window: Option<(Time, Time)>,
    /// Each listed flow, up to a limit.
    lists: Vec<Delays>,
    /// All others together.
    others: Delays,
}

/// Listed flows that have delays of their own: up to some 30 KiB each.
const MOST_FLOWS: usize = 1_000;

/// Whole nanoseconds, whose sum is exact in whatever order they are added.
fn nanoseconds(took: Duration) -> f64 {
    (took.ps() / 1000) as f64
}

impl AllDelays {
    /// No delays yet, of so many listed flows. Those within the window will count, or all.
    pub fn new(window: Option<(Time, Time)>, flows: usize) -> AllDelays {
        let lists = vec![Delays::default(); flows.min(MOST_FLOWS)];
        AllDelays { window, lists, others: Delays::default() }
    }

    /// Counts a round trip of a flow that ended now.
    #[inline]
    pub fn round_trip(&mut self, now: Time, flow: u32, took: Duration) {
        if self.covers(now) {
            self.of(flow).round_trip.add(nanoseconds(took));
        }
    }

    /// Counts a data packet of a flow that arrived now.
    #[inline]
    pub fn one_way(&mut self, now: Time, flow: u32, took: Duration) {
        if self.covers(now) {
            self.of(flow).one_way.add(nanoseconds(took));
        }
    }

    /// Counts data packets of a flow that were dropped or lost by now.
    pub fn lose(&mut self, now: Time, flow: u32, packets: u64) {
        if self.covers(now) {
            self.of(flow).lost += packets;
        }
    }

    #[inline]
    fn covers(&self, now: Time) -> bool {
        self.window.is_none_or(|(from, to)| from < now && now <= to)
    }

    #[inline]
    fn of(&mut self, flow: u32) -> &mut Delays {
        self.lists.get_mut(flow as usize).unwrap_or(&mut self.others)
    }

    /// Delays of a listed flow; `None` if it has none of its own.
    pub fn of_flow(&self, flow: usize) -> Option<&Delays> {
        self.lists.get(flow)
    }

    /// Delays of all flows.
    pub fn total(&self) -> Delays {
        let mut total = self.others.clone();
        self.lists.iter().for_each(|delays| total.merge(delays));
        total
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn delays_count_where_they_belong_and_within_the_window() {
        let (ms, at) = (Duration::from_millis, Time::from_millis);
        let flows = MOST_FLOWS as u32;
        let mut all = AllDelays::new(Some((at(10), at(20))), MOST_FLOWS + 2);
        for (n, flow) in [0, flows + 1, flows + 7].into_iter().enumerate() {
            for now in [10, 11, 20, 21] {
                all.round_trip(at(now), flow, ms(now));
                all.one_way(at(now), flow, ms(n as u64 + 1));
            }
        }
        let counts = |of: &Delays| (of.round_trip.count(), of.one_way.max());
        assert_eq!(all.of_flow(0).map(counts), Some((2, Some(1e6))));
        assert_eq!(all.of_flow(1).map(counts), Some((0, None)));
        assert!(all.of_flow(MOST_FLOWS).is_none(), "without delays of its own");
        assert_eq!(counts(&all.total()), (6, Some(3e6)));
        assert_eq!(all.total().round_trip.min(), Some(11e6), "in the window");
    }
}
