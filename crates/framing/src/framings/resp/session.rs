//! What a client's earlier requests mean for the next: its protocol, its name, its transaction.

use bytes::Bytes;

use crate::gather::Rule;
use crate::request::{Expect, Route};
use crate::scan::{RequestCut, printable};

use super::arguments::Argument;
use super::client::Client;
use super::gather::gather;
use super::keys::Mistake;
use super::local;
use super::route::{Target, explain, target};
use super::transaction::{Execution, Full, MOST, Transaction};
use super::value::error;

const OK: Bytes = Bytes::from_static(b"+OK\r\n");

/// A client's connection.
#[derive(Debug)]
pub struct Session {
    pub client: Client,
    transaction: Option<Transaction>,
    /// Bytes that a request may have, and a transaction.
    longest: usize,
}

impl Session {
    pub fn new(longest: usize) -> Session {
        Session { client: Client::default(), transaction: None, longest }
    }

    /// Bytes of the commands that wait for `EXEC`.
    pub fn held(&self) -> usize {
        self.transaction.as_ref().map_or(0, Transaction::held)
    }

    /// Decides on a request with these arguments.
    pub fn route(&mut self, request: &[u8], arguments: &[Argument<'_>]) -> RequestCut {
        let length = request.len();
        let [name, rest @ ..] = arguments else { return RequestCut::local(length, "") };
        let lower = name.to_ascii_lowercase();
        let route = match (&lower[..], rest) {
            (b"quit", _) => {
                return RequestCut { closes: true, ..RequestCut::local(length, OK) };
            }
            (b"multi", []) => self.begin(),
            (b"discard", []) => self.discard(),
            (b"exec", []) => self.execute(),
            (b"reset", []) => {
                self.transaction = None;
                self.ask(&lower, arguments)
            }
            _ if self.transaction.is_some() => self.queue(request, &lower, arguments),
            _ => self.ask(&lower, arguments),
        };
        RequestCut { route, ..RequestCut::local(length, "") }
    }

    /// A request outside of a transaction.
    fn ask(&mut self, lower: &[u8], arguments: &[Argument<'_>]) -> Route {
        let rest = arguments.get(1..).unwrap_or_default();
        if let Some(answer) = local::answer(lower, rest, &mut self.client) {
            return Route::Local(answer);
        }
        let expect = self.expect();
        match target(lower, arguments, expect) {
            Ok(Target::One(key)) => Route::Server { key, expect },
            Ok(Target::Several(parts, rule)) => Route::Split(parts, gather(rule)),
            Ok(Target::All(rule)) => Route::All(expect, gather(rule)),
            Err(mistake) => refuse(&explain(lower, mistake)),
        }
    }

    fn expect(&self) -> Expect {
        self.client.protocol.expect()
    }

    fn begin(&mut self) -> Route {
        if self.transaction.is_some() {
            return refuse("ERR MULTI calls can not be nested");
        }
        self.transaction = Some(Transaction::default());
        Route::Local(OK)
    }

    fn discard(&mut self) -> Route {
        match self.transaction.take() {
            Some(_) => Route::Local(OK),
            None => refuse("ERR DISCARD without MULTI"),
        }
    }

    fn execute(&mut self) -> Route {
        let Some(transaction) = self.transaction.take() else {
            return refuse("ERR EXEC without MULTI");
        };
        match transaction.execute(super::in_transaction(self.expect())) {
            Execution::Aborted(why) => {
                refuse(&format!("EXECABORT Transaction discarded because of: {why}"))
            }
            Execution::Empty => Route::Local(Bytes::from_static(b"*0\r\n")),
            Execution::Request(part) => Route::Split(vec![part], gather(Rule::Last)),
        }
    }

    /// A request within a transaction, of which none is executed after a mistake.
    fn queue(&mut self, request: &[u8], lower: &[u8], arguments: &[Argument<'_>]) -> Route {
        let expect = self.expect();
        let Some(transaction) = &mut self.transaction else {
            return refuse("ERR EXEC without MULTI");
        };
        let queued = self::key(lower, arguments, expect).and_then(|key| {
            let queued = transaction.queue(request, key, self.longest);
            queued.map_err(|full| why(&full, self.longest))
        });
        match queued {
            Ok(()) => Route::Local(Bytes::from_static(b"+QUEUED\r\n")),
            Err(text) => {
                // Redis takes this one for no mistake of the transaction.
                if lower != b"watch" {
                    transaction.spoil(&text);
                }
                refuse(&text)
            }
        }
    }
}

/// The hash of the keys of a command in a transaction; `None` if it has no keys. The error says why
/// the command cannot be in a transaction.
fn key(lower: &[u8], arguments: &[Argument<'_>], expect: Expect) -> Result<Option<u64>, String> {
    let name = printable(&lower.to_ascii_uppercase());
    let without = |why: &str| format!("ERR {name} is not supported by the gateway in MULTI: {why}");
    match lower {
        b"ping" | b"echo" | b"unwatch" => return Ok(None),
        b"select" if arguments.get(1).is_some_and(|index| index.as_ref() == b"0") => {
            return Ok(None);
        }
        b"watch" => return Err("ERR WATCH inside MULTI is not allowed".into()),
        b"client" | b"hello" | b"info" | b"select" => {
            return Err(without("it concerns the connection: send it outside"));
        }
        b"multi" | b"exec" | b"discard" => return Err(explain(lower, Mistake::Arguments)),
        _ => {}
    }
    match target(lower, arguments, expect) {
        Ok(Target::One(key)) => Ok(key),
        Ok(Target::Several(..)) => Err(explain(lower, Mistake::Apart)),
        Ok(Target::All(_)) => Err(without("it concerns all servers: send it outside")),
        Err(mistake) => Err(explain(lower, mistake)),
    }
}

fn why(full: &Full, longest: usize) -> String {
    match full {
        Full::Apart => "CROSSSLOT keys of a transaction may be on several servers: \
            give all of them one hash tag, as in {user}:a {user}:b"
            .into(),
        Full::Long => format!(
            "ERR a transaction has at most {MOST} commands and {longest} bytes: use several"
        ),
    }
}

fn refuse(text: &str) -> Route {
    Route::Local(error(text))
}

#[cfg(test)]
mod tests {
    use super::super::arguments::of_line;
    use super::*;
    use crate::hash::hash;
    use crate::request::Part;

    struct Asking(Session);

    impl Asking {
        fn new() -> Asking {
            Asking(Session::new(1000))
        }

        fn cut(&mut self, line: &str) -> RequestCut {
            let arguments = of_line(line.as_bytes()).unwrap();
            self.0.route(format!("{line}\r\n").as_bytes(), &arguments)
        }

        fn local(&mut self, line: &str) -> String {
            match self.cut(line).route {
                Route::Local(answer) => String::from_utf8(answer.to_vec()).unwrap(),
                other => panic!("{line}: {other:?}"),
            }
        }

        /// Asks in a dialogue, in which each line has the beginning of its answer.
        fn talk(&mut self, dialogue: &[(&str, &str)]) {
            for (line, start) in dialogue {
                let answer = self.local(line);
                assert!(answer.starts_with(start), "{line}: {answer:?}");
                assert_eq!(answer.matches('\n').count(), 1, "{line}: {answer:?}");
            }
        }
    }

    #[test]
    fn what_is_refused_has_a_reason() {
        Asking::new().talk(&[
            ("GET", "-ERR wrong number of arguments for 'get' command\r\n"),
            ("MSETNX a 1 b 2", "-CROSSSLOT keys of MSETNX "),
            ("MSET a 1 b", "-ERR wrong number of arguments for 'mset' command\r\n"),
            ("WATCH a", "-ERR WATCH is not supported by the gateway: "),
            ("BLPOP a 0", "-ERR BLPOP is not supported by the gateway: "),
            ("XREAD BLOCK 0 STREAMS a $", "-ERR XREAD is not supported by the gateway: "),
            ("SUBSCRIBE a", "-ERR SUBSCRIBE is not supported by the gateway: "),
            ("KEYS *", "-ERR KEYS is not supported by the gateway: "),
            ("CLIENT TRACKING ON", "-ERR CLIENT is not supported by the gateway: "),
            ("SCRIPT KILL", "-ERR SCRIPT is not supported by the gateway: "),
            ("SORT a BY w_*", "-ERR SORT is not supported by the gateway: "),
            ("SELECT 1", "-ERR "),
            ("MULTI 1", "-ERR wrong number of arguments for 'multi' command\r\n"),
            (r#""no\r\nsuch" a"#, "-ERR NO??SUCH is not supported by the gateway: "),
        ]);
    }

    #[test]
    fn quit_closes_behind_earlier_answers() {
        let quit = Asking::new().cut("QUIT");
        assert_eq!((quit.closes, quit.route), (true, Route::Local("+OK\r\n".into())));
    }

    #[test]
    fn requests_behind_hello_are_answered_in_its_version() {
        let mut client = Asking::new();
        let expect = |client: &mut Asking| match client.cut("GET a").route {
            Route::Server { expect, .. } => expect,
            other => panic!("{other:?}"),
        };
        assert_eq!(expect(&mut client), Expect::ORDINARY);
        assert!(client.local("HELLO 3").starts_with('%'));
        assert_eq!(expect(&mut client), super::super::RESP3);
        let Route::Split(parts, _) = client.cut("DEL a b").route else { panic!("two keys") };
        assert!(parts.iter().all(|part| part.expect == super::super::RESP3));
        client.talk(&[("RESET", "+RESET")]);
        assert_eq!(expect(&mut client), Expect::ORDINARY);
    }

    #[test]
    fn a_transaction_is_one_request() {
        let mut client = Asking::new();
        client.talk(&[
            ("MULTI", "+OK\r\n"),
            ("PING", "+QUEUED\r\n"),
            ("SET {a}1 x", "+QUEUED\r\n"),
            ("MULTI", "-ERR MULTI calls can not be nested\r\n"),
            ("WATCH a", "-ERR WATCH inside MULTI is not allowed\r\n"),
            ("MGET a {a}1", "+QUEUED\r\n"),
        ]);
        assert_eq!(client.0.held(), 31);
        let bytes =
            "*1\r\n$5\r\nMULTI\r\nPING\r\nSET {a}1 x\r\nMGET a {a}1\r\n*1\r\n$4\r\nEXEC\r\n";
        let expect = super::super::TRANSACTION;
        let part = Part { key: Some(hash(b"a")), expect, bytes: bytes.into() };
        assert_eq!(client.cut("exec").route, Route::Split(vec![part], gather(Rule::Last)));
        assert_eq!(client.0.held(), 0);
        client.talk(&[
            ("EXEC", "-ERR EXEC without MULTI\r\n"),
            ("DISCARD", "-ERR DISCARD without MULTI\r\n"),
            ("MULTI", "+OK\r\n"),
            ("EXEC", "*0\r\n"),
            ("MULTI", "+OK\r\n"),
            ("GET b", "+QUEUED\r\n"),
            ("DISCARD", "+OK\r\n"),
            ("MULTI", "+OK\r\n"),
            ("RESET", "+RESET\r\n"),
            ("DISCARD", "-ERR DISCARD without MULTI\r\n"),
        ]);
        client.local("HELLO 3");
        client.talk(&[("MULTI", "+OK\r\n"), ("GET b", "+QUEUED\r\n")]);
        let Route::Split(parts, _) = client.cut("EXEC").route else { panic!("a transaction") };
        assert_eq!(parts[0].expect.code(), 3);
    }

    #[test]
    fn a_mistake_aborts_the_transaction() {
        let long = format!("SET a {}", "x".repeat(1000));
        for (line, start) in [
            ("GET b", "-CROSSSLOT keys of a transaction may be on several servers: "),
            ("MGET a b", "-CROSSSLOT keys of MGET "),
            ("GET", "-ERR wrong number of arguments for 'get' command\r\n"),
            ("EXEC now", "-ERR wrong number of arguments for 'exec' command\r\n"),
            ("NOSUCH a", "-ERR NOSUCH is not supported by the gateway: "),
            ("CLIENT SETNAME me", "-ERR CLIENT is not supported by the gateway in MULTI: "),
            ("SELECT 1", "-ERR SELECT is not supported by the gateway in MULTI: "),
            ("FLUSHALL", "-ERR FLUSHALL is not supported by the gateway in MULTI: "),
            (&long, "-ERR a transaction has at most 65536 commands and 1000 bytes: "),
        ] {
            let mut client = Asking::new();
            client.talk(&[
                ("MULTI", "+OK\r\n"),
                ("GET a", "+QUEUED\r\n"),
                (line, start),
                ("GET a", "+QUEUED\r\n"),
                ("EXEC", &format!("-EXECABORT Transaction discarded because of: {}", &start[1..])),
                ("EXEC", "-ERR EXEC without MULTI\r\n"),
            ]);
        }
    }
}
