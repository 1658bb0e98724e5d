//! Keys of programs at hosts.

use super::{Key, Kind, REQUIRED, TableInfo, key, table};

#[rustfmt::skip]
pub(super) const KEYS: &[Key] = &[
    key("", "program", Kind::Tables("program"), "(none)", "Programs at hosts.", "[{ host = \"d1\", run = \"iperf3 -s\" }]"),

    key("flow", "run", Kind::Text, "(our own sender)", "Emulated, the flow's data is what this program sends, given to a shell of the host `run_at`, and starts at `start`. Hosts reach each other by their nodes' names. Simulated, the flow is as the other keys say.", "\"iperf3 -c d1 -t 20\""),
    key("flow", "run_at", Kind::Word(&["from", "to"]), "from", "Which of the two hosts runs it: `to` for a program that fetches.", "\"to\""),

    key("program", "host", Kind::Text, REQUIRED, "The node it runs at.", "\"d1\""),
    key("program", "run", Kind::Text, REQUIRED, "What is run, given to a shell. It is killed when the run ends.", "\"iperf3 -s\""),
    key("program", "start", Kind::Time, "(before anything is sent)", "When it starts.", "\"5 s\""),
];

pub(super) const TABLES: &[TableInfo] = &[table(
    "program",
    "[[program]]",
    "A program at a host, such as a server. It runs in the emulated world only (`--world emulate`).",
    "[[program]]\nhost = \"d1\"\nrun  = \"iperf3 -s\"\n\n\
     [[flow]]\nfrom = \"s1\"\nto   = \"d1\"\nrun  = \"iperf3 -c d1 -t 20\"",
)];
