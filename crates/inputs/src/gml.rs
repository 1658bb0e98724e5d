//! GML, the Graph Modelling Language, as the Topology Zoo, networkx, TopoHub and yEd write it.
//!
//! A file is a list of keys with values: numbers, strings in double quotes with HTML's entities,
//! and lists in brackets. The reader takes `graph [ node [ id ... ] edge [ source target ] ]`;
//! [`crate::topology`] says what attributes mean. Nesting and the file's length bound its work.
//!
//! Source of the format: Himsolt, "GML: A portable Graph File Format", University of Passau, 1997.

use std::borrow::Cow;

use crate::InputError;
use crate::attributes::Attribute;
use crate::build::{Builder, RawLink, RawNode};
use crate::location::{Location, finite, quoted};
use crate::topology::Topology;

/// Most lists within each other.
const DEEPEST: usize = 32;

/// Most keys with a value, which take far more memory than text.
const MOST_ENTRIES: usize = 4_000_000;

/// Most defaults of nodes and edges: each may hold for every one of them.
const MOST_DEFAULTS: usize = 512;

/// Most bytes of an entity, from `&` to `;`.
const LONGEST_ENTITY: usize = 12;

/// Whether text can be GML: keys and values, with a graph among them.
pub(crate) fn is_gml(text: &str) -> bool {
    let mut lines = text.lines().map(str::trim);
    lines.any(|line| {
        let rest = line.strip_prefix("graph").map(str::trim_start);
        rest.is_some_and(|rest| rest.is_empty() || rest.starts_with(['[', '#']))
    })
}

/// Reads a topology.
///
/// # Errors
/// When the text is not GML, there is not exactly one graph, a node's id repeats or is missing, an
/// edge refers to a node that is not there, or a number is none or out of range.
pub fn parse(file: &str, text: &str) -> Result<Topology, InputError> {
    let at = |offset| Location::offset(file, text, offset);
    let mut reader = Reader { file, text, next: 0, entries: 0 };
    let top = reader.list(0)?;
    let mut graphs = top.into_iter().filter(|entry| entry.key.eq_ignore_ascii_case("graph"));
    let graph = graphs.next().ok_or_else(|| {
        Location::line(file, 1).error(
            "GML without a graph",
            "graph [ node [ id 0 ] ... ]",
            "check that the file is complete",
        )
    })?;
    if let Some(second) = graphs.next() {
        return Err(at(second.offset).error(
            "a second graph",
            "one graph a file",
            "split the file",
        ));
    }
    let Value::List(entries) = graph.value else {
        return Err(at(graph.offset).error(
            "a graph that is no list",
            "graph [ ... ]",
            "complete the file",
        ));
    };
    let (mut nodes, mut edges, mut about) = (Vec::new(), Vec::new(), Vec::new());
    // networkx keeps the defaults of a GraphML file's keys.
    let (mut node_defaults, mut edge_defaults) = (Vec::new(), Vec::new());
    let mut is_one_way = false;
    for entry in entries {
        match (entry.key.to_ascii_lowercase().as_str(), entry.value) {
            ("node", Value::List(list)) => nodes.push((at(entry.offset), list)),
            ("edge", Value::List(list)) => edges.push((at(entry.offset), list)),
            ("node_default", Value::List(list)) => node_defaults = attributes(list, &[], at),
            ("edge_default", Value::List(list)) => edge_defaults = attributes(list, &[], at),
            ("directed", Value::One(flag)) => is_one_way = flag == "1",
            (_, value) => about.push(Entry { value, ..entry }.attribute(at)),
        }
    }
    if let Some(default) = node_defaults.iter().chain(&edge_defaults).nth(MOST_DEFAULTS) {
        return Err(default.at.error(
            "another default",
            format!("up to {MOST_DEFAULTS}"),
            "leave out defaults that no node or edge needs",
        ));
    }
    let mut builder = Builder::default();
    builder.graph(about)?;
    for (place, mut entries) in nodes {
        let id = take(place, &mut entries, "id")?;
        let drawn = position(&mut entries);
        let attributes = attributes(entries, &node_defaults, at);
        builder.node(RawNode { at: place, id, drawn, attributes })?;
    }
    for (place, mut entries) in edges {
        let (source, target) =
            (take(place, &mut entries, "source")?, take(place, &mut entries, "target")?);
        let ends = (builder.find(place, &source)?, builder.find(place, &target)?);
        let attributes = attributes(entries, &edge_defaults, at);
        builder.link(RawLink { at: place, ends, is_one_way, attributes })?;
    }
    builder.finish(file)
}

