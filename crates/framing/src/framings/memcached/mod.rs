//! The text protocol of memcached, with its meta commands.
//!
//! Source: `doc/protocol.txt` of memcached,
//! <https://github.com/memcached/memcached/blob/master/doc/protocol.txt>. Limits that the text
//! leaves open are those of memcached 1.6.
//!
//! A server does not answer a command with `noreply`, unless it finds a mistake, and answers a
//! quiet meta command only in some cases. A probe is written behind such a command: `version` or
//! `mn`. What the server sends before it answers the probe is the answer to the command.

mod answer;
mod command;
mod gather;
mod request;

use bytes::Bytes;

use crate::request::Expect;
use crate::scan::{Entry, first_word, printable};
use crate::violation::Reason;

pub const ENTRY: Entry = Entry {
    name: "memcached",
    summary: "memcached: the text protocol and its meta commands, without the binary protocol.",
    requests: |_| Box::new(request::Scanner::default()),
    answers: || Box::new(answer::Scanner::default()),
    streams: false,
    probe: |expect| match expect {
        NOREPLY => b"version\r\n",
        QUIET => b"mn\r\n",
        _ => b"",
    },
    opening: |_| b"",
    refusal: |reason| match reason {
        Reason::TooLong { .. } => {
            Bytes::from_static(b"SERVER_ERROR object too large for cache\r\n")
        }
        reason => error(&reason.to_string()),
    },
    is_store: true,
    may_repeat: |request| matches!(first_word(request), b"get" | b"gets"),
    failure: |expect, message| match expect {
        // A value that is missing is one that the cache does not have.
        SOME_VALUES | NOREPLY => Some(Bytes::new()),
        _ => Some(format!("SERVER_ERROR {}\r\n", printable(message.as_bytes())).into()),
    },
};

/// Values, and a line that ends them.
const VALUES: Expect = Expect::from_code(1);
/// Values for a longer `get`, of which this is not the last part. The line that ends them is
/// removed.
const SOME_VALUES: Expect = Expect::from_code(2);
/// What the server sends before it answers `version`.
const NOREPLY: Expect = Expect::from_code(3);
/// What the server sends before it answers `mn`.
const QUIET: Expect = Expect::from_code(4);

/// The answer to a mistake of the client.
fn error(text: &str) -> Bytes {
    Bytes::from(format!("CLIENT_ERROR {text}\r\n"))
}
