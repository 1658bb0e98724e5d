//! Runs in which hosts take turns with the network (see [`HostLag`]).
//!
//! First, links process everything due until hosts could have sent something that arrives. Then
//! hosts process what was due in that time: arrived packets and their flows' timers, in order of
//! time. Events for which neither may lag, such as changes and samples, end a turn.
//!
//! [`HostLag`]: ratewire_net::HostLag

mod ahead;

use std::cmp::Reverse;
use std::collections::{BTreeSet, BinaryHeap};

use ratewire_net::spec::{LinkId, NodeId};
use ratewire_net::{Label, Network};
use ratewire_units::{Duration, Time};

use super::tuning::{
    AGENDA_LEAD, EVENTS_WORTH_A_TURN, FEW_FLOWS, FEW_LINKS, MOST_EVENTS_A_TURN, TURNS_OF_A_TRIAL,
};
use super::{HostLagging, Speed};
use crate::engine::{FLOW_TIMER, INDEX, LINK, PROGRESS_EVERY, RELEASE, Simulation, pairs};
use crate::error::RunError;
use crate::routes::RouteTable;
use crate::setup::Setup;
use crate::wheel::Wheel;
use ahead::{look_at_agenda, look_at_link};

/// A task of a host.
#[derive(Clone, Copy, Debug)]
pub(in crate::engine) enum Due {
    /// A packet has arrived.
    Packet(Label),
    /// The timer of the flow in this slot is due.
    Timer(Time, u32),
}

impl Due {
    /// Slot of the flow that the task is for.
    #[inline]
    pub(in crate::engine) fn flow(&self) -> u32 {
        match self {
            Due::Packet(label) => label.flow,
            Due::Timer(_, slot) => *slot,
        }
    }
    #[inline]
    fn time(&self) -> Time {
        match self {
            Due::Packet(label) => label.arrived(),
            Due::Timer(at, _) => *at,
        }
    }
}

/// Pending tasks of hosts, and state of the turns.
#[derive(Debug)]
pub(in crate::engine) struct Turns {
    /// Time by which hosts may lag behind the network.
    lag: Duration,
    /// Events of links in one turn.
    most_events: u64,
    /// Timers of flows, by slot.
    timers: Wheel,
    /// Time up to which timers are on the agenda.
    until: Time,
    /// Timers set for an earlier time after the agenda was made: time, number of timers set before,
    /// and slot.
    soon: BinaryHeap<Reverse<(Time, u64, u32)>>,
    soon_before: u64,
    /// Turns since the last trial in which hosts lagged as far as they may, and their events.
    whole: u64,
    events: u64,
}

/// Whether there are more links or flows than stay in the caches.
fn are_many(setup: &Setup) -> bool {
    setup.network.links.len() > FEW_LINKS
        || setup.flows.len() > FEW_FLOWS
        || !setup.traffic.is_empty()
}

impl Turns {
    /// The turns, if hosts can take turns with the network. Must be called before links are watched
    /// or send.
    pub(in crate::engine) fn new(
        setup: &Setup,
        speed: Speed,
        network: &mut Network,
        routes: &RouteTable,
    ) -> Option<Turns> {
        let are_wanted = match speed.host_lag {
            HostLagging::Never => false,
            HostLagging::WhereMany => are_many(setup),
            #[cfg(test)]
            HostLagging::Everywhere => true,
        };
        let has_relays = setup.overlay.is_some() || !setup.ensembles.junctions.is_empty();
        let is_leaf = |node: NodeId| routes.is_leaf(node);
        let is_of_a_leaf = |link: &LinkId| is_leaf(setup.network.links[link.index()].from);
        if !are_wanted
            || has_relays
            || !pairs(setup).all(|(from, to)| is_leaf(from) && is_leaf(to))
            || setup.changes.iter().any(|(_, link, _)| is_of_a_leaf(link))
            || setup.paths.iter().any(|path| inner(path).iter().any(|node| is_leaf(*node)))
        {
            return None;
        }
        let changed: BTreeSet<LinkId> = setup.changes.iter().map(|(_, link, _)| *link).collect();
        let may_change = |link: LinkId| changed.contains(&link);
        let lag = network.host_lag().begin(&setup.network, is_leaf, may_change)?;
        Some(Turns {
            lag,
            most_events: MOST_EVENTS_A_TURN,
            timers: Wheel::default(),
            until: Time::ZERO,
            soon: BinaryHeap::new(),
            soon_before: 0,
            whole: 0,
            events: 0,
        })
    }

    /// Schedules a flow's timer.
    #[inline]
    pub(in crate::engine) fn note_timer(&mut self, at: Time, slot: u32) {
        if at < self.until {
            self.soon.push(Reverse((at, self.soon_before, slot)));
            self.soon_before += 1;
        } else {
            self.timers.push(at, slot);
        }
    }

    /// The next timer before this time that was set after the agenda was made.
    #[inline]
    fn next_soon(&mut self, before: Time) -> Option<(Time, u32)> {
        let Reverse((at, _, slot)) = *self.soon.peek()?;
        if at >= before {
            return None;
        }
        self.soon.pop();
        Some((at, slot))
    }

    /// Whether turns have become too short; the last, in which hosts lagged as far as they may, had
    /// `events` events.
    fn are_short(&mut self, events: u64) -> bool {
        // The time of the next event is not always known, so a turn may have none.
        self.whole += u64::from(events > 0);
        self.events += events;
        if self.whole < TURNS_OF_A_TRIAL {
            return false;
        }
        self.whole = 0;
        core::mem::take(&mut self.events) < TURNS_OF_A_TRIAL * EVENTS_WORTH_A_TURN
    }
}

