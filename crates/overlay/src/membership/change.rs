//! The change of daemons from their views to a new one.

use std::collections::BTreeMap;
use std::sync::Arc;

use super::message::{
    ChangeBody, ChangeMessage, Client, Label, LinkMessage, LinkState, Proposal, Report, Topology,
    Update, ViewBody, ViewId, ViewMessage,
};
use super::order::Order;
use super::{Delivery, Ended, Event, Link, Member, Paths, Recipients, Tally, start};
use crate::ids::{ClientId, NodeSet, OverlayNodeId};
use crate::tree::Trees;

type Lists<G> = Vec<(G, Vec<(ClientId, Label)>)>;

/// A change to a proposed view, as one of its members knows it.
#[derive(Clone, Debug)]
pub(super) struct Round<G, P> {
    proposal: Arc<Proposal>,
    paths: Arc<Paths>,
    reports: BTreeMap<OverlayNodeId, Report>,
    /// Members that have sent all that others lack.
    sent: NodeSet,
    /// Members with all messages, and the groups of their clients.
    ready: BTreeMap<OverlayNodeId, Lists<G>>,
    /// Messages in the round, until all reports have come.
    missing: Vec<Arc<ViewMessage<G, P>>>,
}

impl<G, P> Round<G, P> {
    pub(super) fn id(&self) -> ViewId {
        self.proposal.id
    }

    fn has_all_reports(&self) -> bool {
        self.reports.len() == self.paths.members.len()
    }

    /// The members that come from this view.
    fn together(&self, view: ViewId) -> NodeSet {
        let same = self.reports.iter().filter(|(_, report)| report.view == view);
        same.map(|(node, _)| *node).collect()
    }
}

impl<G: Clone + Ord, P: Clone> Member<G, P> {
    pub(super) fn link_state(&self) -> LinkState {
        let connection = |link: &Link| Some((link.peer, link.connection?));
        LinkState {
            origin: self.me,
            incarnation: self.incarnation,
            version: self.version,
            highest: self.highest,
            links: self.links.iter().filter_map(connection).collect(),
            known: self.known.to_vec(),
            terms: self.terms,
        }
    }

    /// Tells all others of this daemon's links.
    pub(super) fn links_changed(&mut self) {
        self.version += 1;
        let state = Arc::new(self.link_state());
        self.reach.learn(&state);
        self.flood(None, || LinkMessage::LinkState(Arc::clone(&state)));
        self.consider();
    }

    /// Tells a neighbour all link states.
    pub(super) fn tell_states(&mut self, peer: OverlayNodeId) {
        let is_up = |place: &usize| self.links[*place].connection.is_some();
        let Some(place) = self.place(peer).filter(is_up) else { return };
        let states = self.reach.states().map(|state| LinkMessage::LinkState(Arc::clone(state)));
        self.outgoing.extend(states.map(|state| (place as u8, state)));
    }

    /// Sends a message to all neighbours but one.
    fn flood(&mut self, but: Option<OverlayNodeId>, message: impl Fn() -> LinkMessage<G, P>) {
        let up = self.links.iter().enumerate().filter(|(_, link)| link.connection.is_some());
        for (place, _) in up.filter(|(_, link)| Some(link.peer) != but) {
            self.outgoing.push_back((place as u8, message()));
        }
    }

    pub(super) fn hear_links(&mut self, peer: OverlayNodeId, state: &Arc<LinkState>) {
        if state.origin == self.me {
            if self.reach.is_news(state) {
                self.outlived = self.outlived.max(Some(state.incarnation));
            }
            return;
        }
        let known = self.reach.state(state.origin).map_or(0, |state| state.known.len());
        if self.reach.learn(state) {
            self.flood(Some(peer), || LinkMessage::LinkState(Arc::clone(state)));
            if (1..state.known.len()).contains(&known) {
                self.tell_states(state.origin);
            }
            self.consider();
        }
    }

    /// Takes a number above that of an earlier start of this daemon, which others take for the
    /// newer one: the clock has been set back since.
    pub(super) fn overtake_earlier_start(&mut self) {
        if let Some(earlier) = self.outlived.take() {
            self.incarnation = start::above(earlier, self.incarnation);
            self.links_changed();
        }
    }

