//! A toy: requests and answers that end with a zero byte.

use bytes::Bytes;

use crate::request::Expect;
use crate::scan::{AnswerCut, AnswerScanner, Entry, RequestCut, RequestScanner, Step, more};
use crate::violation::Reason;

pub const ENTRY: Entry = Entry {
    name: "nul",
    summary: "A toy: requests and answers end with a zero byte.",
    requests: |_| Box::new(Nul::default()),
    answers: || Box::new(Nul::default()),
    streams: false,
    probe: |_| b"",
    opening: |_| b"",
    refusal: |_| Bytes::new(),
    is_store: false,
    may_repeat: |_| false,
    failure: |_, _| None,
};

#[derive(Debug, Default)]
struct Nul {
    /// Bytes of the answer in the last window.
    ready: usize,
}

/// Bytes up to the first zero byte, which counts.
fn length(window: &[u8]) -> Option<usize> {
    window.iter().position(|byte| *byte == 0).map(|at| at + 1)
}

impl RequestScanner for Nul {
    fn scan(&mut self, window: &[u8]) -> Result<Step<RequestCut>, Reason> {
        let cut = |length| RequestCut::server(length, None, Expect::ORDINARY);
        Ok(length(window).map_or(more(window), |length| Step::Done(cut(length))))
    }
}

impl AnswerScanner for Nul {
    fn scan(&mut self, _: Expect, window: &[u8]) -> Result<Step<AnswerCut>, Reason> {
        let length = length(window);
        self.ready = length.map_or(window.len(), |_| 0);
        Ok(length.map_or(more(window), |length| Step::Done(AnswerCut::whole(length))))
    }

    fn ready(&self) -> usize {
        self.ready
    }

    fn pass(&mut self, count: usize) {
        self.ready -= count;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_zero_byte_ends_a_message() {
        assert_eq!([length(b"ab\0c"), length(b"ab")], [Some(3), None]);
    }
}
