//! A link's end at the switch where it starts.

use std::collections::VecDeque;

use ratewire_backpressure::flows::LaneSet;
use ratewire_backpressure::frames::{Control, ON_WIRE};
use ratewire_backpressure::gate::Gate;
use ratewire_units::{Duration, Rate, Time};

use super::Link;
use crate::scheduler::Scheduler;
use crate::spec::{LinkId, LinkSpec, Sockets};

/// A link that starts at a switch, laid out so that a packet touches two cache lines.
#[derive(Debug)]
#[repr(C, align(64))]
pub(crate) struct Outlet {
    /// Time at which the link's next turn must be checked; [`Time::NEVER`] if another event will do
    /// so.
    turn_at: Time,
    /// Time at which the buffer at its far end must be called.
    far_due: Time,
    /// The switch.
    node: u32,
    /// Index of the link among the outputs of the switch.
    output: u32,
    sockets: Sockets,
    /// Whether the switch has virtual output queues.
    is_virtual: bool,
    /// Whether a socket waits for room.
    wanted: bool,
    /// Whether the far end takes packets in one by one.
    has_intake: bool,
    /// Notices on their way to the transmitter, in order.
    notices: VecDeque<Notice>,
    bursts: Option<Box<Coalescing>>,
    gate: Gate,
    rate: Rate,
    /// Control frames sent on the link, which pause or resume others.
    control_frames: u64,
}

/// A pause frame for a transmitter.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Notice {
    /// Time at which it leaves; its content may change until then.
    pub(crate) starts: Time,
    /// Time at which the transmitter reacts.
    pub(crate) obeyed: Time,
    pub(crate) content: NoticeContent,
}

/// Content of a notice.
#[derive(Clone, Copy, Debug)]
pub(crate) enum NoticeContent {
    Frame(Control),
    Map(LaneSet),
}

/// State of packets released in bursts.
#[derive(Clone, Copy, Debug)]
struct Coalescing {
    packets: u32,
    every: Duration,
    /// Packets released and not yet sent.
    released: u32,
    /// Time at which all waiting packets are released, however few.
    due: Time,
}

/// Counters of pauses at a link.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct PauseTally {
    pub(crate) pauses: u64,
    pub(crate) paused: Duration,
    pub(crate) control_frames: u64,
}

impl Outlet {
    pub(crate) fn new(spec: &LinkSpec, node: u32, output: u32, is_virtual: bool) -> Outlet {
        let bursts = spec.driver.bursts.map(|bursts| Coalescing {
            packets: bursts.packets,
            every: bursts.every,
            released: 0,
            due: Time::NEVER,
        });
        Outlet {
            turn_at: Time::NEVER,
            far_due: Time::NEVER,
            notices: VecDeque::new(),
            bursts: bursts.map(Box::new),
            gate: Gate::default(),
            rate: spec.service.mean_rate(),
            node,
            output,
            sockets: spec.driver.sockets,
            is_virtual,
            wanted: false,
            has_intake: spec.pause.as_ref().is_some_and(|pause| !pause.intake.is_zero()),
            control_frames: 0,
        }
    }

    /// The switch.
    #[inline]
    pub(crate) fn node(&self) -> usize {
        self.node as usize
    }
    /// Index of the link among the outputs of the switch.
    #[inline]
    pub(crate) fn output(&self) -> u32 {
        self.output
    }
    #[inline]
    pub(crate) fn gate(&self) -> &Gate {
        &self.gate
    }
    pub(crate) fn rate(&self) -> Rate {
        self.rate
    }
    /// Whether the far end takes packets in one by one.
    #[inline]
    pub(crate) fn has_intake(&self) -> bool {
        self.has_intake
    }
    /// Whether the buffer at its far end must be called by now.
    #[inline]
    pub(crate) fn far_is_due(&self, now: Time) -> bool {
        self.far_due <= now
    }
    /// Sets the time at which the buffer at its far end must be called.
    #[inline]
    pub(crate) fn note_far_due(&mut self, due: Time) {
        self.far_due = due;
    }

    /// Time of the link's event other than an arrival.
    #[inline]
    pub(crate) fn next_due(&self) -> Time {
        let obeyed = self.notices.front().map_or(Time::NEVER, |notice| notice.obeyed);
        self.turn_at.min(obeyed).min(self.far_due)
    }

    pub(crate) fn tally(&mut self, now: Time) -> PauseTally {
        PauseTally {
            pauses: self.gate.pauses(),
            paused: self.gate.paused(now),
            control_frames: self.control_frames,
        }
    }

    pub(crate) fn set_rate(&mut self, rate: Rate) {
        self.rate = rate;
    }

    /// Applies all notices up to now; returns whether the link may have a turn.
    pub(crate) fn obey(&mut self, now: Time) -> bool {
        let mut turn = self.turn_at <= now;
        if turn {
            self.turn_at = Time::NEVER;
        }
        while let Some(notice) = self.notices.front().filter(|notice| notice.obeyed <= now) {
            match &notice.content {
                NoticeContent::Frame(control) => self.gate.obey(now, control, self.rate),
                NoticeContent::Map(lanes) => self.gate.obey_map(now, *lanes),
            }
            self.notices.pop_front();
            turn = true;
        }
        turn
    }

    /// Updates a notice of this kind that has not left yet, if there is one, and returns it.
    pub(crate) fn correct_notice(&mut self, now: Time, content: NoticeContent) -> Option<Notice> {
        let mut waiting = self.notices.iter_mut().filter(|notice| notice.starts > now);
        waiting.find_map(|notice| notice.content.takes_in(content).then_some(*notice))
    }

