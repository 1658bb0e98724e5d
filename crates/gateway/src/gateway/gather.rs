//! Answers of requests that go to several servers.

use std::cell::{Cell, RefCell};
use std::collections::BTreeMap;

use bytes::{Bytes, BytesMut};
use ratewire_framing::Gather;

/// The requests of a client whose parts are not all answered.
#[derive(Default)]
pub(super) struct Gathers {
    /// By the place of the request.
    open: RefCell<BTreeMap<u64, Open>>,
    held: Cell<usize>,
}

/// A request whose parts are not all answered.
struct Open {
    gather: Gather,
    /// Beginnings of answers, whose rest follows.
    begun: BTreeMap<u32, BytesMut>,
    /// Why the first part failed that did.
    failure: Option<String>,
}

impl Gathers {
    /// Bytes of answers that wait for those of other parts.
    pub(super) fn held(&self) -> usize {
        self.held.get()
    }

    /// Whether the request has parts.
    pub(super) fn has(&self, order: u64) -> bool {
        self.open.borrow().contains_key(&order)
    }

    /// Notes a request that has parts.
    pub(super) fn begin(&self, order: u64, gather: Gather) {
        self.open
            .borrow_mut()
            .insert(order, Open { gather, begun: BTreeMap::new(), failure: None });
    }

    /// Notes the number of parts. Returns the answer if those of all parts have come before.
    pub(super) fn expect(&self, order: u64, parts: usize) -> Option<Bytes> {
        self.change(order, |gather| gather.expect(parts)).flatten()
    }

    /// Notes why a part of a request has no answer, or no more of it.
    pub(super) fn fail(&self, order: u64, part: u32, why: &str) {
        if let Some(open) = self.open.borrow_mut().get_mut(&order) {
            open.failure.get_or_insert_with(|| why.into());
        }
        self.take_begun(order, part);
    }

    /// Why the first part failed that did.
    pub(super) fn failure(&self, order: u64) -> Option<String> {
        self.open.borrow().get(&order)?.failure.clone()
    }

    /// Takes the beginning of the answer of a part, or more of it. Nothing happens if the request
    /// has no parts.
    pub(super) fn add(&self, order: u64, part: u32, bytes: &[u8]) {
        if let Some(open) = self.open.borrow_mut().get_mut(&order)
            && open.gather.awaits(part)
        {
            open.begun.entry(part).or_default().extend_from_slice(bytes);
            self.held.set(self.held.get() + bytes.len());
        }
    }

    /// Takes the answer of a part, or the end of it. Returns that of the request if it is the last
    /// that is missing, and the answer itself if the request has no parts.
    pub(super) fn put(&self, order: u64, part: u32, answer: Bytes) -> Option<Bytes> {
        let answer = match self.take_begun(order, part) {
            Some(mut begun) => {
                begun.extend_from_slice(&answer);
                begun.freeze()
            }
            None => answer,
        };
        let put = self.change(order, |gather| gather.put(part, answer.clone()));
        put.unwrap_or(Some(answer))
    }

    fn take_begun(&self, order: u64, part: u32) -> Option<BytesMut> {
        let begun = self.open.borrow_mut().get_mut(&order)?.begun.remove(&part)?;
        self.held.set(self.held.get() - begun.len());
        Some(begun)
    }

    /// Changes what is known of a request that has parts. Returns its answer once it is there.
    fn change(&self, order: u64, change: impl FnOnce(&mut Gather)) -> Option<Option<Bytes>> {
        let mut all = self.open.borrow_mut();
        let gather = &mut all.get_mut(&order)?.gather;
        let before = gather.held();
        change(gather);
        let after = gather.held();
        let answer = gather.take();
        let left = if answer.is_some() { 0 } else { after };
        self.held.set(self.held.get() - before + left);
        if answer.is_some() {
            all.remove(&order);
        }
        Some(answer)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use ratewire_framing::{Framing, Requests, Route};

    /// What joins the answers to a command of Redis.
    fn gather(command: &str) -> Gather {
        let framing = Framing::named("resp").expect("a framing");
        let request = Requests::new(framing, 1000).next(&mut BytesMut::from(command));
        match request.expect("a request").expect("all of it").route {
            Route::Split(_, gather) | Route::All(_, gather) => gather,
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn the_last_part_completes_the_request() {
        let all = Gathers::default();
        all.begin(7, gather("DEL a b\r\n"));
        assert_eq!(all.put(6, 0, ":9\r\n".into()), Some(":9\r\n".into()));
        assert_eq!((all.expect(7, 2), all.has(7)), (None, true));
        assert_eq!((all.put(7, 1, ":1\r\n".into()), all.held()), (None, 4));
        assert_eq!(all.put(7, 0, ":2\r\n".into()), Some(":3\r\n".into()));
        assert_eq!((all.has(7), all.held()), (false, 0));
    }

    #[test]
    fn answers_may_come_in_pieces() {
        let all = Gathers::default();
        all.begin(0, gather("MGET a b\r\n"));
        all.expect(0, 2);
        all.add(0, 1, b"*1\r\n$2\r\n");
        all.add(1, 0, b"no parts");
        assert_eq!(all.put(0, 0, "*1\r\n$-1\r\n".into()), None);
        assert_eq!(all.held(), 8 + 9);
        assert_eq!(all.put(0, 1, "hi\r\n".into()), Some("*2\r\n$-1\r\n$2\r\nhi\r\n".into()));
        assert_eq!(all.held(), 0);

        all.begin(1, gather("MGET a b\r\n"));
        all.expect(1, 2);
        all.add(1, 0, b"*1\r\n$2\r\n");
        all.fail(1, 0, "gone");
        assert_eq!((all.held(), all.put(1, 0, "-ERR gone\r\n".into())), (0, None));
        all.add(1, 0, b"late");
        assert_eq!(all.put(1, 1, "*1\r\n$-1\r\n".into()), Some("-ERR gone\r\n".into()));
        assert_eq!(all.held(), 0);
    }

    #[test]
    fn parts_may_answer_before_their_number_is_known() {
        let all = Gathers::default();
        all.begin(0, gather("DBSIZE\r\n"));
        assert_eq!(all.put(0, 0, ":1\r\n".into()), None);
        assert_eq!(all.put(0, 1, "-ERR no\r\n".into()), None);
        all.fail(0, 1, "one");
        all.fail(0, 0, "two");
        assert_eq!((all.failure(0), all.failure(1)), (Some("one".into()), None));
        assert_eq!(all.expect(0, 2), Some("-ERR no\r\n".into()));
        assert_eq!(all.held(), 0);
    }
}
