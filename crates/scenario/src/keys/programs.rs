//! Keys of programs at hosts.

use super::{Key, Kind, REQUIRED, TableInfo, key, table};

const USER_DEFAULT: &str = "(who called sudo, or else nobody)";
const USER: &str = "The user of this machine that the program runs as. One who did not call `sudo` has to be allowed on the command line too: `--allow-user NAME`.";
const ROOT: &str = "Short for `user = \"root\"`: the program runs with all rights over this machine. It needs `--allow-user root`.";

#[rustfmt::skip]
pub(super) const KEYS: &[Key] = &[
    key("", "program", Kind::Tables("program"), "(none)", "Programs at hosts.", "[{ host = \"d1\", run = \"iperf3 -s\" }]"),

    key("flow", "run", Kind::Text, "(our own sender)", "Emulated, the flow's data is what this program sends, given to a shell of the host `run_at` with the rights of `user`, and starts at `start`. Hosts reach each other by their nodes' names. Simulated, the flow is as the other keys say.", "\"iperf3 -c d1 -t 20\""),
    key("flow", "run_at", Kind::Word(&["from", "to"]), "from", "Which of the two hosts runs it: `to` for a program that fetches.", "\"to\""),
    key("flow", "user", Kind::Text, USER_DEFAULT, USER, "\"alice\""),
    key("flow", "root", Kind::Switch, "false", ROOT, "true"),

    key("program", "host", Kind::Text, REQUIRED, "The node it runs at.", "\"d1\""),
    key("program", "run", Kind::Text, REQUIRED, "What is run, given to a shell of this machine, with the rights of `user`. It is killed when the run ends.", "\"iperf3 -s\""),
    key("program", "start", Kind::Time, "(before anything is sent)", "When it starts.", "\"5 s\""),
    key("program", "user", Kind::Text, USER_DEFAULT, USER, "\"alice\""),
    key("program", "root", Kind::Switch, "false", ROOT, "true"),
];

pub(super) const TABLES: &[TableInfo] = &[table(
    "program",
    "[[program]]",
    "A program at a host, such as a server. It runs in the emulated world only (`--world emulate`): on this machine and its \
     files, as the user who called `sudo`, or as `nobody` where root did not come by `sudo`. `ratewire run --dry-run` lists \
     what a scenario runs and as whom, and starts nothing.",
    "[[program]]\nhost = \"d1\"\nrun  = \"iperf3 -s\"\n\n\
     [[flow]]\nfrom = \"s1\"\nto   = \"d1\"\nrun  = \"iperf3 -c d1 -t 20\"",
)];
