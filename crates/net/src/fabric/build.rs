//! Makes the switches of a network.

use std::collections::{BTreeMap, VecDeque};

use rand_xoshiro::Xoshiro256PlusPlus;
use ratewire_backpressure::flows::{Assignment, Filter};
use ratewire_backpressure::frames::CLASSES;
use ratewire_backpressure::queues::{Arrangement, SwitchQueues};
use ratewire_backpressure::watch::{Thresholds, Watch};
use ratewire_units::Time;

use super::buffer::{Buffer, Watches};
use super::{End, Fabric, SwitchNode};
use crate::link::{Link, Outlet};
use crate::random::stream;
use crate::spec::{DriverSpec, LinkId, LinkSpec, NodeId, PauseSpec};

impl Fabric {
    /// The switches for links with pausing buffers, and for hosts whose sockets wait or whose card
    /// sends in bursts.
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
        let mut fabric = Fabric::default();
        let mut neighbours: BTreeMap<NodeId, Neighbours> = BTreeMap::new();
        for (i, spec) in specs.iter().enumerate() {
            neighbours.entry(spec.from).or_default().outputs.push(LinkId(i as u32));
            neighbours.entry(spec.to).or_default().inputs.push(LinkId(i as u32));
        }
        for (i, (node, number)) in numbers.iter_mut().enumerate() {
            *number = i as u32;
            let at = neighbours.entry(*node).or_default();
            fabric.switches.push(SwitchNode::new(
                specs,
                at,
                stream(seed, "switch", u64::from(node.0)),
            ));
        }
        fabric.ends = vec![End::OWN; specs.len()];
        for Neighbours { inputs, outputs } in neighbours.values() {
            for (input, link) in inputs.iter().enumerate() {
                // Number 0 stands for the node's own packets.
                fabric.ends[link.index()].input = 1 + input as u32;
            }
            for (output, link) in outputs.iter().enumerate() {
                let spec = &specs[link.index()];
                let Some(node) = numbers.get(&spec.from) else { continue };
                let arrangement = fabric.switches[*node as usize].switch.arrangement();
                let is_virtual = arrangement == Arrangement::Virtual;
                let outlet = Outlet::new(spec, *node, output as u32, is_virtual);
                links[link.index()].start_at_switch(outlet);
                if let Some(pause) = &spec.pause {
                    fabric.ends[link.index()].buffer = fabric.buffers.len() as u32;
                    fabric.buffers.push(Buffer::new(pause, numbers[&spec.to], *link, spec));
                }
            }
        }
        fabric
    }
}

/// Links that lead to a node and away from it, in order.
#[derive(Default)]
struct Neighbours {
    inputs: Vec<LinkId>,
    outputs: Vec<LinkId>,
}

impl SwitchNode {
    fn new(specs: &[LinkSpec], at: &Neighbours, random: Xoshiro256PlusPlus) -> SwitchNode {
        let all = at.inputs.iter().chain(&at.outputs);
        let pauses = || all.clone().filter_map(|link| specs[link.index()].pause.as_ref());
        let arrangement = pauses().next().map_or(Arrangement::Virtual, |pause| pause.arrangement);
        let has_classes = pauses().any(|pause| pause.by_class);
        let links = at.outputs.clone();
        let (inputs, count) = (1 + at.inputs.len() as u32, links.len() as u32);
        let classes = if has_classes { CLASSES as u32 } else { 1 };
        let queues = match arrangement {
            Arrangement::ByFlow(queues) => queues,
            Arrangement::Fifo | Arrangement::Virtual => 0,
        };
        let by_flow = links.iter().filter(|_| queues > 0);
        let is_pausable = |link: &LinkId| specs[link.index()].pause.is_some();
        SwitchNode {
            switch: SwitchQueues::new(arrangement, inputs, count, classes),
            assignments: by_flow.map(|_| Assignment::new(queues)).collect(),
            lane_bytes: vec![0; (count * queues) as usize],
            pausable: links.iter().copied().filter(is_pausable).collect(),
            links,
            has_classes,
            random,
        }
    }
}

impl Buffer {
    fn new(pause: &PauseSpec, node: u32, id: LinkId, link: &LinkSpec) -> Buffer {
        let thresholds = Thresholds {
            xoff: pause.xoff,
            xon: pause.xon,
            refresh: pause.quanta.time(link.service.mean_rate()) / 2,
            room: pause.buffer,
        };
        let watch = Watch::new(thresholds);
        let watches = if pause.by_class {
            Watches::ByClass(Box::new(core::array::from_fn(|_| watch.clone())))
        } else {
            Watches::Whole(watch)
        };
        let filter = match pause.arrangement {
            Arrangement::ByFlow(queues) => Some(Filter::new(queues)),
            Arrangement::Fifo | Arrangement::Virtual => None,
        };
        Buffer {
            watches,
            link: id,
            node,
            spec: pause.clone(),
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
