//! Routes of flows, each made once.

use std::collections::BTreeMap;

use ratewire_net::pathfinder::Pathfinder;
use ratewire_net::spec::{LinkId, LinkSpec, NodeId};
use ratewire_net::{Network, RouteId};
use ratewire_units::{Bytes, Duration, Rate, SerialTime};

use crate::SetupError;
use crate::setup::{Ideal, Setup};

/// A route and its properties.
#[derive(Clone, Copy, Debug)]
pub struct RouteInfo {
    /// Id in the network.
    pub id: RouteId,
    /// Sum of the propagation delays.
    pub delay: Duration,
    /// Link-layer bytes per packet on the slowest link.
    overhead: Bytes,
    /// Time per byte on the slowest link; `None` if a link sends nothing.
    slowest: Option<SerialTime>,
    /// Picoseconds that all links together take for a byte, and for what they add to a packet.
    per_byte: f64,
    per_packet: f64,
    /// Rate of the route's first link.
    pub line_rate: Rate,
    /// First link of the route.
    pub first: LinkId,
    /// Number of routers that forward a packet.
    pub routers: u32,
}

impl RouteInfo {
    /// Time that the slowest link takes for a packet of this size; zero if a link sends nothing.
    pub(crate) fn packet_time(&self, size: Bytes) -> Duration {
        self.slowest.map_or(Duration::ZERO, |slowest| slowest.of(size + self.overhead))
    }

    /// Time for a packet of this size alone: the propagation delays, and its time at each link.
    fn passage(&self, size: Bytes) -> Duration {
        let at_links = self.per_byte * size.as_f64() + self.per_packet;
        self.delay + Duration::from_ps(at_links.round() as u64)
    }

    /// Time for `payload` alone: the propagation delays, its packets at the slowest link, and the
    /// largest of them at each other link, which has to take it whole before it sends it on.
    fn alone(&self, payload: Bytes, mss: Bytes, headers: Bytes) -> Duration {
        let largest = payload.min(mss) + headers;
        let others = self.passage(largest).saturating_sub(self.packet_time(largest));
        self.at_slowest(payload, mss, headers) + others
    }

    /// Time for `payload` by a definition, in packets with so much payload and headers; `back` is
    /// the way of answers. A handshake's packets have no payload.
    pub fn ideal(
        &self,
        back: &RouteInfo,
        ideal: Ideal,
        has_handshake: bool,
        (payload, mss, headers): (Bytes, Bytes, Bytes),
    ) -> Duration {
        match ideal {
            Ideal::Hpcc => {
                let all = self.at_slowest(payload, mss, headers);
                self.passage(mss) + back.delay + all
            }
            Ideal::Alone if has_handshake => {
                let opened = self.passage(headers) + back.passage(headers);
                opened + self.alone(payload, mss, headers)
            }
            Ideal::Alone => self.alone(payload, mss, headers),
        }
    }

    /// Time of all packets at the slowest link.
    fn at_slowest(&self, payload: Bytes, mss: Bytes, headers: Bytes) -> Duration {
        let packets = payload.get().div_ceil(mss.get().max(1)).max(1);
        let on_wire = payload + (headers + self.overhead) * packets;
        self.slowest.map_or(Duration::ZERO, |slowest| slowest.of(on_wire))
    }
}

/// Routes by their ends; several where paths have equal cost.
#[derive(Debug)]
pub struct RouteTable {
    pathfinder: Pathfinder,
    known: BTreeMap<(NodeId, NodeId), Vec<RouteInfo>>,
    /// Rate, delay and link-layer bytes per packet of each link.
    links: Vec<(Rate, Duration, Bytes)>,
}

impl RouteTable {
    /// The routes of a setup.
    ///
    /// # Errors
    /// An error if two neighbours on a given path have no link between them.
    pub fn new(setup: &Setup) -> Result<RouteTable, SetupError> {
        let pathfinder = setup.pathfinder().map_err(|e| SetupError::NoLink(e.from, e.to))?;
        let of = |l: &LinkSpec| (l.service.mean_rate(), l.delay, l.overhead);
        let links = setup.network.links.iter().map(of).collect();
        Ok(RouteTable { pathfinder, known: BTreeMap::new(), links })
    }

    /// See [`Pathfinder::is_leaf`].
    pub(crate) fn is_leaf(&self, node: NodeId) -> bool {
        self.pathfinder.is_leaf(node)
    }

    /// See [`Pathfinder::has_choice`].
    pub(crate) fn has_choice(&mut self, from: NodeId, to: NodeId) -> bool {
        self.pathfinder.has_choice(from, to)
    }

    /// Links from one node to another; `None` if there is no route.
    pub(crate) fn links(&mut self, from: NodeId, to: NodeId, flow: u64) -> Option<Vec<LinkId>> {
        self.pathfinder.path(from, to, flow)
    }

    /// The route of flow number `flow`, or of one of its packets by a number of its own.
    ///
    /// # Errors
    /// An error if there is no route, or if both ends are one node.
    pub fn get(
        &mut self,
        network: &mut Network,
        from: NodeId,
        to: NodeId,
        flow: u64,
    ) -> Result<RouteInfo, SetupError> {
        if from == to {
            return Err(SetupError::ToItself(from));
        }
        let links = self.pathfinder.path(from, to, flow).ok_or(SetupError::NoRoute(from, to))?;
        let known = self.known.entry((from, to)).or_default();
        if let Some(info) = known.iter().find(|info| network.is_route(info.id, &links)) {
            return Ok(*info);
        }
        let of = |link: &LinkId| self.links[link.index()];
        let slowest = links.iter().map(of).min_by_key(|l| l.0);
        let info = RouteInfo {
            id: network.add_route(&links),
            delay: links.iter().fold(Duration::ZERO, |sum, l| sum + of(l).1),
            overhead: slowest.map_or(Bytes::ZERO, |l| l.2),
            slowest: slowest.and_then(|l| l.0.serial_time()),
            per_byte: links.iter().map(|l| per_byte(of(l).0)).sum(),
            per_packet: links.iter().map(|l| per_byte(of(l).0) * of(l).2.as_f64()).sum(),
            line_rate: of(&links[0]).0,
            first: links[0],
            routers: links.len() as u32 - 1,
        };
        // Most pairs have one route.
        known.reserve_exact(1);
        known.push(info);
        Ok(info)
    }
}

/// Picoseconds that a link of this rate takes for a byte; none where it sends nothing.
fn per_byte(rate: Rate) -> f64 {
    if rate == Rate::ZERO { 0.0 } else { 8e12 / rate.bps() as f64 }
}
