//! The limit of open files.

use std::path::Path;

use ratewire_testing::port;

use super::common::{PROGRAM, folder, one_member};
use super::processes::Process;

/// Starts the program with limits of open files as `ulimit` sets them.
fn start(folder: &Path, ulimit: &str, args: &str) -> Process {
    let command = format!("ulimit {ulimit}; exec {PROGRAM} {args}");
    Process::of("sh", folder, &["-c", &command])
}

/// The soft limit of open files, and the hard one.
fn limits(process: &Process) -> (String, String) {
    let all = std::fs::read_to_string(format!("/proc/{}/limits", process.id())).expect("limits");
    let line = all.lines().find_map(|line| line.strip_prefix("Max open files"));
    let mut limits = line.expect("a limit").split_whitespace().map(str::to_string);
    (limits.next().expect("a limit"), limits.next().expect("a limit"))
}

/// A folder with keys and a switch.toml, and the arguments of all programs that run for long.
fn programs(name: &str) -> (std::path::PathBuf, [(String, &'static str); 4]) {
    let folder = folder(name);
    let [switch, status, member, server, gateway] =
        [(); 5].map(|()| format!("127.0.0.1:{}", port()));
    one_member(&folder, [&switch, &status, &member]);
    let programs = [
        ("run".to_string(), "status served"),
        (format!("member --framing http1 --listen {member} --server {server}"), "switches served"),
        (format!("gateway --framing http1 --listen {gateway} --switch {switch}"), "clients served"),
        (format!("proxy --framing http1 --listen 127.0.0.1:0 {server}"), "clients served"),
    ];
    (folder, programs)
}

#[test]
fn programs_that_run_for_long_raise_the_limit_of_open_files() {
    let (folder, programs) = programs("switch-files");
    for (args, ready) in programs {
        let mut process = start(&folder, "-Sn 100", &args);
        process.logged(ready);
        let (soft, hard) = limits(&process);
        assert!(soft == hard && soft != "100", "{args}: {soft} of {hard}");
    }
}

#[test]
fn a_small_limit_of_open_files_is_warned_of() {
    let (folder, programs) = programs("switch-few-files");
    let few_clients = "fewer clients than --clients: raise its hard limit: ulimit -Hn";
    let few_connections = "few connections with a server: raise its hard limit: ulimit -Hn";
    let warnings = [&[][..], &[few_connections], &[few_clients], &[few_clients, few_connections]];
    for ((args, ready), warnings) in programs.iter().zip(warnings) {
        let mut process = start(&folder, "-n 300", args);
        for warning in warnings {
            let told = process.logged(warning);
            assert!(told.contains("limit=300"), "{told}");
        }
        process.logged(ready);
        assert_eq!(process.end(), Some(0), "{args}");
    }
}
