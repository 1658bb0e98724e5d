//! Where an answer ends: interim responses, and the final one.

use crate::request::Expect;
use crate::scan::{AnswerCut, AnswerScanner, Cursor, Step, decimal, more};
use crate::violation::Reason;

use super::body::Body;
use super::fields::Fields;
use super::{is_head, line, upgrades};

/// Status of an answer that changes the protocol (RFC 9110, section 15.2.2).
const SWITCHING: u64 = 101;

/// Finds the ends of answers.
#[derive(Debug, Default)]
pub struct Scanner {
    cursor: Cursor,
    phase: Phase,
    /// Offset of the head that is read. A head is passed whole.
    head: usize,
    has_switched: bool,
}

#[derive(Debug, Default)]
enum Phase {
    #[default]
    Status,
    Fields(Status, Fields),
    Body {
        closes: bool,
        body: Body,
    },
}

/// Facts from a status line.
#[derive(Clone, Copy, Debug)]
struct Status {
    code: u64,
    is_version_1_1: bool,
}

impl AnswerScanner for Scanner {
    fn scan(&mut self, expect: Expect, window: &[u8]) -> Result<Step<AnswerCut>, Reason> {
        loop {
            if let Phase::Body { closes, body } = &mut self.phase {
                if let Step::More(needed) = body.scan(&mut self.cursor, window)? {
                    return Ok(Step::More(needed));
                }
                let cut = AnswerCut { closes: *closes, ..AnswerCut::whole(self.cursor.at) };
                *self = Scanner::default();
                return Ok(Step::Done(cut));
            }
            let Some(read) = self.cursor.line(window) else { return Ok(more(window)) };
            let read = line(read)?;
            match &mut self.phase {
                Phase::Status => self.phase = Phase::Fields(status_line(read)?, Fields::default()),
                Phase::Fields(_, fields) if !read.is_empty() => fields.note(read)?,
                Phase::Fields(status, fields) => {
                    self.has_switched = status.code == SWITCHING;
                    self.phase = behind_head(*status, fields, expect)?;
                    self.head = self.cursor.at;
                }
                Phase::Body { .. } => {}
            }
        }
    }

    fn ready(&self) -> usize {
        match self.phase {
            Phase::Body { .. } => self.cursor.at,
            Phase::Status | Phase::Fields(..) => self.head,
        }
    }

    fn pass(&mut self, count: usize) {
        self.cursor.pass(count);
        self.head = self.head.saturating_sub(count);
    }

    fn has_switched(&self) -> bool {
        self.has_switched
    }

    fn ends_with_connection(&self) -> bool {
        matches!(self.phase, Phase::Body { body: Body::UntilClose, .. })
    }
}

fn status_line(line: &[u8]) -> Result<Status, Reason> {
    let wrong = Reason::Malformed("invalid status line");
    let mut parts = line.splitn(3, |byte| *byte == b' ');
    let is_version_1_1 = match parts.next() {
        Some(b"HTTP/1.1") => true,
        Some(b"HTTP/1.0") => false,
        _ => return Err(wrong),
    };
    let code = parts.next().filter(|code| code.len() == 3).and_then(decimal).ok_or(wrong)?;
    Ok(Status { code, is_version_1_1 })
}

/// What follows a head (RFC 9112, section 6.3).
fn behind_head(status: Status, fields: &Fields, expect: Expect) -> Result<Phase, Reason> {
    match status.code {
        SWITCHING if upgrades(expect) => {
            return Ok(Phase::Body { closes: true, body: Body::UntilClose });
        }
        SWITCHING => {
            return Err(Reason::Malformed("the server changes the protocol without being asked"));
        }
        100..200 => return Ok(Phase::Status),
        _ => {}
    }
    let closes = fields.closes(status.is_version_1_1);
    if is_head(expect) || matches!(status.code, 204 | 304) {
        return Ok(Phase::Body { closes, body: Body::Length(0) });
    }
    fields.check(status.is_version_1_1)?;
    Ok(Phase::Body { closes, body: Body::of(fields, Body::UntilClose) })
}

#[cfg(test)]
mod tests {
    use super::super::{HEAD, UPGRADE};
    use super::*;

    fn scan(expect: Expect, window: &[u8]) -> Result<Step<AnswerCut>, Reason> {
        Scanner::default().scan(expect, window)
    }

