//! Properties of anything that arrives. Fuzz targets, the test that replays their corpora, and
//! property tests share them.

use std::net::SocketAddr;

use ratewire_units::{Bytes, Duration, Time};

use crate::channel::Ends;
use crate::config::Config;
use crate::connection::Connection;
use crate::frame::Frame;
use crate::keys::{Credentials, Keys, Open, Seal};
use crate::wire::{ConnectionId, Data, EndKind, HEADER, Params, Parts, Target};

/// Reads `data` as the clear part of a packet, as parts, and as parameters. What can be read is
/// written with the same content. Returns how many things were read.
///
/// # Panics
/// If it is not.
pub fn packet(data: &[u8]) -> usize {
    let mut count = 0;
    if let Ok((clear, length)) = Data::read(data) {
        let mut again = Vec::new();
        clear.put(&mut again);
        assert_eq!(Data::read(&again), Ok((clear, again.len())));
        assert!(length <= data.len());
        count += 1;
    }
    for part in Parts::new(data).flatten() {
        let mut again = Vec::new();
        part.put(&mut again);
        assert_eq!(Parts::new(&again).next(), Some(Ok(part)));
        count += 1;
    }
    if let Ok(params) = Params::read(data) {
        assert_eq!(Params::read(&params.encode()), Ok(params));
        count += 1;
    }
    count
}

const SECRETS: [[u8; 32]; 2] = [[1; 32], [2; 32]];
const BUFFER: u64 = 10_000;

/// Lets a peer with the right keys send anything: `data` is packets of `[milliseconds, length,
/// parts]`. The connection never panics and sends no endless run of packets, and what waits to be
/// read stays within its buffer. Returns how many packets were taken in.
///
/// # Panics
/// If one of these does not hold.
pub fn peer(mut data: &[u8]) -> u64 {
    let config = Config {
        receive_buffer: Bytes::new(BUFFER),
        longest_frame: Bytes::new(1000),
        ..Config::new(Credentials::Shared([0; 32]))
    };
    let address = SocketAddr::from(([10, 0, 0, 1], 1));
    let params = Params {
        connection: ConnectionId(2),
        longest_frame: 1000,
        idle_timeout_ms: 30_000,
        law: config.law_name.clone(),
        kind: EndKind::Host,
        reset_token: [0; 16],
        application: String::new(),
        target: Target::Ensemble,
    };
    let keys = Keys { seal: Seal::new(&SECRETS[0]), open: Open::new(&SECRETS[1]) };
    let ends = Ends { local: ConnectionId(1), params, peer: address, keys };
    let mut connection = Connection::new(Time::ZERO, config.law.clone(), &config, ends);
    let seal = Seal::new(&SECRETS[1]);
    let (mut now, mut number, mut out) = (Time::ZERO, 0, Vec::new());
    for id in 0..3 {
        _ = connection.write(Frame::new(id, vec![0; 700]));
    }
    while let [wait, length, rest @ ..] = data {
        let (parts, rest) = rest.split_at(usize::from(*length).min(rest.len()));
        data = rest;
        now += Duration::from_millis(u64::from(*wait));
        let mut packet = Vec::new();
        Data { connection: ConnectionId(1), number: number as u32, congestion: &[] }
            .put(&mut packet);
        let begin = packet.len();
        packet.extend(parts);
        seal.seal(number, &mut packet, 0, HEADER, begin);
        number += 1;
        connection.on_datagram(now, address, &mut packet, wait % 7 == 0);
        connection.on_timer(now);
        let sent = (0..1000).take_while(|_| {
            out.clear();
            connection.poll_transmit(now, &mut out).is_some()
        });
        assert!(sent.count() < 1000, "packets without end");
    }
    let mut unread = 0;
    while let Some(frame) = connection.read() {
        unread += frame.data.len() as u64;
    }
    assert!(unread <= BUFFER + 1000, "{unread} bytes wait to be read");
    connection.metrics().packets_received
}