    pub(super) fn hear_proposal(&mut self, peer: OverlayNodeId, proposal: &Arc<Proposal>) {
        match &self.latest {
            Some(latest) if latest.id == proposal.id => return,
            Some(latest) if latest.id > proposal.id => {
                // Its coordinator does not know of the later one. With a new link state, which
                // tells of that, it proposes again.
                if proposal.topology == self.reachable() && proposal.topology != *self.current() {
                    self.links_changed();
                }
                return;
            }
            _ => {}
        }
        self.latest = Some(Arc::clone(proposal));
        self.highest = self.highest.max(proposal.id.number);
        self.flood(Some(peer), || LinkMessage::Propose(Arc::clone(proposal)));
        self.consider();
    }

    /// The link states of all daemons that can be reached.
    fn reachable(&self) -> Topology {
        self.reach.topology(&self.reach.component(self.me))
    }

    /// The link states of the view, or of the one that is to come.
    fn current(&self) -> &Topology {
        &self.round.as_ref().map_or(&self.paths, |round| &round.paths).topology
    }

    /// Changes to another view if the daemons that can be reached, or their links, have changed.
    fn consider(&mut self) {
        let members = self.reach.component(self.me);
        let topology = self.reach.topology(&members);
        if topology == *self.current() {
            return;
        }
        if members.iter().next() == Some(self.me) {
            self.highest = self.highest.max(self.reach.highest(&members)) + 1;
            let (number, coordinator, incarnation) = (self.highest, self.me, self.incarnation);
            let id = ViewId { number, coordinator, incarnation };
            let proposal = Arc::new(Proposal { id, topology });
            self.latest = Some(Arc::clone(&proposal));
            self.flood(None, || LinkMessage::Propose(Arc::clone(&proposal)));
            self.accept(proposal, members);
        } else if let Some(latest) = self.latest.clone()
            && latest.topology == topology
            && members.iter().next() == Some(latest.id.coordinator)
        {
            self.accept(latest, members);
        }
    }

    /// Stops the messages of the view, and reports what has come of them.
    fn accept(&mut self, proposal: Arc<Proposal>, members: NodeSet) {
        let reach = &self.reach;
        let trees = Trees::among(self.nodes, &self.edges, &members, |edge| {
            reach.connects(edge.from, edge.to)
        });
        // All members of a component reach each other.
        let Ok(trees) = trees else { return };
        let is_connected =
            |link: &&Link| members.contains(link.peer) && reach.connects(self.me, link.peer);
        let connected = self.links.iter().filter(is_connected);
        let connections = connected.filter_map(|link| Some((link.peer, link.connection?)));
        let paths = Paths {
            topology: proposal.topology.clone(),
            members,
            trees: Arc::new(trees),
            connections: connections.collect(),
        };
        self.early.clear();
        self.round = Some(Round {
            proposal,
            paths: Arc::new(paths),
            reports: BTreeMap::new(),
            sent: NodeSet::EMPTY,
            ready: BTreeMap::new(),
            missing: Vec::new(),
        });
        let report = self.order.report(self.view);
        self.send_change(members, ChangeBody::Report(report));
    }

    fn send_change(&mut self, to: NodeSet, body: ChangeBody<G, P>) {
        let Some(round) = &self.round else { return };
        let message = Arc::new(ChangeMessage { id: round.id(), origin: self.me, to, body });
        self.hear_change(&message);
    }

    /// Passes a message of the round on, and takes it in.
    pub(super) fn hear_change(&mut self, message: &Arc<ChangeMessage<G, P>>) {
        let Some(round) = self.round.as_mut().filter(|round| round.id() == message.id) else {
            return;
        };
        let paths = Arc::clone(&round.paths);
        if !paths.members.contains(message.origin) {
            return;
        }
        for edge in paths.trees.down(message.origin, self.me, &message.to) {
            let place = paths.trees.place(edge);
            if paths.is_over(&self.links[place]) {
                self.outgoing.push_back((place as u8, LinkMessage::Change(Arc::clone(message))));
            }
        }
        if !message.to.contains(self.me) {
            return;
        }
        match &message.body {
            ChangeBody::Report(report) => {
                round.reports.insert(message.origin, report.clone());
                if round.has_all_reports() {
                    self.send_missing();
                }
            }
            ChangeBody::Missing(missing) if missing.is_valid(self.nodes) => {
                round.missing.push(Arc::clone(missing));
            }
            ChangeBody::Missing(_) => {}
            ChangeBody::Sent => round.sent.insert(message.origin),
            ChangeBody::Ready(lists) => {
                round.ready.insert(message.origin, lists.clone());
            }
        }
        self.proceed();
    }

