//! What a client has said of its connection, and what `CLIENT` and `HELLO` answer.

use bytes::Bytes;

use crate::scan::decimal;

use super::arguments::Argument;
use super::info::REDIS_VERSION;
use super::value::{Protocol, bulk, error};

const OK: Bytes = Bytes::from_static(b"+OK\r\n");

/// A client.
#[derive(Clone, Debug, Default)]
pub struct Client {
    /// Number of the client among those of the gateway.
    pub number: u64,
    /// The version of the protocol that it has chosen.
    pub protocol: Protocol,
    /// The name that it has given itself, which may be empty.
    name: Bytes,
}

impl Client {
    /// What `RESET` makes of the client.
    pub fn reset(&mut self) {
        *self = Client { number: self.number, ..Client::default() };
    }

    /// The answer to `CLIENT` with a subcommand in small letters; `None` if there is none.
    pub fn answer(&mut self, sub: &[u8], arguments: &[Argument<'_>]) -> Option<Bytes> {
        Some(match (sub, arguments) {
            (b"setname", [name]) => self.set_name(name).err().unwrap_or(OK),
            (b"getname", []) if self.name.is_empty() => self.protocol.null(),
            (b"getname", []) => bulk(&self.name),
            (b"id", []) => format!(":{}\r\n", self.number).into(),
            (b"info", []) => self.protocol.text(&format!(
                "id={} name={} db=0 resp={}\n",
                self.number,
                String::from_utf8_lossy(&self.name),
                self.protocol.number()
            )),
            (b"no-evict" | b"no-touch", [_]) | (b"setinfo", [_, _]) => OK,
            _ => return None,
        })
    }

    /// Takes a name as Redis does: without spaces and control characters.
    fn set_name(&mut self, name: &[u8]) -> Result<(), Bytes> {
        if !name.iter().all(|byte| (b'!'..=b'~').contains(byte)) {
            let text = "ERR Client names cannot contain spaces, newlines or special characters.";
            return Err(error(text));
        }
        self.name = Bytes::copy_from_slice(name);
        Ok(())
    }

    /// The answer to `HELLO`, which may change the version of the protocol.
    pub fn hello(&mut self, options: &[Argument<'_>]) -> Bytes {
        match self.handshake(options) {
            Ok(()) => self.greeting(),
            Err(answer) => answer,
        }
    }

    /// Takes the options of a handshake. Nothing changes if one of them is refused.
    fn handshake(&mut self, options: &[Argument<'_>]) -> Result<(), Bytes> {
        let Some((version, mut options)) = options.split_first() else { return Ok(()) };
        let protocol = match decimal(version) {
            Some(2) => Protocol::Two,
            Some(3) => Protocol::Three,
            Some(_) => return Err(error("NOPROTO unsupported protocol version")),
            None => return Err(error("ERR Protocol version is not an integer or out of range")),
        };
        let mut named = self.clone();
        while let [option, rest @ ..] = options {
            match (&option.to_ascii_lowercase()[..], rest) {
                (b"setname", [name, behind @ ..]) => {
                    named.set_name(name)?;
                    options = behind;
                }
                (b"auth", _) => {
                    let text = "ERR AUTH is not supported by the gateway: it asks for no password";
                    return Err(error(text));
                }
                _ => return Err(error("ERR syntax error in HELLO")),
            }
        }
        *self = Client { protocol, ..named };
        Ok(())
    }

    fn greeting(&self) -> Bytes {
        let mut text = self.protocol.map(7).into_bytes();
        let number = |number: u64| Bytes::from(format!(":{number}\r\n"));
        for (name, value) in [
            ("server", bulk(b"ratewire")),
            ("version", bulk(REDIS_VERSION.as_bytes())),
            ("proto", number(self.protocol.number().into())),
            ("id", number(self.number)),
            ("mode", bulk(b"standalone")),
            ("role", bulk(b"master")),
            ("modules", Bytes::from_static(b"*0\r\n")),
        ] {
            text.extend_from_slice(&bulk(name.as_bytes()));
            text.extend_from_slice(&value);
        }
        text.into()
    }
}

#[cfg(test)]
mod tests {
    use super::super::arguments::of_line;
    use super::*;

    fn hello(client: &mut Client, options: &str) -> String {
        let answer = client.hello(&of_line(options.as_bytes()).unwrap());
        String::from_utf8(answer.to_vec()).unwrap()
    }

    fn answer(client: &mut Client, line: &str) -> Option<String> {
        let arguments = of_line(line.as_bytes()).unwrap();
        let answer = client.answer(&arguments[0], &arguments[1..])?;
        Some(String::from_utf8(answer.to_vec()).unwrap())
    }

    #[test]
    fn a_handshake_chooses_the_version() {
        let mut client = Client { number: 12, ..Client::default() };
        let start =
            |version| format!("{version}\r\n$6\r\nserver\r\n$8\r\nratewire\r\n$7\r\nversion");
        assert!(hello(&mut client, "").starts_with(&start("*14")));
        let greeting = hello(&mut client, "3");
        assert!(greeting.starts_with(&start("%7")), "{greeting}");
        assert!(greeting.contains("$5\r\nproto\r\n:3\r\n$2\r\nid\r\n:12\r\n"), "{greeting}");
        assert_eq!(client.protocol, Protocol::Three);
        assert!(hello(&mut client, "").starts_with("%7"), "the version stays");
        for (wrong, start) in [
            ("4", "-NOPROTO "),
            ("x", "-ERR Protocol version is not"),
            ("2 AUTH user secret", "-ERR AUTH"),
            ("2 NAME", "-ERR syntax"),
            ("2 SETNAME", "-ERR syntax"),
            ("2 SETNAME 'a b'", "-ERR Client names"),
            ("2 SETNAME me AUTH user secret", "-ERR AUTH"),
        ] {
            assert!(hello(&mut client, wrong).starts_with(start), "{wrong}");
            assert_eq!((client.protocol, &client.name[..]), (Protocol::Three, &b""[..]), "{wrong}");
        }
        assert!(hello(&mut client, "2 SETNAME me").starts_with("*14"));
        assert_eq!(answer(&mut client, "getname").unwrap(), "$2\r\nme\r\n");
    }

    #[test]
    fn a_client_has_a_name_and_a_number() {
        let mut client = Client { number: 7, ..Client::default() };
        for (line, expected) in [
            ("getname", "$-1\r\n"),
            ("setname me", "+OK\r\n"),
            (
                "setname 'a b'",
                "-ERR Client names cannot contain spaces, newlines or special \
             characters.\r\n",
            ),
            ("getname", "$2\r\nme\r\n"),
            ("id", ":7\r\n"),
            ("info", "$25\r\nid=7 name=me db=0 resp=2\n\r\n"),
            ("setinfo lib-name redis-py", "+OK\r\n"),
            ("no-evict on", "+OK\r\n"),
            ("setname ''", "+OK\r\n"),
            ("getname", "$-1\r\n"),
        ] {
            assert_eq!(answer(&mut client, line).as_deref(), Some(expected), "{line}");
        }
        for other in ["reply off", "id 1", "setname", "tracking on", "list"] {
            assert_eq!(answer(&mut client, other), None, "{other}");
        }
        client.protocol = Protocol::Three;
        assert_eq!(answer(&mut client, "getname").unwrap(), "_\r\n");
        client.reset();
        assert_eq!((client.number, client.protocol), (7, Protocol::Two));
    }
}
