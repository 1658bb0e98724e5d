//! Names and units of attributes in graph files.
//!
//! Every reader asks here what an attribute means, so that one graph gives one topology whatever
//! format it is saved in. Names are compared without case, blanks, dots, hyphens and underscores. A
//! quantity's name may end in its unit: `bandwidth_mbps`, `delay-ms`, `length (km)`.

use ratewire_units::Rate;

/// Rates without a unit are in bit/s if even the slowest of a file had this in the usual unit.
pub(crate) const BITS_FROM: Rate = Rate::from_mbps(1_000_000);

/// The part of a graph that an attribute belongs to.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Part {
    Link,
    Node,
    Demand,
    Graph,
}

/// A quantity of a link.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Quantity {
    /// In bit/s.
    Rate,
    /// In seconds.
    Delay,
    /// In km.
    Length,
}

/// What an attribute means.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Meaning {
    /// A quantity of a link, with the unit that its name states. The lowest rank wins.
    Quantity {
        quantity: Quantity,
        rank: usize,
        unit: Option<f64>,
    },
    /// The unit of a link's quantity (`LinkSpeedUnits`), or of one in the whole graph (FNSS).
    Unit(Quantity),
    /// A name to show. The lowest rank wins.
    Label(usize),
    Longitude,
    Latitude,
    /// Whether a node belongs to the network itself.
    Internal,
    /// Whether a link exists.
    Status,
    /// A remark or a drawing: nothing that a network could act on.
    Remark,
}

impl Quantity {
    pub(crate) const ALL: [Quantity; 3] = [Quantity::Rate, Quantity::Delay, Quantity::Length];

    /// Names in order of preference. `LinkSpeed` comes last: a Topology Zoo file that also has
    /// `LinkSpeedRaw` says the same twice.
    fn names(self) -> &'static [&'static str] {
        match self {
            Quantity::Rate => &[
                "linkspeedraw",
                "capacity",
                "linkcapacity",
                "bandwidth",
                "linkbandwidth",
                "bw",
                "datarate",
                "bitrate",
                "linkrate",
                "rate",
                "speed",
                "linkspeed",
            ],
            Quantity::Delay => {
                &["delay", "linkdelay", "propagationdelay", "propdelay", "latency", "linklatency"]
            }
            Quantity::Length => {
                &["dist", "distance", "length", "linklength", "linkdistance", "linkdist"]
            }
        }
    }

    /// The size of a unit: in bit/s, in seconds, in km.
    pub(crate) fn unit(self, text: &str) -> Option<f64> {
        match self {
            Quantity::Rate => rate_unit(text),
            Quantity::Delay => time_unit(text),
            Quantity::Length => length_unit(text),
        }
    }

    /// The unit of a number without one: what SNDlib, Mininet, BRITE and TopoHub mean by it.
    pub(crate) fn usual(self) -> (&'static str, f64) {
        match self {
            Quantity::Rate => ("Mbit/s", 1e6),
            Quantity::Delay => ("ms", 1e-3),
            Quantity::Length => ("km", 1.0),
        }
    }

    /// The largest value taken, and how to say so: a million times the fastest link there is, half
    /// of what a time can hold, any length.
    pub(crate) fn most(self) -> (f64, &'static str) {
        match self {
            Quantity::Rate => (1e18, ", at most 1e18 bit/s"),
            Quantity::Delay => (crate::rows::MAX_SECONDS, ", at most 9e6 s"),
            Quantity::Length => (f64::MAX, ""),
        }
    }
}

/// What the attribute `name` of a `part` means, if a network can be built from it.
pub(crate) fn meaning(part: Part, name: &str) -> Option<Meaning> {
    let cased: String = name.chars().filter(|c| !" .-_()[]".contains(*c)).collect();
    let plain = cased.to_ascii_lowercase();
    match part {
        Part::Link => quantity(&plain, &cased).or_else(|| link(&plain)),
        Part::Node => node(&plain),
        Part::Demand => remark(&plain, &["id", "key"]),
        Part::Graph => graph(&plain),
    }
}

fn quantity(plain: &str, cased: &str) -> Option<Meaning> {
    for quantity in Quantity::ALL {
        for (rank, name) in quantity.names().iter().enumerate() {
            let Some(rest) = plain.strip_prefix(name) else { continue };
            let unit = match (*name, rest) {
                ("linkspeedraw", "") => Some(1.0),
                ("dist", "") => Some(1.0),
                (_, "") => None,
                // The case of a unit matters: bits and bytes.
                _ => match quantity.unit(&cased[cased.len() - rest.len()..]) {
                    None => continue,
                    known => known,
                },
            };
            return Some(Meaning::Quantity { quantity, rank, unit });
        }
    }
    None
}

