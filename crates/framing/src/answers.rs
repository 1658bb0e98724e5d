//! A server's stream, cut into answers.

use std::collections::VecDeque;

use bytes::{Bytes, BytesMut};

use crate::framings::Framing;
use crate::request::Expect;
use crate::scan::{AnswerCut, AnswerScanner, Step};
use crate::violation::{Reason, Violation};

/// The answer to one request.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Answer {
    /// Bytes for the client; there may be none.
    pub bytes: Bytes,
    /// Whether the connection closes after the answer: the server's, which does so itself, and the
    /// client's, because the server's answer says so.
    pub closes: bool,
}

/// Cuts the stream of one server into answers, one for each request in order.
///
/// ```
/// use bytes::BytesMut;
/// use ratewire_framing::{Answers, Expect, Framing};
///
/// let mut answers = Answers::new(Framing::named("resp").unwrap(), 1 << 20, 100);
/// assert_eq!(answers.expect(Expect::ORDINARY), Some(&b""[..]));
/// assert_eq!(answers.expect(Expect::ORDINARY), Some(&b""[..]));
/// let mut buffer = BytesMut::from("+OK\r\n*2\r\n:1\r\n");
/// assert_eq!(answers.next(&mut buffer).unwrap().unwrap().bytes, "+OK\r\n");
/// assert_eq!(answers.next(&mut buffer), Ok(None));
/// buffer.extend_from_slice(b":2\r\n");
/// assert_eq!(answers.next(&mut buffer).unwrap().unwrap().bytes, "*2\r\n:1\r\n:2\r\n");
/// ```
#[derive(Debug)]
pub struct Answers {
    framing: Framing,
    scanner: Box<dyn AnswerScanner>,
    longest: usize,
    most: usize,
    expected: VecDeque<Expect>,
    /// Whether the server sends no more answers.
    is_over: bool,
}

impl Answers {
    /// A cutter of a stream that begins now. `longest` is the number of bytes that an answer may
    /// have, with what is removed from it. At most `most` requests may be unanswered.
    pub fn new(framing: Framing, longest: usize, most: usize) -> Answers {
        let scanner = framing.answers();
        Answers { framing, scanner, longest, most, expected: VecDeque::new(), is_over: false }
    }

