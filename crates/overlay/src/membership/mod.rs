//! Membership that survives failures: daemons crash, restart, are cut off and come back.
//!
//! A [`Member`] is one daemon's part, sans-IO. Each daemon tells all others which neighbours it is
//! connected with ([`LinkState`]), so all know who can reach whom. If that changes, the daemon with
//! the lowest number proposes a view of all that can be reached, and its members change to it:
//!
//! 1. Each stops the messages of its view, and reports what it has of them.
//! 2. Those that come from one view send each other what some lack.
//! 3. Each says that it is ready, with the groups of its clients. When all are, it delivers the
//!    rest of its view, and enters the new one.
//!
//! If something changes meanwhile, a new proposal starts this anew.
//!
//! Promises, in addition to those of each [`Service`] (extended virtual synchrony):
//! - Daemons that go from one view to the next together have delivered the same messages.
//! - A member of a group is told of a change in two steps: a [transition](Event::Transition), after
//!   which promises hold only for the members that come along, and then the new
//!   [view](Event::View). Messages of lost daemons that come in between may lack earlier ones.
//! - Joins and leaves have a place in the order of causal, agreed and safe messages.

mod change;
mod clients;
mod delivering;
mod event;
mod founding;
mod frame;
mod growth;
mod message;
mod order;
mod reach;
mod start;
mod table;
mod valid;

#[cfg(test)]
mod tests;

use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::sync::Arc;

use change::Round;
use clients::Request;
use delivering::Ending;
pub use event::{Cause, Delivery, Ended, Event, Outgoing, Recipients, Tally};
pub use founding::Founding;
pub use frame::{FrameError, Framed, read, write};
pub use message::{
    ChangeBody, ChangeMessage, Client, GroupViewId, Label, LinkMessage, LinkState, OrderStamp,
    Prices, Progress, Proposal, Report, Service, Target, Topology, Update, ViewBody, ViewId,
    ViewMessage,
};
use order::Order;
use reach::Reach;
use table::Table;

use crate::ids::{ClientId, EdgeId, NodeSet, OverlayNodeId};
use crate::level::Level;
use crate::tree::{EdgeSpec, Trees};

/// A set of daemons and the ways between them.
#[derive(Debug)]
struct Paths {
    topology: Topology,
    members: NodeSet,
    trees: Arc<Trees>,
    /// This daemon's links among them: neighbour and number of the connection.
    connections: Vec<(OverlayNodeId, u64)>,
}

impl Paths {
    fn is_over(&self, link: &Link) -> bool {
        link.connection.is_some_and(|number| self.connections.contains(&(link.peer, number)))
    }
}

/// A link to a neighbour.
#[derive(Clone, Debug)]
struct Link {
    peer: OverlayNodeId,
    /// Number of the connection, if there is one.
    connection: Option<u64>,
    /// Whether the view's messages go over this connection.
    is_used: bool,
    messages: Naming,
    prices: Naming,
}

/// The view of what follows on a connection.
#[derive(Clone, Debug, Default)]
struct Naming {
    /// Whether the neighbour has been told that the present view's follow.
    is_told: bool,
    /// The view whose follow from the neighbour.
    heard: Option<ViewId>,
}

impl Link {
    fn new(peer: OverlayNodeId, connection: Option<u64>) -> Link {
        let (messages, prices) = Default::default();
        Link { peer, connection, is_used: false, messages, prices }
    }
}

