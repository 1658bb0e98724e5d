//! All connections of an endpoint, sans-IO. Time is that since the endpoint's start.

use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::net::SocketAddr;
use std::time::Duration;

use ratewire_laws::AnyLaw;
use ratewire_units::Time;
use ring::hmac;
use ring::rand::{SecureRandom, SystemRandom};

use super::error::Error;
use crate::config::Config;
use crate::connection::{Connection, Ends, Transmit};
use crate::keys::{ClientHandshake, Cookies, HandshakeError, ServerHandshake};
use crate::wire::{Accept, ConnectionId, Initial, PacketType, Params, Retry, Unknown, packet_type};

/// Connections whose client has not shown that it has the keys, before cookies are asked for, and
/// at most.
const HALF_OPEN: usize = 64;
const MOST_HALF_OPEN: usize = 1024;
/// Time for a client to show that.
const HANDSHAKE: Duration = Duration::from_secs(10);
/// First wait for an answer to an initial packet. Each wait is twice the one before.
const FIRST_WAIT: Duration = Duration::from_millis(250);
/// Accepted connections that nobody has taken, at most.
const BACKLOG: usize = 1024;
/// Packets of unknown connections that are answered in a second.
const UNKNOWNS: u32 = 100;
/// Code of a reset if the server does not know the client's law.
const UNKNOWN_LAW: u64 = 2;

/// A connection and what the endpoint knows of it.
#[derive(Debug)]
pub(super) struct Slot {
    pub(super) connection: Connection,
    /// Start of the connection's time, which has room for 213 days.
    zero: Duration,
    /// The deadline in the index.
    deadline: Duration,
    is_dirty: bool,
    /// Whether someone still holds the connection.
    pub(super) is_held: bool,
    /// Of a server: the answer to the initial packet, until the client has shown that it has the
    /// keys.
    half_open: Option<HalfOpen>,
}

#[derive(Debug)]
struct HalfOpen {
    client: (SocketAddr, ConnectionId),
    answer: Vec<u8>,
    until: Duration,
}

impl Slot {
    pub(super) fn time(&self, now: Duration) -> Time {
        Time::from_ps(now.saturating_sub(self.zero).as_nanos() as u64 * 1000)
    }
}

/// A handshake of a client.
struct Connecting {
    handshake: ClientHandshake,
    message: Vec<u8>,
    cookie: Vec<u8>,
    to: SocketAddr,
    next: Duration,
    wait: Duration,
    until: Duration,
}

/// What has happened to a client's handshake.
pub(super) type Connected = (ConnectionId, Result<(), Error>);

/// All connections of an endpoint.
pub(super) struct Hub {
    config: Config,
    accepts: bool,
    random: SystemRandom,
    cookies: Option<Cookies>,
    proofs: hmac::Key,
    slots: BTreeMap<ConnectionId, Slot>,
    deadlines: BTreeSet<(Duration, ConnectionId)>,
    dirty: VecDeque<ConnectionId>,
    connecting: BTreeMap<ConnectionId, Connecting>,
    initials: BTreeMap<(SocketAddr, ConnectionId), ConnectionId>,
    half_open: usize,
    accepted: VecDeque<ConnectionId>,
    connected: Vec<Connected>,
    /// Packets beside those of connections.
    packets: VecDeque<(SocketAddr, Vec<u8>)>,
    /// The second in which unknown packets were counted last, and their number.
    unknowns: (u64, u32),
    /// Connections that have changed for those who hold them.
    changed: Vec<ConnectionId>,
}

impl Hub {
    pub(super) fn new(config: Config, accepts: bool) -> Result<Hub, Error> {
        let random = SystemRandom::new();
        let proofs = hmac::Key::generate(hmac::HMAC_SHA256, &random).map_err(|_| Error::Random)?;
        Ok(Hub {
            config,
            accepts,
            random,
            cookies: Cookies::new(),
            proofs,
            slots: BTreeMap::new(),
            deadlines: BTreeSet::new(),
            dirty: VecDeque::new(),
            connecting: BTreeMap::new(),
            initials: BTreeMap::new(),
            half_open: 0,
            accepted: VecDeque::new(),
            connected: Vec::new(),
            packets: VecDeque::new(),
            unknowns: (0, 0),
            changed: Vec::new(),
        })
    }

    fn new_id(&self) -> Result<ConnectionId, Error> {
        let mut bytes = [0; 8];
        self.random.fill(&mut bytes).map_err(|_| Error::Random)?;
        Ok(ConnectionId(u64::from_be_bytes(bytes)))
    }

