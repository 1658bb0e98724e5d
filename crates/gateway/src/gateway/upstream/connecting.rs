//! The connection with a member, from its beginning to its loss, again and again.

use std::collections::BTreeSet;
use std::net::SocketAddr;
use std::rc::Rc;
use std::time::Duration;

use ratewire_acp::wire::Target;
use ratewire_acp::{Connection, Dialer, Frame};
use ratewire_daemon::log::reason;
use tokio::sync::Notify;
use tokio::time::{Instant, sleep_until, timeout};
use tracing::{info, warn};

use super::{State, Upstream};
use crate::frame::{Message, Reply, read_replies};
use crate::gateway::exchanges::Exchange;

/// Time from one attempt to connect to the next.
const RETRY: Duration = Duration::from_millis(500);
/// Time for a member to answer a hello.
const WELCOME: Duration = Duration::from_secs(5);

/// Why a connection ends with a member that leaves, as the switch has told.
const LEAVES: &str = "the member leaves";
/// What a switch says that has no such member.
const NO_MEMBER: &str = "no such member";

impl Upstream {
    /// Keeps a connection with the switch, wherever that is, until the member is gone and has
    /// answered what it had. Wakes who waits for `doubts` when what the switch has told of its
    /// members may be untrue.
    pub(in crate::gateway) async fn run(
        &self,
        dialer: &Dialer,
        switch: impl Fn() -> Option<SocketAddr>,
        doubts: &Notify,
    ) {
        loop {
            match self.state() {
                State::Up => {}
                State::Gone => return,
                State::Down(_) | State::Leaving | State::Awaited => {
                    self.changed.notified().await;
                    continue;
                }
            }
            let next = Instant::now() + RETRY;
            // A member is known from the switch.
            let Some(switch) = switch() else { return };
            match dialer.connect_for(switch, self.target.get()).await {
                Ok(connection) => {
                    let connection = Rc::new(connection);
                    let why = self.serve(Rc::clone(&connection)).await;
                    let was_greeted = self.connection.take().is_some();
                    if (was_greeted && why != LEAVES) || why.contains(NO_MEMBER) {
                        doubts.notify_one();
                    }
                    self.lose(&connection, &why);
                }
                Err(error) => self.note_lack(&reason(&error)),
            }
            tokio::select! {
                () = sleep_until(next) => {}
                () = self.changed.notified(), if !self.is_up() => {}
            }
        }
    }

    /// Serves a connection until it ends; returns why it did.
    async fn serve(&self, connection: Rc<Connection>) -> String {
        let received = match self.target.get() {
            Target::Member(_) => match self.greet(&connection).await {
                Ok(received) => Some(received),
                Err(why) => return why,
            },
            // No member answers for all.
            Target::Once | Target::Ensemble | Target::Table => None,
        };
        if self.lack.take().is_some() {
            let member = self.label();
            info!(target: "ratewire_gateway", member, "connected with a member again");
        }
        *self.connection.borrow_mut() = Some(Rc::clone(&connection));
        self.send_waiting();
        tokio::select! {
            why = self.receive(&connection) => why,
            why = self.send_blocked(&connection, received) => why,
            () = self.until_left() => LEAVES.to_string(),
        }
    }

    /// Asks the member what it has had: the requests below a number. Another process than the last
    /// has had nothing, and cannot tell what the last has had.
    async fn greet(&self, connection: &Connection) -> Result<u64, String> {
        let hello = Message::Hello { gateway: self.gateway }.encode();
        connection.send(Frame::new(0, hello)).await.map_err(|error| reason(&error))?;
        let frame = match timeout(WELCOME, connection.receive()).await {
            Ok(Ok(Some(frame))) => frame,
            Ok(Ok(None)) => return Err("the switch has ended the connection".to_string()),
            Ok(Err(error)) => return Err(reason(&error)),
            Err(_) => return Err("the member does not answer".to_string()),
        };
        let Some([(_, Reply::Welcome { process, received })]) = read_replies(frame.data)
            .as_deref()
            .and_then(|replies| replies.first_chunk::<1>().cloned())
        else {
            return Err("what answers is no member".to_string());
        };
        if self.process.replace(Some(process)) != Some(process) {
            self.outbox.borrow_mut().note_other_process();
        }
        Ok(received)
    }

    /// Takes answers until the connection ends; returns why it did.
    async fn receive(&self, connection: &Connection) -> String {
        loop {
            match connection.receive().await {
                Ok(Some(frame)) => match read_replies(frame.data) {
                    Some(replies) => {
                        replies.into_iter().for_each(|(id, reply)| self.take(id, reply));
                        self.send_waiting();
                    }
                    None => return "the member's answer is not one of a member".to_string(),
                },
                Ok(None) => return "the switch has ended the connection".to_string(),
                Err(error) => return reason(&error),
            }
        }
    }

    /// Sends frames that wait for room in the connection, and those of a lost one, until the
    /// connection ends; returns why it did. `received` is what the member has told.
    async fn send_blocked(&self, connection: &Rc<Connection>, received: Option<u64>) -> String {
        loop {
            let Some(frame) = self.first_blocked(received) else {
                self.send_waiting();
                self.blocked.notified().await;
                continue;
            };
            let number = frame.id;
            // Another may have taken the frame back before there is room.
            let sent = match connection.try_send(frame) {
                Ok(None) => {
                    let mut outbox = self.outbox.borrow_mut();
                    outbox.pop();
                    let was_sent = number != 0 && outbox.may_be_sent(number);
                    self.sent_again.set(self.sent_again.get() + u64::from(was_sent));
                    self.with_upload(number, |upload| upload.begin(connection, number));
                    Ok(())
                }
                Ok(Some(_)) => connection.until_writable().await,
                Err(error) => Err(error),
            };
            if let Err(error) = sent {
                return reason(&error);
            }
        }
    }

    /// The first frame that waits. Requests that the member may have had, or which nobody waits
    /// for, do not stay.
    fn first_blocked(&self, received: Option<u64>) -> Option<Frame> {
        loop {
            let frame = self.outbox.borrow().first().cloned()?;
            let number = frame.id;
            let may_send = self.outbox.borrow().may_send(number, received);
            let is_whole = self.exchanges.borrow().awaited(number).is_some_and(Exchange::is_whole);
            if number == 0 || may_send && is_whole {
                return Some(frame);
            }
            self.outbox.borrow_mut().pop();
            if let Some(ask) = self.take_back(frame) {
                self.ask(ask);
            }
        }
    }

    /// Notes that the connection is over. What the member has not acknowledged is for the next.
    fn lose(&self, connection: &Connection, why: &str) {
        if self.is_up() {
            self.note_lack(why);
        }
        let frames = connection.unacknowledged().unwrap_or_default();
        let unsent = connection.unsent().unwrap_or_default();
        let left: BTreeSet<u64> = self.outbox.borrow_mut().lose(frames, unsent);
        self.fail_others(&left, why);
    }

    /// Notes why there is no connection: once, though it is tried again and again.
    fn note_lack(&self, why: &str) {
        let before = self.lack.replace(Some(why.to_string()));
        if before.as_deref() != Some(why) {
            let member = self.label();
            warn!(target: "ratewire_gateway", member, reason = why, "no connection with a member");
        }
    }

    /// Completes when the member leaves and has answered what it has.
    async fn until_left(&self) {
        while self.is_up()
            || matches!(self.state(), State::Down(_) | State::Awaited)
            || !self.exchanges.borrow().is_empty()
        {
            self.changed.notified().await;
        }
    }
}
