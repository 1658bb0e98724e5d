//! A member: the requests for it, and the answers.
//!
//! | part | is |
//! |---|---|
//! | `connecting` | the connection with it, which is begun anew when it is lost |
//! | `outbox` | frames that wait for the connection |

mod connecting;
mod outbox;

use std::cell::{Cell, RefCell};
use std::collections::BTreeSet;
use std::rc::Rc;
use std::time::Duration;

use bytes::Bytes;
use outbox::Outbox;
use ratewire_acp::wire::Target;
use ratewire_acp::{Connection, Error, Frame};
use ratewire_daemon::log::reason;
use ratewire_framing::Framing;
use ratewire_switch_interface::status::GatewayMember;
use tokio::sync::Notify;
use tokio::time::Instant;
use tracing::{info, warn};

use super::ask::Ask;
use super::client::Client;
use super::counts::Cause;
use super::exchanges::Exchanges;
use super::fair::Fair;
use super::upload::Upload;
use crate::frame::{Message, Reply};

/// Why a request fails that no connection takes in time.
pub(super) const UNSENT: &str = "the switch takes no requests";
/// Why a request fails that has no answer in time.
const UNANSWERED: &str = "no server has answered in time";

/// What all members together are called.
const ALL: &str = "all";

/// Whether the member takes requests.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum State {
    /// It does.
    Up,
    /// It does not; why, in words.
    Down(String),
    /// It finishes what it has.
    Leaving,
    /// It finishes what it has, and is no member any more.
    Gone,
}

/// The connection with a member, or with all of them, and the requests for it.
pub(super) struct Upstream {
    name: String,
    /// A random number of the gateway's process.
    gateway: u64,
    target: Cell<Target>,
    /// Whether answers wait for credit.
    gives_credit: bool,
    state: RefCell<State>,
    waiting: RefCell<Fair<Ask>>,
    exchanges: RefCell<Exchanges>,
    connection: RefCell<Option<Rc<Connection>>>,
    /// Frames that wait for room in the connection, or for another connection.
    outbox: RefCell<Outbox>,
    /// The member's process.
    process: Cell<Option<u64>>,
    /// Why there is no connection, as was last logged.
    lack: RefCell<Option<String>>,
    /// Requests of lost connections that were sent again.
    sent_again: Cell<u64>,
    /// Woken when a frame waits, and when the state has changed or an exchange is over.
    blocked: Notify,
    changed: Notify,
}

impl Upstream {
    pub(super) fn new(name: &str, target: Target, framing: Framing, gateway: u64) -> Upstream {
        Upstream {
            name: name.to_string(),
            gateway,
            target: Cell::new(target),
            gives_credit: framing.streams(),
            state: RefCell::new(State::Up),
            waiting: RefCell::default(),
            exchanges: RefCell::new(Exchanges::new(framing)),
            connection: RefCell::default(),
            outbox: RefCell::default(),
            process: Cell::new(None),
            lack: RefCell::default(),
            sent_again: Cell::new(0),
            blocked: Notify::new(),
            changed: Notify::new(),
        }
    }

    pub(super) fn name(&self) -> &str {
        &self.name
    }
    pub(super) fn state(&self) -> State {
        self.state.borrow().clone()
    }
    pub(super) fn is_up(&self) -> bool {
        *self.state.borrow() == State::Up
    }
    /// Bytes that the member is expected to owe, and its latency.
    pub(super) fn load(&self) -> (u64, Duration) {
        let exchanges = self.exchanges.borrow();
        (exchanges.bytes(), exchanges.latency())
    }

    /// The name for people.
    fn label(&self) -> &str {
        if self.name.is_empty() { ALL } else { &self.name }
    }
    /// What is known of the member.
    pub(super) fn status(&self) -> GatewayMember {
        let exchanges = self.exchanges.borrow();
        let (state, reason) = match self.state() {
            State::Up => ("up", None),
            State::Down(why) => ("down", Some(why)),
            State::Leaving | State::Gone => ("leaving", None),
        };
        GatewayMember {
            name: self.label().to_string(),
            state: state.to_string(),
            is_connected: self.connection.borrow().is_some(),
            reason: reason.or_else(|| self.lack.borrow().clone()),
            waiting: self.waiting.borrow().waiting() as u64,
            under_way: exchanges.len() as u64,
            expected_bytes: exchanges.bytes(),
            answered: exchanges.latencies().answered(),
            latency: exchanges.latencies().told(),
            sent_again: self.sent_again.get(),
        }
    }

