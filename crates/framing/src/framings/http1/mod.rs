//! HTTP/1.0 and HTTP/1.1.
//!
//! Source: RFC 9112 ("HTTP/1.1"). Messages are passed on as they are, so they are read strictly: a
//! message that a server might read differently is refused, even where the RFC allows a recipient
//! to accept it (sections 2.2, 5.1, 5.2, 6.3).

mod answer;
mod body;
mod fields;
mod request;

use bytes::Bytes;

use crate::request::Expect;
use crate::scan::{Entry, first_word, printable};
use crate::violation::Reason;

/// Methods of requests that may be done twice (RFC 9110, 9.2.2).
const IDEMPOTENT: [&[u8]; 6] = [b"GET", b"HEAD", b"PUT", b"DELETE", b"OPTIONS", b"TRACE"];

pub const ENTRY: Entry = Entry {
    name: "http1",
    summary: "HTTP/1.0 and HTTP/1.1, with upgrades such as WebSocket, without CONNECT.",
    requests: |longest| Box::new(request::Scanner::new(longest)),
    answers: || Box::new(answer::Scanner::default()),
    opening: |_| b"",
    streams: true,
    probe: |_| b"",
    refusal: |reason| {
        let status = match reason {
            Reason::TooLong { .. } => "413 Content Too Large",
            Reason::Unsupported(OTHER_VERSION) => "505 HTTP Version Not Supported",
            Reason::Unsupported(_) => "501 Not Implemented",
            _ => "400 Bad Request",
        };
        answer(status, "Connection: close\r\n", &reason.to_string(), false)
    },
    is_store: false,
    may_repeat: |request| IDEMPOTENT.contains(&first_word(request)),
    failure: |expect, message| {
        let message = printable(message.as_bytes());
        Some(answer("503 Service Unavailable", "", &message, is_head(expect)))
    },
};

/// An answer to a `HEAD` request, which has no body whatever its fields say.
const HEAD: Expect = Expect::from_code(1);
/// An answer that may change the protocol.
const UPGRADE: Expect = Expect::from_code(2);
const HEAD_UPGRADE: Expect = Expect::from_code(3);
const OTHER_VERSION: &str = "the version of HTTP is neither 1.0 nor 1.1";

fn is_head(expect: Expect) -> bool {
    matches!(expect, HEAD | HEAD_UPGRADE)
}

fn upgrades(expect: Expect) -> bool {
    matches!(expect, UPGRADE | HEAD_UPGRADE)
}

/// An answer with a message, whose length it states; the message may be left out.
fn answer(status: &str, fields: &str, message: &str, is_head: bool) -> Bytes {
    let length = message.len() + 1;
    let body = if is_head { String::new() } else { format!("{message}\n") };
    let text = format!(
        "HTTP/1.1 {status}\r\n{fields}Content-Type: text/plain\r\nContent-Length: {length}\r\n\
        \r\n{body}"
    );
    text.into()
}

/// A line of a head or of a chunk's size, without its end.
fn line(line: &[u8]) -> Result<&[u8], Reason> {
    let line = line.strip_suffix(b"\r");
    let line = line.ok_or(Reason::Malformed("a line does not end with CR LF"))?;
    // Servers differ in what they take for white space.
    match line.iter().any(|byte| byte.is_ascii_control() && *byte != b'\t') {
        true => Err(Reason::Malformed("control character in a line")),
        false => Ok(line),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_failure_has_no_body_where_none_is_expected() {
        let failure = |expect| (ENTRY.failure)(expect, "no server is up").unwrap();
        let ordinary = failure(Expect::ORDINARY);
        assert!(ordinary.starts_with(b"HTTP/1.1 503 "), "{ordinary:?}");
        assert!(ordinary.ends_with(b"Content-Length: 16\r\n\r\nno server is up\n"), "{ordinary:?}");
        assert!(failure(HEAD).ends_with(b"Content-Length: 16\r\n\r\n"));
    }

    #[test]
    fn refusals_have_a_status() {
        for (reason, status) in [
            (Reason::TooLong { longest: 7 }, "413"),
            (Reason::Malformed("x"), "400"),
            (Reason::Unsupported("x"), "501"),
            (Reason::Unsupported(OTHER_VERSION), "505"),
        ] {
            let refusal = (ENTRY.refusal)(&reason);
            assert!(refusal.starts_with(format!("HTTP/1.1 {status} ").as_bytes()), "{refusal:?}");
            assert!(refusal.ends_with(format!("\r\n\r\n{reason}\n").as_bytes()), "{refusal:?}");
        }
    }
}
