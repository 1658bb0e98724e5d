//! The router's part of a law.

use alloc::boxed::Box;
use alloc::string::String;
use core::cell::Cell;
use core::convert::Infallible;
use core::marker::PhantomData;

use ratewire_units::{Bytes, Duration, Rate, Time};

use super::NoHeader;
use crate::reason::Reason;

/// A link, as its new port sees it.
#[derive(Clone, Copy, Debug)]
pub struct LinkContext<'a> {
    /// Capacity.
    pub rate: Rate,
    /// Propagation delay.
    pub delay: Duration,
    /// Identity of the port, unique in the network and not 0.
    pub id: u32,
    /// Random number of this port.
    pub draw: Draw<'a>,
}

/// Random number of a port or a flow, drawn from the run's seed, because laws hold no random
/// source.
///
/// A use of the number is noted, so that a run knows whether its seed matters.
#[derive(Clone, Copy, Debug)]
pub struct Draw<'a> {
    number: u64,
    is_used: Option<&'a Cell<bool>>,
}

impl<'a> Draw<'a> {
    /// A draw of this number, whose use nobody notes.
    pub const fn new(number: u64) -> Draw<'a> {
        Draw { number, is_used: None }
    }

    /// A draw of this number. A use sets `is_used`.
    pub const fn noted(number: u64, is_used: &'a Cell<bool>) -> Draw<'a> {
        Draw { number, is_used: Some(is_used) }
    }

    /// The number. Call this only if something depends on it: seeds then count as relevant.
    pub fn get(self) -> u64 {
        if let Some(is_used) = self.is_used {
            is_used.set(true);
        }
        self.number
    }
}

/// Packets in a port's queue, without the one being sent.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct PortQueue {
    /// Network-layer bytes of these packets.
    pub bytes: Bytes,
    /// Number of packets.
    pub packets: u32,
}

/// The router's part of a law, at one output queue.
///
/// Calls come in order of time. `header` is `None` for packets of other laws, which still count as
/// traffic. The caller asks [`Port::next_timer`] when the port is made and after [`Port::on_timer`]
/// and [`Port::on_rate_change`] only, so packets must not move the timer.
pub trait Port {
    /// The congestion header that the port reads and writes.
    type Header;

    /// A packet has arrived for the queue (it may yet be dropped).
    fn on_arrival(
        &mut self,
        now: Time,
        size: Bytes,
        header: Option<&mut Self::Header>,
        queue: PortQueue,
    );
    /// Whether to mark the packet that has just arrived, which may be marked (ECN).
    fn mark(&mut self, _now: Time, _size: Bytes, _queue: PortQueue) -> bool {
        false
    }
    /// A packet leaves the queue: its transmission starts.
    fn on_departure(
        &mut self,
        now: Time,
        size: Bytes,
        header: Option<&mut Self::Header>,
        queue: PortQueue,
    );
    /// When to call [`Port::on_timer`]; [`Time::NEVER`] for not at all.
    ///
    /// After `on_timer(now)` this must be later than `now`. A port that breaks this rule time and
    /// again ends a simulated run with an error.
    fn next_timer(&self) -> Time;
    /// Handles the timer, which is due. Moves [`Port::next_timer`] to a time later than `now`.
    fn on_timer(&mut self, now: Time, queue: PortQueue);
    /// Takes the link's new rate, which may be zero.
    fn on_rate_change(&mut self, now: Time, rate: Rate);
    /// Reason for the port's present answers: its equation, with present figures.
    ///
    /// Each of [`Reason::symbols`] needs a [`Figure`](crate::Figure) of its name. Fields of the
    /// packet's header and `size`, the packet's size, have theirs.
    fn reason(&self) -> Reason;
    /// Whether the port acts only as packets arrive: it has no timers, and departures mean nothing
    /// to it. A simulated link then works out departures ahead of time, and leaves out
    /// [`Port::on_departure`] of packets that wait.
    fn acts_on_arrival_only(&self) -> bool {
        false
    }
    /// What the port has done that no law may do, as [`Source::fault`](super::Source::fault).
    fn fault(&self) -> Option<String> {
        None
    }
}

impl<P: Port + ?Sized> Port for Box<P> {
    type Header = P::Header;

    fn on_arrival(
        &mut self,
        now: Time,
        size: Bytes,
        header: Option<&mut P::Header>,
        queue: PortQueue,
    ) {
        P::on_arrival(self, now, size, header, queue);
    }
    fn mark(&mut self, now: Time, size: Bytes, queue: PortQueue) -> bool {
        P::mark(self, now, size, queue)
    }
    fn on_departure(
        &mut self,
        now: Time,
        size: Bytes,
        header: Option<&mut P::Header>,
        queue: PortQueue,
    ) {
        P::on_departure(self, now, size, header, queue);
    }
    fn next_timer(&self) -> Time {
        P::next_timer(self)
    }
    fn on_timer(&mut self, now: Time, queue: PortQueue) {
        P::on_timer(self, now, queue);
    }
    fn on_rate_change(&mut self, now: Time, rate: Rate) {
        P::on_rate_change(self, now, rate);
    }
    fn reason(&self) -> Reason {
        P::reason(self)
    }
    fn acts_on_arrival_only(&self) -> bool {
        P::acts_on_arrival_only(self)
    }
    fn fault(&self) -> Option<String> {
        P::fault(self)
    }
}

/// Port of laws in which routers take no part; `H` is the header that they pass on unread.
#[derive(Clone, Debug)]
pub struct NoPort<H = NoHeader> {
    never: Infallible,
    header: PhantomData<H>,
}

impl<H> Port for NoPort<H> {
    type Header = H;
    fn on_arrival(&mut self, _: Time, _: Bytes, _: Option<&mut H>, _: PortQueue) {
        match self.never {}
    }
    fn on_departure(&mut self, _: Time, _: Bytes, _: Option<&mut H>, _: PortQueue) {
        match self.never {}
    }
    fn next_timer(&self) -> Time {
        match self.never {}
    }
    fn on_timer(&mut self, _: Time, _: PortQueue) {
        match self.never {}
    }
    fn on_rate_change(&mut self, _: Time, _: Rate) {
        match self.never {}
    }
    fn reason(&self) -> Reason {
        match self.never {}
    }
}
