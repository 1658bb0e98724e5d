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
//! | `route.rs` | who answers a request |
//! | `keys.rs` | which arguments are keys |
//! | `local.rs` | commands that the gateway answers |
//! | `refused.rs` | commands that the gateway refuses |
//! | `answer.rs` | where an answer ends |

mod answer;
mod arguments;
mod keys;
mod local;
mod refused;
mod request;
mod route;

use bytes::Bytes;

use crate::scan::{Entry, printable};

pub const ENTRY: Entry = Entry {
    name: "resp",
    summary: "Redis: RESP2 and RESP3 values, pipelined requests, inline commands.",
    requests: |_| Box::new(request::Scanner::default()),
    answers: || Box::new(answer::Scanner::default()),
    streams: false,
    probe: |_| b"",
    refusal: |reason| error(&format!("ERR Protocol error: {reason}")),
    is_store: true,
    may_repeat: |_| false,
    failure: |_, message| Some(error(&format!("ERR {}", printable(message.as_bytes())))),
};

/// An error reply; the first word is its code.
fn error(text: &str) -> Bytes {
    Bytes::from(format!("-{text}\r\n"))
}
