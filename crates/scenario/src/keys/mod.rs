//! The table of keys.
//!
//! The reference, the detection of unknown keys, and the readers of values all use it, so they
//! cannot differ. A test compares it with the keys that are read and the defaults that are taken.

mod checks;
mod disciplines;
mod ensemble;
mod network;
mod overlay;
mod pause;
mod programs;
mod traffic;
mod varying;

use std::fmt;

/// A key that applies wherever its table does.
const fn key(
    table: &'static str,
    name: &'static str,
    kind: KeyKind,
    default: &'static str,
    doc: &'static str,
    example: &'static str,
) -> Key {
    Key { table, name, kind, default, applies: &[], doc, example }
}

#[cfg(test)]
pub(crate) use checks::METRIC_NAMES;
pub(crate) use checks::OF_SEVERAL;
pub(crate) use disciplines::{keys_of, kind_of};

/// The allowed values of a key.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum KeyKind {
    /// Any text.
    Text,
    /// `true` or `false`.
    Switch,
    /// A whole number from the first to the second, both included.
    Count(u64, u64),
    /// A number from the first to the second, both included.
    Number(f64, f64),
    /// A length of time.
    Time,
    /// A rate.
    Rate,
    /// An amount of data in bytes.
    Bytes,
    /// An amount of data in bytes or packets.
    Size,
    /// One of these words.
    Word(&'static [&'static str]),
    /// The name of a queue discipline, or a table with its name and options.
    Discipline,
    /// A table with the keys of this table of the reference.
    Table(&'static str),
    /// A list of tables with the keys of this table of the reference.
    Tables(&'static str),
    /// The values that these words describe.
    Other(&'static str),
}

impl fmt::Display for KeyKind {
    /// The allowed values, in words.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            KeyKind::Text => f.write_str("text"),
            KeyKind::Switch => f.write_str("true or false"),
            KeyKind::Count(min, u64::MAX) => write!(f, "a whole number, {min} or more"),
            KeyKind::Count(min, max) => write!(f, "a whole number from {min} to {max}"),
            KeyKind::Number(min, max) if *max == f64::INFINITY => {
                write!(f, "a number, {min} or more")
            }
            KeyKind::Number(min, max) => write!(f, "a number from {min} to {max}"),
            KeyKind::Time => f.write_str("a time such as \"50 ms\""),
            KeyKind::Rate => f.write_str("a rate such as \"10 Mbit/s\""),
            KeyKind::Bytes => f.write_str("a size such as \"64 KB\""),
            KeyKind::Size => f.write_str("a size such as \"64 KB\" or \"10 packets\""),
            KeyKind::Word(words) => {
                f.write_str("one of ")?;
                for (i, word) in words.iter().enumerate() {
                    write!(f, "{}\"{word}\"", if i == 0 { "" } else { ", " })?;
                }
                Ok(())
            }
            KeyKind::Discipline => disciplines::allowed(f),
            KeyKind::Table(_) => f.write_str("a table"),
            KeyKind::Tables(_) => f.write_str("a list of tables"),
            KeyKind::Other(words) => f.write_str(words),
        }
    }
}

/// A key of the language.
#[derive(Debug)]
pub struct Key {
    /// Table of the key, see [`tables`].
    pub table: &'static str,
    /// Name as written in a file.
    pub name: &'static str,
    /// Allowed values.
    pub kind: KeyKind,
    /// Default value as a file would have it, from which readers take it. [`REQUIRED`] where the
    /// key must be given, and words in brackets where the default depends on other keys.
    pub default: &'static str,
    /// Kinds of topology, or metrics, that read the key; empty for all.
    pub applies: &'static [&'static str],
    /// Meaning of the key, in one or two sentences.
    pub doc: &'static str,
    /// An example of a value, as written.
    pub example: &'static str,
}

/// Default of a key that must be given.
pub const REQUIRED: &str = "(required)";

/// A table of the language.
#[derive(Debug)]
pub struct TableInfo {
    /// Name in [`Key::table`]; empty for the top of the file.
    pub name: &'static str,
    /// Heading in the reference: how a file writes the table.
    pub heading: &'static str,
    /// Purpose of the table.
    pub doc: &'static str,
    /// An example.
    pub example: &'static str,
}

