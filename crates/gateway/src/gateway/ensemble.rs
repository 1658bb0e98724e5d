//! The members behind the switch, and the requests that have none yet.

use std::cell::{Cell, RefCell};
use std::collections::{BTreeMap, VecDeque};
use std::net::SocketAddr;
use std::rc::Rc;
use std::time::Duration;

use bytes::Bytes;
use ratewire_acp::wire::Target;
use ratewire_acp::{Config, Dialer, Error};
use ratewire_framing::{Expect, Framing};
use ratewire_switch_interface::table::{MemberState, Table};
use ratewire_units::Bytes as Size;
use ring::rand::{SecureRandom, SystemRandom};
use tokio::sync::Notify;
use tokio::task::spawn_local;
use tokio::time::{Instant, timeout};

use super::ask::Ask;
use super::choice::{Choice, Chosen, keeps};
use super::client::{Client, Place};
use super::counts::Cause;
use super::upload::Upload;
use super::upstream::{State, UNSENT, Upstream};
use crate::frame::{Message, RequestFrame};

/// Longest retransmission timeout: a switch that has begun anew shows itself in its answer.
const MAX_RTO: ratewire_units::Duration = ratewire_units::Duration::from_secs(1);
/// Bytes that wait in front of a request which is the next to be sent.
const UNSENT_BYTES: Size = Size::new(256 << 10);
/// Why messages that pass in pieces do not pass a switch that chooses members itself.
const IN_PIECES: &str = "the switch has routing = \"wasm\", which takes no HTTP: give it another";
/// Why requests fail while members are awaited that nobody knows yet.
const GATHERS: &str = "the switch has just begun, and waits for its members to register";
/// 2^64 over the golden ratio: it spreads neighbouring numbers.
const GOLDEN: u64 = 0x9e37_79b9_7f4a_7c15;

/// How requests are sent.
enum Spread {
    /// The switch has not told its members yet.
    Unknown,
    /// By the gateway, to members.
    Gateway(Choice),
    /// By the switch.
    Switch(Rc<Upstream>),
}

/// The members behind a switch.
pub(super) struct Ensemble {
    dialer: Dialer,
    /// Where the switch has told its members.
    switch: Cell<Option<SocketAddr>>,
    framing: Framing,
    timeout: Duration,
    /// A random number of this process.
    gateway: u64,
    /// By name; that of all members together is empty.
    upstreams: RefCell<BTreeMap<String, Rc<Upstream>>>,
    spread: RefCell<Spread>,
    /// Requests for which there is no member.
    waiting: RefCell<VecDeque<Ask>>,
    /// What the switch has told last, before it was told to end.
    table: RefCell<Option<Table>>,
    asked: Cell<u64>,
    /// Connections with members that were begun.
    begun: Cell<u64>,
    /// Woken when the members are known, and when what is known of them may be untrue.
    told: Notify,
    doubts: Notify,
    /// Members that are gone and finish what they have.
    gone: RefCell<Vec<Rc<Upstream>>>,
}

impl Ensemble {
    /// The members behind a switch, of which nothing is known yet.
    ///
    /// # Errors
    /// When the kernel gives no random numbers.
    pub(super) fn open(
        framing: Framing,
        timeout: Duration,
        acp: &Config,
    ) -> Result<Ensemble, Error> {
        let mut gateway = [0; 8];
        SystemRandom::new().fill(&mut gateway).map_err(|_| Error::Random)?;
        let application = framing.name().to_string();
        let (max_rto, unsent_buffer) = (MAX_RTO, UNSENT_BYTES);
        let acp = Config { max_rto, unsent_buffer, application, ..acp.clone() };
        Ok(Ensemble {
            dialer: Dialer::new(acp),
            switch: Cell::new(None),
            framing,
            timeout,
            gateway: u64::from_be_bytes(gateway),
            upstreams: RefCell::default(),
            spread: RefCell::new(Spread::Unknown),
            waiting: RefCell::default(),
            table: RefCell::default(),
            asked: Cell::new(0),
            begun: Cell::new(0),
            told: Notify::new(),
            doubts: Notify::new(),
            gone: RefCell::default(),
        })
    }

    /// The sockets of all connections with the switch.
    pub(super) fn dialer(&self) -> &Dialer {
        &self.dialer
    }

