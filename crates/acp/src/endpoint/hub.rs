//! All connections of an endpoint, sans-IO. Time is that since the endpoint's start.

use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::net::SocketAddr;
use std::time::Duration;

use ratewire_units::Time;

use crate::channel::{Ends, NetworkPath, Transmit};
use crate::config::Config;
use crate::connection::Connection;
use crate::error::Error;
use crate::handshakes::{Event, Handshakes, NO_ROOM, NO_TARGET, Purpose, Refusal, UNKNOWN_LAW};
use crate::socket::Packets;
use crate::wire::{ConnectionId, EndKind, Initial, PacketType, Target, packet_type};

/// Accepted connections that nobody has taken, at most.
const BACKLOG: usize = 1024;

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
}

impl Slot {
    pub(super) fn time(&self, now: Duration) -> Time {
        Time::from_ps(now.saturating_sub(self.zero).as_nanos() as u64 * 1000)
    }
}

/// What has happened to a client's handshake.
pub(super) type Connected = (ConnectionId, Result<(), Error>);

/// All connections of an endpoint.
pub(super) struct Hub {
    config: Config,
    handshakes: Handshakes,
    slots: BTreeMap<ConnectionId, Slot>,
    /// Connections by the number that the other end has given them.
    remotes: BTreeSet<(ConnectionId, ConnectionId)>,
    deadlines: BTreeSet<(Duration, ConnectionId)>,
    dirty: VecDeque<ConnectionId>,
    accepted: VecDeque<ConnectionId>,
    connected: Vec<Connected>,
    /// The last client of another application.
    refusal: Option<Refusal>,
    /// Where the last first packet came from that was not made with the keys, and the number of
    /// all such packets.
    stranger: Option<SocketAddr>,
    strangers: u64,
    /// Connections that have changed for those who hold them.
    changed: Vec<ConnectionId>,
}

impl Hub {
    pub(super) fn new(config: Config, bound: SocketAddr, accepts: bool) -> Result<Hub, Error> {
        Ok(Hub {
            handshakes: Handshakes::new(&config, bound, accepts)?,
            config,
            slots: BTreeMap::new(),
            remotes: BTreeSet::new(),
            deadlines: BTreeSet::new(),
            dirty: VecDeque::new(),
            accepted: VecDeque::new(),
            connected: Vec::new(),
            refusal: None,
            stranger: None,
            strangers: 0,
            changed: Vec::new(),
        })
    }

    /// Begins a connection with a server.
    pub(super) fn connect(
        &mut self,
        now: Duration,
        to: SocketAddr,
        target: Target,
    ) -> Result<ConnectionId, Error> {
        if self.slots.len() + self.handshakes.connecting() >= self.config.connections {
            return Err(Error::TooMany);
        }
        let (law, application) = (&self.config.law_name, &self.config.application);
        let purpose = Purpose { law, kind: EndKind::Host, application, target };
        self.handshakes.connect(now, to, &self.config.credentials, purpose)
    }

    /// Gives a handshake up.
    pub(super) fn give_up(&mut self, id: ConnectionId) {
        self.handshakes.give_up(id);
    }

    /// Handles a datagram.
    pub(super) fn on_datagram(
        &mut self,
        now: Duration,
        path: NetworkPath,
        datagram: &mut [u8],
        marked: bool,
    ) {
        let (size, from) = (datagram.len(), path.remote);
        let Ok((kind, id, rest)) = packet_type(datagram) else { return };
        let event = match kind {
            PacketType::Data => return self.on_data(now, path, id, datagram, marked),
            PacketType::Initial => {
                let has_room =
                    self.confirmed() < self.config.connections && self.accepted.len() < BACKLOG;
                let initial = Initial::read(rest, size).ok();
                initial.and_then(|initial| {
                    self.handshakes.on_initial(now, path, id, &initial, has_room)
                })
            }
            PacketType::Retry => {
                self.handshakes.on_retry(now, from, id, rest);
                None
            }
            PacketType::Accept => self.handshakes.on_accept(from, id, rest),
            PacketType::Unknown => {
                if let Ok(proof) = rest.try_into() {
                    self.on_unknown(from, id, &proof);
                }
                None
            }
        };
        if let Some(event) = event {
            self.on_event(now, event);
        }
    }

    fn on_event(&mut self, now: Duration, event: Event) {
        match event {
            Event::Accepted(ends) => self.accept(now, ends),
            Event::Abandoned(id) => self.remove(id),
            Event::Connected(ends) => {
                let (id, law) = (ends.local, self.config.law.clone());
                let connection = Connection::new(Time::ZERO, law, &self.config, ends);
                self.insert(now, id, connection, true);
                self.connected.push((id, Ok(())));
            }
            Event::Unanswered(id) => self.connected.push((id, Err(Error::NoAnswer))),
            Event::Refused(refusal) => self.refusal = Some(refusal),
            Event::Stranger(from) => {
                self.stranger = Some(from);
                self.strangers += 1;
            }
            Event::RefusedBy(id, other) => {
                let own = self.config.application.clone();
                self.connected.push((id, Err(Error::OtherApplication { own, other })));
            }
        }
    }

    fn accept(&mut self, now: Duration, ends: Ends) {
        let (id, name, target) = (ends.local, ends.params.law.clone(), ends.params.target);
        let law = name.parse().ok();
        let used = law.clone().unwrap_or_else(|| self.config.law.clone());
        let mut connection = Connection::new(Time::ZERO, used, &self.config, ends);
        if law.is_none() {
            connection.reset(UNKNOWN_LAW, &format!("the server knows no law {name:?}"));
        } else if !matches!(target, Target::Ensemble | Target::Once) {
            connection.reset(NO_TARGET, "it is no switch, and has no members");
        }
        self.insert(now, id, connection, false);
    }

