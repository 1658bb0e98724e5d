//! Topologies, whatever the file they came from.
//!
//! Every reader of graphs gives one [`Topology`]. The readers follow common rules:
//!
//! * Edges are full-duplex links; an edge of a directed graph is a link one way. Parallel edges are
//!   kept. An edge from a node to itself carries nothing between nodes and is left out.
//! * Names are unique. Blanks in a label are brought to single ones; a node without a label takes
//!   its id; the second node called `Vienna` becomes `Vienna#2`, the next `Vienna#3`, in the file's
//!   order, skipping names that the file gives.
//! * Attributes mean the same in every format: a rate is called `LinkSpeedRaw` (bit/s), `capacity`,
//!   `bandwidth` and so on, a delay `delay` or `latency`, a length `dist`, `length` or `distance`.
//!   A number without a unit is of Mbit/s, ms or km, unless the file states another unit. Rates
//!   without a unit are of bit/s if in Mbit/s even the slowest link had a Tbit/s.
//! * A link whose file gives no length gets the great-circle distance when both ends have
//!   coordinates, and no length otherwise.
//! * Demands of nothing, and of a node to itself, are left out.
//! * What a file says and the topology does not is in [`Topology::notes`].

use ratewire_units::{Duration, Rate};

use crate::Note;

/// The mean radius of the earth in km (IUGG).
const EARTH_KM: f64 = 6371.0088;

/// Nodes and the links between them.
#[derive(Clone, Debug, PartialEq)]
pub struct Topology {
    /// What the file calls itself, or its name without folder and extension.
    pub name: String,
    /// The nodes, in the file's order; at least one.
    pub nodes: Vec<Node>,
    /// The links, in the file's order.
    pub edges: Vec<Edge>,
    /// Offered traffic between nodes, where the file has it.
    pub demands: Vec<Demand>,
    /// What the file says that is not used, or not used as it stands.
    pub notes: Vec<Note>,
}

/// A node.
#[derive(Clone, Debug, PartialEq)]
pub struct Node {
    /// Unique within the topology.
    pub name: String,
    /// Degrees east, -180 ..= 180; given exactly when the latitude is.
    pub longitude: Option<f64>,
    /// Degrees north, -90 ..= 90.
    pub latitude: Option<f64>,
    /// Whether the node is the network's own. The Topology Zoo also draws neighbours (`Internal`
    /// 0).
    pub internal: bool,
}

/// A link.
#[derive(Clone, Debug, PartialEq)]
pub struct Edge {
    /// One end, an index into [`Topology::nodes`]; of a one-way link the sender's.
    pub a: usize,
    /// The other end; never the same.
    pub b: usize,
    /// Whether the link carries from `a` to `b` only.
    pub is_one_way: bool,
    /// The capacity each way, where the file says; never zero.
    pub rate: Option<Rate>,
    /// The propagation delay, where the file says.
    pub delay: Option<Duration>,
    /// Kilometres, 0 or more: as the file says, else by great circle, else unknown.
    pub length_km: Option<f64>,
    /// What the file calls the link (`OC-192c`), where it does.
    pub label: Option<String>,
}

/// Traffic offered from one node to another.
#[derive(Clone, Debug, PartialEq)]
pub struct Demand {
    /// The node that sends, an index into [`Topology::nodes`].
    pub from: usize,
    /// The node that receives; never the same.
    pub to: usize,
    /// The rate of the traffic; never zero.
    pub rate: Rate,
}

impl Topology {
    /// The connected parts: indices of nodes, ascending, in the order of their first node. One part
    /// means that every node reaches every other, if no link is one-way.
    pub fn components(&self) -> Vec<Vec<usize>> {
        self.components_of(&vec![true; self.nodes.len()])
    }

