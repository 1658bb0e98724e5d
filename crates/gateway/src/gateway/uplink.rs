//! The connection with the switch, and the requests that wait for answers.

use std::cell::{Cell, RefCell};
use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::net::SocketAddr;
use std::rc::Rc;
use std::time::Duration;

use ratewire_acp::{Config, Connection, Endpoint, Error, Frame, local_for};
use ratewire_daemon::log::reason;
use ratewire_framing::Expect;
use tokio::sync::Notify;
use tokio::time::Instant;
use tracing::{info, warn};

use super::GatewayConfig;
use super::client::Client;
use crate::frame::{Message, Reply, RequestFrame, read_replies};
use crate::stream::OpenError;

/// Time from one attempt to connect to the next.
const RETRY: Duration = Duration::from_millis(500);
/// Longest time after which a silent switch is asked again: one that has begun anew shows itself in
/// its answer.
const MAX_RTO: ratewire_units::Duration = ratewire_units::Duration::from_secs(1);
/// 2^64 over the golden ratio: it spreads neighbouring numbers.
const GOLDEN: u64 = 0x9e37_79b9_7f4a_7c15;

/// Why a request fails that no connection takes in time.
const UNSENT: &str = "the switch takes no requests";
/// Why a request fails that has no answer in time.
const UNANSWERED: &str = "no server has answered in time";

/// A request that waits for its answer.
struct Pending {
    client: Rc<Client>,
    place: u64,
    expect: Expect,
    since: Instant,
    /// Whether a connection has taken the request.
    is_sent: bool,
}

/// The connection with the switch.
pub(super) struct Uplink {
    endpoint: Endpoint,
    switch: SocketAddr,
    timeout: Duration,
    connection: RefCell<Option<Rc<Connection>>>,
    connected: Notify,
    /// By the frame's number.
    pending: RefCell<BTreeMap<u64, Pending>>,
    next: Cell<u64>,
}

impl Uplink {
    pub(super) fn open(config: &GatewayConfig) -> Result<Uplink, OpenError> {
        let application = config.framing.name().to_string();
        let acp = Config { max_rto: MAX_RTO, application, ..config.acp.clone() };
        let endpoint = Endpoint::client(local_for(config.switch), acp);
        Ok(Uplink {
            endpoint: endpoint.map_err(OpenError::Acp)?,
            switch: config.switch,
            timeout: config.timeout,
            connection: RefCell::default(),
            connected: Notify::new(),
            pending: RefCell::default(),
            next: Cell::new(0),
        })
    }

    /// A key that spreads requests without one.
    pub(super) fn any_key(&self) -> u64 {
        self.next.get().wrapping_mul(GOLDEN)
    }

    /// Sends a request; its answer takes the client's place.
    pub(super) async fn ask(&self, client: &Rc<Client>, place: u64, request: RequestFrame) {
        let (id, expect) = (self.next.get(), request.expect);
        self.next.set(id + 1);
        let since = Instant::now();
        let pending = Pending { client: Rc::clone(client), place, expect, since, is_sent: false };
        self.pending.borrow_mut().insert(id, pending);
        let frame = Frame::new(id, Message::Request(request).encode());
        let connection = self.connection.borrow().clone();
        // Nearly always there is room, and nothing to wait for.
        if let Some(Ok(None)) = connection.map(|connection| connection.try_send(frame.clone())) {
            return self.note_sent(id);
        }
        let why = match tokio::time::timeout(self.timeout, self.send(frame)).await {
            Ok(Ok(())) => return self.note_sent(id),
            Ok(Err(error)) => reason(&error),
            Err(_) => UNSENT.to_string(),
        };
        self.settle(id, Reply::Failed(why.into()));
    }

    fn note_sent(&self, id: u64) {
        if let Some(pending) = self.pending.borrow_mut().get_mut(&id) {
            pending.is_sent = true;
        }
    }

    /// Sends a frame, by another connection if the one at hand ends meanwhile.
    async fn send(&self, frame: Frame) -> Result<(), Error> {
        loop {
            let connection = self.connection().await;
            match connection.send(frame.clone()).await {
                // It is replaced as soon as its last answers are taken.
                Err(Error::Closed(_)) => tokio::task::yield_now().await,
                result => return result,
            }
        }
    }