/// The attributes that a list states, and those of `defaults` that it does not state.
fn attributes<'a>(
    entries: Vec<Entry<'a>>,
    defaults: &[Attribute<'a>],
    at: impl Fn(usize) -> Location<'a>,
) -> Vec<Attribute<'a>> {
    let mut list: Vec<Attribute<'a>> =
        entries.into_iter().map(|entry| entry.attribute(&at)).collect();
    let given = list.len();
    for default in defaults {
        if list[..given].iter().all(|own| own.name != default.name) {
            list.push(default.clone());
        }
    }
    list
}

/// The value of the key `name`, which must be there.
fn take<'a>(
    at: Location<'a>,
    entries: &mut Vec<Entry<'a>>,
    name: &str,
) -> Result<Cow<'a, str>, InputError> {
    let is_it = |entry: &Entry<'a>| entry.key.eq_ignore_ascii_case(name);
    let found = entries.iter().position(is_it).map(|place| entries.remove(place).value);
    match found {
        Some(Value::One(value)) => Ok(value),
        _ => Err(at.error(
            format!("a list without {name}"),
            format!("{name} and a number"),
            "add it, or check that the file is complete",
        )),
    }
}

/// networkx writes a pair as a key that stands twice.
fn position(entries: &mut Vec<Entry<'_>>) -> Option<(f64, f64)> {
    let numbers: Vec<f64> = entries
        .iter()
        .filter(|entry| entry.key == "pos")
        .map(|entry| match &entry.value {
            Value::One(number) => finite(number),
            Value::List(_) => None,
        })
        .collect::<Option<_>>()?;
    let &[longitude, latitude] = numbers.as_slice() else { return None };
    entries.retain(|entry| entry.key != "pos");
    Some((longitude, latitude))
}

/// A key with its value.
struct Entry<'a> {
    key: &'a str,
    value: Value<'a>,
    /// Offset into the file's text.
    offset: usize,
}

