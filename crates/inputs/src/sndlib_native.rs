//! SNDlib's native format, version 1.0.
//!
//! Sections `META`, `NODES`, `LINKS` and `DEMANDS` in parentheses; [`crate::sndlib_xml`] says what
//! is read of them. Coordinates are longitude and latitude if all of them can be.
//!
//! Source of the format: <http://sndlib.zib.de/html/docu/io-formats/native/conventions.html>.

use crate::InputError;
use crate::attributes::Attribute;
use crate::build::{Builder, RawLink, RawNode};
use crate::location::{Location, finite, quoted};
use crate::sndlib::{self, Modules};
use crate::topology::Topology;
use crate::vocabulary::Part;

/// The first line of a file of any kind begins so.
pub(crate) const HEADER: &str = "?SNDlib native format";

/// Most words and brackets, which take more memory than text.
const MOST_WORDS: usize = 4_000_000;

/// Reads a topology with its demands.
///
/// # Errors
/// When the header is missing or of another kind of file, a section is not complete, the unit is
/// unknown, an id repeats, a link or demand refers to a node that is not there, or a number is none
/// or out of range.
pub fn parse(file: &str, text: &str) -> Result<Topology, InputError> {
    let header = text.lines().next().unwrap_or("");
    if !header.starts_with(HEADER) || !header.contains("network") {
        return Err(Location::line(file, 1).error(
            "no header of an SNDlib network",
            "?SNDlib native format; type: network; version: 1.0",
            "use SNDlib's network file, not its model or solution",
        ));
    }
    if let Some(word) = words(text).nth(MOST_WORDS) {
        return Err(Location::line(file, word.line).error(
            "another word",
            format!("up to {MOST_WORDS}"),
            "leave out sections that the network does not need",
        ));
    }
    let mut tokens = Tokens { file, words: words(text).collect(), next: 0 };
    let mut builder = Builder::default();
    let mut unit = None;
    let mut links = Vec::new();
    let mut demands = Vec::new();
    while let Some(section) = tokens.word() {
        tokens.open()?;
        match section.text {
            "META" => unit = meta(&mut tokens)?.or(unit),
            "NODES" => nodes(&mut tokens, &mut builder)?,
            "LINKS" => links = tokens.rows()?,
            "DEMANDS" => demands = tokens.rows()?,
            name => {
                let at = tokens.at(section);
                if !tokens.row()?.is_empty() {
                    builder.tally.unused(Part::Graph, name, at);
                }
            }
        }
    }
    let at = |word: Word<'_>| Location::line(file, word.line);
    let unit = unit.map(|unit: Word<'_>| (unit.text, at(unit)));
    sndlib::set_unit(&mut builder, unit, Location::line(file, 1))?;
    for row in &links {
        link(&mut builder, file, row)?;
    }
    for row in &demands {
        demand(&mut builder, file, row)?;
    }
    builder.finish(file)
}

/// The unit that `META` names: `unit = MBITPERSEC`.
fn meta<'a>(tokens: &mut Tokens<'a>) -> Result<Option<Word<'a>>, InputError> {
    let mut words = tokens.row()?.into_iter().flat_map(|word| {
        let parts = word.text.split('=').filter(|part| !part.is_empty());
        parts.map(move |text| Word { text, ..word })
    });
    Ok(words.find(|word| word.text == "unit").and_then(|_| words.next()))
}

fn nodes<'a>(tokens: &mut Tokens<'a>, builder: &mut Builder<'a>) -> Result<(), InputError> {
    for row in tokens.rows()? {
        let [id, rest @ ..] = row.as_slice() else { continue };
        let at = Location::line(tokens.file, id.line);
        let numbers: Vec<&Word<'a>> = rest.iter().filter(|word| !word.is_bracket()).collect();
        let drawn = match numbers.as_slice() {
            [] => None,
            [x, y, ..] if finite(x.text).is_some() && finite(y.text).is_some() => {
                finite(x.text).zip(finite(y.text))
            }
            _ => {
                return Err(at.error(
                    format!("the place of {}", quoted(id.text)),
                    "two numbers: ( longitude latitude )",
                    "correct the numbers, or leave the place out",
                ));
            }
        };
        builder.node(RawNode { at, id: id.text.into(), drawn, attributes: Vec::new() })?;
    }
    Ok(())
}