    async fn connection(&self) -> Rc<Connection> {
        loop {
            let connected = self.connected.notified();
            if let Some(connection) = self.connection.borrow().clone() {
                return connection;
            }
            connected.await;
        }
    }

    fn settle(&self, id: u64, answer: Reply) {
        let pending = self.pending.borrow_mut().remove(&id);
        // An answer that comes too late has no request any more.
        if let Some(Pending { client, place, expect, .. }) = pending {
            client.answer(place, expect, answer);
        }
    }

    /// Connects with the switch again and again, and takes answers. Requests that a switch which is
    /// gone has not acknowledged go to the next.
    pub(super) async fn keep_connected(&self) {
        let mut again: VecDeque<Frame> = VecDeque::new();
        loop {
            let next = Instant::now() + RETRY;
            match self.endpoint.connect(self.switch).await {
                Ok(connection) => {
                    info!(target: "ratewire_gateway", switch = self.switch.to_string(), "connected");
                    let connection = Rc::new(connection);
                    let why = match self.send_again(&connection, &mut again).await {
                        Ok(()) => {
                            *self.connection.borrow_mut() = Some(Rc::clone(&connection));
                            self.connected.notify_waiters();
                            self.receive(&connection).await
                        }
                        Err(error) => reason(&error),
                    };
                    *self.connection.borrow_mut() = None;
                    warn!(target: "ratewire_gateway", reason = why, "the switch is gone");
                    let mut left = VecDeque::from(connection.unacknowledged().unwrap_or_default());
                    left.append(&mut again);
                    again = left;
                    self.settle_acknowledged(&again);
                }
                Err(error) => {
                    let reason = reason(&error);
                    warn!(target: "ratewire_gateway", reason, "cannot connect with the switch");
                }
            }
            tokio::time::sleep_until(next).await;
        }
    }

    /// Sends what a switch that is gone has not acknowledged; what could not be sent stays in
    /// `again`. A client that was told of a failure may have asked again since: its request is
    /// dropped.
    async fn send_again(
        &self,
        connection: &Connection,
        again: &mut VecDeque<Frame>,
    ) -> Result<(), Error> {
        while let Some(frame) = again.front() {
            let is_awaited = self.pending.borrow().contains_key(&frame.id);
            if is_awaited {
                match connection.send(frame.clone()).await {
                    Err(error @ Error::TooLong { .. }) => {
                        self.settle(frame.id, Reply::Failed(reason(&error).into()));
                    }
                    sent => sent?,
                }
            }
            again.pop_front();
        }
        Ok(())
    }

    /// Tells clients of requests that a switch which is gone has acknowledged: their answers are
    /// lost, and to send them `again` could do them twice.
    fn settle_acknowledged(&self, again: &VecDeque<Frame>) {
        let again: BTreeSet<u64> = again.iter().map(|frame| frame.id).collect();
        let lost: Vec<u64> = {
            let pending = self.pending.borrow();
            let sent = pending.iter().filter(|(_, pending)| pending.is_sent);
            sent.map(|(id, _)| *id).filter(|id| !again.contains(id)).collect()
        };
        for id in lost {
            self.settle(id, Reply::Failed("the switch is gone".into()));
        }
    }

    /// Takes answers until the connection ends; returns why it did.
    async fn receive(&self, connection: &Connection) -> String {
        loop {
            match connection.receive().await {
                Ok(Some(frame)) => match read_replies(frame.data) {
                    Some(answers) => {
                        answers.into_iter().for_each(|(id, answer)| self.settle(id, answer));
                    }
                    None => {
                        let why = "the member's answer is not one of a member";
                        self.settle(frame.id, Reply::Failed(why.into()));
                    }
                },
                Ok(None) => return "the switch has ended the connection".to_string(),
                Err(error) => return reason(&error),
            }
        }
    }

    /// Tells clients whose answers do not come in time.
    pub(super) async fn keep_time(&self) {
        loop {
            tokio::time::sleep(self.timeout / 8).await;
            let now = Instant::now();
            let late: Vec<(u64, &str)> = {
                let pending = self.pending.borrow();
                let late = pending.iter().take_while(|(_, p)| p.since + self.timeout <= now);
                late.map(|(id, p)| (*id, if p.is_sent { UNANSWERED } else { UNSENT })).collect()
            };
            for (id, why) in late {
                self.settle(id, Reply::Failed(why.into()));
            }
        }
    }
}
