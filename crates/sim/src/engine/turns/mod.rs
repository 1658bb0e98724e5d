//! Runs in which hosts take turns with the network (see [`HostLag`]).
//!
//! First, links process everything due until hosts could have sent something that arrives. Then
//! hosts process what was due in that time: arrived packets and their flows' timers, in order of
//! time. Events for which neither may lag, such as changes and samples, end a turn.
//!
//! [`HostLag`]: ratewire_net::HostLag

mod ahead;

use ratewire_net::spec::{LinkId, NodeId};
use ratewire_net::{Label, Network};
use ratewire_units::{Duration, Time};

use crate::engine::Simulation;
use crate::engine::environment::Environment;
use crate::engine::schedule::Subject;
use crate::error::RunError;
use crate::record::PROGRESS_EVERY;
use crate::routes::RouteTable;
use crate::setup::Setup;
use crate::speed::{HostLagging, Speed};
use crate::tuning::{
    AGENDA_LEAD, EVENTS_WORTH_A_TURN, FEW_FLOWS, FEW_LINKS, LINKS_WORTH_AN_EVENT,
    MOST_EVENTS_A_TURN, TURNS_OF_A_TRIAL,
};
use ahead::look_at_agenda;

/// A task of a host.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Due {
    /// A packet has arrived.
    Packet(Label),
    /// The timer of the flow in this slot is due.
    Timer(Time, u32),
}

