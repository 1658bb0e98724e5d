//! Keys of programs at hosts.

use super::{Key, KeyKind, REQUIRED, TableInfo, key, table};

const USER_DEFAULT: &str = "(the user who called sudo, or else nobody)";
const USER: &str = "User of this machine that the program runs as. Any other than the user who called `sudo` must also be allowed on the command line: `--allow-user NAME`.";
const ROOT: &str = "Short for `user = \"root\"`: the program runs with all rights over this machine. It needs `--allow-user root`.";

#[rustfmt::skip]
pub(super) const KEYS: &[Key] = &[
    key("", "program", KeyKind::Tables("program"), "(none)", "Programs at hosts.", "[{ host = \"d1\", run = \"iperf3 -s\" }]"),

    key("flow", "run", KeyKind::Text, "(our own sender)", "Program that sends the flow's data in an emulated run. It is given to a shell of the host `run_at` with the rights of `user`, and starts at `start`. Hosts reach each other by their nodes' names. In a simulated run the other keys describe the flow.", "\"iperf3 -c d1 -t 20\""),
    key("flow", "run_at", KeyKind::Word(&["from", "to"]), "from", "Host that runs the program: `to` for a program that fetches data.", "\"to\""),
    key("flow", "user", KeyKind::Text, USER_DEFAULT, USER, "\"alice\""),
    key("flow", "root", KeyKind::Switch, "false", ROOT, "true"),

    key("program", "host", KeyKind::Text, REQUIRED, "Node that the program runs at.", "\"d1\""),
    key("program", "run", KeyKind::Text, REQUIRED, "Command of the program, given to a shell of this machine, with the rights of `user`. The program is killed when the run ends.", "\"iperf3 -s\""),
    key("program", "start", KeyKind::Time, "(before anything is sent)", "Time at which the program starts.", "\"5 s\""),
    key("program", "user", KeyKind::Text, USER_DEFAULT, USER, "\"alice\""),
    key("program", "root", KeyKind::Switch, "false", ROOT, "true"),
];

pub(super) const TABLES: &[TableInfo] = &[table(
    "program",
    "[[program]]",
    "A program at a host, such as a server. It runs in the emulated world only (`--world emulate`), on this machine with its \
     files. It runs as the user who called `sudo`, or as `nobody` if root did not use `sudo`. `ratewire run --dry-run` lists \
     the programs of a scenario and their users, and starts none.",
    "[[program]]\nhost = \"d1\"\nrun  = \"iperf3 -s\"\n\n\
     [[flow]]\nfrom = \"s1\"\nto   = \"d1\"\nrun  = \"iperf3 -c d1 -t 20\"",
)];
