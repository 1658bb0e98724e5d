//! All connections of an endpoint, sans-IO. Time is that since the endpoint's start.

mod handshakes;

use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::net::SocketAddr;
use std::time::Duration;

use ratewire_units::Time;
use ring::hmac;
use ring::rand::SystemRandom;

use super::error::Error;
use crate::config::Config;
use crate::connection::{Connection, Transmit};
use crate::keys::{ClientHandshake, Cookies};
use crate::wire::{ConnectionId, Initial, PacketType, packet_type, plain};

/// Packets of unknown connections that are answered in a second.
const UNKNOWNS: u32 = 100;

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
    cookies: Cookies,
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
        let proofs = config.credentials.key_for(b"ACP1 unknown");
        Ok(Hub {
            config,
            accepts,
            random,
            cookies: Cookies::new().ok_or(Error::Random)?,
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
        let packet = plain(PacketType::Unknown, id, &self.proof(id));
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

#[cfg(test)]
mod tests;
