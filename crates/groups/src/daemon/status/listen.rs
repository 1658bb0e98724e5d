//! The HTTP server.

use std::collections::VecDeque;
use std::convert::Infallible;
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
use ratewire_overlay::OverlayNodeId;
use tokio::net::{TcpListener, TcpStream};
use tokio::task::{AbortHandle, JoinSet};
use tokio::time::{MissedTickBehavior, interval, sleep, timeout};
use tracing::{info, warn};

use super::gather::gather;
use super::metrics::{Format, metrics};
use crate::config::Config;
use crate::daemon::core::Shared;
use crate::daemon::error::DaemonError;
use crate::daemon::record::reason;

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
const INDEX: &str =
    "ratewire groups\n/status.json  the daemon's state\n/metrics      metrics for Prometheus\n";

/// The open socket; none if the configuration has no address for the status.
pub(in crate::daemon) struct Listener {
    socket: Option<TcpListener>,
}

impl Listener {
    /// Opens the address of the configuration. The built-in configuration asks for no status, so a
    /// daemon with it runs without one if the address is taken.
    pub(in crate::daemon) async fn open(
        config: &Config,
        me: OverlayNodeId,
    ) -> Result<Listener, DaemonError> {
        let Some(address) = config.daemon(me).status else { return Ok(Listener { socket: None }) };
        match TcpListener::bind(address).await {
            Ok(socket) => {
                // Port 0 of the configuration takes a free port.
                let address = socket.local_addr().unwrap_or(address).to_string();
                info!(target: "ratewire_groups", address, "status served");
                Ok(Listener { socket: Some(socket) })
            }
            Err(error) if config.is_built_in() => {
                let (address, reason) = (address.to_string(), reason(&error));
                warn!(target: "ratewire_groups", address, reason, "daemon runs without a status");
                Ok(Listener { socket: None })
            }
            Err(error) => Err(DaemonError::Status(address, error)),
        }
    }

    pub(in crate::daemon) fn start(self, shared: &Rc<Shared>, tasks: &mut JoinSet<()>) {
        if let Some(socket) = self.socket {
            let shared = Rc::clone(shared);
            tasks.spawn_local(async move { accept(&shared, &socket).await });
        }
    }
}

async fn accept(shared: &Rc<Shared>, socket: &TcpListener) {
    let mut connections = JoinSet::new();
    let mut open: VecDeque<AbortHandle> = VecDeque::new();
    let mut pace = interval(PACE);
    pace.set_missed_tick_behavior(MissedTickBehavior::Delay);
    loop {
        pace.tick().await;
        let accepted: std::io::Result<(TcpStream, SocketAddr)> = socket.accept().await;
        while connections.try_join_next().is_some() {}
        open.retain(|connection| !connection.is_finished());
        if open.len() >= MOST
            && let Some(oldest) = open.pop_front()
        {
            oldest.abort();
        }
        match accepted {
            Ok((stream, _)) => {
                open.push_back(connections.spawn_local(serve(Rc::clone(shared), stream)));
            }
            Err(error) => {
                shared.record.not_accepted("status", &error);
                sleep(PAUSE).await;
            }
        }
    }
}

/// Answers one request.
async fn serve(shared: Rc<Shared>, stream: TcpStream) {
    let answer = service_fn(|request: Request<Incoming>| {
        let response = respond(&shared, &request);
        async { Ok::<_, Infallible>(response) }
    });
    let mut server = http1::Builder::new();
    server.keep_alive(false).max_buf_size(LONGEST_HEAD);
    server.timer(TokioTimer::new()).header_read_timeout(HEAD);
    // A connection that fails concerns only its client.
    timeout(WHOLE, server.serve_connection(TokioIo::new(stream), answer)).await.ok();
}

fn respond(shared: &Shared, request: &Request<Incoming>) -> Response<Full<Bytes>> {
    let path = request.uri().path();
    if !["/", "/status.json", "/metrics"].contains(&path) {
        let text = format!("no such page\n{INDEX}");
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
        "/status.json" => match serde_json::to_vec(&gather(shared)) {
            Ok(json) => response(StatusCode::OK, "application/json", json.into()),
            Err(_) => failed(std::fmt::Error),
        },
        "/metrics" => {
            let accept = request.headers().get(ACCEPT).and_then(|accept| accept.to_str().ok());
            let format = Format::accepted(accept.unwrap_or_default());
            let text = metrics(gather(shared), format);
            text.map(|text| response(StatusCode::OK, format.content_type(), text.into()))
                .unwrap_or_else(failed)
        }
        _ => response(StatusCode::OK, PLAIN, INDEX.into()),
    }
}

fn response(code: StatusCode, kind: &'static str, body: Bytes) -> Response<Full<Bytes>> {
    let mut response = Response::new(Full::new(body));
    *response.status_mut() = code;
    let headers = response.headers_mut();
    headers.insert(CONTENT_TYPE, HeaderValue::from_static(kind));
    headers.insert(CACHE_CONTROL, HeaderValue::from_static("no-store"));
    response
}
