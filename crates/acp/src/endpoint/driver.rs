//! The task that serves an endpoint's socket.

use std::io::{self, IoSliceMut};
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use quinn_udp::{BATCH_SIZE, EcnCodepoint, RecvMeta, UdpSocketState};
use ratewire_timer::Timer;
use tokio::io::Interest;
use tokio::net::UdpSocket;

use super::Shared;
use super::hub::Hub;
use crate::wire::ConnectionId;

/// Longest run of packets that the kernel hands over as one.
const RUN: usize = 64 << 10;
/// Runs of packets to take before others have their turn.
const RUNS: usize = 8;
/// Bytes to give to the kernel at once.
const BATCH: usize = 60_000;
/// Batches that a connection sends before others have their turn.
const BATCHES: usize = 8;
/// Buffers of the socket.
const SOCKET_BUFFER: usize = 4 << 20;

/// Equal packets for one address, which the kernel takes at once.
struct Batch {
    to: SocketAddr,
    ecn: bool,
    segment: usize,
    bytes: Vec<u8>,
}

pub(super) struct Driver {
    shared: Arc<Shared>,
    socket: UdpSocket,
    state: UdpSocketState,
    timer: Timer,
    buffers: Vec<Vec<u8>>,
    /// What the socket had no room for.
    waiting: Option<Batch>,
    spare: Vec<u8>,
}

impl Driver {
    pub(super) fn new(shared: Arc<Shared>, socket: std::net::UdpSocket) -> io::Result<Driver> {
        let state = UdpSocketState::new((&socket).into())?;
        // A smaller buffer costs packets at most.
        _ = state.set_recv_buffer_size((&socket).into(), SOCKET_BUFFER);
        _ = state.set_send_buffer_size((&socket).into(), SOCKET_BUFFER);
        Ok(Driver {
            shared,
            socket: UdpSocket::from_std(socket)?,
            state,
            timer: Timer::new()?,
            buffers: vec![vec![0; RUN]; BATCH_SIZE],
            waiting: None,
            spare: Vec::with_capacity(RUN),
        })
    }

    /// Serves the socket until the endpoint is shut and its connections are over.
    pub(super) async fn run(mut self) {
        while let Ok(wait) = self.turn() {
            let shared = Arc::clone(&self.shared);
            let writable = Interest::READABLE | Interest::WRITABLE;
            let interest = if self.waiting.is_some() { writable } else { Interest::READABLE };
            if wait == Some(Duration::ZERO) {
                tokio::task::yield_now().await;
                continue;
            }
            tokio::select! {
                ready = self.socket.ready(interest) => if ready.is_err() { break },
                () = self.timer.wait(wait) => {}
                () = shared.wake.notified() => {}
            }
        }
        self.shared.end();
    }

    /// Takes what has arrived, does what is due and sends. Returns how long to wait; an error ends
    /// the endpoint.
    fn turn(&mut self) -> io::Result<Option<Duration>> {
        let shared = Arc::clone(&self.shared);
        let mut hub = shared.hub();
        let mut is_more = false;
        for run in 0..=RUNS {
            is_more = run == RUNS;
            if is_more || !self.receive(&shared, &mut hub)? {
                break;
            }
        }
        let now = shared.now();
        hub.on_timer(now);
        is_more |= self.send(now, &mut hub);
        shared.tell(&mut hub);
        if shared.is_shut() && hub.is_empty() {
            return Err(io::ErrorKind::ConnectionAborted.into());
        }
        let now = shared.now();
        let wait = hub.deadline().map(|at| at.saturating_sub(now));
        Ok(if is_more { Some(Duration::ZERO) } else { wait })
    }

    /// Takes a batch of datagrams. Returns whether there was one.
    fn receive(&mut self, shared: &Shared, hub: &mut Hub) -> io::Result<bool> {
        let mut metas = [RecvMeta::default(); BATCH_SIZE];
        let received = {
            let mut slices: Vec<IoSliceMut<'_>> =
                self.buffers.iter_mut().map(|buffer| IoSliceMut::new(buffer)).collect();
            self.socket.try_io(Interest::READABLE, || {
                self.state.recv((&self.socket).into(), &mut slices, &mut metas)
            })
        };
        let count = match received {
            Ok(count) => count,
            Err(error) if error.kind() == io::ErrorKind::WouldBlock => return Ok(false),
            // An earlier packet has found no receiver.
            Err(error) if error.kind() == io::ErrorKind::ConnectionRefused => return Ok(true),
            Err(error) => return Err(error),
        };
        let now = shared.now();
        for (buffer, meta) in self.buffers.iter_mut().zip(&metas[..count]) {
            let marked = meta.ecn == Some(EcnCodepoint::Ce);
            for datagram in buffer[..meta.len].chunks_mut(meta.stride.max(1)) {
                hub.on_datagram(now, meta.addr, datagram, marked);
            }
        }
        Ok(true)
    }

