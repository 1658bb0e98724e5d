//! Queue in front of one link of a node (section 4.2.1).

use std::collections::VecDeque;
use std::rc::Rc;
use std::slice::from_ref;

use prefetch_index::prefetch_index;
use ratewire_units::{Bytes, Time};

use crate::message::Message;
use crate::price::Occupancy;

/// The queue in front of a link. Its price gives it a soft limit, and it has no hard one: nothing
/// is ever dropped between nodes.
#[derive(Clone, Debug, Default)]
#[repr(C, align(64))]
pub struct LinkQueue {
    /// Sum of waiting messages times picoseconds, up to `until`.
    area: u128,
    data: VecDeque<Waiting>,
    until: Time,
    /// Maximum since it was last taken.
    peak: u64,
    /// Prices, which go first: late prices are worth little.
    control: VecDeque<Rc<Message>>,
    counts: LinkCounts,
    /// Area and time at the last cost update.
    closed: (u128, Time),
    /// Mean number of waiting messages between the last two updates.
    average: Occupancy,
}

/// A waiting message, with its counted properties, so that the message itself is not read before it
/// leaves.
#[derive(Clone, Debug)]
struct Waiting {
    size: u32,
    is_data: bool,
    message: Rc<Message>,
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

impl LinkQueue {
    /// Number of clients' messages that wait.
    pub fn waiting(&self) -> usize {
        self.data.len()
    }
    /// Waiting clients' messages in order, with control messages among them.
    pub fn waiting_messages(&self) -> impl Iterator<Item = &Message> {
        self.data.iter().map(|waiting| waiting.message.as_ref())
    }
    /// Whether the queue is empty.
    pub fn is_empty(&self) -> bool {
        self.data.is_empty() && self.control.is_empty()
    }
    /// Mean number of waiting messages between the last two cost updates.
    pub fn average(&self) -> Occupancy {
        self.average
    }
    /// Counters so far.
    pub fn counts(&self) -> LinkCounts {
        self.counts
    }
    /// Maximum number of waiting messages since the last call.
    pub fn take_peak(&mut self) -> u64 {
        core::mem::replace(&mut self.peak, self.data.len() as u64)
    }

    /// Sum of waiting messages times picoseconds, for means over any time.
    pub fn area(&mut self, now: Time) -> u128 {
        self.advance(now);
        self.area
    }

    fn advance(&mut self, now: Time) {
        self.area += self.data.len() as u128 * u128::from(now.since(self.until).ps());
        self.until = self.until.max(now);
    }

    /// Adds a message.
    pub fn push(&mut self, now: Time, message: Rc<Message>) {
        if message.body.overtakes() {
            self.control.push_back(message);
            return;
        }
        self.advance(now);
        let (size, is_data) = (message.size.get() as u32, message.body.is_data());
        self.counts.arrived += u64::from(is_data);
        self.data.push_back(Waiting { size, is_data, message });
        self.peak = self.peak.max(self.data.len() as u64);
        self.counts.most = self.counts.most.max(self.peak);
    }

    /// Takes the next message for the link, with its size.
    pub fn take(&mut self, now: Time) -> Option<(Bytes, Rc<Message>)> {
        if let Some(message) = self.control.pop_front() {
            self.counts.updates += message.size;
            return Some((message.size, message));
        }
        self.advance(now);
        let Waiting { size, is_data, message } = self.data.pop_front()?;
        let size = Bytes::new(u64::from(size));
        if is_data {
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

    /// Ends an interval, as a cost update is due, and starts the next average.
    pub fn close_interval(&mut self, now: Time) -> Occupancy {
        self.advance(now);
        let (area, since) = core::mem::replace(&mut self.closed, (self.area, now));
        let length = now.since(since).ps();
        if length > 0 {
            self.average = Occupancy::new((self.area - area) as f64 / length as f64);
        }
        self.average
    }
}

#[cfg(test)]
mod tests {
    use ratewire_units::Duration;

    use super::*;
    use crate::ids::{ClientId, GroupId, NodeSet, OverlayNodeId};
    use crate::message::MessageBody;

    fn data() -> Rc<Message> {
        let body = MessageBody::Data {
            group: GroupId(0),
            client: ClientId(0),
            sequence: 0,
            stamp: 0,
            bought: Time::ZERO,
        };
        let to = NodeSet::first(2);
        Rc::new(Message { origin: OverlayNodeId(0), to, size: Bytes::new(1000), body })
    }

    fn ms(n: u64) -> Time {
        Time::ZERO + Duration::from_millis(n)
    }

    #[test]
    fn the_average_is_over_time() {
        let mut queue = LinkQueue::default();
        queue.push(ms(0), data());
        queue.push(ms(10), data());
        queue.take(ms(30));
        queue.take(ms(40));
        // One message for 10 ms, two for 20 ms, one for 10 ms, none for 10 ms.
        assert_eq!(queue.close_interval(ms(50)), Occupancy::new(1.2));
        assert_eq!(queue.close_interval(ms(100)), Occupancy::new(0.0));
        assert_eq!(queue.take_peak(), 2);
        assert_eq!(queue.take_peak(), 0);
    }

    #[test]
    fn updates_go_first_and_are_not_waiting_messages() {
        let mut queue = LinkQueue::default();
        queue.push(ms(0), data());
        let update = Message::prices(OverlayNodeId(1), NodeSet::first(2), &[]);
        queue.push(ms(0), Rc::new(update));
        assert_eq!(queue.waiting(), 1);
        assert!(!queue.take(ms(0)).unwrap().1.body.is_data());
        assert!(queue.take(ms(0)).unwrap().1.body.is_data());
        assert!(queue.take(ms(0)).is_none() && queue.is_empty());
        assert_eq!(queue.counts().data, Bytes::new(1000));
    }
}
