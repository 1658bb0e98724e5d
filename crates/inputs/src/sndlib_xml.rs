//! SNDlib XML 1.0 (namespace `http://sndlib.zib.de/network`).
//!
//! Nodes are named by their ids; coordinates are read where `coordinatesType` is `geographical`
//! (`x` is the longitude) and left out where it is `pixel`. The rate of a link is its pre-installed
//! capacity. A planning problem offers modules to choose from instead: such a link gets the
//! smallest module, once. Demands are read as the file lists them, one direction each: value times
//! routing unit. Link costs are money, not length, and are not used.
//!
//! `<unit>` is that of capacities and demands: `MBITPERSEC`, `GBITPERSEC` and so on. The older
//! files, germany50 among them, state no unit; their numbers are read as Mbit/s, and their ratios
//! are what to rely on.
//!
//! Source of the format: <http://sndlib.zib.de/html/docu/io-formats/index.html>; Orlowski, Pióro,
//! Tomaszewski, Wessäly, "SNDlib 1.0: Survivable Network Design Library", Networks 55(3), 2010.

use crate::InputError;
use crate::attributes::Attribute;
use crate::build::{Builder, RawLink, RawNode};
use crate::location::quoted;
use crate::sndlib::{self, Modules};
use crate::tally::Departure;
use crate::topology::Topology;
use crate::vocabulary::Part;
use crate::xml::{self, Element};

/// Reads a topology with its demands.
///
/// # Errors
/// When the text is not well-formed XML, its root is not `network`, the unit is unknown, nodes or
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
            "use SNDlib's network file, not its model or solution",
        ));
    }
    let mut builder = Builder::default();
    let unit = root.child("meta").and_then(|meta| meta.child("unit"));
    sndlib::set_unit(&mut builder, unit.map(|unit| (unit.text(), unit.at())), root.at())?;
    let structure = root.need("networkStructure")?;
    add_nodes(&mut builder, structure.need("nodes")?)?;
    for link in structure.need("links")?.children("link") {
        add_link(&mut builder, link)?;
    }
    for demand in root.child("demands").iter().flat_map(|demands| demands.children("demand")) {
        let ends = ends(&builder, demand)?;
        let value = attribute(demand.need("demandValue")?);
        let unit = demand.child("routingUnit").map(attribute);
        let rate = sndlib::demand(&mut builder, &value, unit.as_ref())?;
        builder.demand(demand.at(), ends, rate);
        let known = ["source", "target", "demandValue", "routingUnit"];
        count_unused(&mut builder, Part::Demand, demand, &known);
    }
    builder.finish(root.file())
}

fn attribute<'d>(element: Element<'d, '_>) -> Attribute<'d> {
    Attribute::new(element.tag(), element.text(), element.at())
}

fn add_nodes<'d>(builder: &mut Builder<'d>, nodes: Element<'d, '_>) -> Result<(), InputError> {
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
        let id = node.need_attribute("id")?;
        let mut attributes = Vec::new();
        match node.child("coordinates") {
            Some(place) if geographical => {
                for (name, tag) in [("longitude", "x"), ("latitude", "y")] {
                    let number = place.need(tag)?;
                    attributes.push(Attribute::new(name, number.text(), number.at()));
                }
            }
            Some(_) => builder.tally.departs(Departure::Drawing, node.at()),
            None => {}
        }
        count_unused(builder, Part::Node, node, &["coordinates"]);
        builder.node(RawNode { at: node.at(), id: id.into(), drawn: None, attributes })?;
    }
    Ok(())
}

fn add_link<'d>(builder: &mut Builder<'d>, link: Element<'d, '_>) -> Result<(), InputError> {
    let ends = ends(builder, link)?;
    let mut modules = Modules::default();
    for installed in link.children("preInstalledModule") {
        modules.installed = Some(attribute(installed.need("capacity")?));
        count_unused(builder, Part::Link, installed, &["capacity"]);
    }
    let offers = link.child("additionalModules");
    for module in offers.iter().flat_map(|offers| offers.children("addModule")) {
        modules.offers.push(attribute(module.need("capacity")?));
        count_unused(builder, Part::Link, module, &["capacity"]);
    }
    count_unused(
        builder,
        Part::Link,
        link,
        &["source", "target", "preInstalledModule", "additionalModules"],
    );
    let mut attributes = modules.choose(builder, link.at())?;
    let id = link.attribute("id").map(|id| Attribute::new("label", id, link.at()));
    attributes.extend(id);
    builder.link(RawLink { at: link.at(), ends, is_one_way: false, attributes })
}

