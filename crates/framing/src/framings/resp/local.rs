//! Commands about the connection, which the gateway answers itself.
//!
//! Connections to servers are shared by clients, so no client may change the state of one. The
//! gateway answers as a server would whose state cannot be changed. As twemproxy does, it answers
//! `PING` and `QUIT`, and `COMMAND` with an empty list.

use bytes::Bytes;

use super::arguments::Argument;
use super::error;

const OK: Bytes = Bytes::from_static(b"+OK\r\n");

/// The gateway's answer to a command whose name is in small letters; `None` if it has none.
pub fn answer(lower: &[u8], rest: &[Argument<'_>]) -> Option<Bytes> {
    Some(match (lower, rest) {
        (b"ping", []) => Bytes::from_static(b"+PONG\r\n"),
        (b"ping" | b"echo", [message]) => bulk(message),
        (b"select", [index]) if index.as_ref() == b"0" => OK,
        (b"select", [_]) => error("ERR only database 0 is served through the gateway: select 0"),
        (b"reset", []) => Bytes::from_static(b"+RESET\r\n"),
        (b"hello", options) => hello(options),
        (b"command", [sub]) if sub.eq_ignore_ascii_case(b"count") => Bytes::from_static(b":0\r\n"),
        (b"command", _) => Bytes::from_static(b"*0\r\n"),
        (b"client", [sub, arguments @ ..]) => client(&sub.to_ascii_lowercase(), arguments)?,
        (b"ping" | b"echo" | b"select" | b"reset", _) => {
            let name = String::from_utf8_lossy(lower);
            error(&format!("ERR wrong number of arguments for '{name}' command"))
        }
        _ => return None,
    })
}

fn client(sub: &[u8], arguments: &[Argument<'_>]) -> Option<Bytes> {
    match (sub, arguments) {
        (b"setname" | b"no-evict" | b"no-touch", [_]) | (b"setinfo", [_, _]) => Some(OK),
        (b"getname", []) => Some(Bytes::from_static(b"$-1\r\n")),
        _ => None,
    }
}

/// The answer to a handshake. Clients that get no RESP3 go on with RESP2.
fn hello(options: &[Argument<'_>]) -> Bytes {
    let Some((version, options)) = options.split_first() else { return greeting() };
    if version.as_ref() != b"2" {
        return error("NOPROTO the gateway speaks only RESP2: leave HELLO out, or use HELLO 2");
    }
    match options {
        [] => greeting(),
        [option, _] if option.eq_ignore_ascii_case(b"setname") => greeting(),
        [option, ..] if option.eq_ignore_ascii_case(b"auth") => {
            error("ERR AUTH is not supported by the gateway: it asks for no password")
        }
        _ => error("ERR syntax error in HELLO"),
    }
}

fn greeting() -> Bytes {
    let mut text = b"*14\r\n".to_vec();
    for (name, value) in [("server", "ratewire"), ("version", env!("CARGO_PKG_VERSION"))] {
        text.extend_from_slice(&bulk(name.as_bytes()));
        text.extend_from_slice(&bulk(value.as_bytes()));
    }
    text.extend_from_slice(
        b"$5\r\nproto\r\n:2\r\n$2\r\nid\r\n:0\r\n$4\r\nmode\r\n$10\r\nstandalone\r\n",
    );
    text.extend_from_slice(b"$4\r\nrole\r\n$6\r\nmaster\r\n$7\r\nmodules\r\n*0\r\n");
    text.into()
}

fn bulk(content: &[u8]) -> Bytes {
    let mut text = format!("${}\r\n", content.len()).into_bytes();
    text.extend_from_slice(content);
    text.extend_from_slice(b"\r\n");
    text.into()
}

#[cfg(test)]
mod tests {
    use super::super::arguments::of_line;
    use super::*;

    fn local_answer(line: &str) -> Option<String> {
        let arguments = of_line(line.as_bytes()).unwrap();
        let answer = answer(&arguments[0].to_ascii_lowercase(), &arguments[1..])?;
        Some(String::from_utf8(answer.to_vec()).unwrap())
    }

    #[test]
    fn the_gateway_answers_for_the_connection() {
        for (line, expected) in [
            ("PING", "+PONG\r\n"),
            ("PING 'a b'", "$3\r\na b\r\n"),
            ("ECHO ''", "$0\r\n\r\n"),
            ("SELECT 0", "+OK\r\n"),
            ("RESET", "+RESET\r\n"),
            ("COMMAND DOCS", "*0\r\n"),
            ("COMMAND COUNT", ":0\r\n"),
            ("CLIENT SETNAME me", "+OK\r\n"),
            ("client setinfo lib-name redis-py", "+OK\r\n"),
            ("CLIENT GETNAME", "$-1\r\n"),
        ] {
            assert_eq!(local_answer(line).as_deref(), Some(expected), "{line}");
        }
        for (line, part) in [
            ("SELECT 1", "-ERR only database 0"),
            ("PING a b", "-ERR wrong number"),
            ("HELLO 3", "-NOPROTO "),
            ("HELLO 2 AUTH user secret", "-ERR AUTH"),
            ("HELLO 2 NAME", "-ERR syntax"),
            ("HELLO", "*14\r\n$6\r\nserver\r\n$8\r\nratewire\r\n"),
            ("HELLO 2 SETNAME me", "*14\r\n"),
        ] {
            assert!(local_answer(line).unwrap().starts_with(part), "{line}");
        }
        for other in ["CLIENT REPLY OFF", "CLIENT", "CLIENT ID", "GET a"] {
            assert_eq!(local_answer(other), None, "{other}");
        }
    }
}