    fn on_data(
        &mut self,
        now: Duration,
        path: NetworkPath,
        id: ConnectionId,
        datagram: &mut [u8],
        marked: bool,
    ) {
        let Some(slot) = self.slots.get_mut(&id) else {
            return self.handshakes.answer_unknown(now, path, id, datagram.len());
        };
        let time = slot.time(now);
        slot.connection.on_datagram(time, path.remote, datagram, marked);
        let is_new = slot.connection.has_heard() && self.handshakes.confirm(id);
        if is_new && self.confirmed() > self.config.connections {
            self.refuse(id);
        } else if is_new {
            self.accepted.push_back(id);
        }
        self.touch(id);
    }

    /// Number of connections whose other end has shown that it has the keys.
    fn confirmed(&self) -> usize {
        self.slots.len() - self.handshakes.half_open()
    }

    /// Resets a connection that has no room beside those that were confirmed before it.
    fn refuse(&mut self, id: ConnectionId) {
        if let Some(slot) = self.slots.get_mut(&id) {
            slot.connection.reset(NO_ROOM, "the server has no room for another connection");
        }
    }

    /// Handles a proof that the other end does not know the connection that it had given a number.
    fn on_unknown(&mut self, from: SocketAddr, remote: ConnectionId, proof: &[u8; 16]) {
        let is_it = |slot: &Slot| slot.connection.peer() == from && slot.connection.is_proof(proof);
        let numbered =
            self.remotes.range((remote, ConnectionId(0))..=(remote, ConnectionId(u64::MAX)));
        let found =
            numbered.map(|(_, local)| *local).find(|id| self.slots.get(id).is_some_and(is_it));
        if let Some(id) = found
            && let Some(slot) = self.slots.get_mut(&id)
        {
            slot.connection.forgotten();
            self.touch(id);
        }
    }

    fn insert(&mut self, now: Duration, id: ConnectionId, connection: Connection, is_held: bool) {
        self.remotes.insert((connection.remote(), id));
        let slot = Slot { connection, zero: now, deadline: now, is_dirty: false, is_held };
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
            slot.connection.leave();
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

    /// Takes no new connections: nobody would accept them.
    pub(super) fn shut(&mut self) {
        self.config.connections = 0;
        while let Some(id) = self.poll_accepted() {
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
    pub(super) fn take_refusal(&mut self) -> Option<Refusal> {
        self.refusal.take()
    }
    pub(super) fn has_refusal(&self) -> bool {
        self.refusal.is_some()
    }
    pub(super) fn take_stranger(&mut self) -> Option<SocketAddr> {
        self.stranger.take()
    }
    pub(super) fn has_stranger(&self) -> bool {
        self.stranger.is_some()
    }
    pub(super) fn strangers(&self) -> u64 {
        self.strangers
    }
    pub(super) fn take_connected(&mut self) -> Vec<Connected> {
        core::mem::take(&mut self.connected)
    }
    pub(super) fn take_changed(&mut self) -> Vec<ConnectionId> {
        core::mem::take(&mut self.changed)
    }
    /// When to call [`Hub::on_timer`].
    pub(super) fn deadline(&self) -> Option<Duration> {
        let connections = self.deadlines.first().map(|(at, _)| *at);
        connections.into_iter().chain(self.handshakes.deadline()).min()
    }

    /// Does what is due.
    pub(super) fn on_timer(&mut self, now: Duration) {
        while let Some(event) = self.handshakes.on_timer(now) {
            self.on_event(now, event);
        }
        while let Some((at, id)) = self.deadlines.first().copied().filter(|(at, _)| *at <= now) {
            self.deadlines.remove(&(at, id));
            let Some(slot) = self.slots.get_mut(&id) else { continue };
            slot.deadline = Duration::MAX;
            let time = slot.time(now);
            slot.connection.on_timer(time);
            self.touch(id);
        }
    }

    fn remove(&mut self, id: ConnectionId) {
        if let Some(slot) = self.slots.remove(&id) {
            self.handshakes.forget(id);
            self.deadlines.remove(&(slot.deadline, id));
            self.remotes.remove(&(slot.connection.remote(), id));
        }
    }
}

impl Packets for Hub {
    type Key = ConnectionId;

    fn poll_packet(&mut self) -> Option<(SocketAddr, Vec<u8>)> {
        self.handshakes.poll_packet()
    }

    fn poll_dirty(&mut self) -> Option<ConnectionId> {
        self.dirty.pop_front()
    }

    fn put_back(&mut self, id: ConnectionId) {
        self.dirty.push_back(id);
    }

    fn poll_transmit(
        &mut self,
        now: Duration,
        id: ConnectionId,
        out: &mut Vec<u8>,
    ) -> Option<Transmit> {
        let slot = self.slots.get_mut(&id)?;
        let time = slot.time(now);
        slot.connection.poll_transmit(time, out)
    }

    fn settle(&mut self, id: ConnectionId) {
        let Some(slot) = self.slots.get_mut(&id) else { return };
        slot.is_dirty = false;
        if slot.connection.is_over() && !slot.is_held {
            return self.remove(id);
        }
        let deadline = match slot.connection.deadline() {
            Time::NEVER => Duration::MAX,
            at => slot.zero + at.since(Time::ZERO).to_std(),
        };
        if deadline != slot.deadline {
            let old = core::mem::replace(&mut slot.deadline, deadline);
            self.deadlines.remove(&(old, id));
            if deadline < Duration::MAX {
                self.deadlines.insert((deadline, id));
            }
        }
    }
}

#[cfg(test)]
mod tests;
