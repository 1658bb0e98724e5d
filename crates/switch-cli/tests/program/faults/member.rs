//! A member that writes down each frame before it acknowledges it.
//!
//! The test program starts itself as this process. A kernel keeps what a killed process has
//! written, so that a frame that was acknowledged stands in a record.

use std::collections::BTreeMap;
use std::fs::File;
use std::io::{ErrorKind, Write};
use std::net::{SocketAddr, UdpSocket};
use std::os::unix::process::parent_id;
use std::path::PathBuf;
use std::time::Duration;

use ratewire_acp::channel::{Ends, NetworkPath};
use ratewire_acp::connection::Connection;
use ratewire_acp::handshakes::{Event, Handshakes};
use ratewire_acp::wire::{ConnectionId, Initial, PacketType, packet_type};
use ratewire_acp::{Config, Frame};
use ratewire_units::Time;
use tokio::time::Instant;

use super::records::{Place, content};

/// Longest wait for a datagram.
const PATIENCE: Duration = Duration::from_millis(5);

pub(super) struct Member {
    config: Config,
    /// Where the records are, and whose they are.
    folder: PathBuf,
    place: Place,
    handshakes: Handshakes,
    listen: SocketAddr,
    connections: BTreeMap<ConnectionId, (Connection, Recorder)>,
}

/// The record of a connection.
struct Recorder {
    file: File,
    place: Place,
}

impl Member {
    pub(super) fn new(
        config: Config,
        folder: PathBuf,
        (member, life): (u32, u32),
        listen: SocketAddr,
    ) -> Member {
        Member {
            listen,
            handshakes: Handshakes::new(&config, listen, true).expect("random numbers"),
            config,
            folder,
            place: Place { member, life, connection: 0 },
            connections: BTreeMap::new(),
        }
    }

    /// Serves a switch until the process is killed, or left behind by the test.
    pub(super) fn run(&mut self) {
        let test = parent_id();
        let socket = UdpSocket::bind(self.listen).expect("the address of the member");
        socket.set_read_timeout(Some(PATIENCE)).expect("a timeout");
        let start = Instant::now();
        let mut buffer = vec![0; 1 << 16];
        while parent_id() == test {
            match socket.recv_from(&mut buffer) {
                Ok((size, remote)) => {
                    let path = NetworkPath { local: self.listen.ip(), remote };
                    self.take(start.elapsed(), path, &mut buffer[..size]);
                }
                Err(error) => {
                    let kinds = [ErrorKind::WouldBlock, ErrorKind::TimedOut];
                    assert!(kinds.contains(&error.kind()), "{error}");
                }
            }
            self.work();
            self.send(start.elapsed(), &socket);
        }
    }

    fn take(&mut self, now: Duration, path: NetworkPath, datagram: &mut [u8]) {
        let size = datagram.len();
        let Ok((kind, id, rest)) = packet_type(datagram) else { return };
        match kind {
            PacketType::Initial => {
                let Ok(initial) = Initial::read(rest, size) else { return };
                let event = self.handshakes.on_initial(now, path, id, &initial, true);
                if let Some(Event::Accepted(ends)) = event {
                    self.accept(now, ends);
                }
            }
            PacketType::Data => match self.connections.get_mut(&id) {
                Some((connection, _)) => {
                    connection.on_datagram(time(now), path.remote, datagram, false);
                    self.handshakes.confirm(id);
                }
                None => self.handshakes.answer_unknown(now, path, id, size),
            },
            _ => {}
        }
    }

    fn accept(&mut self, now: Duration, ends: Ends) {
        let (id, law) = (ends.local, ends.params.law.parse().expect("a law"));
        let connection = Connection::new(time(now), law, &self.config, ends);
        let place = self.place;
        self.place.connection += 1;
        let file = File::create(self.folder.join(place.file())).expect("a record");
        self.connections.insert(id, (connection, Recorder { file, place }));
    }

    /// Writes down what has come, and answers each frame with its place.
    fn work(&mut self) {
        for (connection, recorder) in self.connections.values_mut() {
            let frames: Vec<Frame> = std::iter::from_fn(|| connection.read()).collect();
            let mut record = Vec::new();
            for frame in &frames {
                assert_eq!(frame.data, content(frame.id), "frame {:x}", frame.id);
                record.extend(frame.id.to_le_bytes());
            }
            recorder.file.write_all(&record).expect("room on the disk");
            for frame in frames {
                let answer = Frame::new(frame.id, recorder.place.to_bytes());
                // The switch may have reset the connection.
                _ = connection.write(answer);
            }
            if connection.is_at_end() {
                connection.finish();
            }
        }
    }

    fn send(&mut self, now: Duration, socket: &UdpSocket) {
        while let Some(event) = self.handshakes.on_timer(now) {
            if let Event::Abandoned(id) = event {
                self.connections.remove(&id);
            }
        }
        // A packet that finds no room is lost, as on the path.
        while let Some((to, packet)) = self.handshakes.poll_packet() {
            _ = socket.send_to(&packet, to);
        }
        for (connection, _) in self.connections.values_mut() {
            connection.on_timer(time(now));
            let mut packet = Vec::new();
            while let Some(sent) = connection.poll_transmit(time(now), &mut packet) {
                _ = socket.send_to(&packet, sent.to);
                packet.clear();
            }
        }
        self.connections.retain(|_, (connection, _)| !connection.is_over());
    }
}

fn time(now: Duration) -> Time {
    Time::from_ps(now.as_nanos() as u64 * 1000)
}
