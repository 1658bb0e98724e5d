//! Queue in front of one link of a node (section 4.2.1).

use std::collections::VecDeque;
use std::slice::from_ref;

use prefetch_index::prefetch_index;
use ratewire_units::{Bytes, Duration, Time};

use crate::gauge::{Drain, Gauge, Mean};
use crate::price::Occupancy;

/// The queue of messages `M` in front of a link. Its price gives it a soft limit, and it has no
/// hard one: nothing is ever dropped between nodes.
#[derive(Clone, Debug)]
#[repr(C, align(64))]
pub struct LinkQueue<M> {
    /// Waiting messages of clients.
    gauge: Gauge,
    data: VecDeque<Waiting<M>>,
    /// Prices, which go first: late prices are worth little.
    control: VecDeque<(Bytes, M)>,
    /// Maximum since it was last taken.
    peak: u64,
    counts: LinkCounts,
    mean: Mean,
    drain: Drain,
}

/// Kind of a message on a link.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// A client's message that counts as this many in price and queue.
    Data(u32),
    /// Prices, which overtake all other messages.
    Prices,
    /// Another message between nodes.
    Other,
}

/// A waiting message, with its counted properties, so that the message itself is not read before it
/// leaves.
#[derive(Clone, Debug)]
struct Waiting<M> {
    size: u32,
    /// Number of messages that it counts as; 0 if it is not a client's.
    counted: u32,
    message: M,
}

/// Counters of a queue.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct LinkCounts {
    /// Clients' messages that came.
    pub arrived: u64,
    /// Clients' messages that the link took.
    pub taken: u64,
    /// Bytes of the messages that the link took.
    pub data: Bytes,
    /// Bytes of cost updates that the link took.
    pub updates: Bytes,
    /// Bytes of other control messages.
    pub other: Bytes,
    /// Maximum number of waiting messages.
    pub most: u64,
}

impl LinkCounts {
    /// Bytes of all control messages.
    pub fn control(&self) -> Bytes {
        self.updates + self.other
    }
}

impl<M> Default for LinkQueue<M> {
    fn default() -> LinkQueue<M> {
        LinkQueue {
            gauge: Gauge::default(),
            data: VecDeque::new(),
            control: VecDeque::new(),
            peak: 0,
            counts: LinkCounts::default(),
            mean: Mean::default(),
            drain: Drain::default(),
        }
    }
}

impl<M> LinkQueue<M> {
    /// Number of clients' messages that wait.
    pub fn waiting(&self) -> u64 {
        self.gauge.waiting()
    }
    /// Waiting clients' messages in order, with control messages among them.
    pub fn waiting_messages(&self) -> impl Iterator<Item = &M> {
        self.data.iter().map(|waiting| &waiting.message)
    }
    /// Whether the queue is empty.
    pub fn is_empty(&self) -> bool {
        self.data.is_empty() && self.control.is_empty()
    }
    /// Mean number of waiting messages between the last two cost updates.
    pub fn average(&self) -> Occupancy {
        self.mean.get()
    }
    /// Counters so far.
    pub fn counts(&self) -> LinkCounts {
        self.counts
    }
    /// Maximum number of waiting messages since the last call.
    pub fn take_peak(&mut self) -> u64 {
        core::mem::replace(&mut self.peak, self.gauge.waiting())
    }
    /// Sum of waiting messages times picoseconds, for means over any time.
    pub fn area(&self, now: Time) -> u128 {
        self.gauge.area(now)
    }

    /// Sets the clock back.
    pub(crate) fn set_back(&mut self, by: Duration) {
        self.gauge.set_back(by);
        self.mean.set_back(by);
        self.drain.set_back(by);
    }

