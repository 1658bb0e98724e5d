//! What a command line says.

use bytes::Bytes;

use crate::request::Expect;
use crate::scan::{decimal, printable};
use crate::violation::Reason;

use super::{NOREPLY, QUIET, error};

/// Bytes that a key may have (`KEY_MAX_LENGTH`).
const LONGEST_KEY: usize = 250;
/// Flags that a meta command may have. Each may stand once, and fewer are defined. memcached does
/// not read the data behind a command with too many words.
const MOST_FLAGS: usize = 16;
/// Bytes that a value may have, whatever a server is configured to.
const LONGEST_VALUE: u64 = i32::MAX as u64 - 2;

/// A command line.
#[derive(Debug, PartialEq, Eq)]
pub enum Command<'a> {
    /// The gateway answers.
    Local(Bytes),
    /// The client leaves.
    Quit,
    /// Values are asked for: words of the line before the first key. There is at least one key.
    Get { before: usize },
    /// Any server answers.
    Any,
    /// All servers answer.
    All { expect: Expect },
    /// No data follows.
    Plain { key: &'a [u8], expect: Expect },
    /// A data block of this length follows, and the end of its line. The gateway answers if the key
    /// is too long.
    Data { key: &'a [u8], expect: Expect, length: usize },
}

/// The words of a line.
pub fn words(line: &[u8]) -> impl Iterator<Item = &[u8]> {
    line.split(|byte| *byte == b' ').filter(|word| !word.is_empty())
}

/// Whether the line asks for values: such a line may be long.
pub fn is_get(line: &[u8]) -> bool {
    matches!(words(line).next(), Some(b"get" | b"gets" | b"gat" | b"gats"))
}

/// Whether a server takes the key.
pub fn is_key(key: &[u8]) -> bool {
    key.len() <= LONGEST_KEY
}

/// The answer to a request whose key is too long.
pub fn key_too_long(expect: Expect) -> Bytes {
    if expect == NOREPLY { Bytes::new() } else { error("a key has more than 250 bytes") }
}

/// Reads a command line without its end.
pub fn read(line: &[u8]) -> Result<Command<'_>, Reason> {
    // memcached takes the line to end there.
    if line.contains(&0) {
        return Err(Reason::Malformed("zero byte in a command line"));
    }
    // One word more than any command needs, so that too many words show.
    let all: Vec<&[u8]> = words(line).take(MOST_FLAGS + 4).collect();
    let expect = if words(line).last() == Some(b"noreply") { NOREPLY } else { Expect::ORDINARY };
    Ok(match all[..] {
        [b"get" | b"gets", _, ..] => Command::Get { before: 1 },
        [b"gat" | b"gats", time, _, ..] if is_time(time) => Command::Get { before: 2 },
        [b"gat" | b"gats", time] if is_time(time) => Command::Local(Bytes::from_static(b"END\r\n")),
        [b"gat" | b"gats", _, ..] => Command::Local(error("invalid exptime argument")),
        [b"set" | b"add" | b"replace" | b"append" | b"prepend", ref rest @ ..] => {
            storage(rest, false)?
        }
        [b"cas", ref rest @ ..] => storage(rest, true)?,
        [b"delete" | b"incr" | b"decr" | b"touch", key, ..] => plain(key, expect),
        [b"ms", ref rest @ ..] => meta_set(rest)?,
        [b"mg" | b"md" | b"ma", key, ref flags @ ..] if flags.len() <= MOST_FLAGS => {
            plain(key, quiet(flags))
        }
        [b"mg" | b"md" | b"ma", ..] if all.len() > 1 => {
            Command::Local(error("a meta command has more than 16 flags"))
        }
        [b"me", key, ..] => plain(key, Expect::ORDINARY),
        [b"me"] => Command::Local(error("bad command line format")),
        [b"mn", ..] => Command::Local(Bytes::from_static(b"MN\r\n")),
        [b"version", ..] => Command::Any,
        [b"flush_all" | b"verbosity", ..] => Command::All { expect },
        [b"quit"] => Command::Quit,
        [..] if expect == NOREPLY && is_silent(&all) => Command::Local(Bytes::new()),
        [verb, ..] if is_of_server(verb) => Command::Local(error(&format!(
            "{} is not supported by the gateway: it concerns one server as a whole: \
            connect to that server directly",
            printable(verb)
        ))),
        _ => Command::Local(Bytes::from_static(b"ERROR\r\n")),
    })
}

