//! A client's stream, cut into requests.

use bytes::BytesMut;

use crate::framings::Framing;
use crate::request::Request;
use crate::scan::{RequestScanner, Step};
use crate::violation::{Reason, Violation};

/// Cuts the stream of one client into requests.
///
/// A request's bytes are those that the client sent, and requests in order make up the stream. Some
/// kinds of requests differ:
///
/// - A memcached `get` of several keys becomes one request for each key.
/// - A request of Redis with keys of several servers has a part for each. `EXEC` has one part, with
///   the commands that were queued before.
/// - An HTTP request with `Expect: 100-continue` has a request without bytes in front of it, whose
///   local answer is the interim response.
///
/// ```
/// use bytes::BytesMut;
/// use ratewire_framing::{Expect, Framing, Requests, Route, hash};
///
/// let mut requests = Requests::new(Framing::named("resp").unwrap(), 1 << 20);
/// let mut buffer = BytesMut::from("*2\r\n$3\r\nGET\r\n$1\r\na\r\nPING\r\n*2\r\n");
/// let get = requests.next(&mut buffer).unwrap().unwrap();
/// assert_eq!(get.bytes, "*2\r\n$3\r\nGET\r\n$1\r\na\r\n");
/// let key = Some(hash(b"a"));
/// assert_eq!(get.route, Route::Server { key, expect: Expect::ORDINARY });
/// let ping = requests.next(&mut buffer).unwrap().unwrap();
/// assert_eq!(ping.route, Route::Local("+PONG\r\n".into()));
/// assert_eq!(requests.next(&mut buffer), Ok(None));
/// ```
#[derive(Debug)]
pub struct Requests {
    framing: Framing,
    scanner: Box<dyn RequestScanner>,
    longest: usize,
    /// Whether the client may send no more requests.
    is_over: bool,
}

impl Requests {
    /// A cutter of a stream that begins now. `longest` is the number of bytes that a request may
    /// have.
    pub fn new(framing: Framing, longest: usize) -> Requests {
        Requests { framing, scanner: framing.requests(longest), longest, is_over: false }
    }

    /// Gives the client a number, for framings whose clients may ask for it.
    #[must_use]
    pub fn of_client(mut self, number: u64) -> Requests {
        self.scanner.introduce(number);
        self
    }

    /// Bytes of requests that have been taken, and are kept until another one sends them: commands of
    /// a transaction.
    pub fn held(&self) -> usize {
        self.scanner.held()
    }

    /// Takes the next request from the front of the buffer; `None` if more bytes are needed. The
    /// caller appends what the client sends to the buffer, and changes nothing else in it.
    ///
    /// A caller that reads again only after `None` never holds more than `longest` bytes and one
    /// read. There are no more requests after one that closes the connection, or after a violation:
    /// the method then returns `None` and leaves the buffer alone.
    ///
    /// # Errors
    /// A violation if the client breaks the protocol, asks for what the framing does not support,
    /// or sends a request of more than `longest` bytes.
    pub fn next(&mut self, buffer: &mut BytesMut) -> Result<Option<Request>, Violation> {
        if self.is_over {
            return Ok(None);
        }
        let window = &buffer[..buffer.len().min(self.longest)];
        let cut = match self.scanner.scan(window) {
            Ok(Step::Done(cut)) => cut,
            Ok(Step::More(length)) if length <= self.longest => return Ok(None),
            Ok(Step::More(_)) => return Err(self.refuse(Reason::TooLong { longest: self.longest })),
            Err(reason) => return Err(self.refuse(reason)),
        };
        let sent = buffer.split_to(cut.length).freeze();
        self.is_over = cut.closes;
        let bytes = cut.rewritten.unwrap_or(sent);
        Ok(Some(Request { bytes, route: cut.route, closes: cut.closes }))
    }

    fn refuse(&mut self, reason: Reason) -> Violation {
        self.is_over = true;
        self.framing.refuse(reason)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::request::Route;

    fn requests(framing: &str, longest: usize) -> Requests {
        Requests::new(Framing::named(framing).unwrap(), longest)
    }

    #[test]
    fn a_request_may_be_as_long_as_allowed_and_no_longer() {
        for (framing, request) in [
            ("resp", "*2\r\n$3\r\nGET\r\n$5\r\nabcde\r\n"),
            ("resp", "GET abcde\r\n"),
            ("memcached", "set a 0 0 5\r\nhello\r\n"),
            ("memcached", "get abcde\r\n"),
            ("http1", "PUT / HTTP/1.1\r\nHost: x\r\nContent-Length: 5\r\n\r\nhello"),
            ("http1", "PUT / HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n"),
            ("lines", "hello\n"),
            ("length-prefix", "\0\0\0\x05hello"),
        ] {
            let mut buffer = BytesMut::from(request);
            let cut = requests(framing, request.len()).next(&mut buffer).unwrap().unwrap();
            assert_eq!(cut.bytes, request);
            let longest = request.len() - 1;
            let mut buffer = BytesMut::from(request);
            let violation = requests(framing, longest).next(&mut buffer).unwrap_err();
            assert_eq!(violation.reason, Reason::TooLong { longest }, "{request:?}");
        }
    }

    #[test]
    fn a_length_that_is_too_long_is_refused_before_its_content_comes() {
        for (framing, begun, answer) in [
            ("resp", "*1\r\n$999999999\r\n", "-ERR Protocol error: a message is longer than the"),
            ("memcached", "set a 0 0 999999999\r\n", "SERVER_ERROR object too large for cache\r\n"),
            (
                "http1",
                "PUT / HTTP/1.1\r\nHost: x\r\nExpect: 100-continue\r\nContent-Length: 9999\r\n\r\n",
                "HTTP/1.1 413 ",
            ),
            ("length-prefix", "\x0f\0\0\0", ""),
        ] {
            let violation = requests(framing, 1000).next(&mut BytesMut::from(begun)).unwrap_err();
            assert_eq!(violation.reason, Reason::TooLong { longest: 1000 }, "{begun:?}");
            assert!(violation.answer.starts_with(answer.as_bytes()), "{violation:?}");
        }
    }

    #[test]
    fn nothing_follows_a_request_that_closes_or_a_violation() {
        let mut closed = requests("resp", 1000);
        let mut buffer = BytesMut::from("QUIT\r\nGET a\r\n");
        let quit = closed.next(&mut buffer).unwrap().unwrap();
        assert_eq!((quit.closes, quit.route), (true, Route::Local("+OK\r\n".into())));
        assert_eq!((closed.next(&mut buffer), &buffer[..]), (Ok(None), &b"GET a\r\n"[..]));

        let mut broken = requests("resp", 1000);
        let mut buffer = BytesMut::from("*x\r\nGET a\r\n");
        let violation = broken.next(&mut buffer).unwrap_err();
        assert_eq!(violation.answer, "-ERR Protocol error: invalid multibulk length\r\n");
        assert_eq!(broken.next(&mut buffer), Ok(None));
    }
}
