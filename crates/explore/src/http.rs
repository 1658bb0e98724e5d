//! The server: bounded connections and requests, and answers that are streamed.
//!
//! A connection is a stranger's until its request has shown the token. Strangers, who may say
//! nothing, take no places from those that are answered: one more than the most ends the oldest.

use std::collections::VecDeque;
use std::fmt;
use std::io;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, OnceLock};
use std::time::Duration;

use bytes::Bytes;
use http_body_util::{BodyExt, Either, Full, Limited};
use hyper::body::Incoming;
use hyper::header::{
    CONTENT_SECURITY_POLICY, HeaderName, HeaderValue, REFERRER_POLICY, X_CONTENT_TYPE_OPTIONS,
};
use hyper::{Method, Request, Response, StatusCode};
use ratewire_http::{Host, MOST, PATIENCE, PLAIN, accept, answer};
use tokio::net::TcpListener;
use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use tokio::task::{AbortHandle, JoinSet, yield_now};
use tokio::time::timeout;

use crate::access::{Token, is_own_host};
use crate::answer::Lines;
use crate::deadline::WriteDeadline;
use crate::page;
use crate::request::{MOST_BYTES, RequestError, RunRequest, StopRequest};
use crate::runner::Runner;
use crate::subject::Subject;

/// Strangers' connections at a time.
const MOST_STRANGERS: usize = 128;
/// Time for which a client may read nothing while there is something to read.
const WRITE_PATIENCE: Duration = Duration::from_secs(20);

const HTML: &str = "text/html; charset=utf-8";
const LINES: &str = "application/x-ndjson";

/// Why a page cannot be served.
#[derive(Debug, thiserror::Error)]
pub enum ServerError {
    /// The address is taken, or not of this host.
    #[error("cannot listen on {0}")]
    Address(SocketAddr, #[source] io::Error),
    /// The system has no random numbers for the token.
    #[error("the system gives no random numbers")]
    Random(#[source] getrandom::Error),
}

/// The open socket of a page.
#[derive(Debug)]
pub struct Server {
    socket: TcpListener,
    site: Arc<Site>,
    write_patience: Duration,
}

/// What connections share.
struct Site {
    address: SocketAddr,
    token: Token,
    html: Bytes,
    /// Runs what the page asks for; `None` where nothing is run.
    runner: Option<Arc<Runner>>,
    /// Places of those that are answered.
    places: Arc<Semaphore>,
}

/// A connection from its acceptance to its end.
#[derive(Default)]
struct Connection {
    /// Whether its request has shown the token.
    is_known: Arc<AtomicBool>,
    /// Its place, once it has one.
    place: OnceLock<OwnedSemaphorePermit>,
}

impl fmt::Debug for Site {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Site").field("address", &self.address).finish_non_exhaustive()
    }
}

impl Server {
    /// Opens an address for a page about `subject`. With port 0 the system chooses the port.
    ///
    /// # Errors
    /// If the address is taken, or not of this host.
    pub async fn bind(address: SocketAddr, subject: Subject) -> Result<Server, ServerError> {
        let failed = |source| ServerError::Address(address, source);
        let socket = TcpListener::bind(address).await.map_err(failed)?;
        let address = socket.local_addr().map_err(failed)?;
        let token = Token::random().map_err(ServerError::Random)?;
        let (html, runner) = match subject {
            Subject::Scenario(explored) => {
                (page::of_scenario(&explored), Some(Arc::new(Runner::new(*explored))))
            }
            Subject::Sweep(sweep) => (page::of_sweep(&sweep), None),
        };
        let site = Arc::new(Site {
            address,
            token,
            html: html.into(),
            runner,
            places: Arc::new(Semaphore::new(MOST)),
        });
        Ok(Server { socket, site, write_patience: WRITE_PATIENCE })
    }

    /// Sets the time for which a client may read nothing while there is something to read; 20 s
    /// otherwise. Its connection then ends.
    #[must_use]
    pub fn write_patience(self, patience: Duration) -> Server {
        Server { write_patience: patience, ..self }
    }

    /// Address of the page, with the token that opens it. A browser on this machine can open it:
    /// a server on all addresses is called by that of the loopback.
    pub fn url(&self) -> String {
        let Site { address, token, .. } = &*self.site;
        let ip = match address.ip() {
            IpAddr::V4(ip) if ip.is_unspecified() => Ipv4Addr::LOCALHOST.into(),
            IpAddr::V6(ip) if ip.is_unspecified() => Ipv6Addr::LOCALHOST.into(),
            ip => ip,
        };
        format!("http://{}/?token={}", SocketAddr::new(ip, address.port()), token.as_str())
    }

    /// Answers until the future is dropped, at most 16 connections at a time: one more waits. A run
    /// that is under way then ends.
    pub async fn serve(self) {
        match self.site.runner.clone() {
            Some(runner) => tokio::select! {
                () = runner.work() => {}
                () = self.accept() => {}
            },
            None => self.accept().await,
        }
    }