fn is_of_server(verb: &[u8]) -> bool {
    matches!(
        verb,
        b"stats"
            | b"cache_memlimit"
            | b"shutdown"
            | b"slabs"
            | b"lru"
            | b"lru_crawler"
            | b"watch"
            | b"extstore"
            | b"refresh_certs"
    )
}

/// Whether a server has no answer to this command, which concerns it as a whole and ends in
/// `noreply`. Others are answered in spite of that.
fn is_silent(words: &[&[u8]]) -> bool {
    matches!(
        words,
        [b"cache_memlimit", _]
            | [b"cache_memlimit", _, _]
            | [b"slabs", b"automove", _, _]
            | [b"lru" | b"extstore", ..]
    )
}

fn plain(key: &[u8], expect: Expect) -> Command<'_> {
    if is_key(key) { Command::Plain { key, expect } } else { Command::Local(key_too_long(expect)) }
}

/// What stands behind the name of a storage command. A server that cannot read it does not read the
/// data behind it either, so a mistake ends the connection.
fn storage<'a>(words: &[&'a [u8]], is_cas: bool) -> Result<Command<'a>, Reason> {
    let wrong = Reason::Malformed("bad command line format");
    let (words, expect) = match words {
        [words @ .., b"noreply"] => (words, NOREPLY),
        words => (words, Expect::ORDINARY),
    };
    let (words, cas) = match words {
        [words @ .., cas] if is_cas => (words, decimal(cas)),
        words => (words, Some(0)),
    };
    let [key, flags, time, length] = words[..] else { return Err(wrong) };
    let flags = decimal(flags).filter(|flags| *flags <= u32::MAX.into());
    match (flags, cas, value_length(length)) {
        (Some(_), Some(_), Some(length)) if is_time(time) => {
            Ok(Command::Data { key, expect, length })
        }
        _ => Err(wrong),
    }
}

/// What stands behind `ms`.
fn meta_set<'a>(words: &[&'a [u8]]) -> Result<Command<'a>, Reason> {
    let length = words.get(1).and_then(|length| value_length(length));
    match (words, length) {
        ([key, _, flags @ ..], Some(length)) if flags.len() <= MOST_FLAGS => {
            Ok(Command::Data { key, expect: quiet(flags), length })
        }
        _ => Err(Reason::Malformed("bad command line format")),
    }
}

/// Whether every version of memcached reads the word as a time.
fn is_time(word: &[u8]) -> bool {
    let digits = word.strip_prefix(b"-").unwrap_or(word);
    digits.len() <= 10 && decimal(digits).is_some_and(|time| time <= i32::MAX as u64)
}

fn value_length(digits: &[u8]) -> Option<usize> {
    let length = decimal(digits).filter(|length| *length <= LONGEST_VALUE)?;
    usize::try_from(length).ok()
}

/// Only the first letter of a flag without a value counts.
fn quiet(flags: &[&[u8]]) -> Expect {
    if flags.iter().any(|flag| flag.first() == Some(&b'q')) { QUIET } else { Expect::ORDINARY }
}

#[cfg(test)]
mod tests {
    use super::*;

    const ORDINARY: Expect = Expect::ORDINARY;

