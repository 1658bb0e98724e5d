//! Connects the nodes of an overlay with the flows of the engine.

use ratewire_overlay::EdgeId;
use ratewire_units::Time;

use super::{OtherEvent, Simulation};
use crate::SetupError;
use crate::error::RunError;
use crate::overlay::{DEAD_TIME, Daemons};
use crate::record::FlowId;

/// An overlay event at a time that was set.
#[derive(Clone, Copy, Debug)]
pub(crate) enum OverlayEvent {
    /// A node's timer.
    Node(u32),
    Start(u32),
    Stop(u32),
    /// A client joins or leaves.
    Change(u32),
    Fault(u32),
    /// The ends of a cut link notice: the link, and the number of the connection.
    Notice(EdgeId, u32),
}

impl Simulation<'_> {
    /// Puts the nodes on their hosts and schedules the overlay's events.
    pub(super) fn open_overlay(&mut self) -> Result<(), SetupError> {
        let Some(spec) = &self.setup.overlay else { return Ok(()) };
        let mut delays = Vec::new();
        for (id, flow) in self.setup.flows.iter().enumerate() {
            let route = self.routes.get(&mut self.network, flow.from, flow.to, id as u64)?;
            delays.push(route.delay);
        }
        let daemons = Daemons::new(spec, |flow| delays[flow], self.setup.seed);
        let unreachable = |e: ratewire_overlay::Unreachable| {
            SetupError::NoRoute(spec.nodes[e.0.index()], spec.nodes[e.1.index()])
        };
        self.overlay = Some(Box::new(daemons.map_err(unreachable)?));
        for (i, sender) in spec.senders.iter().enumerate() {
            self.later(sender.start, OtherEvent::Overlay(OverlayEvent::Start(i as u32)));
            self.later(
                sender.stop.unwrap_or(Time::NEVER),
                OtherEvent::Overlay(OverlayEvent::Stop(i as u32)),
            );
        }
        for (i, change) in spec.changes.iter().enumerate() {
            self.later(change.at, OtherEvent::Overlay(OverlayEvent::Change(i as u32)));
        }
        for (i, fault) in spec.faults.iter().enumerate() {
            self.later(fault.at, OtherEvent::Overlay(OverlayEvent::Fault(i as u32)));
        }
        self.stir_all();
        Ok(())
    }

    pub(super) fn overlay_event(&mut self, event: OverlayEvent) {
        let now = self.now;
        let Some(overlay) = self.overlay.as_deref_mut() else { return };
        let node = match event {
            OverlayEvent::Node(node) => {
                let node = node as usize;
                if !overlay.advance(now, node) {
                    return;
                }
                node
            }
            OverlayEvent::Start(sender) => overlay.start_sender(now, sender as usize),
            OverlayEvent::Stop(sender) => return overlay.stop_sender(sender as usize),
            OverlayEvent::Change(change) => overlay.change(now, change as usize),
            OverlayEvent::Fault(fault) => return self.fault(fault as usize),
            OverlayEvent::Notice(link, number) => {
                overlay.notice(now, link, u64::from(number));
                return self.stir_all();
            }
        };
        self.stir(node);
    }

    /// Processes messages that have arrived completely over a link of the overlay.
    pub(super) fn overlay_arrived(&mut self, slot: u32, link: EdgeId) {
        let (Some(overlay), Some(flow)) = (self.overlay.as_deref_mut(), self.flows.at(slot)) else {
            return;
        };
        let node = overlay.arrived(self.now, link, flow);
        self.stir(node);
    }

    /// Applies a fault: ends connections, and makes new ones.
    fn fault(&mut self, fault: usize) {
        let now = self.now;
        let Some(overlay) = self.overlay.as_deref_mut() else { return };
        let consequences = overlay.fault(now, fault);
        for flow in consequences.close {
            if let Some(slot) = self.slots[flow].take() {
                self.abandon(slot);
            }
        }
        for flow in consequences.open {
            let spec = &self.setup.flows[flow];
            // The flow's routes were found when it first started.
            let Ok(slot) = self.open(FlowId(flow as u32), spec) else { continue };
            self.pump(slot);
        }
        if let Some((link, number)) = consequences.notice {
            let notice = OverlayEvent::Notice(link, number as u32);
            self.later(now + DEAD_TIME, OtherEvent::Overlay(notice));
        }
        self.stir_all();
    }

    fn stir_all(&mut self) {
        let nodes = self.setup.overlay.as_ref().map_or(0, |overlay| overlay.nodes.len());
        (0..nodes).for_each(|node| self.stir(node));
    }

    /// After an action of a node: counts what it delivers, sends the node's messages over its
    /// links, and schedules its next timer.
    fn stir(&mut self, node: usize) {
        let now = self.now;
        if let Some(overlay) = self.overlay.as_deref_mut() {
            overlay.deliver(now, node);
        }
        while let Some(overlay) = self.overlay.as_deref_mut()
            && let Some(link) = overlay.poll_link(node)
        {
            // A link that has not started yet finds its messages when it starts.
            if let Some(slot) = self.slots[overlay.flow_of(link)] {
                self.pump(slot);
            }
        }
        let Some(overlay) = self.overlay.as_deref_mut() else { return };
        if let Some(due) = overlay.next_timer(now, node) {
            self.later(due, OtherEvent::Overlay(OverlayEvent::Node(node as u32)));
        }
    }

    /// Checks that every owed delivery of a message was made, is on its way, or was lost with a
    /// failure, and that senders' messages kept their order.
    pub(super) fn check_overlay(&self) -> Result<(), RunError> {
        let Some(overlay) = &self.overlay else { return Ok(()) };
        if let Some(group) = overlay.disordered() {
            return Err(RunError::MessagesOvertook(group.to_string()));
        }
        let (owed, accounted) = overlay.books();
        if owed == accounted { Ok(()) } else { Err(RunError::MessagesLost { owed, accounted }) }
    }
}
