//! Memory that a gateway's clients share.

use std::cell::Cell;

use tokio::sync::Notify;

/// Bytes that are held for clients: what they have sent and no member has, and answers that they
/// have not taken.
#[derive(Debug)]
pub(super) struct Memory {
    used: Cell<usize>,
    most: usize,
    freed: Notify,
    /// Woken when more is held than may be.
    pub(super) exceeded: Notify,
}

impl Memory {
    pub(super) fn new(most: usize) -> Memory {
        Memory { used: Cell::new(0), most, freed: Notify::new(), exceeded: Notify::new() }
    }

    /// Bytes that are held.
    pub(super) fn used(&self) -> usize {
        self.used.get()
    }

    /// Bytes that may be held.
    pub(super) fn most(&self) -> usize {
        self.most
    }

    /// Whether half of the memory is taken: the other half is for answers on their way.
    pub(super) fn is_scarce(&self) -> bool {
        self.used.get() > self.most / 2
    }

    /// Whether more is held than may be.
    pub(super) fn is_over(&self) -> bool {
        self.used.get() > self.most
    }

    /// Notes bytes that are held.
    pub(super) fn take(&self, bytes: usize) {
        self.used.set(self.used.get() + bytes);
        if self.is_over() {
            self.exceeded.notify_one();
        }
    }

    /// Notes bytes that are held no more.
    pub(super) fn give(&self, bytes: usize) {
        self.used.set(self.used.get().saturating_sub(bytes));
        self.freed.notify_waiters();
    }

    /// Waits until half of the memory is free: the other half is for answers.
    pub(super) async fn wait_for_half(&self) {
        loop {
            let freed = self.freed.notified();
            if !self.is_scarce() {
                return;
            }
            freed.await;
        }
    }
}
