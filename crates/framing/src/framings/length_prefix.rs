//! Messages behind their length.
//!
//! The length is an integer of 4 bytes, big-endian, and does not count itself. It stays in the
//! bytes of the request and of the answer. Nothing is known of the content, so no request has a
//! routing key.

use bytes::Bytes;

use crate::request::Expect;
use crate::scan::{AnswerCut, AnswerScanner, Cursor, Entry, RequestCut, RequestScanner, Step};
use crate::violation::Reason;

pub const ENTRY: Entry = Entry {
    name: "length-prefix",
    summary: "Requests and answers stand behind their length, 4 bytes, big-endian.",
    requests: |_| Box::new(Requests),
    answers: || Box::new(Answers::default()),
    streams: false,
    probe: |_| b"",
    opening: |_| b"",
    refusal: |_| Bytes::new(),
    is_store: false,
    may_repeat: |_| false,
    failure: |_, _| None,
};

const PREFIX: usize = 4;

/// The length of the first message, with its prefix.
fn message(window: &[u8]) -> Option<u64> {
    let prefix = window.first_chunk::<PREFIX>()?;
    Some(u64::from(u32::from_be_bytes(*prefix)) + PREFIX as u64)
}

#[derive(Debug)]
struct Requests;

impl RequestScanner for Requests {
    fn scan(&mut self, window: &[u8]) -> Result<Step<RequestCut>, Reason> {
        let Some(length) = message(window) else { return Ok(Step::More(PREFIX)) };
        let length = usize::try_from(length).unwrap_or(usize::MAX);
        Ok(match length <= window.len() {
            true => Step::Done(RequestCut::server(length, None, Expect::ORDINARY)),
            false => Step::More(length),
        })
    }
}

#[derive(Debug, Default)]
struct Answers {
    cursor: Cursor,
    /// Bytes of the message that are not read; `None` before its length.
    left: Option<u64>,
}

impl AnswerScanner for Answers {
    fn scan(&mut self, _: Expect, window: &[u8]) -> Result<Step<AnswerCut>, Reason> {
        let Some(left) = self.left.or_else(|| message(window)) else {
            return Ok(Step::More(PREFIX));
        };
        if let Err(needed) = self.cursor.skip(self.left.insert(left), window) {
            return Ok(Step::More(needed));
        }
        let length = std::mem::take(self).cursor.at;
        Ok(Step::Done(AnswerCut::whole(length)))
    }

    fn ready(&self) -> usize {
        self.cursor.at
    }

    fn pass(&mut self, count: usize) {
        self.cursor.pass(count);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_prefix_says_where_a_message_ends() {
        for (window, request) in [
            (&[][..], Err(4)),
            (&[0, 0, 0], Err(4)),
            (&[0, 0, 0, 0], Ok(4)),
            (&[0, 0, 1, 2, 9], Err(262)),
            (&[0, 0, 0, 2, 7, 8, 9], Ok(6)),
            (&[0xff; 9], Err(0x1_0000_0003)),
        ] {
            let (asked, answered) = match request {
                Err(needed) => (Step::More(needed), Step::More(needed)),
                Ok(length) => (
                    Step::Done(RequestCut::server(length, None, Expect::ORDINARY)),
                    Step::Done(AnswerCut::whole(length)),
                ),
            };
            assert_eq!(Requests.scan(window), Ok(asked), "{window:?}");
            let answer = Answers::default().scan(Expect::ORDINARY, window);
            assert_eq!(answer, Ok(answered), "{window:?}");
        }
    }
}
