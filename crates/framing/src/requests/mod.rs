//! A client's stream, cut into requests.

use bytes::{Bytes, BytesMut};

use crate::framings::Framing;
use crate::request::Request;
use crate::scan::{RequestCut, RequestScanner, Step};
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
/// Requests are whole, or [in pieces](Requests::in_pieces) where the framing can tell from the
/// beginning of a request where it goes.
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
    state: State,
    /// Whether the connection closes after the request that was begun last.
    closes: bool,
    protocol: Protocol,
}

/// What comes next in the stream.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum State {
    /// A request.
    Request,
    /// The rest of one.
    Rest,
    /// Nothing before the server has decided on the protocol.
    Behind,
    /// Nothing: the client may send no more requests.
    Over,
}

/// The protocol behind a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Protocol {
    Same,
    Undecided,
    Kept,
    Switched,
}

/// A piece of a request behind its first.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Rest {
    /// Bytes for the server; there may be none.
    pub bytes: Bytes,
    /// Whether more pieces of the same request follow.
    pub has_more: bool,
}

/// Bytes of the head of a request whose body comes in pieces, and of the lines in the body.
const LONGEST_HEAD: usize = 64 << 10;

impl Requests {
    /// A cutter of a stream that begins now. `longest` is the number of bytes that a request may
    /// have.
    pub fn new(framing: Framing, longest: usize) -> Requests {
        Requests::of(framing, framing.requests(Some(longest)), longest)
    }

    /// Gives the client a number, for framings whose clients may ask for it.
    #[must_use]
    pub fn of_client(mut self, number: u64) -> Requests {
        self.scanner.introduce(number);
        self
    }

    /// Bytes of requests that have been taken, and are kept until another one sends them: commands
    /// of a transaction.
    pub fn held(&self) -> usize {
        self.scanner.held()
    }

    fn of(framing: Framing, scanner: Box<dyn RequestScanner>, longest: usize) -> Requests {
        let (state, protocol) = (State::Request, Protocol::Same);
        Requests { framing, scanner, longest, state, closes: false, protocol }
    }

    /// A cutter that gives the beginning of a request at once, if the framing knows all of it from
    /// there: that is the head of a request of HTTP. The body may have any length, and the head at
    /// most 64 KiB. Other requests are whole, and have at most `longest` bytes.
    ///
    /// ```
    /// use bytes::BytesMut;
    /// use ratewire_framing::{Framing, Requests, Rest};
    ///
    /// let mut requests = Requests::in_pieces(Framing::named("http1").unwrap(), 1 << 20);
    /// let head = "PUT / HTTP/1.1\r\nHost: x\r\nContent-Length: 4\r\n\r\n";
    /// let mut buffer = BytesMut::from(head);
    /// let request = requests.next(&mut buffer).unwrap().unwrap();
    /// assert_eq!((&request.bytes[..], request.has_more), (head.as_bytes(), true));
    /// buffer.extend_from_slice(b"te");
    /// let rest = |bytes: &'static str, has_more| Ok(Some(Rest { bytes: bytes.into(), has_more }));
    /// assert_eq!(requests.rest(&mut buffer), rest("te", true));
    /// buffer.extend_from_slice(b"xtGET");
    /// assert_eq!(requests.rest(&mut buffer), rest("xt", false));
    /// assert_eq!(requests.rest(&mut buffer), Ok(None));
    /// assert_eq!(requests.next(&mut buffer), Ok(None));
    /// ```
    pub fn in_pieces(framing: Framing, longest: usize) -> Requests {
        match framing.streams() {
            true => Requests::of(framing, framing.requests(None), longest.min(LONGEST_HEAD)),
            false => Requests::new(framing, longest),
        }
    }