/// One daemon's part in the membership and order of all messages. `G` names groups, `P` is the
/// data of clients' messages.
///
/// Calls come in this order:
///
/// 1. [`Member::new`], or [`Member::founded`] for daemons that begin together.
/// 2. [`Member::link_up`] when a neighbour answers, [`Member::receive`] for each message from it,
///    [`Member::link_down`] when it does not answer any more; [`Member::tick`] regularly.
/// 3. For clients of this daemon: [`Member::connect`], then [`Member::join`], [`Member::multicast`]
///    and [`Member::leave`], and [`Member::disconnect`] once.
/// 4. After each of these, [`Member::poll_link`] and [`Member::poll_delivery`] until they have no
///    more.
#[derive(Clone, Debug)]
pub struct Member<G, P> {
    me: OverlayNodeId,
    incarnation: u64,
    /// Largest number of an earlier start that others still take for the newest, if there is one.
    outlived: Option<u64>,
    edges: Arc<[EdgeSpec]>,
    nodes: usize,
    /// See [`Member::know`].
    known: Vec<u64>,
    terms: u64,
    links: Vec<Link>,
    /// By place of a link: the neighbour. Each message looks its link up, so these stand together.
    peers: Vec<OverlayNodeId>,
    /// Number of changes of the links.
    version: u64,
    reach: Reach,
    /// Largest number of a view that was heard of.
    highest: u64,
    /// The proposal with the largest name.
    latest: Option<Arc<Proposal>>,
    view: ViewId,
    paths: Arc<Paths>,
    order: Order<G, P>,
    tally: Tally,
    table: Table<G>,
    labels: BTreeMap<ClientId, Label>,
    /// Clients of this daemon whose connections have ended, until that has its turn.
    gone: BTreeSet<ClientId>,
    /// Number of leaves of this daemon's clients that wait for their turn. Such a client gets no
    /// more messages: other daemons may know of the leave already, and send only some of them.
    leaving: BTreeMap<(G, ClientId), u32>,
    /// Number of joins of this daemon's clients that wait for other daemons, or for their turn.
    joining: BTreeMap<ClientId, u32>,
    next_client: u32,
    /// The change to another view.
    round: Option<Round<G, P>>,
    /// The end of the view, while it is delivered.
    ending: Option<Ending<G>>,
    /// Messages in the proposed view, from daemons that have entered it earlier.
    early: Vec<LinkMessage<G, P>>,
    /// Prices of other daemons.
    prices: VecDeque<Arc<Prices>>,
    requests: VecDeque<Request<G, P>>,
    /// Each with the place of its link.
    outgoing: VecDeque<(u8, LinkMessage<G, P>)>,
    deliveries: VecDeque<Delivery<G, P>>,
}

impl<G: Clone + Ord, P: Clone> Member<G, P> {
    /// A daemon that starts, alone, in an overlay of this many daemons with these links.
    /// `incarnation` is below 2^52, and differs from that of any earlier start of the daemon. If it
    /// is smaller, the daemon takes a larger one when it hears of the earlier start.
    pub fn new(
        me: OverlayNodeId,
        incarnation: u64,
        nodes: usize,
        edges: Arc<[EdgeSpec]>,
    ) -> Member<G, P> {
        let view = ViewId { number: 0, coordinator: me, incarnation };
        let members: NodeSet = [me].into_iter().collect();
        let own = edges.iter().filter(|edge| edge.from == me);
        let peers: Vec<_> = own.map(|edge| edge.to).collect();
        let mut member = Member {
            me,
            incarnation,
            outlived: None,
            nodes,
            known: vec![0; nodes],
            terms: 0,
            links: peers.iter().map(|peer| Link::new(*peer, None)).collect(),
            peers,
            version: 0,
            reach: Reach::new(nodes),
            highest: 0,
            latest: None,
            view,
            paths: Arc::new(Paths {
                topology: vec![(me, incarnation, 0)],
                members,
                trees: alone(me, nodes, &edges),
                connections: Vec::new(),
            }),
            order: Order::new(me, members, nodes),
            tally: Tally::new(nodes),
            table: Table::new(Some(me)),
            labels: BTreeMap::new(),
            gone: BTreeSet::new(),
            leaving: BTreeMap::new(),
            joining: BTreeMap::new(),
            next_client: 0,
            round: None,
            ending: None,
            early: Vec::new(),
            prices: VecDeque::new(),
            requests: VecDeque::new(),
            outgoing: VecDeque::new(),
            deliveries: VecDeque::new(),
            edges,
        };
        member.reach.learn(&Arc::new(member.link_state()));
        member
    }