    #[test]
    fn answers_end_behind_their_bodies() {
        let ordinary = Expect::ORDINARY;
        for (expect, answer, closes) in [
            (ordinary, "HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhello", false),
            (ordinary, "HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n", false),
            (ordinary, "HTTP/1.1 200\r\nContent-Length: 0\r\n\r\n", false),
            (
                ordinary,
                "HTTP/1.1 404 Not Found\r\nConnection: close\r\nContent-Length: 1\r\n\r\nx",
                true,
            ),
            (ordinary, "HTTP/1.0 200 OK\r\nContent-Length: 1\r\n\r\nx", true),
            (
                ordinary,
                "HTTP/1.0 200 OK\r\nContent-Length: 1\r\nConnection: Keep-Alive\r\n\r\nx",
                false,
            ),
            (
                ordinary,
                "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n1\r\nx\r\n0\r\n\r\n",
                false,
            ),
            (
                ordinary,
                "HTTP/1.1 200 OK\r\nTransfer-Encoding: gzip, chunked\r\n\r\n0\r\n\r\n",
                false,
            ),
            (ordinary, "HTTP/1.1 204 No Content\r\n\r\n", false),
            (ordinary, "HTTP/1.1 304 Not Modified\r\nContent-Length: 99\r\n\r\n", false),
            (HEAD, "HTTP/1.1 200 OK\r\nContent-Length: 99\r\n\r\n", false),
            (HEAD, "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n", false),
            (
                ordinary,
                "HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 103 Early Hints\r\nLink: </a>\r\n\r\n\
                HTTP/1.1 200 OK\r\nContent-Length: 1\r\n\r\nx",
                false,
            ),
        ] {
            let stream = format!("{answer}HTTP/1.1 ");
            let done = AnswerCut { closes, ..AnswerCut::whole(answer.len()) };
            assert_eq!(scan(expect, stream.as_bytes()), Ok(Step::Done(done)), "{answer:?}");
            for length in 0..answer.len() {
                let begun = scan(expect, &answer.as_bytes()[..length]);
                assert!(matches!(begun, Ok(Step::More(_))), "{answer:?} at {length}: {begun:?}");
            }
        }
    }

    #[test]
    fn a_body_without_a_length_ends_with_the_connection() {
        for (answer, ends) in [
            ("HTTP/1.1 200 OK\r\n\r\nabc", true),
            ("HTTP/1.1 200 OK\r\nTransfer-Encoding: gzip\r\n\r\n", true),
            ("HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\nabc", false),
            ("HTTP/1.1 200 OK\r\n", false),
            ("HTTP/1.1 100 Continue\r\n\r\n", false),
        ] {
            let mut scanner = Scanner::default();
            let begun = scanner.scan(Expect::ORDINARY, answer.as_bytes());
            assert!(matches!(begun, Ok(Step::More(_))), "{answer:?}: {begun:?}");
            assert_eq!(scanner.ends_with_connection(), ends, "{answer:?}");
        }
    }

    #[test]
    fn heads_are_passed_whole_and_bodies_as_they_come() {
        let early = "HTTP/1.1 103 Early Hints\r\nLink: </a>\r\n\r\n";
        let head = "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n";
        let answer = format!("{early}{head}5\r\nhello\r\n0\r\nA: b\r\n\r\n");
        let whole = early.len() + head.len();
        let mut scanner = Scanner::default();
        for length in 0..answer.len() {
            let begun = scanner.scan(Expect::ORDINARY, &answer.as_bytes()[..length]);
            assert!(matches!(begun, Ok(Step::More(_))), "{begun:?} at {length}");
            let expected = match length {
                _ if length < early.len() => 0,
                _ if length < whole => early.len(),
                _ if length < whole + 3 => whole,
                // The end of a chunk's line is not divided.
                _ if length < whole + 8 => length,
                _ if length < whole + 10 => whole + 8,
                _ if length < whole + 13 => whole + 10,
                _ if length < whole + 19 => whole + 13,
                _ => whole + 19,
            };
            assert_eq!(scanner.ready(), expected, "at {length}");
        }
        scanner.pass(whole + 19);
        let end = scanner.scan(Expect::ORDINARY, b"\r\n");
        assert_eq!(end, Ok(Step::Done(AnswerCut::whole(2))));
    }

    #[test]
    fn a_protocol_is_changed_by_101_for_who_asked_for_it() {
        let switching = b"HTTP/1.1 101 Switching Protocols\r\nUpgrade: x\r\n\r\n\0\xff";
        let mut scanner = Scanner::default();
        assert!(matches!(scanner.scan(UPGRADE, switching), Ok(Step::More(_))));
        let found = (scanner.has_switched(), scanner.ends_with_connection(), scanner.ready());
        assert_eq!(found, (true, true, switching.len()));
        // Others answers to the same request are ordinary.
        let answer = b"HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 400 No\r\nContent-Length: 0\r\n\r\n";
        let mut scanner = Scanner::default();
        let cut = AnswerCut::whole(answer.len());
        assert_eq!(scanner.scan(UPGRADE, answer), Ok(Step::Done(cut)));
        assert!(!scanner.has_switched());
    }

    #[test]
    fn doubtful_answers_are_refused() {
        for wrong in [
            "HTTP/2.0 200 OK\r\n",
            "HTTP/1.1 20 OK\r\n",
            "HTTP/1.1 2000 OK\r\n",
            "HTTP/1.1  200 OK\r\n",
            "HTTP/1.1 200 OK\n",
            "\r\n",
            "HTTP/1.1 101 Switching Protocols\r\n\r\n",
            "HTTP/1.0 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n",
            "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\nContent-Length: 1\r\n\r\n",
            "HTTP/1.1 200 OK\r\nTransfer-Encoding: ,\r\nContent-Length: 1\r\n\r\n",
            "HTTP/1.1 200 OK\r\nTransfer-Encoding:\r\n\r\n",
            "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked, gzip\r\n\r\n",
            "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n0\r\nContent-Length: 1\r\n",
            "HTTP/1.1 200 OK\r\nX\r\n",
        ] {
            assert!(scan(Expect::ORDINARY, wrong.as_bytes()).is_err(), "{wrong:?}");
        }
    }
}
