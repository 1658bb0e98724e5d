//! Properties of anything that a peer or a member with the right keys may send. Fuzz targets, the
//! test that replays their corpora, and property tests share them.

use std::net::SocketAddr;

use ratewire_acp::channel::{CloseReason, Ends};
use ratewire_acp::keys::{Keys, Open, Seal};
use ratewire_acp::wire::{ConnectionId, Data, EndKind, HEADER, Params, Target};
use ratewire_acp::{Config, Credentials};
use ratewire_anypoint::routing::{KeyHash, RoundRobin, Routing};
use ratewire_anypoint::{FlowControl, Side, Transforms};
use ratewire_units::{Duration, Time};

use crate::session::{Peer, PeerKind, Session, SessionConfig, SessionEvent};

const MEMBERS: usize = 2;
/// Packets that one may set off: those that waited for it, and answers.
const MOST_ANSWERS: usize = 4096;

fn secret(side: Side, is_ours: bool) -> [u8; 32] {
    let number = match side {
        Side::Peer => 0,
        Side::Member(k) => k as u8 + 1,
    };
    [2 * number + u8::from(is_ours); 32]
}

fn address(side: Side) -> SocketAddr {
    SocketAddr::from(([10, 0, 0, secret(side, false)[0]], 1))
}

fn ends(side: Side, config: &Config) -> Ends {
    Ends {
        local: ConnectionId(1),
        params: Params {
            connection: ConnectionId(2),
            longest_frame: 1 << 20,
            idle_timeout_ms: 30_000,
            law: config.law_name.clone(),
            kind: EndKind::Host,
            reset_token: [0; 16],
            application: String::new(),
            target: Target::Ensemble,
        },
        peer: address(side),
        keys: Keys { seal: Seal::new(&secret(side, true)), open: Open::new(&secret(side, false)) },
    }
}

/// Lets a peer and two members send anything: `data` is a byte that chooses the routing, then
/// packets of `[milliseconds, side, length, parts]`. The switch never panics and sends no endless
/// run of packets, and a member that violates the protocol harms no other. Returns how many packets
/// were authentic.
///
/// # Panics
/// If one of these does not hold.
pub fn neighbours(data: &[u8]) -> u64 {
    let Some((first, mut data)) = data.split_first() else { return 0 };
    let routing: Box<dyn Routing> = match first % 2 {
        0 => Box::new(RoundRobin::default()),
        _ => Box::new(KeyHash { offset: 0, len: 2 }),
    };
    let config = SessionConfig {
        acp: Config::new(Credentials::Shared([0; 32])),
        flow_control: if first % 4 < 2 { FlowControl::Strict } else { FlowControl::Soft },
        transforms: Transforms::Refusals { shuffle: 0.1 },
        silence: Duration::from_secs(1),
    };
    let law = config.acp.law.clone();
    let kind = [
        PeerKind::Client(EndKind::Host),
        PeerKind::Client(EndKind::Switch),
        PeerKind::Client(EndKind::SwitchAfter),
        PeerKind::Dialled,
    ][usize::from(first / 4 % 4)];
    let peer = Peer { kind, law, ends: ends(Side::Peer, &config.acp) };
    let mut session = Session::new(Time::ZERO, &config, MEMBERS, routing, peer);
    (0..MEMBERS).for_each(|k| session.join(Time::ZERO, k, ends(Side::Member(k), &config.acp)));
    session.begin(Time::ZERO);
    let (mut now, mut numbers, mut taken, mut out) = (Time::ZERO, [0; 3], 0, Vec::new());
    while let [wait, side, length, rest @ ..] = data {
        let (parts, rest) = rest.split_at(usize::from(*length).min(rest.len()));
        data = rest;
        now += Duration::from_millis(u64::from(*wait));
        let place = usize::from(side % 3);
        let side = if place == 0 { Side::Peer } else { Side::Member(place - 1) };
        let mut packet = packet(side, numbers[place], parts);
        numbers[place] += 1;
        taken +=
            u64::from(session.on_datagram(now, side, address(side), &mut packet, wait % 7 == 0));
        session.on_timer(now);
        for side in [Side::Peer, Side::Member(0), Side::Member(1)] {
            let sent = (0..MOST_ANSWERS).take_while(|_| {
                out.clear();
                session.poll_transmit(now, side, &mut out).is_some()
            });
            assert!(sent.count() < MOST_ANSWERS, "packets without end");
        }
        for event in session.take_events() {
            if let SessionEvent::Lost { member, reason: CloseReason::Violation(_) } = event {
                assert_eq!(place, member + 1, "a member is lost for what another has sent");
            }
        }
        session.take_changed();
    }
    taken
}

fn packet(side: Side, number: u64, parts: &[u8]) -> Vec<u8> {
    let mut packet = Vec::new();
    Data { connection: ConnectionId(1), number: number as u32, congestion: &[] }.put(&mut packet);
    let begin = packet.len();
    packet.extend(parts);
    Seal::new(&secret(side, false)).seal(number, &mut packet, 0, HEADER, begin);
    packet
}
