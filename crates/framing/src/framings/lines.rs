//! Requests and answers of one line each.
//!
//! A line ends with a newline, which belongs to it. The routing key of a request is the line up to
//! the first space, tab, carriage return or newline.

use bytes::Bytes;

use crate::hash::hash;
use crate::request::Expect;
use crate::scan::{
    AnswerCut, AnswerScanner, Cursor, Entry, RequestCut, RequestScanner, Step, more,
};
use crate::violation::Reason;

pub const ENTRY: Entry = Entry {
    name: "lines",
    summary: "A request is a line, and so is its answer.",
    requests: |_| Box::new(Lines::default()),
    answers: || Box::new(Lines::default()),
    streams: false,
    probe: |_| b"",
    opening: |_| b"",
    refusal: |_| Bytes::new(),
    is_store: false,
    may_repeat: |_| false,
    failure: |_, _| None,
};

#[derive(Debug, Default)]
struct Lines(Cursor);

impl RequestScanner for Lines {
    fn scan(&mut self, window: &[u8]) -> Result<Step<RequestCut>, Reason> {
        let Some(line) = self.0.line(window) else { return Ok(more(window)) };
        self.0 = Cursor::default();
        let word = line.split(|byte| b" \t\r".contains(byte)).next().unwrap_or(line);
        let cut = RequestCut::server(line.len() + 1, Some(hash(word)), Expect::ORDINARY);
        Ok(Step::Done(cut))
    }
}

impl AnswerScanner for Lines {
    fn scan(&mut self, _: Expect, window: &[u8]) -> Result<Step<AnswerCut>, Reason> {
        if self.0.text(window).is_none() {
            return Ok(more(window));
        }
        Ok(Step::Done(AnswerCut::whole(std::mem::take(&mut self.0).at)))
    }

    fn ready(&self) -> usize {
        self.0.at
    }

    fn pass(&mut self, count: usize) {
        self.0.pass(count);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_is_routed_by_its_first_word() {
        let mut lines = Lines::default();
        let mut cut = |window: &[u8]| RequestScanner::scan(&mut lines, window);
        assert_eq!(cut(b"user7 bal"), Ok(Step::More(10)));
        let key = Some(hash(b"user7"));
        let expected = |length| Ok(Step::Done(RequestCut::server(length, key, Expect::ORDINARY)));
        assert_eq!(cut(b"user7 balance\nuser8"), expected(14));
        assert_eq!(cut(b"user7\r\n"), expected(7));
        assert_eq!(cut(b"user7\t\n"), expected(7));
        let empty = RequestCut::server(1, Some(hash(b"")), Expect::ORDINARY);
        assert_eq!(cut(b"\n"), Ok(Step::Done(empty)));
    }

    #[test]
    fn an_answer_is_a_line() {
        let mut lines = Lines::default();
        let mut cut = |window: &[u8]| AnswerScanner::scan(&mut lines, Expect::ORDINARY, window);
        assert_eq!(cut(b"4"), Ok(Step::More(2)));
        assert_eq!(cut(b"42\n43\n"), Ok(Step::Done(AnswerCut::whole(3))));
    }
}
