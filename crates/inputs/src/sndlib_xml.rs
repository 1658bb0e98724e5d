//! SNDlib XML 1.0 (namespace `http://sndlib.zib.de/network`).
//!
//! Nodes are named by their ids; coordinates are read where `coordinatesType` is `geographical`
//! (`x` is the longitude) and left out where it is `pixel`. The rate of a link is its pre-installed
//! capacity. A planning problem offers modules to choose from instead: such a link gets the
//! smallest module, once. Demands are read as the file lists them, one direction each. Link costs
//! are money, not length, and are skipped.
//!
//! `<unit>` may only be `MBITPERSEC`. The older files, germany50 among them, state no unit; their
//! numbers are read as Mbit/s too, and their ratios are what to rely on.
//!
//! Source of the format: <http://sndlib.zib.de/html/docu/io-formats/index.html>; Orlowski, Pióro,
//! Tomaszewski, Wessäly, "SNDlib 1.0: Survivable Network Design Library", Networks 55(3), 2010.

use ratewire_units::Rate;

use crate::InputError;
use crate::build::{Builder, RawNode, rate};
use crate::location::quoted;
use crate::topology::{Edge, Topology};
use crate::xml::{self, Element};

/// Reads a topology with its demands.
///
/// # Errors
/// When the text is not well-formed XML, its root is not `network`, the unit is another, nodes or
/// links are missing, an id repeats, a link or demand refers to a node that is not there, or a
/// number is none or out of range.
pub fn parse(file: &str, text: &str) -> Result<Topology, InputError> {
    from_xml(xml::open(file, text)?.root())
}

/// [`parse`] of XML that is parsed already.
pub(crate) fn from_xml(root: Element<'_, '_>) -> Result<Topology, InputError> {
    if root.tag() != "network" {
        return Err(root.at().error(
            format!("the root element {}", quoted(root.tag())),
            "network",
            "use SNDlib's XML form of the problem, not its native or solution form",
        ));
    }
    if let Some(unit) = root.child("meta").and_then(|meta| meta.child("unit"))
        && !unit.text().eq_ignore_ascii_case("MBITPERSEC")
    {
        return Err(unit.at().error(
            format!("the unit {}", quoted(unit.text())),
            "MBITPERSEC",
            "convert capacities and demands to Mbit/s, and the unit with them",
        ));
    }
    let structure = root.need("networkStructure")?;
    let mut builder = Builder::default();
    add_nodes(&mut builder, structure.need("nodes")?)?;
    for link in structure.need("links")?.children("link") {
        let (a, b) = ends(&builder, link)?;
        let label = link.attribute("id").map(str::to_string);
        builder.edge(Edge { a, b, rate: capacity(link)?, length_km: None, label });
    }
    for demand in root.child("demands").iter().flat_map(|demands| demands.children("demand")) {
        let (from, to) = ends(&builder, demand)?;
        let value = demand.need("demandValue")?;
        builder.demand(from, to, rate(value.at(), value.text(), 1e6)?);
    }
    builder.finish(root.file(), "")
}

fn add_nodes(builder: &mut Builder, nodes: Element<'_, '_>) -> Result<(), InputError> {
    let geographical = match nodes.attribute("coordinatesType") {
        None | Some("geographical") => true,
        Some("pixel") => false,
        Some(other) => {
            return Err(nodes.at().error(
                format!("coordinatesType {}", quoted(other)),
                "geographical (degrees) or pixel",
                "name the kind of coordinates",
            ));
        }
    };
    for node in nodes.children("node") {
        let position = match node.child("coordinates") {
            Some(c) if geographical => Some((c.need("x")?.degrees()?, c.need("y")?.degrees()?)),
            _ => None,
        };
        let id = node.need_attribute("id")?;
        builder.node(node.at(), RawNode { id, label: id, position, external: false })?;
    }
    Ok(())
}

/// The nodes at both ends of a link or demand.
fn ends(builder: &Builder, element: Element<'_, '_>) -> Result<(usize, usize), InputError> {
    let source = element.need("source")?;
    let target = element.need("target")?;
    Ok((builder.find(source.at(), source.text())?, builder.find(target.at(), target.text())?))
}

fn capacity(link: Element<'_, '_>) -> Result<Option<Rate>, InputError> {
    let of = |module: Element<'_, '_>| {
        let capacity = module.need("capacity")?;
        rate(capacity.at(), capacity.text(), 1e6)
    };
    if let Some(module) = link.child("preInstalledModule")
        && let Some(rate) = of(module)?
    {
        return Ok(Some(rate));
    }
    let mut smallest: Option<Rate> = None;
    let offers = link.child("additionalModules");
    for module in offers.iter().flat_map(|offers| offers.children("addModule")) {
        if let Some(rate) = of(module)? {
            smallest = Some(smallest.map_or(rate, |known| known.min(rate)));
        }
    }
    Ok(smallest)
}

#[cfg(test)]
mod tests {
    use super::*;

    const SMALL: &str = include_str!("../tests/data/triangle.xml");

    fn refused(from: &str, to: &str) -> String {
        assert!(SMALL.contains(from));
        parse("t.xml", &SMALL.replacen(from, to, 1)).unwrap_err().to_string()
    }

    #[test]
    fn reads_coordinates_capacities_and_demands() {
        let topology = parse("nets/triangle.xml", SMALL).unwrap();
        assert_eq!(topology.name, "triangle");
        assert_eq!((topology.nodes.len(), topology.edges.len()), (3, 3));
        assert_eq!(topology.nodes[0].longitude, Some(9.99));
        let mbps = |i: usize| topology.edges[i].rate.map(|rate| rate.bps() / 1_000_000);
        // Pre-installed; the smallest module on offer; none.
        assert_eq!([mbps(0), mbps(1), mbps(2)], [Some(2488), Some(155), None]);
        assert!(topology.edges.iter().all(|edge| edge.length_km.is_some_and(|km| km > 200.0)));
        assert_eq!(topology.demands.len(), 2);
        assert_eq!(topology.demands[0].rate, Rate::from_bps(120_500_000));
        assert_eq!((topology.demands[1].from, topology.demands[1].to), (2, 0));
    }

    #[test]
    fn pixels_are_no_coordinates() {
        let topology = parse("t.xml", &SMALL.replacen("geographical", "pixel", 1)).unwrap();
        assert_eq!((topology.nodes[0].longitude, topology.edges[0].length_km), (None, None));
    }

    #[test]
    fn a_file_without_a_unit_is_in_megabits() {
        let text = SMALL.replacen("<unit>MBITPERSEC</unit>", "", 1);
        assert_eq!(parse("t.xml", &text).unwrap().demands[0].rate, Rate::from_bps(120_500_000));
    }

    #[test]
    fn says_what_is_wrong_and_where() {
        assert!(refused("MBITPERSEC", "PACKETS").contains("t.xml:5: found the unit \"PACKETS\""));
        assert!(refused("<source>Berlin", "<source>Bonn").contains("\"Bonn\", which is not there"));
        assert!(refused("<x>9.99</x>", "").contains("without <x>"));
        assert!(refused("9.99", "east").contains("\"east\""));
        assert!(refused("geographical", "grid").contains("\"grid\""));
        assert!(refused("2488.0", "-1").contains("the rate \"-1\""));
        assert!(refused("links>", "link>").contains("cannot be read"));
        assert!(parse("t.xml", "<graphml/>").unwrap_err().to_string().contains("\"graphml\""));
    }
}