    fn proof(&self, connection: ConnectionId) -> [u8; 16] {
        let tag = hmac::sign(&self.proofs, &connection.0.to_be_bytes());
        let mut proof = [0; 16];
        proof.copy_from_slice(&tag.as_ref()[..16]);
        proof
    }

    fn params(&self, connection: ConnectionId, law: &str) -> Params {
        Params {
            connection,
            longest_frame: self.config.longest_frame.get(),
            idle_timeout_ms: self.config.idle_timeout.ps() / 1_000_000_000,
            law: law.to_string(),
            reset_token: self.proof(connection),
        }
    }

    /// Begins a connection with a server.
    pub(super) fn connect(&mut self, now: Duration, to: SocketAddr) -> Result<ConnectionId, Error> {
        if self.slots.len() + self.connecting.len() >= self.config.connections {
            return Err(Error::TooMany);
        }
        let id = self.new_id()?;
        let params = self.params(id, &self.config.law_name);
        let begun = ClientHandshake::begin(&self.config.credentials, &params);
        let (handshake, message) = begun.map_err(Error::Handshake)?;
        let (next, wait) = (now, FIRST_WAIT);
        let until = now + HANDSHAKE;
        let cookie = Vec::new();
        let connecting = Connecting { handshake, message, cookie, to, next, wait, until };
        self.connecting.insert(id, connecting);
        self.schedule(id, now);
        Ok(id)
    }

    /// Gives a handshake up.
    pub(super) fn give_up(&mut self, id: ConnectionId) {
        self.connecting.remove(&id);
    }

    fn schedule(&mut self, id: ConnectionId, at: Duration) {
        self.deadlines.insert((at, id));
    }

    /// Handles a datagram.
    pub(super) fn on_datagram(
        &mut self,
        now: Duration,
        from: SocketAddr,
        datagram: &mut [u8],
        marked: bool,
    ) {
        let size = datagram.len();
        let Ok((kind, id, rest)) = packet_type(datagram) else { return };
        match kind {
            PacketType::Data => self.on_data(now, from, id, datagram, marked),
            PacketType::Initial if self.accepts => {
                if let Ok(initial) = Initial::read(rest, size) {
                    self.on_initial(now, from, id, &initial);
                }
            }
            PacketType::Initial => {}
            PacketType::Retry => {
                if let Some(connecting) = self.connecting.get_mut(&id)
                    && connecting.to == from
                    && rest.len() <= 255
                {
                    connecting.cookie = rest.to_vec();
                    connecting.next = now;
                    self.schedule(id, now);
                }
            }
            PacketType::Accept => self.on_accept(now, from, id, rest),
            PacketType::Unknown => {
                if let Ok(proof) = rest.try_into() {
                    self.on_unknown(from, &proof);
                }
            }
        }
    }

    fn on_data(
        &mut self,
        now: Duration,
        from: SocketAddr,
        id: ConnectionId,
        datagram: &mut [u8],
        marked: bool,
    ) {
        let Some(slot) = self.slots.get_mut(&id) else {
            return self.answer_unknown(now, from, id, datagram.len());
        };
        let time = slot.time(now);
        slot.connection.on_datagram(time, from, datagram, marked);
        if slot.connection.metrics().packets_received > 0
            && let Some(half_open) = slot.half_open.take()
        {
            self.half_open -= 1;
            self.initials.remove(&half_open.client);
            self.accepted.push_back(id);
        }
        self.touch(id);
    }

    /// Says that a connection is not known, to an address that need not be that of who asked: so
    /// seldom, and with fewer bytes than came.
    fn answer_unknown(&mut self, now: Duration, to: SocketAddr, id: ConnectionId, size: usize) {
        let second = now.as_secs();
        if self.unknowns.0 != second {
            self.unknowns = (second, 0);
        }
        let packet = Unknown(self.proof(id)).encode(id);
        if self.unknowns.1 < UNKNOWNS && size > packet.len() {
            self.unknowns.1 += 1;
            self.packets.push_back((to, packet));
        }
    }

    fn on_unknown(&mut self, from: SocketAddr, proof: &[u8; 16]) {
        let is_it = |slot: &Slot| slot.connection.peer() == from && slot.connection.is_proof(proof);
        let found = self.slots.iter_mut().find(|(_, slot)| is_it(slot));
        if let Some((id, slot)) = found {
            slot.connection.forgotten();
            let id = *id;
            self.touch(id);
        }
    }