    /// The daemon's number.
    pub fn id(&self) -> OverlayNodeId {
        self.me
    }
    /// The view that the daemon is in.
    pub fn view(&self) -> (ViewId, &NodeSet) {
        (self.view, &self.paths.members)
    }
    /// Whether the daemon is changing to another view; clients' requests wait meanwhile.
    pub fn is_changing(&self) -> bool {
        self.round.is_some()
    }
    /// The members of a group, in order.
    pub fn members(&self, group: &G) -> impl Iterator<Item = (Client, &Label)> {
        self.table.members(group)
    }

    /// Clients' messages of the view so far.
    pub fn tally(&self) -> &Tally {
        &self.tally
    }
    /// Destinations that a message has yet to reach over `link`.
    pub fn owed(&self, link: EdgeId, message: &ViewMessage<G, P>) -> NodeSet {
        self.paths.trees.beyond(message.origin, link).and(&message.to)
    }
    /// Whether this daemon's next messages to a neighbour follow the present view's name.
    pub fn has_told(&self, peer: OverlayNodeId) -> bool {
        self.links.iter().any(|link| link.peer == peer && link.messages.is_told)
    }
    /// Number of changes so far of the daemons that have members of groups.
    pub fn aims(&self) -> u64 {
        self.table.aims()
    }

    /// Number of messages, requests and joins that wait for something.
    #[cfg(test)]
    fn left_over(&self) -> usize {
        self.order.pending().count() + self.requests.len() + self.table.joining()
    }

    /// A message for a neighbour.
    pub fn poll_link(&mut self) -> Option<(OverlayNodeId, LinkMessage<G, P>)> {
        let (place, message) = self.poll_place()?;
        Some((self.links[place].peer, message))
    }
    /// A message for a neighbour, by the place of its link.
    pub(crate) fn poll_place(&mut self) -> Option<(usize, LinkMessage<G, P>)> {
        let (place, message) = self.outgoing.pop_front()?;
        Some((usize::from(place), message))
    }
    /// An event for clients.
    pub fn poll_delivery(&mut self) -> Option<Delivery<G, P>> {
        self.deliveries.pop_front()
    }

    /// Notes a new connection with a neighbour. Both ends give the same new number.
    pub fn link_up(&mut self, peer: OverlayNodeId, connection: u64) {
        let Some(place) = self.place(peer) else { return };
        self.links[place] = Link::new(peer, Some(connection));
        self.tell_states(peer);
        self.links_changed();
    }

    /// Notes the end of the connection with a neighbour.
    pub fn link_down(&mut self, peer: OverlayNodeId) {
        let Some(place) = self.place(peer) else { return };
        self.links[place] = Link::new(peer, None);
        self.outgoing.retain(|(to, _)| usize::from(*to) != place);
        self.links_changed();
    }

    /// Tells others how far this daemon is, if they do not know. To be called once in a while.
    pub fn tick(&mut self) {
        // Not at once: two daemons of one name would overtake each other without end.
        self.overtake_earlier_start();
        if self.round.is_none()
            && let Some(progress) = self.order.tell()
        {
            self.pass_progress(&Arc::new(progress));
        }
    }

    /// Tells others how far this daemon is, if a message waits for that. To be called whenever
    /// messages may have come, for short delays.
    pub fn hurry(&mut self) {
        if self.round.is_none()
            && let Some(progress) = self.order.tell_awaited()
        {
            self.pass_progress(&Arc::new(progress));
        }
    }

    /// Lets all daemons hurry to tell that they have this daemon's messages so far.
    pub fn ask_for_stability(&mut self) {
        self.order.ask();
    }

    /// Sends changed queues to all other daemons of the view.
    pub fn tell_prices(&mut self, links: Vec<(u8, Level)>, clients: Vec<(ClientId, Label, Level)>) {
        let is_news = !(links.is_empty() && clients.is_empty());
        if is_news && self.round.is_none() {
            self.pass_prices(&Arc::new(Prices { origin: self.me, links, clients }));
        }
    }

    /// Prices that have come from another daemon of the view.
    pub fn poll_prices(&mut self) -> Option<Arc<Prices>> {
        self.prices.pop_front()
    }

