//! One end of a connection as packets, sans-IO: keys and numbers, the other end's address, sizes
//! that the path carries, and signs of life. What the packets carry is for others: the frames of a
//! [`Connection`](crate::connection::Connection), or those that a switch passes on.

mod closing;
mod path;
mod sealing;

use std::net::{IpAddr, SocketAddr};
use std::ops::Range;

pub use closing::{CloseReason, Closing};
use path::PathSize;
use ratewire_laws::{AnyLaw, Header, MAX_HEADER};
use ratewire_transport::{Ack, Epoch};
use ratewire_units::{Bytes as Size, Duration, Time};
pub use sealing::Draft;

use crate::config::{BASE_DATAGRAM, Config};
use crate::keys::{Keys, Replay, is_same_proof};
use crate::wire::{AckPart, Congestion, ConnectionId, Data, HEADER, Params, Part, TAG};

/// Answers to pings and challenges that wait, at most.
const MOST_ANSWERS: usize = 16;
/// Time between two challenges of a new address.
const CHALLENGE_AGAIN: Duration = Duration::from_millis(200);

/// A packet to send.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Transmit {
    /// Destination of the datagram.
    pub to: SocketAddr,
    /// Length of the datagram, bytes.
    pub len: usize,
    /// Whether routers may mark it (ECT(0)).
    pub ecn: bool,
}

/// The addresses of a datagram that has arrived. The port at this end is the socket's.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct NetworkPath {
    /// The address of this end that the datagram was sent to.
    pub local: IpAddr,
    /// Address of the sender.
    pub remote: SocketAddr,
}

/// Who and what a new connection is between.
#[derive(Debug)]
pub struct Ends {
    /// This end's number.
    pub local: ConnectionId,
    /// What the other end has told.
    pub params: Params,
    /// Address of the other end.
    pub peer: SocketAddr,
    /// The connection's keys.
    pub keys: Keys,
}

/// Numbers of packets.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counts {
    /// Packets sent.
    pub sent: u64,
    /// Authentic packets that have come.
    pub received: u64,
    /// Packets that were dropped: not authentic, or come twice.
    pub refused: u64,
}

/// What a packet has brought.
#[derive(Clone, Debug)]
pub struct Opened {
    /// The congestion header.
    pub header: Header,
    /// Where in the datagram the parts are.
    pub parts: Range<usize>,
}

/// What came of a part.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Taken {
    /// The part is not for the channel.
    No,
    /// The channel has taken it.
    Yes,
    /// The channel has taken it, and [`Channel::room`] has changed.
    Resized,
}

/// What a timer has found.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Due {
    /// Nothing has come for too long.
    pub is_silent: bool,
    /// [`Channel::room`] has changed.
    pub is_resized: bool,
}

/// What the other end waits for.
#[derive(Clone, Copy, Debug)]
enum Answer {
    Pong(u64),
    Answer(SocketAddr, [u8; 8]),
}

/// One end of a connection as packets.
#[derive(Debug)]
pub struct Channel {
    law: AnyLaw,
    local: ConnectionId,
    peer: SocketAddr,
    /// The other end's limits and proof.
    params: Params,
    keys: Keys,
    replay: Replay,
    /// Number of the next packet.
    number: u64,
    /// The clear part of a packet in preparation.
    clear: Vec<u8>,
    answers: Vec<Answer>,
    path: PathSize,
    /// A new address of the peer that has not answered yet.
    challenge: Option<(SocketAddr, [u8; 8])>,
    next_challenge: Time,
    idle_timeout: Duration,
    keep_alive: Option<Duration>,
    heard: Time,
    sent: Time,
    is_ping_due: bool,
    counts: Counts,
}

