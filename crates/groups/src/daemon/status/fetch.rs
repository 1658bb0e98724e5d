//! The HTTP client.

use std::fmt;
use std::io;
use std::net::SocketAddr;
use std::time::Duration;

use bytes::Bytes;
use http_body_util::{BodyExt, Empty, Limited};
use hyper::client::conn::http1;
use hyper::header::HOST;
use hyper::{Request, StatusCode};
use hyper_util::rt::TokioIo;
use tokio::net::TcpStream;

use super::model::Status;

/// Time for the whole request.
const PATIENCE: Duration = Duration::from_secs(10);
/// Most bytes of an answer. The state of 10,000 clients has a fraction of it.
const LONGEST_ANSWER: usize = 64 << 20;

/// What keeps a program from reading a daemon's status.
#[derive(Debug)]
pub enum StatusError {
    /// The asynchronous runtime cannot start.
    Runtime(io::Error),
    /// Nothing accepts a connection at the address.
    Unreachable(SocketAddr, io::Error),
    /// The answer does not come in time.
    Late(SocketAddr),
    /// The connection has failed, or the answer is not HTTP, or too long.
    Connection(SocketAddr, Box<dyn std::error::Error + Send + Sync>),
    /// The answer has this code and no status.
    Refused(SocketAddr, u16),
    /// The answer is not the status of a daemon of this version.
    Malformed(SocketAddr, serde_json::Error),
}

impl StatusError {
    /// What to do.
    pub fn help(&self) -> &'static str {
        match self {
            StatusError::Runtime(_) => "raise the limit of open files",
            StatusError::Unreachable(..) => {
                "start a daemon, or name the address that `status` has in its groups.toml"
            }
            StatusError::Late(_) => {
                "try again, or name the address that `status` has in the daemon's groups.toml"
            }
            StatusError::Connection(..) | StatusError::Refused(..) => {
                "name the address that `status` has in the daemon's groups.toml"
            }
            StatusError::Malformed(..) => {
                "run the daemon's version of this command, or name the address that `status` has \
                 in the daemon's groups.toml"
            }
        }
    }
}

/// Displayed without its cause and remedy: see [`source`](std::error::Error::source) and
/// [`StatusError::help`].
impl fmt::Display for StatusError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            StatusError::Runtime(_) => f.write_str("cannot start the asynchronous runtime"),
            StatusError::Unreachable(address, _) => {
                write!(f, "no daemon tells its status at {address}")
            }
            StatusError::Late(address) => {
                let most = PATIENCE.as_secs();
                write!(f, "the daemon at {address} has not answered within {most} s")
            }
            StatusError::Connection(address, _) => {
                write!(f, "the answer from {address} is not complete")
            }
            StatusError::Refused(address, code) => {
                write!(f, "the answer from {address} is HTTP {code}")
            }
            StatusError::Malformed(address, _) => {
                write!(f, "the answer from {address} is not the status of a daemon of this version")
            }
        }
    }
}

impl std::error::Error for StatusError {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match self {
            StatusError::Runtime(source) | StatusError::Unreachable(_, source) => Some(source),
            StatusError::Connection(_, source) => Some(&**source),
            StatusError::Malformed(_, source) => Some(source),
            StatusError::Late(_) | StatusError::Refused(..) => None,
        }
    }
}

/// Reads the status of the daemon whose `status` address this is. Waits up to 10 s.
///
/// # Errors
/// If no daemon answers at the address.
///
/// # Panics
/// In asynchronous code: the call blocks, and has a runtime of its own.
pub fn fetch_status(address: SocketAddr) -> Result<Status, StatusError> {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
    let runtime = runtime.map_err(StatusError::Runtime)?;
    let answer = runtime.block_on(async { tokio::time::timeout(PATIENCE, ask(address)).await });
    let answer = answer.map_err(|_| StatusError::Late(address))??;
    serde_json::from_slice(&answer).map_err(|error| StatusError::Malformed(address, error))
}

async fn ask(address: SocketAddr) -> Result<Bytes, StatusError> {
    let failed = |error: hyper::Error| StatusError::Connection(address, error.into());
    let stream = TcpStream::connect(address).await;
    let stream = stream.map_err(|error| StatusError::Unreachable(address, error))?;
    let (mut sender, connection) = http1::handshake(TokioIo::new(stream)).await.map_err(failed)?;
    // The request tells of a connection that fails.
    tokio::spawn(connection);
    let mut request = Request::new(Empty::<Bytes>::new());
    *request.uri_mut() = hyper::Uri::from_static("/status.json");
    if let Ok(host) = address.to_string().parse() {
        request.headers_mut().insert(HOST, host);
    }
    let response = sender.send_request(request).await.map_err(failed)?;
    if response.status() != StatusCode::OK {
        return Err(StatusError::Refused(address, response.status().as_u16()));
    }
    let body = Limited::new(response.into_body(), LONGEST_ANSWER).collect().await;
    Ok(body.map_err(|error| StatusError::Connection(address, error))?.to_bytes())
}