    /// Adds a message of this size.
    pub fn push(&mut self, now: Time, kind: Kind, size: Bytes, message: M) {
        let counted = match kind {
            Kind::Prices => {
                self.control.push_back((size, message));
                return;
            }
            Kind::Data(counted) => {
                self.counts.arrived += 1;
                let waiting = self.gauge.waiting() + u64::from(counted);
                self.gauge.set(now, waiting);
                self.peak = self.peak.max(waiting);
                self.counts.most = self.counts.most.max(waiting);
                counted
            }
            Kind::Other => 0,
        };
        self.data.push_back(Waiting { size: size.get() as u32, counted, message });
    }

    /// Takes the next message for the link, with its size.
    pub fn take(&mut self, now: Time) -> Option<(Bytes, M)> {
        if let Some((size, message)) = self.control.pop_front() {
            self.counts.updates += size;
            return Some((size, message));
        }
        let Waiting { size, counted, message } = self.data.pop_front()?;
        let size = Bytes::new(u64::from(size));
        if counted > 0 {
            self.gauge.set(now, self.gauge.waiting() - u64::from(counted));
            self.drain.note(u64::from(counted));
            self.counts.taken += 1;
            self.counts.data += size;
        } else {
            self.counts.other += size;
        }
        if let Some(next) = self.data.front() {
            prefetch_index(from_ref(next), 0);
        }
        Some((size, message))
    }

    /// Drops all messages, as a connection has ended; counters stay.
    pub fn clear(&mut self, now: Time) {
        self.gauge.set(now, 0);
        self.data.clear();
        self.control.clear();
    }

    /// Ends an interval, as a cost update is due, and starts the next average.
    pub fn close_interval(&mut self, now: Time) -> Occupancy {
        self.mean.close_interval(now, &mut self.gauge)
    }

    /// Notes how fast the queue drains; `apart` is the shortest time between two looks.
    pub(crate) fn look(&mut self, now: Time, apart: Duration) {
        self.drain.close_interval(now, apart);
    }

    /// The average beside how fast the queue drains.
    pub(crate) fn relative(&self, soft_limit: Occupancy) -> Occupancy {
        self.drain.relative(self.average(), soft_limit)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ms(n: u64) -> Time {
        Time::ZERO + Duration::from_millis(n)
    }

    fn queue(kinds: &[(u64, Kind)]) -> LinkQueue<&'static str> {
        let mut queue = LinkQueue::default();
        for (at, kind) in kinds {
            let name = if *kind == Kind::Prices { "prices" } else { "another" };
            queue.push(ms(*at), *kind, Bytes::new(1000), name);
        }
        queue
    }

    #[test]
    fn the_average_is_over_time() {
        let mut queue = queue(&[(0, Kind::Data(1)), (10, Kind::Data(1))]);
        queue.take(ms(30));
        queue.take(ms(40));
        // One message for 10 ms, two for 20 ms, one for 10 ms, none for 10 ms.
        assert_eq!(queue.close_interval(ms(50)), Occupancy::new(1.2));
        assert_eq!(queue.close_interval(ms(100)), Occupancy::new(0.0));
        assert_eq!(queue.take_peak(), 2);
        assert_eq!(queue.take_peak(), 0);
    }

    #[test]
    fn a_large_message_counts_as_many() {
        let mut queue = queue(&[(0, Kind::Data(5)), (0, Kind::Other)]);
        assert_eq!((queue.waiting(), queue.counts().arrived), (5, 1));
        queue.take(ms(10));
        assert_eq!(queue.close_interval(ms(20)), Occupancy::new(2.5));
        assert_eq!(queue.waiting_messages().count(), 1);
    }

    #[test]
    fn updates_go_first_and_are_not_waiting_messages() {
        let mut queue = queue(&[(0, Kind::Data(1)), (0, Kind::Prices)]);
        assert_eq!(queue.waiting(), 1);
        assert_eq!(queue.take(ms(0)), Some((Bytes::new(1000), "prices")));
        assert_eq!(queue.take(ms(0)), Some((Bytes::new(1000), "another")));
        assert!(queue.take(ms(0)).is_none() && queue.is_empty());
        assert_eq!(queue.counts().data, Bytes::new(1000));
    }
}
