//! A UDP socket in batches: runs of equal packets go to the kernel and come from it as one.

use std::io::{self, IoSliceMut};
use std::net::{IpAddr, SocketAddr};
use std::time::Duration;

use quinn_udp::{BATCH_SIZE, EcnCodepoint, RecvMeta, UdpSocketState};
use tokio::io::Interest;
use tokio::net::UdpSocket;

use crate::channel::{NetworkPath, Transmit};

/// Longest run of packets that the kernel hands over as one.
const RUN: usize = 64 << 10;
/// Batches of runs to take before others have their turn, and bytes: what they cause is sent before
/// more is taken, while it is in the processor's cache, and queues stay short.
const TURN: (usize, usize) = (8, 1 << 20);
/// Runs in a batch.
const RUNS: usize = if BATCH_SIZE < 16 { BATCH_SIZE } else { 16 };
/// Bytes to give to the kernel at once.
const BATCH: usize = 60_000;
/// Batches that a connection sends before others have their turn.
const BATCHES: usize = 8;
/// Buffers of the socket.
const SOCKET_BUFFER: usize = 4 << 20;

/// Packets to send, by what they belong to.
pub trait Packets {
    /// What packets belong to: a connection.
    type Key: Copy;

    /// The next packet that belongs to none, and where to.
    fn poll_packet(&mut self) -> Option<(SocketAddr, Vec<u8>)>;
    /// Something that may have packets to send. [`Packets::settle`] follows when it has none, or
    /// [`Packets::put_back`].
    fn poll_dirty(&mut self) -> Option<Self::Key>;
    /// Puts back what has more to send, behind the others.
    fn put_back(&mut self, key: Self::Key);
    /// Appends the next packet to `out`.
    fn poll_transmit(
        &mut self,
        now: Duration,
        key: Self::Key,
        out: &mut Vec<u8>,
    ) -> Option<Transmit>;
    /// Notes that it has no more to send now.
    fn settle(&mut self, key: Self::Key);
}

/// A datagram that has arrived.
#[derive(Debug)]
pub struct Arrival<'a> {
    /// Address of the sender, and the address that the datagram was sent to.
    pub path: NetworkPath,
    /// Bytes of the datagram.
    pub datagram: &'a mut [u8],
    /// Whether a router has marked it (CE).
    pub marked: bool,
}

/// Equal packets for one address, which the kernel takes at once.
struct Batch {
    to: SocketAddr,
    ecn: bool,
    segment: usize,
    bytes: Vec<u8>,
}

/// A UDP socket.
pub struct Socket {
    socket: UdpSocket,
    /// The address that the socket is bound to, which may stand for all of the host's.
    bound: IpAddr,
    state: UdpSocketState,
    buffers: Vec<Vec<u8>>,
    /// What the socket had no room for.
    waiting: Option<Batch>,
    spare: Vec<u8>,
}

impl Socket {
    /// A socket for batches; call it in a tokio runtime.
    ///
    /// # Errors
    /// When the socket cannot be made non-blocking or watched.
    pub fn new(socket: std::net::UdpSocket) -> io::Result<Socket> {
        let state = UdpSocketState::new((&socket).into())?;
        // A smaller buffer costs packets at most.
        _ = state.set_recv_buffer_size((&socket).into(), SOCKET_BUFFER);
        _ = state.set_send_buffer_size((&socket).into(), SOCKET_BUFFER);
        Ok(Socket {
            bound: socket.local_addr()?.ip(),
            socket: UdpSocket::from_std(socket)?,
            state,
            buffers: vec![vec![0; RUN]; RUNS],
            waiting: None,
            spare: Vec::with_capacity(RUN),
        })
    }

    /// Waits until packets have arrived, or there is room for those that wait.
    ///
    /// # Errors
    /// When the runtime ends.
    pub async fn ready(&self) -> io::Result<()> {
        let writable = Interest::READABLE | Interest::WRITABLE;
        let interest = if self.waiting.is_some() { writable } else { Interest::READABLE };
        self.socket.ready(interest).await.map(drop)
    }

