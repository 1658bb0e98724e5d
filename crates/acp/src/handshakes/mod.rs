//! Handshakes of an endpoint, as client and as server, sans-IO. Time is that since the endpoint's
//! start.
//!
//! A server keeps nothing for clients without the keys, and little for clients that have not shown
//! that the handshake is new: up to [`MOST_HALF_OPEN`] half-open connections for
//! [`HANDSHAKE`], from [`HALF_OPEN`] on only for addresses that have returned a cookie. A copy of a
//! client's first packet, which anybody on the path can send from many addresses, gets few of them.

mod half_open;
mod unknowns;

use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::net::{IpAddr, SocketAddr};
use std::time::Duration;

use half_open::HalfOpens;
use ratewire_units::Time;
use ring::rand::{SecureRandom, SystemRandom};
use unknowns::Unknowns;

use crate::channel::{Ends, NetworkPath};
use crate::config::Config;
use crate::error::Error;
use crate::keys::{ClientHandshake, Cookies, Credentials, HandshakeError, Proofs, ServerHandshake};
use crate::socket::source_address;
use crate::wire::{
    ConnectionId, EndKind, Initial, LONGEST_APPLICATION, LONGEST_LAW, PacketType, Params, Target,
    plain,
};

/// Connections whose client has not shown that it has the keys, before cookies are asked for.
pub const HALF_OPEN: usize = 64;
/// Such connections at most.
pub const MOST_HALF_OPEN: usize = 1024;
/// Time for a client to show that, and for a server to answer.
pub const HANDSHAKE: Duration = Duration::from_secs(10);
/// Such connections of one first packet, which may be a copy that others send.
const MOST_COPIES: usize = 4;
/// Code of a reset if the server does not know the client's law.
pub const UNKNOWN_LAW: u64 = 2;
/// Code of a reset if the server has no room for another connection.
pub const NO_ROOM: u64 = 3;
/// Code of a reset if the server has not what of a switch the client asks for.
pub const NO_TARGET: u64 = 6;
/// First wait for an answer to an initial packet. Each wait is twice the one before, up to the
/// longest: a server that has been restarted is found soon.
const FIRST_WAIT: Duration = Duration::from_millis(250);
const LONGEST_WAIT: Duration = Duration::from_secs(1);

/// What has happened.
#[derive(Debug)]
pub enum Event {
    /// A client has connected. It must show that it has the keys, by a packet, before
    /// [`Handshakes::confirm`]; else [`Event::Abandoned`] follows.
    Accepted(Ends),
    /// The client has not shown that it has the keys.
    Abandoned(ConnectionId),
    /// A server has accepted this end's connection.
    Connected(Ends),
    /// No answer has come from a server.
    Unanswered(ConnectionId),
    /// A client of another application has been told so, and has no connection.
    Refused(Refusal),
    /// A first packet has come that was not made with the keys. It gets no answer, and need not
    /// come from this address.
    Stranger(SocketAddr),
    /// A server is for the application that this names, and has no connection.
    RefusedBy(ConnectionId, String),
}

/// A client of another application.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Refusal {
    /// Address of the client.
    pub peer: SocketAddr,
    /// What the client takes frames to hold.
    pub application: String,
}

/// What a client's connection is for.
#[derive(Clone, Copy, Debug)]
pub struct Purpose<'a> {
    /// The law by which both ends send, as `name key=value ...`.
    pub law: &'a str,
    /// What the client is.
    pub kind: EndKind,
    /// What the client takes frames to hold: a switch, what its peers do.
    pub application: &'a str,
    /// What of a switch the connection is for.
    pub target: Target,
}

/// Whether ends may connect: both are for the same application, or one does not say.
fn fit(own: &str, other: &str) -> bool {
    own.is_empty() || other.is_empty() || own == other
}

/// A handshake of a client.
struct Connecting {
    application: String,
    handshake: ClientHandshake,
    message: Vec<u8>,
    cookie: Vec<u8>,
    to: SocketAddr,
    next: Duration,
    wait: Duration,
    /// When another cookie is taken: anybody on the path can send one.
    cookie_from: Duration,
    until: Duration,
}

/// All handshakes of an endpoint.
pub struct Handshakes {
    credentials: Credentials,
    longest_frame: u64,
    idle_timeout_ms: u64,
    application: String,
    accepts: bool,
    random: SystemRandom,
    cookies: Cookies,
    /// Address of the endpoint's socket, which may stand for all of the host's.
    bound: IpAddr,
    proofs: Proofs,
    connecting: BTreeMap<ConnectionId, Connecting>,
    half_open: HalfOpens,
    deadlines: BTreeSet<(Duration, ConnectionId)>,
    packets: VecDeque<(SocketAddr, Vec<u8>)>,
    unknowns: Unknowns,
}