/// Inner nodes of a path.
fn inner(path: &[NodeId]) -> &[NodeId] {
    path.get(1..path.len().saturating_sub(1)).unwrap_or_default()
}

impl Simulation<'_> {
    /// Runs in turns to the end, or until turns are too short to pay.
    pub(in crate::engine) fn run_in_turns(&mut self) -> Result<(), RunError> {
        let mut agenda: Vec<Due> = Vec::new();
        while let Some(turns) = &mut self.turns {
            let next = self.wheel.next_time().min(turns.timers.next_time());
            let of_hosts = agenda.first().map_or(Time::NEVER, Due::time);
            let start =
                next.min(of_hosts).min(self.network.host_lag().next_for_hosts()).max(turns.until);
            if start > self.end {
                break;
            }
            let limit = (start + turns.lag).min(self.end + Duration::from_ps(1));
            let before = self.events;
            self.network.host_lag().hosts_are_at(start);
            let most = self.events + turns.most_events;
            let (until, other) = self.network_turn(limit, most, &mut agenda)?;
            self.complete_agenda(until, &mut agenda);
            // Tasks due at exactly this time are done together with all others of that time,
            // wherever a turn ends.
            let due = agenda.partition_point(|due| due.time() < until);
            self.hosts_turn(&agenda[..due], until)?;
            agenda.drain(..due);
            let events = self.events - before;
            if let Some(index) = other {
                self.advance(until)?;
                self.other_event_at(index)?;
            }
            if before / PROGRESS_EVERY != self.events / PROGRESS_EVERY || self.is_to_end {
                self.report_progress(until.min(self.end))?;
            }
            if let Some(turns) = &mut self.turns
                && until == limit
                && turns.are_short(events)
            {
                self.end_turns();
            }
        }
        Ok(())
    }

    /// Lets links process events before this time, up to an event of another kind or a number of
    /// events. Returns the time reached, and that event.
    ///
    /// Not inlined: code inlined in two loops of one function suits neither.
    #[inline(never)]
    fn network_turn(
        &mut self,
        limit: Time,
        most: u64,
        agenda: &mut Vec<Due>,
    ) -> Result<(Time, Option<u32>), RunError> {
        let looks_ahead = self.foresight.looks_at_links();
        while let Some((at, what)) = self.wheel.pop_before(limit) {
            let index = what & INDEX;
            let link = LinkId(index);
            if what & !INDEX == RELEASE {
                self.advance(at)?;
                self.network.release(at, link, &mut self.wheel);
                continue;
            }
            if what & !INDEX != LINK {
                return Ok((at, Some(index)));
            }
            self.advance(at)?;
            if looks_ahead {
                look_at_link(link, self.network.look_ahead());
            }
            if let Some(label) = self.network.on_event(at, link, &mut self.wheel) {
                debug_assert_eq!(label.arrived(), at);
                agenda.push(Due::Packet(label));
            }
            if self.events >= most {
                return Ok((at, None));
            }
        }
        Ok((limit, None))
    }

    /// Adds tasks of hosts before this time that had no event.
    fn complete_agenda(&mut self, until: Time, agenda: &mut Vec<Due>) {
        let told = agenda.len();
        self.network.host_lag().take_for_hosts(until, |label| agenda.push(Due::Packet(label)));
        if let Some(turns) = &mut self.turns {
            while let Some((at, slot)) = turns.timers.pop_before(until) {
                agenda.push(Due::Timer(at, slot));
            }
            turns.until = until;
        }
        self.events += (agenda.len() - told) as u64;
        // The agenda consists of a few sorted runs, which the sort merges.
        agenda.sort_by_key(Due::time);
        if self.network.news().take_any() {
            self.take_news();
        }
    }

    fn hosts_turn(&mut self, agenda: &[Due], until: Time) -> Result<(), RunError> {
        let looks_ahead = self.foresight.is_on();
        for step in 0..agenda.len() + AGENDA_LEAD {
            if looks_ahead {
                look_at_agenda(agenda, step, self.network.look_ahead(), &self.flows);
            }
            let Some(due) = agenda.get(step.wrapping_sub(AGENDA_LEAD)) else { continue };
            self.let_timers_go_off(due.time())?;
            self.now = due.time();
            match due {
                Due::Packet(label) => self.deliver(label),
                Due::Timer(_, slot) => self.flow_timer(*slot),
            }
        }
        self.let_timers_go_off(until)
    }

    /// Handles timers before this time that were set after the agenda was made.
    #[inline]
    fn let_timers_go_off(&mut self, before: Time) -> Result<(), RunError> {
        while let Some(turns) = &mut self.turns
            && let Some((at, slot)) = turns.next_soon(before)
        {
            self.advance(at)?;
            self.flow_timer(slot);
        }
        Ok(())
    }

    /// Ends lagging, when hosts have caught up.
    fn end_turns(&mut self) {
        if let Some(mut turns) = self.turns.take() {
            debug_assert!(turns.soon.is_empty());
            while let Some((at, slot)) = turns.timers.pop_before(Time::NEVER) {
                self.wheel.push(at, FLOW_TIMER | slot);
            }
            self.network.host_lag().end(&mut self.wheel);
        }
    }
}

#[cfg(test)]
mod tests;
