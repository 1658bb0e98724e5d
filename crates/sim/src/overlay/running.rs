//! An active overlay.

use std::sync::Arc;

use ratewire_overlay::{EdgeId, Unreachable};
use ratewire_units::{Duration, Time};

use super::daemons::Daemons;
pub(crate) use super::daemons::{Consequences, DEAD_TIME};
use super::nodes::Nodes;
use super::spec::OverlaySpec;
use crate::flow::Flow;
use crate::outcome::OverlayOutcome;
use crate::record::OverlaySample;

/// Nodes, and the messages between them.
#[derive(Debug)]
pub(crate) struct Running {
    spec: Arc<OverlaySpec>,
    core: Core,
}

#[derive(Debug)]
enum Core {
    /// Nodes that know of no failures.
    Nodes(Box<Nodes>),
    /// Group daemons, for overlays with faults.
    Daemons(Box<Daemons>),
}

/// Calls a method of the core.
macro_rules! core {
    ($running:ident.$($call:tt)+) => {
        match &mut $running.core {
            Core::Nodes(core) => core.$($call)+,
            Core::Daemons(core) => core.$($call)+,
        }
    };
}

impl Running {
    pub(crate) fn new(
        spec: &Arc<OverlaySpec>,
        delay: impl Fn(usize) -> Duration,
        seed: u64,
    ) -> Result<Running, Unreachable> {
        let core = if spec.faults.is_empty() {
            Core::Nodes(Box::new(Nodes::new(spec, delay, seed)?))
        } else {
            Core::Daemons(Box::new(Daemons::new(spec, delay, seed)?))
        };
        Ok(Running { spec: Arc::clone(spec), core })
    }

    /// The overlay link that a flow implements.
    pub(crate) fn link_of(&self, flow: usize) -> Option<EdgeId> {
        let place = self.spec.links.iter().position(|link| link.flow == flow);
        place.map(|place| EdgeId(place as u16))
    }

    /// The flow that implements an overlay link.
    pub(crate) fn flow_of(&self, link: EdgeId) -> usize {
        self.spec.links[link.index()].flow
    }

    pub(crate) fn start_sender(&mut self, now: Time, sender: usize) -> usize {
        core!(self.start_sender(now, sender))
    }

    pub(crate) fn stop_sender(&mut self, sender: usize) {
        core!(self.stop_sender(sender));
    }

    pub(crate) fn change(&mut self, now: Time, change: usize) -> usize {
        core!(self.change(now, change))
    }

    /// Lets a node do what is due, if this is its time.
    pub(crate) fn advance(&mut self, now: Time, node: usize) -> bool {
        core!(self.advance(now, node))
    }

    /// Sets a node's timer to when it next has something to do. Returns the time if it is earlier
    /// than before.
    pub(crate) fn next_timer(&mut self, now: Time, node: usize) -> Option<Time> {
        core!(self.next_timer(now, node))
    }

    /// A link of a node that had nothing to send and now has.
    pub(crate) fn poll_link(&mut self, node: usize) -> Option<EdgeId> {
        core!(self.poll_link(node))
    }

    /// Writes waiting messages to a flow until it has a packet to send.
    pub(crate) fn feed(&mut self, now: Time, link: EdgeId, flow: &mut Flow) {
        core!(self.feed(now, link, flow));
    }

    /// Hands messages that arrived over a flow to the node at its far end; returns the node.
    pub(crate) fn arrived(&mut self, now: Time, link: EdgeId, flow: &mut Flow) -> usize {
        core!(self.arrived(now, link, flow))
    }

    /// Counts the messages that a node has for its clients.
    pub(crate) fn deliver(&mut self, now: Time, node: usize) {
        core!(self.deliver(now, node));
    }

    /// Applies fault number `fault`.
    pub(crate) fn fault(&mut self, now: Time, fault: usize) -> Consequences {
        match &mut self.core {
            Core::Nodes(_) => Consequences::default(),
            Core::Daemons(daemons) => daemons.fault(now, fault),
        }
    }

    /// The ends of a cut link notice, unless there is a new connection.
    pub(crate) fn notice(&mut self, now: Time, link: EdgeId, number: u64) {
        if let Core::Daemons(daemons) = &mut self.core {
            daemons.notice(now, link, number);
        }
    }

    /// Deliveries owed to messages, and deliveries made, on their way, or lost with failures.
    pub(crate) fn books(&self) -> (u64, u64) {
        match &self.core {
            Core::Nodes(nodes) => nodes.books(),
            Core::Daemons(daemons) => daemons.books(),
        }
    }

    /// The group of a sender whose messages came to a node in another order than promised.
    pub(crate) fn disordered(&self) -> Option<usize> {
        let Core::Daemons(daemons) = &self.core else { return None };
        let sender = daemons.overtaken()?;
        Some(self.spec.senders[sender as usize].spec.group.index())
    }

    /// The name of a group.
    pub(crate) fn group(&self, group: usize) -> &str {
        &self.spec.groups[group].name
    }

    /// Tells the changes since the last sample.
    pub(crate) fn sample(
        &mut self,
        at: Time,
        interval: Duration,
        tell: &mut dyn FnMut(&OverlaySample<'_>),
    ) {
        core!(self.sample(at, interval, tell));
    }

    pub(crate) fn outcome(&mut self, ended: Time) -> OverlayOutcome {
        core!(self.outcome(ended))
    }
}