const PARTS: &[&[Key]] = &[
    network::KEYS,
    pause::KEYS,
    varying::KEYS,
    traffic::KEYS,
    programs::KEYS,
    ensemble::KEYS,
    overlay::KEYS,
    checks::KEYS,
];

/// All keys, table by table.
pub fn keys() -> impl Iterator<Item = &'static Key> {
    PARTS.iter().flat_map(|part| part.iter()).chain(disciplines::keys())
}

/// All tables, in the order of the reference.
pub fn tables() -> impl Iterator<Item = &'static TableInfo> {
    let after =
        |name: &str| TABLES.iter().position(|table| table.name == name).map_or(0, |at| at + 1);
    let (properties, links) = (after("properties"), after("police"));
    let parts = [
        &TABLES[..properties],
        disciplines::tables(),
        &TABLES[properties..links],
        varying::TABLES,
        pause::TABLES,
        &TABLES[links..],
        programs::TABLES,
        ensemble::TABLES,
        CHECKS,
    ];
    parts.into_iter().flatten()
}

/// The key `name` of `table`.
pub(crate) fn find(table: &str, name: &str) -> Option<&'static Key> {
    keys().find(|key| key.table == table && key.name == name)
}

const fn table(
    name: &'static str,
    heading: &'static str,
    doc: &'static str,
    example: &'static str,
) -> TableInfo {
    TableInfo { name, heading, doc, example }
}

