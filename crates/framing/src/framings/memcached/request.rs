//! Where a request ends.

use bytes::Bytes;

use crate::hash::hash;
use crate::request::{Expect, Route};
use crate::scan::{Cursor, RequestCut, RequestScanner, Step, more, without_cr};
use crate::violation::Reason;

use super::command::{Command, is_get, is_key, key_too_long, read, words};
use super::gather::gather;
use super::{SOME_VALUES, VALUES};

/// First byte of a request of the binary protocol.
const BINARY: u8 = 0x80;
/// Bytes that a command line for a server may have: memcached closes a connection that sends more.
/// A line that asks for values is cut into shorter ones.
const LONGEST_LINE: usize = 2048;

/// Finds the ends of requests.
#[derive(Debug, Default)]
pub struct Scanner {
    cursor: Cursor,
    /// A request whose data is not complete.
    data: Option<Data>,
    /// A line that is cut, of which the window has the rest.
    keys: Option<Keys>,
}

/// What is known of a request with data.
#[derive(Debug)]
struct Data {
    /// Bytes of the data and the end of its line that are left.
    left: u64,
    route: Route,
}

/// A line that asks for values, and is cut.
#[derive(Debug)]
struct Keys {
    /// Words in front of the keys, with a space behind each.
    command: Vec<u8>,
    /// Bytes up to the next key, or to spaces in front of it.
    skipped: usize,
    /// Bytes of the line that are not cut, without its end.
    content: usize,
    /// Bytes of the line that are not cut.
    length: usize,
}

impl RequestScanner for Scanner {
    fn scan(&mut self, window: &[u8]) -> Result<Step<RequestCut>, Reason> {
        if self.keys.is_none() && self.data.is_none() {
            match self.line(window)? {
                Step::Done(None) => {}
                Step::Done(Some(cut)) => {
                    self.cursor = Cursor::default();
                    return Ok(Step::Done(cut));
                }
                Step::More(length) => return Ok(Step::More(length)),
            }
        }
        match self.keys {
            Some(_) => Ok(self.next_key(window)),
            None => self.data(window),
        }
    }
}

impl Scanner {
    /// Reads a command line. `None` if data belongs to the request, or the line is cut.
    fn line(&mut self, window: &[u8]) -> Result<Step<Option<RequestCut>>, Reason> {
        if window.first() == Some(&BINARY) {
            let what = "the binary protocol is not supported: use the text protocol";
            return Err(Reason::Unsupported(what));
        }
        let line = self.cursor.line(window);
        let begun = line.unwrap_or(window);
        if begun.len() > LONGEST_LINE && !is_get(begun) {
            return Err(Reason::Malformed("too large command line"));
        }
        let Some(line) = line else { return Ok(more(window)) };
        let content = without_cr(line);
        let length = self.cursor.at;
        Ok(Step::Done(match read(content)? {
            Command::Local(answer) => Some(RequestCut::local(length, answer)),
            Command::Quit => Some(RequestCut { closes: true, ..RequestCut::local(length, "") }),
            Command::Any => Some(RequestCut::server(length, None, Expect::ORDINARY)),
            Command::All { expect } => {
                let route = Route::All(expect, gather());
                Some(RequestCut { route, ..RequestCut::local(length, "") })
            }
            Command::Plain { key, expect } => {
                Some(RequestCut::server(length, Some(hash(key)), expect))
            }
            Command::Data { key, expect, length } => {
                let route = match is_key(key) {
                    true => Route::Server { key: Some(hash(key)), expect },
                    false => Route::Local(key_too_long(expect)),
                };
                self.data = Some(Data { left: length as u64 + 2, route });
                None
            }
            Command::Get { before } => self.get(content, length, before),
        }))
    }

    /// A line that asks for values.
    fn get(&mut self, content: &[u8], length: usize, before: usize) -> Option<RequestCut> {
        let mut keys = words(content).skip(before);
        let first = keys.next().unwrap_or_default();
        if !words(content).skip(before).all(is_key) {
            return Some(RequestCut::local(length, key_too_long(VALUES)));
        }
        if keys.next().is_none() && length <= LONGEST_LINE {
            return Some(RequestCut::server(length, Some(hash(first)), VALUES));
        }
        let command = words(content).take(before).flat_map(|word| [word, b" "].concat()).collect();
        let before: usize = words_end(content, before);
        self.keys = Some(Keys { command, skipped: before, content: content.len(), length });
        None
    }

    /// Cuts the part of the line with the next key.
    fn next_key(&mut self, window: &[u8]) -> Step<RequestCut> {
        let Some(keys) = &mut self.keys else { return more(window) };
        let Some(content) = window.get(..keys.content) else { return Step::More(keys.length) };
        let key = words(&content[keys.skipped..]).next().unwrap_or_default();
        let end = keys.skipped + words_end(&content[keys.skipped..], 1);
        let is_last = content[end..].iter().all(|byte| *byte == b' ');
        let (length, expect) = if is_last { (keys.length, VALUES) } else { (end, SOME_VALUES) };
        let bytes = Bytes::from([&keys.command, key, b"\r\n"].concat());
        let cut = RequestCut::server(length, Some(hash(key)), expect);
        if is_last {
            *self = Scanner::default();
        } else {
            (keys.skipped, keys.content, keys.length) = (0, keys.content - end, keys.length - end);
        }
        Step::Done(RequestCut { rewritten: Some(bytes), ..cut })
    }

