//! A server's stream, cut into answers.

use std::collections::VecDeque;

use bytes::{Bytes, BytesMut};

use crate::framings::Framing;
use crate::request::Expect;
use crate::scan::{AnswerCut, AnswerScanner, Step};
use crate::violation::{Reason, Violation};

/// Bytes of an answer that are held at most, until the line, or the head of HTTP, that they belong
/// to is whole.
const MOST_HELD: usize = 64 << 10;

/// A piece of the answer to one request. Most answers are a single piece.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Answer {
    /// Bytes for the client; there may be none.
    pub bytes: Bytes,
    /// Whether more pieces of the same answer follow.
    pub has_more: bool,
    /// Whether the connection closes after the answer: the server's, which does so itself, and the
    /// client's, because the server's answer says so. It is known with the last piece.
    pub closes: bool,
    /// Whether the answer changes the protocol of the connection: from here on, both ends send what
    /// they like, until one closes. See [`Requests::switch`](crate::Requests::switch).
    pub switches: bool,
}

impl Answer {
    /// An answer of one piece, after which the connection stays open.
    pub fn whole(bytes: impl Into<Bytes>) -> Answer {
        Answer { bytes: bytes.into(), has_more: false, closes: false, switches: false }
    }
}

/// Cuts the stream of one server into answers, one for each request in order.
///
/// A long answer comes in pieces, so that neither its length nor the time that a server takes for
/// it matters. An answer that is whole in the buffer is one piece.
///
/// ```
/// use bytes::BytesMut;
/// use ratewire_framing::{Answer, Answers, Expect, Framing};
///
/// let mut answers = Answers::new(Framing::named("resp").unwrap(), 1 << 16, 100);
/// assert_eq!(answers.expect(Expect::ORDINARY), Some(&b""[..]));
/// assert_eq!(answers.expect(Expect::ORDINARY), Some(&b""[..]));
/// let mut buffer = BytesMut::from("+OK\r\n*2\r\n:1\r\n");
/// assert_eq!(answers.next(&mut buffer), Ok(Some(Answer::whole("+OK\r\n"))));
/// assert_eq!(answers.next(&mut buffer), Ok(None));
/// buffer.extend_from_slice(b":2\r\n");
/// assert_eq!(answers.next(&mut buffer), Ok(Some(Answer::whole("*2\r\n:1\r\n:2\r\n"))));
/// ```
#[derive(Debug)]
pub struct Answers {
    framing: Framing,
    scanner: Box<dyn AnswerScanner>,
    piece: usize,
    most: usize,
    expected: VecDeque<Expect>,
    /// Whether a piece of the first answer was given.
    is_begun: bool,
    /// Whether the server sends no more answers.
    is_over: bool,
}

