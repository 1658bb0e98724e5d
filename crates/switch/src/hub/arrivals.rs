//! What arrives at a switch: to the session, reader or handshake that it is for.

use std::net::SocketAddr;
use std::time::Duration;

use ratewire_acp::channel::NetworkPath;
use ratewire_acp::handshakes::{Event, HANDSHAKE};
use ratewire_acp::wire::{ConnectionId, Initial, PacketType, packet_type};
use ratewire_anypoint::Side;

use super::ensemble::RETRY;
use super::{Hub, HubEvent, Port};

impl Hub {
    /// Handles a datagram.
    pub fn on_datagram(
        &mut self,
        now: Duration,
        port: Port,
        path: NetworkPath,
        datagram: &mut [u8],
        marked: bool,
    ) {
        let (size, from) = (datagram.len(), path.remote);
        let Ok((kind, id, rest)) = packet_type(datagram) else { return };
        let event = match (kind, port) {
            (PacketType::Data, _) => return self.on_data(now, port, path, id, datagram, marked),
            (PacketType::Initial, Port::Peers) => {
                let has_room = self.sessions() < self.config.peers.connections;
                let initial = Initial::read(rest, size).ok();
                initial
                    .and_then(|initial| self.of_peers.on_initial(now, path, id, &initial, has_room))
            }
            (PacketType::Retry, _) => {
                self.handshakes(port).on_retry(now, from, id, rest);
                None
            }
            (PacketType::Accept, _) => self.handshakes(port).on_accept(from, id, rest),
            (PacketType::Unknown, _) => {
                if let Ok(proof) = rest.try_into() {
                    self.on_unknown(now, (port, from), id, &proof);
                }
                None
            }
            _ => None,
        };
        if let Some(event) = event {
            self.on_handshake(now, port, event);
        }
    }

    fn on_data(
        &mut self,
        now: Duration,
        port: Port,
        path: NetworkPath,
        id: ConnectionId,
        datagram: &mut [u8],
        marked: bool,
    ) {
        let Some(&(session, side)) = self.ids[port as usize].get(&id) else {
            return self.handshakes(port).answer_unknown(now, path, id, datagram.len());
        };
        let Some(seat) = self.seats.get_mut(&session) else {
            return self.on_reader_data(now, (session, id), path, datagram, marked);
        };
        let (time, scope) = (seat.time(now), seat.scope);
        if seat.session.on_datagram(time, side, path.remote, datagram, marked) {
            match side {
                Side::Peer if self.of_peers.confirm(id) => self.welcome(now, session),
                Side::Peer => {}
                Side::Member(k) => self.hear(now, scope.place(k)),
            }
        }
        self.look_after(now, session);
    }

    /// Handles a proof that a connection's other end, which has this number for it, knows it no
    /// more.
    fn on_unknown(
        &mut self,
        now: Duration,
        (port, from): (Port, SocketAddr),
        remote: ConnectionId,
        proof: &[u8; 16],
    ) {
        let range = (remote, port, ConnectionId(0))..=(remote, port, ConnectionId(u64::MAX));
        let known: Vec<ConnectionId> = self.remotes.range(range).map(|(.., id)| *id).collect();
        for id in known {
            let Some(&(session, side)) = self.ids[port as usize].get(&id) else { continue };
            let Some(seat) = self.seats.get_mut(&session) else {
                self.on_reader_unknown(session, proof);
                continue;
            };
            if seat.session.is_proof(side, from, proof) {
                let time = seat.time(now);
                seat.session.forgotten(time, side);
                self.look_after(now, session);
            }
        }
    }

    pub(super) fn on_handshake(&mut self, now: Duration, port: Port, event: Event) {
        match (event, port) {
            (Event::Accepted(ends), _) => self.accept(now, ends),
            (Event::Connected(ends), Port::Peers) => self.dial_connected(now, ends),
            (Event::Unanswered(_) | Event::RefusedBy(..), Port::Peers) => self.dial_unanswered(),
            // A switch is for any application.
            (Event::Refused(_), _) => {}
            (Event::Stranger(from), _) => {
                self.strangers += 1;
                self.events.push(HubEvent::Stranger(from));
            }
            (Event::RefusedBy(id, application), Port::Members) => {
                self.refused(now, id, &application);
            }
            (Event::Abandoned(id), _) => {
                if let Some(&(session, _)) = self.ids[Port::Peers as usize].get(&id) {
                    self.remove(session);
                }
            }
            (Event::Connected(ends), Port::Members) => self.joined(now, ends),
            (Event::Unanswered(id), Port::Members) => {
                let Some((session, member)) = self.pending.remove(&id) else { return };
                if let Some(id) = session
                    && let Some(seat) = self.seats.get_mut(&id)
                {
                    seat.set_pending(member, None);
                    self.retries.insert((now + RETRY, id, member));
                    self.begin_if_whole(now, id);
                }
                // A member that has been heard since may have refused this one connection.
                let heard = self.ensemble[member].heard;
                if heard.is_none_or(|heard| heard + HANDSHAKE <= now) {
                    self.miss(now, member, "it has not answered a handshake");
                }
            }
        }
    }
}
