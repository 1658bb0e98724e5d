//! Transactions: commands between `MULTI` and `EXEC`.
//!
//! The gateway queues the commands of a client, and answers `QUEUED` in the server's place. `EXEC`
//! sends all of them to the server of their keys as one request, so no other client's commands come
//! between. The server answers each command, and the answer to `EXEC` is for the client.

use bytes::{Bytes, BytesMut};

use crate::request::{Expect, Part};
use crate::scan::{AnswerCut, AnswerScanner, Step};
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
    /// Whether a command was refused: none is executed.
    is_spoiled: bool,
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
    /// Nothing, because a command was refused.
    Aborted,
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

    /// Notes that a command was refused. The commands are not needed any more.
    pub fn spoil(&mut self) {
        *self = Transaction { is_spoiled: true, ..Transaction::default() };
    }

    /// The end of the transaction.
    pub fn execute(self, expect: Expect) -> Execution {
        match self.count {
            _ if self.is_spoiled => Execution::Aborted,
            0 => Execution::Empty,
            _ => {
                let bytes = Bytes::from([BEGIN, &self.commands, END].concat());
                Execution::Request(Part { key: self.key, expect, bytes })
            }
        }
    }
}

/// Finds the end of the answers to a transaction: those to `MULTI`, to each command, and to `EXEC`,
/// which is the first that is neither `QUEUED` nor the refusal of a command.
#[derive(Debug, Default)]
pub struct Scanner {
    value: answer::Scanner,
    /// Bytes of the values that are read.
    read: usize,
}

impl Scanner {
    pub fn scan(&mut self, window: &[u8]) -> Result<Step<AnswerCut>, Reason> {
        loop {
            let rest = &window[self.read..];
            let length = match self.value.scan(Expect::ORDINARY, rest)? {
                Step::Done(cut) => cut.length,
                Step::More(needed) => return Ok(Step::More(needed.saturating_add(self.read))),
            };
            let (value, is_first) = (&rest[..length], self.read == 0);
            self.read += length;
            match value {
                b"+OK\r\n" if is_first => {}
                // The server has executed what came behind.
                _ if is_first => return Err(Reason::Malformed("the server refuses MULTI")),
                [b'*' | b'_', ..] => return Ok(self.done()),
                value if value.starts_with(ABORTED) => return Ok(self.done()),
                [b'-', ..] | b"+QUEUED\r\n" => {}
                _ => return Err(Reason::Malformed("an answer of a transaction is none")),
            }
        }
    }

    fn done(&mut self) -> Step<AnswerCut> {
        let length = std::mem::take(self).read;
        Step::Done(AnswerCut::whole(length))
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
        transaction.spoil();
        assert!(transaction.commands.is_empty());
        assert_eq!(transaction.queue(b"GET b\r\n", Some(8), 100), Ok(()));
        assert_eq!(transaction.execute(Expect::ORDINARY), Execution::Aborted);
        let empty = Transaction::default();
        assert_eq!(empty.execute(Expect::ORDINARY), Execution::Empty);
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
            let done = Ok(Step::Done(AnswerCut::whole(answers.len())));
            assert_eq!(Scanner::default().scan(stream.as_bytes()), done, "{answers:?}");
            let mut pieces = Scanner::default();
            for length in 0..answers.len() {
                let step = pieces.scan(&stream.as_bytes()[..length]);
                let Ok(Step::More(needed)) = step else { panic!("{answers:?} {length}: {step:?}") };
                assert!(needed > length && needed <= answers.len(), "{needed} for {length}");
            }
            assert_eq!(pieces.scan(stream.as_bytes()), done);
        }
    }

    #[test]
    fn a_server_that_takes_no_transaction_is_left() {
        for wrong in ["-NOPERM no\r\n", "$2\r\nOK\r\n", "+OK\r\n:1\r\n", "+OK\r\n+OK\r\n"] {
            assert!(Scanner::default().scan(wrong.as_bytes()).is_err(), "{wrong:?}");
        }
    }
}
