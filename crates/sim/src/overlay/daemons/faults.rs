//! Crashes and restarts of daemons, and cuts of links.

use std::sync::Arc;

use ratewire_net::random::stream;
use ratewire_overlay::daemon::Daemon;
use ratewire_overlay::{EdgeId, OverlayNodeId};
use ratewire_units::{Duration, Time};

use super::clients::Clients;
use super::{Daemons, label};
use crate::overlay::event::{Consequences, OverlayEvent};
use crate::setup::overlay::FaultKind;

/// Time after which both ends of a cut link know that their connection has ended: the group
/// daemon's default for a neighbour that is silent.
const DEAD_TIME: Duration = Duration::from_secs(5);

impl Daemons {
    /// Applies fault number `fault`.
    pub(super) fn fault(&mut self, now: Time, fault: usize) -> Consequences {
        let mut out = Consequences { nodes: 0..self.nodes.len(), ..Consequences::default() };
        match self.spec.faults[fault].kind {
            FaultKind::Crash(node) => self.crash(now, node, &mut out),
            FaultKind::Restart(node) => self.restart(now, node, &mut out),
            FaultKind::Cut(a, b) => self.cut(now, a, b, &mut out),
            FaultKind::Heal(a, b) => self.heal(now, a, b, &mut out),
        }
        out
    }

    /// The ends of a cut link notice, unless there is a new connection.
    pub(super) fn notice(&mut self, now: Time, link: EdgeId, number: u64) {
        let connection = &self.connections[link.index()];
        if connection.state.is_cut && connection.state.number == number {
            let (a, b) = (connection.from, connection.to);
            self.disconnect(now, a, b);
            self.disconnect(now, b, a);
        }
    }

    /// Both directions of the link between two nodes.
    fn both(&self, a: OverlayNodeId, b: OverlayNodeId) -> impl Iterator<Item = EdgeId> + use<> {
        [self.link(a, b), self.link(b, a)].into_iter().flatten()
    }

    fn peers(&self, node: OverlayNodeId) -> Vec<OverlayNodeId> {
        let own = self.connections.iter().filter(|connection| connection.from == node);
        own.map(|connection| connection.to).collect()
    }

    fn is_cut(&self, a: OverlayNodeId, b: OverlayNodeId) -> bool {
        self.link(a, b).is_some_and(|link| self.connections[link.index()].state.is_cut)
    }

    /// The daemon `node` notices the end of its connection with `peer`.
    fn disconnect(&mut self, now: Time, node: OverlayNodeId, peer: OverlayNodeId) {
        if let Some(daemon) = &mut self.nodes[node.index()].daemon {
            daemon.link_down(now, peer);
        }
    }

    /// Destroys the messages of a connection, in both directions.
    fn close(&mut self, a: OverlayNodeId, b: OverlayNodeId, out: &mut Consequences) {
        for link in self.both(a, b) {
            let connection = &mut self.connections[link.index()];
            connection.messages.clear();
            connection.written = 0;
            out.close.push(self.spec.links[link.index()].flow);
        }
    }

    /// Makes a new connection between two daemons, if both run.
    fn connect(&mut self, now: Time, a: OverlayNodeId, b: OverlayNodeId, out: &mut Consequences) {
        if [a, b].iter().any(|node| self.nodes[node.index()].daemon.is_none()) {
            return;
        }
        let mut number = 0;
        for link in self.both(a, b) {
            let state = &mut self.connections[link.index()].state;
            state.number += 1;
            number = state.number;
            out.open.push(self.spec.links[link.index()].flow);
        }
        for (node, peer) in [(a, b), (b, a)] {
            if let Some(daemon) = &mut self.nodes[node.index()].daemon {
                daemon.link_up(now, peer, number);
            }
        }
    }

    fn crash(&mut self, now: Time, node: OverlayNodeId, out: &mut Consequences) {
        let counts = self.sender_counts(now, node);
        let Some(mut daemon) = self.nodes[node.index()].daemon.take() else { return };
        for (sender, counts) in counts {
            self.sent_before[sender] = counts;
        }
        let member = daemon.member();
        self.books.end(member.view().0, node, None, member.tally().clone());
        for peer in self.peers(node) {
            let Some(link) = self.link(node, peer) else { continue };
            if let Some(queue) = daemon.queue_mut(peer) {
                self.connections[link.index()].past.add(now, queue);
            }
            // The host's kernel resets the connections of the program that has ended.
            if !self.is_cut(node, peer) {
                self.close(node, peer, out);
                self.disconnect(now, peer, node);
            }
        }
        let node = &mut self.nodes[node.index()];
        node.clients = Clients::default();
        node.members.iter_mut().for_each(|(.., id)| *id = None);
    }

    fn restart(&mut self, now: Time, node: OverlayNodeId, out: &mut Consequences) {
        let place = node.index();
        if self.nodes[place].daemon.is_some() {
            return;
        }
        let here = &mut self.nodes[place];
        here.incarnation += 1;
        let life = here.incarnation << 32 | place as u64;
        let random = stream(self.seed, "overlay purchases", life);
        let mut daemon = Daemon::new(node, here.incarnation, Arc::clone(&self.settings), random);
        for (client, group, id) in &mut here.members {
            let at = daemon.connect(now, label(*client));
            daemon.join(now, at, *group);
            *id = Some(at);
        }
        here.daemon = Some(daemon);
        for sender in here.senders.clone() {
            self.connect_sender(now, sender);
        }
        for peer in self.peers(node) {
            if !self.is_cut(node, peer) {
                self.connect(now, node, peer, out);
            }
        }
    }

    fn cut(&mut self, now: Time, a: OverlayNodeId, b: OverlayNodeId, out: &mut Consequences) {
        if self.is_cut(a, b) {
            return;
        }
        self.close(a, b, out);
        for link in self.both(a, b) {
            let state = &mut self.connections[link.index()].state;
            state.is_cut = true;
            let notice = OverlayEvent::Notice(link, state.number as u32);
            out.later = Some((now + DEAD_TIME, notice));
        }
    }

    fn heal(&mut self, now: Time, a: OverlayNodeId, b: OverlayNodeId, out: &mut Consequences) {
        if !self.is_cut(a, b) {
            return;
        }
        for link in self.both(a, b) {
            self.connections[link.index()].state.is_cut = false;
        }
        // A new connection tells both ends that the old one has ended, if they have not noticed.
        self.disconnect(now, a, b);
        self.disconnect(now, b, a);
        self.connect(now, a, b, out);
    }
}