    /// Notes what the switch says of the member. Returns requests that it does not have and will
    /// not get.
    pub(super) fn set(&self, target: Target, state: State) -> Vec<Ask> {
        self.target.set(target);
        let takes_more = state == State::Up;
        let before = self.state.replace(state);
        self.note_change(&before);
        self.changed.notify_one();
        if takes_more { Vec::new() } else { self.give_back() }
    }

    /// Logs what has become of the member.
    fn note_change(&self, before: &State) {
        let (member, now) = (self.label(), self.state());
        match &now {
            _ if now == *before => {}
            State::Up => info!(target: "ratewire_gateway", member, "member up"),
            State::Down(reason) => warn!(target: "ratewire_gateway", member, reason, "member down"),
            State::Leaving => info!(target: "ratewire_gateway", member, "member leaves"),
            State::Gone => info!(target: "ratewire_gateway", member, "member gone"),
        }
    }

    /// Takes back requests that wait, and those that may be done twice of a connection that is
    /// lost.
    fn give_back(&self) -> Vec<Ask> {
        let mut back = self.waiting.borrow_mut().remove(|_| true);
        back.iter().for_each(|ask| ask.client.release_request(ask.content.len()));
        let unsent = self.outbox.borrow_mut().take_requests();
        back.extend(unsent.into_iter().filter_map(|frame| self.take_back(frame)));
        back
    }

    /// Takes a request back. If the member may have had it, and it may not be done twice, its
    /// client is told.
    fn take_back(&self, frame: Frame) -> Option<Ask> {
        let exchange = self.exchanges.borrow_mut().remove(frame.id)?;
        self.waiting.borrow_mut().done(exchange.client().id, 0);
        let why = "the connection with the server is lost: the request may have been done";
        let was_sent = self.outbox.borrow().may_be_sent(frame.id);
        let again = exchange.again(frame.data, was_sent);
        self.sent_again.set(self.sent_again.get() + u64::from(again.is_ok() && was_sent));
        again.map_err(|mut exchange| exchange.fail(Cause::Lost, why)).ok()
    }

    /// Sends a request, now or in its turn.
    pub(super) fn ask(&self, ask: Ask) {
        ask.client.hold_request(ask.content.len());
        self.waiting.borrow_mut().push(ask.client.id, ask.cost(), ask);
        self.send_waiting();
    }

    /// Sends requests for which there is room.
    fn send_waiting(&self) {
        let Some(connection) = self.connection.borrow().clone() else { return };
        while !self.outbox.borrow().has_requests() && self.exchanges.borrow().has_room() {
            let Some(ask) = self.next() else { return };
            let number = self.exchanges.borrow().next();
            match connection.try_send(Frame::new(number, ask.content.clone())) {
                Ok(None) => self.begin(&connection, ask),
                Err(error @ Error::TooLong { .. }) => {
                    self.waiting.borrow_mut().done(ask.client.id, 0);
                    ask.fail(Cause::Unsent, &reason(&error));
                }
                // The connection has no room, or is over, as will be seen.
                Ok(Some(_)) | Err(_) => {
                    let frame = Frame::new(number, ask.content.clone());
                    self.exchanges.borrow_mut().begin(ask);
                    self.outbox.borrow_mut().push(frame);
                    self.blocked.notify_one();
                }
            }
        }
    }

    /// Notes a request that the connection has taken.
    fn begin(&self, connection: &Rc<Connection>, ask: Ask) {
        let upload = ask.upload.clone();
        let number = self.exchanges.borrow_mut().begin(ask);
        if let Some(upload) = upload {
            upload.begin(connection, number);
        }
    }

    /// The next request of a client that takes its answers.
    fn next(&self) -> Option<Ask> {
        let mut waiting = self.waiting.borrow_mut();
        while let Some(ask) = waiting.peek() {
            let client = Rc::clone(&ask.client);
            if client.holds(ask.place) {
                waiting.hold(client.id, true);
                continue;
            }
            let ask = waiting.pop()?;
            client.release_request(ask.content.len());
            return Some(ask);
        }
        None
    }

    /// Asks for more of a client's answers, which it takes again, and sends its requests.
    pub(super) fn resume(&self, client: &Client) {
        self.waiting.borrow_mut().hold(client.id, false);
        if self.gives_credit {
            let credits = self.exchanges.borrow_mut().credits(client.id);
            credits.into_iter().for_each(|(exchange, bytes)| self.give_credit(exchange, bytes));
        }
        self.send_waiting();
    }

