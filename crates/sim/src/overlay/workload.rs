//! The overlay of benchmarks: fifty nodes on a ring with chords, and a group for every ten clients.

use std::sync::Arc;

use ratewire_laws::AnyLaw;
use ratewire_overlay::{ClientId, DeliveryOrder, GroupId, OverlayNodeId, Params, SenderSpec};
use ratewire_transport::App;
use ratewire_units::{Bytes, Duration, Rate, Time};

use crate::dumbbell::{Dumbbell, cable, node};
use crate::setup::overlay::{OverlayGroup, OverlayLink, OverlaySender, OverlaySpec};
use crate::setup::{FlowSpec, Setup};

const NODES: u32 = 50;
/// Senders among the ten clients of a group; the others are its members.
const SENDERS: u32 = 4;

/// `clients` clients on fifty nodes. Each node is joined to its neighbours and to the seventh on
/// either side by cables of this rate, round trip and queue in packets.
pub fn workload(law: AnyLaw, clients: u32, rate: Rate, rtt: Duration, queue: u32) -> Setup {
    let Dumbbell { transport, .. } = Dumbbell::new(law.clone(), 0, rate, rtt, queue);
    let mut setup = Dumbbell::new(law, 0, rate, rtt, queue).setup();
    setup.network = Default::default();
    let mut links = Vec::new();
    for i in 0..NODES {
        node(&mut setup.network, format!("n{i}"), true);
    }
    let limit = ratewire_net::spec::Limit::Packets(queue);
    for (i, step) in (0..NODES).flat_map(|i| [(i, 1), (i, 7)]) {
        let other = (i + step) % NODES;
        cable(&mut setup.network, i, other, rate, rtt / 2, limit);
        for (from, to) in [(i, other), (other, i)] {
            let (one, two) = (OverlayNodeId(from as u8), OverlayNodeId(to as u8));
            links.push(OverlayLink { from: one, to: two, flow: setup.flows.len() });
            setup.flows.push(FlowSpec {
                name: format!("n{from}=>n{to}"),
                from: ratewire_net::spec::NodeId(from),
                to: ratewire_net::spec::NodeId(to),
                app: App::fed(),
                transport: transport.clone(),
                ..FlowSpec::default()
            });
        }
    }
    let payload = transport.packet.saturating_sub(transport.headers);
    // Neighbours in a group are thirteen nodes apart, and each group begins one node after the
    // last.
    let home = |client: u32| OverlayNodeId(((client / 10 + client % 10 * 13) % NODES) as u8);
    let members = |group: u32| {
        let clients = group * 10 + SENDERS..group * 10 + 10;
        clients.map(|client| (ClientId(client), home(client))).collect()
    };
    let group = |group: u32| OverlayGroup {
        name: format!("g{group}"),
        service: DeliveryOrder::Fifo,
        members: members(group),
        salary: None,
        weight: 1.0,
    };
    let sender = |client: u32| OverlaySender {
        at: home(client),
        spec: SenderSpec {
            client: ClientId(client),
            group: GroupId(client / 10),
            message: payload,
            line: Rate::from_mbps(10),
            offered: None,
        },
        start: Time::ZERO,
        stop: None,
    };
    setup.overlay = Some(Arc::new(OverlaySpec {
        params: Params::default(),
        nodes: (0..NODES).map(ratewire_net::spec::NodeId).collect(),
        links,
        groups: (0..clients / 10).map(group).collect(),
        senders: (0..clients).filter(|client| client % 10 < SENDERS).map(sender).collect(),
        changes: Vec::new(),
        faults: Vec::new(),
        payload: Bytes::new(payload.get()),
    }));
    setup
}