enum Value<'a> {
    /// A number or a string.
    One(Cow<'a, str>),
    List(Vec<Entry<'a>>),
}

impl<'a> Entry<'a> {
    fn attribute(self, at: impl Fn(usize) -> Location<'a>) -> Attribute<'a> {
        let (value, is_compound) = match self.value {
            Value::One(value) => (value, false),
            Value::List(list) => (Cow::Borrowed(if list.is_empty() { "" } else { "[ ]" }), true),
        };
        Attribute { is_compound, ..Attribute::new(self.key, value, at(self.offset)) }
    }
}

struct Reader<'a> {
    file: &'a str,
    text: &'a str,
    next: usize,
    /// Number of entries so far.
    entries: usize,
}

impl<'a> Reader<'a> {
    fn at(&self) -> Location<'a> {
        Location::offset(self.file, self.text, self.next)
    }

    fn rest(&self) -> &'a str {
        &self.text[self.next..]
    }

    /// Skips blanks and comments.
    fn skip(&mut self) {
        loop {
            self.next = self.text.len() - self.rest().trim_start().len();
            if !self.rest().starts_with('#') {
                return;
            }
            self.next += self.rest().find('\n').unwrap_or(self.rest().len());
        }
    }

    /// The entries up to the end of the list, or of the file at depth 0.
    fn list(&mut self, depth: usize) -> Result<Vec<Entry<'a>>, InputError> {
        let mut entries = Vec::new();
        loop {
            self.skip();
            let at = self.at();
            let rest = self.rest();
            match (rest.chars().next(), depth) {
                (None, 0) => return Ok(entries),
                (Some(']'), 1..) => {
                    self.next += 1;
                    entries.shrink_to_fit();
                    return Ok(entries);
                }
                (None, _) => {
                    return Err(at.error(
                        "the file's end within a list",
                        "a ] for each [",
                        "check that the file is complete",
                    ));
                }
                _ => {}
            }
            let is_of_key = |c: char| c.is_ascii_alphanumeric() || c == '_';
            let end = rest.find(|c| !is_of_key(c)).unwrap_or(rest.len());
            if end == 0 || rest.starts_with(|c: char| c.is_ascii_digit()) {
                return Err(at.error(
                    "no key of GML",
                    "a key (letters, digits, _) and its value",
                    "check that the file is GML, and complete",
                ));
            }
            self.next += end;
            self.skip();
            let offset = self.text.len() - rest.len();
            entries.push(Entry { key: &rest[..end], value: self.value(depth)?, offset });
            self.entries += 1;
            if self.entries > MOST_ENTRIES {
                return Err(at.error(
                    "another entry",
                    format!("up to {MOST_ENTRIES}"),
                    "leave out attributes that the network does not need",
                ));
            }
        }
    }

    fn value(&mut self, depth: usize) -> Result<Value<'a>, InputError> {
        let (at, rest) = (self.at(), self.rest());
        if rest.starts_with('[') {
            if depth == DEEPEST {
                return Err(at.error(
                    format!("{} lists within each other", DEEPEST + 1),
                    format!("up to {DEEPEST}"),
                    "check that the file is a topology; export it anew",
                ));
            }
            self.next += 1;
            return Ok(Value::List(self.list(depth + 1)?));
        }
        if let Some(text) = rest.strip_prefix('"') {
            let end = text.find('"').ok_or_else(|| {
                at.error("a string without an end", "text in double quotes", "close the string")
            })?;
            self.next += end + 2;
            return Ok(Value::One(unescaped(&text[..end])));
        }
        let ends = |c: char| c.is_whitespace() || c == ']';
        let end = rest.find(ends).unwrap_or(rest.len());
        let number = &rest[..end];
        // networkx writes numbers that are none, too.
        let plain = number.trim_start_matches(['+', '-']);
        if finite(number).is_none() && !["NAN", "INF"].contains(&plain) {
            return Err(at.error(
                format!("the value {}", quoted(number)),
                "a number, \"text\" or [ list ]",
                "put text in double quotes",
            ));
        }
        self.next += end;
        Ok(Value::One(Cow::Borrowed(if finite(number).is_some() { number } else { "" })))
    }
}

/// Text with its entities replaced; an entity that is none stands as it is.
fn unescaped(text: &str) -> Cow<'_, str> {
    if !text.contains('&') {
        return Cow::Borrowed(text);
    }
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(at) = rest.find('&') {
        out.push_str(&rest[..at]);
        rest = &rest[at..];
        let end = rest.bytes().take(LONGEST_ENTITY).position(|byte| byte == b';');
        let entity = end.map(|end| &rest[1..end]);
        match entity.and_then(character) {
            Some(c) => {
                out.push(c);
                rest = &rest[entity.map_or(1, str::len) + 2..];
            }
            None => {
                out.push('&');
                rest = &rest[1..];
            }
        }
    }
    out.push_str(rest);
    Cow::Owned(out)
}