    /// Sends a request of a client. One without a key may go to any member.
    pub(super) fn ask(
        &self,
        client: &Rc<Client>,
        place: Place,
        (key, expect): (Option<u64>, Expect),
        bytes: Bytes,
        upload: Option<Rc<Upload>>,
    ) {
        client.counts.ask();
        self.asked.set(self.asked.get() + 1);
        let is_for_any = key.is_none();
        let key = key.unwrap_or_else(|| self.asked.get().wrapping_mul(GOLDEN));
        let may_repeat = self.framing.may_repeat(&bytes);
        let request = RequestFrame { key, expect, bytes };
        let message = match upload {
            Some(_) => Message::Begin(request),
            None => Message::Request(request),
        };
        let (client, since, content) = (Rc::clone(client), Instant::now(), message.encode());
        self.place(Ask { client, place, expect, since, content, is_for_any, may_repeat, upload });
    }

    /// Sends a request of a client to all members; returns how many there are. Their answers take
    /// the places of parts, from 0 on.
    pub(super) fn ask_all(
        &self,
        client: &Rc<Client>,
        order: u64,
        expect: Expect,
        bytes: &Bytes,
    ) -> usize {
        let members = match &*self.spread.borrow() {
            Spread::Gateway(choice) => choice.all(),
            // The switch gives a request to one member.
            Spread::Unknown | Spread::Switch(_) => return 0,
        };
        let since = Instant::now();
        let (is_for_any, may_repeat) = (false, self.framing.may_repeat(bytes));
        for (part, member) in (0..).zip(&members) {
            let request = RequestFrame { key: 0, expect, bytes: bytes.clone() };
            let content = Message::Request(request).encode();
            client.counts.ask();
            let (client, place) = (Rc::clone(client), Place { order, part });
            let upload = None;
            let ask = Ask { client, place, expect, since, content, is_for_any, may_repeat, upload };
            match member.state() {
                State::Down(why) => {
                    ask.fail(Cause::Down, &format!("member {} is down: {why}", member.name()));
                }
                State::Awaited => ask.fail(Cause::Down, GATHERS),
                State::Up | State::Leaving | State::Gone => member.ask(ask),
            }
        }
        members.len()
    }

    /// Waits until the switch has told its members, as long as for an answer.
    pub(super) async fn until_known(&self) {
        let known = async {
            loop {
                let told = self.told.notified();
                if !matches!(*self.spread.borrow(), Spread::Unknown) {
                    return;
                }
                told.await;
            }
        };
        // Who asks in vain is told so.
        _ = timeout(self.timeout, known).await;
    }

    /// Gives a request to its member.
    fn place(&self, ask: Ask) {
        let chosen = match &mut *self.spread.borrow_mut() {
            Spread::Unknown => Chosen::Nobody,
            Spread::Gateway(choice) => choice.choose(&ask),
            // The pieces of a message would go to any members.
            Spread::Switch(_) if self.framing.streams() => Chosen::Down(IN_PIECES.to_string()),
            Spread::Switch(all) => Chosen::Member(Rc::clone(all)),
        };
        match chosen {
            Chosen::Member(member) => member.ask(ask),
            Chosen::Down(why) => ask.fail(Cause::Down, &why),
            Chosen::Nobody => {
                ask.client.hold_request(ask.content.len());
                self.waiting.borrow_mut().push_back(ask);
            }
        }
    }

    /// Takes what the switch at an address tells of its members.
    pub(super) fn apply(self: &Rc<Self>, switch: SocketAddr, table: Table) {
        self.switch.set(Some(switch));
        let before = self.table.take();
        let Some(table) = self.complete(table, before.as_ref()) else { return };
        if before.as_ref().is_some_and(|before| before.switch != table.switch) {
            // Connections that have nothing to send would not notice that the switch is another.
            self.upstreams.borrow().values().for_each(|upstream| upstream.reset());
        }
        let mut back = Vec::new();
        let mut members = Vec::new();
        for row in &table.members {
            let state = match &row.state {
                MemberState::Up => State::Up,
                MemberState::Down(why) => State::Down(why.clone()),
                MemberState::Leaving => State::Leaving,
                MemberState::Awaited => State::Awaited,
            };
            let target = Target::Member(row.id);
            let upstream = self.upstream(&row.name, target);
            back.append(&mut upstream.set(target, state));
            members.push(upstream);
        }
        let choice = Choice::of(&table, members.clone(), self.framing.is_store());
        *self.spread.borrow_mut() = match choice {
            Some(choice) => Spread::Gateway(choice),
            None => {
                members.clear();
                let all = self.upstream("", Target::Once);
                members.push(Rc::clone(&all));
                Spread::Switch(all)
            }
        };
        // Members of a switch that ends are expected at the next one.
        *self.table.borrow_mut() = if table.ends { before } else { Some(table) };
        self.told.notify_waiters();
        let is_left =
            |known: &Rc<Upstream>| !members.iter().any(|member| Rc::ptr_eq(member, known));
        let left: Vec<Rc<Upstream>> =
            self.upstreams.borrow().values().filter(|known| is_left(known)).cloned().collect();
        for upstream in left {
            back.append(&mut upstream.set(Target::Ensemble, State::Gone));
            self.upstreams.borrow_mut().remove(upstream.name());
            self.gone.borrow_mut().push(upstream);
        }
        let waiting = self.waiting.take();
        waiting.iter().for_each(|ask| ask.client.release_request(ask.content.len()));
        back.into_iter().chain(waiting).for_each(|ask| self.place(ask));
    }

