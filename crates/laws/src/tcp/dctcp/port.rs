//! The router's part.

use ratewire_units::{Bytes, Rate, Time};

use crate::law::{NoHeader, Port, PortQueue};
use crate::options::Size;
use crate::reason::{Figure, Reason};

/// DCTCP at one output queue.
#[derive(Clone, Debug)]
pub struct DctcpPort {
    threshold: Size,
    /// Queue that the last packet found.
    found: PortQueue,
}

impl DctcpPort {
    pub(super) fn new(threshold: Size) -> DctcpPort {
        DctcpPort { threshold, found: PortQueue::default() }
    }
}

impl Port for DctcpPort {
    type Header = NoHeader;

    #[inline]
    fn on_arrival(&mut self, _: Time, _: Bytes, _: Option<&mut NoHeader>, queue: PortQueue) {
        self.found = queue;
    }

    #[inline]
    fn mark(&mut self, _now: Time, _size: Bytes, queue: PortQueue) -> bool {
        match self.threshold {
            Size::Bytes(most) => queue.bytes > most,
            Size::Packets(most) => f64::from(queue.packets) > most,
        }
    }

    #[inline]
    fn on_departure(&mut self, _: Time, _: Bytes, _: Option<&mut NoHeader>, _: PortQueue) {}

    fn next_timer(&self) -> Time {
        Time::NEVER
    }
    fn on_timer(&mut self, _: Time, _: PortQueue) {}
    fn on_rate_change(&mut self, _: Time, _: Rate) {}

    fn acts_on_arrival_only(&self) -> bool {
        true
    }

    fn reason(&self) -> Reason {
        let figures = match self.threshold {
            Size::Bytes(most) => {
                [Figure::bytes("q", self.found.bytes.as_f64()), Figure::bytes("K", most.as_f64())]
            }
            Size::Packets(most) => {
                [Figure::one("q", f64::from(self.found.packets)), Figure::one("K", most)]
            }
        };
        Reason::new("marked where q > K, the queue that the packet finds", figures)
    }
}