/// The nodes at both ends of a link or demand.
fn ends(builder: &Builder<'_>, element: Element<'_, '_>) -> Result<(usize, usize), InputError> {
    let source = element.need("source")?;
    let target = element.need("target")?;
    Ok((builder.find(source.at(), source.text())?, builder.find(target.at(), target.text())?))
}

/// Counts the elements of a part that are not `known`.
fn count_unused<'d>(
    builder: &mut Builder<'d>,
    part: Part,
    element: Element<'d, '_>,
    known: &[&str],
) {
    for other in element.elements().filter(|one| !known.contains(&one.tag())) {
        builder.tally.unused(part, other.tag(), other.at());
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use ratewire_units::Rate;

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
    fn a_file_without_a_unit_is_in_megabits_and_says_so() {
        let text = SMALL.replacen("<unit>MBITPERSEC</unit>", "", 1);
        let topology = parse("t.xml", &text).unwrap();
        assert_eq!(topology.demands[0].rate, Rate::from_bps(120_500_000));
        assert!(topology.notes[0].text.starts_with("no unit of capacities and demands"));
        let said = |text: &str| {
            parse("t.xml", text).unwrap().notes.iter().any(|note| note.text.contains("no unit"))
        };
        assert!(!said(SMALL));
        let nodes = text.split("<links>").next().unwrap();
        let unrated = format!(
            "{nodes}<links><link id=\"L\"><source>Berlin</source><target>Hamburg</target>\
             <preInstalledModule><capacity>0</capacity></preInstalledModule></link></links>\
             </networkStructure></network>"
        );
        assert!(!said(&unrated), "no rate is read");
    }

    #[test]
    fn units_and_routing_units_count() {
        for (unit, bps) in
            [("BITSPERSEC", 120), ("KBITPERSEC", 120_500), ("GBITPERSEC", 120_500_000_000)]
        {
            let topology = parse("t.xml", &SMALL.replacen("MBITPERSEC", unit, 1)).unwrap();
            let of_unit = topology.demands[0].rate.bps().abs_diff(bps);
            assert!(of_unit <= 1, "{unit}: {}", topology.demands[0].rate);
        }
        let value = "<demandValue>";
        assert!(SMALL.contains(value) && !SMALL.contains("routingUnit"));
        let text = SMALL.replacen(value, "<routingUnit>2</routingUnit><demandValue>", 1);
        assert_eq!(parse("t.xml", &text).unwrap().demands[0].rate, Rate::from_mbps(241));
    }

    #[test]
    fn what_is_not_used_is_named() {
        let said: Vec<String> =
            parse("t.xml", SMALL).unwrap().notes.into_iter().map(|note| note.text).collect();
        assert_eq!(
            said,
            [
                "1 link with modules to choose from: the smallest is taken",
                "not used: of links \"cost\" (4 times)"
            ]
        );
    }

    #[test]
    fn says_what_is_wrong_and_where() {
        assert!(refused("MBITPERSEC", "PACKETS").contains("t.xml:5: found the unit \"PACKETS\""));
        assert!(refused("<source>Berlin", "<source>Bonn").contains("\"Bonn\", which is not there"));
        assert!(refused("<x>9.99</x>", "").contains("without <x>"));
        assert!(refused("9.99", "east").contains("\"east\""));
        assert!(refused("geographical", "grid").contains("\"grid\""));
        assert!(
            refused("2488.0", "-1").contains("found capacity \"-1\"; allowed: a number of Mbit")
        );
        assert!(refused("links>", "link>").contains("cannot be read"));
        assert!(parse("t.xml", "<graphml/>").unwrap_err().to_string().contains("\"graphml\""));
    }
}
