//! The connection with a member, and the requests for it.

use std::cell::{Cell, RefCell};
use std::collections::{BTreeSet, VecDeque};
use std::net::SocketAddr;
use std::rc::Rc;
use std::time::Duration;

use bytes::Bytes;
use ratewire_acp::wire::Target;
use ratewire_acp::{Connection, Dialer, Error, Frame};
use ratewire_daemon::log::reason;
use ratewire_framing::Framing;
use ratewire_switch_interface::status::GatewayMember;
use tokio::sync::Notify;
use tokio::time::{Instant, sleep_until, timeout};
use tracing::{info, warn};

use super::ask::Ask;
use super::client::Client;
use super::counts::Cause;
use super::exchanges::{Exchange, Exchanges};
use super::fair::Fair;
use super::upload::Upload;
use crate::frame::{Message, Reply, read_replies};

/// Time from one attempt to connect to the next.
const RETRY: Duration = Duration::from_millis(500);
/// Time for a member to answer a hello.
const WELCOME: Duration = Duration::from_secs(5);

/// What a switch says that has no such member.
const NO_MEMBER: &str = "no such member";

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
    /// The next frame, for which the connection has had no room.
    unsent: RefCell<Option<Frame>>,
    /// Frames that are no requests, for which it has had no room either.
    notes: RefCell<VecDeque<Frame>>,
    /// Frames that a lost connection has not acknowledged.
    again: RefCell<VecDeque<Frame>>,
    /// The member's process.
    process: Cell<Option<u64>>,
    /// Why there is no connection, as was last logged.
    lack: RefCell<Option<String>>,
    /// Requests of lost connections that were sent again.
    sent_again: Cell<u64>,
    /// Woken when a frame is unsent, and when the state has changed or an exchange is over.
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
            unsent: RefCell::default(),
            notes: RefCell::default(),
            again: RefCell::default(),
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
        back.iter().for_each(|ask| ask.client.asked(ask.content.len()));
        let again = self.again.take();
        back.extend(again.into_iter().filter_map(|frame| self.take_again(frame)));
        back
    }

    /// Takes a request of a lost connection back, which the member may have had, if it may be done
    /// twice; else its client is told.
    fn take_again(&self, frame: Frame) -> Option<Ask> {
        let exchange = self.exchanges.borrow_mut().remove(frame.id)?;
        self.waiting.borrow_mut().done(exchange.client().id, 0);
        let why = "the connection with the server is lost: the request may have been done";
        let again = exchange.again(frame.data);
        self.sent_again.set(self.sent_again.get() + u64::from(again.is_ok()));
        again.map_err(|mut exchange| exchange.fail(Cause::Lost, why)).ok()
    }

    /// Sends a request, now or in its turn.
    pub(super) fn ask(&self, ask: Ask) {
        ask.client.ask(ask.content.len());
        self.waiting.borrow_mut().push(ask.client.id, ask.cost(), ask);
        self.send_waiting();
    }

    /// Sends requests for which there is room.
    fn send_waiting(&self) {
        let Some(connection) = self.connection.borrow().clone() else { return };
        while self.unsent.borrow().is_none() && self.exchanges.borrow().has_room() {
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
                    *self.unsent.borrow_mut() = Some(frame);
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
            client.asked(ask.content.len());
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
        let mut notes = self.notes.borrow_mut();
        let left = if notes.is_empty() { connection.try_send(frame) } else { Ok(Some(frame)) };
        if let Ok(Some(frame)) = left {
            notes.push_back(frame);
            self.blocked.notify_one();
        }
    }

    /// Forgets the requests of a client that is gone.
    pub(super) fn forget(&self, client: &Client) {
        let left = self.waiting.borrow_mut().forget(client.id);
        left.iter().for_each(|ask| client.asked(ask.content.len()));
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
            ask.client.asked(ask.content.len());
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

    /// Keeps a connection with the switch, wherever that is, until the member is gone and has
    /// answered what it had. Wakes who waits for `doubts` when what the switch has told of its
    /// members may be untrue.
    pub(super) async fn run(
        &self,
        dialer: &Dialer,
        switch: impl Fn() -> Option<SocketAddr>,
        doubts: &Notify,
    ) {
        loop {
            match self.state() {
                State::Up => {}
                State::Gone => return,
                State::Down(_) | State::Leaving => {
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
                    if was_greeted || why.contains(NO_MEMBER) {
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
        let begun = match self.target.get() {
            Target::Member(_) => self.greet(&connection).await,
            // No member answers for all.
            Target::Once | Target::Ensemble | Target::Table => self.repeat(&connection, None).await,
        };
        if let Err(why) = begun {
            return why;
        }
        if self.lack.take().is_some() {
            let member = self.label();
            info!(target: "ratewire_gateway", member, "connected with a member again");
        }
        *self.connection.borrow_mut() = Some(Rc::clone(&connection));
        self.send_waiting();
        tokio::select! {
            why = self.receive(&connection) => why,
            why = self.send_unsent(&connection) => why,
            () = self.until_left() => "the member leaves".to_string(),
        }
    }

    /// Asks the member what it has had, and sends the rest again.
    async fn greet(&self, connection: &Connection) -> Result<(), String> {
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
        let is_same = self.process.replace(Some(process)) == Some(process);
        self.repeat(connection, is_same.then_some(received)).await
    }

    /// Sends requests of a lost connection again. The member's process has had those below
    /// `received`; if that is not known, it may have had any.
    async fn repeat(&self, connection: &Connection, received: Option<u64>) -> Result<(), String> {
        loop {
            let Some(frame) = self.again.borrow().front().cloned() else { return Ok(()) };
            let is_whole =
                self.exchanges.borrow().awaited(frame.id).is_some_and(Exchange::is_whole);
            if is_whole && received.is_some_and(|received| frame.id >= received) {
                connection.send(frame).await.map_err(|error| reason(&error))?;
                self.sent_again.set(self.sent_again.get() + 1);
            } else if let Some(ask) = self.take_again(frame) {
                self.ask(ask);
            }
            self.again.borrow_mut().pop_front();
        }
    }

    /// Notes that the connection is over. What the member has not acknowledged is for the next.
    fn lose(&self, connection: &Connection, why: &str) {
        self.notes.take();
        if self.is_up() {
            self.note_lack(why);
        }
        // What was sent again stands before what was still to be.
        let mut again = VecDeque::from(connection.unacknowledged().unwrap_or_default());
        again.extend(self.unsent.take());
        again.append(&mut self.again.borrow_mut());
        let left: BTreeSet<u64> = again.iter().map(|frame| frame.id).collect();
        *self.again.borrow_mut() = again;
        self.fail_others(&left, why);
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

    /// Notes why there is no connection: once, though it is tried again and again.
    fn note_lack(&self, why: &str) {
        let before = self.lack.replace(Some(why.to_string()));
        if before.as_deref() != Some(why) {
            let member = self.label();
            warn!(target: "ratewire_gateway", member, reason = why, "no connection with a member");
        }
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

    /// Sends frames for which the connection has had no room; returns why it ended.
    async fn send_unsent(&self, connection: &Rc<Connection>) -> String {
        loop {
            let note = self.notes.borrow().front().cloned();
            let is_note = note.is_some();
            let Some(frame) = note.or_else(|| self.unsent.borrow().clone()) else {
                self.blocked.notified().await;
                continue;
            };
            let number = frame.id;
            if let Err(error) = connection.send(frame).await {
                return reason(&error);
            }
            if is_note {
                self.notes.borrow_mut().pop_front();
                continue;
            }
            self.unsent.take();
            self.with_upload(number, |upload| upload.begin(connection, number));
            // Who has left meanwhile has been told of before the request.
            if self.exchanges.borrow().awaited(number).is_none() {
                self.cancel(&[number]);
            }
            self.send_waiting();
        }
    }

    /// Completes when the member leaves and has answered what it has.
    async fn until_left(&self) {
        while self.is_up()
            || matches!(self.state(), State::Down(_))
            || !self.exchanges.borrow().is_empty()
        {
            self.changed.notified().await;
        }
    }
}
