//! Packets that come to a connection.

use std::net::SocketAddr;
use std::ops::Range;

use bytes::Bytes;
use ratewire_laws::Header;
use ratewire_transport::Ack;
use ratewire_units::{Bytes as Size, Time};

use super::closing::CloseReason;
use super::incoming::Violation;
use super::{Answer, Connection, MOST_ANSWERS};
use crate::wire::{AckPart, Congestion, Data, HEADER, Part, Parts};

impl Connection {
    /// Handles a datagram for this connection; `marked` says whether a router marked it.
    pub fn on_datagram(&mut self, now: Time, from: SocketAddr, datagram: &mut [u8], marked: bool) {
        if let Err(violation) = self.take_in(now, from, datagram, marked) {
            self.closing.reset(CloseReason::Violation(violation));
        }
    }

    fn take_in(
        &mut self,
        now: Time,
        from: SocketAddr,
        datagram: &mut [u8],
        marked: bool,
    ) -> Result<(), Violation> {
        let Some((number, header, parts)) = self.open(from, datagram) else {
            self.metrics.packets_refused += 1;
            return Ok(());
        };
        self.metrics.packets_received += 1;
        self.heard = now;
        self.is_ping_due = false;
        if from != self.peer && self.replay.is_highest(number) {
            self.challenge_new(from);
        }
        for part in Parts::new(&datagram[parts]) {
            let part = part.map_err(|_| "a part cannot be read")?;
            self.take_part(now, from, &part, &header, marked)?;
        }
        Ok(())
    }

    /// Opens a packet that has not come before: its number, congestion header, and where its parts
    /// are.
    fn open(
        &mut self,
        from: SocketAddr,
        datagram: &mut [u8],
    ) -> Option<(u64, Header, Range<usize>)> {
        let (head, begin) = Data::read(datagram).ok()?;
        let number = self.replay.expand(head.number);
        if !self.replay.may_be_new(number) {
            return None;
        }
        let ip = if from.is_ipv4() { 28 } else { 48 };
        let packet = Size::new(ip + datagram.len() as u64);
        let header = Congestion::read(&self.law, head.congestion, packet).unwrap_or(Header::None);
        let length = self.keys.open.open(number, datagram, HEADER, begin)?;
        self.replay.note(number);
        Some((number, header, begin..begin + length))
    }

    fn take_part(
        &mut self,
        now: Time,
        from: SocketAddr,
        part: &Part<'_>,
        header: &Header,
        marked: bool,
    ) -> Result<(), Violation> {
        match part {
            Part::Padding => {}
            Part::Ping(token) => self.answer(Answer::Pong(*token)),
            Part::Pong(token) => {
                if let Some(datagram) = self.path.on_pong(*token) {
                    self.out.sender.set_payload(self.payload_of(datagram));
                }
            }
            Part::Open => self.inc.open(now, header),
            Part::Data(data) => {
                let keep = || Bytes::copy_from_slice(data.bytes);
                self.inc.on_data(now, data, keep, header, marked)?;
                self.look_at_end();
            }
            Part::Empty { offset, length, source } => {
                self.inc.on_empty(now, *offset, *length, *source)?;
                self.look_at_end();
            }
            Part::Ack(ack) => self.on_ack(now, ack),
            Part::Close(end) => {
                self.inc.set_end(*end)?;
                self.closing.other_asks();
                self.look_at_end();
            }
            Part::Closed => self.closing.own_is_closed(),
            Part::Reset { code, text } => {
                let text = String::from_utf8_lossy(text).into_owned();
                self.closing.end(CloseReason::Reset { code: *code, text });
            }
            Part::Challenge(token) => self.answer(Answer::Answer(from, *token)),
            Part::Answer(token) => {
                if let Some((address, expected)) = self.challenge
                    && (address, expected) == (from, *token)
                {
                    self.peer = address;
                    self.challenge = None;
                    self.path.restart();
                }
            }
        }
        Ok(())
    }

    fn look_at_end(&mut self) {
        if self.inc.is_whole() {
            self.closing.other_is_whole();
        }
    }

    fn answer(&mut self, answer: Answer) {
        if self.answers.len() < MOST_ANSWERS {
            self.answers.push(answer);
        }
    }

    fn on_ack(&mut self, now: Time, part: &AckPart<'_>) {
        let header = match part.congestion {
            [] => Header::None,
            bytes => self.law.decode(bytes, Size::ZERO).unwrap_or(Header::None),
        };
        let ack = Ack {
            opens: part.opens,
            cumulative: part.cumulative,
            window: Size::new(part.window),
            sack: part.sack,
            marked: part.marked,
            header,
        };
        self.out.sender.on_ack(now, &ack);
        if self.out.forget_acknowledged() {
            self.path.on_arrival(self.out.sender.stats().timeouts);
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
}
