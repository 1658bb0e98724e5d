//! Transactions: commands between `MULTI` and `EXEC`.
//!
//! The gateway queues the commands of a client, and answers `QUEUED` in the server's place. `EXEC`
//! sends all of them to the server of their keys as one request, so no other client's commands come
//! between. The server answers each command, and the answer to `EXEC` is for the client.

use bytes::{Bytes, BytesMut};

use crate::request::{Expect, Part};
use crate::scan::{AnswerCut, AnswerScanner, Step, more};
use crate::violation::Reason;

use super::answer;

/// Commands that a transaction may have.
pub const MOST: usize = 65_536;
/// How the answer to `EXEC` begins if the server has refused a command.
pub const ABORTED: &[u8] = b"-EXECABORT";

const BEGIN: &[u8] = b"*1\r\n$5\r\nMULTI\r\n";
const END: &[u8] = b"*1\r\n$4\r\nEXEC\r\n";

/// Commands that wait for `EXEC`.
#[derive(Debug, Default)]
pub struct Transaction {
    /// Hash of their keys, once one has keys.
    key: Option<u64>,
    /// `MULTI`, and the commands as the client has sent them.
    commands: BytesMut,
    count: usize,
    /// Why the first command was refused that was: none is executed.
    refusal: Option<String>,
}

/// Why a command cannot be queued.
#[derive(Debug, PartialEq, Eq)]
pub enum Full {
    /// Its keys have another hash than those before.
    Apart,
    /// There are too many commands, or too many bytes.
    Long,
}

/// What `EXEC` leads to.
#[derive(Debug, PartialEq, Eq)]
pub enum Execution {
    /// Nothing, because a command was refused for this reason.
    Aborted(String),
    /// Nothing, because there are no commands.
    Empty,
    /// A request with all commands.
    Request(Part),
}

impl Transaction {
    /// Adds a command whose keys have this hash. A transaction has at most `longest` bytes.
    pub fn queue(&mut self, command: &[u8], key: Option<u64>, longest: usize) -> Result<(), Full> {
        if let (Some(known), Some(key)) = (self.key, key)
            && known != key
        {
            return Err(Full::Apart);
        }
        // It is not sent.
        if self.refusal.is_some() {
            return Ok(());
        }
        let bytes = BEGIN.len() + self.commands.len() + command.len() + END.len();
        if self.count >= MOST || bytes > longest {
            return Err(Full::Long);
        }
        self.key = self.key.or(key);
        self.commands.extend_from_slice(command);
        self.count += 1;
        Ok(())
    }

    /// Bytes of the commands.
    pub fn held(&self) -> usize {
        self.commands.len()
    }

    /// Notes that a command was refused, and why. The commands are not needed any more.
    pub fn spoil(&mut self, why: &str) {
        let refusal = self.refusal.take().or_else(|| Some(why.into()));
        *self = Transaction { key: self.key, refusal, ..Transaction::default() };
    }

    /// The end of the transaction.
    pub fn execute(self, expect: Expect) -> Execution {
        match self.refusal {
            Some(why) => Execution::Aborted(why),
            None if self.count == 0 => Execution::Empty,
            None => {
                let bytes = Bytes::from([BEGIN, &self.commands, END].concat());
                Execution::Request(Part { key: self.key, expect, bytes })
            }
        }
    }
}

/// Finds the ends of answers. The answers to a transaction are those to `MULTI`, to each command,
/// and to `EXEC`, which is the first that is neither `QUEUED` nor the refusal of a command.
#[derive(Debug, Default)]
pub struct Scanner {
    value: answer::Scanner,
    /// Bytes of a transaction's values that are read and not passed.
    read: usize,
    /// Whether `MULTI` is answered.
    is_begun: bool,
    /// Whether the value that is being read is the last, once that is known.
    is_last: Option<bool>,
}

impl AnswerScanner for Scanner {
    fn scan(&mut self, expect: Expect, window: &[u8]) -> Result<Step<AnswerCut>, Reason> {
        if !super::is_transaction(expect) {
            return self.value.scan(expect, window);
        }
        loop {
            let rest = window.get(self.read..).unwrap_or_default();
            if self.is_last.is_none() {
                self.is_last = is_last(rest, self.is_begun)?;
            }
            let Some(is_last) = self.is_last else { return Ok(more(window)) };
            match self.value.scan(expect, rest)? {
                Step::More(needed) => return Ok(Step::More(needed.saturating_add(self.read))),
                Step::Done(cut) => self.read += cut.length,
            }
            if is_last {
                let length = std::mem::take(self).read;
                return Ok(Step::Done(AnswerCut::whole(length)));
            }
            (self.is_begun, self.is_last) = (true, None);
        }
    }

    fn ready(&self) -> usize {
        self.read + self.value.ready()
    }

    fn pass(&mut self, count: usize) {
        let read = count.min(self.read);
        self.read -= read;
        self.value.pass(count - read);
    }

    fn ends_with_connection(&self) -> bool {
        self.value.ends_with_connection()
    }
}

