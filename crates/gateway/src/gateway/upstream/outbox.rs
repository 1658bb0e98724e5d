//! Frames for a member that wait for a connection, or for room in it.

use std::collections::{BTreeSet, VecDeque};

use ratewire_acp::Frame;

/// Frames that wait. A note is a frame that is no request; its number is 0.
#[derive(Debug, Default)]
pub(super) struct Outbox {
    notes: VecDeque<Frame>,
    /// Requests, in the order of their numbers.
    requests: VecDeque<Frame>,
    /// Requests below this number may have been sent by a connection that is lost.
    sent_below: u64,
    /// Requests below this number may be with a process of the member that is gone.
    gone_below: u64,
}

impl Outbox {
    /// Whether a request has to wait for others.
    pub(super) fn has_requests(&self) -> bool {
        !self.requests.is_empty()
    }
    /// Whether a note has to wait for others.
    pub(super) fn has_notes(&self) -> bool {
        !self.notes.is_empty()
    }
    /// The frame that is the next to be sent.
    pub(super) fn first(&self) -> Option<&Frame> {
        self.notes.front().or(self.requests.front())
    }
    /// Whether a lost connection may have sent a request.
    pub(super) fn may_be_sent(&self, number: u64) -> bool {
        number < self.sent_below
    }
    /// Whether nobody has a request, as far as is known. The member's process has those below
    /// `received`; `None` if it cannot say.
    pub(super) fn may_send(&self, number: u64, received: Option<u64>) -> bool {
        let has_come_to_none = |received| number >= received && number >= self.gone_below;
        !self.may_be_sent(number) || received.is_some_and(has_come_to_none)
    }
    /// Notes that the member is another process, which does not know what the last one has had.
    pub(super) fn note_other_process(&mut self) {
        self.gone_below = self.sent_below;
    }

    pub(super) fn push_note(&mut self, note: Frame) {
        self.notes.push_back(note);
    }
    /// Adds a request behind those that wait.
    pub(super) fn push(&mut self, request: Frame) {
        self.requests.push_back(request);
    }
    /// Removes the first frame.
    pub(super) fn pop(&mut self) -> Option<Frame> {
        self.notes.pop_front().or_else(|| self.requests.pop_front())
    }
    /// Removes all requests.
    pub(super) fn take_requests(&mut self) -> VecDeque<Frame> {
        core::mem::take(&mut self.requests)
    }

    /// Takes back what a lost connection leaves: frames that are not acknowledged, of which the
    /// last ones were never sent. Returns the numbers of all requests that wait now.
    pub(super) fn lose(&mut self, mut frames: Vec<Frame>, unsent: usize) -> BTreeSet<u64> {
        self.notes.clear();
        let sent = frames.len().saturating_sub(unsent);
        let last = frames[..sent].iter().map(|frame| frame.id).max();
        self.sent_below = self.sent_below.max(last.map_or(0, |last| last + 1));
        frames.retain(|frame| frame.id != 0);
        // What a connection has had was before what still waits.
        self.requests = frames.into_iter().chain(self.requests.drain(..)).collect();
        self.requests.iter().map(|frame| frame.id).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn frames(numbers: &[u64]) -> Vec<Frame> {
        numbers.iter().map(|number| Frame::new(*number, "")).collect()
    }

    fn numbers(outbox: &Outbox) -> Vec<u64> {
        outbox.requests.iter().map(|frame| frame.id).collect()
    }

    #[test]
    fn what_was_surely_never_sent_is_known_over_all_connections() {
        let mut outbox = Outbox::default();
        outbox.push(Frame::new(6, ""));
        assert_eq!(outbox.lose(frames(&[2, 0, 3, 4, 0, 5]), 3).len(), 5);
        assert_eq!(numbers(&outbox), [2, 3, 4, 5, 6]);
        let sent = |outbox: &Outbox| (1..=7).filter(|n| outbox.may_be_sent(*n)).count();
        assert_eq!(sent(&outbox), 3, "4 was not sent");
        // The next connection takes three of them, and sends none or one.
        (0..3).for_each(|_| _ = outbox.pop());
        outbox.lose(frames(&[2, 3, 4]), 3);
        assert_eq!((numbers(&outbox), sent(&outbox)), (vec![2, 3, 4, 5, 6], 3));
        (0..3).for_each(|_| _ = outbox.pop());
        outbox.lose(frames(&[2, 3, 4]), 0);
        assert_eq!((numbers(&outbox), sent(&outbox)), (vec![2, 3, 4, 5, 6], 4));
    }

    #[test]
    fn what_another_process_may_have_had_is_not_sent_again() {
        let mut outbox = Outbox::default();
        outbox.lose(frames(&[1, 2, 3]), 1);
        let may_send = |outbox: &Outbox, received| {
            (1..=4).filter(|number| outbox.may_send(*number, received)).collect::<Vec<_>>()
        };
        assert_eq!(may_send(&outbox, Some(2)), [2, 3, 4], "1 has come");
        assert_eq!(may_send(&outbox, None), [3, 4]);
        // Nor is it over a second connection with that process, when the first is lost at once.
        outbox.note_other_process();
        assert_eq!(may_send(&outbox, Some(0)), [3, 4]);
        outbox.lose(Vec::new(), 0);
        assert_eq!(may_send(&outbox, Some(0)), [3, 4]);
        outbox.lose(frames(&[3]), 0);
        assert_eq!(may_send(&outbox, Some(0)), [3, 4], "the new process has not had 3");
    }

    #[test]
    fn notes_are_before_requests_and_end_with_the_connection() {
        let mut outbox = Outbox::default();
        outbox.push(Frame::new(1, ""));
        outbox.push_note(Frame::new(0, "first"));
        outbox.push_note(Frame::new(0, "second"));
        assert_eq!(outbox.pop().map(|frame| frame.data), Some("first".into()));
        assert!(outbox.has_notes() && outbox.first().is_some_and(|frame| frame.id == 0));
        outbox.lose(Vec::new(), 0);
        assert!(!outbox.has_notes() && outbox.first().is_some_and(|frame| frame.id == 1));
        assert_eq!(outbox.take_requests().len(), 1);
        assert!(!outbox.has_requests() && outbox.pop().is_none());
    }
}