    /// Accepts connections until the future is dropped, which ends them and cancels their runs.
    async fn accept(self) {
        // Its drop ends all connections.
        let mut connections = JoinSet::new();
        let mut strangers: VecDeque<(AbortHandle, Arc<AtomicBool>)> = VecDeque::new();
        loop {
            let accepted = accept(&self.socket).await;
            while connections.try_join_next().is_some() {}
            strangers.retain(|(task, is_known)| {
                !task.is_finished() && !is_known.load(Ordering::Relaxed)
            });
            if strangers.len() >= MOST_STRANGERS
                && let Some((oldest, _)) = strangers.pop_front()
            {
                oldest.abort();
            }
            // A connection that the system cannot accept concerns only its page.
            let Ok(stream) = accepted else { continue };
            let (site, connection) = (Arc::clone(&self.site), Arc::new(Connection::default()));
            let stream = WriteDeadline::new(stream, self.write_patience);
            let is_known = Arc::clone(&connection.is_known);
            let task = connections.spawn(async move {
                answer(stream, |request| respond(&site, &connection, request)).await;
            });
            strangers.push_back((task, is_known));
            // A request that is here already is read before more connections are taken.
            yield_now().await;
        }
    }
}

type PageResponse = Response<Either<Full<Bytes>, Lines>>;

async fn respond(site: &Site, connection: &Connection, request: Request<Incoming>) -> PageResponse {
    if !is_own_host(Host::of(request.headers()), site.address) || !site.token.is_in(request.uri()) {
        let text = "open the address that `ratewire explore` has printed, with its token, by an IP address \
                    or as localhost\n";
        return whole(StatusCode::FORBIDDEN, PLAIN, text.into());
    }
    connection.is_known.store(true, Ordering::Relaxed);
    // The semaphore is never closed, and a connection has one request.
    if let Ok(place) = Arc::clone(&site.places).acquire_owned().await {
        _ = connection.place.set(place);
    }
    let (method, path) = (request.method().clone(), request.uri().path().to_string());
    match (&method, path.as_str(), &site.runner) {
        (&Method::GET | &Method::HEAD, "/", _) => whole(StatusCode::OK, HTML, site.html.clone()),
        (&Method::POST, "/run", Some(runner)) => {
            match read(request.into_body(), RunRequest::read).await {
                Ok(asked) => response(StatusCode::OK, LINES, Either::Right(runner.start(asked))),
                Err(refusal) => refusal,
            }
        }
        (&Method::POST, "/stop", Some(runner)) => {
            match read(request.into_body(), StopRequest::read).await {
                Ok(asked) => {
                    runner.stop(&asked.page);
                    whole(StatusCode::NO_CONTENT, PLAIN, Bytes::new())
                }
                Err(refusal) => refusal,
            }
        }
        (_, "/" | "/run" | "/stop", _) => {
            whole(StatusCode::METHOD_NOT_ALLOWED, PLAIN, "this method is not allowed here\n".into())
        }
        _ => whole(StatusCode::NOT_FOUND, PLAIN, "no such page\n".into()),
    }
}

/// Reads the body of a request, or refuses it.
async fn read<R>(
    body: Incoming,
    parse: impl FnOnce(&[u8]) -> Result<R, RequestError>,
) -> Result<R, PageResponse> {
    let (code, why) = match timeout(PATIENCE, Limited::new(body, MOST_BYTES).collect()).await {
        Ok(Ok(body)) => match parse(&body.to_bytes()) {
            Ok(request) => return Ok(request),
            Err(wrong) => (StatusCode::UNPROCESSABLE_ENTITY, wrong.to_string()),
        },
        Ok(Err(_)) => {
            let why = format!("the request is not whole, or longer than {MOST_BYTES} bytes");
            (StatusCode::PAYLOAD_TOO_LARGE, why)
        }
        Err(_) => (StatusCode::REQUEST_TIMEOUT, "the request came too slowly".to_string()),
    };
    Err(whole(code, PLAIN, (why + "\n").into()))
}

fn whole(code: StatusCode, kind: &'static str, body: Bytes) -> PageResponse {
    response(code, kind, Either::Left(Full::new(body)))
}

/// An answer with the headers of all answers: the page stays in its own window, and its address,
/// which has the token, goes nowhere.
fn response(
    code: StatusCode,
    kind: &'static str,
    body: Either<Full<Bytes>, Lines>,
) -> PageResponse {
    const HEADERS: [(HeaderName, &str); 3] = [
        (REFERRER_POLICY, "no-referrer"),
        (X_CONTENT_TYPE_OPTIONS, "nosniff"),
        (CONTENT_SECURITY_POLICY, "frame-ancestors 'none'"),
    ];
    let mut response = ratewire_http::response(code, kind, body);
    for (name, value) in HEADERS {
        response.headers_mut().insert(name, HeaderValue::from_static(value));
    }
    response
}
