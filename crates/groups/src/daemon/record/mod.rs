//! What a daemon notes about its work: counters for the status, and events for the log.
//!
//! Events go to [`tracing`] with the target `ratewire_groups`. A program that wants a log installs
//! a subscriber. Clients and other daemons cause most events, so the log has at most ten a second
//! of each sort, with the number of those left out. Accepts that fail are at most one a second.

use std::cell::{Cell, RefCell};
use std::collections::BTreeMap;
use std::error::Error;
use std::io;
use std::rc::Rc;
use std::time::Duration;

use ratewire_daemon::log::{Throttle, reason};
use ratewire_overlay::membership::{LinkMessage, ViewBody, ViewId};
use ratewire_overlay::{NodeSet, OverlayNodeId};
use tokio::time::Instant;
use tracing::{info, warn};

use ratewire_groups_interface::status::{Totals, Traffic};

use crate::config::Config;

/// Failed accepts that are logged in a second. A daemon without descriptors may fail for hours.
const MOST_ACCEPTS: u32 = 1;

/// A daemon's counters and log.
#[derive(Debug)]
pub(super) struct Record {
    /// Start of the daemon. The core's clock is set back once in a while; this one is not.
    start: Instant,
    totals: Cell<Totals>,
    links: RefCell<BTreeMap<OverlayNodeId, Rc<LinkRecord>>>,
    last_cut_off: RefCell<Option<String>>,
    /// Bounds of events, one each: events of one sort cannot hide those of another.
    clients: Throttle,
    strangers: Throttle,
    views: Throttle,
    accepts: Throttle,
}

/// Counters of a link, over all of its connections.
#[derive(Debug, Default)]
pub(super) struct LinkRecord {
    name: String,
    sent: Cell<Traffic>,
    received: Cell<Traffic>,
    connections: Cell<u64>,
    last_error: RefCell<Option<String>>,
    throttle: Throttle,
}

impl Record {
    /// The record of a daemon that starts.
    pub(super) fn new() -> Record {
        Record {
            start: Instant::now(),
            totals: Cell::default(),
            links: RefCell::default(),
            last_cut_off: RefCell::default(),
            clients: Throttle::default(),
            strangers: Throttle::default(),
            views: Throttle::default(),
            accepts: Throttle::new(MOST_ACCEPTS),
        }
    }

    /// Notes a link, which is there from now on.
    pub(super) fn add_link(&self, config: &Config, peer: OverlayNodeId) {
        let name = config.daemon(peer).name.clone();
        let link = Rc::new(LinkRecord { name, ..LinkRecord::default() });
        self.links.borrow_mut().insert(peer, link);
    }

    /// Time since the start of the daemon.
    pub(super) fn uptime(&self) -> Duration {
        self.start.elapsed()
    }

    /// Changes counters.
    pub(super) fn count(&self, change: impl FnOnce(&mut Totals)) {
        let mut totals = self.totals.get();
        change(&mut totals);
        self.totals.set(totals);
    }

    pub(super) fn totals(&self) -> Totals {
        self.totals.get()
    }

    pub(super) fn link(&self, peer: OverlayNodeId) -> Option<Rc<LinkRecord>> {
        self.links.borrow().get(&peer).cloned()
    }

    /// Admits an event to the log, or counts it as left out.
    fn admit(&self, throttle: &Throttle) -> Option<u64> {
        let admitted = throttle.admit(self.uptime());
        if admitted.is_none() {
            self.count(|totals| totals.log_left_out += 1);
        }
        admitted
    }

    /// Notes that a client is not accepted.
    pub(super) fn refused(&self, from: &str, reason: &str) {
        self.count(|totals| totals.refused += 1);
        if let Some(left_out) = self.admit(&self.clients) {
            warn!(target: "ratewire_groups", from, reason, left_out, "client refused");
        }
    }

    /// Notes that a client has broken the protocol.
    pub(super) fn violated(&self, client: &str, from: &str, error: &dyn Error) {
        self.count(|totals| totals.violations += 1);
        if let Some(left_out) = self.admit(&self.clients) {
            let reason = reason(error);
            warn!(target: "ratewire_groups", client, from, reason, left_out, "client broke the protocol");
        }
    }

    /// Notes that a client may not join one more group.
    pub(super) fn join_rejected(&self, client: &str, groups: usize) {
        if let Some(left_out) = self.admit(&self.clients) {
            warn!(target: "ratewire_groups", client, groups, left_out, "join rejected: too many groups");
        }
    }

    /// Notes that a client is cut off, and why.
    pub(super) fn cut_off(&self, client: &str, waiting: usize, reason: &str) {
        self.count(|totals| totals.cut_off += 1);
        self.last_cut_off.replace(Some(format!("{client}: {reason}")));
        if let Some(left_out) = self.admit(&self.clients) {
            warn!(target: "ratewire_groups", client, waiting, reason, left_out, "client cut off");
        }
    }

    /// The client that was cut off last, and why.
    pub(super) fn last_cut_off(&self) -> Option<String> {
        self.last_cut_off.borrow().clone()
    }