    fn pass_prices(&mut self, prices: &Arc<Prices>) {
        let to = self.paths.members.without(prices.origin);
        let Member { paths, links, outgoing, view, me, .. } = self;
        for edge in paths.trees.down(prices.origin, *me, &to) {
            let place = paths.trees.place(edge);
            let link = &mut links[place];
            if link.is_used {
                if !core::mem::replace(&mut link.prices.is_told, true) {
                    let entered = LinkMessage::EnterPrices(Arc::new(*view));
                    outgoing.push_back((place as u8, entered));
                }
                outgoing.push_back((place as u8, LinkMessage::Prices(Arc::clone(prices))));
            }
        }
    }

    /// Destinations of a message to these targets in the present view.
    pub fn destinations(&self, targets: &[Target<G>]) -> NodeSet {
        self.table.to(targets).and(&self.paths.members)
    }
    /// The links that a message of this daemon to these destinations crosses.
    pub fn crossed(&self, to: &NodeSet) -> Vec<EdgeId> {
        self.paths.trees.crossed(self.me, to)
    }
    /// Up to this stamp, all daemons of the view have all messages.
    pub fn stable(&self) -> OrderStamp {
        self.order.stable()
    }
    /// The stamp of the last message.
    pub fn stamp(&self) -> OrderStamp {
        self.order.now()
    }
    /// Clients of this daemon.
    pub fn clients(&self) -> impl Iterator<Item = ClientId> + use<'_, G, P> {
        self.labels.keys().copied()
    }
    /// Name of a client of this daemon.
    pub fn label(&self, client: ClientId) -> Option<&Label> {
        self.labels.get(&client)
    }
    /// Whether a client of this daemon has asked to join a group, and has not joined yet.
    pub fn is_joining(&self, client: ClientId) -> bool {
        self.joining.contains_key(&client)
    }
    /// Number of joins that a client of this daemon has asked for and that have not had their turn.
    pub fn joins_under_way(&self, client: ClientId) -> u32 {
        self.joining.get(&client).copied().unwrap_or(0)
    }
    /// Number of clients with such joins.
    pub fn joining(&self) -> usize {
        self.joining.len()
    }
    /// All groups with members.
    pub fn groups(&self) -> impl Iterator<Item = &G> {
        self.table.groups()
    }
    /// Whether a client is a member of a group.
    pub fn is_member(&self, group: &G, client: Client) -> bool {
        self.table.is_member(group, client)
    }

    fn others(&self) -> NodeSet {
        self.paths.members.without(self.me)
    }

    fn send_to(&mut self, to: NodeSet, stamp: u64, body: ViewBody<G, P>) {
        let message = Arc::new(ViewMessage { origin: self.me, to, stamp, body });
        self.pass_on(&message);
        self.take_in(&message);
    }

    /// Passes a message of the view on to the next daemons down its tree.
    fn pass_on(&mut self, message: &Arc<ViewMessage<G, P>>) {
        self.pass_down(message.origin, &message.to, || LinkMessage::View(Arc::clone(message)));
    }

    fn pass_progress(&mut self, progress: &Arc<Progress>) {
        let to = self.paths.members.without(progress.origin);
        self.pass_down(progress.origin, &to, || LinkMessage::Progress(Arc::clone(progress)));
    }

    fn pass_down(
        &mut self,
        origin: OverlayNodeId,
        to: &NodeSet,
        message: impl Fn() -> LinkMessage<G, P>,
    ) {
        let Member { paths, links, outgoing, view, me, .. } = self;
        for edge in paths.trees.down(origin, *me, to) {
            let place = paths.trees.place(edge);
            let link = &mut links[place];
            if !link.is_used {
                continue;
            }
            if !core::mem::replace(&mut link.messages.is_told, true) {
                outgoing.push_back((place as u8, LinkMessage::Enter(Arc::new(*view))));
            }
            outgoing.push_back((place as u8, message()));
        }
    }

    /// The place of the link to a neighbour: its index among those of the daemon.
    pub(crate) fn place(&self, peer: OverlayNodeId) -> Option<usize> {
        self.peers.iter().position(|known| *known == peer)
    }

    /// Takes in a message from a neighbour.
    pub fn receive(&mut self, peer: OverlayNodeId, message: LinkMessage<G, P>) {
        match message {
            LinkMessage::LinkState(state) => self.hear_links(peer, &state),
            LinkMessage::Propose(proposal) => self.hear_proposal(peer, &proposal),
            LinkMessage::Change(message) => self.hear_change(&message),
            LinkMessage::Enter(view) => {
                if let Some(place) = self.place(peer) {
                    self.links[place].messages.heard = Some(*view);
                }
            }
            LinkMessage::EnterPrices(view) => {
                if let Some(place) = self.place(peer) {
                    self.links[place].prices.heard = Some(*view);
                }
            }
            LinkMessage::View(_) | LinkMessage::Progress(_) => {
                let view = self.place(peer).and_then(|place| self.links[place].messages.heard);
                self.hear_in(view, message);
            }
            LinkMessage::Prices(_) => {
                let view = self.place(peer).and_then(|place| self.links[place].prices.heard);
                self.hear_in(view, message);
            }
        }
    }

    /// Takes in a message of this view, now or as soon as this daemon has entered the view.
    fn hear_in(&mut self, view: Option<ViewId>, message: LinkMessage<G, P>) {
        match &self.round {
            None if view == Some(self.view) => self.hear_now(&message),
            Some(round) if view == Some(round.id()) => self.early.push(message),
            // The change to another view recovers what is lost here.
            _ => {}
        }
    }

    fn hear_now(&mut self, message: &LinkMessage<G, P>) {
        let origin = match message {
            LinkMessage::View(message) => message.origin,
            LinkMessage::Progress(progress) => progress.origin,
            LinkMessage::Prices(prices) => prices.origin,
            _ => return,
        };
        if !self.paths.members.contains(origin) {
            return;
        }
        match message {
            LinkMessage::View(message) => self.hear(message),
            LinkMessage::Progress(progress) => self.hear_progress(progress),
            LinkMessage::Prices(prices) => {
                self.pass_prices(prices);
                self.prices.push_back(Arc::clone(prices));
            }
            _ => {}
        }
    }

    fn hear_progress(&mut self, progress: &Arc<Progress>) {
        self.pass_progress(progress);
        if progress.origin != self.me {
            self.order.hear_progress(progress);
        }
        self.deliver_due();
    }

    fn hear(&mut self, message: &Arc<ViewMessage<G, P>>) {
        self.pass_on(message);
        if message.to.contains(self.me) {
            self.order.hear(message.origin, message.stamp);
            self.take_in(message);
        }
        self.deliver_due();
    }

    /// Takes in a message of the view, of this daemon or for it.
    fn take_in(&mut self, message: &Arc<ViewMessage<G, P>>) {
        let is_ours = message.origin == self.me;
        if let ViewBody::Data { .. } = message.body
            && message.to.contains(self.me)
        {
            self.tally.came[message.origin.index()] += 1;
        }
        match &message.body {
            ViewBody::Data { .. } | ViewBody::Update(_) if self.order.push(message) => {
                self.deliver(message);
            }
            ViewBody::Interest(group) if !is_ours => {
                self.table.include(group, message.origin);
                let (to, stamp) = ([message.origin].into_iter().collect(), self.order.now());
                self.send_to(to, stamp, ViewBody::Included(group.clone()));
            }
            ViewBody::Included(group) if !is_ours => {
                self.table.included(group, message.origin);
                self.join_ready();
            }
            _ => {}
        }
    }

    /// Delivers what none can come before.
    fn deliver_due(&mut self) {
        while self.round.is_none()
            && let Some(message) = self.order.pop()
        {
            self.deliver(&message);
        }
    }
}

fn alone(me: OverlayNodeId, nodes: usize, edges: &[EdgeSpec]) -> Arc<Trees> {
    let members = [me].into_iter().collect();
    match Trees::among(nodes, edges, &members, |_| false) {
        Ok(trees) => Arc::new(trees),
        Err(_) => unreachable!("a single daemon reaches all members"),
    }
}
