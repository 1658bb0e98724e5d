//! Routes of flows, each made once.

use std::collections::BTreeMap;

use ratewire_net::pathfinder::Pathfinder;
use ratewire_net::spec::{LinkId, LinkSpec, NodeId};
use ratewire_net::{Network, RouteId};
use ratewire_units::{Bytes, Duration, Rate, SerialTime};

use crate::SetupError;
use crate::setup::Setup;

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
    /// Rate of the route's first link.
    pub line_rate: Rate,
    /// First link of the route.
    pub first: LinkId,
}

impl RouteInfo {
    /// Time that the slowest link takes for a packet of this size; zero if a link sends nothing.
    pub(crate) fn packet_time(&self, size: Bytes) -> Duration {
        self.slowest.map_or(Duration::ZERO, |slowest| slowest.of(size + self.overhead))
    }

    /// Time for `payload` alone: one propagation delay, and its packets at the slowest link.
    pub fn ideal(&self, payload: Bytes, mss: Bytes, headers: Bytes) -> Duration {
        let packets = payload.get().div_ceil(mss.get().max(1)).max(1);
        let on_wire = payload + (headers + self.overhead) * packets;
        self.delay + self.slowest.map_or(Duration::ZERO, |s| s.of(on_wire))
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
            line_rate: of(&links[0]).0,
            first: links[0],
        };
        // Most pairs have one route.
        known.reserve_exact(1);
        known.push(info);
        Ok(info)
    }
}
