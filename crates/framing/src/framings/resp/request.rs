//! Where a request ends.

use crate::scan::{Cursor, RequestCut, RequestScanner, Step, decimal, more, without_cr};
use crate::violation::Reason;

use super::arguments::{Argument, of_array, of_line};
use super::session::Session;

/// Arguments that Redis allows (`networking.c`).
const MOST_ARGUMENTS: u64 = 1024 * 1024;
/// Bytes of an inline command that Redis allows (`PROTO_INLINE_MAX_SIZE`).
const LONGEST_LINE: usize = 64 * 1024;

/// Finds the ends of requests.
#[derive(Debug)]
pub struct Scanner {
    session: Session,
    begun: Begun,
}

/// A request that has no end yet.
#[derive(Debug, Default)]
struct Begun {
    cursor: Cursor,
    /// Bulk strings of the array that are not read; `None` before the array's header.
    missing: Option<u64>,
    /// Bytes of the bulk string whose header was read that are left, with the end of its line.
    bulk: Option<u64>,
}

impl RequestScanner for Scanner {
    fn scan(&mut self, window: &[u8]) -> Result<Step<RequestCut>, Reason> {
        let step = match window.first() {
            None => return Ok(more(window)),
            Some(b'*') => self.begun.array(window),
            Some(_) => self.begun.inline(window),
        };
        match step? {
            Step::More(needed) => Ok(Step::More(needed)),
            Step::Done((length, arguments)) => {
                self.begun = Begun::default();
                Ok(Step::Done(self.session.route(&window[..length], &arguments)))
            }
        }
    }

    fn introduce(&mut self, client: u64) {
        self.session.client.number = client;
    }

    fn held(&self) -> usize {
        self.session.held()
    }
}

impl Scanner {
    /// A scanner of requests that have at most this many bytes.
    pub fn new(longest: usize) -> Scanner {
        Scanner { session: Session::new(longest), begun: Begun::default() }
    }
}

/// The bytes of a request, and its arguments.
type Complete<'a> = (usize, Vec<Argument<'a>>);

impl Begun {
    fn array<'a>(&mut self, window: &'a [u8]) -> Result<Step<Complete<'a>>, Reason> {
        loop {
            if let Some(left) = &mut self.bulk {
                match self.cursor.block(left, window) {
                    Err(needed) => return Ok(Step::More(needed)),
                    Ok(false) => {
                        return Err(Reason::Malformed("no end of line behind a bulk string"));
                    }
                    Ok(true) => {}
                }
                self.bulk = None;
                self.missing = self.missing.map(|missing| missing - 1);
            }
            if self.missing == Some(0) {
                let length = self.cursor.at;
                return Ok(Step::Done((length, of_array(&window[..length]))));
            }
            let Some(line) = self.cursor.line(window) else { return Ok(more(window)) };
            match self.missing {
                None => self.missing = Some(count(line)?),
                Some(_) => self.bulk = Some(bulk(line)?),
            }
        }
    }

    fn inline<'a>(&mut self, window: &'a [u8]) -> Result<Step<Complete<'a>>, Reason> {
        let line = self.cursor.line(window);
        if line.map_or(window.len(), <[u8]>::len) > LONGEST_LINE {
            return Err(Reason::Malformed("too big inline request"));
        }
        let Some(line) = line else { return Ok(more(window)) };
        if line.contains(&0) {
            return Err(Reason::Malformed("zero byte in inline request"));
        }
        let arguments = of_line(without_cr(line));
        let arguments = arguments.ok_or(Reason::Malformed("unbalanced quotes in request"))?;
        // Redis closes the connection at either word, because browsers can be made to send it.
        let name = arguments.first().map(|name| name.to_ascii_lowercase());
        if matches!(name.as_deref(), Some(b"post" | b"host:")) {
            return Err(Reason::Malformed("an HTTP request is no request of Redis"));
        }
        Ok(Step::Done((self.cursor.at, arguments)))
    }
}

