//! The reference of the language, made from the tables that also check files.

use std::fmt::Write;

use crate::expect::{MetricUnit, Subject, metrics};
use crate::keys::{self, Key};
use crate::topology::topologies;

/// The reference as Markdown.
///
/// It lists every table and key with allowed values, default and example, every topology, and every
/// metric.
pub fn reference() -> String {
    let mut text = String::from(INTRODUCTION);
    for table in keys::tables() {
        let all: Vec<&Key> = keys::keys().filter(|key| key.table == table.name).collect();
        let heading = if table.heading.contains('[') || table.heading.contains('{') {
            format!("`{}`", table.heading)
        } else {
            table.heading.to_string()
        };
        // Writing to a string cannot fail, here and below.
        let _ =
            write!(text, "\n## {heading}\n\n{}\n\n```toml\n{}\n```\n", table.doc, table.example);
        if !all.is_empty() {
            text.push_str("\n| key | allowed | default | meaning |\n|---|---|---|---|\n");
        }
        for key in all {
            let only = match key.applies {
                [] => String::new(),
                applies => format!(" Only for {}.", applies.join(", ")),
            };
            let _ = writeln!(
                text,
                "| `{}` | {} | {} | {}{only} Example: `{}` |",
                key.name,
                cell(&key.kind.to_string()),
                cell(key.default),
                cell(key.doc),
                cell(key.example),
            );
        }
    }
    text.push_str("\n## Topologies\n");
    for info in topologies() {
        let parameters: Vec<String> =
            info.parameters().map(|key| format!("`{}`", key.name)).collect();
        let _ = write!(text, "\n### `{}`\n\n{}\n\n", info.kind, info.summary);
        // Markdown would take `s<i>` for a tag of HTML.
        let names = |text: &str| text.replace('<', "\\<");
        let _ = writeln!(text, "- nodes: {}", names(info.nodes));
        let _ = writeln!(text, "- links: {}", names(info.links));
        let _ = writeln!(text, "- pairs: {}", names(info.pairs));
        if !parameters.is_empty() {
            let _ = writeln!(text, "- keys: {}", parameters.join(", "));
        }
        let _ = write!(text, "\n```toml\n[topology]\n{}\n```\n", info.example);
    }
    text.push_str(
        "\n## Metrics\n\n| metric | target | bound, for example | meaning |\n|---|---|---|---|\n",
    );
    for info in metrics() {
        let of = match info.subject {
            Subject::Link => "a link",
            Subject::Run => "the run",
            Subject::LinkOrAll => "a link, or all",
            Subject::Flows => "listed flows",
            Subject::FlowsOrTraffic => "listed flows, or a class of traffic",
            Subject::Group => "groups of an overlay, or all",
            Subject::Connection => "a connection of an overlay",
            Subject::Overlay => "an overlay",
        };
        let units: Vec<String> =
            info.units.iter().map(|unit: &MetricUnit| format!("`{}`", unit.example())).collect();
        let _ = writeln!(
            text,
            "| `{}` | {of} | {} | {} |",
            info.name,
            units.join(", "),
            cell(info.doc)
        );
    }
    text
}

/// Escapes text for a cell of a table.
fn cell(text: &str) -> String {
    text.replace('|', "\\|")
}

const INTRODUCTION: &str = "\
# Scenario reference

A scenario is a TOML file. A quantity is a text with a unit; only values without a unit are bare numbers.

| quantity | units | examples |
|---|---|---|
| time | ps, ns, us, ms, s, min, h | `\"50 ms\"`, `\"1.5 s\"` |
| rate | bit/s, kbit/s, Mbit/s, Gbit/s, Tbit/s (also b/s, bps), B/s, KB/s, MB/s, GB/s, B/ms | `\"10 Mbit/s\"` |
| size | B, KB, MB, GB, TB (powers of 1000), KiB, MiB, GiB, and packets | `\"64 KB\"`, `\"100 packets\"` |

A size in packets means full packets for the capacity of a queue, and full payloads
(without congestion header) for payload. A key that is unknown, or that nothing reads, is an
error. Each table of a list is written `[[flow]]`; a single one may be written `[flow]`. File names
are relative to the scenario's folder. Scenario and files must be regular files of at most 64 MiB.

Names of flows and links with an arrow, such as `s1->d1`, may also be written `s1-d1` or `s1:d1`, in a scenario and
on the command line: a shell takes `>` for a redirection. An exact name wins; a spelling of several names is an error.

`--set PATH=VALUE` sets a value before the file is checked:

- a key of the topology: `--set topology.bottleneck.rate=10M`, short `--set bottleneck.rate=10M`
- a key of the second flow: `--set flow.2.start=5s`
- a key of the flow of this `name`: `--set flow.NAME.start=5s`; a name that is a number is quoted,
  as in `--set 'flow.\"2\".start=5s'`
- a key of all flows: `--set 'flow.*.start=5s'`
- a key of any link by its name, with or without a `[[link]]`: `--set 'link.a->b.rate=10M'`
- a key of all links: `--set 'link.*.rate=10M'`

The shell needs the single quotes; `link.a-b.rate=10M` and `link.a:b.rate=10M` need none. If `--set duration=5s` ends the run before the times of an
expectation, that expectation is left out, with a warning.
";
