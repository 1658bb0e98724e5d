//! The loop's queue: events of links and timers of flows on a wheel, and all other events.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use ratewire_net::Scheduler;
use ratewire_net::spec::LinkId;
use ratewire_units::Time;

use crate::overlay::OverlayEvent;
use crate::wheel::Wheel;

/// Layout of an event on the wheel: the kind in the two highest bits, an index in the rest.
const KIND_SHIFT: u32 = 30;
const INDEX: u32 = (1 << KIND_SHIFT) - 1;
const LINK: u32 = 0;
const TIMER: u32 = 1 << KIND_SHIFT;
const OTHER: u32 = 2 << KIND_SHIFT;
const RELEASE: u32 = 3 << KIND_SHIFT;

/// What an event on the wheel is about.
#[derive(Clone, Copy, Debug)]
pub(super) enum Subject {
    Link(LinkId),
    /// A host has processed a packet, and puts it on this link.
    Release(LinkId),
    /// The timer of the flow in this slot.
    Timer(u32),
    /// An event of [`Schedule::take`].
    Other(u32),
}

impl Subject {
    /// The subject that the wheel has.
    #[inline]
    fn of(what: u32) -> Subject {
        let index = what & INDEX;
        match what & !INDEX {
            LINK => Subject::Link(LinkId(index)),
            TIMER => Subject::Timer(index),
            RELEASE => Subject::Release(LinkId(index)),
            _ => Subject::Other(index),
        }
    }
}

/// Events that belong neither to links nor to flows' timers.
#[derive(Clone, Copy, Debug)]
pub(super) enum OtherEvent {
    Start(u32),
    Stop(u32),
    Arrive(u32),
    Change(u32),
    Member(u32),
    Switch(u32),
    Follow,
    Sample,
    Overlay(OverlayEvent),
}

/// All events that are to come.
#[derive(Debug)]
pub(super) struct Schedule {
    wheel: Wheel,
    /// End of the run, after which nothing happens.
    end: Time,
    others: Vec<OtherEvent>,
    /// Free entries of `others`.
    free: Vec<u32>,
    /// Timers of hosts that lag behind the network, which are not on the wheel.
    lagging: Option<LaggingTimers>,
}

impl Scheduler for Schedule {
    #[inline]
    fn schedule(&mut self, at: Time, link: LinkId) {
        self.wheel.push_in_any_order(at, LINK | link.0);
    }

    fn schedule_release(&mut self, at: Time, link: LinkId) {
        self.wheel.push_in_any_order(at, RELEASE | link.0);
    }
}

impl Schedule {
    /// The schedule of a run up to this time, whose hosts lag behind the network or do not.
    pub(super) fn new(end: Time, hosts_lag: bool) -> Schedule {
        let mut wheel = Wheel::default();
        if hosts_lag {
            // Lagging hosts give work to links late, so the order in which links are scheduled
            // depends on where turns end.
            wheel.order_by_what();
        }
        let lagging = hosts_lag.then(LaggingTimers::default);
        Schedule { wheel, end, others: Vec::new(), free: Vec::new(), lagging }
    }

    /// The next event.
    #[inline]
    pub(super) fn pop(&mut self) -> Option<(Time, Subject)> {
        let (at, what) = self.wheel.pop()?;
        Some((at, Subject::of(what)))
    }

    /// The next event before this time. If there is none, none before this time may be added.
    #[inline]
    pub(super) fn pop_before(&mut self, limit: Time) -> Option<(Time, Subject)> {
        let (at, what) = self.wheel.pop_before(limit)?;
        Some((at, Subject::of(what)))
    }

    /// Adds an event, unless it comes after the end.
    pub(super) fn later(&mut self, at: Time, event: OtherEvent) {
        if at > self.end || at == Time::NEVER {
            return;
        }
        let index = match self.free.pop() {
            Some(index) => {
                self.others[index as usize] = event;
                index
            }
            None => {
                self.others.push(event);
                self.others.len() as u32 - 1
            }
        };
        self.wheel.push(at, OTHER | index);
    }

    /// Takes the event of [`Subject::Other`].
    pub(super) fn take(&mut self, index: u32) -> OtherEvent {
        self.free.push(index);
        self.others[index as usize]
    }

    /// Sets the timer of the flow in a slot.
    #[inline]
    pub(super) fn set_timer(&mut self, at: Time, slot: u32) {
        match &mut self.lagging {
            Some(timers) => timers.set(at, slot),
            None => self.wheel.push(at, TIMER | slot),
        }
    }

    /// Time of the next event or timer, or a little earlier.
    pub(super) fn next_time(&self) -> Time {
        let of_hosts = self.lagging.as_ref().map_or(Time::NEVER, |of| of.timers.next_time());
        self.wheel.next_time().min(of_hosts)
    }

    /// Time that lagging hosts have reached.
    pub(super) fn hosts_until(&self) -> Time {
        self.lagging.as_ref().map_or(Time::ZERO, |of| of.until)
    }

    /// The next timer of a lagging host before this time. Hosts have reached this time when there
    /// is none.
    pub(super) fn pop_timer(&mut self, until: Time) -> Option<(Time, u32)> {
        let lagging = self.lagging.as_mut()?;
        let next = lagging.timers.pop_before(until);
        if next.is_none() {
            lagging.until = until;
        }
        next
    }

    /// The next timer before this time that was set after [`Schedule::pop_timer`] had passed its
    /// time.
    #[inline]
    pub(super) fn next_soon(&mut self, before: Time) -> Option<(Time, u32)> {
        let soon = &mut self.lagging.as_mut()?.soon;
        let Reverse((at, _, slot)) = *soon.peek()?;
        if at >= before {
            return None;
        }
        soon.pop();
        Some((at, slot))
    }

    /// From now on hosts do not lag, and all timers are on the wheel.
    pub(super) fn end_lag(&mut self) {
        let Some(mut lagging) = self.lagging.take() else { return };
        debug_assert!(lagging.soon.is_empty());
        while let Some((at, slot)) = lagging.timers.pop_before(Time::NEVER) {
            self.wheel.push(at, TIMER | slot);
        }
    }
}

/// Timers of flows whose hosts lag behind the network, by slot.
#[derive(Debug, Default)]
struct LaggingTimers {
    timers: Wheel,
    /// Time up to which timers are popped.
    until: Time,
    /// Timers set for an earlier time after they were popped: time, number of timers set before,
    /// and slot.
    soon: BinaryHeap<Reverse<(Time, u64, u32)>>,
    soon_before: u64,
}

impl LaggingTimers {
    #[inline]
    fn set(&mut self, at: Time, slot: u32) {
        if at < self.until {
            self.soon.push(Reverse((at, self.soon_before, slot)));
            self.soon_before += 1;
        } else {
            self.timers.push(at, slot);
        }
    }
}