    /// Takes the next request, or its first piece, from the front of the buffer; `None` if more
    /// bytes are needed, or the [rest](Requests::rest) of the last request comes first. The caller
    /// appends what the client sends to the buffer, and changes nothing else in it.
    ///
    /// A caller that reads again only after `None` never holds more than `longest` bytes and one
    /// read. There are no more requests after one that closes the connection, or after a violation:
    /// the method then returns `None` and leaves the buffer alone.
    ///
    /// # Errors
    /// A violation if the client breaks the protocol, asks for what the framing does not support,
    /// or sends a request of more than `longest` bytes.
    pub fn next(&mut self, buffer: &mut BytesMut) -> Result<Option<Request>, Violation> {
        if self.state != State::Request {
            return Ok(None);
        }
        let Some((cut, has_more)) = self.scan(buffer)? else { return Ok(None) };
        self.closes = cut.closes;
        self.protocol = if cut.upgrades { Protocol::Undecided } else { Protocol::Same };
        self.state = if has_more { State::Rest } else { self.behind() };
        let sent = buffer.split_to(cut.length).freeze();
        Ok(Some(Request {
            bytes: cut.rewritten.unwrap_or(sent),
            route: cut.route,
            closes: cut.closes,
            has_more: has_more || cut.upgrades,
            upgrades: cut.upgrades,
        }))
    }

    /// Takes the next piece of a request that [has more](Request::has_more); `None` if more bytes
    /// are needed, or there are no more pieces.
    ///
    /// The last piece of a request that [upgrades](Request::upgrades) comes when the caller has
    /// said, by [`switch`](Requests::switch), what the server has answered. If it has changed the
    /// protocol, all that the client sends is the rest of the request.
    ///
    /// # Errors
    /// A violation if the client breaks the protocol. The server must not take what it has of the
    /// request for a whole one, so its connection must be closed, too.
    pub fn rest(&mut self, buffer: &mut BytesMut) -> Result<Option<Rest>, Violation> {
        let (bytes, has_more) = match (self.state, self.protocol) {
            (State::Rest, protocol) => {
                let Some((cut, has_more)) = self.scan(buffer)? else { return Ok(None) };
                if !has_more {
                    self.state = self.behind();
                }
                (buffer.split_to(cut.length), has_more || protocol != Protocol::Same)
            }
            (State::Behind, Protocol::Switched) if !buffer.is_empty() => (buffer.split(), true),
            (State::Behind, Protocol::Kept) => {
                self.protocol = Protocol::Same;
                self.state = self.behind();
                (BytesMut::new(), false)
            }
            (State::Request | State::Behind | State::Over, _) => return Ok(None),
        };
        Ok(Some(Rest { bytes: bytes.freeze(), has_more }))
    }

    /// Notes what the server has answered to a request that [upgrades](Request::upgrades): whether
    /// it has changed the protocol ([`Answer::switches`](crate::Answer::switches)). Nothing happens
    /// if no request waits for that.
    pub fn switch(&mut self, has_switched: bool) {
        if self.protocol == Protocol::Undecided {
            self.protocol = if has_switched { Protocol::Switched } else { Protocol::Kept };
        }
    }

    /// What comes behind the end of a request.
    fn behind(&self) -> State {
        match (self.protocol, self.closes) {
            (Protocol::Same, false) => State::Request,
            (Protocol::Same, true) => State::Over,
            _ => State::Behind,
        }
    }

    /// The first request or the next piece of one, and whether more of it follows.
    fn scan(&mut self, buffer: &BytesMut) -> Result<Option<(RequestCut, bool)>, Violation> {
        let window = &buffer[..buffer.len().min(self.longest)];
        let needed = match self.scanner.scan(window) {
            Ok(Step::Done(cut)) => return Ok(Some((cut, false))),
            Ok(Step::More(needed)) => needed,
            Err(reason) => return Err(self.refuse(reason)),
        };
        let needed = match self.scanner.begun() {
            Some(cut) if cut.length > 0 => {
                self.scanner.pass(cut.length);
                return Ok(Some((cut, true)));
            }
            // A body of any length may follow, but no line of any length.
            Some(_) => window.len() + 1,
            None => needed,
        };
        match needed <= self.longest {
            true => Ok(None),
            false => Err(self.refuse(Reason::TooLong { longest: self.longest })),
        }
    }

    fn refuse(&mut self, reason: Reason) -> Violation {
        self.state = State::Over;
        self.framing.refuse(reason)
    }
}

#[cfg(test)]
mod tests;