const TABLES: &[TableInfo] = &[
    table(
        "",
        "Top of the file",
        "Settings of the run, and the tables below.",
        "name     = \"Three flows join\"\nduration = \"30 s\"\nlaw      = \"xcp\"",
    ),
    table(
        "topology",
        "[topology]",
        "Nodes and links. `kind` decides which of the keys are read.",
        "[topology]\nkind       = \"dumbbell\"\npairs      = 3\n\
         bottleneck = { rate = \"1 Gbit/s\", delay = \"23 ms\", queue = \"1 bdp\" }\n\
         access     = { rate = \"10 Gbit/s\", delay = \"1 ms\" }",
    ),
    table(
        "properties",
        "Link properties",
        "Properties of links, in the link tables of `[topology]`, in `[[link]]`, and in \
         `reverse`. A cable is two one-way links with the same properties, each with its own queue.",
        "bottleneck = { rate = \"20 Mbit/s\", delay = \"10 ms\", loss = { random = 0.001 },\n\
         \x20              reverse = { rate = \"2 Mbit/s\" } }",
    ),
    table(
        "burst",
        "loss = { burst = { ... } }",
        "Losses in bursts: a Gilbert-Elliott channel, which may change its state after each packet.",
        "loss = { burst = { turn_bad = 0.001, turn_good = 0.1 } }",
    ),
    table(
        "reorder",
        "reorder = { ... }",
        "Packets that are delayed, so that later packets overtake them.",
        "reorder = { share = 0.01, delay = \"5 ms\" }",
    ),
    table(
        "police",
        "police = { ... }",
        "A policer, in memory that does not grow with the number of flows.",
        "police = { suspects = 256 }",
    ),
    table(
        "node",
        "[[node]]",
        "A node beside those of the topology, or several alike; all nodes of a custom topology.",
        "[[node]]\nname = \"a\"\nposition = [0, 1]\n\n[[node]]                # s1 to s8\nname = \"s*\"\ncount = 8",
    ),
    table(
        "link",
        "[[link]]",
        "A new link, with `between`, or with `from` and `to`. With `name` alone: a change to links of \
         the topology. The ends of new links may hold a `*`, as those of a `[[flow]]`. All link \
         properties are allowed.",
        "[[link]]\nbetween = [\"a\", \"b\"]\nrate = \"10 Mbit/s\"\ndelay = \"5 ms\"\n\n\
         [[link]]                # s1 to r1, s2 to r1 and so on\nbetween = [\"s*\", \"r1\"]\n\
         rate = \"1 Gbit/s\"\ndelay = \"1 ms\"\n\n[[link]]\nname = \"s1->r1\"\ndelay = \"40 ms\"",
    ),
    table(
        "path",
        "[[path]]",
        "The path of packets between two nodes, in place of the path with the shortest delay. (Among equally short paths the one with the fewest links is taken. Where several remain, each flow takes one of them.)",
        "[[path]]\nnodes = [\"s1\", \"r1\", \"r3\", \"r2\", \"d1\"]",
    ),
    table(
        "change",
        "[[change]]",
        "A change of a link at a time, or again and again with `every`.",
        "[[change]]\nat = \"10 s\"\nlink = \"bottleneck\"\nrate = \"5 Mbit/s\"",
    ),
    table(
        "options",
        "[options.LAW]",
        "Options of a law, for all flows and routers of the law and its variants; `ratewire explain LAW` lists them. LAW is a \
         law and not a variant; a variant's own options stand in `[variant.NAME]`.",
        "[options.xcp]\nalpha = 0.4\npacing = false",
    ),
    table(
        "variant",
        "[variant.NAME]",
        "A law with its own options under a new name. The name may stand wherever a law's name may: \
         in `law`, in `laws`, and after `--law`. The table holds `law` and options of that law. Options of \
         `[options.LAW]` apply too, and the variant's own options override them. There is no `[options.NAME]`.",
        "[variant.naive-xcp]\nlaw = \"xcp\"\nthroughput = \"cwnd\"",
    ),
    table(
        "multipath",
        "multipath = { ... }",
        "Paths of a flow's packets, where several have equal cost.",
        "multipath = { flowlet = \"500 us\" }",
    ),
    table(
        "transport",
        "[transport]",
        "Transport of the two ends of all flows. A flow or a class of traffic may have its own `transport` \
         table, whose keys override these.",
        "[transport]\npacket = \"1000 B\"\ndelayed_ack = \"40 ms\"",
    ),
    table(
        "receive_window",
        "receive_window = { ... }",
        "A receive window that grows by itself.",
        "receive_window = { initial = \"4 packets\", max = \"4 MB\" }",
    ),
    table(
        "flow",
        "[[flow]]",
        "A flow, or several alike. Each name may hold one `*`: `from = \"s*\", to = \"d*\"` makes a flow \
         from s1 to d1, from s2 to d2 and so on; `from = \"s*\", to = \"d1\"` makes one from every s.",
        "[[flow]]\nfrom = \"s*\"\nto = \"d*\"\nstagger = \"10 s\"",
    ),
    table(
        "lie",
        "lie = { ... }",
        "Dishonest hosts of a flow. A lie about a value that the law's headers do not carry has no effect, \
         and causes a warning.",
        "lie = { throughput = 0.25 }",
    ),
    table(
        "reader",
        "reader = { ... }",
        "A receiving application that reads slowly.",
        "reader = { per_frame = [\"100 us\", \"750 us\"], every = \"5 s\" }",
    ),
    table(
        "on_off",
        "app = { on_off = { ... } }",
        "Bursts with pauses between them.",
        "app = { on_off = { burst = \"1 MB\", pause = \"2 s\" } }",
    ),
    table(
        "random_burst",
        "burst = { ... }",
        "The distribution of bursts, each of which is drawn anew: one of these keys.",
        "app = { on_off = { burst = { exponential = \"500 KB\" }, pause = \"1 s\" } }",
    ),
    table(
        "random_pause",
        "pause = { ... }",
        "The distribution of pauses, each of which is drawn anew: one of these keys.",
        "app = { on_off = { burst = \"500 KB\", pause = { exponential = \"1 s\" } } }",
    ),
    table(
        "pareto_pause",
        "pause = { pareto = { ... } }",
        "A Pareto distribution of pauses.",
        "app = { on_off = { burst = \"500 KB\", pause = { pareto = { shape = 1.5, mean = \"1 s\" } } } }",
    ),
    table(
        "phase",
        "app = { phases = [{ ... }, ...] }",
        "What an application writes, one phase after the other on one connection. Data that was written is still sent in \
         the next phase; unlimited data that has not been sent by then is not.",
        "app = { phases = [{ app = { constant = { rate = \"100 kbit/s\" } }, lasts = \"5 s\" }, { app = \"unlimited\" }] }",
    ),
    table(
        "constant",
        "app = { constant = { ... } }",
        "A frame at a constant interval.",
        "app = { constant = { rate = \"2 Mbit/s\" } }",
    ),
    table(
        "traffic",
        "[[traffic]]",
        "Flows that arrive during the run, each with an amount of data.",
        "[[traffic]]\nload  = { link = \"bottleneck\", fraction = 0.6 }\n\
         sizes = { cdf = \"websearch.txt\" }",
    ),
    table(
        "arrivals",
        "arrivals = { ... }",
        "Arrival times of flows: one of these keys.",
        "arrivals = { poisson = \"5 /s\" }",
    ),
    table(
        "load",
        "load = { ... }",
        "Poisson arrivals at the rate that makes the load. A flow loads a link with its mean size and the \
         headers of its packets. Congestion headers do not count, so that every law gets the same flows.",
        "load = { link = \"bottleneck\", fraction = 0.6 }",
    ),
    table(
        "sizes",
        "sizes = { ... }",
        "Payload of arriving flows: one of these keys.",
        "sizes = { fixed = \"100 KB\" }",
    ),
    table(
        "pareto",
        "sizes = { pareto = { ... } }",
        "A Pareto distribution, of sizes or of bursts.",
        "sizes = { pareto = { shape = 1.4, mean = \"100 packets\" } }",
    ),
    table(
        "lognormal",
        "sizes = { lognormal = { ... } }",
        "A log-normal distribution.",
        "sizes = { lognormal = { mean = \"50 KB\", sigma = 1.5 } }",
    ),
    table(
        "overlay",
        "[overlay]",
        "Cost-benefit multicast over connections between hosts (Amir and others, CNDS-2001-1). Each node \
         prices its links by their backlog, and clients pay for their messages out of a salary. \
         Nodes never drop messages; a client that cannot pay is blocked. Clients are not hosts of the network: \
         each has a line of rate `access` to its node.",
        "[overlay]\nnodes = [\"a\", \"b\", \"c\"]\nlaw   = \"newreno\"",
    ),
    table(
        "group",
        "[[group]]",
        "A group of clients of an overlay, and the clients that send to it.",
        "[[group]]\nname      = \"ace\"\nsenders   = [[\"a\", 20]]\nreceivers = [\"c\", \"e\"]",
    ),
    table(
        "fault",
        "[[fault]]",
        "A failure of a node or a link of an overlay, or its end. The daemons that can reach each other \
         change to a new view, and what daemons owed others that do not come along is lost. \
         Daemons of an overlay with faults keep copies of messages, and tell each other once a \
         second which messages they have. The optimum does not know of faults.",
        "[[fault]]\nat   = \"10 s\"\nkind = \"crash\"\nnode = \"b\"\n\n[[fault]]\nat   = \"20 s\"\nkind = \"cut\"\nlink = [\"a\", \"c\"]",
    ),
];