/// `id ( source target ) installed installed-cost routing-cost setup-cost ( { capacity cost }* )`.
fn link<'a>(builder: &mut Builder<'a>, file: &'a str, row: &[Word<'a>]) -> Result<(), InputError> {
    let (id, ends, rest) = head(builder, file, row, "link")?;
    let at = Location::line(file, id.line);
    let [installed, costs @ ..] = rest else {
        return Err(wrong_row(at, id, "( source target ) capacity cost cost cost ( modules )"));
    };
    let capacity = |word: &Word<'a>| Attribute::new("capacity", word.text, at);
    let mut modules = Modules { installed: Some(capacity(installed)), offers: Vec::new() };
    let mut numbers = costs.iter().skip_while(|word| word.text != "(").filter(|w| !w.is_bracket());
    let names = ["pre-installed cost", "routing cost", "setup cost"];
    let plain = costs.iter().take_while(|word| !word.is_bracket());
    for (name, cost) in names.iter().zip(plain) {
        if finite(cost.text) != Some(0.0) {
            builder.tally.unused(Part::Link, name, at);
        }
    }
    while let Some(size) = numbers.next() {
        modules.offers.push(capacity(size));
        if numbers.next().is_some() {
            builder.tally.unused(Part::Link, "module cost", at);
        }
    }
    let mut attributes = modules.choose(builder, at)?;
    attributes.push(Attribute::new("label", id.text, at));
    builder.link(RawLink { at, ends, is_one_way: false, attributes })
}

/// `id ( source target ) routing-unit value longest-path`.
fn demand<'a>(
    builder: &mut Builder<'a>,
    file: &'a str,
    row: &[Word<'a>],
) -> Result<(), InputError> {
    let (id, ends, rest) = head(builder, file, row, "demand")?;
    let at = Location::line(file, id.line);
    let [unit, value, more @ ..] = rest else {
        return Err(wrong_row(at, id, "( source target ) routing-unit value longest-path"));
    };
    let number = |name, word: &Word<'a>| Attribute::new(name, word.text, at);
    let unit = number("routing unit", unit);
    let rate = sndlib::demand(builder, &number("demand value", value), Some(&unit))?;
    if more.first().is_some_and(|longest| longest.text != "UNLIMITED") {
        builder.tally.unused(Part::Demand, "longest path", at);
    }
    builder.demand(at, ends, rate);
    Ok(())
}

type Head<'r, 'a> = (Word<'a>, (usize, usize), &'r [Word<'a>]);

/// The id and the ends that a row begins with, and what follows.
fn head<'r, 'a>(
    builder: &Builder<'a>,
    file: &'a str,
    row: &'r [Word<'a>],
    what: &str,
) -> Result<Head<'r, 'a>, InputError> {
    match row {
        [id, open, source, target, close, rest @ ..] if open.text == "(" && close.text == ")" => {
            let find = |word: &Word<'_>| builder.find(Location::line(file, word.line), word.text);
            Ok((*id, (find(source)?, find(target)?), rest))
        }
        [id, ..] => Err(wrong_row(Location::line(file, id.line), *id, "( source target )")),
        [] => Err(Location::whole(file).error("nothing", what, "complete the file")),
    }
}

fn wrong_row(at: Location<'_>, id: Word<'_>, allowed: &str) -> InputError {
    at.error(
        format!("{} without what follows an id", quoted(id.text)),
        format!("id {allowed}"),
        "check that the file is complete",
    )
}

#[derive(Clone, Copy)]
struct Word<'a> {
    text: &'a str,
    line: usize,
}

impl Word<'_> {
    fn is_bracket(&self) -> bool {
        matches!(self.text, "(" | ")")
    }
}

/// Words and brackets; comments, which begin with `#`, and the header are left out.
fn words(text: &str) -> impl Iterator<Item = Word<'_>> {
    text.lines().enumerate().skip(1).flat_map(|(i, line)| {
        let mut rest = line.split('#').next().unwrap_or("");
        std::iter::from_fn(move || {
            rest = rest.trim_start();
            let end = match rest.chars().next()? {
                '(' | ')' => 1,
                _ => {
                    rest.find(|c: char| c.is_whitespace() || "()".contains(c)).unwrap_or(rest.len())
                }
            };
            let (text, after) = rest.split_at(end);
            rest = after;
            Some(Word { text, line: i + 1 })
        })
    })
}

struct Tokens<'a> {
    file: &'a str,
    words: Vec<Word<'a>>,
    next: usize,
}

impl<'a> Tokens<'a> {
    fn at(&self, word: Word<'a>) -> Location<'a> {
        Location::line(self.file, word.line)
    }

    fn word(&mut self) -> Option<Word<'a>> {
        let word = self.words.get(self.next).copied();
        self.next += 1;
        word
    }

    fn unclosed(&self) -> InputError {
        let line = self.words.last().map_or(1, |word| word.line);
        Location::line(self.file, line).error(
            "a section without an end",
            "NAME ( ... )",
            "check that the file is complete",
        )
    }

    fn open(&mut self) -> Result<(), InputError> {
        match self.word() {
            Some(word) if word.text == "(" => Ok(()),
            _ => Err(self.unclosed()),
        }
    }