    /// Lets the member send more of an answer.
    fn give_credit(&self, exchange: u64, bytes: u64) {
        self.tell(&Message::Credit { exchange, bytes });
    }

    /// Sends what is no request, in front of requests that wait.
    fn tell(&self, message: &Message) {
        let Some(connection) = self.connection.borrow().clone() else { return };
        let frame = Frame::new(0, message.encode());
        let mut outbox = self.outbox.borrow_mut();
        let left = if outbox.has_notes() { Ok(Some(frame)) } else { connection.try_send(frame) };
        if let Ok(Some(note)) = left {
            outbox.push_note(note);
            self.blocked.notify_one();
        }
    }

    /// Forgets the requests of a client that is gone.
    pub(super) fn forget(&self, client: &Client) {
        let left = self.waiting.borrow_mut().forget(client.id);
        left.iter().for_each(|ask| client.release_request(ask.content.len()));
        let numbers = self.exchanges.borrow_mut().abandon(client.id);
        client.counts.abandon(left.len() + numbers.len());
        self.cancel(&numbers);
    }

    /// Tells the member that nobody waits for answers any more.
    fn cancel(&self, numbers: &[u64]) {
        numbers.iter().for_each(|exchange| self.tell(&Message::Cancel { exchange: *exchange }));
    }

    /// Tells clients whose answers do not come in time: what they have asked before then.
    pub(super) fn expire(&self, before: Instant) {
        let late = self.waiting.borrow_mut().remove(|ask| ask.since <= before);
        let why = match &*self.lack.borrow() {
            Some(why) => format!("{UNSENT}: {why}"),
            None => UNSENT.to_string(),
        };
        for ask in late {
            ask.client.release_request(ask.content.len());
            ask.fail(Cause::Late, &why);
        }
        let numbers = self.exchanges.borrow_mut().expire(before, UNANSWERED);
        self.cancel(&numbers);
    }

    /// Ends the connection: it is with a switch that runs no more.
    pub(super) fn reset(&self) {
        if let Some(connection) = &*self.connection.borrow() {
            _ = connection.reset(0, "the switch was restarted");
        }
    }

    /// Tells clients whose answers are lost with the connection: all but those with these numbers.
    fn fail_others(&self, left: &BTreeSet<u64>, why: &str) {
        let numbers = self.exchanges.borrow().numbers();
        for number in numbers.into_iter().filter(|number| !left.contains(number)) {
            let exchange = self.exchanges.borrow_mut().remove(number);
            if let Some(mut exchange) = exchange {
                self.waiting.borrow_mut().done(exchange.client().id, 0);
                exchange.fail(Cause::Lost, &format!("the answer is lost: {why}"));
            }
        }
    }

    /// Ends it: the member is gone. Returns requests that it does not have.
    pub(super) fn end(&self) -> Vec<Ask> {
        let back = self.give_back();
        self.fail_others(&BTreeSet::new(), "the member is gone");
        back
    }

    fn take(&self, number: u64, reply: Reply) {
        match reply {
            Reply::More(piece) => self.take_piece(number, piece),
            Reply::Answer { bytes, closes } => {
                let now = Instant::now();
                let done = self.exchanges.borrow_mut().finish(number, bytes, closes, now);
                if let Some((client, more)) = done {
                    self.waiting.borrow_mut().done(client, more);
                    self.changed.notify_one();
                }
            }
            Reply::Failed(why) => {
                let exchange = self.exchanges.borrow_mut().remove(number);
                if let Some(mut exchange) = exchange {
                    self.waiting.borrow_mut().done(exchange.client().id, 0);
                    exchange.fail(Cause::Server, &String::from_utf8_lossy(&why));
                    self.changed.notify_one();
                }
            }
            Reply::Credit(bytes) => self.with_upload(number, |upload| upload.add_credit(bytes)),
            Reply::Switched => self.with_upload(number, |upload| upload.answer(true)),
            Reply::Welcome { .. } => {}
        }
    }

    fn with_upload(&self, number: u64, act: impl FnOnce(&Upload)) {
        if let Some(upload) = self.exchanges.borrow().upload(number) {
            act(upload);
        }
    }

    fn take_piece(&self, number: u64, piece: Bytes) {
        let due = self.exchanges.borrow_mut().more(number, piece);
        if let Some(bytes) = due.filter(|_| self.gives_credit) {
            self.give_credit(number, bytes);
        }
    }
}
