//! The topologies that a scenario can name.

mod arcs;
mod graph;
mod labels;
mod rows;
mod trees;

use ratewire_net::spec::NodeSpec;

use crate::document::At;
use crate::keys::{self, Key};
use crate::network::Net;
use crate::network::properties::{Cable, Properties, Reading, Reported};
use crate::section::Section;

/// A kind of topology.
#[derive(Debug)]
pub struct TopologyInfo {
    /// Name as written in a scenario.
    pub kind: &'static str,
    /// Description in one sentence.
    pub summary: &'static str,
    /// Names of its nodes.
    pub nodes: &'static str,
    /// Names of its links.
    ///
    /// The other direction of `a->b` is `b->a`; that of NAME is `NAME.reverse`.
    pub links: &'static str,
    /// Pairs of nodes that `between = "pairs"` stands for.
    pub pairs: &'static str,
    /// An example of its keys.
    pub example: &'static str,
}

impl TopologyInfo {
    /// Keys of `[topology]` that this kind reads, without `kind`.
    pub fn parameters(&self) -> impl Iterator<Item = &'static Key> {
        let kind = self.kind;
        keys::keys().filter(move |key| key.table == "topology" && key.applies.contains(&kind))
    }
}

/// All kinds of topology.
pub fn topologies() -> &'static [TopologyInfo] {
    TOPOLOGIES
}

const TOPOLOGIES: &[TopologyInfo] = &[
    TopologyInfo {
        kind: "dumbbell",
        summary: "Pairs of hosts on both sides of one link.",
        nodes: "hosts s1, s2 ... and d1, d2 ..., routers r1 and r2",
        links: "bottleneck (r1 to r2), s1->r1, r2->d1 ...",
        pairs: "s1 to d1, s2 to d2 ...",
        example: "kind = \"dumbbell\"\npairs = 2\nrtt = [\"30 ms\", \"200 ms\"]\n\
                  bottleneck = { rate = \"10 Mbit/s\", delay = \"5 ms\" }",
    },
    TopologyInfo {
        kind: "parking-lot",
        summary: "Links in a row; one pair of hosts crosses all, and one each link.",
        nodes: "routers r1, r2 ...; hosts s0 at the first router and d0 at the last; for each hop i \
                s<i> at r<i> and d<i> at the next router",
        links: "hop1 (r1 to r2), hop2 ..., s0->r1, s1->r1, r2->d1 ...",
        pairs: "s0 to d0, s1 to d1 ...",
        example: "kind = \"parking-lot\"\nhops = 3\nlink = { rate = \"10 Mbit/s\", delay = \"10 ms\" }",
    },
    TopologyInfo {
        kind: "chain",
        summary: "Routers in a row, with hosts at both ends.",
        nodes: "routers r1, r2 ...; hosts s1, s2 ... at the first and d1, d2 ... at the last",
        links: "r1->r2, r2->r3 ..., s1->r1 ...",
        pairs: "s1 to d1, s2 to d2 ...",
        example: "kind = \"chain\"\nrouters = 4\nlink = { rate = \"10 Mbit/s\", delay = \"10 ms\" }",
    },
    TopologyInfo {
        kind: "star",
        summary: "Hosts around one router.",
        nodes: "hosts h1, h2 ..., router r1",
        links: "h1->r1, r1->h1 ...",
        pairs: "every host to every other",
        example: "kind = \"star\"\nhosts = 8\nlink = { rate = \"1 Gbit/s\", delay = \"10 us\" }",
    },
    TopologyInfo {
        kind: "tree",
        summary: "A tree of routers with hosts below the last level and one at the root.",
        nodes: "routers r1 (the root), r2 ... level by level; hosts h1, h2 ... below the last level, \
                and s1 at the root",
        links: "r1->r2, r1->r3 ..., r2->h1 ..., s1->r1",
        pairs: "s1 to every h",
        example: "kind = \"tree\"\ndepth = 3\nfanout = 2\nlink = { rate = \"100 Mbit/s\", delay = \"5 ms\" }",
    },
    TopologyInfo {
        kind: "fat-tree",
        summary: "The three-level fat tree of k-port switches (Al-Fares, Loukissas, Vahdat 2008).",
        nodes: "hosts h1 ... h<k^3/4>; in pod p edge switches e<p>.1 ... and aggregation switches \
                a<p>.1 ...; core switches c1 ... c<k^2/4>",
        links: "h1->e1.1, e1.1->a1.1, a1.1->c1 ...",
        pairs: "every host to every other",
        example: "kind = \"fat-tree\"\nk = 4\nlink = { rate = \"10 Gbit/s\", delay = \"1 us\" }\n\
                  access = { rate = \"10 Gbit/s\", delay = \"1 us\" }",
    },
    TopologyInfo {
        kind: "custom",
        summary: "The nodes and links of `[[node]]` and `[[link]]`.",
        nodes: "as their `name` says",
        links: "as their `name` says, else a->b",
        pairs: "every host to every other",
        example: "kind = \"custom\"",
    },
    TopologyInfo {
        kind: "graph",
        summary: "A topology from a file: GraphML, GML, node-link JSON, SNDlib, BRITE or Rocketfuel.",
        nodes: "for each node NAME of the file a router NAME.router and a host NAME",
        links: "A->B between the routers of A and B (A->B#2 for a second one), NAME.access from a \
                host to its router",
        pairs: "every host to every other",
        example: "kind = \"graph\"\nfile = \"Abilene.graphml\"\nlink = { rate = \"10 Gbit/s\" }",
    },
];

