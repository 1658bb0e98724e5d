//! Packets that come to a connection.

use std::net::SocketAddr;

use ratewire_laws::Header;
use ratewire_units::Time;

use super::Connection;
use super::incoming::Violation;
use crate::channel::{CloseReason, Opened, Taken};
use crate::wire::{AckPart, Part, Parts};

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
        let Some(Opened { mut header, parts }) = self.channel.open(now, from, datagram) else {
            return Ok(());
        };
        let mut parts = Parts::new(&datagram[parts]);
        let mut run = 0..0;
        while let Some(part) = parts.next() {
            let part = part.map_err(|_| "a part cannot be read")?;
            match (self.channel.take(from, &part), &part) {
                (Taken::No, Part::Data(data)) => {
                    // Frames that share a packet arrive at once: the transport counts packets.
                    if data.offset != run.start || run.is_empty() {
                        run = data.offset..parts.run_end(data);
                        let header = core::mem::replace(&mut header, Header::None);
                        self.inc.arrive(now, &run, &header, marked);
                    }
                    run.start += data.bytes.len() as u64;
                    self.inc.on_data(data)?;
                    self.look_at_end();
                }
                (Taken::No, _) => self.take_part(now, &part, &header)?,
                (Taken::Yes, _) => {}
                (Taken::Resized, _) => self.resize(),
            }
        }
        Ok(())
    }

    fn take_part(&mut self, now: Time, part: &Part<'_>, header: &Header) -> Result<(), Violation> {
        match part {
            Part::Open => self.inc.open(now, header),
            Part::Empty { offset, length } => {
                self.inc.on_empty(now, *offset, *length)?;
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
            // The channel's, the caller's, and a switch's.
            Part::Data(_)
            | Part::Leaving
            | Part::Padding
            | Part::Ping(_)
            | Part::Pong(_)
            | Part::Challenge(_)
            | Part::Answer(_) => {}
        }
        Ok(())
    }

    fn look_at_end(&mut self) {
        if self.inc.is_whole() {
            self.closing.other_is_whole();
        }
    }

    fn on_ack(&mut self, now: Time, part: &AckPart<'_>) {
        let ack = self.channel.read_ack(part);
        self.out.sender.on_ack(now, &ack);
        if self.out.forget_acknowledged() {
            self.channel.on_arrival(self.out.sender.stats().timeouts);
        }
    }
}
