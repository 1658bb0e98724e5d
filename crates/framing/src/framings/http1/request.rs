//! Where a request ends.

use crate::hash::hash;
use crate::request::Expect;
use crate::scan::{Cursor, RequestCut, RequestScanner, Step, more};
use crate::violation::Reason;

use super::body::Body;
use super::fields::{Fields, is_token};
use super::{HEAD, HEAD_UPGRADE, OTHER_VERSION, UPGRADE, line};

const WHOLE: &str = "Upgrade is not supported: connect to a server directly";

/// Finds the ends of requests.
#[derive(Debug)]
pub struct Scanner {
    /// Bytes that a request may have; without a number, bodies need not be whole, and the protocol
    /// may be changed.
    longest: Option<usize>,
    cursor: Cursor,
    phase: Phase,
}

#[derive(Debug, Default)]
enum Phase {
    #[default]
    Line,
    Fields(Line, Fields),
    Body(RequestCut, Body),
}

/// Facts from a request line.
#[derive(Debug)]
struct Line {
    /// Hash of the target.
    key: u64,
    is_head: bool,
    is_version_1_1: bool,
}

impl RequestScanner for Scanner {
    fn scan(&mut self, window: &[u8]) -> Result<Step<RequestCut>, Reason> {
        loop {
            if let Phase::Body(_, body) = &mut self.phase {
                if let Step::More(needed) = body.scan(&mut self.cursor, window)? {
                    return Ok(Step::More(needed));
                }
                return Ok(Step::Done(self.done()));
            }
            let Some(read) = self.cursor.line(window) else { return Ok(more(window)) };
            let read = line(read)?;
            match &mut self.phase {
                // An empty line in front of a request is ignored (RFC 9112, section 2.2).
                Phase::Line if read.is_empty() => {
                    let length = std::mem::take(&mut self.cursor).at;
                    return Ok(Step::Done(RequestCut::local(length, "")));
                }
                Phase::Line => self.phase = Phase::Fields(request_line(read)?, Fields::default()),
                Phase::Fields(_, fields) if !read.is_empty() => fields.note(read)?,
                Phase::Fields(line, fields) => {
                    let (cut, body) = head(line, fields)?;
                    if self.longest.is_some() && cut.upgrades {
                        return Err(Reason::Unsupported(WHOLE));
                    }
                    let awaits_continue = fields.awaits_continue && line.is_version_1_1;
                    let is_asked_for = awaits_continue && self.has_room(&body);
                    self.phase = Phase::Body(cut, body);
                    if is_asked_for {
                        let interim = "HTTP/1.1 100 Continue\r\n\r\n";
                        return Ok(Step::Done(RequestCut::local(0, interim)));
                    }
                }
                Phase::Body(..) => {}
            }
        }
    }

    fn begun(&self) -> Option<RequestCut> {
        match &self.phase {
            Phase::Body(cut, _) if self.longest.is_none() => {
                Some(RequestCut { length: self.cursor.at, ..cut.clone() })
            }
            Phase::Line | Phase::Fields(..) | Phase::Body(..) => None,
        }
    }

    fn pass(&mut self, count: usize) {
        self.cursor.pass(count);
    }
}

impl Scanner {
    /// A scanner of requests of at most this many bytes, or of those that need not be whole.
    pub fn new(longest: Option<usize>) -> Scanner {
        Scanner { longest, cursor: Cursor::default(), phase: Phase::default() }
    }

    /// Whether a body may come: it is not empty, and not known to be too long.
    fn has_room(&self, body: &Body) -> bool {
        let Body::Length(length) = *body else { return true };
        let room = self.longest.unwrap_or(usize::MAX).saturating_sub(self.cursor.at);
        length > 0 && usize::try_from(length).is_ok_and(|length| length <= room)
    }

    /// The request that ends at the cursor.
    fn done(&mut self) -> RequestCut {
        let length = std::mem::take(&mut self.cursor).at;
        match std::mem::take(&mut self.phase) {
            Phase::Body(cut, _) => RequestCut { length, ..cut },
            Phase::Line | Phase::Fields(..) => RequestCut::local(length, ""),
        }
    }
}

fn request_line(line: &[u8]) -> Result<Line, Reason> {
    let wrong = Reason::Malformed("invalid request line");
    let mut parts = line.split(|byte| *byte == b' ');
    let (Some(method), Some(target), Some(version), None) =
        (parts.next(), parts.next(), parts.next(), parts.next())
    else {
        return Err(wrong);
    };
    let is_target = !target.is_empty() && target.iter().all(u8::is_ascii_graphic);
    if !is_token(method) || !is_target || !version.starts_with(b"HTTP/") {
        return Err(wrong);
    }
    let is_version_1_1 = version == b"HTTP/1.1";
    if !is_version_1_1 && version != b"HTTP/1.0" {
        return Err(Reason::Unsupported(OTHER_VERSION));
    }
    if method == b"CONNECT" {
        return Err(Reason::Unsupported("CONNECT is not supported: connect to a server directly"));
    }
    Ok(Line { key: hash(target), is_head: method == b"HEAD", is_version_1_1 })
}

