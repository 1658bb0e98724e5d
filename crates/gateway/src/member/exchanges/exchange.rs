//! What a gateway has said of an exchange beside its beginning.

use std::cell::{Cell, RefCell};
use std::collections::VecDeque;

use bytes::Bytes;
use tokio::sync::Notify;

use crate::frame::CREDIT;

/// A request and its answer.
pub(super) struct Exchange {
    pub(super) number: u64,
    /// Whether the request came as a whole.
    pub(super) is_whole: bool,
    /// Bytes of the answer that may be sent.
    credit: Cell<u64>,
    credited: Notify,
    /// What has come of the request behind its beginning.
    more: RefCell<VecDeque<Bytes>>,
    /// Bytes that are in `more`.
    held: Cell<u64>,
    /// Whether nothing follows what is in `more`, and whether the request is whole with it.
    is_last: Cell<bool>,
    is_cut_off: Cell<bool>,
    added: Notify,
}

/// What comes next of a request.
pub(super) enum More {
    Bytes(Bytes),
    End,
    /// The rest of the request will not come.
    CutOff,
}

impl Exchange {
    pub(super) fn new(number: u64, is_whole: bool) -> Exchange {
        Exchange {
            number,
            is_whole,
            credit: Cell::new(CREDIT),
            credited: Notify::new(),
            more: RefCell::default(),
            held: Cell::new(0),
            is_last: Cell::new(is_whole),
            is_cut_off: Cell::new(false),
            added: Notify::new(),
        }
    }

    /// Notes more of the request. Returns whether the gateway had credit for it.
    pub(super) fn add(&self, bytes: Bytes, is_last: bool) -> bool {
        let held = self.held.get() + bytes.len() as u64;
        if held > CREDIT || self.is_last.get() {
            return false;
        }
        self.held.set(held);
        self.is_last.set(is_last);
        self.more.borrow_mut().push_back(bytes);
        self.added.notify_one();
        true
    }

    /// Waits for more of the request.
    pub(super) async fn more(&self) -> More {
        loop {
            let next = self.more.borrow_mut().pop_front();
            match next {
                Some(bytes) => {
                    self.held.set(self.held.get() - bytes.len() as u64);
                    return More::Bytes(bytes);
                }
                None if self.is_last.get() => return More::End,
                None if self.is_cut_off.get() => return More::CutOff,
                None => self.added.notified().await,
            }
        }
    }

    pub(super) fn add_credit(&self, bytes: u64) {
        self.credit.set(self.credit.get().saturating_add(bytes));
        self.credited.notify_one();
    }

    /// Waits until bytes of the answer may be sent, and takes as many of these.
    pub(super) async fn take(&self, bytes: &mut Bytes) -> Bytes {
        while self.credit.get() == 0 && !bytes.is_empty() {
            self.credited.notified().await;
        }
        let allowed = usize::try_from(self.credit.get()).unwrap_or(usize::MAX).min(bytes.len());
        self.credit.set(self.credit.get() - allowed as u64);
        bytes.split_to(allowed)
    }

    /// Notes that the gateway says no more.
    pub(super) fn end(&self) {
        self.add_credit(u64::MAX);
        self.is_cut_off.set(true);
        self.added.notify_one();
    }
}