impl Due {
    /// Slot of the flow that the task is for.
    #[inline]
    pub(crate) fn flow(&self) -> u32 {
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

/// How far hosts lag, and whether that pays.
#[derive(Debug)]
pub(crate) struct Turns {
    /// Time by which hosts may lag behind the network.
    lag: Duration,
    /// Events of links in one turn.
    most_events: u64,
    /// Least mean number of events in a turn.
    least_events: u64,
    /// Turns since the last trial in which hosts lagged as far as they may, and their events.
    whole: u64,
    events: u64,
}

/// Whether there are more links or flows than stay in the caches.
pub(super) fn are_many(setup: &Setup) -> bool {
    setup.network.links.len() > FEW_LINKS
        || setup.flows.len() > FEW_FLOWS
        || !setup.traffic.is_empty()
}

impl Turns {
    /// The turns, if hosts can take turns with the network. Must be called before links are watched
    /// or send.
    pub(crate) fn new(
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
            || !setup.pairs().all(|(from, to)| is_leaf(from) && is_leaf(to))
            || setup.changes.iter().any(|(_, link, _)| is_of_a_leaf(link))
            || setup.paths_lead_through(is_leaf)
        {
            return None;
        }
        let lag = network.host_lag().begin(&setup.network, is_leaf)?;
        let links = network.host_lag().links_without_events() as u64;
        let least_events = EVENTS_WORTH_A_TURN + links / LINKS_WORTH_AN_EVENT;
        Some(Turns { lag, most_events: MOST_EVENTS_A_TURN, least_events, whole: 0, events: 0 })
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
        core::mem::take(&mut self.events) < TURNS_OF_A_TRIAL * self.least_events
    }
}

impl Simulation<'_> {
    /// Runs in turns to the end, or until turns are too short to pay.
    pub(crate) fn run_in_turns(&mut self) -> Result<(), RunError> {
        let mut agenda: Vec<Due> = Vec::new();
        while let Some(turns) = &self.turns {
            let next = self.env.schedule.next_time();
            let of_hosts = agenda.first().map_or(Time::NEVER, Due::time);
            let start = next.min(of_hosts).min(self.env.network.host_lag().next_for_hosts());
            let start = start.max(self.env.schedule.hosts_until());
            if start > self.env.clock.end {
                break;
            }
            let limit = (start + turns.lag).min(self.env.clock.end + Duration::from_ps(1));
            let before = self.env.clock.events;
            let looks_ahead = self.looks_ahead();
            self.env.network.host_lag().hosts_are_at(start);
            let limits = (limit, before + turns.most_events);
            let (until, other) = network_turn(&mut self.env, limits, looks_ahead, &mut agenda)?;
            complete_agenda(&mut self.env, until, &mut agenda);
            if self.env.network.news().take_any() {
                self.take_news();
            }
            // Tasks due at exactly this time are done together with all others of that time,
            // wherever a turn ends.
            let due = agenda.partition_point(|due| due.time() < until);
            self.hosts_turn(&agenda[..due], until)?;
            agenda.drain(..due);
            let events = self.env.clock.events - before;
            if let Some(event) = other {
                self.env.clock.advance(until)?;
                self.other_event(event)?;
            }
            if before / PROGRESS_EVERY != self.env.clock.events / PROGRESS_EVERY
                || self.records.is_to_end
            {
                self.report_progress(until.min(self.env.clock.end))?;
            }
            if let Some(turns) = &mut self.turns
                && until == limit
                && turns.are_short(events)
            {
                // Hosts have caught up.
                self.turns = None;
                self.env.schedule.end_lag();
                self.env.network.host_lag().end(&mut self.env.schedule);
            }
        }
        Ok(())
    }

    /// Lets hosts do their tasks before this time.
    fn hosts_turn(&mut self, agenda: &[Due], until: Time) -> Result<(), RunError> {
        let looks_ahead = self.looks_ahead();
        for step in 0..agenda.len() + AGENDA_LEAD {
            if looks_ahead {
                look_at_agenda(agenda, step, self.env.network.look_ahead(), &self.hosts.flows);
            }
            let Some(due) = agenda.get(step.wrapping_sub(AGENDA_LEAD)) else { continue };
            self.let_timers_go_off(due.time())?;
            self.env.clock.now = due.time();
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
        while let Some((at, slot)) = self.env.schedule.next_soon(before) {
            self.env.clock.advance(at)?;
            self.flow_timer(slot);
        }
        Ok(())
    }
}

/// Lets links process events before a time, up to an event of another kind or a number of events.
/// Returns the time reached, and that event; the agenda has the packets that have arrived.
///
/// Not inlined: code inlined in two loops of one function suits neither.
#[inline(never)]
fn network_turn(
    env: &mut Environment,
    (limit, most): (Time, u64),
    looks_ahead: bool,
    agenda: &mut Vec<Due>,
) -> Result<(Time, Option<u32>), RunError> {
    while let Some((at, subject)) = env.schedule.pop_before(limit) {
        let link = match subject {
            Subject::Link(link) => link,
            Subject::Release(link) => {
                env.clock.advance(at)?;
                env.network.release(at, link, &mut env.schedule);
                continue;
            }
            Subject::Other(event) => return Ok((at, Some(event))),
            Subject::Timer(_) => unreachable!("timers of lagging hosts are not on the wheel"),
        };
        env.clock.advance(at)?;
        if looks_ahead {
            env.network.look_ahead().foresee_next(link);
        }
        if let Some(label) = env.network.on_event(at, link, &mut env.schedule) {
            debug_assert_eq!(label.arrived(), at);
            agenda.push(Due::Packet(label));
        }
        if env.clock.events >= most {
            return Ok((at, None));
        }
    }
    Ok((limit, None))
}

/// Adds tasks of hosts before this time that had no event.
fn complete_agenda(env: &mut Environment, until: Time, agenda: &mut Vec<Due>) {
    let told = agenda.len();
    env.network.host_lag().take_for_hosts(until, |label| agenda.push(Due::Packet(label)));
    while let Some((at, slot)) = env.schedule.pop_timer(until) {
        agenda.push(Due::Timer(at, slot));
    }
    env.clock.events += (agenda.len() - told) as u64;
    // The agenda consists of a few sorted runs, which the sort merges.
    agenda.sort_by_key(Due::time);
}

#[cfg(test)]
mod tests;
