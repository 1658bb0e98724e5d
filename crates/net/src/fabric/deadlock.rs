//! Rings of paused links that will never resume.

use std::collections::{BTreeMap, BTreeSet};

use ratewire_backpressure::knot::{knot, ring};
use ratewire_backpressure::queues::{Arrangement, QueueAddress};
use ratewire_units::{Bytes, Time};

use super::{Fabric, QueuedPacket};
use crate::link::Links;
use crate::route_store::RouteStore;
use crate::spec::LinkId;

/// A ring of links, each paused because packets that arrived over it wait for the next.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Deadlock {
    /// Time of detection: nothing had moved for half the pause time of a frame.
    pub at: Time,
    /// The links; each waits for the next, and the last for the first.
    pub ring: Vec<LinkId>,
}

/// A class or queue of a link, or the whole link.
type Lane = (LinkId, u32);

/// Packets that cannot move, by the link over which they came.
type StuckPackets = BTreeMap<LinkId, Vec<QueuedPacket>>;

/// The lane number of a whole link.
const WHOLE: u32 = u32::MAX;

impl Fabric {
    /// The first ring of links that wait for each other for ever, if there is one.
    pub(crate) fn deadlock(&self) -> Option<&Deadlock> {
        self.deadlock.as_ref()
    }

    /// Checks all links that a buffer can pause.
    pub(crate) fn look_for_deadlocks(&mut self, now: Time, links: &Links, routes: &RouteStore) {
        let is_paused = |id: &LinkId| self.buffer(*id).is_some();
        let paused: Vec<LinkId> = links.ids().filter(is_paused).collect();
        self.look_for_deadlock(now, &paused, links, routes);
    }

    /// Checks paused links, and the links that they wait for.
    pub(super) fn look_for_deadlock(
        &mut self,
        now: Time,
        ids: &[LinkId],
        links: &Links,
        routes: &RouteStore,
    ) {
        if self.deadlock.is_some() {
            return;
        }
        let mut suspects = BTreeSet::new();
        // Nodes whose links have been checked.
        let mut seen = BTreeSet::new();
        let mut open: Vec<Lane> =
            ids.iter().flat_map(|id| self.closed_lanes(now, *id, links)).collect();
        while let Some(lane) = open.pop() {
            suspects.insert(lane);
            if seen.insert(self.buffer(lane.0).map(|buffer| buffer.node)) {
                open.extend(
                    self.outputs_after(lane.0).flat_map(|next| self.closed_lanes(now, next, links)),
                );
            }
        }
        let knot = knot(suspects, |set| self.free_of(set, routes));
        let ring = ring(&knot, |lane| self.waits_for(lane, &knot, routes));
        if ring.is_empty() {
            return;
        }
        let mut ring: Vec<LinkId> = ring.iter().map(|(link, _)| *link).collect();
        ring.dedup();
        self.deadlock = Some(Deadlock { at: now, ring });
    }