/// Builds the topology that `[topology]` describes.
pub(crate) fn build(net: &mut Net, section: &Section<'_>, reading: &Reading<'_>) {
    let Some(kind) = section.word("kind") else {
        net.is_guess = true;
        section.finish();
        return;
    };
    section.set_variety(kind.value);
    let mut builder = Builder { net, section, reading };
    match kind.value {
        "dumbbell" => rows::dumbbell(&mut builder),
        "parking-lot" => rows::parking_lot(&mut builder),
        "chain" => rows::chain(&mut builder),
        "star" => trees::star(&mut builder),
        "tree" => trees::tree(&mut builder),
        "fat-tree" => trees::fat_tree(&mut builder),
        "graph" => graph::graph(&mut builder),
        _ => {}
    }
    section.finish();
}

/// State for building a topology.
struct Builder<'b, 's> {
    net: &'b mut Net,
    section: &'b Section<'s>,
    reading: &'b Reading<'b>,
}

impl Builder<'_, '_> {
    /// The count `name`, which determines the number of nodes.
    fn count(&mut self, name: &'static str) -> u64 {
        let before = self.section.context.errors();
        let count = self.section.count_or(name);
        self.net.is_guess |= self.section.context.errors() > before;
        count
    }

    /// The required count `name`, which determines the number of nodes; 1 after an error.
    fn required_count(&mut self, name: &'static str) -> u64 {
        let count = self.section.count(name);
        self.net.is_guess |= count.is_none();
        count.map_or(1, |at| at.value)
    }

    fn host(&mut self, name: String, x: f64, y: f64) -> usize {
        self.net.node(self.section.context, name, true, Some((x, y)), self.section.span)
    }

    fn router(&mut self, name: String, x: f64, y: f64) -> usize {
        self.net.node(self.section.context, name, false, Some((x, y)), self.section.span)
    }

    /// Properties of the links that the key `name` describes, and their place.
    fn properties(&self, name: &'static str) -> At<Cable> {
        match self.section.section(name) {
            Some(table) => At { value: self.reading.cable(&table), span: table.span },
            // The missing required key was reported when it was read.
            None => {
                let reported = Reported { rate: true, delay: true };
                let none = Properties { reported, ..Properties::default() };
                let cable = Cable { forward: none.clone(), backward: none };
                At { value: cable, span: self.section.span }
            }
        }
    }

    /// Properties of the links that the optional key `name` describes, and their place.
    fn properties_or_none(&self, name: &'static str) -> At<Cable> {
        if self.section.has(name) {
            return self.properties(name);
        }
        At { value: Cable::default(), span: self.section.span }
    }

    fn cable(&mut self, a: usize, b: usize, cable: &At<Cable>) {
        self.net.cable(self.section.context, None, (a, b), &cable.value, false, cable.span);
    }

    fn named(&mut self, name: &str, a: usize, b: usize, cable: &At<Cable>) {
        self.net.cable(self.section.context, Some(name), (a, b), &cable.value, false, cable.span);
    }

    fn access(&mut self, a: usize, b: usize, cable: &At<Cable>) {
        self.net.cable(self.section.context, None, (a, b), &cable.value, true, cable.span);
    }
}

/// The hosts among `nodes`.
pub(crate) fn hosts(nodes: &[NodeSpec]) -> Vec<usize> {
    (0..nodes.len()).filter(|id| nodes[*id].is_host).collect()
}
