//! The HTTP of Ratewire's pages: one request a connection, within bounds.
//!
//! A server has [`MOST`] connections at a time; which of them ends or waits when one more comes, it
//! decides itself. [`accept`] takes a connection, [`answer`] reads its request and writes what
//! [`response`] makes. [`Host`] says by which name a server was asked.

#![deny(clippy::print_stdout, clippy::print_stderr)]

mod host;

use std::convert::Infallible;
use std::error::Error;
use std::io;
use std::time::Duration;

use bytes::Bytes;
use http_body_util::{Either, Full};
use hyper::body::{Body, Incoming};
use hyper::header::{CACHE_CONTROL, CONTENT_TYPE, HOST, HeaderValue};
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper::{Request, Response, StatusCode};
use hyper_util::rt::{TokioIo, TokioTimer};
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::net::{TcpListener, TcpStream};
use tokio::time::sleep;

pub use host::{Host, HostName};

/// Connections that a server has at a time.
pub const MOST: usize = 16;
/// Time for the head of a request.
pub const PATIENCE: Duration = Duration::from_secs(5);
/// The type of text for people.
pub const PLAIN: &str = "text/plain; charset=utf-8";

/// Bytes of a request's head.
const LONGEST_HEAD: usize = 16 << 10;
const SEVERAL_HOSTS: &str = "a request has one field `Host`: leave the others out\n";
/// Pause after a connection that the system cannot accept: it has no file descriptors left.
const PAUSE: Duration = Duration::from_millis(100);

/// The next connection.
///
/// # Errors
/// If the system cannot accept it. The error comes after a pause: the server may go on at once.
pub async fn accept(socket: &TcpListener) -> io::Result<TcpStream> {
    match socket.accept().await {
        Ok((stream, _)) => Ok(stream),
        Err(error) => {
            sleep(PAUSE).await;
            Err(error)
        }
    }
}

/// Answers the one request of a connection, whose head is at most 16 KiB long and comes within
/// [`PATIENCE`]. A request that names several hosts is refused (RFC 9112, 3.2). A connection that
/// fails concerns only its client.
pub async fn answer<S, R, B>(stream: S, respond: impl Fn(Request<Incoming>) -> R)
where
    S: AsyncRead + AsyncWrite + Unpin,
    R: Future<Output = Response<B>>,
    B: Body<Data = Bytes> + 'static,
    B::Error: Into<Box<dyn Error + Send + Sync>>,
{
    let service = service_fn(|request: Request<Incoming>| {
        // What stands between client and server may look at the other name.
        let names_one = request.headers().get_all(HOST).iter().count() <= 1;
        let response = names_one.then(|| respond(request));
        async {
            Ok::<_, Infallible>(match response {
                Some(response) => response.await.map(Either::Left),
                None => text(StatusCode::BAD_REQUEST, SEVERAL_HOSTS).map(Either::Right),
            })
        }
    });
    let mut server = http1::Builder::new();
    server.keep_alive(false).max_buf_size(LONGEST_HEAD);
    server.timer(TokioTimer::new()).header_read_timeout(PATIENCE);
    _ = server.serve_connection(TokioIo::new(stream), service).await;
}

/// An answer of this type, which nobody may keep.
pub fn response<B>(code: StatusCode, kind: &'static str, body: B) -> Response<B> {
    let mut response = Response::new(body);
    *response.status_mut() = code;
    let headers = response.headers_mut();
    headers.insert(CONTENT_TYPE, HeaderValue::from_static(kind));
    headers.insert(CACHE_CONTROL, HeaderValue::from_static("no-store"));
    response
}

/// An answer of text for people.
pub fn text(code: StatusCode, text: impl Into<Bytes>) -> Response<Full<Bytes>> {
    response(code, PLAIN, Full::new(text.into()))
}

#[cfg(test)]
mod tests {
    use tokio::io::{AsyncReadExt, AsyncWriteExt, duplex};

    use super::*;

    /// What a client gets for these bytes.
    async fn answered(request: &str) -> String {
        let (mut client, server) = duplex(64 << 10);
        let path = |request: Request<Incoming>| async move {
            text(StatusCode::OK, request.uri().path().to_string())
        };
        let asked = async {
            // A server that has refused does not read on.
            client.write_all(request.as_bytes()).await.ok();
            let mut got = String::new();
            client.read_to_string(&mut got).await.unwrap();
            got
        };
        tokio::join!(answer(server, path), asked).1
    }

    #[tokio::test]
    async fn a_connection_has_one_request() {
        let two = "GET /a HTTP/1.1\r\nHost: x\r\n\r\nGET /b HTTP/1.1\r\nHost: x\r\n\r\n";
        let got = answered(two).await;
        assert!(got.starts_with("HTTP/1.1 200 OK\r\n"), "{got}");
        assert!(got.contains("\r\ncache-control: no-store\r\n"), "{got}");
        assert!(got.ends_with("\r\n\r\n/a"), "{got}");
    }

    #[tokio::test]
    async fn a_request_names_one_host() {
        let one = "GET /a HTTP/1.1\r\nHost: x\r\n";
        assert!(answered(&format!("{one}\r\n")).await.starts_with("HTTP/1.1 200 "));
        for other in ["Host: x", "host: y", "HOST:"] {
            let got = answered(&format!("{one}{other}\r\n\r\n")).await;
            assert!(got.starts_with("HTTP/1.1 400 "), "{other}: {got}");
            assert!(got.contains("one field `Host`"), "{other}: {got}");
        }
        // Programs of HTTP/1.0 name none.
        assert!(answered("GET /a HTTP/1.0\r\n\r\n").await.starts_with("HTTP/1.0 200 "));
    }

    #[tokio::test]
    async fn a_head_has_a_bound() {
        let long = format!("GET / HTTP/1.1\r\nX: {}\r\n\r\n", "x".repeat(17 << 10));
        assert!(answered(&long).await.starts_with("HTTP/1.1 431 "));
    }
}
