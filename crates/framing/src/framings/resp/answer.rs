//! Where an answer ends: one value of RESP2 or RESP3, with the attributes in front of it.
//!
//! The answers to a transaction are those to its commands (see `transaction.rs`).

use crate::request::Expect;
use crate::scan::{AnswerCut, AnswerScanner, Cursor, Step, decimal, more};
use crate::violation::Reason;

/// Finds the ends of values.
///
/// An aggregate adds its elements to the values that are missing, so nesting of any depth takes one
/// number and no recursion.
#[derive(Debug, Default)]
pub struct Scanner {
    cursor: Cursor,
    /// Values that are not read, less the first.
    missing: u64,
    /// Length of the blob whose header was read, with the end of its line.
    blob: Option<usize>,
}

impl AnswerScanner for Scanner {
    fn scan(&mut self, _: Expect, window: &[u8]) -> Result<Step<AnswerCut>, Reason> {
        loop {
            if let Some(length) = self.blob {
                if let Err(needed) = self.cursor.skip(length, window) {
                    return Ok(Step::More(needed));
                }
                if !window[..self.cursor.at].ends_with(b"\r\n") {
                    return Err(Reason::Malformed("no end of line behind a string"));
                }
                self.blob = None;
                self.missing = self.missing.saturating_sub(1);
            }
            if self.cursor.at > 0 && self.missing == 0 {
                let length = self.cursor.at;
                *self = Scanner::default();
                return Ok(Step::Done(AnswerCut::whole(length)));
            }
            let is_first = self.cursor.at == 0;
            let Some(line) = self.cursor.line(window) else { return Ok(more(window)) };
            if is_first {
                self.missing = 1;
            }
            self.header(line, is_first)?;
        }
    }
}

impl Scanner {
    /// Reads the first line of a value.
    fn header(&mut self, line: &[u8], is_first: bool) -> Result<(), Reason> {
        let line = line.strip_suffix(b"\r");
        let Some([kind, rest @ ..]) = line else {
            return Err(Reason::Malformed("a line of an answer ends without a carriage return"));
        };
        match kind {
            b'+' | b'-' | b':' | b'_' | b'#' | b',' | b'(' => self.missing -= 1,
            b'$' | b'!' | b'=' => match length(rest)? {
                None => self.missing -= 1,
                Some(length) => {
                    let length = usize::try_from(length).unwrap_or(usize::MAX);
                    self.blob = Some(length.saturating_add(2));
                }
            },
            b'>' if is_first => return Err(Reason::Unsupported("a push message answers nothing")),
            b'*' | b'~' | b'>' => self.aggregate(rest, 1, 1)?,
            b'%' => self.aggregate(rest, 2, 1)?,
            // The value that the attributes describe is still missing.
            b'|' => self.aggregate(rest, 2, 0)?,
            _ => return Err(Reason::Malformed("an answer has an unknown type")),
        }
        Ok(())
    }

    fn aggregate(&mut self, rest: &[u8], values: u64, is_one: u64) -> Result<(), Reason> {
        let count = length(rest)?.unwrap_or(0).checked_mul(values);
        let missing = count.and_then(|count| count.checked_add(self.missing - is_one));
        self.missing = missing.ok_or(Reason::Malformed("an answer has too many values"))?;
        Ok(())
    }
}

/// The length in a header; `None` for RESP2's null.
fn length(digits: &[u8]) -> Result<Option<u64>, Reason> {
    match digits {
        b"-1" => Ok(None),
        b"?" => Err(Reason::Unsupported("streamed values are not supported")),
        digits => decimal(digits).map(Some).ok_or(Reason::Malformed("a length is no number")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn scan(window: &[u8]) -> Result<Step<AnswerCut>, Reason> {
        Scanner::default().scan(Expect::ORDINARY, window)
    }

    #[test]
    fn every_type_ends() {
        for value in [
            "+OK\r\n",
            "-ERR no\r\n",
            ":-42\r\n",
            "$5\r\nhello\r\n",
            "$0\r\n\r\n",
            "$2\r\n\r\n\r\n",
            "$-1\r\n",
            "*0\r\n",
            "*-1\r\n",
            "*2\r\n$1\r\na\r\n:1\r\n",
            "*2\r\n*2\r\n:1\r\n:2\r\n*1\r\n*1\r\n+deep\r\n",
            "_\r\n",
            "#t\r\n",
            ",3.14\r\n",
            "(3492890328409238509324850943850943825024385\r\n",
            "!21\r\nSYNTAX invalid syntax\r\n",
            "=15\r\ntxt:Some string\r\n",
            "%2\r\n+first\r\n:1\r\n+second\r\n*1\r\n:2\r\n",
            "~2\r\n:1\r\n%1\r\n+a\r\n_\r\n",
            "%0\r\n",
            "|1\r\n+ttl\r\n:3600\r\n$1\r\na\r\n",
            "*2\r\n:1\r\n|1\r\n+a\r\n+b\r\n:2\r\n",
            "|0\r\n|1\r\n+a\r\n+b\r\n*0\r\n",
        ] {
            let done = Ok(Step::Done(AnswerCut::whole(value.len())));
            assert_eq!(scan(format!("{value}+next\r\n").as_bytes()), done, "{value:?}");
            for length in 0..value.len() {
                let begun = scan(&value.as_bytes()[..length]);
                assert!(matches!(begun, Ok(Step::More(_))), "{value:?} at {length}: {begun:?}");
            }
        }
    }

    #[test]
    fn nesting_costs_nothing() {
        let deep = format!("{}:1\r\n", "*1\r\n".repeat(100_000));
        assert_eq!(scan(deep.as_bytes()), Ok(Step::Done(AnswerCut::whole(deep.len()))));
    }

    #[test]
    fn what_is_no_value_is_refused() {
        let most = "*18446744073709551615\r\n";
        for wrong in [
            "x\r\n",
            "\r\n",
            "+OK\n",
            "$x\r\n",
            "$-2\r\n",
            "$1\r\nabc",
            "*?\r\n",
            "%18446744073709551615\r\n",
            &format!("*2\r\n{most}"),
            ">1\r\n+a\r\n",
        ] {
            assert!(scan(wrong.as_bytes()).is_err(), "{wrong:?}");
        }
        assert_eq!(scan(b"$18446744073709551615\r\n"), Ok(Step::More(usize::MAX)));
        assert!(matches!(scan(most.as_bytes()), Ok(Step::More(_))));
    }
}