    /// The connected parts of the nodes that are `kept`, as [`Topology::components`] gives them.
    ///
    /// # Panics
    /// When `kept` has not one entry a node.
    pub fn components_of(&self, kept: &[bool]) -> Vec<Vec<usize>> {
        let mut neighbours = vec![Vec::new(); self.nodes.len()];
        for edge in self.edges.iter().filter(|edge| kept[edge.a] && kept[edge.b]) {
            neighbours[edge.a].push(edge.b);
            neighbours[edge.b].push(edge.a);
        }
        let mut seen: Vec<bool> = kept.iter().map(|kept| !kept).collect();
        let mut parts = Vec::new();
        for start in 0..self.nodes.len() {
            if seen[start] {
                continue;
            }
            seen[start] = true;
            let mut part = vec![start];
            let mut next = 0;
            while next < part.len() {
                for &other in &neighbours[part[next]] {
                    if !seen[other] {
                        seen[other] = true;
                        part.push(other);
                    }
                }
                next += 1;
            }
            part.sort_unstable();
            parts.push(part);
        }
        parts
    }

    /// The index of the node called `name`.
    pub fn node(&self, name: &str) -> Option<usize> {
        self.nodes.iter().position(|node| node.name == name)
    }
}

/// How long light takes for `length_km` kilometres of fibre: 5 us per km, two thirds of its speed
/// in vacuum. Negative lengths and NaN count as 0.
pub fn propagation_delay(length_km: f64) -> Duration {
    Duration::from_secs_f64(length_km * 5e-6)
}

/// The great-circle distance in km (haversine formula on a sphere of mean radius); `None` when one
/// of the two has no coordinates.
pub fn great_circle_km(a: &Node, b: &Node) -> Option<f64> {
    let (lat_a, lat_b) = (a.latitude?.to_radians(), b.latitude?.to_radians());
    let d_lon = (b.longitude? - a.longitude?).to_radians();
    let half_lat = libm::sin((lat_b - lat_a) / 2.0);
    let half_lon = libm::sin(d_lon / 2.0);
    let h = half_lat * half_lat + libm::cos(lat_a) * libm::cos(lat_b) * half_lon * half_lon;
    // Rounding can bring antipodes a hair above 1, where the arc sine is not defined.
    Some(2.0 * EARTH_KM * libm::asin(h.sqrt().min(1.0)))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn node(longitude: f64, latitude: f64) -> Node {
        Node {
            name: String::new(),
            longitude: Some(longitude),
            latitude: Some(latitude),
            internal: true,
        }
    }

    #[test]
    fn distances_are_those_of_the_globe() {
        let quarter = core::f64::consts::FRAC_PI_2 * EARTH_KM;
        let km = |a: Node, b: Node| great_circle_km(&a, &b).unwrap();
        assert!((km(node(0.0, 0.0), node(90.0, 0.0)) - quarter).abs() < 1e-6);
        assert!((km(node(0.0, 0.0), node(0.0, 90.0)) - quarter).abs() < 1e-6);
        assert!((km(node(-90.0, 10.0), node(90.0, -10.0)) - 2.0 * quarter).abs() < 1e-3);
        // Across the date line, one degree apart.
        assert!((km(node(179.5, 0.0), node(-179.5, 0.0)) - quarter / 90.0).abs() < 1e-6);
        let unknown = Node { longitude: None, latitude: None, ..node(0.0, 0.0) };
        assert_eq!(great_circle_km(&unknown, &node(0.0, 0.0)), None);
    }

    #[test]
    fn a_thousand_kilometres_take_five_milliseconds() {
        assert_eq!(propagation_delay(1000.0), Duration::from_millis(5));
        assert_eq!(propagation_delay(-1.0), Duration::ZERO);
        assert_eq!(propagation_delay(f64::NAN), Duration::ZERO);
    }

    #[test]
    fn parts_of_an_unconnected_graph() {
        let edge = |a, b| Edge {
            a,
            b,
            is_one_way: false,
            rate: None,
            delay: None,
            length_km: None,
            label: None,
        };
        let topology = Topology {
            name: String::new(),
            nodes: vec![node(0.0, 0.0); 5],
            edges: vec![edge(4, 0), edge(1, 3), edge(1, 3)],
            demands: Vec::new(),
            notes: Vec::new(),
        };
        assert_eq!(topology.components(), [vec![0, 4], vec![1, 3], vec![2]]);
        let kept = [true, true, false, true, false];
        assert_eq!(topology.components_of(&kept), [vec![0], vec![1, 3]]);
    }
}
