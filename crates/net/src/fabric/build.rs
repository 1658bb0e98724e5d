//! Making the switches of a network.

use std::collections::{BTreeMap, VecDeque};

use ratewire_backpressure::flows::{Assignment, Filter};
use ratewire_backpressure::frames::CLASSES;
use ratewire_backpressure::gate::Gate;
use ratewire_backpressure::queues::{Arrangement, Switch};
use ratewire_backpressure::watch::{Thresholds, Watch};
use ratewire_units::Time;

use super::{Buffer, Coalescing, Fabric, Node, Outlet};
use crate::link::Link;
use crate::random::stream;
use crate::spec::{DriverSpec, LinkId, LinkSpec, NodeId, PauseSpec};

impl Fabric {
    /// The switches that links with pausing buffers, and hosts whose sockets wait or whose card sends
    /// in bursts, ask for.
    pub(crate) fn new(specs: &[LinkSpec], links: &mut [Link], seed: u64) -> Fabric {
        let mut numbers: BTreeMap<NodeId, u32> = BTreeMap::new();
        for spec in specs {
            if spec.pause.is_some() {
                numbers.insert(spec.from, 0);
                numbers.insert(spec.to, 0);
            } else if spec.driver != DriverSpec::default() {
                numbers.insert(spec.from, 0);
            }
        }
        if numbers.is_empty() {
            return Fabric::default();
        }
        let mut fabric = Fabric { inputs: vec![0; specs.len()], ..Fabric::default() };
        for (i, (node, number)) in numbers.iter_mut().enumerate() {
            *number = i as u32;
            fabric.switches.push(Node::new(specs, *node, seed));
        }
        let mut inputs: BTreeMap<NodeId, u32> = BTreeMap::new();
        for (i, spec) in specs.iter().enumerate() {
            // Number 0 is the node's own.
            let input = inputs.entry(spec.to).or_insert(0);
            *input += 1;
            fabric.inputs[i] = *input;
            let Some(node) = numbers.get(&spec.from) else { continue };
            let outputs = &fabric.switches[*node as usize].links;
            let output = outputs.iter().position(|link| link.index() == i).unwrap_or(0) as u32;
            let buffer = spec
                .pause
                .as_ref()
                .map(|pause| Box::new(Buffer::new(pause, numbers[&spec.to], spec)));
            let extra = links[i].extra_mut(i as u64, seed);
            extra.outlet = Some(Box::new(Outlet {
                node: *node,
                output,
                is_virtual: fabric.switches[*node as usize].switch.arrangement()
                    == Arrangement::Virtual,
                waiting: 0,
                turn_at: Time::NEVER,
                gate: Gate::default(),
                told: VecDeque::new(),
                rate: spec.service.mean_rate(),
                sockets: spec.driver.sockets,
                wanted: false,
                bursts: spec.driver.bursts.map(|bursts| Coalescing {
                    packets: bursts.packets,
                    every: bursts.every,
                    released: 0,
                    due: Time::NEVER,
                }),
                buffer,
                control_frames: 0,
            }));
        }
        fabric
    }
}

impl Node {
    fn new(specs: &[LinkSpec], node: NodeId, seed: u64) -> Node {
        let pauses = |into: bool| {
            let at = move |l: &&LinkSpec| if into { l.to == node } else { l.from == node };
            specs.iter().filter(at).filter_map(|l| l.pause.as_ref())
        };
        let arrangement = pauses(true).chain(pauses(false)).next().map(|p| p.arrangement);
        let arrangement = arrangement.unwrap_or(Arrangement::Virtual);
        let has_classes = pauses(true).chain(pauses(false)).any(|p| p.by_class);
        let inputs = 1 + specs.iter().filter(|l| l.to == node).count() as u32;
        let outputs = specs.iter().enumerate().filter(|(_, l)| l.from == node);
        let links: Vec<LinkId> = outputs.map(|(i, _)| LinkId(i as u32)).collect();
        let count = links.len() as u32;
        let classes = if has_classes { CLASSES as u32 } else { 1 };
        let queues = match arrangement {
            Arrangement::ByFlow(queues) => queues,
            Arrangement::Fifo | Arrangement::Virtual => 0,
        };
        let by_flow = links.iter().filter(|_| queues > 0);
        Node {
            switch: Switch::new(arrangement, inputs, count, classes),
            assignments: by_flow.map(|_| Assignment::new(queues)).collect(),
            lane_bytes: vec![0; (count * queues) as usize],
            pausable: links.iter().copied().filter(|l| specs[l.index()].pause.is_some()).collect(),
            links,
            has_classes,
            random: stream(seed, "switch", u64::from(node.0)),
        }
    }
}

impl Buffer {
    fn new(pause: &PauseSpec, node: u32, link: &LinkSpec) -> Buffer {
        let thresholds = Thresholds {
            xoff: pause.xoff,
            xon: pause.xon,
            refresh: pause.quanta.time(link.service.mean_rate()) / 2,
        };
        let count = if pause.by_class { CLASSES } else { 1 };
        let filter = match pause.arrangement {
            Arrangement::ByFlow(queues) => Some(Filter::new(queues)),
            Arrangement::Fifo | Arrangement::Virtual => None,
        };
        Buffer {
            spec: pause.clone(),
            node,
            watches: vec![Watch::new(thresholds); count],
            filter,
            map_at: Time::NEVER,
            map_sent: Time::ZERO,
            overflowed: 0,
            refused: 0,
            intake: VecDeque::new(),
            intake_at: Time::NEVER,
        }
    }
}