    /// Sends what there is. Returns whether there is more.
    fn send(&mut self, now: Duration, hub: &mut Hub) -> bool {
        if let Some(batch) = self.waiting.take()
            && !self.give(batch)
        {
            return false;
        }
        while let Some((to, bytes)) = hub.poll_packet() {
            let segment = bytes.len();
            if !self.give(Batch { to, ecn: false, segment, bytes }) {
                return false;
            }
        }
        let mut left = BATCHES * BATCH_SIZE;
        while let Some(id) = hub.poll_dirty() {
            if left == 0 {
                hub.put_back(id);
                return true;
            }
            match self.send_of(now, id, hub) {
                Sent::All => hub.settle(id),
                Sent::Turn => hub.put_back(id),
                Sent::Blocked => {
                    hub.put_back(id);
                    return false;
                }
            }
            left -= 1;
        }
        false
    }

    /// Sends the packets of a connection.
    fn send_of(&mut self, now: Duration, id: ConnectionId, hub: &mut Hub) -> Sent {
        let most = self.state.max_gso_segments().max(1);
        let mut carried = None;
        for _ in 0..BATCHES {
            let mut bytes = core::mem::take(&mut self.spare);
            bytes.clear();
            let first = match carried.take() {
                Some((first, packet)) => {
                    bytes = packet;
                    first
                }
                None => match hub.poll_transmit(now, id, &mut bytes) {
                    Some(first) => first,
                    None => {
                        self.spare = bytes;
                        return Sent::All;
                    }
                },
            };
            let (mut count, mut is_last) = (1, false);
            while count < most && bytes.len() + first.len <= BATCH {
                let before = bytes.len();
                let Some(next) = hub.poll_transmit(now, id, &mut bytes) else {
                    is_last = true;
                    break;
                };
                if (next.to, next.ecn) != (first.to, first.ecn) || next.len > first.len {
                    carried = Some((next, bytes.split_off(before)));
                    break;
                }
                count += 1;
                if next.len < first.len {
                    break;
                }
            }
            let batch = Batch { to: first.to, ecn: first.ecn, segment: first.len, bytes };
            if !self.give(batch) {
                if let Some((next, bytes)) = carried {
                    // A lost packet is sent again.
                    drop((next, bytes));
                }
                return Sent::Blocked;
            }
            if is_last && carried.is_none() {
                return Sent::All;
            }
        }
        if let Some((next, bytes)) = carried {
            let batch = Batch { to: next.to, ecn: next.ecn, segment: next.len, bytes };
            if !self.give(batch) {
                return Sent::Blocked;
            }
        }
        Sent::Turn
    }

    /// Gives packets to the kernel. Returns whether it has taken them or dropped them.
    fn give(&mut self, batch: Batch) -> bool {
        let transmit = quinn_udp::Transmit {
            destination: batch.to,
            ecn: batch.ecn.then_some(EcnCodepoint::Ect0),
            contents: &batch.bytes,
            segment_size: (batch.segment < batch.bytes.len()).then_some(batch.segment),
            src_ip: None,
        };
        let sent = self
            .socket
            .try_io(Interest::WRITABLE, || self.state.try_send((&self.socket).into(), &transmit));
        match sent {
            Err(error) if error.kind() == io::ErrorKind::WouldBlock => {
                self.waiting = Some(batch);
                false
            }
            // What cannot be sent is lost, as on the path: packets that are too large for it, too.
            _ => {
                self.spare = batch.bytes;
                true
            }
        }
    }
}

/// What came of a connection's turn.
enum Sent {
    /// It has no more packets to send now.
    All,
    /// It has more.
    Turn,
    /// The socket takes no more.
    Blocked,
}