    /// Adds a notice that leaves at `starts` and takes effect at `obeyed`, or with the notice
    /// before if that is later: after a shortened delay frames do not overtake each other.
    pub(crate) fn add_notice(
        &mut self,
        starts: Time,
        obeyed: Time,
        content: NoticeContent,
    ) -> Notice {
        let before = self.notices.back().map_or(Time::ZERO, |notice| notice.obeyed);
        let notice = Notice { starts, obeyed: obeyed.max(before), content };
        self.notices.push_back(notice);
        notice
    }

    /// Starts the timer of bursts at the first packet since the last release.
    pub(crate) fn coalesce(&mut self, now: Time) {
        if let Some(bursts) = &mut self.bursts
            && bursts.due == Time::NEVER
        {
            bursts.due = now + bursts.every;
        }
    }

    /// Time until which packets are kept for a burst; `None` if one may go.
    pub(crate) fn unreleased(&mut self, now: Time, waiting: u32) -> Option<Time> {
        let bursts = self.bursts.as_mut()?;
        if bursts.released == 0 {
            if waiting < bursts.packets && bursts.due > now {
                return Some(bursts.due);
            }
            bursts.released = waiting;
            bursts.due = Time::NEVER;
        }
        None
    }

    /// Counts a released packet as sent.
    #[inline]
    pub(crate) fn note_released(&mut self) {
        if let Some(bursts) = &mut self.bursts {
            bursts.released -= 1;
        }
    }

    /// Clears the state of bursts, because no packet is left.
    pub(crate) fn forget_bursts(&mut self) {
        if let Some(bursts) = &mut self.bursts {
            (bursts.released, bursts.due) = (0, Time::NEVER);
        }
    }

    /// Whether a socket waits for room here, which the caller is about to report.
    #[inline]
    pub(crate) fn take_wanted(&mut self) -> bool {
        core::mem::take(&mut self.wanted)
    }
}

impl NoticeContent {
    /// Merges a newer notice of the same kind; returns whether it was merged.
    fn takes_in(&mut self, newer: NoticeContent) -> bool {
        match (self, newer) {
            (
                NoticeContent::Frame(Control::Priority(times)),
                NoticeContent::Frame(Control::Priority(newer)),
            ) => {
                for (time, newer) in times.iter_mut().zip(newer) {
                    *time = newer.or(*time);
                }
            }
            (old @ NoticeContent::Frame(_), NoticeContent::Frame(_))
            | (old @ NoticeContent::Map(_), NoticeContent::Map(_)) => *old = newer,
            _ => return false,
        }
        true
    }
}

impl Link {
    /// Whether a socket may send a packet of this size now; if not, the socket may wait for room.
    pub(crate) fn admits(&mut self, size: u32) -> bool {
        let has_room = self.has_room_beside(self.waiting_all(), size);
        if let Some(outlet) = self.outlet_mut() {
            outlet.wanted |= !has_room;
        }
        has_room
    }

    /// Whether a packet finds its link idle and not paused, and no packet before it in the switch.
    /// Such a packet takes no room, and the switch need not process it.
    pub(crate) fn lets_pass(&self, now: Time, class: u8) -> bool {
        let Some(outlet) = self.outlet() else { return false };
        self.held == 0
            && self.busy_until <= now
            && self.can_send()
            && outlet.bursts.is_none()
            && outlet.is_virtual
            && outlet.gate.is_open(now, u32::from(class))
    }

    /// Whether a packet that did not come over a pausable link has room, or needs none. Where
    /// sockets wait for room, packets that they cannot hold back (acknowledgements, probes) are
    /// never dropped.
    pub(crate) fn has_own_room(&self, now: Time, size: u32) -> bool {
        let Some(outlet) = self.outlet() else { return true };
        let idle = self.busy_until <= now && self.held == 0 && self.can_send();
        idle || outlet.sockets != Sockets::Drop || self.has_room_beside(self.held, size)
    }

    /// Schedules the next check of the link's turn for this time.
    pub(crate) fn look_again(&mut self, at: Time, id: LinkId, scheduler: &mut impl Scheduler) {
        if let Some(outlet) = self.outlet_mut() {
            outlet.turn_at = at;
            self.call_at(at, id, scheduler);
        }
    }

    /// Sends a control frame before all waiting packets, after the packet in transmission, and even
    /// on a paused link. Returns when the frame leaves and when it arrives; `None` if the link
    /// loses it, because it is down or sends nothing.
    pub(crate) fn send_control(&mut self, now: Time) -> Option<(Time, Time)> {
        let down = self.extra.as_ref().is_some_and(|extra| extra.down);
        let per_byte = self.per_byte.filter(|_| !down && self.busy_until != Time::NEVER)?;
        let time = per_byte.of(ON_WIRE);
        let starts = self.busy_until.max(now);
        self.busy_until = starts + time;
        self.busy += time;
        let arrives = self.busy_until + self.delay;
        if let Some(outlet) = self.outlet_mut() {
            outlet.control_frames += 1;
        }
        Some((starts, arrives))
    }
}

#[cfg(test)]
mod tests {
    use std::mem::offset_of;

    use super::*;

    #[test]
    fn a_packet_touches_two_cache_lines_of_an_outlet() {
        assert_eq!(offset_of!(Outlet, bursts), 64);
        assert!(offset_of!(Outlet, gate) + size_of::<Time>() <= 128, "the first class's time");
    }
}