/// The quantity whose unit a link states beside it: `LinkSpeedUnits`, `distance_unit`.
fn unit_beside(plain: &str) -> Option<Quantity> {
    let name = ["units", "unit"].iter().find_map(|end| plain.strip_suffix(end))?;
    Quantity::ALL.into_iter().find(|quantity| quantity.names().contains(&name))
}

fn link(plain: &str) -> Option<Meaning> {
    if let Some(quantity) = unit_beside(plain) {
        return Some(Meaning::Unit(quantity));
    }
    match plain {
        "linklabel" => Some(Meaning::Label(0)),
        "label" => Some(Meaning::Label(1)),
        "name" => Some(Meaning::Label(2)),
        "linkstatus" | "status" | "linkstate" | "state" => Some(Meaning::Status),
        _ => remark(plain, &["id", "key", "type", "linknote", "linktype", "ecmpfwd", "ecmpbwd"]),
    }
}

fn node(plain: &str) -> Option<Meaning> {
    match plain {
        "name" => Some(Meaning::Label(0)),
        "label" => Some(Meaning::Label(1)),
        "longitude" | "lon" | "lng" | "long" => Some(Meaning::Longitude),
        "latitude" | "lat" => Some(Meaning::Latitude),
        "internal" => Some(Meaning::Internal),
        _ if plain.starts_with("geocode") => Some(Meaning::Remark),
        _ => remark(plain, &["id", "type", "country", "hyperedge", "doubted", "group"]),
    }
}

/// The graph's own attributes: units in FNSS's spelling, names, and what the Topology Zoo, TopoHub,
/// SNDlib and networkx write about the file.
fn graph(plain: &str) -> Option<Meaning> {
    match plain {
        "name" => Some(Meaning::Label(0)),
        "label" => Some(Meaning::Label(1)),
        "network" => Some(Meaning::Label(2)),
        "unit" | "capacityunit" | "bandwidthunit" => Some(Meaning::Unit(Quantity::Rate)),
        "delayunit" | "latencyunit" => Some(Meaning::Unit(Quantity::Delay)),
        "distanceunit" | "lengthunit" => Some(Meaning::Unit(Quantity::Length)),
        _ => remark(
            plain,
            &[
                "access",
                "backbone",
                "classification",
                "commercial",
                "creator",
                "customer",
                "dateobtained",
                "datemodifier",
                "datemonth",
                "datetype",
                "dateyear",
                "developed",
                "directed",
                "geoextent",
                "geolocation",
                "granularity",
                "hierarchic",
                "id",
                "ix",
                "lastaccess",
                "lastprocessed",
                "layer",
                "multigraph",
                "networkdate",
                "origin",
                "provenance",
                "source",
                "sourcegitversion",
                "stats",
                "svnversion",
                "testbed",
                "time",
                "toolsetversion",
                "transit",
                "type",
                "version",
            ],
        ),
    }
}

fn remark(plain: &str, own: &[&str]) -> Option<Meaning> {
    let common = [
        "note",
        "notes",
        "comment",
        "description",
        "url",
        "color",
        "colour",
        "fill",
        "graphics",
        "labelgraphics",
        "nodecolor",
        "edgecolor",
    ];
    (own.contains(&plain) || common.contains(&plain)).then_some(Meaning::Remark)
}

/// The size of a unit of rates in bit/s, in the spellings of files: `Mbit/s`, `Mbps`, `G`,
/// `MBITPERSEC`; `MB/s` is of bytes.
pub(crate) fn rate_unit(text: &str) -> Option<f64> {
    let text: String = text.chars().filter(|c| !" _".contains(*c)).collect();
    let of_bytes = ["B", "B/s", "Bps"].iter().find_map(|end| text.strip_suffix(end));
    if let Some(size) = of_bytes.and_then(prefix) {
        return Some(8.0 * size);
    }
    let plain = text.to_ascii_lowercase();
    let bits = [
        "bitpersecond",
        "bitspersecond",
        "bitpersec",
        "bitspersec",
        "bits/sec",
        "bit/sec",
        "bits/s",
        "bit/s",
        "bitps",
        "bits",
        "bit",
        "bps",
        "b/s",
        "b",
    ];
    let size = bits.iter().find_map(|end| plain.strip_suffix(end)).or(Some(plain.as_str()));
    size.filter(|_| !plain.is_empty()).and_then(prefix)
}