    fn on_initial(
        &mut self,
        now: Duration,
        from: SocketAddr,
        client: ConnectionId,
        initial: &Initial<'_>,
    ) {
        if let Some(known) = self.initials.get(&(from, client)) {
            let answer = self.slots.get(known).and_then(|slot| slot.half_open.as_ref());
            if let Some(half_open) = answer {
                self.packets.push_back((from, half_open.answer.clone()));
            }
            return;
        }
        let is_full = self.slots.len() >= self.config.connections
            || self.half_open >= MOST_HALF_OPEN
            || self.accepted.len() >= BACKLOG;
        if is_full {
            return;
        }
        let since = Time::from_secs(now.as_secs().min(200 * 86_400));
        if self.half_open >= HALF_OPEN
            && let Some(cookies) = &self.cookies
            && !cookies.is_good(since, from, client, initial.cookie)
        {
            let cookie = cookies.make(since, from, client);
            self.packets.push_back((from, Retry(&cookie).encode(client)));
            return;
        }
        // Who has not the keys gets no answer.
        _ = self.accept(now, from, client, initial.message);
    }

    fn accept(
        &mut self,
        now: Duration,
        from: SocketAddr,
        client: ConnectionId,
        message: &[u8],
    ) -> Result<(), Error> {
        let read = ServerHandshake::read(&self.config.credentials, message);
        let (handshake, params) = read.map_err(Error::Handshake)?;
        if params.connection != client {
            return Err(Error::Handshake(HandshakeError::Keys));
        }
        let id = self.new_id()?;
        let answer = handshake.answer(&self.params(id, &params.law));
        let (message, keys) = answer.map_err(Error::Handshake)?;
        let answer = Accept(&message).encode(client);
        let law = law(&params.law);
        let ends = Ends { local: id, peer: from, keys, params };
        let name = ends.params.law.clone();
        let used = law.clone().unwrap_or_else(|| self.config.law.clone());
        let mut connection = Connection::new(Time::ZERO, used, &self.config, ends);
        if law.is_none() {
            connection.reset(UNKNOWN_LAW, &format!("the server knows no law {name:?}"));
        }
        self.packets.push_back((from, answer.clone()));
        let half_open = HalfOpen { client: (from, client), answer, until: now + HANDSHAKE };
        self.initials.insert((from, client), id);
        self.half_open += 1;
        self.insert(now, id, connection, Some(half_open));
        Ok(())
    }

    fn insert(
        &mut self,
        now: Duration,
        id: ConnectionId,
        connection: Connection,
        half_open: Option<HalfOpen>,
    ) {
        let slot = Slot {
            connection,
            zero: now,
            deadline: now,
            is_dirty: false,
            is_held: half_open.is_none(),
            half_open,
        };
        self.slots.insert(id, slot);
        self.touch(id);
    }

    fn on_accept(&mut self, now: Duration, from: SocketAddr, id: ConnectionId, message: &[u8]) {
        let Some(connecting) = self.connecting.get_mut(&id).filter(|c| c.to == from) else {
            return;
        };
        // A false answer may come before the right one.
        let Ok(params) = connecting.handshake.finish(message) else { return };
        let Some(Connecting { handshake, .. }) = self.connecting.remove(&id) else { return };
        let ends = Ends { local: id, params, peer: from, keys: handshake.keys() };
        let connection = Connection::new(Time::ZERO, self.config.law.clone(), &self.config, ends);
        self.insert(now, id, connection, None);
        self.connected.push((id, Ok(())));
    }

    /// Marks a connection as changed: it may have packets to send.
    pub(super) fn touch(&mut self, id: ConnectionId) {
        if let Some(slot) = self.slots.get_mut(&id)
            && !core::mem::replace(&mut slot.is_dirty, true)
        {
            self.dirty.push_back(id);
            self.changed.push(id);
        }
    }

    /// A connection.
    pub(super) fn slot(&mut self, id: ConnectionId) -> Option<&mut Slot> {
        self.slots.get_mut(&id)
    }

    /// Lets a connection go that nobody holds any more: what was written still arrives.
    pub(super) fn let_go(&mut self, id: ConnectionId) {
        if let Some(slot) = self.slots.get_mut(&id) {
            slot.is_held = false;
            slot.connection.close();
            self.touch(id);
        }
    }

    /// Ends all connections.
    pub(super) fn close_all(&mut self) {
        let all: Vec<ConnectionId> = self.slots.keys().copied().collect();
        for id in all {
            self.let_go(id);
        }
    }

