//! The HTTP client.
#![expect(
    clippy::disallowed_methods,
    clippy::disallowed_types,
    reason = "a daemon answers in real time"
)]

use std::io::{self, Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::time::{Duration, Instant};

use serde::de::DeserializeOwned;

use crate::error::{Asked, PATIENCE, StatusError};
use crate::program::Program;

/// Most bytes of an answer. The state of 10,000 clients has a fraction of it.
const LONGEST_ANSWER: usize = 64 << 20;
/// Most headers of an answer. Daemons send four.
const MOST_HEADERS: usize = 32;

/// Reads the state of the daemon whose status this address serves. Waits up to 10 s.
///
/// # Errors
/// If no daemon of this program and version answers at the address.
pub fn fetch<T: DeserializeOwned>(
    program: &'static Program,
    address: SocketAddr,
) -> Result<T, StatusError> {
    fetch_within(Limits { time: PATIENCE, bytes: LONGEST_ANSWER }, program, address)
}

/// What an answer may take.
#[derive(Clone, Copy)]
struct Limits {
    time: Duration,
    bytes: usize,
}

/// As [`fetch`], with other limits.
fn fetch_within<T: DeserializeOwned>(
    limits: Limits,
    program: &'static Program,
    address: SocketAddr,
) -> Result<T, StatusError> {
    let asked = Asked { program, address };
    let answer = ask(asked, limits)?;
    let body = body(&answer).map_err(|broken| match broken {
        Broken::Code(code) => StatusError::Refused(asked, code),
        Broken::Form(what) => {
            StatusError::Connection(asked, io::Error::new(io::ErrorKind::InvalidData, what))
        }
    })?;
    serde_json::from_slice(body).map_err(|error| StatusError::Malformed(asked, error))
}

/// The end of the time for a request.
#[derive(Clone, Copy)]
struct Deadline(Instant);

impl Deadline {
    fn after(time: Duration) -> Deadline {
        Deadline(Instant::now() + time)
    }

    /// The time that is left; an error once there is none.
    fn left(self) -> io::Result<Duration> {
        let left = self.0.saturating_duration_since(Instant::now());
        if left.is_zero() { Err(io::ErrorKind::TimedOut.into()) } else { Ok(left) }
    }
}

/// The whole answer of a daemon: head and body.
fn ask(asked: Asked, limits: Limits) -> Result<Vec<u8>, StatusError> {
    let deadline = Deadline::after(limits.time);
    let or_late = |failed: fn(Asked, io::Error) -> StatusError| {
        move |error: io::Error| match error.kind() {
            // A read or write that has waited for the time that was left.
            io::ErrorKind::TimedOut | io::ErrorKind::WouldBlock => StatusError::Late(asked),
            _ => failed(asked, error),
        }
    };
    let connect = || TcpStream::connect_timeout(&asked.address, deadline.left()?);
    let mut stream = connect().map_err(or_late(StatusError::Unreachable))?;
    exchange(&mut stream, asked.address, deadline, limits).map_err(or_late(StatusError::Connection))
}

fn exchange(
    stream: &mut TcpStream,
    host: SocketAddr,
    deadline: Deadline,
    limits: Limits,
) -> io::Result<Vec<u8>> {
    stream.set_write_timeout(Some(deadline.left()?))?;
    // The end of an answer to HTTP 1.0 is that of the connection.
    let request = format!("GET /status.json HTTP/1.0\r\nHost: {host}\r\n\r\n");
    stream.write_all(request.as_bytes())?;
    let mut answer = Vec::new();
    let mut buffer = [0; 16 << 10];
    loop {
        stream.set_read_timeout(Some(deadline.left()?))?;
        match stream.read(&mut buffer) {
            Ok(0) => return Ok(answer),
            Ok(n) if answer.len() + n > limits.bytes => {
                return Err(io::Error::new(io::ErrorKind::InvalidData, "the answer is too long"));
            }
            Ok(n) => answer.extend_from_slice(&buffer[..n]),
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
}

/// What an answer has in place of a state.
enum Broken {
    /// Another code than 200.
    Code(u16),
    /// No whole answer of HTTP.
    Form(&'static str),
}

/// The body of a whole answer.
fn body(answer: &[u8]) -> Result<&[u8], Broken> {
    let mut headers = [httparse::EMPTY_HEADER; MOST_HEADERS];
    let mut head = httparse::Response::new(&mut headers);
    let Ok(httparse::Status::Complete(start)) = head.parse(answer) else {
        return Err(Broken::Form("the answer is not HTTP"));
    };
    match head.code {
        Some(200) => {}
        code => return Err(Broken::Code(code.unwrap_or_default())),
    }
    let body = &answer[start..];
    let length = head.headers.iter().find(|h| h.name.eq_ignore_ascii_case("content-length"));
    let Some(length) = length else { return Ok(body) };
    let length = std::str::from_utf8(length.value).ok();
    let length = length.and_then(|text| text.trim().parse::<usize>().ok());
    length.and_then(|length| body.get(..length)).ok_or(Broken::Form("the answer is cut off"))
}

#[cfg(test)]
mod tests {
    use std::net::TcpListener;
    use std::thread;

    use serde::Deserialize;

    use super::*;

    const SWITCH: Program =
        Program { command: "ratewire-switch", noun: "switch", file: "switch.toml" };

    #[derive(Debug, PartialEq, Deserialize)]
    struct Count {
        asked: u64,
    }

    /// What a client makes of this answer. Without an answer the server keeps the connection.
    fn fetched(answer: Option<&'static str>) -> Result<Count, StatusError> {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap();
        let (done, wait) = std::sync::mpsc::channel::<()>();
        let server = thread::spawn(move || {
            let (mut stream, _) = listener.accept().unwrap();
            let mut request = Vec::new();
            while !request.ends_with(b"\r\n\r\n") {
                let mut byte = [0];
                stream.read_exact(&mut byte).unwrap();
                request.extend(byte);
            }
            assert!(request.starts_with(b"GET /status.json HTTP/1.0\r\nHost: 127.0.0.1:"));
            match answer {
                Some(answer) => stream.write_all(answer.as_bytes()).unwrap(),
                None => assert!(wait.recv().is_err()),
            }
        });
        let time = if answer.is_some() { PATIENCE } else { Duration::from_millis(20) };
        let found = fetch_within(Limits { time, bytes: 100 }, &SWITCH, address);
        drop(done);
        server.join().unwrap();
        found
    }

    #[test]
    fn only_a_whole_state_is_one() {
        let whole = "HTTP/1.0 200 OK\r\nContent-Length: 11\r\n\r\n{\"asked\":7}";
        assert_eq!(fetched(Some(whole)).unwrap(), Count { asked: 7 });
        let without_length = "HTTP/1.0 200 OK\r\n\r\n{\"asked\":7}";
        assert_eq!(fetched(Some(without_length)).unwrap(), Count { asked: 7 });
        let longer = "HTTP/1.1 200 OK\r\ncontent-length: 11\r\n\r\n{\"asked\":7}more";
        assert_eq!(fetched(Some(longer)).unwrap(), Count { asked: 7 });
        let cut = "HTTP/1.0 200 OK\r\nContent-Length: 12\r\n\r\n{\"asked\":7}";
        assert!(matches!(fetched(Some(cut)), Err(StatusError::Connection(..))));
        let unreadable = "HTTP/1.0 200 OK\r\nContent-Length: -1\r\n\r\n{\"asked\":7}";
        let long = format!("HTTP/1.0 200 OK\r\n\r\n{}", " ".repeat(100)).leak();
        let others = ["", "SSH-2.0-OpenSSH\r\n", "HTTP/1.0 200 OK\r\nContent-Le", unreadable, long];
        for other in others {
            let found = fetched(Some(other));
            assert!(matches!(found, Err(StatusError::Connection(..))), "{other}: {found:?}");
        }
        let missing = "HTTP/1.0 404 Not Found\r\n\r\n";
        assert!(matches!(fetched(Some(missing)), Err(StatusError::Refused(_, 404))));
        let unknown = "HTTP/1.0 200 OK\r\n\r\n{\"other\":7}";
        assert!(matches!(fetched(Some(unknown)), Err(StatusError::Malformed(..))));
        assert!(matches!(fetched(None), Err(StatusError::Late(_))));
    }

    #[test]
    fn nobody_listens_at_a_closed_port() {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap();
        drop(listener);
        let found = fetch::<Count>(&SWITCH, address);
        assert!(matches!(found, Err(StatusError::Unreachable(..))), "{found:?}");
    }
}
