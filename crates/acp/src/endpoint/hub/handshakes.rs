//! Handshakes of an endpoint, as client and as server.

use std::net::SocketAddr;
use std::time::Duration;

use ratewire_laws::AnyLaw;
use ratewire_units::Time;
use ring::hmac;
use ring::rand::SecureRandom;

use super::super::error::Error;
use super::{Connecting, HalfOpen, Hub};
use crate::connection::{Connection, Ends};
use crate::keys::{ClientHandshake, HandshakeError, ServerHandshake};
use crate::wire::{ConnectionId, Initial, PacketType, Params, plain};

/// Connections whose client has not shown that it has the keys, before cookies are asked for, and
/// at most.
pub(super) const HALF_OPEN: usize = 64;
const MOST_HALF_OPEN: usize = 1024;
/// Time for a client to show that.
pub(super) const HANDSHAKE: Duration = Duration::from_secs(10);
/// First wait for an answer to an initial packet. Each wait is twice the one before.
const FIRST_WAIT: Duration = Duration::from_millis(250);
/// Accepted connections that nobody has taken, at most.
const BACKLOG: usize = 1024;
/// Code of a reset if the server does not know the client's law.
const UNKNOWN_LAW: u64 = 2;

impl Hub {
    fn new_id(&self) -> Result<ConnectionId, Error> {
        let mut bytes = [0; 8];
        self.random.fill(&mut bytes).map_err(|_| Error::Random)?;
        Ok(ConnectionId(u64::from_be_bytes(bytes)))
    }

    pub(super) fn proof(&self, connection: ConnectionId) -> [u8; 16] {
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
    pub(in crate::endpoint) fn connect(
        &mut self,
        now: Duration,
        to: SocketAddr,
    ) -> Result<ConnectionId, Error> {
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

    pub(super) fn on_initial(
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
        if self.half_open >= HALF_OPEN && !self.cookies.is_good(since, from, client, initial.cookie)
        {
            let cookie = self.cookies.make(since, from, client);
            self.packets.push_back((from, plain(PacketType::Retry, client, &cookie)));
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
        let answer = plain(PacketType::Accept, client, &message);
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

    pub(super) fn on_accept(
        &mut self,
        now: Duration,
        from: SocketAddr,
        id: ConnectionId,
        message: &[u8],
    ) {
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

    pub(super) fn retry(&mut self, now: Duration, id: ConnectionId) {
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
}

/// The law of a name, with its options as `name key=value ...`.
fn law(text: &str) -> Option<AnyLaw> {
    let mut words = text.split(' ');
    let name = words.next()?;
    let options: Option<Vec<(&str, &str)>> = words.map(|word| word.split_once('=')).collect();
    AnyLaw::new(name, &options?).ok()
}