    /// Goes over the data of a request.
    fn data(&mut self, window: &[u8]) -> Result<Step<RequestCut>, Reason> {
        let Some(mut data) = self.data.take() else { return Ok(more(window)) };
        match self.cursor.block(&mut data.left, window) {
            Err(needed) => {
                self.data = Some(data);
                return Ok(Step::More(needed));
            }
            Ok(false) => return Err(Reason::Malformed("bad data chunk")),
            Ok(true) => {}
        }
        let length = std::mem::take(&mut self.cursor).at;
        Ok(Step::Done(RequestCut { route: data.route, ..RequestCut::local(length, "") }))
    }
}

/// Bytes up to the end of this many words.
fn words_end(content: &[u8], count: usize) -> usize {
    let mut at = 0;
    for _ in 0..count {
        let behind = &content[at..];
        at += behind.iter().take_while(|byte| **byte == b' ').count();
        at += content[at..].iter().take_while(|byte| **byte != b' ').count();
    }
    at
}

#[cfg(test)]
mod tests {
    use super::super::{NOREPLY, QUIET};
    use super::*;

    /// Cuts all requests: the bytes that each takes, and the cut.
    fn cuts(stream: &str) -> Vec<(&str, RequestCut)> {
        let (mut scanner, mut rest, mut found) = (Scanner::default(), stream, Vec::new());
        while let Ok(Step::Done(cut)) = scanner.scan(rest.as_bytes()) {
            let (taken, behind) = rest.split_at(cut.length);
            found.push((taken, cut));
            rest = behind;
        }
        found
    }

    #[test]
    fn requests_end_behind_their_data() {
        let stream = "set a 0 0 5\r\nx\r\nyz\r\nget a\r\nms b 2 q\r\nhi\r\nincr c 1 noreply\r\n";
        let expected = [
            ("set a 0 0 5\r\nx\r\nyz\r\n", "a", Expect::ORDINARY),
            ("get a\r\n", "a", VALUES),
            ("ms b 2 q\r\nhi\r\n", "b", QUIET),
            ("incr c 1 noreply\r\n", "c", NOREPLY),
        ];
        let expected = expected.map(|(bytes, key, expect)| {
            (bytes, RequestCut::server(bytes.len(), Some(hash(key.as_bytes())), expect))
        });
        assert_eq!(cuts(stream), expected);
    }

    #[test]
    fn some_commands_are_for_any_server_and_others_for_all() {
        let version = RequestCut::server(9, None, Expect::ORDINARY);
        assert_eq!(cuts("version\r\n"), [("version\r\n", version)]);
        let [(_, flush)] = &cuts("flush_all noreply\r\n")[..] else { panic!("one request") };
        assert_eq!(flush.route, Route::All(NOREPLY, gather()));
    }

    #[test]
    fn a_get_of_several_keys_is_cut() {
        let found = cuts("gat  7 a  b c  \r\nget x\n");
        let expected = [
            ("gat  7 a", "gat 7 a\r\n", SOME_VALUES, "a"),
            ("  b", "gat 7 b\r\n", SOME_VALUES, "b"),
            (" c  \r\n", "gat 7 c\r\n", VALUES, "c"),
        ];
        assert_eq!(found.len(), 4);
        for ((taken, cut), (bytes, rewritten, expect, key)) in found.iter().zip(expected) {
            assert_eq!(*taken, bytes);
            assert_eq!(cut.rewritten.as_deref(), Some(rewritten.as_bytes()));
            let key = Some(hash(key.as_bytes()));
            assert_eq!(cut.route, Route::Server { key, expect });
        }
        assert_eq!(found[3], ("get x\n", RequestCut::server(6, Some(hash(b"x")), VALUES)));
    }

    #[test]
    fn data_of_a_key_that_is_too_long_is_skipped() {
        let set = format!("set {} 0 0 2\r\nhi\r\n", "k".repeat(251));
        assert_eq!(cuts(&set), [(&set[..], RequestCut::local(set.len(), key_too_long(VALUES)))]);
        let quiet = format!("set {} 0 0 2 noreply\r\nhi\r\n", "k".repeat(251));
        assert_eq!(cuts(&quiet), [(&quiet[..], RequestCut::local(quiet.len(), ""))]);
        let get = format!("get a {}\r\n", "k".repeat(251));
        assert_eq!(cuts(&get), [(&get[..], RequestCut::local(get.len(), key_too_long(VALUES)))]);
    }

    #[test]
    fn what_cannot_be_cut_is_refused() {
        let scan = |bytes: &[u8]| Scanner::default().scan(bytes);
        let binary = scan(&[BINARY, 0]).unwrap_err();
        assert!(binary.to_string().contains("binary protocol"), "{binary}");
        let chunk = Reason::Malformed("bad data chunk");
        assert_eq!(scan(b"set a 0 0 1\r\nxyz"), Err(chunk));
        let long = Reason::Malformed("too large command line");
        assert_eq!(scan(&[b'x'; 2049]), Err(long.clone()));
        assert_eq!(scan(format!("incr a {}\r\n", "1".repeat(2048)).as_bytes()), Err(long));
        let spaces = format!("gats 0{}a\r\n", " ".repeat(2048));
        assert_eq!(cuts(&spaces)[0].1.rewritten.as_deref(), Some(&b"gats 0 a\r\n"[..]));
        let keys = format!("get{}\r\n", " key".repeat(1000));
        assert_eq!(cuts(&keys).len(), 1000);
        assert!(matches!(scan(b"set a 0 0 2147483645\r\n"), Ok(Step::More(2_147_483_669))));
    }
}
