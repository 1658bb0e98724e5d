//! Requests that a server has not answered.

use std::collections::VecDeque;

use bytes::{Bytes, BytesMut};
use ratewire_framing::{Answer, Answers, Expect, Framing, Violation};

use crate::frame::RequestFrame;

/// Requests that a server has not answered, and their bytes.
const MOST: usize = 1024;
const MOST_BYTES: usize = 16 << 20;
/// Bytes from which on an answer is passed on before it is whole.
const PIECE: usize = 64 << 10;

/// The exchange of what a member asks for itself: frames have lower numbers.
pub(super) const NOBODY: u64 = u64::MAX;

/// A request, and the number of its exchange.
pub(super) struct Asking {
    pub(super) exchange: u64,
    pub(super) request: RequestFrame,
    /// Whether nobody waits for the answer any more.
    pub(super) is_cancelled: bool,
}

/// What a connection with a server owes.
pub(super) struct Asked {
    answers: Answers,
    requests: VecDeque<Asking>,
    /// Bytes of the requests.
    bytes: usize,
    /// Requests that were answered.
    pub(super) answered: u64,
}

impl Asked {
    pub(super) fn new(framing: Framing) -> Asked {
        let answers = Answers::new(framing, PIECE, MOST);
        Asked { answers, requests: VecDeque::new(), bytes: 0, answered: 0 }
    }

    /// What is to be written first, whose answer nobody gets.
    pub(super) fn begin(&mut self, opening: &'static [u8]) -> BytesMut {
        if !opening.is_empty()
            && let Some(probe) = self.answers.expect(Expect::ORDINARY)
        {
            let bytes = Bytes::from([opening, probe].concat());
            self.bytes += bytes.len();
            let request = RequestFrame { key: 0, expect: Expect::ORDINARY, bytes: bytes.clone() };
            self.requests.push_back(Asking { exchange: NOBODY, request, is_cancelled: true });
            return BytesMut::from(bytes);
        }
        BytesMut::new()
    }

    pub(super) fn is_empty(&self) -> bool {
        self.requests.is_empty()
    }

    /// Takes the first of the requests that wait, and adds to `out` what is to be written for it.
    /// Returns whether there was one, and room for it.
    pub(super) fn take_from(&mut self, waiting: &mut VecDeque<Asking>, out: &mut BytesMut) -> bool {
        let Some(first) = waiting.front() else { return false };
        let length = first.request.bytes.len();
        if !self.requests.is_empty() && self.bytes + length > MOST_BYTES {
            return false;
        }
        let Some(probe) = self.answers.expect(first.request.expect) else { return false };
        out.extend_from_slice(&first.request.bytes);
        out.extend_from_slice(probe);
        self.bytes += length;
        self.requests.extend(waiting.pop_front());
        true
    }

    /// The next answer, or a piece of it, and its exchange. One that is cancelled gets an empty
    /// answer when the server has given its own, and what nobody has asked for has no exchange.
    pub(super) fn next(
        &mut self,
        buffer: &mut BytesMut,
        is_over: bool,
    ) -> Result<Option<(Option<u64>, Answer)>, Violation> {
        let next = match is_over {
            true => self.answers.end(buffer)?,
            false => self.answers.next(buffer)?,
        };
        let Some(mut answer) = next else { return Ok(None) };
        let is_cancelled = self.requests.front().is_some_and(|first| first.is_cancelled);
        if is_cancelled {
            answer.bytes.clear();
        }
        let is_told =
            |first: &&Asking| first.exchange != NOBODY && !(is_cancelled && answer.has_more);
        let exchange = self.requests.front().filter(is_told).map(|first| first.exchange);
        if !answer.has_more
            && let Some(first) = self.requests.pop_front()
        {
            self.bytes -= first.request.bytes.len();
            self.answered += 1;
        }
        Ok(Some((exchange, answer)))
    }

    /// Notes that nobody waits for an answer. Exchanges are not in order if some were sent again.
    pub(super) fn cancel(&mut self, exchange: u64) {
        if let Some(asking) = self.requests.iter_mut().find(|one| one.exchange == exchange) {
            asking.is_cancelled = true;
        }
    }

    /// The requests that are not answered.
    pub(super) fn into_unanswered(self) -> VecDeque<Asking> {
        self.requests
    }
}

/// Takes a request back that no server has. Returns whether there was one.
pub(super) fn take_back(waiting: &mut VecDeque<Asking>, exchange: u64) -> bool {
    let place = waiting.iter().position(|asking| asking.exchange == exchange);
    place.is_some_and(|place| waiting.remove(place).is_some())
}