impl Channel {
    /// A channel whose handshake is over.
    pub fn new(now: Time, law: AnyLaw, config: &Config, ends: Ends) -> Channel {
        let idle = ends.params.idle_timeout_ms.saturating_mul(1_000_000_000);
        Channel {
            law,
            local: ends.local,
            peer: ends.peer,
            keys: ends.keys,
            replay: Replay::default(),
            number: 0,
            clear: Vec::new(),
            answers: Vec::new(),
            path: PathSize::new(config.largest_datagram.get()),
            challenge: None,
            next_challenge: Time::ZERO,
            idle_timeout: config.idle_timeout.min(Duration::from_ps(idle)),
            keep_alive: config.keep_alive,
            heard: now,
            sent: now,
            is_ping_due: false,
            counts: Counts::default(),
            params: ends.params,
        }
    }

    /// Network-layer size of a packet on a path of which nothing is known, and what its headers
    /// take of it.
    pub fn first_packet(law: &AnyLaw, peer: SocketAddr) -> (Size, Size) {
        let below = below(peer);
        let headers = below + overhead(law);
        (Size::new(below + BASE_DATAGRAM), Size::new(headers))
    }

    /// The law whose headers the packets have.
    pub fn law(&self) -> &AnyLaw {
        &self.law
    }
    /// This end's number.
    pub fn local(&self) -> ConnectionId {
        self.local
    }
    /// Address of the other end.
    pub fn peer(&self) -> SocketAddr {
        self.peer
    }
    /// What the other end has told in the handshake.
    pub fn params(&self) -> &Params {
        &self.params
    }
    /// Numbers of packets.
    pub fn counts(&self) -> Counts {
        self.counts
    }
    /// When the last authentic packet came.
    pub fn heard(&self) -> Time {
        self.heard
    }
    /// Largest UDP payload.
    pub fn datagram(&self) -> Size {
        Size::new(self.path.size())
    }
    /// Bytes of parts that a packet takes.
    pub fn room(&self) -> u64 {
        self.path.size() - overhead(&self.law)
    }
    /// Whether the connection ends if its other end proves that it does not know it.
    pub fn is_proof(&self, token: &[u8; 16]) -> bool {
        is_same_proof(&self.params.reset_token, token)
    }

    /// Opens a packet that has not come before.
    pub fn open(&mut self, now: Time, from: SocketAddr, datagram: &mut [u8]) -> Option<Opened> {
        let Some((number, opened)) = self.unseal(from, datagram) else {
            self.counts.refused += 1;
            return None;
        };
        self.counts.received += 1;
        self.heard = now;
        self.is_ping_due = false;
        if from != self.peer && self.replay.is_highest(number) {
            self.challenge_new(from);
        }
        Some(opened)
    }

    fn unseal(&mut self, from: SocketAddr, datagram: &mut [u8]) -> Option<(u64, Opened)> {
        let (head, begin) = Data::read(datagram).ok()?;
        let number = self.replay.expand(head.number);
        if !self.replay.may_be_new(number) {
            return None;
        }
        let packet = Size::new(below(from) + datagram.len() as u64);
        let header = Congestion::read(&self.law, head.congestion, packet).unwrap_or(Header::None);
        let length = self.keys.open.open(number, datagram, HEADER, begin)?;
        self.replay.note(number);
        Some((number, Opened { header, parts: begin..begin + length }))
    }

    /// Takes a part, if it is for the channel.
    pub fn take(&mut self, from: SocketAddr, part: &Part<'_>) -> Taken {
        match part {
            Part::Padding => {}
            Part::Ping(token) => self.answer(Answer::Pong(*token)),
            Part::Pong(token) => {
                if self.path.on_pong(*token) {
                    return Taken::Resized;
                }
            }
            Part::Challenge(token) => self.answer(Answer::Answer(from, *token)),
            Part::Answer(token) => {
                if let Some((address, expected)) = self.challenge
                    && (address, expected) == (from, *token)
                {
                    self.peer = address;
                    self.challenge = None;
                    self.path.restart();
                    return Taken::Resized;
                }
            }
            _ => return Taken::No,
        }
        Taken::Yes
    }

    fn answer(&mut self, answer: Answer) {
        if self.answers.len() < MOST_ANSWERS {
            self.answers.push(answer);
        }
    }

