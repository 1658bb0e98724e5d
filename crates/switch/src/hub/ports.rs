//! The two sides of a switch as sockets see them.

use std::net::SocketAddr;
use std::time::Duration;

use ratewire_acp::channel::Transmit;
use ratewire_acp::socket::Packets;
use ratewire_anypoint::Side;

use super::{Hub, Port, SessionId};

/// The packets of a port.
pub struct PortOf<'a> {
    hub: &'a mut Hub,
    port: Port,
}

impl Hub {
    /// The packets to send at a port.
    pub fn port(&mut self, port: Port) -> PortOf<'_> {
        PortOf { hub: self, port }
    }
}

impl Packets for PortOf<'_> {
    type Key = (SessionId, Side);

    fn poll_packet(&mut self) -> Option<(SocketAddr, Vec<u8>)> {
        match self.port {
            Port::Peers => self.hub.of_peers.poll_packet(),
            Port::Members => self.hub.of_members.poll_packet(),
        }
    }

    fn poll_dirty(&mut self) -> Option<(SessionId, Side)> {
        self.hub.dirty[self.port as usize].pop_front()
    }

    fn put_back(&mut self, key: (SessionId, Side)) {
        self.hub.dirty[self.port as usize].push_back(key);
    }

    fn poll_transmit(
        &mut self,
        now: Duration,
        (id, side): (SessionId, Side),
        out: &mut Vec<u8>,
    ) -> Option<Transmit> {
        let Some(seat) = self.hub.seats.get_mut(&id) else {
            return self.hub.poll_reader(now, id, out);
        };
        let time = seat.time(now);
        seat.session.poll_transmit(time, side, out)
    }

    fn settle(&mut self, (id, side): (SessionId, Side)) {
        let Some(seat) = self.hub.seats.get_mut(&id) else { return self.hub.settle_reader(id) };
        seat.set_dirty(side, false);
        if seat.session.is_over() {
            return self.hub.remove(id);
        }
        self.hub.index(id);
    }
}
