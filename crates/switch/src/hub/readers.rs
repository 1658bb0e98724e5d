//! Peers that ask which members there are. Their connections end at the switch.

use std::time::Duration;

use ratewire_acp::channel::{Ends, NetworkPath, Transmit};
use ratewire_acp::connection::Connection;
use ratewire_acp::handshakes::{NO_ROOM, UNKNOWN_LAW};
use ratewire_acp::wire::ConnectionId;
use ratewire_acp::{Config, Frame};
use ratewire_anypoint::Side;
use ratewire_switch_interface::table::{MemberState, Table, TableMember};
use ratewire_units::{Bytes, Time};

use super::ensemble::Seen;
use super::{Duty, Health, Hub, Port, SessionId};

/// Bytes that a reader may send, who has nothing to say.
const LEAST: Bytes = Bytes::new(4096);

/// A peer that asks which members there are.
#[derive(Debug)]
pub(super) struct Reader {
    connection: Connection,
    /// Start of the connection's time, which has room for 213 days.
    zero: Duration,
    /// Whether it has shown that it has the key.
    is_welcome: bool,
    is_dirty: bool,
    /// The edition of the table that it has been told.
    edition: u64,
    /// The deadline in the index.
    deadline: Duration,
}

impl Reader {
    fn time(&self, now: Duration) -> Time {
        Time::from_ps(now.saturating_sub(self.zero).as_nanos() as u64 * 1000)
    }
}

impl Hub {
    /// Takes a peer that asks which members there are.
    pub(super) fn accept_reader(&mut self, now: Duration, ends: Ends) {
        let id = self.new_session();
        let known = ends.params.law.parse().ok();
        let is_known = known.is_some();
        let law = known.unwrap_or_else(|| self.config.peers.law.clone());
        let config =
            Config { receive_buffer: LEAST, longest_frame: LEAST, ..self.config.peers.clone() };
        let mut connection = Connection::new(Time::ZERO, law, &config, ends);
        if !is_known {
            connection.reset(UNKNOWN_LAW, "the switch does not know the law");
        }
        self.ids[Port::Peers as usize].insert(connection.local(), (id, Side::Peer));
        self.remotes.insert((connection.remote(), Port::Peers, connection.local()));
        let deadline = Duration::MAX;
        let (is_welcome, is_dirty) = (false, false);
        let reader = Reader { connection, zero: now, is_welcome, is_dirty, edition: 0, deadline };
        self.readers.insert(id, reader);
        self.touch_reader(id);
    }

    /// Handles a reader's datagram.
    pub(super) fn on_reader_data(
        &mut self,
        now: Duration,
        (id, connection): (SessionId, ConnectionId),
        path: NetworkPath,
        datagram: &mut [u8],
        marked: bool,
    ) {
        let Some(reader) = self.readers.get_mut(&id) else { return };
        let time = reader.time(now);
        reader.connection.on_datagram(time, path.remote, datagram, marked);
        while reader.connection.read().is_some() {}
        if reader.connection.is_at_end() {
            reader.connection.finish();
        }
        if reader.connection.has_heard() && self.of_peers.confirm(connection) {
            let has_room = self.sessions() <= self.config.peers.connections;
            let Some(reader) = self.readers.get_mut(&id) else { return };
            reader.is_welcome = has_room;
            if !has_room {
                reader.connection.reset(NO_ROOM, "the switch has no room for another peer");
            }
        }
        self.tell(id);
        self.touch_reader(id);
    }

    /// Ends a reader's connection if it proves that it does not know it any more.
    pub(super) fn on_reader_unknown(&mut self, id: SessionId, proof: &[u8; 16]) {
        if let Some(reader) = self.readers.get_mut(&id)
            && reader.connection.is_proof(proof)
        {
            reader.connection.forgotten();
            self.touch_reader(id);
        }
    }

    /// Tells all readers of a change of the table.
    pub(super) fn publish(&mut self) {
        self.edition += 1;
        let all: Vec<SessionId> = self.readers.keys().copied().collect();
        all.into_iter().for_each(|id| self.tell(id));
    }

