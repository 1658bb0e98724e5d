//! Connections with the server, of which those that wait for a request are kept.

use std::cell::{Cell, RefCell};
use std::collections::VecDeque;
use std::future::poll_fn;
use std::io;
use std::pin::Pin;
use std::rc::Rc;
use std::task::Poll;
use std::time::Duration;

use ratewire_daemon::log::reason;
use tokio::io::{AsyncRead, ReadBuf};
use tokio::sync::{Notify, Semaphore, SemaphorePermit};
use tokio::time::Instant;
use tracing::warn;

use super::exchange::Uploads;
use crate::member::MemberConfig;
use crate::member::server::open;
use crate::stream::Stream;

/// Bytes of requests that wait. Further requests fail.
const MOST_BYTES: usize = 16 << 20;
/// Bytes of uploads that are held. Those that send more fail.
const MOST_UPLOADED: u64 = 256 << 20;
/// Time for which a connection is kept: servers close them after 5 s and more.
const LONGEST_IDLE: Duration = Duration::from_secs(30);
/// Time for which the same failure is not logged again.
const SILENCE: Duration = Duration::from_secs(1);

pub(in crate::member) struct Pool {
    config: Rc<MemberConfig>,
    /// Places for connections, with requests under way and kept.
    places: Semaphore,
    /// Bytes of requests that wait for a place.
    waiting: Cell<usize>,
    uploads: Rc<Uploads>,
    /// Connections without a request, the latest at the end, and since when.
    idle: RefCell<VecDeque<(Instant, Stream)>>,
    kept: Notify,
    is_down: Cell<bool>,
    /// What was logged last, and when.
    last: RefCell<Option<(Instant, String)>>,
}

/// A connection for a request.
pub(super) struct Open {
    pub(super) stream: Stream,
    /// Whether it has carried other requests.
    pub(super) is_reused: bool,
}

impl Pool {
    pub(in crate::member) fn new(config: Rc<MemberConfig>) -> Pool {
        let places = Semaphore::new(config.connections.min(Semaphore::MAX_PERMITS));
        Pool {
            config,
            places,
            waiting: Cell::new(0),
            uploads: Rc::new(Uploads::new(MOST_UPLOADED)),
            idle: RefCell::default(),
            kept: Notify::new(),
            is_down: Cell::new(false),
            last: RefCell::default(),
        }
    }

    pub(super) fn config(&self) -> &MemberConfig {
        &self.config
    }

    /// Waits for a place among the requests under way; `None` if too many wait. Requests wait in
    /// the order of their coming.
    pub(super) async fn place(&self, bytes: usize) -> Option<SemaphorePermit<'_>> {
        if let Ok(place) = self.places.try_acquire() {
            return Some(place);
        }
        if self.waiting.get() + bytes > MOST_BYTES {
            return None;
        }
        let _waiting = Counted::new(&self.waiting, bytes);
        self.places.acquire().await.ok()
    }

    /// A connection for a request: if it may be a kept one, that or a new one, whatever is there
    /// first.
    pub(super) async fn connect(&self, may_be_kept: bool) -> io::Result<Open> {
        if !may_be_kept {
            return self.connect_anew().await;
        }
        tokio::select! {
            biased;
            stream = self.kept() => Ok(Open { stream, is_reused: true }),
            opened = self.connect_anew() => opened,
        }
    }

    async fn connect_anew(&self) -> io::Result<Open> {
        let opened = open(&self.config.server, self.config.patience, self.is_down.get()).await;
        if let Err(error) = &opened {
            self.note(&reason(error));
        }
        self.is_down.set(opened.is_err());
        Ok(Open { stream: opened?, is_reused: false })
    }

    /// Waits for a kept connection.
    async fn kept(&self) -> Stream {
        loop {
            while let Some(mut stream) = self.latest() {
                if is_open(&mut stream).await {
                    return stream;
                }
            }
            self.kept.notified().await;
        }
    }

    fn latest(&self) -> Option<Stream> {
        let (since, stream) = self.idle.borrow_mut().pop_back()?;
        if !is_old(since) {
            return Some(stream);
        }
        // The others are older.
        self.idle.borrow_mut().clear();
        None
    }

    /// Number of kept connections.
    pub(in crate::member) fn kept_count(&self) -> usize {
        self.idle.borrow().len()
    }
    pub(super) fn uploads(&self) -> &Rc<Uploads> {
        &self.uploads
    }
    /// Bytes of requests that wait for a place, and of uploads that the server has not taken.
    pub(in crate::member) fn waiting(&self) -> u64 {
        self.waiting.get() as u64 + self.uploads.held()
    }

    /// Keeps a connection for another request.
    pub(super) fn keep(&self, stream: Stream) {
        let mut idle = self.idle.borrow_mut();
        idle.push_back((Instant::now(), stream));
        // The place of the request that has had this connection is still taken.
        let most = self.places.available_permits() + 1;
        while idle.len() > most || idle.front().is_some_and(|(since, _)| is_old(*since)) {
            idle.pop_front();
        }
        self.kept.notify_one();
    }

    /// Logs why a request has failed: the same reason once a second.
    pub(super) fn note(&self, why: &str) {
        let mut last = self.last.borrow_mut();
        if last.as_ref().is_none_or(|(at, known)| known != why || at.elapsed() >= SILENCE) {
            warn!(target: "ratewire_gateway", reason = why, "the server fails requests");
            *last = Some((Instant::now(), why.to_string()));
        }
    }
}

fn is_old(since: Instant) -> bool {
    since.elapsed() > LONGEST_IDLE
}

/// Whether nothing has come on a connection: neither its end nor bytes that nobody asked for.
async fn is_open(stream: &mut Stream) -> bool {
    let mut byte = [0];
    poll_fn(|context| {
        let mut buffer = ReadBuf::new(&mut byte);
        Poll::Ready(Pin::new(&mut *stream).poll_read(context, &mut buffer).is_pending())
    })
    .await
}

/// Bytes that count until this is dropped.
struct Counted<'a> {
    sum: &'a Cell<usize>,
    bytes: usize,
}

impl<'a> Counted<'a> {
    fn new(sum: &'a Cell<usize>, bytes: usize) -> Counted<'a> {
        sum.set(sum.get() + bytes);
        Counted { sum, bytes }
    }
}

impl Drop for Counted<'_> {
    fn drop(&mut self) {
        self.sum.set(self.sum.get() - self.bytes);
    }
}
