//! A client that is connected.

use std::cell::{Cell, RefCell};
use std::collections::BTreeSet;
use std::time::Duration;

use ratewire_overlay::ClientId;
use tokio::sync::Notify;
use tokio::time::Instant;

use crate::daemon::item::Item;
use crate::daemon::outbox::Outbox;
use crate::spread::{GroupName, PrivateName, Request};

/// A client that is connected.
pub(in crate::daemon) struct Session {
    pub(in crate::daemon) id: ClientId,
    pub(in crate::daemon) name: PrivateName,
    /// Where the client connects from, in words.
    pub(in crate::daemon) from: String,
    pub(super) wants_membership: bool,
    /// Weight of the benefit of the client's messages.
    pub(in crate::daemon) weight: f64,
    pub(in crate::daemon) outbox: RefCell<Outbox>,
    /// Woken when there is something to write.
    pub(in crate::daemon) writer: Notify,
    /// Woken when the message that waited has been sent, or the change has been made.
    pub(in crate::daemon) reader: Notify,
    /// A change of the client's groups that waits until the client has read.
    pub(super) change: RefCell<Option<Request>>,
    /// Woken when the daemon ends the connection.
    pub(in crate::daemon) cut: Notify,
    /// Groups that the client has joined or is about to join.
    pub(in crate::daemon) groups: RefCell<BTreeSet<GroupName>>,
    pub(super) is_changed: Cell<bool>,
    /// Whether the queue may hold a message that is neither dropped nor too far behind: senders of
    /// such messages wait for room.
    pub(super) holds_senders: Cell<bool>,
    /// Unreliable messages that were dropped.
    pub(in crate::daemon) dropped: Cell<u64>,
}

impl Session {
    pub(super) fn new(
        id: ClientId,
        name: PrivateName,
        from: &str,
        wants_membership: bool,
        weight: f64,
    ) -> Session {
        Session {
            id,
            name,
            from: from.to_string(),
            wants_membership,
            weight,
            outbox: RefCell::default(),
            writer: Notify::new(),
            reader: Notify::new(),
            change: RefCell::default(),
            cut: Notify::new(),
            groups: RefCell::default(),
            is_changed: Cell::new(false),
            holds_senders: Cell::new(false),
            dropped: Cell::new(0),
        }
    }

    /// For how long the oldest message has waited for the client that still does.
    pub(super) fn age(&self, now: Instant) -> Duration {
        let oldest = self.outbox.borrow().oldest();
        oldest.map_or(Duration::ZERO, |oldest| now.saturating_duration_since(oldest))
    }

    /// Drops what waits for the client, and ends its connection after these last messages.
    pub(in crate::daemon) fn close(&self, last: impl IntoIterator<Item = Item>) {
        self.outbox.borrow_mut().close(last);
        self.writer.notify_one();
        self.cut.notify_one();
    }
}
