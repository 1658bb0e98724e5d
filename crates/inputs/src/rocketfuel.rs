//! Rocketfuel's weights and latencies between routers (`weights.intra`, `latencies.intra`).
//!
//! Each line is one direction of a link: two routers and a number. In a file whose name has
//! `latenc` the number is the delay in ms; in others it is a weight, and not used.
//!
//! Source of the format: Spring, Mahajan, Wetherall, "Measuring ISP Topologies with Rocketfuel",
//! SIGCOMM 2002; Mahajan, Spring, Wetherall, Anderson, "Inferring Link Weights using End-to-End
//! Measurements", IMW 2002.

use crate::InputError;
use crate::attributes::Attribute;
use crate::build::{Builder, RawLink, RawNode};
use crate::location::{Location, finite};
use crate::topology::Topology;

/// Whether text is of this format: its routers are called `City,+Country` and a number.
pub(crate) fn is_rocketfuel(text: &str) -> bool {
    let fields: Vec<&str> = text.lines().next().unwrap_or("").split_whitespace().collect();
    let is_router = |name: &str| name.contains(",+");
    matches!(fields.as_slice(), [a, b, number]
        if is_router(a) && is_router(b) && finite(number).is_some())
}

/// Reads a topology.
///
/// # Errors
/// When a line is not two names and a number, or a delay is out of range.
pub fn parse(file: &str, text: &str) -> Result<Topology, InputError> {
    let base = file.rsplit(['/', '\\']).next().unwrap_or(file);
    let name = if base.contains("latenc") { "delay" } else { "weight" };
    let mut builder = Builder::default();
    builder.units.delay = Some(1e-3);
    for (i, line) in text.lines().enumerate() {
        let at = Location::line(file, i + 1);
        let fields: Vec<&str> = line.split_whitespace().collect();
        let (a, b, number) = match fields.as_slice() {
            [] => continue,
            [a, b, number] if finite(number).is_some() => (*a, *b, *number),
            _ => {
                return Err(at.error(
                    "no two routers with a number",
                    "a line of Rocketfuel's weights or latencies: Perth,+Australia1 \
                     Adelaide,+Australia2 22",
                    "correct the line, or delete it",
                ));
            }
        };
        let mut end = |id| match builder.get(id) {
            Some(node) => Ok(node),
            None => {
                let attributes = vec![Attribute::new("label", id.replace('+', " "), at)];
                builder.node(RawNode { at, id: id.into(), drawn: None, attributes })?;
                builder.find(at, id)
            }
        };
        let ends = (end(a)?, end(b)?);
        let attributes = vec![Attribute::new(name, number, at)];
        builder.link(RawLink { at, ends, is_one_way: true, attributes })?;
    }
    builder.finish(file)
}

#[cfg(test)]
mod tests {
    use super::*;
    use ratewire_units::Duration;

    const SMALL: &str = "Darwin,+Australia1837 Darwin,+Australia1838 1\n\
                         Darwin,+Australia1838 Darwin,+Australia1837 1\n\
                         Darwin,+Australia1837 Adelaide,+Australia1727 15.5\n";

    #[test]
    fn reads_latencies_and_names_weights() {
        let topology = parse("1221.latencies.intra", SMALL).unwrap();
        let names: Vec<&str> = topology.nodes.iter().map(|node| node.name.as_str()).collect();
        assert_eq!(
            names,
            ["Darwin, Australia1837", "Darwin, Australia1838", "Adelaide, Australia1727"]
        );
        let links: Vec<_> =
            topology.edges.iter().map(|e| (e.a, e.b, e.is_one_way, e.delay.unwrap())).collect();
        let [one, last] = [Duration::from_millis(1), Duration::from_micros(15_500)];
        assert_eq!(links, [(0, 1, true, one), (1, 0, true, one), (0, 2, true, last)]);
        assert_eq!(topology.notes, []);
        let topology = parse("a-latency-b/1221.weights.intra", SMALL).unwrap();
        assert_eq!(topology.edges[0].delay, None);
        assert_eq!(topology.notes[0].text, "not used: of links \"weight\" (3 times)");
    }

    #[test]
    fn says_what_is_wrong_and_where() {
        let refused = |from: &str, to: &str| {
            assert!(SMALL.contains(from));
            parse("latencies", &SMALL.replacen(from, to, 1)).unwrap_err().to_string()
        };
        assert!(refused("15.5", "far").starts_with("latencies:3: found no two routers"));
        assert!(refused("15.5", "").contains("allowed: a line of Rocketfuel's"));
        assert!(refused("15.5", "-1").contains("latencies:3: found delay \"-1\""));
    }
}