/// The number of bulk strings in an array with this header.
fn count(line: &[u8]) -> Result<u64, Reason> {
    let wrong = Reason::Malformed("invalid multibulk length");
    let digits = line.strip_prefix(b"*").and_then(|line| line.strip_suffix(b"\r"));
    match digits.ok_or(wrong.clone())? {
        // Redis takes it for an empty array.
        [b'-', digits @ ..] if decimal(digits).is_some() => Ok(0),
        digits => number(digits).filter(|count| *count <= MOST_ARGUMENTS).ok_or(wrong),
    }
}

/// A number as Redis reads it: without zeros in front.
fn number(digits: &[u8]) -> Option<u64> {
    decimal(digits).filter(|_| digits.len() == 1 || !digits.starts_with(b"0"))
}

/// Bytes behind the header of a bulk string, with the end of the line.
fn bulk(line: &[u8]) -> Result<u64, Reason> {
    let Some(digits) = line.strip_prefix(b"$") else {
        return Err(Reason::Malformed("expected '$'"));
    };
    let length = digits.strip_suffix(b"\r").and_then(number);
    let length = length.and_then(|length| length.checked_add(2));
    length.ok_or(Reason::Malformed("invalid bulk length"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::hash::hash;
    use crate::request::Expect;

    fn scan(window: &[u8]) -> Result<Step<RequestCut>, Reason> {
        Scanner::new(1000).scan(window)
    }

    #[test]
    fn requests_end_where_redis_ends_them() {
        let get = RequestCut::server(20, Some(hash(b"a")), Expect::ORDINARY);
        assert_eq!(scan(b"*2\r\n$3\r\nGET\r\n$1\r\na\r\n*1\r\n"), Ok(Step::Done(get)));
        let inline = |length| RequestCut::server(length, Some(hash(b"a")), Expect::ORDINARY);
        assert_eq!(scan(b"GET a\r\nGET b\r\n"), Ok(Step::Done(inline(7))));
        assert_eq!(scan(b"get 'a'\nGET b\r\n"), Ok(Step::Done(inline(8))));
        for (ignored, length) in [("*0\r\nx", 4), ("*-1\r\n", 5), ("\r\nx", 2), ("\n", 1)] {
            let cut = RequestCut::local(length, "");
            assert_eq!(scan(ignored.as_bytes()), Ok(Step::Done(cut)), "{ignored:?}");
        }
    }

    #[test]
    fn the_bytes_needed_are_known_from_a_header_on() {
        for (begun, needed) in [
            ("", 1),
            ("*", 2),
            ("*2\r\n$3", 7),
            ("*2\r\n$3\r\n", 13),
            ("*2\r\n$3\r\nGET\r\n$1000\r\n", 1022),
            ("*1\r\n$18446744073709551613\r\n", usize::MAX),
            ("GET a", 6),
        ] {
            assert_eq!(scan(begun.as_bytes()), Ok(Step::More(needed)), "{begun:?}");
        }
    }

    #[test]
    fn what_redis_would_not_read_is_refused() {
        let long = format!("GET {}", "a".repeat(LONGEST_LINE));
        for (wrong, what) in [
            ("*x\r\n", "invalid multibulk length"),
            ("*1\n", "invalid multibulk length"),
            ("*01\r\n", "invalid multibulk length"),
            ("*1\r\n$01\r\n", "invalid bulk length"),
            ("*1048577\r\n", "invalid multibulk length"),
            ("*1\r\n:1\r\n", "expected '$'"),
            ("*1\r\n$-1\r\n", "invalid bulk length"),
            ("*1\r\n$18446744073709551615\r\n", "invalid bulk length"),
            ("*1\r\n$1\r\nabc", "no end of line behind a bulk string"),
            ("GET 'a\r\n", "unbalanced quotes in request"),
            ("GET a\0b\r\n", "zero byte in inline request"),
            ("POST / HTTP/1.1\r\n", "an HTTP request is no request of Redis"),
            ("Host: a\r\n", "an HTTP request is no request of Redis"),
            (&long, "too big inline request"),
        ] {
            assert_eq!(scan(wrong.as_bytes()), Err(Reason::Malformed(what)), "{wrong:?}");
        }
    }
}
