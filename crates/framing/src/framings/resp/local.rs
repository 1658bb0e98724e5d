//! Commands about the connection, which the gateway answers itself.
//!
//! Connections to servers are shared by clients, so no client may change the state of one. The
//! gateway keeps what a client says of itself.

use bytes::Bytes;

use super::arguments::Argument;
use super::client::Client;
use super::info::info;
use super::value::{bulk, error};

const OK: Bytes = Bytes::from_static(b"+OK\r\n");

/// The gateway's answer to a command whose name is in small letters; `None` if it has none.
pub fn answer(lower: &[u8], rest: &[Argument<'_>], client: &mut Client) -> Option<Bytes> {
    Some(match (lower, rest) {
        (b"ping", []) => Bytes::from_static(b"+PONG\r\n"),
        (b"ping" | b"echo", [message]) => bulk(message),
        (b"select", [index]) if index.as_ref() == b"0" => OK,
        (b"select", [_]) => error("ERR only database 0 is served through the gateway: select 0"),
        (b"reset", []) => {
            client.reset();
            Bytes::from_static(b"+RESET\r\n")
        }
        // Nothing is watched.
        (b"unwatch", []) => OK,
        (b"hello", options) => client.hello(options),
        (b"info", names) => client.protocol.text(&info(names)),
        (b"client", [sub, arguments @ ..]) => {
            client.answer(&sub.to_ascii_lowercase(), arguments)?
        }
        (
            b"ping" | b"echo" | b"select" | b"reset" | b"unwatch" | b"client" | b"multi" | b"exec"
            | b"discard",
            _,
        ) => {
            let name = String::from_utf8_lossy(lower);
            error(&format!("ERR wrong number of arguments for '{name}' command"))
        }
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::super::arguments::of_line;
    use super::super::value::Protocol;
    use super::*;

    fn local_answer(line: &str, client: &mut Client) -> Option<String> {
        let arguments = of_line(line.as_bytes()).unwrap();
        let answer = answer(&arguments[0].to_ascii_lowercase(), &arguments[1..], client)?;
        Some(String::from_utf8(answer.to_vec()).unwrap())
    }

    #[test]
    fn the_gateway_answers_for_the_connection() {
        let mut client = Client::default();
        for (line, expected) in [
            ("PING", "+PONG\r\n"),
            ("PING 'a b'", "$3\r\na b\r\n"),
            ("ECHO ''", "$0\r\n\r\n"),
            ("SELECT 0", "+OK\r\n"),
            ("UNWATCH", "+OK\r\n"),
            ("CLIENT SETNAME me", "+OK\r\n"),
            ("Client GetName", "$2\r\nme\r\n"),
            ("INFO cluster", "$30\r\n# Cluster\r\ncluster_enabled:0\r\n\r\n"),
        ] {
            assert_eq!(local_answer(line, &mut client).as_deref(), Some(expected), "{line}");
        }
        for (line, part) in [
            ("SELECT 1", "-ERR only database 0"),
            ("PING a b", "-ERR wrong number"),
            ("CLIENT", "-ERR wrong number"),
            ("HELLO 2", "*14\r\n"),
        ] {
            assert!(local_answer(line, &mut client).unwrap().starts_with(part), "{line}");
        }
        for other in ["CLIENT REPLY OFF", "GET a", "COMMAND"] {
            assert_eq!(local_answer(other, &mut client), None, "{other}");
        }
    }

    #[test]
    fn a_client_that_begins_anew_is_asked_again_for_its_version() {
        let mut client = Client::default();
        assert!(local_answer("HELLO 3 SETNAME me", &mut client).unwrap().starts_with("%7"));
        let info = local_answer("INFO cluster", &mut client).unwrap();
        assert_eq!(info, "=34\r\ntxt:# Cluster\r\ncluster_enabled:0\r\n\r\n");
        assert_eq!(local_answer("RESET", &mut client).unwrap(), "+RESET\r\n");
        assert_eq!(client.protocol, Protocol::Two);
        assert_eq!(local_answer("CLIENT GETNAME", &mut client).unwrap(), "$-1\r\n");
    }
}
