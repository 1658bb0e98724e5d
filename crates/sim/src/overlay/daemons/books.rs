//! Accounts of clients' messages: every owed delivery is made, on its way, or lost with a failure.
//!
//! Daemons that go from one view to the next together owe each other all messages of the view. If a
//! daemon has crashed, or has gone to another view, its messages may be lost, and those for it.
//! Messages for a daemon that never came to the view may be lost as well.

use std::collections::BTreeMap;

use ratewire_overlay::daemon::Daemon;
use ratewire_overlay::membership::{LinkMessage, Tally, ViewId};
use ratewire_overlay::{EdgeId, GroupId, OverlayNodeId};

use super::content::Content;
use super::{Connection, Daemons};
use crate::error::RunError;

/// Accounts of all views that have ended, for some of their daemons.
#[derive(Debug, Default)]
pub(super) struct Books {
    /// By view: daemons that have left it, their next view if they have not crashed, and their
    /// messages.
    ended: BTreeMap<ViewId, Vec<End>>,
    balance: Balance,
}

/// Owed deliveries and what became of them.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Balance {
    /// Deliveries owed to messages.
    pub(super) owed: u64,
    /// Deliveries made.
    pub(super) made: u64,
    /// Deliveries lost with failures.
    pub(super) lost: u64,
}

/// The end of a view for one of its daemons.
#[derive(Clone, Debug)]
struct End {
    node: OverlayNodeId,
    next: Option<ViewId>,
    tally: Tally,
}

impl End {
    /// Deliveries that this daemon's messages owe the other, and did not get from it.
    fn missing(&self, other: &End) -> u64 {
        self.tally.sent[other.node.index()].saturating_sub(other.tally.came[self.node.index()])
    }
}

impl Books {
    /// Notes that a daemon has left a view, or has crashed in it.
    pub(super) fn end(
        &mut self,
        view: ViewId,
        node: OverlayNodeId,
        next: Option<ViewId>,
        tally: Tally,
    ) {
        self.balance.owed += tally.sent.iter().sum::<u64>();
        self.balance.made += tally.came.iter().sum::<u64>();
        let end = End { node, next, tally };
        let ended = self.ended.entry(view).or_default();
        for other in &*ended {
            // What is missing among daemons that went on together is owed still: it is an error.
            if next.is_none() || next != other.next {
                self.balance.lost += end.missing(other) + other.missing(&end);
            }
        }
        ended.push(end);
    }

    /// The balance at the end of a run. Daemons that have not left their views are in `present`,
    /// and `on_its_way` says how many of the first one's messages have yet to come to the second,
    /// or `None` if a failure is being dealt with.
    pub(super) fn balance<'a>(
        &self,
        present: &[(OverlayNodeId, ViewId, &'a Tally)],
        on_its_way: impl Fn(OverlayNodeId, OverlayNodeId) -> Option<u64>,
    ) -> (u64, u64) {
        let Balance { mut owed, mut made, mut lost } = self.balance;
        let end = |(node, _, tally): &(OverlayNodeId, ViewId, &'a Tally)| End {
            node: *node,
            next: None,
            tally: (*tally).clone(),
        };
        for (place, one) in present.iter().enumerate() {
            let this = end(one);
            owed += this.tally.sent.iter().sum::<u64>();
            made += this.tally.came.iter().sum::<u64>();
            for other in self.ended.get(&one.1).into_iter().flatten() {
                lost += this.missing(other) + other.missing(&this);
            }
            let others = present[..place].iter().filter(|other| other.1 == one.1);
            for other in others.map(end) {
                for (from, to) in [(&this, &other), (&other, &this)] {
                    made += on_its_way(from.node, to.node).unwrap_or(from.missing(to));
                }
            }
            lost += self.to_absent(&this, one.1, present);
        }
        for (view, ended) in &self.ended {
            lost += ended.iter().map(|end| self.to_absent(end, *view, present)).sum::<u64>();
        }
        (owed, made + lost)
    }

    /// Deliveries that a daemon's messages in a view owe daemons that never came to the view.
    fn to_absent(
        &self,
        from: &End,
        view: ViewId,
        present: &[(OverlayNodeId, ViewId, &Tally)],
    ) -> u64 {
        let ended = self.ended.get(&view).into_iter().flatten().map(|end| end.node);
        let here = present.iter().filter(|one| one.1 == view).map(|one| one.0);
        let came: Vec<usize> = ended.chain(here).map(|node| node.index()).collect();
        let owed = from.tally.sent.iter().enumerate();
        owed.filter(|(node, _)| !came.contains(node)).map(|(_, sent)| sent).sum()
    }
}

impl Daemons {
    /// Checks that every owed delivery of a message was made, is on its way, or was lost with a
    /// failure, and that senders' messages kept their order.
    pub(crate) fn check(&self) -> Result<(), RunError> {
        if let Some(group) = self.disordered() {
            return Err(RunError::MessagesOvertook(group.to_string()));
        }
        let (owed, accounted) = self.books();
        if owed == accounted { Ok(()) } else { Err(RunError::MessagesLost { owed, accounted }) }
    }

    /// The group of a sender whose messages came to a node in another order than promised.
    fn disordered(&self) -> Option<&str> {
        let sender = self.tally.overtaken()?;
        let group = self.spec.senders[sender as usize].spec.group;
        Some(&self.spec.groups[group.index()].name)
    }

    /// Whether a link is cut and its daemon does not know it.
    fn is_unnoticed(&self, connection: &Connection) -> bool {
        let is_up = |daemon: &Daemon<GroupId, Content>| {
            daemon.links().any(|link| link.peer == connection.to && link.is_up)
        };
        let daemon = self.nodes[connection.from.index()].daemon.as_ref();
        connection.state.is_cut && daemon.is_some_and(is_up)
    }

    /// Deliveries owed to messages, and deliveries made, on their way, or lost with failures.
    fn books(&self) -> (u64, u64) {
        let count = self.nodes.len();
        let mut on_its_way = vec![0u64; count * count];
        for (place, connection) in self.connections.iter().enumerate() {
            let Some(daemon) = &self.nodes[connection.from.index()].daemon else { continue };
            let Some(state) = daemon.links().find(|link| link.peer == connection.to) else {
                continue;
            };
            let on_link = connection.messages.iter().map(|(_, message)| message);
            let is_current = daemon.member().has_told(connection.to);
            let all: Vec<_> = on_link.chain(state.queue.waiting_messages()).collect();
            // Messages before the name of a view are of an earlier view.
            let named = all.iter().rposition(|message| matches!(message, LinkMessage::Enter(_)));
            for message in all.into_iter().skip(named.unwrap_or(0)) {
                if let LinkMessage::View(message) = message
                    && message.body.is_data()
                    && is_current
                {
                    let owed = daemon.member().owed(EdgeId(place as u16), message);
                    for to in owed.iter() {
                        on_its_way[message.origin.index() * count + to.index()] += 1;
                    }
                }
            }
        }
        let daemons = self.nodes.iter().filter_map(|node| node.daemon.as_ref());
        let present: Vec<_> = daemons
            .map(|daemon| daemon.member())
            .map(|member| (member.id(), member.view().0, member.tally()))
            .collect();
        let mut daemons = self.nodes.iter().filter_map(|node| node.daemon.as_ref());
        let is_changing = daemons.any(|daemon| daemon.member().is_changing())
            || self.connections.iter().any(|connection| self.is_unnoticed(connection));
        self.books.balance(&present, |from, to| {
            (!is_changing).then(|| on_its_way[from.index() * count + to.index()])
        })
    }
}
