//! What a framing implements, and what framings share.
//!
//! A scanner sees a window: the beginning of a stream, from the first byte that is not cut yet. The
//! next window of the same stream begins with the same bytes until the scanner has found an end.
//! A window never has more bytes than a request or an answer may have.

use std::fmt::Debug;

use bytes::Bytes;

use crate::request::{Expect, Route};
use crate::violation::Reason;

/// What a scanner found in a window.
#[derive(Debug, PartialEq, Eq)]
pub enum Step<T> {
    /// The end.
    Done(T),
    /// No end yet. The window must have at least this many bytes, which is more than it has.
    More(usize),
}

/// A request in a window.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RequestCut {
    /// Bytes from the beginning of the window.
    pub length: usize,
    /// Bytes for the server, if they differ from those in the window.
    pub rewritten: Option<Bytes>,
    /// Who answers.
    pub route: Route,
    /// Whether the client's connection closes after the answer.
    pub closes: bool,
}

impl RequestCut {
    /// A request for a server.
    pub fn server(length: usize, key: Option<u64>, expect: Expect) -> RequestCut {
        let route = Route::Server { key, expect };
        RequestCut { length, rewritten: None, route, closes: false }
    }

    /// A request that the gateway answers.
    pub fn local(length: usize, answer: impl Into<Bytes>) -> RequestCut {
        let route = Route::Local(answer.into());
        RequestCut { length, rewritten: None, route, closes: false }
    }
}

/// Finds the ends of requests.
pub trait RequestScanner: Debug + Send {
    /// Looks for the end of the first request. Its result must depend on the bytes alone and not on
    /// how they were split into windows.
    fn scan(&mut self, window: &[u8]) -> Result<Step<RequestCut>, Reason>;
}

/// An answer in a window.
#[derive(Debug, PartialEq, Eq)]
pub struct AnswerCut {
    /// Bytes from the beginning of the window.
    pub length: usize,
    /// How many of them are for the client.
    pub kept: usize,
    /// Whether the server closes its connection after the answer.
    pub closes: bool,
}

impl AnswerCut {
    /// An answer, all of which is for the client.
    pub fn whole(length: usize) -> AnswerCut {
        AnswerCut { length, kept: length, closes: false }
    }
}

/// Finds the ends of answers.
pub trait AnswerScanner: Debug + Send {
    /// Looks for the end of the first answer, to a request of which `expect` is known.
    fn scan(&mut self, expect: Expect, window: &[u8]) -> Result<Step<AnswerCut>, Reason>;

    /// Whether the answer in the window is complete because the server closed its connection.
    fn ends_with_connection(&self) -> bool {
        false
    }
}

/// A framing: a line of the registry.
#[derive(Debug)]
pub struct Entry {
    /// Name that users write.
    pub name: &'static str,
    /// One sentence.
    pub summary: &'static str,
    /// A scanner of a client's stream, for requests of at most this many bytes.
    pub requests: fn(usize) -> Box<dyn RequestScanner>,
    /// A scanner of a server's stream.
    pub answers: fn() -> Box<dyn AnswerScanner>,
    /// What to write behind a request so that the end of the answer shows.
    pub probe: fn(Expect) -> &'static [u8],
    /// What to send to a client before its connection is closed for this reason.
    pub refusal: fn(&Reason) -> Bytes,
    /// Whether a server keeps what others have not, so that its keys cannot move to them.
    pub is_store: bool,
    /// Whether a request may be done twice.
    pub may_repeat: fn(&[u8]) -> bool,
    /// The answer to a request that no server answers, with a sentence that says why.
    pub failure: fn(Expect, &str) -> Option<Bytes>,
}

/// A place in a window, which moves over what is read.
#[derive(Clone, Debug, Default)]
pub struct Cursor {
    /// Offset of the first byte that is not read.
    pub at: usize,
    /// Offset up to which there is no end of the line.
    seen: usize,
}

impl Cursor {
    /// The bytes up to the next newline, without it; the cursor moves behind it.
    pub fn line<'a>(&mut self, window: &'a [u8]) -> Option<&'a [u8]> {
        let from = self.seen.max(self.at);
        let Some(found) = window.get(from..)?.iter().position(|byte| *byte == b'\n') else {
            self.seen = window.len();
            return None;
        };
        let line = &window[self.at..from + found];
        self.at = from + found + 1;
        Some(line)
    }

    /// Moves over this many bytes if the window has them; else says how many it must have.
    pub fn skip(&mut self, count: usize, window: &[u8]) -> Result<(), usize> {
        let end = self.at.saturating_add(count);
        if end > window.len() {
            return Err(end);
        }
        self.at = end;
        Ok(())
    }
}

/// At least one byte more.
pub fn more<T>(window: &[u8]) -> Step<T> {
    Step::More(window.len() + 1)
}

/// A number in decimal digits and nothing else.
pub fn decimal(digits: &[u8]) -> Option<u64> {
    if digits.is_empty() || !digits.iter().all(u8::is_ascii_digit) {
        return None;
    }
    std::str::from_utf8(digits).ok()?.parse().ok()
}

/// The bytes before the first space.
pub fn first_word(request: &[u8]) -> &[u8] {
    request.split(|byte| *byte == b' ').next().unwrap_or_default()
}

/// The line without a carriage return at its end.
pub fn without_cr(line: &[u8]) -> &[u8] {
    line.strip_suffix(b"\r").unwrap_or(line)
}

/// Text for a message of one line: at most 100 characters, `?` for those that could end it.
pub fn printable(text: &[u8]) -> String {
    let shown = |byte: &u8| if (b' '..=b'~').contains(byte) { char::from(*byte) } else { '?' };
    text.iter().take(100).map(shown).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_cursor_looks_at_no_byte_twice() {
        let mut cursor = Cursor::default();
        assert_eq!(cursor.line(b"ab"), None);
        assert_eq!(cursor.seen, 2);
        assert_eq!(cursor.line(b"abc\nde\n"), Some(&b"abc"[..]));
        assert_eq!(cursor.line(b"abc\nde\n"), Some(&b"de"[..]));
        assert_eq!((cursor.at, cursor.line(b"abc\nde\n")), (7, None));
        assert_eq!(cursor.skip(2, b"abc\nde\nf"), Err(9));
        assert_eq!(cursor.skip(usize::MAX, b"abc\nde\nf"), Err(usize::MAX));
        assert_eq!(cursor.skip(1, b"abc\nde\nf"), Ok(()));
        assert_eq!(cursor.line(b"shorter"), None);
    }

    #[test]
    fn numbers_are_digits_alone() {
        assert_eq!(decimal(b"18446744073709551615"), Some(u64::MAX));
        for wrong in ["", "+1", "-1", " 1", "1 ", "18446744073709551616", "0x1"] {
            assert_eq!(decimal(wrong.as_bytes()), None, "{wrong:?}");
        }
    }

    #[test]
    fn messages_keep_to_one_line() {
        assert_eq!(printable(b"a\r\nb\xff~"), "a??b?~");
        assert_eq!(printable(&[b'x'; 500]).len(), 100);
    }
}