    /// Notes a request that is about to be written to the server. Returns the bytes to write behind
    /// the request, usually none: their answer shows where the answer to the request ends, and is
    /// removed. Returns `None`, and notes nothing, if too many requests are unanswered or the
    /// server answers no more: the request has to wait, or needs another connection.
    #[must_use]
    pub fn expect(&mut self, expect: Expect) -> Option<&'static [u8]> {
        if self.is_over || self.expected.len() >= self.most {
            return None;
        }
        self.expected.push_back(expect);
        Some(self.framing.probe(expect))
    }

    /// Number of requests that are not answered.
    pub fn unanswered(&self) -> usize {
        self.expected.len()
    }

    /// Takes the next answer from the front of the buffer; `None` if more bytes are needed. The
    /// caller appends what the server sends to the buffer, and changes nothing else in it.
    ///
    /// After an answer that closes the connection, or a violation, there are no more: the method
    /// returns `None`. Requests that are still [unanswered](Answers::unanswered) need another
    /// connection.
    ///
    /// # Errors
    /// A violation if the server breaks the protocol, answers no request, or sends an answer of
    /// more than `longest` bytes.
    pub fn next(&mut self, buffer: &mut BytesMut) -> Result<Option<Answer>, Violation> {
        if self.is_over {
            return Ok(None);
        }
        let Some(expect) = self.expected.front() else {
            return if buffer.is_empty() { Ok(None) } else { Err(self.refuse(Reason::Unasked)) };
        };
        let window = &buffer[..buffer.len().min(self.longest)];
        match self.scanner.scan(*expect, window) {
            Ok(Step::Done(cut)) => Ok(Some(self.take(&cut, buffer))),
            Ok(Step::More(length)) if length <= self.longest => Ok(None),
            Ok(Step::More(_)) => Err(self.refuse(Reason::TooLong { longest: self.longest })),
            Err(reason) => Err(self.refuse(reason)),
        }
    }

    /// The last answer, if the end of the connection is what ends it. The caller has taken all
    /// others. A server that closes between two answers breaks nothing.
    ///
    /// # Errors
    /// A violation if the server closed within an answer.
    pub fn end(&mut self, buffer: &mut BytesMut) -> Result<Option<Answer>, Violation> {
        if self.is_over || buffer.is_empty() {
            self.is_over = true;
            return Ok(None);
        }
        if !self.scanner.ends_with_connection() {
            return Err(self.refuse(Reason::Ended));
        }
        let length = buffer.len();
        Ok(Some(self.take(&AnswerCut { length, kept: length, closes: true }, buffer)))
    }

    fn take(&mut self, cut: &AnswerCut, buffer: &mut BytesMut) -> Answer {
        self.expected.pop_front();
        self.is_over = cut.closes;
        let mut bytes = buffer.split_to(cut.length).freeze();
        bytes.truncate(cut.kept);
        Answer { bytes, closes: cut.closes }
    }

    fn refuse(&mut self, reason: Reason) -> Violation {
        self.is_over = true;
        Violation { reason, answer: Bytes::new() }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn answers(framing: &str, requests: usize) -> Answers {
        let mut answers = Answers::new(Framing::named(framing).unwrap(), 100, 2);
        for _ in 0..requests {
            assert!(answers.expect(Expect::ORDINARY).is_some());
        }
        answers
    }

    #[test]
    fn no_more_requests_are_unanswered_than_allowed() {
        let mut answers = answers("resp", 2);
        assert_eq!((answers.expect(Expect::ORDINARY), answers.unanswered()), (None, 2));
        let mut buffer = BytesMut::from("+OK\r\n");
        assert!(answers.next(&mut buffer).unwrap().is_some());
        assert_eq!((answers.expect(Expect::ORDINARY), answers.unanswered()), (Some(&b""[..]), 2));
    }

    #[test]
    fn what_answers_no_request_is_refused() {
        let mut answers = answers("resp", 1);
        let mut buffer = BytesMut::from("+OK\r\n+OK\r\n");
        assert!(answers.next(&mut buffer).unwrap().is_some());
        assert_eq!(answers.next(&mut buffer).unwrap_err().reason, Reason::Unasked);
        assert_eq!((answers.next(&mut buffer), answers.expect(Expect::ORDINARY)), (Ok(None), None));
    }

    #[test]
    fn an_answer_that_is_too_long_is_refused_before_it_comes() {
        let mut buffer = BytesMut::from("$95\r\n");
        assert_eq!(
            answers("resp", 1).next(&mut buffer).unwrap_err().reason,
            Reason::TooLong { longest: 100 }
        );
        let mut buffer = BytesMut::from("$93\r\n");
        assert_eq!(answers("resp", 1).next(&mut buffer), Ok(None));
    }

    #[test]
    fn requests_behind_an_answer_that_closes_stay_unanswered() {
        let mut answers = answers("http1", 2);
        let text = "HTTP/1.1 200 OK\r\nConnection: close\r\nContent-Length: 0\r\n\r\n";
        let mut buffer = BytesMut::from(text);
        let answer = answers.next(&mut buffer).unwrap().unwrap();
        assert_eq!((&answer.bytes[..], answer.closes), (text.as_bytes(), true));
        assert_eq!((answers.next(&mut buffer), answers.end(&mut buffer)), (Ok(None), Ok(None)));
        assert_eq!((answers.unanswered(), answers.expect(Expect::ORDINARY)), (1, None));
    }

    #[test]
    fn the_end_of_the_connection_may_end_an_answer() {
        let text = "HTTP/1.1 200 OK\r\n\r\nuntil the end";
        let (mut ended, mut buffer) = (answers("http1", 1), BytesMut::from(text));
        assert_eq!(ended.next(&mut buffer), Ok(None));
        let answer = ended.end(&mut buffer).unwrap().unwrap();
        assert_eq!((&answer.bytes[..], answer.closes), (text.as_bytes(), true));

        let (mut short, mut buffer) = (answers("resp", 1), BytesMut::from("$5\r\nhel"));
        assert_eq!(short.next(&mut buffer), Ok(None));
        assert_eq!(short.end(&mut buffer).unwrap_err().reason, Reason::Ended);

        let mut idle = answers("resp", 1);
        assert_eq!(idle.end(&mut BytesMut::new()), Ok(None));
        assert_eq!((idle.unanswered(), idle.expect(Expect::ORDINARY)), (1, None));
    }
}
