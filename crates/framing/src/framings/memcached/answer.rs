//! Where an answer ends.

use crate::request::Expect;
use crate::scan::{AnswerCut, AnswerScanner, Cursor, Step, decimal, more, without_cr};
use crate::violation::Reason;

use super::command::words;
use super::{NOREPLY, QUIET, SOME_VALUES, VALUES};

/// Finds the ends of answers.
#[derive(Debug, Default)]
pub struct Scanner {
    cursor: Cursor,
    /// Bytes of the data whose line was read that are left, with the end of its own line.
    data: Option<u64>,
    /// Whether the data is the last part of the answer.
    is_last: bool,
}

impl AnswerScanner for Scanner {
    fn scan(&mut self, expect: Expect, window: &[u8]) -> Result<Step<AnswerCut>, Reason> {
        loop {
            if let Some(left) = &mut self.data {
                match self.cursor.block(left, window) {
                    Err(needed) => return Ok(Step::More(needed)),
                    Ok(false) => return Err(Reason::Malformed("no end of line behind a value")),
                    Ok(true) => {}
                }
                self.data = None;
                if self.is_last {
                    return Ok(self.done(self.cursor.at));
                }
            }
            let start = self.cursor.at;
            let Some(line) = self.cursor.line(window) else { return Ok(more(window)) };
            let line = without_cr(line);
            match expect {
                VALUES | SOME_VALUES if line.starts_with(b"VALUE ") => self.value(line, 3)?,
                VALUES => return Ok(self.done(self.cursor.at)),
                SOME_VALUES => return Ok(self.done(start)),
                NOREPLY if line.starts_with(b"VERSION ") => return Ok(self.done(start)),
                QUIET if line == b"MN" => return Ok(self.done(start)),
                NOREPLY | QUIET if line.starts_with(b"VA ") => self.value(line, 1)?,
                NOREPLY | QUIET => {}
                _ if line.starts_with(b"VA ") => {
                    self.value(line, 1)?;
                    self.is_last = true;
                }
                _ => return Ok(self.done(self.cursor.at)),
            }
        }
    }

    fn ready(&self) -> usize {
        self.cursor.at
    }

    fn pass(&mut self, count: usize) {
        self.cursor.pass(count);
    }
}

impl Scanner {
    /// Notes the data behind a line, whose length is the word with this index.
    fn value(&mut self, line: &[u8], index: usize) -> Result<(), Reason> {
        let length = words(line).nth(index).and_then(decimal);
        let length = length.ok_or(Reason::Malformed("a value has no length"))?;
        self.data = Some(length.saturating_add(2));
        Ok(())
    }

    /// The answer ends here, and so many of its bytes are for the client.
    fn done(&mut self, kept: usize) -> Step<AnswerCut> {
        let length = self.cursor.at;
        *self = Scanner::default();
        Step::Done(AnswerCut { length, kept, closes: false })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn answers_end_as_their_requests_say() {
        for (expect, answer, removed) in [
            (Expect::ORDINARY, "STORED\r\n", ""),
            (Expect::ORDINARY, "42\r\n", ""),
            (Expect::ORDINARY, "HD O7\r\n", ""),
            (Expect::ORDINARY, "VA 2 t0\r\nhi\r\n", ""),
            (Expect::ORDINARY, "ME a exp=-1 la=0\r\n", ""),
            (Expect::ORDINARY, "SERVER_ERROR out of memory storing object\r\n", ""),
            (VALUES, "END\r\n", ""),
            (VALUES, "VALUE a 0 5\r\nEND\r\n\r\nEND\r\n", ""),
            (VALUES, "VALUE a 0 0 77\r\n\r\nEND\r\n", ""),
            (VALUES, "SERVER_ERROR out of memory\r\n", ""),
            (SOME_VALUES, "", "END\r\n"),
            (SOME_VALUES, "VALUE a 0 1\r\n1\r\n", "END\r\n"),
            (SOME_VALUES, "", "SERVER_ERROR out of memory\r\n"),
            (NOREPLY, "", "VERSION 1.6.18\r\n"),
            (NOREPLY, "ERROR\r\n", "VERSION 1.6.18\r\n"),
            (QUIET, "", "MN\r\n"),
            (QUIET, "VA 4 kb\r\nMN\r\n\r\n", "MN\r\n"),
            (QUIET, "CLIENT_ERROR duplicate flag\r\n", "MN\r\n"),
        ] {
            let stream = format!("{answer}{removed}VALUE next");
            let (length, kept) = (answer.len() + removed.len(), answer.len());
            let done = Ok(Step::Done(AnswerCut { length, kept, closes: false }));
            assert_eq!(Scanner::default().scan(expect, stream.as_bytes()), done, "{stream:?}");
            for length in 0..length {
                let begun = Scanner::default().scan(expect, &stream.as_bytes()[..length]);
                assert!(matches!(begun, Ok(Step::More(_))), "{stream:?} at {length}: {begun:?}");
            }
        }
    }

    #[test]
    fn values_without_a_length_are_refused() {
        for wrong in ["VALUE a 0\r\n", "VALUE a 0 x\r\n", "VALUE a 0 1\r\nxyz"] {
            assert!(Scanner::default().scan(VALUES, wrong.as_bytes()).is_err(), "{wrong:?}");
        }
        assert!(Scanner::default().scan(QUIET, b"VA x\r\n").is_err());
        let most = Scanner::default().scan(QUIET, b"VA 18446744073709551615\r\n");
        assert_eq!(most, Ok(Step::More(usize::MAX)));
    }
}
