//! One graph in several formats: networkx saved the Topology Zoo's GraphML files as JSON and GML.

use std::path::Path;

use proptest::collection::vec;
use proptest::prelude::*;
use ratewire_inputs::topology::Topology;
use ratewire_inputs::{detect, gml, graphml, node_link, read};

fn load(name: &str) -> Topology {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join(name);
    let text = read(&path).unwrap();
    detect::topology(name, &text).unwrap_or_else(|error| panic!("{error}"))
}

/// Nodes, links and demands in an order that does not depend on the file's.
fn content(topology: &Topology) -> (Vec<String>, Vec<String>, Vec<String>) {
    let sorted = |mut list: Vec<String>| {
        list.sort();
        list
    };
    let name = |node: usize| topology.nodes[node].name.as_str();
    let nodes = topology.nodes.iter().map(|node| format!("{node:?}"));
    let links = topology.edges.iter().map(|edge| {
        let (a, b) = (name(edge.a), name(edge.b));
        let (a, b) = if edge.is_one_way { (a, b) } else { (a.min(b), a.max(b)) };
        // The way in which a great circle is measured moves its last digits.
        let millimetres = edge.length_km.map(|km| (km * 1e6).round());
        let (rate, delay, label) = (edge.rate, edge.delay, &edge.label);
        format!("{a} {b} {rate:?} {delay:?} {millimetres:?} {label:?} {}", edge.is_one_way)
    });
    let demands = topology.demands.iter();
    let demands = demands.map(|d| format!("{} {} {}", name(d.from), name(d.to), d.rate));
    (sorted(nodes.collect()), sorted(links.collect()), sorted(demands.collect()))
}

#[test]
fn networkx_s_json_and_gml_give_the_same_networks() {
    for (name, other) in [
        ("Nsfnet", "Nsfnet.networkx-1.json"),
        ("AttMpls", "AttMpls.networkx-2.json"),
        ("Geant2012", "Geant2012.networkx-3.json"),
        ("Abilene", "Abilene.networkx-3.json"),
        ("Abilene", "Abilene.networkx-3.gml"),
    ] {
        let first = load(&format!("../../data/topology-zoo/{name}.graphml"));
        let second = load(&format!("tests/data/zoo/{other}"));
        assert_eq!(content(&second), content(&first), "{other}");
        assert_eq!(second.name, first.name);
        let texts = |topology: &Topology| -> Vec<String> {
            topology.notes.iter().map(|note| note.text.clone()).collect()
        };
        // Its labels are `OC-192c`.
        let of_labels = "14 links without a rate, whose label reads like one";
        let of_first: &[&str] = if name == "Abilene" { &[of_labels] } else { &[] };
        assert_eq!(texts(&first), of_first, "{name}");
        let (of_places, others): (Vec<String>, Vec<String>) =
            texts(&second).into_iter().partition(|text| text.contains("places in the list"));
        assert_eq!(of_places.len(), usize::from(name == "Nsfnet"), "{other}");
        assert_eq!(others, of_first, "{other}");
    }
}

/// A link: its ends, and a capacity, a delay and a length that may be missing.
type Link = (usize, usize, Option<u32>, Option<u16>, Option<u16>);

fn links() -> impl Strategy<Value = (usize, Vec<Link>)> {
    (2..8_usize).prop_flat_map(|count| {
        let one =
            (0..count, 0..count, any::<Option<u32>>(), any::<Option<u16>>(), any::<Option<u16>>());
        (Just(count), vec(one, 0..12))
    })
}

proptest! {
    #[test]
    fn a_graph_is_the_same_in_graphml_json_and_gml((count, links) in links(), directed: bool) {
        let mut xml = String::from(
            "<graphml><key id=\"c\" attr.name=\"capacity\"/><key id=\"d\" attr.name=\"delay\"/>\
             <key id=\"l\" attr.name=\"length_km\"/><key id=\"n\" attr.name=\"label\"/>",
        );
        xml += &format!("<graph edgedefault=\"{}directed\">", if directed { "" } else { "un" });
        let (mut nodes, mut edges) = (Vec::new(), Vec::new());
        let mut plain = format!("graph [ directed {}\n", u8::from(directed));
        for id in 0..count {
            xml += &format!("<node id=\"{id}\"><data key=\"n\">N{}</data></node>", id / 2);
            nodes.push(format!("{{\"id\": {id}, \"label\": \"N{}\"}}", id / 2));
            plain += &format!("node [ id {id} label \"N{}\" ]\n", id / 2);
        }
        for (a, b, capacity, delay, length) in links {
            let names = ["capacity", "delay", "length_km"];
            let values = [capacity, delay.map(u32::from), length.map(u32::from)];
            xml += &format!("<edge source=\"{a}\" target=\"{b}\">");
            let mut edge = format!("{{\"source\": {a}, \"target\": {b}");
            plain += &format!("edge [ source {a} target {b}");
            for ((name, key), value) in names.iter().zip(["c", "d", "l"]).zip(values) {
                edge += &match value {
                    Some(value) => format!(", \"{name}\": {value}"),
                    None => format!(", \"{name}\": null"),
                };
                let Some(value) = value else { continue };
                xml += &format!("<data key=\"{key}\">{value}</data>");
                plain += &format!(" {name} {value}");
            }
            xml += "</edge>";
            edges.push(edge + "}");
            plain += " ]\n";
        }
        let json = format!(
            "{{\"directed\": {directed}, \"nodes\": [{}], \"links\": [{}]}}",
            nodes.join(","),
            edges.join(",")
        );
        let first = graphml::parse("g", &(xml + "</graph></graphml>")).unwrap();
        let texts = |topology: &Topology| -> Vec<String> {
            topology.notes.iter().map(|note| note.text.clone()).collect()
        };
        for other in [node_link::parse("g", &json).unwrap(), gml::parse("g", &(plain + "]")).unwrap()] {
            prop_assert_eq!(&other.nodes, &first.nodes);
            prop_assert_eq!(&other.edges, &first.edges);
            prop_assert_eq!(texts(&other), texts(&first));
        }
    }
}