impl Handshakes {
    /// Handshakes of an endpoint whose socket is bound to this address. The endpoint accepts
    /// connections, or only begins them.
    ///
    /// # Errors
    /// When the kernel gives no random numbers, or the application's name is longer than
    /// [`LONGEST_APPLICATION`].
    pub fn new(config: &Config, bound: SocketAddr, accepts: bool) -> Result<Handshakes, Error> {
        let application = config.application.clone();
        if application.len() > LONGEST_APPLICATION {
            return Err(Error::LongApplication { length: application.len() });
        }
        Ok(Handshakes {
            application,
            bound: bound.ip(),
            proofs: Proofs::new(&config.credentials, bound.port()),
            credentials: config.credentials.clone(),
            longest_frame: config.longest_frame.get(),
            idle_timeout_ms: config.idle_timeout.ps() / 1_000_000_000,
            accepts,
            random: SystemRandom::new(),
            cookies: Cookies::new().ok_or(Error::Random)?,
            connecting: BTreeMap::new(),
            half_open: HalfOpens::default(),
            deadlines: BTreeSet::new(),
            packets: VecDeque::new(),
            unknowns: Unknowns::default(),
        })
    }

    /// Number of a client's handshakes that are not over.
    pub fn connecting(&self) -> usize {
        self.connecting.len()
    }
    /// Number of connections whose clients have not shown that they have the keys.
    pub fn half_open(&self) -> usize {
        self.half_open.len()
    }

    fn new_id(&self) -> Result<ConnectionId, Error> {
        let mut bytes = [0; 8];
        self.random.fill(&mut bytes).map_err(|_| Error::Random)?;
        Ok(ConnectionId(u64::from_be_bytes(bytes)))
    }

    /// What the other end is told of a connection; `local` is where it sends to.
    fn params(&self, connection: ConnectionId, law: &str, kind: EndKind, local: IpAddr) -> Params {
        Params {
            connection,
            longest_frame: self.longest_frame,
            idle_timeout_ms: self.idle_timeout_ms,
            law: law.to_string(),
            kind,
            reset_token: self.proofs.make(local, connection),
            application: self.application.clone(),
            target: Target::Ensemble,
        }
    }

    /// Begins a connection with the server that has these credentials.
    ///
    /// # Errors
    /// When the credentials name no server, the law is longer than [`LONGEST_LAW`], or the kernel
    /// gives no random numbers.
    pub fn connect(
        &mut self,
        now: Duration,
        to: SocketAddr,
        credentials: &Credentials,
        purpose: Purpose<'_>,
    ) -> Result<ConnectionId, Error> {
        let Purpose { law, kind, application, target } = purpose;
        if law.len() > LONGEST_LAW {
            return Err(Error::LongLaw { length: law.len() });
        }
        let id = self.new_id()?;
        let application = application.to_string();
        let mut params = self.params(id, law, kind, source_address(self.bound, to));
        params.application.clone_from(&application);
        params.target = target;
        let begun = ClientHandshake::begin(credentials, &params);
        let (handshake, message) = begun.map_err(Error::Handshake)?;
        let (next, wait, until) = (now, FIRST_WAIT, now + HANDSHAKE);
        let (cookie, cookie_from) = (Vec::new(), now);
        let connecting = Connecting {
            application,
            handshake,
            message,
            cookie,
            to,
            next,
            wait,
            cookie_from,
            until,
        };
        self.connecting.insert(id, connecting);
        self.unknowns.note_known(to.ip());
        self.deadlines.insert((now, id));
        Ok(id)
    }

    /// Gives a handshake up.
    pub fn give_up(&mut self, id: ConnectionId) {
        self.connecting.remove(&id);
    }

    /// Handles a client's first packet; `has_room` says whether the endpoint takes another
    /// connection. Half-open ones should not count there, so that they keep nobody out.
    pub fn on_initial(
        &mut self,
        now: Duration,
        path: NetworkPath,
        client: ConnectionId,
        initial: &Initial<'_>,
        has_room: bool,
    ) -> Option<Event> {
        let from = path.remote;
        if let Some(answer) = self.half_open.answer(from, client) {
            self.packets.push_back((from, answer.to_vec()));
            return None;
        }
        if !self.accepts || !has_room || self.half_open.len() >= MOST_HALF_OPEN {
            return None;
        }
        let since = Time::from_secs(now.as_secs().min(200 * 86_400));
        if self.half_open.len() >= HALF_OPEN
            && !self.cookies.is_good(since, from, client, initial.cookie)
        {
            let cookie = self.cookies.make(since, from, client);
            self.packets.push_back((from, plain(PacketType::Retry, client, &cookie)));
            return None;
        }
        if self.half_open.addresses(client) >= MOST_COPIES {
            return None;
        }
        // Who has not the keys gets no answer.
        match self.accept(now, path, client, initial.message) {
            Ok(event) => Some(event),
            Err(Error::Handshake(HandshakeError::Keys | HandshakeError::Stranger)) => {
                Some(Event::Stranger(from))
            }
            Err(_) => None,
        }
    }

