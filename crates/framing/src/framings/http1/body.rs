//! Where a body ends.

use crate::scan::{Cursor, Step, more};
use crate::violation::Reason;

use super::fields::{Fields, canonical, is_token, split};
use super::line;

/// What follows in a message behind its head, or behind what was read of it.
#[derive(Debug, PartialEq, Eq)]
pub enum Body {
    /// This many bytes.
    Length(u64),
    /// The size of a chunk.
    ChunkSize,
    /// This many bytes of a chunk's data and of the end of its line.
    ChunkData(u64),
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

    /// Moves the cursor over the body. What is behind the cursor is checked.
    pub fn scan(&mut self, cursor: &mut Cursor, window: &[u8]) -> Result<Step<()>, Reason> {
        loop {
            match self {
                Body::Length(left) => {
                    return Ok(cursor.skip(left, window).map_or_else(Step::More, Step::Done));
                }
                Body::ChunkData(left) => match cursor.block(left, window) {
                    Err(needed) => return Ok(Step::More(needed)),
                    Ok(false) => return Err(Reason::Malformed("no end of line behind a chunk")),
                    Ok(true) => *self = Body::ChunkSize,
                },
                Body::UntilClose => {
                    cursor.at = window.len();
                    return Ok(more(window));
                }
                Body::ChunkSize | Body::Trailers => {
                    let Some(read) = cursor.line(window) else { return Ok(more(window)) };
                    let read = line(read)?;
                    if *self == Body::ChunkSize {
                        *self = chunk(read)?;
                    } else if read.is_empty() {
                        return Ok(Step::Done(()));
                    } else {
                        trailer(read)?;
                    }
                }
            }
        }
    }
}

/// What follows behind the line with a chunk's size and extensions.
fn chunk(line: &[u8]) -> Result<Body, Reason> {
    let wrong = Reason::Malformed("invalid size of a chunk");
    let digits = line.iter().take_while(|byte| byte.is_ascii_hexdigit()).count();
    let (size, extensions) = line.split_at(digits);
    // Readers differ in how many digits they take.
    let size = std::str::from_utf8(size).ok().filter(|size| size.len() <= 16);
    let size = size.and_then(|size| u64::from_str_radix(size, 16).ok()).ok_or(wrong.clone())?;
    if !extensions.is_empty() && !extensions.starts_with(b";") {
        return Err(wrong);
    }
    check_extensions(extensions)?;
    match size {
        0 => Ok(Body::Trailers),
        size => Ok(Body::ChunkData(size.saturating_add(2))),
    }
}

/// An error unless these are extensions (RFC 9112, section 7.1.1) that end for every reader with
/// the line: without blanks around names and values, and without backslashes in quotes.
fn check_extensions(mut rest: &[u8]) -> Result<(), Reason> {
    let wrong = Reason::Malformed("invalid extension of a chunk");
    while let Some(extension) = rest.strip_prefix(b";") {
        let name = extension.iter().position(|byte| b"=;".contains(byte));
        let (name, behind) = extension.split_at(name.unwrap_or(extension.len()));
        let end = match behind.strip_prefix(b"=") {
            None => 0,
            Some([b'"', quoted @ ..]) => {
                let end = quoted.iter().position(|byte| b"\"\\".contains(byte));
                let end = end.filter(|end| quoted[*end] == b'"').ok_or(wrong.clone())?;
                end + 3
            }
            Some(value) => {
                let end = value.iter().position(|byte| *byte == b';').unwrap_or(value.len());
                if !is_token(&value[..end]) {
                    return Err(wrong);
                }
                end + 1
            }
        };
        if !is_token(name) {
            return Err(wrong);
        }
        rest = &behind[end..];
    }
    if rest.is_empty() { Ok(()) } else { Err(wrong) }
}

/// An error unless the field may stand behind a body.
fn trailer(line: &[u8]) -> Result<(), Reason> {
    let (name, _) = split(line)?;
    match HEAD_ONLY.contains(&&canonical(name)[..]) {
        true => Err(Reason::Malformed("a field of the head stands behind the body")),
        false => Ok(()),
    }
}

/// Fields that are not allowed behind a body, because a reader needs them before it reads the body:
/// they say how long the message is, where it goes, who sends it, on what conditions, and what the
/// body is (RFC 9110, section 6.5.1). Some readers would merge them into the head.
const HEAD_ONLY: &[&[u8]] = &[
    b"authorization",
    b"cache-control",
    b"connection",
    b"content-encoding",
    b"content-length",
    b"content-range",
    b"content-type",
    b"cookie",
    b"expect",
    b"forwarded",
    b"host",
    b"if-match",
    b"if-modified-since",
    b"if-none-match",
    b"if-range",
    b"if-unmodified-since",
    b"keep-alive",
    b"max-forwards",
    b"proxy-authenticate",
    b"proxy-authorization",
    b"proxy-connection",
    b"range",
    b"set-cookie",
    b"te",
    b"trailer",
    b"transfer-encoding",
    b"upgrade",
    b"www-authenticate",
];

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
            "A;name=\"a ;=\tvalue\"\r\n0123\r\n6789\r\n000;x\r\n\r\n",
            "0000000000000001;a;b=c;d=\"\";e\r\na\r\n0;x=y\r\n\r\n",
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
            "00000000000000001\r\n",
            "5 \r\n",
            "5\t\r\n",
            "5 ;a\r\n",
            "5; a\r\n",
            "5;a =b\r\n",
            "5;a= b\r\n",
            "5;a=b \r\n",
            "5;\r\n",
            "5;a;\r\n",
            "5;a=\r\n",
            "5;=b\r\n",
            "5;a=\"\r\n",
            "5;a=\"b\r\n",
            "5;a=b\"\r\n",
            "5;a\"b\"\r\n",
            "5;a=\"b\"c\r\n",
            "5;a=\"b\\\r\n",
            "5;a=\"\\\"\"\r\n",
            "5;a=\"\\\"\r\n",
            "5;a\n",
            "5;a\rb\r\n",
            "5,a\r\n",
            "1\r\nabc",
            "1\r\na\n\r\n",
            "0\r\nno colon\r\n",
            "0\r\n folded: 1\r\n",
            "0\r\nX: 1\n",
            "0\r\nX: a\0\r\n",
        ] {
            assert!(end(Body::ChunkSize, wrong.as_bytes()).is_err(), "{wrong:?}");
        }
    }

    #[test]
    fn fields_of_the_head_are_refused_behind_the_body() {
        for name in ["Content-Length", "transfer-encoding", "Transfer_Encoding", "HOST", "Trailer"]
        {
            let wrong = format!("0\r\nExpires: never\r\n{name}: 5\r\n");
            assert!(end(Body::ChunkSize, wrong.as_bytes()).is_err(), "{wrong:?}");
        }
        assert!(HEAD_ONLY.iter().all(|name| canonical(name) == *name));
    }

    #[test]
    fn other_bodies_have_a_length_or_the_connection() {
        assert_eq!(end(Body::Length(3), b"abcd"), Ok(Step::Done(3)));
        assert_eq!(end(Body::Length(u64::MAX), b"abcd"), Ok(Step::More(usize::MAX)));
        assert_eq!(end(Body::Length(0), b"abcd"), Ok(Step::Done(0)));
        assert_eq!(end(Body::UntilClose, b"abcd"), Ok(Step::More(5)));
    }
}
