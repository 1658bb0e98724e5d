//! What a gateway has said of an exchange beside its beginning.

use std::cell::{Cell, RefCell};
use std::collections::VecDeque;
use std::rc::Rc;

use bytes::Bytes;
use tokio::sync::Notify;

use crate::frame::CREDIT;
use crate::member::counts::Cause;

/// Bytes of requests, behind their beginnings, that the server has not taken.
pub(in crate::member) struct Uploads {
    held: Cell<u64>,
    most: u64,
}

impl Uploads {
    /// Uploads of all exchanges with a server, and how many bytes of them may be held.
    pub(super) fn new(most: u64) -> Uploads {
        Uploads { held: Cell::new(0), most }
    }

    pub(super) fn held(&self) -> u64 {
        self.held.get()
    }
}

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
    /// Bytes that are in `more`, and in those of all exchanges.
    held: Cell<u64>,
    uploads: Rc<Uploads>,
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
    pub(super) fn new(number: u64, is_whole: bool, uploads: Rc<Uploads>) -> Exchange {
        Exchange {
            number,
            is_whole,
            credit: Cell::new(CREDIT),
            credited: Notify::new(),
            more: RefCell::default(),
            held: Cell::new(0),
            uploads,
            is_last: Cell::new(is_whole),
            is_cut_off: Cell::new(false),
            added: Notify::new(),
        }
    }

    /// Notes more of the request.
    ///
    /// # Errors
    /// Why it may not be held.
    pub(super) fn add(&self, bytes: Bytes, is_last: bool) -> Result<(), (Cause, &'static str)> {
        let length = bytes.len() as u64;
        if self.held.get() + length > CREDIT || self.is_last.get() {
            let why = "the gateway sends more of a request than it has credit for";
            return Err((Cause::Gateway, why));
        }
        if self.uploads.held.get() + length > self.uploads.most {
            return Err((Cause::Crowded, "too many uploads wait for the server"));
        }
        self.hold(self.held.get() + length);
        self.is_last.set(is_last);
        self.more.borrow_mut().push_back(bytes);
        self.added.notify_one();
        Ok(())
    }

    /// Notes bytes that are in `more`, instead of those before.
    fn hold(&self, bytes: u64) {
        let before = self.held.replace(bytes);
        self.uploads.held.set(self.uploads.held.get() - before + bytes);
    }

    /// Waits for more of the request.
    pub(super) async fn more(&self) -> More {
        loop {
            let next = self.more.borrow_mut().pop_front();
            match next {
                Some(bytes) => {
                    self.hold(self.held.get() - bytes.len() as u64);
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

impl Drop for Exchange {
    fn drop(&mut self) {
        self.hold(0);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn uploads_are_bounded_each_and_all_together() {
        let uploads = Rc::new(Uploads::new(CREDIT + 100));
        let exchange = |number| Exchange::new(number, false, Rc::clone(&uploads));
        let bytes = |length: u64| Bytes::from(vec![0; length as usize]);
        let [one, two] = [exchange(1), exchange(2)];
        assert_eq!(one.add(bytes(CREDIT), false), Ok(()));
        assert_eq!(one.add(bytes(1), false).map_err(|(cause, _)| cause), Err(Cause::Gateway));
        assert_eq!(two.add(bytes(100), false), Ok(()));
        assert_eq!(two.add(bytes(1), false).map_err(|(cause, _)| cause), Err(Cause::Crowded));
        // The server has taken what the first one has, and the second one ends.
        assert!(matches!(one.more().await, More::Bytes(_)));
        assert_eq!(uploads.held(), 100);
        drop(two);
        assert_eq!((uploads.held(), one.add(bytes(CREDIT), true)), (0, Ok(())));
        drop(one);
        assert_eq!(uploads.held(), 0);
    }
}
