//! The HTTP server.

use std::collections::VecDeque;
use std::fmt;
use std::fs;
use std::future::ready;
use std::io;
use std::net::SocketAddr;
use std::rc::Rc;
use std::time::Duration;

use bytes::Bytes;
use http_body_util::Full;
use hyper::body::Incoming;
use hyper::header::{ACCEPT, ALLOW, HOST, HeaderMap, HeaderValue};
use hyper::{Method, Request, Response, StatusCode};
use ratewire_http::{Host, HostName, MOST, accept, answer, response, text};
use serde::Serialize;
use tokio::net::TcpListener;
use tokio::task::{AbortHandle, JoinSet};
use tokio::time::{MissedTickBehavior, interval, timeout};

use crate::metrics::Format;
use ratewire_status::Program;

/// Least time between two connections: the daemon has more to do than to send its state.
const PACE: Duration = Duration::from_millis(20);
/// Where Linux has the name of the host.
const HOST_NAME: &str = "/proc/sys/kernel/hostname";
/// Time for a connection.
const WHOLE: Duration = Duration::from_secs(10);

/// A running daemon whose state a [`Server`] serves.
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
    /// Name of this host, if it has one.
    host_name: Option<Rc<str>>,
}

impl Server {
    /// Opens an address.
    ///
    /// # Errors
    /// If the address is taken, or not of this host.
    pub async fn bind(address: SocketAddr) -> io::Result<Server> {
        let socket = TcpListener::bind(address).await?;
        let address = socket.local_addr().unwrap_or(address);
        let host_name = fs::read_to_string(HOST_NAME).ok();
        let host_name = host_name.map(|name| name.trim_end().into());
        Ok(Server { socket, address, host_name })
    }

    /// Address of the socket. The kernel has chosen its port if the daemon has asked for port 0.
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// Answers one request a connection until the future is dropped, with at most 16 connections at
    /// a time and 50 a second. One more connection ends the oldest.
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
            let accepted = accept(&self.socket).await;
            while connections.try_join_next().is_some() {}
            open.retain(|connection| !connection.is_finished());
            if open.len() >= MOST
                && let Some(oldest) = open.pop_front()
            {
                oldest.abort();
            }
            match accepted {
                Ok(stream) => {
                    let (daemon, host_name) = (Rc::clone(&daemon), self.host_name.clone());
                    let answered = async move {
                        let own = host_name.as_deref();
                        let respond = |request| ready(respond(program, &*daemon, own, &request));
                        timeout(WHOLE, answer(stream, respond)).await.ok();
                    };
                    open.push_back(connections.spawn_local(answered));
                }
                Err(error) => daemon.not_accepted(&error),
            }
        }
    }
}

fn respond<S: Served>(
    program: &Program,
    daemon: &S,
    host_name: Option<&str>,
    request: &Request<Incoming>,
) -> Response<Full<Bytes>> {
    if !is_asked_directly(request.headers(), host_name) {
        let own = host_name.map(|name| format!(" or {name}")).unwrap_or_default();
        let remedy = format!("ask by an IP address, as localhost{own}\n");
        return text(StatusCode::MISDIRECTED_REQUEST, remedy);
    }
    let path = request.uri().path();
    if !["/", "/status.json", "/metrics"].contains(&path) {
        return text(StatusCode::NOT_FOUND, format!("no such page\n{}", index(program)));
    }
    if ![Method::GET, Method::HEAD].contains(request.method()) {
        let mut refused = text(StatusCode::METHOD_NOT_ALLOWED, "only GET and HEAD are allowed\n");
        refused.headers_mut().insert(ALLOW, HeaderValue::from_static("GET, HEAD"));
        return refused;
    }
    let failed = |_| text(StatusCode::INTERNAL_SERVER_ERROR, "the state cannot be written\n");
    let whole = |kind, body: Bytes| response(StatusCode::OK, kind, Full::new(body));
    match path {
        "/status.json" => match serde_json::to_vec(&daemon.status()) {
            Ok(json) => whole("application/json", json.into()),
            Err(_) => failed(fmt::Error),
        },
        "/metrics" => {
            let accept = request.headers().get(ACCEPT).and_then(|accept| accept.to_str().ok());
            let format = Format::accepted(accept.unwrap_or_default());
            S::metrics(daemon.status(), format)
                .map(|text| whole(format.content_type(), text.into()))
                .unwrap_or_else(failed)
        }
        _ => text(StatusCode::OK, index(program)),
    }
}

/// Whether a request names this host by an address, as localhost or by its own name. A program that
/// sends no `Host` is no browser.
fn is_asked_directly(headers: &HeaderMap, host_name: Option<&str>) -> bool {
    match Host::of(headers) {
        None => !headers.contains_key(HOST),
        Some(Host { name: HostName::Other(name), .. }) => {
            host_name.is_some_and(|own| own.eq_ignore_ascii_case(&name))
        }
        Some(_) => true,
    }
}

/// The page that names the others.
fn index(Program { command, noun, .. }: &Program) -> String {
    format!("{command}\n/status.json  the {noun}'s state\n/metrics      metrics for Prometheus\n")
}
