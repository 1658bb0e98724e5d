//! Messages behind their length.
//!
//! The length is an integer of 4 bytes, big-endian, and does not count itself. It stays in the
//! bytes of the request and of the answer. Nothing is known of the content, so no request has a
//! routing key.

use bytes::Bytes;

use crate::request::Expect;
use crate::scan::{AnswerCut, AnswerScanner, Entry, RequestCut, RequestScanner, Step};
use crate::violation::Reason;

pub const ENTRY: Entry = Entry {
    name: "length-prefix",
    summary: "Requests and answers stand behind their length, 4 bytes, big-endian.",
    requests: |_| Box::new(LengthPrefix),
    answers: || Box::new(LengthPrefix),
    probe: |_| b"",
    refusal: |_| Bytes::new(),
    is_store: false,
    may_repeat: |_| false,
    failure: |_, _| None,
};

const PREFIX: usize = 4;

#[derive(Debug)]
struct LengthPrefix;

/// The length of the first message, with its prefix.
fn message(window: &[u8]) -> Step<usize> {
    let Some(prefix) = window.first_chunk::<PREFIX>() else { return Step::More(PREFIX) };
    let content = usize::try_from(u32::from_be_bytes(*prefix)).unwrap_or(usize::MAX);
    let length = content.saturating_add(PREFIX);
    if length <= window.len() { Step::Done(length) } else { Step::More(length) }
}

impl RequestScanner for LengthPrefix {
    fn scan(&mut self, window: &[u8]) -> Result<Step<RequestCut>, Reason> {
        Ok(match message(window) {
            Step::Done(length) => Step::Done(RequestCut::server(length, None, Expect::ORDINARY)),
            Step::More(length) => Step::More(length),
        })
    }
}

impl AnswerScanner for LengthPrefix {
    fn scan(&mut self, _: Expect, window: &[u8]) -> Result<Step<AnswerCut>, Reason> {
        Ok(match message(window) {
            Step::Done(length) => Step::Done(AnswerCut::whole(length)),
            Step::More(length) => Step::More(length),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_prefix_says_where_a_message_ends() {
        assert_eq!(message(&[]), Step::More(4));
        assert_eq!(message(&[0, 0, 0]), Step::More(4));
        assert_eq!(message(&[0, 0, 0, 0]), Step::Done(4));
        assert_eq!(message(&[0, 0, 1, 2, 9]), Step::More(262));
        assert_eq!(message(&[0, 0, 0, 2, 7, 8, 9]), Step::Done(6));
        assert_eq!(message(&[0xff; 9]), Step::More(0x1_0000_0003));
    }
}