/// Tables of recording and checking, which come last in the reference.
const CHECKS: &[TableInfo] = &[
    table("record", "[record]", "Sampling.", "[record]\ninterval = \"10 ms\""),
    table(
        "expect",
        "[[expect]]",
        "An expectation: a metric, its target, its window and its bound (`min`, `max`, or both; or `equals` \
         with `tolerance`). `ratewire check` checks runs against it. An expectation without samples fails.",
        "[[expect]]\nmetric = \"utilisation\"\nlink   = \"bottleneck\"\nduring = \"5 s .. 30 s\"\nmin    = 0.98\nsource = \"thesis, figure 7\"",
    ),
    table(
        "emulated",
        "emulated = { ... }",
        "The bound that emulated runs must meet in place of the expectation's own: headers of real packets, kernels and \
         processes give another value. Simulated runs do not know it.",
        "emulated = { equals = \"31.9 Mbit/s\", tolerance = \"3 %\", basis = \"derived\", cause = \"52 bytes of headers for 40\" }",
    ),
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_key_stands_in_a_table_once_and_is_documented() {
        for key in keys() {
            let place = format!("{}.{}", key.table, key.name);
            assert!(tables().any(|table| table.name == key.table), "{place}");
            let same = keys().filter(|other| other.table == key.table && other.name == key.name);
            assert_eq!(same.count(), 1, "{place}");
            assert!(key.doc.ends_with('.') && !key.example.is_empty(), "{place}");
            if let KeyKind::Table(name) | KeyKind::Tables(name) = key.kind {
                assert!(tables().any(|table| table.name == name), "{place}");
            }
        }
    }
}