    pub(super) fn is_empty(&self) -> bool {
        self.slots.is_empty()
    }
    pub(super) fn poll_accepted(&mut self) -> Option<ConnectionId> {
        loop {
            let id = self.accepted.pop_front()?;
            if let Some(slot) = self.slots.get_mut(&id) {
                slot.is_held = true;
                return Some(id);
            }
        }
    }
    pub(super) fn has_accepted(&self) -> bool {
        !self.accepted.is_empty()
    }
    /// Puts a connection back that has more to send, behind the others.
    pub(super) fn put_back(&mut self, id: ConnectionId) {
        self.dirty.push_back(id);
    }
    pub(super) fn take_connected(&mut self) -> Vec<Connected> {
        core::mem::take(&mut self.connected)
    }
    pub(super) fn take_changed(&mut self) -> Vec<ConnectionId> {
        core::mem::take(&mut self.changed)
    }
    /// A packet beside those of connections.
    pub(super) fn poll_packet(&mut self) -> Option<(SocketAddr, Vec<u8>)> {
        self.packets.pop_front()
    }

    /// When to call [`Hub::on_timer`].
    pub(super) fn deadline(&self) -> Option<Duration> {
        self.deadlines.first().map(|(at, _)| *at)
    }

    /// Does what is due.
    pub(super) fn on_timer(&mut self, now: Duration) {
        while let Some((at, id)) = self.deadlines.first().copied().filter(|(at, _)| *at <= now) {
            self.deadlines.remove(&(at, id));
            if self.connecting.contains_key(&id) {
                self.retry(now, id);
                continue;
            }
            let Some(slot) = self.slots.get_mut(&id) else { continue };
            slot.deadline = Duration::MAX;
            let time = slot.time(now);
            slot.connection.on_timer(time);
            if slot.half_open.as_ref().is_some_and(|half_open| half_open.until <= now) {
                self.remove(id);
            } else {
                self.touch(id);
            }
        }
    }

    fn retry(&mut self, now: Duration, id: ConnectionId) {
        let Some(connecting) = self.connecting.get_mut(&id) else { return };
        if connecting.until <= now {
            self.connecting.remove(&id);
            self.connected.push((id, Err(Error::NoAnswer)));
            return;
        }
        let at = connecting.next;
        if at <= now {
            let initial = Initial { cookie: &connecting.cookie, message: &connecting.message };
            self.packets.push_back((connecting.to, initial.encode(id)));
            connecting.next = now + connecting.wait;
            connecting.wait *= 2;
        }
        let next = connecting.next.min(connecting.until);
        self.schedule(id, next);
    }

    /// A connection that may have packets to send. Call [`Hub::settle`] when it has none.
    pub(super) fn poll_dirty(&mut self) -> Option<ConnectionId> {
        self.dirty.pop_front()
    }

    /// Appends the next packet of a connection.
    pub(super) fn poll_transmit(
        &mut self,
        now: Duration,
        id: ConnectionId,
        out: &mut Vec<u8>,
    ) -> Option<Transmit> {
        let slot = self.slots.get_mut(&id)?;
        let time = slot.time(now);
        slot.connection.poll_transmit(time, out)
    }

    /// Notes that a connection has no more packets to send now.
    pub(super) fn settle(&mut self, id: ConnectionId) {
        let Some(slot) = self.slots.get_mut(&id) else { return };
        slot.is_dirty = false;
        if slot.connection.is_over() && !slot.is_held {
            return self.remove(id);
        }
        let half_open = slot.half_open.as_ref().map_or(Duration::MAX, |half_open| half_open.until);
        let deadline = match slot.connection.deadline() {
            Time::NEVER => Duration::MAX,
            at => slot.zero + Duration::from_nanos(at.ps().div_ceil(1000)),
        };
        let deadline = deadline.min(half_open);
        if deadline != slot.deadline {
            let old = core::mem::replace(&mut slot.deadline, deadline);
            self.deadlines.remove(&(old, id));
            if deadline < Duration::MAX {
                self.deadlines.insert((deadline, id));
            }
        }
    }

    fn remove(&mut self, id: ConnectionId) {
        let Some(slot) = self.slots.remove(&id) else { return };
        self.deadlines.remove(&(slot.deadline, id));
        if let Some(half_open) = slot.half_open {
            self.half_open -= 1;
            self.initials.remove(&half_open.client);
        }
    }
}

/// The law of a name, with its options as `name key=value ...`.
fn law(text: &str) -> Option<AnyLaw> {
    let mut words = text.split(' ');
    let name = words.next()?;
    let options: Option<Vec<(&str, &str)>> = words.map(|word| word.split_once('=')).collect();
    AnyLaw::new(name, &options?).ok()
}