    /// Notes that the daemon is in a new view.
    pub(super) fn entered(&self, config: &Config, view: &ViewId, members: &NodeSet) {
        self.count(|totals| totals.views += 1);
        let Some(left_out) = self.admit(&self.views) else { return };
        let names: Vec<&str> =
            members.iter().map(|node| config.daemon(node).name.as_str()).collect();
        let (number, coordinator) = (view.number, config.daemon(view.coordinator).name.as_str());
        let members = names.join(" ");
        info!(target: "ratewire_groups", number, coordinator, members, left_out, "view entered");
    }

    /// Notes daemons that have read another file: others may be out of the view for that.
    pub(super) fn other_files(&self, config: &Config, daemons: &NodeSet) {
        if let Some(left_out) = self.admit(&self.views) {
            let daemons = daemons.iter().filter_map(|node| config.daemons.get(node.index()));
            let names: Vec<&str> = daemons.map(|daemon| daemon.name.as_str()).collect();
            let daemons = names.join(" ");
            warn!(
                target: "ratewire_groups", daemons, left_out,
                "other daemons or links in their groups.toml: copy the same file to all and reload it"
            );
        }
    }

    /// Notes a connection with a neighbour.
    pub(super) fn link_up(&self, peer: OverlayNodeId) {
        let Some(link) = self.link(peer) else { return };
        link.connections.set(link.connections.get() + 1);
        if let Some(left_out) = self.admit(&link.throttle) {
            info!(target: "ratewire_groups", peer = link.name, left_out, "link up");
        }
    }

    /// Notes why the connection with a neighbour has ended.
    pub(super) fn link_down(&self, peer: OverlayNodeId, reason: String) {
        let Some(link) = self.link(peer) else { return };
        if let Some(left_out) = self.admit(&link.throttle) {
            warn!(target: "ratewire_groups", peer = link.name, reason, left_out, "link down");
        }
        link.last_error.replace(Some(reason));
    }

    /// Notes why there is no connection with a neighbour. A reason that remains is logged once.
    pub(super) fn link_failed(&self, peer: OverlayNodeId, reason: String) {
        let Some(link) = self.link(peer) else { return };
        if link.last_error.borrow().as_ref() == Some(&reason) {
            return;
        }
        if let Some(left_out) = self.admit(&link.throttle) {
            warn!(target: "ratewire_groups", peer = link.name, reason, left_out, "link cannot come up");
        }
        link.last_error.replace(Some(reason));
    }

    /// Notes that a neighbour knows more daemons or fewer, or treats groups or clients otherwise.
    pub(super) fn differs(&self, peer: OverlayNodeId) {
        let Some(link) = self.link(peer) else { return };
        if let Some(left_out) = self.admit(&link.throttle) {
            warn!(
                target: "ratewire_groups", peer = link.name, left_out,
                "groups.toml differs"
            );
        }
    }

    /// Notes a connection to the address for daemons that has ended before its peer was known.
    pub(super) fn stranger(&self, from: &str, reason: &str) {
        if let Some(left_out) = self.admit(&self.strangers) {
            warn!(target: "ratewire_groups", from, reason, left_out, "no link for this connection");
        }
    }

    /// Notes that the system has not handed over a connection at `listener`.
    pub(super) fn not_accepted(&self, listener: &str, error: &io::Error) {
        if let Some(left_out) = self.admit(&self.accepts) {
            let reason = reason(error);
            warn!(target: "ratewire_groups", listener, reason, left_out, "cannot accept a connection");
        }
    }
}

impl LinkRecord {
    /// Counts a frame that was sent.
    pub(super) fn sent<G, P>(&self, message: Option<&LinkMessage<G, P>>, size: usize) {
        add(&self.sent, message, size);
    }
    /// Counts a frame that was received.
    pub(super) fn received<G, P>(&self, message: Option<&LinkMessage<G, P>>, size: usize) {
        add(&self.received, message, size);
    }

    /// Traffic to the neighbour, and from it.
    pub(super) fn traffic(&self) -> [Traffic; 2] {
        [self.sent.get(), self.received.get()]
    }
    /// Number of connections so far.
    pub(super) fn connections(&self) -> u64 {
        self.connections.get()
    }
    /// Why there was no connection the last time.
    pub(super) fn last_error(&self) -> Option<String> {
        self.last_error.borrow().clone()
    }
}

/// Counts a frame of `size` bytes. A frame without a message is a sign of life.
fn add<G, P>(traffic: &Cell<Traffic>, message: Option<&LinkMessage<G, P>>, size: usize) {
    let mut sum = traffic.get();
    let size = size as u64;
    match message {
        Some(LinkMessage::Prices(_)) => sum.update_bytes += size,
        Some(LinkMessage::View(view)) if matches!(view.body, ViewBody::Data { .. }) => {
            sum.messages += 1;
            sum.data_bytes += size;
        }
        _ => sum.other_bytes += size,
    }
    traffic.set(sum);
}
