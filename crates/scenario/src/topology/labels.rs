//! Names of routers and links in a graph, none of which another node or link has.

use std::collections::{BTreeMap, BTreeSet};

use ratewire_inputs::topology::{Node, Topology};

use super::arcs::Line;

/// Names that are made from those of the file's nodes. A name that the file gives comes first, then
/// plain names in the order of the file; the others are numbered, from 2.
pub(super) struct Labels {
    routers: Vec<String>,
    /// Names of the links of hosts.
    access: BTreeSet<String>,
}

impl Labels {
    /// Names of the routers of all nodes that are `kept`.
    pub fn of(topology: &Topology, kept: &[bool]) -> Labels {
        let nodes = || topology.nodes.iter().zip(kept).filter(|(_, kept)| **kept);
        let mut taken: BTreeSet<String> = nodes().map(|(node, _)| node.name.clone()).collect();
        let access = |(node, _): (&Node, _)| {
            [format!("{}.access", node.name), format!("{}.access.reverse", node.name)]
        };
        let access = nodes().flat_map(access).collect();
        let routers = topology.nodes.iter().zip(kept).map(|(node, kept)| {
            let plain = format!("{}.router", node.name);
            // A node that is left out needs none.
            let free = (1..).map(|number| numbered(&plain, number));
            let mut free = free.skip_while(|name| *kept && !taken.insert(name.clone()));
            free.next().unwrap_or_default()
        });
        Labels { routers: routers.collect(), access }
    }

    /// The name of the router of a node.
    pub fn router(&self, node: usize) -> String {
        self.routers[node].clone()
    }

    /// The names of lines there and back: `A->B` and `B->A`, then `A->B#2` and `B->A#2`.
    pub fn links(&self, topology: &Topology, lines: &[Line<'_>]) -> Vec<(String, String)> {
        let name = |node: usize| topology.nodes[node].name.as_str();
        let arrow = |from: usize, to: usize| format!("{}->{}", name(from), name(to));
        let mut taken = self.access.clone();
        let mut count: BTreeMap<(usize, usize), usize> = BTreeMap::new();
        let mut plain = BTreeSet::new();
        for line in lines {
            plain.extend([arrow(line.edge.a, line.edge.b), arrow(line.edge.b, line.edge.a)]);
        }
        let mut names = Vec::new();
        for line in lines {
            let (a, b) = (line.edge.a, line.edge.b);
            let number = count.entry((a.min(b), a.max(b))).or_insert(1);
            loop {
                let mut both = [numbered(&arrow(a, b), *number), numbered(&arrow(b, a), *number)];
                // Between A and A->A, both are A->A->A.
                if both[0] == both[1] {
                    both[1] += ".reverse";
                }
                let is_plain = *number == 1;
                *number += 1;
                if both.iter().all(|one| !taken.contains(one) && (is_plain || !plain.contains(one)))
                {
                    taken.extend(both.clone());
                    names.push(both.into());
                    break;
                }
            }
        }
        names
    }
}

fn numbered(name: &str, number: usize) -> String {
    if number > 1 { format!("{name}#{number}") } else { name.to_string() }
}