    /// The pausable links by which packets of a link may leave.
    fn outputs_after(&self, id: LinkId) -> impl Iterator<Item = LinkId> + '_ {
        let node = self.buffer(id).map(|buffer| buffer.node as usize);
        node.into_iter().flat_map(|node| self.switches[node].pausable.iter().copied())
    }

    /// The paused classes or queues of a link that stay paused as long as the buffer asks for it.
    fn closed_lanes(&self, now: Time, id: LinkId, links: &Links) -> Vec<Lane> {
        let Some(outlet) = links[id.index()].outlet() else { return Vec::new() };
        let Some(buffer) = self.buffer(id) else { return Vec::new() };
        let stopped = buffer.watches.iter().enumerate().filter(|(class, watch)| {
            watch.has_stopped() && !outlet.gate().is_open(now, *class as u32)
        });
        let name = |class: usize| if buffer.spec.by_class { class as u32 } else { WHOLE };
        let mut lanes: Vec<Lane> = stopped.map(|(class, _)| (id, name(class))).collect();
        if let (Some(filter), Arrangement::ByFlow(queues)) =
            (&buffer.filter, buffer.spec.arrangement)
        {
            let paused = |lane: &u32| {
                filter.paused().contains(*lane) && outlet.gate().lanes().contains(*lane)
            };
            lanes.extend((0..queues).filter(paused).map(|lane| (id, lane)));
        }
        lanes
    }

    /// The lanes of `set` that do not stay paused while all the others are. A switch with thousands
    /// of links holds many packets: each is looked at once for all lanes.
    fn free_of(&self, set: &BTreeSet<Lane>, routes: &RouteStore) -> Vec<Lane> {
        let mut stuck: BTreeMap<u32, StuckPackets> = BTreeMap::new();
        let mut stays = |&(id, lane): &Lane| {
            let Some(buffer) = self.buffer(id) else { return false };
            let of_node =
                stuck.entry(buffer.node).or_insert_with(|| self.stuck_in(id, set, routes));
            let held = of_node.get(&id).map_or(&[][..], Vec::as_slice);
            self.is_kept_by((id, lane), held)
        };
        set.iter().filter(|lane| !stays(lane)).copied().collect()
    }

    /// The packets that cannot move while all of `set` are paused, of the switch that a link leads
    /// to.
    fn stuck_in(&self, id: LinkId, set: &BTreeSet<Lane>, routes: &RouteStore) -> StuckPackets {
        let mut stuck = StuckPackets::new();
        let is_before = |next: LinkId| set.range((next, 0)..=(next, WHOLE)).next().is_some();
        let Some(buffer) = self.buffer(id) else { return stuck };
        if !self.outputs_after(id).any(is_before) {
            return stuck;
        }
        for (_, held) in self.stuck_behind(buffer.node, set) {
            if let Some(before) = routes.before(&held.label) {
                stuck.entry(before).or_default().push(held);
            }
        }
        stuck
    }

    /// Whether packets that cannot move while all of `set` are paused keep this lane paused.
    fn is_stuck(&self, lane: Lane, set: &BTreeSet<Lane>, routes: &RouteStore) -> bool {
        let stuck = self.stuck_in(lane.0, set, routes);
        self.is_kept_by(lane, stuck.get(&lane.0).map_or(&[][..], Vec::as_slice))
    }

    /// Whether these packets, which came over the lane's link and cannot move, keep it paused.
    fn is_kept_by(&self, (id, lane): Lane, held: &[QueuedPacket]) -> bool {
        let Some(buffer) = self.buffer(id) else { return false };
        let by_flow = buffer.filter.is_some() && lane != WHOLE;
        let mut stuck = Bytes::ZERO;
        for held in held {
            let label = &held.label;
            if by_flow && held.counted && u32::from(label.lane) == lane {
                return true;
            }
            if !by_flow && (lane == WHOLE || u32::from(label.class) == lane) {
                stuck += Bytes::new(u64::from(label.size));
            }
        }
        let watch = &buffer.watches[if lane == WHOLE || by_flow { 0 } else { lane as usize }];
        !by_flow && !watch.lets_go_at(stuck)
    }

    /// The lanes in `set` that hold back packets of this one.
    fn waits_for(
        &self,
        (id, lane): Lane,
        set: &BTreeSet<Lane>,
        routes: &RouteStore,
    ) -> BTreeSet<Lane> {
        let one = |next: &Lane| self.is_stuck((id, lane), &BTreeSet::from([*next]), routes);
        let alone: BTreeSet<Lane> = set.iter().filter(|next| one(next)).copied().collect();
        if !alone.is_empty() {
            return alone;
        }
        // Only several lanes together hold back enough packets.
        let outputs: BTreeSet<LinkId> = self.outputs_after(id).collect();
        set.iter().filter(|(next, _)| outputs.contains(next)).copied().collect()
    }

    /// The packets that wait in a switch and cannot move while these lanes are paused.
    fn stuck_behind<'a>(
        &'a self,
        node: u32,
        set: &'a BTreeSet<Lane>,
    ) -> impl Iterator<Item = (QueueAddress, QueuedPacket)> + 'a {
        let node = &self.switches[node as usize];
        let is_blocked = |output: u32, lane: u32| {
            let link = node.links[output as usize];
            set.contains(&(link, WHOLE)) || set.contains(&(link, lane))
        };
        node.switch.stuck(is_blocked)
    }
}