/// Whether the value that begins here is the last of a transaction; `None` if more of it is needed.
fn is_last(value: &[u8], is_begun: bool) -> Result<Option<bool>, Reason> {
    let starts = |word: &[u8]| value.len() >= word.len() && value.starts_with(word);
    let wrong = Reason::Malformed("the server takes no transaction");
    match value {
        [] => Ok(None),
        // The server would execute what comes behind.
        _ if !is_begun && starts(b"+OK\r\n") => Ok(Some(false)),
        _ if !is_begun && b"+OK\r\n".starts_with(value) => Ok(None),
        _ if !is_begun => Err(wrong),
        [b'*' | b'_', ..] => Ok(Some(true)),
        [b'-', ..] if ABORTED.starts_with(value) && value.len() < ABORTED.len() => Ok(None),
        [b'-', ..] => Ok(Some(starts(ABORTED))),
        _ if starts(b"+QUEUED\r\n") => Ok(Some(false)),
        _ if b"+QUEUED\r\n".starts_with(value) => Ok(None),
        _ => Err(wrong),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn commands_become_one_request() {
        let mut transaction = Transaction::default();
        assert_eq!(transaction.queue(b"PING\r\n", None, 100), Ok(()));
        assert_eq!(transaction.queue(b"GET a\r\n", Some(7), 100), Ok(()));
        assert_eq!(transaction.queue(b"GET b\r\n", Some(8), 100), Err(Full::Apart));
        assert_eq!(transaction.queue(b"GET a\r\n", Some(7), 48), Err(Full::Long));
        assert_eq!(transaction.queue(b"GET a\r\n", Some(7), 49), Ok(()));
        let bytes = "*1\r\n$5\r\nMULTI\r\nPING\r\nGET a\r\nGET a\r\n*1\r\n$4\r\nEXEC\r\n".into();
        let expect = super::super::TRANSACTION;
        let part = Part { key: Some(7), expect, bytes };
        assert_eq!(transaction.execute(expect), Execution::Request(part));
    }

    #[test]
    fn a_transaction_has_so_many_commands_and_no_more() {
        let mut transaction = Transaction::default();
        for _ in 0..MOST {
            assert_eq!(transaction.queue(b"\n", None, usize::MAX), Ok(()));
        }
        assert_eq!(transaction.queue(b"\n", None, usize::MAX), Err(Full::Long));
    }

    #[test]
    fn nothing_is_executed_beside_a_refusal() {
        let mut transaction = Transaction::default();
        assert_eq!(transaction.queue(b"GET a\r\n", Some(7), 100), Ok(()));
        transaction.spoil("one");
        transaction.spoil("two");
        assert_eq!(transaction.queue(b"GET a\r\n", Some(7), 100), Ok(()));
        assert_eq!(transaction.queue(b"GET b\r\n", Some(8), 100), Err(Full::Apart));
        assert_eq!(transaction.held(), 0);
        assert_eq!(transaction.execute(Expect::ORDINARY), Execution::Aborted("one".into()));
        let empty = Transaction::default();
        assert_eq!(empty.execute(Expect::ORDINARY), Execution::Empty);
    }

    fn scan(scanner: &mut Scanner, window: &[u8]) -> Result<Step<AnswerCut>, Reason> {
        scanner.scan(super::super::TRANSACTION, window)
    }

    #[test]
    fn the_answers_end_with_that_of_exec() {
        for answers in [
            "+OK\r\n+QUEUED\r\n+QUEUED\r\n*2\r\n$9\r\n+QUEUED\r\n\r\n-ERR in EXEC\r\n",
            "+OK\r\n-ERR wrong\r\n+QUEUED\r\n-EXECABORT Transaction discarded\r\n",
            "+OK\r\n+QUEUED\r\n*-1\r\n",
            "+OK\r\n+QUEUED\r\n_\r\n",
        ] {
            let stream = format!("{answers}*1\r\n:1\r\n");
            let done = |length| Ok(Step::Done(AnswerCut::whole(length)));
            let whole = scan(&mut Scanner::default(), stream.as_bytes());
            assert_eq!(whole, done(answers.len()), "{answers:?}");
            // What is ready is passed at once.
            let (mut pieces, mut passed) = (Scanner::default(), 0);
            for length in 0..answers.len() {
                let step = scan(&mut pieces, &stream.as_bytes()[passed..length]);
                let Ok(Step::More(needed)) = step else { panic!("{answers:?} {length}: {step:?}") };
                assert!(passed + needed > length, "{needed} for {length}");
                let ready = pieces.ready();
                pieces.pass(ready);
                passed += ready;
            }
            let last = scan(&mut pieces, &stream.as_bytes()[passed..]);
            assert_eq!(last, done(answers.len() - passed));
        }
    }

    #[test]
    fn a_server_that_takes_no_transaction_is_left() {
        for wrong in ["-NOPERM no\r\n", "$2\r\nOK\r\n", "+OK\r\n:1\r\n", "+OK\r\n+OK\r\n"] {
            assert!(scan(&mut Scanner::default(), wrong.as_bytes()).is_err(), "{wrong:?}");
        }
    }
}