/// The request with this head, but for its length, and its body.
fn head(line: &Line, fields: &Fields) -> Result<(RequestCut, Body), Reason> {
    fields.check(line.is_version_1_1)?;
    if fields.is_padded {
        return Err(Reason::Malformed("zeros in front of Content-Length"));
    }
    if fields.codings > 1 || (fields.codings == 1 && !fields.is_chunked) {
        return Err(Reason::Unsupported("a Transfer-Encoding other than chunked"));
    }
    // RFC 9112, section 3.2.
    if fields.hosts > 1 || (line.is_version_1_1 && fields.hosts == 0) {
        return Err(Reason::Malformed("not exactly one Host field"));
    }
    let expect = match (line.is_head, fields.upgrades) {
        (false, false) => Expect::ORDINARY,
        (true, false) => HEAD,
        (false, true) => UPGRADE,
        (true, true) => HEAD_UPGRADE,
    };
    let cut = RequestCut::server(0, Some(line.key), expect);
    let closes = fields.closes(line.is_version_1_1);
    Ok((RequestCut { closes, upgrades: fields.upgrades, ..cut }, Body::of(fields, Body::Length(0))))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Cuts all requests: the bytes that each takes, and the cut.
    fn cuts(stream: &str) -> Vec<(&str, RequestCut)> {
        let (mut scanner, mut rest, mut found) = (Scanner::new(Some(200)), stream, Vec::new());
        while let Ok(Step::Done(cut)) = scanner.scan(rest.as_bytes()) {
            let (taken, behind) = rest.split_at(cut.length);
            found.push((taken, cut));
            rest = behind;
        }
        found
    }

    fn server(bytes: &str, target: &str, expect: Expect, closes: bool) -> RequestCut {
        let cut = RequestCut::server(bytes.len(), Some(hash(target.as_bytes())), expect);
        RequestCut { closes, ..cut }
    }

    #[test]
    fn requests_end_behind_their_bodies() {
        let plain = Expect::ORDINARY;
        let chunked = "PUT /c HTTP/1.1\r\nHost: x\r\ntransfer-encoding: Chunked\r\n\r\n\
            2\r\nhi\r\n0\r\n\r\n";
        let all = [
            ("GET /a?b HTTP/1.1\r\nHost: x\r\n\r\n", "/a?b", plain, false),
            ("HEAD / HTTP/1.1\r\nHost: x\r\n\r\n", "/", HEAD, false),
            ("PUT /p HTTP/1.1\r\nHost: x\r\nContent-Length: 4\r\n\r\n\r\n\r\n", "/p", plain, false),
            (chunked, "/c", plain, false),
            ("OPTIONS * HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n", "*", plain, true),
            ("GET / HTTP/1.0\r\nConnection: keep-alive\r\n\r\n", "/", plain, false),
            ("GET / HTTP/1.0\r\n\r\n", "/", plain, true),
        ];
        let stream: String = all.iter().map(|(bytes, ..)| *bytes).collect();
        let expected = all
            .map(|(bytes, target, expect, closes)| (bytes, server(bytes, target, expect, closes)));
        assert_eq!(cuts(&stream), expected);
    }

    #[test]
    fn a_client_that_waits_gets_100_continue() {
        let head =
            "POST / HTTP/1.1\r\nHost: x\r\nExpect: 100-continue\r\nContent-Length: 2\r\n\r\n";
        let interim = RequestCut::local(0, "HTTP/1.1 100 Continue\r\n\r\n");
        assert_eq!(cuts(head), [("", interim.clone())]);
        let whole = format!("{head}hi");
        let request = server(&whole, "/", Expect::ORDINARY, false);
        assert_eq!(cuts(&whole), [("", interim), (&whole[..], request)]);
        // A body that is too long is not asked for.
        let long = head.replace(": 2", ": 200");
        assert_eq!(Scanner::new(Some(200)).scan(long.as_bytes()), Ok(Step::More(long.len() + 200)));
        // Neither waits: a version before 1.1, and a request without a body.
        let old = "POST / HTTP/1.0\r\nExpect: 100-continue\r\nContent-Length: 2\r\n\r\nhi";
        assert_eq!(cuts(old), [(old, server(old, "/", Expect::ORDINARY, true))]);
        let bare = "GET / HTTP/1.1\r\nHost: x\r\nExpect: 100-continue\r\n\r\n";
        assert_eq!(cuts(bare), [(bare, server(bare, "/", Expect::ORDINARY, false))]);
    }

    /// What is passed was checked.
    #[test]
    fn bodies_need_not_be_whole() {
        let head = "PUT /c HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n";
        let mut scanner = Scanner::new(None);
        assert!(matches!(scanner.scan(&head.as_bytes()[..head.len() - 1]), Ok(Step::More(_))));
        assert_eq!(scanner.begun(), None);
        let whole = format!("{head}5;a=b\r\nhel");
        let begun = |scanner: &mut Scanner, window: &str| {
            assert!(matches!(scanner.scan(window.as_bytes()), Ok(Step::More(_))), "{window:?}");
            scanner.begun().unwrap()
        };
        let cut = begun(&mut scanner, &format!("{head}5;a"));
        assert_eq!(cut, server(head, "/c", Expect::ORDINARY, false));
        assert_eq!(begun(&mut scanner, &whole).length, whole.len());
        scanner.pass(whole.len());
        assert_eq!(begun(&mut scanner, "lo").length, 2);
        assert_eq!(begun(&mut scanner, "lo\r").length, 2);
        scanner.pass(2);
        assert!(scanner.scan(b"\rx").is_err());

        let head = "PUT /c HTTP/1.1\r\nHost: x\r\nContent-Length: 10000\r\n\r\n";
        let mut scanner = Scanner::new(None);
        assert_eq!(begun(&mut scanner, head).length, head.len());
        scanner.pass(head.len());
        let body = "x".repeat(10_000);
        assert_eq!(begun(&mut scanner, &body[..9_000]).length, 9_000);
        scanner.pass(9_000);
        let end = scanner.scan(&body.as_bytes()[9_000..]).unwrap();
        let Step::Done(cut) = end else { panic!("{end:?}") };
        assert_eq!(cut.length, 1_000);
    }

    #[test]
    fn empty_lines_between_requests_are_ignored() {
        let get = "GET / HTTP/1.1\r\nHost: x\r\n\r\n";
        let stream = format!("\r\n{get}");
        let expected =
            [("\r\n", RequestCut::local(2, "")), (get, server(get, "/", Expect::ORDINARY, false))];
        assert_eq!(cuts(&stream), expected);
    }

    #[test]
    fn doubtful_requests_are_refused() {
        let head = |fields: &str| format!("POST / HTTP/1.1\r\nHost: x\r\n{fields}\r\n\r\n");
        for wrong in [
            "GET /\r\n".into(),
            "GET  / HTTP/1.1\r\n".into(),
            "GET / HTTP/1.1 \r\n".into(),
            "G(T / HTTP/1.1\r\n".into(),
            "GET /\u{7f} HTTP/1.1\r\n".into(),
            "GET / HTTP/1.1\n".into(),
            "GET /\r HTTP/1.1\r\n".into(),
            head("Transfer-Encoding: \u{c}chunked"),
            "GET / FTP/1.1\r\n".into(),
            "GET / HTTP/1.1\r\n\r\n".into(),
            head("Host: y"),
            head("Content-Length: 1\r\nTransfer-Encoding: chunked"),
            head("Content-Length: 1\r\nContent-Length: 2"),
            head("Content-Length: 1\r\nContent-Length: 1"),
            head("Content-Length: 01"),
            head("Content-Length: 1\nX: 1"),
            head("Content-Length : 1"),
            head("Content-Length: 3\r\nTransfer-Encoding: ,"),
            head("Content-Length: 3\r\nTransfer-Encoding:"),
            head("Transfer-Encoding: ,\r\nContent-Length: 3"),
            head("Transfer-Encoding: chunked, identity"),
            head("Transfer-Encoding: chunked\r\nTransfer-Encoding: identity"),
            head("X: 1\r\n folded"),
            head("X: 1\r\n\tfolded"),
            head("X: a\0b"),
            head("X: a\rb"),
            "GET / HTTP/1.1\r\n Host: x\r\n\r\n".into(),
            "GET / HTTP/1.0\r\nTransfer-Encoding: chunked\r\n\r\n".into(),
        ] {
            let read = Scanner::new(Some(200)).scan(wrong.as_bytes());
            assert!(matches!(read, Err(Reason::Malformed(_))), "{wrong:?}: {read:?}");
        }
        for unsupported in [
            "PRI * HTTP/2.0\r\n".into(),
            "GET / HTTP/1.2\r\n".into(),
            "CONNECT x:443 HTTP/1.1\r\n".into(),
            head("Connection: Upgrade\r\nUpgrade: websocket"),
            head("Transfer-Encoding: gzip, chunked"),
            head("Transfer-Encoding: gzip"),
            head("Transfer-Encoding: identity, chunked"),
        ] {
            let read = Scanner::new(Some(200)).scan(unsupported.as_bytes());
            assert!(matches!(read, Err(Reason::Unsupported(_))), "{unsupported:?}: {read:?}");
        }
        let upgrade = head("Connection: Upgrade\r\nUpgrade: websocket");
        let read = Scanner::new(None).scan(upgrade.as_bytes());
        let cut = RequestCut { upgrades: true, ..server(&upgrade, "/", UPGRADE, false) };
        assert_eq!(read, Ok(Step::Done(cut)));
    }
}
