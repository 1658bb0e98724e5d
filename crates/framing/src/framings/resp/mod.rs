//! RESP, the protocol of Redis: pipelined requests, as arrays of bulk strings or inline.
//!
//! Source: "Redis serialization protocol specification",
//! <https://redis.io/docs/latest/develop/reference/protocol-spec/>. Where the specification is
//! silent, requests are read as `networking.c` of Redis reads them.
//!
//! | file | what |
//! |---|---|
//! | `request.rs` | where a request ends |
//! | `arguments.rs` | the arguments of a request |
//! | `session.rs` | who answers a request, and what earlier ones mean for it |
//! | `route.rs` | which servers get a request |
//! | `keys.rs` | which arguments are keys |
//! | `parts.rs` | requests for several servers |
//! | `gather.rs` | one answer of those of several servers |
//! | `transaction.rs` | commands between `MULTI` and `EXEC`, and where their answers end |
//! | `local.rs` | commands that the gateway answers |
//! | `client.rs` | what a client says of its connection |
//! | `info.rs` | what `INFO` says |
//! | `value.rs` | values that the gateway writes |
//! | `refused.rs` | commands that the gateway refuses |
//! | `answer.rs` | where a value ends |

mod answer;
mod arguments;
mod client;
mod gather;
mod info;
mod keys;
mod local;
mod parts;
mod refused;
mod request;
mod route;
mod session;
mod transaction;
mod value;

use crate::request::Expect;
use crate::scan::{Entry, printable};
use value::error;

pub const ENTRY: Entry = Entry {
    name: "resp",
    summary: "Redis: RESP2 and RESP3 values, pipelined requests, inline commands.",
    requests: |longest| Box::new(request::Scanner::new(longest.unwrap_or(usize::MAX))),
    answers: || Box::new(transaction::Scanner::default()),
    streams: false,
    probe: |_| b"",
    opening: |expect| if is_resp3(expect) { b"HELLO 3\r\n" } else { b"" },
    refusal: |reason| error(&format!("ERR Protocol error: {reason}")),
    is_store: true,
    may_repeat: |_| false,
    failure: |_, message| Some(error(&format!("ERR {}", printable(message.as_bytes())))),
};

/// The answer is one of RESP3.
const RESP3: Expect = Expect::from_code(1);
/// The answers are those of a transaction.
const TRANSACTION: Expect = Expect::from_code(2);

/// What is known of a transaction, if this is known of each of its commands.
const fn in_transaction(expect: Expect) -> Expect {
    Expect::from_code(expect.code() | TRANSACTION.code())
}

/// Whether the answer is one of RESP3.
fn is_resp3(expect: Expect) -> bool {
    expect.code() <= 3 && expect.code() & RESP3.code() != 0
}

/// Whether the answers are those of a transaction.
fn is_transaction(expect: Expect) -> bool {
    expect.code() <= 3 && expect.code() & TRANSACTION.code() != 0
}