    /// Data goes to a new address of the peer once it has answered from there.
    fn challenge_new(&mut self, address: SocketAddr) {
        if self.challenge.is_none_or(|(known, _)| known != address) {
            let mut token = [0; 8];
            // Only the seal must not be guessed: the token tells answers apart.
            token.copy_from_slice(&(self.number ^ self.local.0).to_be_bytes());
            self.challenge = Some((address, token));
        }
    }

    /// Writes the channel's own parts into an empty packet. Returns where the packet must go;
    /// others' parts may follow if that is [`Channel::peer`].
    pub fn put(&mut self, now: Time, parts: &mut Vec<u8>) -> SocketAddr {
        if let Some((address, token)) = self.challenge
            && now >= self.next_challenge
        {
            self.next_challenge = now + CHALLENGE_AGAIN;
            Part::Challenge(token).put(parts);
            return address;
        }
        let elsewhere =
            |answer: &Answer| matches!(answer, Answer::Answer(to, _) if *to != self.peer);
        if let Some(place) = self.answers.iter().position(elsewhere)
            && let Answer::Answer(to, token) = self.answers.remove(place)
        {
            Part::Answer(token).put(parts);
            return to;
        }
        for answer in self.answers.drain(..) {
            match answer {
                Answer::Pong(token) => Part::Pong(token).put(parts),
                Answer::Answer(_, token) => Part::Answer(token).put(parts),
            }
        }
        if core::mem::take(&mut self.is_ping_due) {
            Part::Ping(0).put(parts);
        }
        self.peer
    }

    /// The acknowledgement in a part.
    pub fn read_ack(&self, part: &AckPart<'_>) -> Ack {
        let header = match part.congestion {
            [] => Header::None,
            bytes => self.law.decode(bytes, Size::ZERO).unwrap_or(Header::None),
        };
        Ack {
            opens: part.opens,
            cumulative: part.cumulative,
            window: Size::new(part.window),
            sack: part.sack,
            marked: part.marked,
            duplicate: part.duplicate,
            epoch: Epoch::UNKNOWN,
            header,
        }
    }

    /// Appends an acknowledgement.
    pub fn put_ack(&self, ack: &Ack, parts: &mut Vec<u8>) {
        let mut bytes = [0; MAX_HEADER];
        let length = match ack.header {
            Header::None => 0,
            header => self.law.encode(&header, Size::ZERO, &mut bytes),
        };
        let part = AckPart {
            opens: ack.opens,
            cumulative: ack.cumulative,
            window: ack.window.get(),
            marked: ack.marked,
            duplicate: ack.duplicate,
            sack: ack.sack,
            congestion: &bytes[..length],
        };
        Part::Ack(part).put(parts);
    }

    /// Notes that full packets arrive; `timeouts` are the transport's so far.
    pub fn on_arrival(&mut self, timeouts: u64) {
        self.path.on_arrival(timeouts);
    }

    /// Has the next packet ask whether the other end is there.
    pub fn ask(&mut self) {
        self.is_ping_due = true;
    }

    /// When to call [`Channel::on_timer`]. `asks` says whether this end gives signs of life.
    pub fn deadline(&self, asks: bool) -> Time {
        let ping =
            self.keep_alive.filter(|_| asks).map_or(Time::NEVER, |every| self.ping_at(every));
        ping.min(self.heard + self.idle_timeout).min(self.path.deadline())
    }

    fn ping_at(&self, every: Duration) -> Time {
        self.heard.max(self.sent) + every
    }

    /// Does what is due; `timeouts` are the transport's so far.
    pub fn on_timer(&mut self, now: Time, asks: bool, timeouts: u64) -> Due {
        self.is_ping_due |= asks && self.keep_alive.is_some_and(|every| now >= self.ping_at(every));
        Due {
            is_silent: now >= self.heard + self.idle_timeout,
            is_resized: self.path.on_timer(now, timeouts),
        }
    }
}

/// Bytes of IP's and UDP's headers.
fn below(peer: SocketAddr) -> u64 {
    if peer.is_ipv4() { 28 } else { 48 }
}

/// Bytes of a packet that parts do not get, at most.
fn overhead(law: &AnyLaw) -> u64 {
    (HEADER + Congestion::longest(law) + TAG) as u64
}
