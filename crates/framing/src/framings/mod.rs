//! The family of framings. A framing is a file or a folder here, and a line of the registry.

mod http1;
mod length_prefix;
mod lines;
mod memcached;
mod resp;

use std::fmt;

use bytes::Bytes;

use crate::request::Expect;
use crate::scan::{AnswerScanner, Entry, RequestScanner};
use crate::violation::{Reason, Violation};

const REGISTRY: &[&Entry] =
    &[&resp::ENTRY, &memcached::ENTRY, &http1::ENTRY, &lines::ENTRY, &length_prefix::ENTRY];

/// A framing of the registry.
#[derive(Clone, Copy)]
pub struct Framing(&'static Entry);

/// All framings, in the order of the registry.
pub fn list() -> impl Iterator<Item = Framing> {
    REGISTRY.iter().copied().map(Framing)
}

impl Framing {
    /// The framing called `name`.
    ///
    /// # Errors
    /// A sentence with all names if no framing is called so.
    ///
    /// ```
    /// use ratewire_framing::Framing;
    /// assert_eq!(Framing::named("resp").unwrap().name(), "resp");
    /// assert!(Framing::named("redis").is_err());
    /// ```
    pub fn named(name: &str) -> Result<Framing, String> {
        list().find(|framing| framing.name() == name).ok_or_else(|| {
            let known: Vec<&str> = list().map(|framing| framing.name()).collect();
            format!("no framing is called {name:?}; known: {}", known.join(", "))
        })
    }

    /// Name of the framing.
    pub fn name(self) -> &'static str {
        self.0.name
    }

    /// What the framing is, in one sentence.
    pub fn summary(self) -> &'static str {
        self.0.summary
    }

    /// The answer that a gateway gives in the place of a request that no server answers. The
    /// message says why; characters that a line cannot hold are replaced. `None` if the framing has
    /// no such answer: the client's connection must be closed.
    pub fn failure(self, expect: Expect, message: &str) -> Option<Bytes> {
        (self.0.failure)(expect, message)
    }

    /// What to write to a server before the first request of which this is known; usually nothing.
    /// The server answers it as it does a request of which [`Expect::ORDINARY`] is known, and
    /// nobody needs the answer. Requests with different openings need different connections.
    ///
    /// ```
    /// use bytes::BytesMut;
    /// use ratewire_framing::{Framing, Requests, Route};
    ///
    /// let redis = Framing::named("resp").unwrap();
    /// let mut requests = Requests::new(redis, 1000);
    /// let mut buffer = BytesMut::from("HELLO 3\r\nGET a\r\n");
    /// requests.next(&mut buffer).unwrap().unwrap();
    /// let get = requests.next(&mut buffer).unwrap().unwrap();
    /// let Route::Server { expect, .. } = get.route else { panic!("a key") };
    /// assert_eq!(redis.opening(expect), b"HELLO 3\r\n");
    /// ```
    pub fn opening(self, expect: Expect) -> &'static [u8] {
        (self.0.opening)(expect)
    }

    /// Whether a server keeps what others have not, so that its keys cannot move to them.
    pub fn is_store(self) -> bool {
        self.0.is_store
    }

    /// Whether to do a request twice is as good as once, so that one may be sent again that a
    /// server may have done.
    pub fn may_repeat(self, request: &[u8]) -> bool {
        (self.0.may_repeat)(request)
    }

    /// Whether messages are passed on from their heads on, before they are whole.
    pub fn streams(self) -> bool {
        self.0.streams
    }

    pub(crate) fn requests(self, longest: Option<usize>) -> Box<dyn RequestScanner> {
        (self.0.requests)(longest)
    }

    pub(crate) fn answers(self) -> Box<dyn AnswerScanner> {
        (self.0.answers)()
    }

    pub(crate) fn probe(self, expect: Expect) -> &'static [u8] {
        (self.0.probe)(expect)
    }

    /// The violation of a client.
    pub(crate) fn refuse(self, reason: Reason) -> Violation {
        let answer = (self.0.refusal)(&reason);
        Violation { reason, answer }
    }
}

impl PartialEq for Framing {
    fn eq(&self, other: &Framing) -> bool {
        self.name() == other.name()
    }
}

impl Eq for Framing {}

impl fmt::Debug for Framing {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Framing({})", self.name())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_and_summaries_are_in_order() {
        for framing in list() {
            assert_eq!(Framing::named(framing.name()), Ok(framing));
            assert_eq!(list().filter(|other| *other == framing).count(), 1);
            assert!(framing.summary().ends_with('.'), "{framing:?}");
        }
        let message = Framing::named("redis").unwrap_err();
        assert!(message.contains("\"redis\"") && message.contains("known: resp, "), "{message}");
    }

    #[test]
    fn messages_of_failures_keep_to_their_line() {
        for framing in list() {
            let Some(answer) = framing.failure(Expect::ORDINARY, "no\r\nserver") else { continue };
            let text = String::from_utf8(answer.to_vec()).unwrap();
            assert!(text.contains("no??server") && text.ends_with('\n'), "{framing:?}: {text}");
        }
    }

    #[test]
    fn what_may_be_done_twice_is_known() {
        for (name, request, may_repeat) in [
            ("http1", "GET / HTTP/1.1\r\n", true),
            ("http1", "PUT / HTTP/1.1\r\n", true),
            ("http1", "POST / HTTP/1.1\r\n", false),
            ("http1", "get / HTTP/1.1\r\n", false),
            ("memcached", "get a\r\n", true),
            ("memcached", "gat 3 a\r\n", false),
            ("memcached", "incr a 1\r\n", false),
            ("resp", "GET a\r\n", false),
            ("lines", "a\n", false),
        ] {
            let framing = Framing::named(name).unwrap();
            assert_eq!(framing.may_repeat(request.as_bytes()), may_repeat, "{name} {request}");
        }
    }
}
