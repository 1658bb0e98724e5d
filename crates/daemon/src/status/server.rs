//! The HTTP server.

use std::collections::VecDeque;
use std::convert::Infallible;
use std::fmt;
use std::io;
use std::net::SocketAddr;
use std::rc::Rc;
use std::time::Duration;

use bytes::Bytes;
use http_body_util::Full;
use hyper::body::Incoming;
use hyper::header::{ACCEPT, ALLOW, CACHE_CONTROL, CONTENT_TYPE, HeaderValue};
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper::{Method, Request, Response, StatusCode};
use hyper_util::rt::{TokioIo, TokioTimer};
use serde::Serialize;
use tokio::net::TcpListener;
use tokio::task::{AbortHandle, JoinSet};
use tokio::time::{MissedTickBehavior, interval, sleep, timeout};

use crate::metrics::Format;
use ratewire_status::Program;

/// Connections at a time. One more ends the oldest.
const MOST: usize = 16;
/// Least time between two connections: the daemon has more to do than to tell its state.
const PACE: Duration = Duration::from_millis(20);
/// Time for the head of a request, and for a whole connection.
const HEAD: Duration = Duration::from_secs(5);
const WHOLE: Duration = Duration::from_secs(10);
/// Bytes of a request's head.
const LONGEST_HEAD: usize = 16 << 10;
/// Pause after a connection that the system cannot accept: it has no file descriptors left.
const PAUSE: Duration = Duration::from_millis(100);

const PLAIN: &str = "text/plain; charset=utf-8";

/// A running daemon whose state a [`Server`] tells.
pub trait Served {
    /// The state, as JSON has it.
    type Status: Serialize;

    /// The present state.
    fn status(&self) -> Self::Status;

    /// A state as metrics: see [`metrics::text`](crate::metrics::text).
    ///
    /// # Errors
    /// If the encoder refuses a value.
    fn metrics(status: Self::Status, format: Format) -> Result<String, fmt::Error>;

    /// Notes that the system has not handed over a connection. The server pauses and goes on.
    fn not_accepted(&self, error: &io::Error);
}

/// The open socket of a daemon's status.
#[derive(Debug)]
pub struct Server {
    socket: TcpListener,
    address: SocketAddr,
}

impl Server {
    /// Opens an address.
    ///
    /// # Errors
    /// If the address is taken, or not of this host.
    pub async fn bind(address: SocketAddr) -> io::Result<Server> {
        let socket = TcpListener::bind(address).await?;
        let address = socket.local_addr().unwrap_or(address);
        Ok(Server { socket, address })
    }

    /// Address of the socket. The kernel has chosen its port if the daemon has asked for port 0.
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// Answers one request a connection until the future is dropped, with at most 16 connections at
    /// a time and 50 a second.
    ///
    /// # Panics
    /// Outside of a [`LocalSet`](tokio::task::LocalSet).
    pub async fn serve<S: Served + 'static>(self, program: &'static Program, daemon: Rc<S>) {
        let mut connections = JoinSet::new();
        let mut open: VecDeque<AbortHandle> = VecDeque::new();
        let mut pace = interval(PACE);
        pace.set_missed_tick_behavior(MissedTickBehavior::Delay);
        loop {
            pace.tick().await;
            let accepted = self.socket.accept().await;
            while connections.try_join_next().is_some() {}
            open.retain(|connection| !connection.is_finished());
            if open.len() >= MOST
                && let Some(oldest) = open.pop_front()
            {
                oldest.abort();
            }
            match accepted {
                Ok((stream, _)) => {
                    let answers = answer(program, Rc::clone(&daemon), TokioIo::new(stream));
                    open.push_back(connections.spawn_local(answers));
                }
                Err(error) => {
                    daemon.not_accepted(&error);
                    sleep(PAUSE).await;
                }
            }
        }
    }
}

/// Answers one request.
async fn answer<S: Served>(
    program: &'static Program,
    daemon: Rc<S>,
    stream: TokioIo<tokio::net::TcpStream>,
) {
    let answer = service_fn(|request: Request<Incoming>| {
        let response = respond(program, &*daemon, &request);
        async { Ok::<_, Infallible>(response) }
    });
    let mut server = http1::Builder::new();
    server.keep_alive(false).max_buf_size(LONGEST_HEAD);
    server.timer(TokioTimer::new()).header_read_timeout(HEAD);
    // A connection that fails concerns only its client.
    timeout(WHOLE, server.serve_connection(stream, answer)).await.ok();
}

fn respond<S: Served>(
    program: &Program,
    daemon: &S,
    request: &Request<Incoming>,
) -> Response<Full<Bytes>> {
    let path = request.uri().path();
    if !["/", "/status.json", "/metrics"].contains(&path) {
        let text = format!("no such page\n{}", index(program));
        return response(StatusCode::NOT_FOUND, PLAIN, text.into());
    }
    if ![Method::GET, Method::HEAD].contains(request.method()) {
        let text = "only GET and HEAD are allowed\n".into();
        let mut refused = response(StatusCode::METHOD_NOT_ALLOWED, PLAIN, text);
        refused.headers_mut().insert(ALLOW, HeaderValue::from_static("GET, HEAD"));
        return refused;
    }
    let failed = |_| {
        let text = "the state cannot be written\n".into();
        response(StatusCode::INTERNAL_SERVER_ERROR, PLAIN, text)
    };
    match path {
        "/status.json" => match serde_json::to_vec(&daemon.status()) {
            Ok(json) => response(StatusCode::OK, "application/json", json.into()),
            Err(_) => failed(fmt::Error),
        },
        "/metrics" => {
            let accept = request.headers().get(ACCEPT).and_then(|accept| accept.to_str().ok());
            let format = Format::accepted(accept.unwrap_or_default());
            S::metrics(daemon.status(), format)
                .map(|text| response(StatusCode::OK, format.content_type(), text.into()))
                .unwrap_or_else(failed)
        }
        _ => response(StatusCode::OK, PLAIN, index(program).into()),
    }
}

/// The page that names the others.
fn index(Program { command, noun, .. }: &Program) -> String {
    format!("{command}\n/status.json  the {noun}'s state\n/metrics      metrics for Prometheus\n")
}

fn response(code: StatusCode, kind: &'static str, body: Bytes) -> Response<Full<Bytes>> {
    let mut response = Response::new(Full::new(body));
    *response.status_mut() = code;
    let headers = response.headers_mut();
    headers.insert(CONTENT_TYPE, HeaderValue::from_static(kind));
    headers.insert(CACHE_CONTROL, HeaderValue::from_static("no-store"));
    response
}