    /// Tells a reader the table if it has changed. Who does not take one table is told no other.
    fn tell(&mut self, id: SessionId) {
        let edition = self.edition;
        let Some(reader) = self.readers.get(&id) else { return };
        let connection = &reader.connection;
        let waits = connection.metrics().buffered > Bytes::ZERO;
        if !reader.is_welcome || reader.edition == edition || waits || connection.is_finished() {
            return;
        }
        let table = self.table().encode();
        let Some(reader) = self.readers.get_mut(&id) else { return };
        // Who takes no frames as long as the table is no gateway.
        if reader.connection.write(Frame::new(edition, table)).is_ok() {
            reader.edition = edition;
        }
        self.touch_reader(id);
    }

    fn table(&self) -> Table {
        let member = |seen: &Seen| {
            let member = seen.member.as_ref()?;
            Some(TableMember {
                name: member.name.clone(),
                id: seen.id,
                number: member.number,
                weight: member.weight,
                prefixes: member.prefixes.clone(),
                state: match (&seen.health, seen.duty) {
                    (_, Duty::Draining | Duty::Drained) => MemberState::Leaving,
                    (Health::Down { reason, .. }, _) => MemberState::Down(reason.clone()),
                    (Health::Up | Health::Unknown, _) => MemberState::Up,
                },
            })
        };
        Table {
            switch: self.number,
            routing: self.config.told.choice,
            when_down: self.config.told.when_down,
            gathers: self.gathers_until.is_some() && self.ensemble.iter().any(Seen::is_vacant),
            ends: self.ends,
            members: self.ensemble.iter().filter_map(member).collect(),
        }
    }

    fn touch_reader(&mut self, id: SessionId) {
        if let Some(reader) = self.readers.get_mut(&id)
            && !core::mem::replace(&mut reader.is_dirty, true)
        {
            self.dirty[Port::Peers as usize].push_back((id, Side::Peer));
        }
    }

    /// Ends all readers' connections.
    pub(super) fn reset_readers(&mut self, text: &str) {
        let all: Vec<SessionId> = self.readers.keys().copied().collect();
        for id in all {
            if let Some(reader) = self.readers.get_mut(&id) {
                reader.connection.reset(0, text);
            }
            self.touch_reader(id);
        }
    }

    /// Does what is due for a reader.
    pub(super) fn on_reader_timer(&mut self, now: Duration, id: SessionId) {
        let Some(reader) = self.readers.get_mut(&id) else { return };
        reader.deadline = Duration::MAX;
        let time = reader.time(now);
        reader.connection.on_timer(time);
        self.touch_reader(id);
    }

    pub(super) fn poll_reader(
        &mut self,
        now: Duration,
        id: SessionId,
        out: &mut Vec<u8>,
    ) -> Option<Transmit> {
        let reader = self.readers.get_mut(&id)?;
        let time = reader.time(now);
        reader.connection.poll_transmit(time, out)
    }

    /// Notes that a reader has no more packets to send now.
    pub(super) fn settle_reader(&mut self, id: SessionId) {
        let Some(reader) = self.readers.get_mut(&id) else { return };
        reader.is_dirty = false;
        if reader.connection.is_over() {
            return self.forget_reader(id);
        }
        let due = match reader.connection.deadline() {
            Time::NEVER => Duration::MAX,
            at => reader.zero + at.since(Time::ZERO).to_std(),
        };
        let before = core::mem::replace(&mut reader.deadline, due);
        if before != due {
            self.deadlines.remove(&(before, id));
            if due < Duration::MAX {
                self.deadlines.insert((due, id));
            }
        }
    }

    pub(super) fn forget_reader(&mut self, id: SessionId) {
        let Some(reader) = self.readers.remove(&id) else { return };
        let (local, remote) = (reader.connection.local(), reader.connection.remote());
        self.of_peers.forget(local);
        self.ids[Port::Peers as usize].remove(&local);
        self.remotes.remove(&(remote, Port::Peers, local));
        self.deadlines.remove(&(reader.deadline, id));
    }
}
