//! Packets that come to a connection.

use std::net::SocketAddr;

use bytes::Bytes;
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
        let Some(Opened { header, parts }) = self.channel.open(now, from, datagram) else {
            return Ok(());
        };
        for part in Parts::new(&datagram[parts]) {
            let part = part.map_err(|_| "a part cannot be read")?;
            match self.channel.take(from, &part) {
                Taken::No => self.take_part(now, &part, &header, marked)?,
                Taken::Yes => {}
                Taken::Resized => self.resize(),
            }
        }
        Ok(())
    }

    fn take_part(
        &mut self,
        now: Time,
        part: &Part<'_>,
        header: &Header,
        marked: bool,
    ) -> Result<(), Violation> {
        match part {
            Part::Open => self.inc.open(now, header),
            Part::Data(data) => {
                let keep = || Bytes::copy_from_slice(data.bytes);
                self.inc.on_data(now, data, keep, header, marked)?;
                self.look_at_end();
            }
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
            // The channel's.
            Part::Padding
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