    /// A table with the members that a switch which has just begun may lack: what belongs to them
    /// waits for them. `None` if they are not known.
    fn complete(&self, mut table: Table, before: Option<&Table>) -> Option<Table> {
        if table.gathers && keeps(&table, self.framing.is_store()) {
            table.keep_missing_of(before?);
        }
        Some(table)
    }

    /// The connection with a member, which is begun if there is none.
    fn upstream(self: &Rc<Self>, name: &str, target: Target) -> Rc<Upstream> {
        if let Some(known) = self.upstreams.borrow().get(name) {
            return Rc::clone(known);
        }
        // A member that returns counts anew, and may not take that for what it has had.
        let gateway = self.gateway.wrapping_add(self.begun.get());
        self.begun.set(self.begun.get() + 1);
        let upstream = Rc::new(Upstream::new(name, target, self.framing, gateway));
        self.upstreams.borrow_mut().insert(name.to_string(), Rc::clone(&upstream));
        let (ensemble, running) = (Rc::clone(self), Rc::clone(&upstream));
        spawn_local(async move {
            running.run(&ensemble.dialer, || ensemble.switch.get(), &ensemble.doubts).await;
            ensemble.gone.borrow_mut().retain(|known| !Rc::ptr_eq(known, &running));
            running.end().into_iter().for_each(|ask| ensemble.place(ask));
        });
        upstream
    }

    /// The connections with members, in the order of their names, and those with members that are
    /// gone.
    pub(super) fn upstreams(&self) -> Vec<Rc<Upstream>> {
        self.upstreams.borrow().values().chain(self.gone.borrow().iter()).cloned().collect()
    }

    /// Waits until what the switch has told of its members may be untrue.
    pub(super) async fn doubts(&self) {
        self.doubts.notified().await;
    }

    /// Sends what has waited until a client takes its answers.
    pub(super) fn resume(&self, client: &Client) {
        self.upstreams().iter().for_each(|upstream| upstream.resume(client));
    }

    /// Forgets a client that is gone, and its requests.
    pub(super) fn forget(&self, client: &Client) {
        self.upstreams().iter().for_each(|upstream| upstream.forget(client));
        if !client.waits() {
            return;
        }
        self.waiting.borrow_mut().retain(|ask| {
            let stays = ask.client.id != client.id;
            if !stays {
                client.counts.abandon(1);
                client.release_request(ask.content.len());
            }
            stays
        });
    }

    /// Why requests have no member.
    fn lack(&self) -> &'static str {
        let is_unknown = matches!(*self.spread.borrow(), Spread::Unknown);
        let awaits = |member: &Rc<Upstream>| member.state() == State::Awaited;
        let gathers = is_unknown && self.switch.get().is_some()
            || self.upstreams.borrow().values().any(awaits);
        if gathers { GATHERS } else { UNSENT }
    }

    /// Tells clients whose answers do not come in time.
    pub(super) async fn keep_time(&self) {
        loop {
            tokio::time::sleep(self.timeout / 8).await;
            let Some(before) = Instant::now().checked_sub(self.timeout) else { continue };
            self.upstreams().iter().for_each(|upstream| upstream.expire(before));
            while let Some(ask) = self.waiting.borrow_mut().pop_front_if(|ask| ask.since <= before)
            {
                ask.client.release_request(ask.content.len());
                ask.fail(Cause::Late, self.lack());
            }
        }
    }
}