fn prefix(text: &str) -> Option<f64> {
    match text {
        "" => Some(1.0),
        "k" | "K" => Some(1e3),
        "m" | "M" => Some(1e6),
        "g" | "G" => Some(1e9),
        "t" | "T" => Some(1e12),
        "ki" | "Ki" => Some(1024.0),
        "mi" | "Mi" => Some(1024.0 * 1024.0),
        "gi" | "Gi" => Some(1024.0 * 1024.0 * 1024.0),
        _ => None,
    }
}

fn time_unit(text: &str) -> Option<f64> {
    match text.to_ascii_lowercase().as_str() {
        "s" | "sec" | "secs" | "second" | "seconds" => Some(1.0),
        "ms" | "msec" | "msecs" | "millisecond" | "milliseconds" => Some(1e-3),
        "us" | "usec" | "µs" | "\u{3bc}s" | "microsecond" | "microseconds" => Some(1e-6),
        "ns" | "nsec" | "nanosecond" | "nanoseconds" => Some(1e-9),
        _ => None,
    }
}

fn length_unit(text: &str) -> Option<f64> {
    match text.to_ascii_lowercase().as_str() {
        "km" | "kilometer" | "kilometers" | "kilometre" | "kilometres" => Some(1.0),
        "m" | "meter" | "meters" | "metre" | "metres" => Some(1e-3),
        "mi" | "mile" | "miles" => Some(1.609_344),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of_link(name: &str) -> Option<(Quantity, Option<f64>)> {
        match meaning(Part::Link, name)? {
            Meaning::Quantity { quantity, unit, .. } => Some((quantity, unit)),
            _ => None,
        }
    }

    #[test]
    fn names_are_read_in_any_spelling() {
        assert_eq!(of_link("LinkSpeedRaw"), Some((Quantity::Rate, Some(1.0))));
        assert_eq!(of_link("link_capacity"), Some((Quantity::Rate, None)));
        assert_eq!(of_link("bandwidth_mbps"), Some((Quantity::Rate, Some(1e6))));
        assert_eq!(of_link("bw (MB/s)"), Some((Quantity::Rate, Some(8e6))));
        assert_eq!(of_link("capacityGbit"), Some((Quantity::Rate, Some(1e9))));
        assert_eq!(of_link("delay-us"), Some((Quantity::Delay, Some(1e-6))));
        assert_eq!(of_link("Distance"), Some((Quantity::Length, None)));
        assert_eq!(of_link("length_m"), Some((Quantity::Length, Some(1e-3))));
        for other in ["weight", "delay_variance", "capacity_used", "rateLimiter", "speedup"] {
            assert_eq!(meaning(Part::Link, other), None, "{other}");
        }
        assert_eq!(meaning(Part::Node, "LAT"), Some(Meaning::Latitude));
        assert_eq!(meaning(Part::Node, "capacity"), None);
        assert_eq!(meaning(Part::Graph, "capacity_unit"), Some(Meaning::Unit(Quantity::Rate)));
    }

    #[test]
    fn units_are_read_as_files_spell_them() {
        for (text, size) in [
            ("bit/s", 1.0),
            ("BITPERSEC", 1.0),
            ("BITSPERSEC", 1.0),
            ("KBITPERSEC", 1e3),
            ("MBITPERSEC", 1e6),
            ("MBITSPERSEC", 1e6),
            ("GBITPERSEC", 1e9),
            ("Mb/s", 1e6),
            ("Gbps", 1e9),
            ("G", 1e9),
            ("kbit", 1e3),
            ("Tbit/s", 1e12),
            ("MB/s", 8e6),
            ("B/s", 8.0),
            ("Mibit", 1_048_576.0),
        ] {
            assert_eq!(rate_unit(text), Some(size), "{text}");
        }
        for text in ["", "STM1", "packets", "%"] {
            assert_eq!(rate_unit(text), None, "{text}");
        }
        assert_eq!(Quantity::Delay.unit("MS"), Some(1e-3));
        assert_eq!(Quantity::Length.unit("metres"), Some(1e-3));
    }

    #[test]
    fn reference() {
        let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/reference/graph-files.md");
        let page = std::fs::read_to_string(path).unwrap().to_ascii_lowercase();
        for quantity in Quantity::ALL {
            for name in quantity.names() {
                assert!(page.contains(&format!("`{name}`")), "{name} is not on {path}");
            }
        }
        let words = page.split('`').skip(1).step_by(2);
        let names: Vec<&str> =
            words.clone().filter(|word| quantity(word, word).is_some()).collect();
        assert!(names.len() > 24, "{names:?}");
        for unit in ["mbps", "mbitpersec", "gb/s", "mb/s", "mibit", "us", "ns", "km", "miles"] {
            assert!(words.clone().any(|word| word == unit), "{unit}");
        }
    }
}
