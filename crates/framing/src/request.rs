//! What is known of a request once it is cut from its stream.

use bytes::Bytes;

use crate::gather::Gather;

/// What a framing has to know of a request to find the end of the answer. Only the framing that
/// made the byte knows its meaning.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Expect(u8);

impl Expect {
    /// The ordinary answer of every framing.
    pub const ORDINARY: Expect = Expect(0);

    /// The expectation with a code. A code that the framing does not know stands for the ordinary
    /// answer.
    pub const fn from_code(code: u8) -> Expect {
        Expect(code)
    }

    /// A byte that says which expectation this is, for a frame's header.
    pub const fn code(self) -> u8 {
        self.0
    }
}

/// Who answers a request.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Route {
    /// A server. There is exactly one answer, which may be empty.
    Server {
        /// Hash of the routing key: requests with equal keys must go to the same server. A request
        /// without a key may go to any.
        key: Option<u64>,
        /// What [`Answers`](crate::Answers) must know to find the end of the answer.
        expect: Expect,
    },
    /// Several servers, each of which gets a part of the request. The answer is made of those of
    /// the parts.
    Split(Vec<Part>, Gather),
    /// All servers, each of which gets the request. The answer is made of theirs.
    All(Expect, Gather),
    /// The gateway: it sends these bytes, which may be empty, in the request's place.
    Local(Bytes),
}

/// A part of a request, which goes to one server.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Part {
    /// Hash of the routing key, as that of [`Route::Server`].
    pub key: Option<u64>,
    /// What must be known to find the end of the part's answer.
    pub expect: Expect,
    /// Bytes for the server.
    pub bytes: Bytes,
}

/// A request of a client.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Request {
    /// Bytes for the server. They are those that the client sent, unless the request is a part of a
    /// longer one (see [`Requests`](crate::Requests)). A request that is [split](Route::Split) has
    /// those of its parts besides.
    pub bytes: Bytes,
    /// Who answers.
    pub route: Route,
    /// Whether the client's connection closes after the answer.
    pub closes: bool,
    /// Whether more pieces of the request follow, which [`rest`](crate::Requests::rest) gives. The
    /// route is that of all.
    pub has_more: bool,
    /// Whether the server may answer by changing the protocol of the connection. The caller says
    /// whether it has, by [`switch`](crate::Requests::switch).
    pub upgrades: bool,
}