    #[test]
    fn lines_say_what_follows() {
        let plain = |expect| Command::Plain { key: b"k", expect };
        let data = |expect, length| Command::Data { key: b"k", expect, length };
        for (line, expected) in [
            ("get a b", Command::Get { before: 1 }),
            ("  gats  0 a", Command::Get { before: 2 }),
            ("set k 0 0 5", data(ORDINARY, 5)),
            ("set  k 4294967295 -1 5  noreply ", data(NOREPLY, 5)),
            ("append k 0 2147483647 0", data(ORDINARY, 0)),
            ("cas k 0 0 5 18446744073709551615", data(ORDINARY, 5)),
            ("cas k 0 0 5 1 noreply", data(NOREPLY, 5)),
            ("delete k", plain(ORDINARY)),
            ("delete k 0 noreply", plain(NOREPLY)),
            ("incr k 1", plain(ORDINARY)),
            ("decr k x noreply", plain(NOREPLY)),
            ("touch k 0", plain(ORDINARY)),
            ("mg k", plain(ORDINARY)),
            ("mg k v q", plain(QUIET)),
            ("md k q", plain(QUIET)),
            ("ma k N0 J5 v", plain(ORDINARY)),
            ("me k", plain(ORDINARY)),
            ("ms k 2 T0", data(ORDINARY, 2)),
            ("ms k 2 q Oq", data(QUIET, 2)),
            ("version noreply", Command::Any),
            ("flush_all 10", Command::All { expect: ORDINARY }),
            ("flush_all noreply", Command::All { expect: NOREPLY }),
            ("verbosity 1", Command::All { expect: ORDINARY }),
            ("quit", Command::Quit),
        ] {
            assert_eq!(read(line.as_bytes()), Ok(expected), "{line}");
        }
    }

    #[test]
    fn the_gateway_answers_what_is_not_for_a_server() {
        let long = format!("incr {} 1", "k".repeat(251));
        let flags = format!("mg k{} q", " O1".repeat(100));
        for (line, expected) in [
            ("mn", "MN\r\n"),
            ("", "ERROR\r\n"),
            ("get", "ERROR\r\n"),
            ("gat 0", "END\r\n"),
            ("gat", "ERROR\r\n"),
            ("stats noreply", "CLIENT_ERROR stats is not supported by the gateway: "),
            ("gat x a", "CLIENT_ERROR invalid exptime argument\r\n"),
            ("gat 00000000000 a", "CLIENT_ERROR invalid exptime argument\r\n"),
            ("GET a", "ERROR\r\n"),
            ("mg", "ERROR\r\n"),
            ("cache_memlimit 64 noreply", ""),
            ("stats", "CLIENT_ERROR stats is not supported by the gateway: "),
            ("slabs", "CLIENT_ERROR slabs is not supported by the gateway: "),
            (&flags, "CLIENT_ERROR a meta command has more than 16 flags\r\n"),
            (&long, "CLIENT_ERROR a key has more than 250 bytes\r\n"),
        ] {
            let Ok(Command::Local(answer)) = read(line.as_bytes()) else { panic!("{line}") };
            let is_short = expected.ends_with(' ');
            let answer = String::from_utf8(answer.to_vec()).unwrap();
            assert!(answer == expected || is_short && answer.starts_with(expected), "{answer}");
        }
    }

    #[test]
    fn a_storage_command_that_a_server_would_not_read_is_refused() {
        let flags = format!("ms k 2{}", " O1".repeat(17));
        for line in [
            "set k 0 0",
            "set k x 0 1",
            "set k 4294967296 0 1",
            "set k 0 x 1",
            "set k 0 2147483648 1",
            "set k 0 0 -1",
            "set k 0 0 2147483646",
            "set k 0 0 1 other",
            "cas k 0 0 1",
            "cas k 0 0 1 x",
            "cas k 0 0 1 18446744073709551616",
            "ms k",
            "ms k S2",
            "ms k -2",
            &flags,
            "get a\0b",
        ] {
            assert!(matches!(read(line.as_bytes()), Err(Reason::Malformed(_))), "{line}");
        }
    }
}