    /// Takes what has arrived. Returns whether there may be more.
    ///
    /// # Errors
    /// When the socket fails.
    pub fn receive(&mut self, mut take: impl FnMut(Arrival<'_>)) -> io::Result<bool> {
        let (batches, most) = TURN;
        let mut bytes = 0;
        for _ in 0..batches {
            match self.receive_batch(&mut take)? {
                Some(taken) => bytes += taken,
                None => return Ok(false),
            }
            if bytes >= most {
                break;
            }
        }
        Ok(true)
    }

    /// Takes a batch of datagrams. Returns their bytes, if there was one.
    fn receive_batch(&mut self, take: &mut impl FnMut(Arrival<'_>)) -> io::Result<Option<usize>> {
        let mut metas = [RecvMeta::default(); RUNS];
        let received = {
            let mut slices: Vec<IoSliceMut<'_>> =
                self.buffers.iter_mut().map(|buffer| IoSliceMut::new(buffer)).collect();
            self.socket.try_io(Interest::READABLE, || {
                self.state.recv((&self.socket).into(), &mut slices, &mut metas)
            })
        };
        let count = match received {
            Ok(count) => count,
            Err(error) if error.kind() == io::ErrorKind::WouldBlock => return Ok(None),
            // An earlier packet has found no receiver.
            Err(error) if error.kind() == io::ErrorKind::ConnectionRefused => return Ok(Some(0)),
            Err(error) => return Err(error),
        };
        for (buffer, meta) in self.buffers.iter_mut().zip(&metas[..count]) {
            let marked = meta.ecn == Some(EcnCodepoint::Ce);
            let local = meta.dst_ip.unwrap_or(self.bound);
            let path = NetworkPath { local, remote: meta.addr };
            for datagram in buffer[..meta.len].chunks_mut(meta.stride.max(1)) {
                take(Arrival { path, datagram, marked });
            }
        }
        Ok(Some(metas[..count].iter().map(|meta| meta.len).sum()))
    }

    /// Sends what there is. Returns whether there is more.
    pub fn send<P: Packets>(&mut self, now: Duration, packets: &mut P) -> bool {
        if let Some(batch) = self.waiting.take()
            && !self.give(batch)
        {
            return false;
        }
        while let Some((to, bytes)) = packets.poll_packet() {
            let segment = bytes.len();
            if !self.give(Batch { to, ecn: false, segment, bytes }) {
                return false;
            }
        }
        let mut left = BATCHES * BATCH_SIZE;
        while let Some(key) = packets.poll_dirty() {
            if left == 0 {
                packets.put_back(key);
                return true;
            }
            match self.send_of(now, key, packets) {
                Sent::All => packets.settle(key),
                Sent::Turn => packets.put_back(key),
                Sent::Blocked => {
                    packets.put_back(key);
                    return false;
                }
            }
            left -= 1;
        }
        false
    }

    /// Sends the packets of a connection.
    fn send_of<P: Packets>(&mut self, now: Duration, key: P::Key, packets: &mut P) -> Sent {
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
                None => match packets.poll_transmit(now, key, &mut bytes) {
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
                let Some(next) = packets.poll_transmit(now, key, &mut bytes) else {
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

/// The address from which a socket that is bound to `bound` sends to another. No packet is sent to
/// find it.
pub(crate) fn source_address(bound: IpAddr, to: SocketAddr) -> IpAddr {
    let routed = || {
        let socket = std::net::UdpSocket::bind((bound, 0))?;
        socket.connect(to)?;
        socket.local_addr()
    };
    // A destination without a route gets no packet that could prove anything.
    if bound.is_unspecified() { routed().map_or(bound, |address| address.ip()) } else { bound }
}

/// What a connection did in its turn to send.
enum Sent {
    /// The connection has no more packets to send now.
    All,
    /// The connection has more packets, and its turn is over.
    Turn,
    /// The socket takes no more.
    Blocked,
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Of several megabytes that wait, a turn takes about one.
    #[tokio::test]
    async fn a_turn_to_receive_ends() {
        let bind = || std::net::UdpSocket::bind("127.0.0.1:0").unwrap();
        let (from, to) = (bind(), bind());
        let address = to.local_addr().unwrap();
        let mut socket = Socket::new(to).unwrap();
        for _ in 0..60 {
            from.send_to(&[7; 60_000], address).unwrap();
        }
        let (mut turns, mut all) = (Vec::new(), 0);
        socket.ready().await.unwrap();
        loop {
            let mut bytes = 0;
            let is_more = socket.receive(|arrival| bytes += arrival.datagram.len()).unwrap();
            turns.push(bytes);
            all += bytes;
            if !is_more {
                break;
            }
        }
        // The kernel may have had no room for all.
        assert!(all > 0 && turns.iter().all(|bytes| *bytes <= 2 * TURN.1), "{turns:?}");
    }
}