    /// The words up to the end of the section.
    fn row(&mut self) -> Result<Vec<Word<'a>>, InputError> {
        let (start, mut depth) = (self.next, 1);
        while depth > 0 {
            match self.word().ok_or_else(|| self.unclosed())?.text {
                "(" => depth += 1,
                ")" => depth -= 1,
                _ => {}
            }
        }
        Ok(self.words[start..self.next - 1].to_vec())
    }

    /// The rows of the section: a row begins with each word that begins a line.
    fn rows(&mut self) -> Result<Vec<Vec<Word<'a>>>, InputError> {
        let mut rows: Vec<Vec<Word<'a>>> = Vec::new();
        let mut depth = 0;
        for word in self.row()? {
            let last = rows.last().and_then(|row| row.last()).map(|last| last.line);
            if depth == 0 && !word.is_bracket() && last != Some(word.line) {
                rows.push(Vec::new());
            }
            match word.text {
                "(" => depth += 1,
                ")" => depth -= 1,
                _ => {}
            }
            if let Some(row) = rows.last_mut() {
                row.push(word);
            }
        }
        Ok(rows)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use ratewire_units::Rate;

    const SMALL: &str = "?SNDlib native format; type: network; version: 1.0\n# a comment\n\
        META (\n  granularity = 5min\n  unit = MBITPERSEC\n)\n\
        NODES (\n  Hamburg ( 9.99 53.55 )\n  Berlin ( 13.40 52.52 ) () ()\n  Bonn\n)\n\
        LINKS (\n  L1 ( Hamburg Berlin ) 2488.00 0.00 0.00 7.00 ( )\n\
        L2 ( Berlin Bonn ) 0.00 0.00 0.00 0.00 ( 622.00 2.00 155.00 1.00 )\n)\n\
        DEMANDS (\n  D1 ( Hamburg Bonn ) 2 60.25 UNLIMITED\n  D2 ( Bonn Berlin ) 1 5.00 3\n)\n\
        ADMISSIBLE_PATHS (\n D1 ( p ( L1 L2 ) )\n)\nEMPTY ( )\n";

    #[test]
    fn reads_what_the_xml_form_gives() {
        let topology = parse("nets/small.txt", SMALL).unwrap();
        assert_eq!((topology.name.as_str(), topology.nodes.len()), ("small", 3));
        assert_eq!(topology.nodes[1].latitude, Some(52.52));
        let rates: Vec<_> = topology.edges.iter().map(|edge| edge.rate).collect();
        assert_eq!(rates, [Some(Rate::from_mbps(2_488)), Some(Rate::from_mbps(155))]);
        assert_eq!(topology.edges[0].label.as_deref(), Some("L1"));
        let demands: Vec<_> = topology.demands.iter().map(|d| (d.from, d.to, d.rate)).collect();
        let first = Rate::from_bps(120_500_000);
        assert_eq!(demands, [(0, 2, first), (2, 1, Rate::from_mbps(5))]);
        let said: Vec<&str> = topology.notes.iter().map(|note| note.text.as_str()).collect();
        assert_eq!(
            said,
            [
                "1 link with modules to choose from: the smallest is taken",
                "not used: of links \"module cost\" (2 times), \"setup cost\"; of demands \
                 \"longest path\"; of the graph \"ADMISSIBLE_PATHS\"",
            ]
        );
    }

    #[test]
    fn units_are_those_of_meta() {
        let text = SMALL.replacen("unit = MBITPERSEC", "unit=GBITSPERSEC", 1);
        assert_eq!(parse("t", &text).unwrap().demands[1].rate, Rate::from_mbps(5_000));
        let text = SMALL.replacen("unit = MBITPERSEC", "", 1);
        let topology = parse("t", &text).unwrap();
        assert_eq!(topology.demands[1].rate, Rate::from_mbps(5));
        assert!(topology.notes[0].text.starts_with("no unit of capacities"));
    }

    #[test]
    fn says_what_is_wrong_and_where() {
        let refused = |from: &str, to: &str| {
            assert!(SMALL.contains(from));
            parse("t", &SMALL.replacen(from, to, 1)).unwrap_err().to_string()
        };
        assert!(refused("MBITPERSEC", "packets").starts_with("t:5: found the unit \"packets\""));
        assert!(
            refused("( Hamburg Berlin )", "( Hamburg Paris )").starts_with("t:13: found a refer")
        );
        assert!(refused("9.99", "east").starts_with("t:8: found the place of \"Hamburg\""));
        assert!(refused("2488.00", "much").starts_with("t:13: found capacity \"much\""));
        assert!(refused("( Hamburg Bonn ) 2 60.25", "( Hamburg Bonn )").contains("t:17: found"));
        assert!(refused("( Hamburg Bonn ) 2", "( Hamburg Bonn ) -2").contains("routing unit"));
        assert!(refused("D1 ( Hamburg Bonn )", "D1").starts_with("t:17: found \"D1\" without"));
        assert!(refused("type: network", "type: model").contains("no header of an SNDlib network"));
        assert!(refused("EMPTY ( )", "EMPTY ( ").contains("without an end"));
    }
}
