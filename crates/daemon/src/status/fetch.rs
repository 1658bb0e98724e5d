//! The HTTP client.

use std::net::SocketAddr;

use bytes::Bytes;
use http_body_util::{BodyExt, Empty, Limited};
use hyper::client::conn::http1;
use hyper::header::HOST;
use hyper::{Request, StatusCode};
use hyper_util::rt::TokioIo;
use serde::de::DeserializeOwned;
use tokio::net::TcpStream;

use super::error::{Asked, PATIENCE, StatusError};
use crate::Program;

/// Most bytes of an answer. The state of 10,000 clients has a fraction of it.
const LONGEST_ANSWER: usize = 64 << 20;

/// Reads the state of the daemon whose status this address serves. Waits up to 10 s.
///
/// # Errors
/// If no daemon of this program and version answers at the address.
///
/// # Panics
/// In asynchronous code: the call blocks, and has a runtime of its own.
pub fn fetch<T: DeserializeOwned>(
    program: &'static Program,
    address: SocketAddr,
) -> Result<T, StatusError> {
    let asked = Asked { program, address };
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
    let runtime = runtime.map_err(StatusError::Runtime)?;
    let answer = runtime.block_on(async { tokio::time::timeout(PATIENCE, ask(asked)).await });
    let answer = answer.map_err(|_| StatusError::Late(asked))??;
    serde_json::from_slice(&answer).map_err(|error| StatusError::Malformed(asked, error))
}

async fn ask(asked: Asked) -> Result<Bytes, StatusError> {
    let failed = |error: hyper::Error| StatusError::Connection(asked, error.into());
    let stream = TcpStream::connect(asked.address).await;
    let stream = stream.map_err(|error| StatusError::Unreachable(asked, error))?;
    let (mut sender, connection) = http1::handshake(TokioIo::new(stream)).await.map_err(failed)?;
    // The request tells of a connection that fails.
    tokio::spawn(connection);
    let mut request = Request::new(Empty::<Bytes>::new());
    *request.uri_mut() = hyper::Uri::from_static("/status.json");
    if let Ok(host) = asked.address.to_string().parse() {
        request.headers_mut().insert(HOST, host);
    }
    let response = sender.send_request(request).await.map_err(failed)?;
    if response.status() != StatusCode::OK {
        return Err(StatusError::Refused(asked, response.status().as_u16()));
    }
    let body = Limited::new(response.into_body(), LONGEST_ANSWER).collect().await;
    Ok(body.map_err(|error| StatusError::Connection(asked, error))?.to_bytes())
}