    fn accept(
        &mut self,
        now: Duration,
        path: NetworkPath,
        client: ConnectionId,
        message: &[u8],
    ) -> Result<Event, Error> {
        let read = ServerHandshake::read(&self.credentials, message);
        let (handshake, params) = read.map_err(Error::Handshake)?;
        if params.connection != client {
            return Err(Error::Handshake(HandshakeError::Keys));
        }
        let (local, from) = (self.new_id()?, path.remote);
        let answer = handshake.answer(&self.params(local, &params.law, EndKind::Host, path.local));
        let (message, keys) = answer.map_err(Error::Handshake)?;
        let answer = plain(PacketType::Accept, client, &message);
        self.packets.push_back((from, answer.clone()));
        if !fit(&self.application, &params.application) {
            // The answer has told the client.
            let application = params.application;
            return Ok(Event::Refused(Refusal { peer: from, application }));
        }
        self.half_open.insert(local, (from, client), answer);
        self.deadlines.insert((now + HANDSHAKE, local));
        Ok(Event::Accepted(Ends { local, peer: from, keys, params }))
    }

    /// Notes that a client has shown that it has the keys. Returns whether that is new.
    pub fn confirm(&mut self, id: ConnectionId) -> bool {
        let client = self.half_open.remove(id);
        if let Some(address) = client {
            self.unknowns.note_known(address.ip());
        }
        client.is_some()
    }

    /// Notes that a connection is over, maybe before its client has shown that it has the keys.
    pub fn forget(&mut self, id: ConnectionId) {
        self.half_open.remove(id);
    }

    /// Handles a cookie from a server.
    pub fn on_retry(&mut self, now: Duration, from: SocketAddr, id: ConnectionId, cookie: &[u8]) {
        if let Some(connecting) = self.connecting.get_mut(&id)
            && connecting.to == from
            && cookie.len() <= 255
            && now >= connecting.cookie_from
        {
            connecting.cookie = cookie.to_vec();
            connecting.cookie_from = now + FIRST_WAIT;
            connecting.next = now;
            self.deadlines.insert((now, id));
        }
    }

    /// Handles a server's answer.
    pub fn on_accept(
        &mut self,
        from: SocketAddr,
        id: ConnectionId,
        message: &[u8],
    ) -> Option<Event> {
        let connecting = self.connecting.get_mut(&id).filter(|c| c.to == from)?;
        // A false answer may come before the right one.
        let params = connecting.handshake.finish(message).ok()?;
        let Connecting { handshake, application, .. } = self.connecting.remove(&id)?;
        if !fit(&application, &params.application) {
            return Some(Event::RefusedBy(id, params.application));
        }
        Some(Event::Connected(Ends { local: id, params, peer: from, keys: handshake.keys() }))
    }

    /// Says that a connection is not known, to an address that need not be that of who asked: so
    /// seldom, and with fewer bytes than the `size` that came. A client's connection is known from
    /// its first packet on.
    pub fn answer_unknown(
        &mut self,
        now: Duration,
        path: NetworkPath,
        id: ConnectionId,
        size: usize,
    ) {
        if self.connecting.contains_key(&id) {
            return;
        }
        let packet = plain(PacketType::Unknown, id, &self.proofs.make(path.local, id));
        if size > packet.len() && self.unknowns.takes(now, path.remote.ip()) {
            self.packets.push_back((path.remote, packet));
        }
    }

    /// The next packet to send.
    pub fn poll_packet(&mut self) -> Option<(SocketAddr, Vec<u8>)> {
        self.packets.pop_front()
    }

    /// When to call [`Handshakes::on_timer`].
    pub fn deadline(&self) -> Option<Duration> {
        self.deadlines.first().map(|(at, _)| *at)
    }

    /// Does what is due; call it again until there is no event.
    pub fn on_timer(&mut self, now: Duration) -> Option<Event> {
        while let Some((at, id)) = self.deadlines.first().copied().filter(|(at, _)| *at <= now) {
            self.deadlines.remove(&(at, id));
            if self.half_open.remove(id).is_some() {
                return Some(Event::Abandoned(id));
            }
            if self.connecting.get(&id).is_some_and(|connecting| connecting.until <= now) {
                self.connecting.remove(&id);
                return Some(Event::Unanswered(id));
            }
            self.repeat(now, id);
        }
        None
    }

    /// Sends a client's first packet again, if that is due.
    fn repeat(&mut self, now: Duration, id: ConnectionId) {
        let Some(connecting) = self.connecting.get_mut(&id) else { return };
        if connecting.next <= now {
            let initial = Initial { cookie: &connecting.cookie, message: &connecting.message };
            self.packets.push_back((connecting.to, initial.encode(id)));
            connecting.next = now + connecting.wait;
            connecting.wait = (connecting.wait * 2).min(LONGEST_WAIT);
        }
        self.deadlines.insert((connecting.next.min(connecting.until), id));
    }
}