impl Answers {
    /// A cutter of a stream that begins now. An answer that is not whole waits until `piece` bytes
    /// of it are there, unless its framing lets clients see the beginnings of answers. At most
    /// `most` requests may be unanswered.
    pub fn new(framing: Framing, piece: usize, most: usize) -> Answers {
        Answers {
            framing,
            scanner: framing.answers(),
            piece: if framing.streams() { 1 } else { piece.max(1) },
            most,
            expected: VecDeque::new(),
            is_begun: false,
            is_over: false,
        }
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

    /// Number of requests that are not answered, or not to the end.
    pub fn unanswered(&self) -> usize {
        self.expected.len()
    }

    /// Takes the next answer, or a piece of it, from the front of the buffer; `None` if more bytes
    /// are needed. The caller appends what the server sends to the buffer, and changes nothing else
    /// in it. A caller that reads again only after `None` never holds more than a piece, a line and
    /// one read.
    ///
    /// After an answer that closes the connection, or a violation, there are no more: the method
    /// returns `None`. Requests that are still [unanswered](Answers::unanswered) need another
    /// connection.
    ///
    /// # Errors
    /// A violation if the server breaks the protocol, answers no request, or sends a line, or a
    /// head of HTTP, of more than 64 KiB.
    pub fn next(&mut self, buffer: &mut BytesMut) -> Result<Option<Answer>, Violation> {
        if self.is_over {
            return Ok(None);
        }
        let Some(expect) = self.expected.front() else {
            return if buffer.is_empty() { Ok(None) } else { Err(self.refuse(Reason::Unasked)) };
        };
        match self.scanner.scan(*expect, buffer) {
            Ok(Step::Done(cut)) => return Ok(Some(self.last(&cut, buffer))),
            Ok(Step::More(_)) => {}
            Err(reason) => return Err(self.refuse(reason)),
        }
        let ready = self.scanner.ready();
        if ready >= self.piece {
            self.scanner.pass(ready);
            self.is_begun = true;
            let bytes = buffer.split_to(ready).freeze();
            let switches = self.scanner.has_switched();
            return Ok(Some(Answer { bytes, has_more: true, closes: false, switches }));
        }
        match buffer.len() - ready > MOST_HELD {
            true => Err(self.refuse(Reason::TooLong { longest: MOST_HELD })),
            false => Ok(None),
        }
    }

    /// The last piece of an answer, if the end of the connection is what ends it. The caller has
    /// taken all before. A server that closes between two answers breaks nothing.
    ///
    /// # Errors
    /// A violation if the server closed within an answer.
    pub fn end(&mut self, buffer: &mut BytesMut) -> Result<Option<Answer>, Violation> {
        if self.is_over || (buffer.is_empty() && !self.is_begun) {
            self.is_over = true;
            return Ok(None);
        }
        if !self.scanner.ends_with_connection() {
            return Err(self.refuse(Reason::Ended));
        }
        let length = buffer.len();
        Ok(Some(self.last(&AnswerCut { length, kept: length, closes: true }, buffer)))
    }

    /// Takes the end of the first answer.
    fn last(&mut self, cut: &AnswerCut, buffer: &mut BytesMut) -> Answer {
        self.expected.pop_front();
        self.is_begun = false;
        self.is_over = cut.closes;
        let mut bytes = buffer.split_to(cut.length).freeze();
        bytes.truncate(cut.kept);
        let switches = self.scanner.has_switched();
        Answer { bytes, has_more: false, closes: cut.closes, switches }
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

    /// Feeds an answer of `total` bytes, which begins with `head` and ends with a line. Returns how
    /// many bytes came out, and the most that was held.
    fn passed(answers: &mut Answers, head: &[u8], total: usize) -> (usize, usize) {
        let mut buffer = BytesMut::from(head);
        let (mut fed, mut given, mut held) = (head.len(), 0, 0);
        loop {
            while let Some(answer) = answers.next(&mut buffer).unwrap() {
                given += answer.bytes.len();
                if !answer.has_more {
                    return (given, held);
                }
            }
            held = held.max(buffer.len());
            let read = (total - fed).min(1 << 16);
            assert!(read > 0, "{fed} bytes are no answer");
            buffer.resize(buffer.len() + read, b'x');
            fed += read;
            if fed == total {
                let end = buffer.len() - 2;
                buffer[end..].copy_from_slice(b"\r\n");
            }
        }
    }

    #[test]
    fn long_answers_are_passed_in_pieces() {
        let long = 100 << 20;
        for (framing, head, total) in [
            ("resp", &b"$104857600\r\n"[..], 12 + long + 2),
            ("resp", b"+", long),
            ("memcached", b"VA 104857600\r\n", 14 + long + 2),
            ("lines", b"x", long),
            ("length-prefix", b"\x06\x40\0\0", 4 + long),
            ("http1", b"HTTP/1.1 200 OK\r\nContent-Length: 104857600\r\n\r\n", 46 + long),
        ] {
            let mut answers = Answers::new(Framing::named(framing).unwrap(), 1 << 16, 1);
            assert!(answers.expect(Expect::ORDINARY).is_some());
            let (given, held) = passed(&mut answers, head, total);
            assert_eq!((given, answers.unanswered()), (total, 0), "{framing}");
            assert!(held <= 1 << 16, "{framing} holds {held} bytes");
        }
    }

    #[test]
    fn the_beginning_of_an_answer_over_http_is_given_at_once() {
        let head = "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n";
        let mut answers = answers("http1", 1);
        let mut buffer = BytesMut::from(head);
        let piece = |bytes: &str| Answer { has_more: true, ..Answer::whole(bytes.to_string()) };
        assert_eq!(answers.next(&mut buffer), Ok(Some(piece(head))));
        assert_eq!(answers.next(&mut buffer), Ok(None));
        buffer.extend_from_slice(b"9\r\ndata: 1\n\n\r");
        assert_eq!(answers.next(&mut buffer), Ok(Some(piece("9\r\ndata: 1\n\n"))));
        buffer.extend_from_slice(b"\n0\r\n\r\n");
        assert_eq!(answers.next(&mut buffer), Ok(Some(Answer::whole("\r\n0\r\n\r\n"))));
    }

    #[test]
    fn what_has_to_be_held_is_bounded() {
        for (framing, begun) in [
            ("resp", "$1"),
            ("memcached", "VALUE "),
            ("http1", "HTTP/1.1 200 OK\r\nX: "),
            ("http1", "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n1;"),
        ] {
            let mut answers = answers(framing, 1);
            let mut buffer = BytesMut::from(&*format!("{begun}{}", "1".repeat(MOST_HELD)));
            let violation = loop {
                match answers.next(&mut buffer) {
                    Ok(answer) => assert!(answer.unwrap().has_more, "{begun:?}"),
                    Err(violation) => break violation,
                }
            };
            assert_eq!(violation.reason, Reason::TooLong { longest: MOST_HELD }, "{begun:?}");
        }
    }

    #[test]
    fn a_server_that_closes_within_a_long_answer_breaks_it() {
        let mut answers = answers("resp", 1);
        let mut buffer = BytesMut::from(&format!("$500\r\n{}", "x".repeat(300))[..]);
        assert!(answers.next(&mut buffer).unwrap().unwrap().has_more);
        assert!(buffer.is_empty());
        assert_eq!(answers.end(&mut buffer).unwrap_err().reason, Reason::Ended);
    }

    /// Redis ends the connection with an error and reads no further.
    #[test]
    fn the_last_words_of_a_server_close() {
        let words = "-ERR Protocol error: invalid bulk length\r\n";
        let (mut ended, mut buffer) = (answers("resp", 2), BytesMut::from(words));
        assert_eq!(ended.next(&mut buffer), Ok(None));
        let last = Answer { closes: true, ..Answer::whole(words) };
        assert_eq!(ended.end(&mut buffer), Ok(Some(last)));
        assert_eq!((ended.unanswered(), ended.expect(Expect::ORDINARY)), (1, None));

        let (mut goes_on, mut buffer) = (answers("resp", 2), BytesMut::from(words));
        buffer.extend_from_slice(b"+OK\r\n");
        assert_eq!(goes_on.next(&mut buffer), Ok(Some(Answer::whole(words))));
        assert_eq!(goes_on.next(&mut buffer), Ok(Some(Answer::whole("+OK\r\n"))));
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
        let piece = Answer { has_more: true, ..Answer::whole(text) };
        assert_eq!(ended.next(&mut buffer), Ok(Some(piece)));
        assert_eq!(ended.next(&mut buffer), Ok(None));
        let last = Answer { closes: true, ..Answer::whole("") };
        assert_eq!(ended.end(&mut buffer), Ok(Some(last)));

        let (mut short, mut buffer) = (answers("resp", 1), BytesMut::from("$5\r\nhel"));
        assert_eq!(short.next(&mut buffer), Ok(None));
        assert_eq!(short.end(&mut buffer).unwrap_err().reason, Reason::Ended);

        let mut idle = answers("resp", 1);
        assert_eq!(idle.end(&mut BytesMut::new()), Ok(None));
        assert_eq!((idle.unanswered(), idle.expect(Expect::ORDINARY)), (1, None));
    }
}
