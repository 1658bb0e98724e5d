//! A client's stream, cut into requests.

use bytes::BytesMut;

use crate::framings::Framing;
use crate::request::Request;
use crate::scan::{RequestScanner, Step};
use crate::violation::{Reason, Violation};

/// Cuts the stream of one client into requests.
///
/// A request's bytes are those that the client sent, and requests in order make up the stream. Two
/// kinds of requests differ:
///
/// - A memcached `get` of several keys becomes one request for each key.
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