    /// Sends those that come from the same view what they lack.
    fn send_missing(&mut self) {
        let Some(round) = &self.round else { return };
        let same = round.reports.iter().filter(|(_, report)| report.view == self.view);
        let same = same.map(|(node, report)| (*node, report.clone())).collect();
        for (to, missing) in self.order.lacking(&same) {
            self.send_change(to, ChangeBody::Missing(missing));
        }
        let members = self.round.as_ref().map_or(NodeSet::EMPTY, |round| round.paths.members);
        self.send_change(members, ChangeBody::Sent);
    }

    /// Takes the next step of the round, if all it needs has come.
    fn proceed(&mut self) {
        let Some(round) = &mut self.round else { return };
        if !round.has_all_reports() {
            return;
        }
        for missing in round.missing.drain(..) {
            if self.order.recover(&missing) && matches!(missing.body, ViewBody::Data { .. }) {
                self.tally.came[missing.origin.index()] += 1;
            }
        }
        let (members, together) = (round.paths.members, round.together(self.view));
        if !round.ready.contains_key(&self.me) {
            if together.and(&round.sent) == together {
                let lists = self.own_groups();
                self.send_change(members, ChangeBody::Ready(lists));
            }
        } else if round.ready.len() == members.len() {
            self.enter();
        }
    }

    /// The groups of this daemon's clients after all messages of the view.
    fn own_groups(&self) -> Lists<G> {
        let mut table = self.table.clone();
        for message in self.order.pending().filter(|message| message.origin == self.me) {
            let of = |id: &ClientId| Client { node: self.me, id: *id };
            match &message.body {
                ViewBody::Update(Update::Join(group, id, label)) => {
                    table.add(group, of(id), label);
                }
                ViewBody::Update(Update::Leave(group, id)) => {
                    table.remove(group, of(id));
                }
                ViewBody::Update(Update::Disconnect(id)) => {
                    for group in table.groups_of(of(id)) {
                        table.remove(&group, of(id));
                    }
                }
                _ => {}
            }
        }
        table.of(self.me)
    }

    /// Delivers the rest of the view, and enters the new one.
    fn enter(&mut self) {
        let Some(round) = &self.round else { return };
        let together = round.together(self.view);
        let same = || round.reports.values().filter(|report| report.view == self.view);
        let agreed = same().map(|report| report.agreed).max().unwrap_or(0);
        let safe = same().map(|report| report.safe).max().unwrap_or(0);
        while let Some(message) = self.order.pop_within(agreed, safe) {
            self.deliver(&message);
        }
        self.announce_transition(&together);
        while let Some(message) = self.order.pop_within(u64::MAX, u64::MAX) {
            match &message.body {
                // A client that joins now is in its daemon's list, and gets its first view with it.
                ViewBody::Update(Update::Join(..)) => {}
                _ => self.deliver(&message),
            }
        }
        self.start_view();
    }

    fn start_view(&mut self) {
        let Some(round) = self.round.take() else { return };
        let old = self.view;
        self.view = round.id();
        self.paths = round.paths;
        for link in &mut self.links {
            link.is_used = self.paths.is_over(link);
            (link.messages.is_told, link.prices.is_told) = (false, false);
        }
        self.order = Order::new(self.me, self.paths.members, self.nodes);
        let tally = core::mem::replace(&mut self.tally, Tally::new(self.nodes));
        let entered =
            Event::Entered(self.view, self.paths.members, Arc::new(Ended { view: old, tally }));
        self.deliveries.push_back(Delivery { to: Recipients::default(), event: entered });
        let asking = self.table.restart(round.ready.into_iter(), self.others());
        // Joins that had their turn in the old view's end are in their daemon's list.
        self.joining.clear();
        for client in self.table.joining_clients() {
            *self.joining.entry(client).or_default() += 1;
        }
        self.show_groups(|node| round.reports[&node].view);
        asking.into_iter().for_each(|group| self.ask_for(group));
        while self.round.is_none()
            && let Some(request) = self.requests.pop_front()
        {
            self.act(request);
        }
        for message in core::mem::take(&mut self.early) {
            self.hear_now(&message);
        }
        self.deliver_due();
    }
}