fn character(entity: &str) -> Option<char> {
    if let Some(number) = entity.strip_prefix('#') {
        let code = match number.strip_prefix(['x', 'X']) {
            Some(hex) => u32::from_str_radix(hex, 16),
            None => number.parse(),
        };
        return char::from_u32(code.ok()?);
    }
    // Entities of letters with accents, which cities have, are the first 256 characters' names.
    Some(match entity {
        "quot" => '"',
        "amp" => '&',
        "lt" => '<',
        "gt" => '>',
        "apos" => '\'',
        "nbsp" => ' ',
        "auml" => 'ä',
        "ouml" => 'ö',
        "uuml" => 'ü',
        "Auml" => 'Ä',
        "Ouml" => 'Ö',
        "Uuml" => 'Ü',
        "szlig" => 'ß',
        "aacute" => 'á',
        "eacute" => 'é',
        "egrave" => 'è',
        "iacute" => 'í',
        "oacute" => 'ó',
        "uacute" => 'ú',
        "ntilde" => 'ñ',
        "ccedil" => 'ç',
        "atilde" => 'ã',
        "oslash" => 'ø',
        "aring" => 'å',
        "aelig" => 'æ',
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use ratewire_units::Rate;

    const SMALL: &str = "# saved by hand\nCreator \"x\"\ngraph [\n  directed 0\n  label \"Two\"\n\
        node [ id 7 label \"M&#252;nchen &amp; S&uuml;d\" Longitude 11.5 Latitude 48.1 ]\n\
        node [\n id 3\n label \"A # B\"\n Internal 0\n graphics [ x 1 y [ z 2 ] ]\n cpu 4 ]\n\
        edge [ source 7 target 3 LinkSpeedRaw 2.5E9 dist 120.5 weight 1 ]\n]\n";

    #[test]
    fn reads_nodes_edges_and_entities() {
        let topology = parse("x.gml", SMALL).unwrap();
        assert_eq!(topology.name, "Two");
        let names: Vec<&str> = topology.nodes.iter().map(|node| node.name.as_str()).collect();
        assert_eq!(names, ["München & Süd", "A # B"]);
        assert_eq!((topology.nodes[0].latitude, topology.nodes[1].internal), (Some(48.1), false));
        let edge = &topology.edges[0];
        assert_eq!((edge.a, edge.b, edge.is_one_way), (0, 1, false));
        assert_eq!((edge.rate, edge.length_km), (Some(Rate::from_mbps(2_500)), Some(120.5)));
        let said: Vec<&str> = topology.notes.iter().map(|note| note.text.as_str()).collect();
        assert_eq!(said, ["not used: of links \"weight\"; of nodes \"cpu\""]);
        let directed = parse("x.gml", &SMALL.replacen("directed 0", "directed 1", 1)).unwrap();
        assert!(directed.edges[0].is_one_way);
    }

    #[test]
    fn positions_and_numbers_of_networkx() {
        let text = "graph [ node [ id 0 pos 11.5 pos 48.1 ] node [ id 1 pos 9 pos 50 ]\
                    edge [ source 0 target 1 bandwidth NAN ] ]";
        let topology = parse("x.gml", text).unwrap();
        assert_eq!(topology.nodes[0].latitude, Some(48.1));
        assert!(topology.edges[0].length_km.is_some() && topology.edges[0].rate.is_none());
    }

    #[test]
    fn defaults_that_networkx_keeps_hold() {
        let text = "graph [ edge_default [ capacity \"10 Mbit/s\" ] node [ id 0 ] node [ id 1 ]\
                    edge [ source 0 target 1 ] edge [ source 0 target 1 capacity \"1G\" ] ]";
        let rates: Vec<_> = parse("x", text).unwrap().edges.iter().map(|edge| edge.rate).collect();
        assert_eq!(rates, [Some(Rate::from_mbps(10)), Some(Rate::from_mbps(1_000))]);
    }

    #[test]
    fn says_what_is_wrong_and_where() {
        let refused = |from: &str, to: &str| {
            assert!(SMALL.contains(from));
            parse("x.gml", &SMALL.replacen(from, to, 1)).unwrap_err().to_string()
        };
        assert!(refused("target 3", "target 4").starts_with("x.gml:13: found a reference to the"));
        assert!(refused("id 3", "id 7").starts_with("x.gml:7: found a second node with the id"));
        assert!(refused("id 3", "").starts_with("x.gml:7: found a list without id"));
        assert!(refused("dist 120.5", "dist far").starts_with("x.gml:13: found the value \"far\""));
        assert!(refused("dist 120.5", "dist -1").starts_with("x.gml:13: found dist \"-1\""));
        assert!(refused("weight 1 ]\n]", "weight 1").contains("the file's end within a list"));
        assert!(refused("Creator", "{").starts_with("x.gml:2: found no key of GML"));
        assert!(refused("graph [", "grape [").contains("GML without a graph"));
        assert!(parse("x", "graph 3").unwrap_err().to_string().contains("a graph that is no list"));
        assert!(
            parse("x", "graph [] graph []").unwrap_err().to_string().contains("a second graph")
        );
        assert!(parse("x", "a \"b").unwrap_err().to_string().contains("a string without an end"));
    }

    #[test]
    fn nesting_and_entities_are_bounded() {
        let deep = format!("graph {}", "a [ ".repeat(100_000));
        let said = parse("x", &deep.replacen("graph a", "graph", 1)).unwrap_err().to_string();
        assert!(said.contains("33 lists within each other"), "{said}");
        let odd = "&".repeat(100_000) + "&;&#xffffff;&quot;";
        assert!(unescaped(&odd).ends_with("&;&#xffffff;\""));
    }
}
