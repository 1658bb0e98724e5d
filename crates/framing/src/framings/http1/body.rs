//! Where a body ends.

use crate::scan::{Cursor, Step, more};
use crate::violation::Reason;

use super::fields::{Fields, split};
use super::line;

/// What follows in a message behind its head.
#[derive(Debug, PartialEq, Eq)]
pub enum Body {
    /// This many bytes.
    Length(u64),
    /// The size of a chunk.
    ChunkSize,
    /// The data of a chunk, and the end of its line.
    ChunkData(usize),
    /// Fields behind the last chunk.
    Trailers,
    /// Whatever comes until the connection closes.
    UntilClose,
}

impl Body {
    /// The body behind a head with these fields; `absent` is what follows if they name none.
    pub fn of(fields: &Fields, absent: Body) -> Body {
        match fields.length {
            _ if fields.is_chunked => Body::ChunkSize,
            _ if fields.codings > 0 => Body::UntilClose,
            Some(length) => Body::Length(length),
            None => absent,
        }
    }

    /// Moves the cursor over the body.
    pub fn scan(&mut self, cursor: &mut Cursor, window: &[u8]) -> Result<Step<()>, Reason> {
        loop {
            match *self {
                Body::Length(length) => {
                    let length = usize::try_from(length).unwrap_or(usize::MAX);
                    return Ok(cursor.skip(length, window).map_or_else(Step::More, Step::Done));
                }
                Body::ChunkData(length) => {
                    if let Err(needed) = cursor.skip(length, window) {
                        return Ok(Step::More(needed));
                    }
                    if !window[..cursor.at].ends_with(b"\r\n") {
                        return Err(Reason::Malformed("no end of line behind a chunk"));
                    }
                    *self = Body::ChunkSize;
                }
                Body::UntilClose => return Ok(more(window)),
                Body::ChunkSize | Body::Trailers => {
                    let Some(read) = cursor.line(window) else { return Ok(more(window)) };
                    let read = line(read)?;
                    if *self == Body::ChunkSize {
                        *self = chunk(read)?;
                    } else if read.is_empty() {
                        return Ok(Step::Done(()));
                    } else {
                        split(read)?;
                    }
                }
            }
        }
    }
}

/// What follows behind the line with a chunk's size and extensions.
fn chunk(line: &[u8]) -> Result<Body, Reason> {
    let wrong = Reason::Malformed("invalid size of a chunk");
    let size = line.split(|byte| *byte == b';').next().unwrap_or_default().trim_ascii_end();
    let is_number = !size.is_empty() && size.iter().all(u8::is_ascii_hexdigit);
    let size = std::str::from_utf8(size).ok().filter(|_| is_number);
    let size = size.and_then(|size| usize::from_str_radix(size, 16).ok());
    match size.ok_or(wrong)? {
        0 => Ok(Body::Trailers),
        size => Ok(Body::ChunkData(size.saturating_add(2))),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn end(body: Body, window: &[u8]) -> Result<Step<usize>, Reason> {
        let (mut body, mut cursor) = (body, Cursor::default());
        Ok(match body.scan(&mut cursor, window)? {
            Step::Done(()) => Step::Done(cursor.at),
            Step::More(length) => Step::More(length),
        })
    }

    #[test]
    fn chunks_end_with_one_of_no_length() {
        for body in [
            "0\r\n\r\n",
            "5\r\nhello\r\n0\r\n\r\n",
            "A;name=\"value\"\r\n0123\r\n6789\r\n000 ;x\r\n\r\n",
            "1\r\na\r\n0\r\nExpires: never\r\nX:\r\n\r\n",
        ] {
            let whole = format!("{body}GET /");
            assert_eq!(end(Body::ChunkSize, whole.as_bytes()), Ok(Step::Done(body.len())));
            for length in 0..body.len() {
                let begun = end(Body::ChunkSize, &body.as_bytes()[..length]);
                assert!(matches!(begun, Ok(Step::More(_))), "{body:?} at {length}");
            }
        }
        assert_eq!(end(Body::ChunkSize, b"fff\r\n"), Ok(Step::More(5 + 0xfff + 2)));
        assert_eq!(end(Body::ChunkSize, b"ffffffffffffffff\r\n"), Ok(Step::More(usize::MAX)));
    }

    #[test]
    fn wrong_chunks_are_refused() {
        for wrong in [
            "\r\n",
            "g\r\n",
            "+5\r\n",
            "0x5\r\n",
            " 5\r\n",
            "5\n",
            "5\u{b}\r\n",
            "10000000000000000\r\n",
            "1\r\nabc",
            "0\r\nno colon\r\n",
            "0\r\n folded: 1\r\n",
        ] {
            assert!(end(Body::ChunkSize, wrong.as_bytes()).is_err(), "{wrong:?}");
        }
    }

    #[test]
    fn other_bodies_have_a_length_or_the_connection() {
        assert_eq!(end(Body::Length(3), b"abcd"), Ok(Step::Done(3)));
        assert_eq!(end(Body::Length(u64::MAX), b"abcd"), Ok(Step::More(usize::MAX)));
        assert_eq!(end(Body::UntilClose, b"abcd"), Ok(Step::More(5)));
    }
}
