//! Where an answer ends: one value of RESP2 or RESP3, with the attributes in front of it.

use crate::request::Expect;
use crate::scan::{AnswerCut, AnswerScanner, Cursor, Step, decimal, more};
use crate::violation::Reason;

/// What Redis says, as its last words, to a client whose request it cannot read (`setProtocolError`
/// in `networking.c`).
const LAST_WORDS: &[u8] = b"-ERR Protocol error: ";
/// Bytes of a line from which on text is not held until the line ends. The last words are shorter.
const LONG: usize = 64;

/// Finds the ends of values.
///
/// An aggregate adds its elements to the values that are missing, so nesting of any depth takes one
/// number and no recursion.
#[derive(Debug, Default)]
pub struct Scanner {
    cursor: Cursor,
    /// Values that are not read; `None` before the first line.
    missing: Option<u64>,
    /// Bytes of the blob whose header was read that are left, with the end of its line.
    blob: Option<u64>,
    /// Whether a long line of text is being read.
    is_text: bool,
    /// Whether the answer begins as the server's last words do. A script may say the same, so they
    /// are the last only if the connection ends behind them.
    are_last_words: bool,
}

impl AnswerScanner for Scanner {
    fn scan(&mut self, _: Expect, window: &[u8]) -> Result<Step<AnswerCut>, Reason> {
        loop {
            if let Some(left) = &mut self.blob {
                match self.cursor.block(left, window) {
                    Err(needed) => return Ok(Step::More(needed)),
                    Ok(false) => return Err(Reason::Malformed("no end of line behind a string")),
                    Ok(true) => self.blob = None,
                }
            }
            if self.is_text {
                let Some(text) = self.cursor.text(window) else { return Ok(more(window)) };
                self.is_text = false;
                without_end(text)?;
            }
            if self.missing == Some(0) {
                if self.are_last_words && self.cursor.at == window.len() {
                    return Ok(more(window));
                }
                let length = std::mem::take(self).cursor.at;
                return Ok(Step::Done(AnswerCut::whole(length)));
            }
            let begun = window.get(self.cursor.at..).unwrap_or_default();
            let is_first = self.missing.is_none();
            if let Some(line) = self.cursor.line(window) {
                let missing = self.missing.unwrap_or(1);
                self.are_last_words |= is_first && line.starts_with(LAST_WORDS);
                self.missing = Some(self.header(without_end(line)?, is_first, missing - 1)?);
            } else if begun.len() >= LONG && is_text(begun[0]) {
                self.are_last_words |= is_first && begun.starts_with(LAST_WORDS);
                self.missing = Some(self.missing.unwrap_or(1) - 1);
                self.is_text = true;
            } else {
                return Ok(more(window));
            }
        }
    }

    fn ready(&self) -> usize {
        self.cursor.at
    }

    fn pass(&mut self, count: usize) {
        self.cursor.pass(count);
    }

    fn ends_with_connection(&self) -> bool {
        self.are_last_words && self.missing == Some(0) && !self.is_text
    }
}

/// Whether a value of this kind is a line of text and nothing else.
fn is_text(kind: u8) -> bool {
    b"+-:_#,(".contains(&kind)
}

fn without_end(line: &[u8]) -> Result<&[u8], Reason> {
    let wrong = Reason::Malformed("a line of an answer ends without a carriage return");
    line.strip_suffix(b"\r").ok_or(wrong)
}

impl Scanner {
    /// Reads the first line of a value. Returns how many are missing behind it, if `missing` were
    /// before, without itself.
    fn header(&mut self, line: &[u8], is_first: bool, missing: u64) -> Result<u64, Reason> {
        let Some((kind, rest)) = line.split_first() else {
            return Err(Reason::Malformed("a line of an answer is empty"));
        };
        match kind {
            kind if is_text(*kind) => Ok(missing),
            b'$' | b'!' | b'=' => {
                self.blob = length(rest)?.map(|length| length.saturating_add(2));
                Ok(missing)
            }
            b'>' if is_first => Err(Reason::Unsupported("a push message answers nothing")),
            b'*' | b'~' | b'>' => aggregate(rest, 1, missing),
            b'%' => aggregate(rest, 2, missing),
            // The value that the attributes describe is still missing.
            b'|' => aggregate(rest, 2, missing.saturating_add(1)),
            _ => Err(Reason::Malformed("an answer has an unknown type")),
        }
    }
}

/// Adds the elements of an aggregate, of so many values each, to those that are missing.
fn aggregate(rest: &[u8], values: u64, missing: u64) -> Result<u64, Reason> {
    let count = length(rest)?.unwrap_or(0).checked_mul(values);
    let missing = count.and_then(|count| count.checked_add(missing));
    missing.ok_or(Reason::Malformed("an answer has too many values"))
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

    /// A script may answer with the same words, and then the connection goes on.
    #[test]
    fn last_words_end_with_the_connection_or_before_the_next_answer() {
        let long = format!("-ERR Protocol error: {}\r\n", "x".repeat(100));
        for words in ["-ERR Protocol error: too big bulk count string\r\n", &long] {
            let mut scanner = Scanner::default();
            for length in 0..words.len() {
                let begun = scanner.scan(Expect::ORDINARY, &words.as_bytes()[..length]);
                assert!(matches!(begun, Ok(Step::More(_))), "{words:?} at {length}");
                assert!(!scanner.ends_with_connection(), "{words:?} at {length}");
            }
            let all = scanner.scan(Expect::ORDINARY, words.as_bytes());
            assert_eq!(all, Ok(Step::More(words.len() + 1)));
            assert!(scanner.ends_with_connection());
            let next = scanner.scan(Expect::ORDINARY, format!("{words}+").as_bytes());
            assert_eq!(next, Ok(Step::Done(AnswerCut::whole(words.len()))));
        }
        let inside = "*1\r\n-ERR Protocol error: x\r\n";
        assert_eq!(scan(inside.as_bytes()), Ok(Step::Done(AnswerCut::whole(inside.len()))));
    }

    #[test]
    fn long_text_is_not_held() {
        let text = format!("+{}\r\n", "x".repeat(1000));
        let mut scanner = Scanner::default();
        assert_eq!(scanner.scan(Expect::ORDINARY, &text.as_bytes()[..1002]), Ok(Step::More(1003)));
        assert_eq!(scanner.ready(), 1001);
        scanner.pass(1001);
        let rest = scanner.scan(Expect::ORDINARY, b"\r\n");
        assert_eq!(rest, Ok(Step::Done(AnswerCut::whole(2))));
        let bare = format!("*1\r\n-{}\n", "x".repeat(1000));
        assert!(scan(bare.as_bytes()).is_err());
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
