//! What a framing implements, and what framings share.
//!
//! A scanner sees a window: the beginning of a stream, from the first byte that is not cut yet. The
//! next window of the same stream begins with the same bytes, without those that were passed, until
//! the scanner has found an end. A scanner looks at no byte twice.

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
    /// Whether the answer may change the protocol of the connection.
    pub upgrades: bool,
}

impl RequestCut {
    /// A request for a server.
    pub fn server(length: usize, key: Option<u64>, expect: Expect) -> RequestCut {
        let route = Route::Server { key, expect };
        RequestCut { length, rewritten: None, route, closes: false, upgrades: false }
    }

    /// A request that the gateway answers.
    pub fn local(length: usize, answer: impl Into<Bytes>) -> RequestCut {
        let route = Route::Local(answer.into());
        RequestCut { length, rewritten: None, route, closes: false, upgrades: false }
    }
}

/// Finds the ends of requests.
pub trait RequestScanner: Debug + Send {
    /// Looks for the end of the first request. Its result must depend on the bytes alone and not on
    /// how they were split into windows.
    fn scan(&mut self, window: &[u8]) -> Result<Step<RequestCut>, Reason>;

    /// Notes the number of the client, for framings whose clients may ask for it.
    fn introduce(&mut self, _client: u64) {}

    /// Bytes of requests that are complete and wait for one that sends them.
    fn held(&self) -> usize {
        0
    }
    /// A request whose end is not in the window, although all is known of it: its length is that of
    /// the part that is checked. `None` if requests of the framing have to be whole.
    fn begun(&self) -> Option<RequestCut> {
        None
    }

    /// Forgets this many bytes of a request that has begun: the next window begins behind them.
    fn pass(&mut self, _count: usize) {}
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

    /// Bytes at the front of the window that are for the client, whatever follows.
    fn ready(&self) -> usize;

    /// Forgets this many bytes that are ready: the next window begins behind them.
    fn pass(&mut self, count: usize);

    /// Whether the answer in the window is complete if the server has closed its connection.
    fn ends_with_connection(&self) -> bool {
        false
    }

    /// Whether the answer changes the protocol of the connection, and ends with it.
    fn has_switched(&self) -> bool {
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
    /// A scanner of a client's stream, for requests of at most this many bytes; without a number,
    /// for requests that need not be whole.
    pub requests: fn(Option<usize>) -> Box<dyn RequestScanner>,
    /// A scanner of a server's stream.
    pub answers: fn() -> Box<dyn AnswerScanner>,
    /// Whether messages may be passed on from their heads on, before they are whole: the other end
    /// may wait for what is there.
    pub streams: bool,
    /// What to write behind a request so that the end of the answer shows.
    pub probe: fn(Expect) -> &'static [u8],
    /// What to write to a server before the first request of which this is known. It has an
    /// ordinary answer.
    pub opening: fn(Expect) -> &'static [u8],
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

    /// The line up to the next newline, without it, or its rest if a part was passed; the cursor
    /// moves behind it. Without a newline it moves to the last byte, so that an end of two bytes
    /// stays together.
    pub fn text<'a>(&mut self, window: &'a [u8]) -> Option<&'a [u8]> {
        let line = self.line(window);
        if line.is_none() {
            self.at = self.at.max(window.len().saturating_sub(1));
        }
        line
    }

    /// Moves over the bytes that are left, as far as the window goes; an error says how many it
    /// must have.
    pub fn skip(&mut self, left: &mut u64, window: &[u8]) -> Result<(), usize> {
        let there = window.len().saturating_sub(self.at);
        let skipped = usize::try_from(*left).unwrap_or(usize::MAX).min(there);
        self.at += skipped;
        *left -= skipped as u64;
        match *left {
            0 => Ok(()),
            left => Err(self.at.saturating_add(usize::try_from(left).unwrap_or(usize::MAX))),
        }
    }

    /// Moves over content and the end of its line, two bytes, of which this many are left. Returns
    /// whether the line ends as it must.
    pub fn block(&mut self, left: &mut u64, window: &[u8]) -> Result<bool, usize> {
        let mut content = left.saturating_sub(2);
        let skipped = self.skip(&mut content, window);
        *left = content + 2;
        skipped.map_err(|needed| needed.saturating_add(2))?;
        let end = window.get(self.at..self.at + 2).ok_or(self.at + 2)?;
        self.at += 2;
        Ok(end == b"\r\n")
    }

    /// The next window begins this many bytes later.
    pub fn pass(&mut self, count: usize) {
        self.at -= count;
        self.seen = self.seen.saturating_sub(count);
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
        let mut left = 4;
        assert_eq!((cursor.skip(&mut left, b"abc\nde\nf"), left), (Err(11), 3));
        assert_eq!((cursor.skip(&mut left, b"abc\nde\nfghij"), left), (Ok(()), 0));
        assert_eq!(cursor.skip(&mut u64::MAX.clone(), b""), Err(usize::MAX));
        assert_eq!(cursor.line(b"shorter"), None);
    }

    #[test]
    fn a_window_may_begin_later() {
        let mut cursor = Cursor::default();
        let mut left = 5;
        assert_eq!((cursor.block(&mut left, b"ab"), left), (Err(5), 3));
        cursor.pass(2);
        assert_eq!((cursor.block(&mut left, b"c"), left), (Err(3), 2));
        assert_eq!(cursor.block(&mut left, b"c\r"), Err(3));
        assert_eq!((cursor.block(&mut left, b"c\r\n"), cursor.at), (Ok(true), 3));
        assert_eq!(cursor.block(&mut 3, b"c\r\nd\n\n"), Ok(false));
        let mut cursor = Cursor::default();
        assert_eq!((cursor.text(b"ab"), cursor.at), (None, 1));
        cursor.pass(1);
        assert_eq!((cursor.text(b"bc\r"), cursor.at), (None, 2));
        cursor.pass(2);
        assert_eq!((cursor.text(b"\r\nd"), cursor.at), (Some(&b"\r"[..]), 2));
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
