//! Files that a user names: regular files up to a limit, and nothing else.

mod common;

use std::fs::File;
use std::os::unix::fs::symlink;
use std::path::Path;
use std::process::{Command, Output};

use common::{HELLO, err, folder, out, ratewire, write};

/// Runs the command with bounded time and memory: a file without an end must exhaust neither.
fn bounded(folder: &Path, args: &[&str]) -> Output {
    let script = "ulimit -v 8000000; exec timeout 60 \"$0\" \"$@\"";
    let program = env!("CARGO_BIN_EXE_ratewire");
    let all: Vec<&str> = ["-c", script, program].into_iter().chain(args.iter().copied()).collect();
    ratewire_testing::run("sh", folder, &all)
}

#[test]
fn what_is_no_regular_file_is_refused_at_once() {
    let folder = folder("no-regular-file");
    write(&folder, "hello.toml", HELLO);
    for end in ["toml", "so", "html"] {
        symlink("/dev/zero", folder.join(format!("zero.{end}"))).expect("a link");
        let pipe = folder.join(format!("pipe.{end}"));
        let made = Command::new("mkfifo").arg(pipe).status().expect("mkfifo starts");
        assert!(made.success());
    }
    for kind in ["zero", "pipe"] {
        let file = |end: &str| format!("./{kind}.{end}");
        let [scenario, law, page] = ["toml", "so", "html"].map(file);
        for (args, named) in [
            (&["run", &scenario][..], &scenario),
            (&["check", &scenario], &scenario),
            (&["check", "--syntax", &scenario], &scenario),
            (&["compare", &scenario], &scenario),
            (&["sweep", &scenario, "--set", "bottleneck.rate=1M,2M"], &scenario),
            (&["run", "hello.toml", "--law", &law], &law),
            (&["check-law", &law], &law),
            (&["plot", &page, "queue", "--out", "queue.svg"], &page),
        ] {
            let done = bounded(&folder, args);
            assert_eq!(done.status.code(), Some(3), "{args:?}: {}", err(&done));
            for said in ["not a regular file", named, "copy its content into a regular file"] {
                assert!(err(&done).contains(said), "{said} of {args:?}: {}", err(&done));
            }
        }
    }
}

#[test]
fn a_file_that_is_too_long_is_refused_with_the_limit() {
    let folder = folder("too-long-file");
    let long = |name: &str, length| {
        File::create(folder.join(name)).and_then(|file| file.set_len(length)).expect("a file");
    };
    long("long.toml", (64 << 20) + 1);
    long("long.so", (256 << 20) + 1);
    for (args, limit) in [
        (&["run", "long.toml"][..], "longer than 64 MiB"),
        (&["check", "long.toml"], "longer than 64 MiB"),
        (&["check-law", "./long.so"], "longer than 256 MiB"),
    ] {
        let done = bounded(&folder, args);
        assert!(!done.status.success(), "{args:?}");
        assert!(err(&done).contains(limit), "{limit} of {args:?}: {}", err(&done));
    }
}

/// A redirection from a regular file makes one of `/dev/stdin`.
#[test]
fn a_scenario_may_come_by_a_redirection_from_a_file() {
    let folder = folder("redirected");
    write(&folder, "hello.toml", HELLO);
    let script = "exec \"$0\" run --no-files /dev/stdin < hello.toml";
    let args = ["-c", script, env!("CARGO_BIN_EXE_ratewire")];
    let done = ratewire_testing::run("sh", &folder, &args);
    assert!(done.status.success(), "{}", err(&done));
    let named = ratewire(&folder, &["run", "--no-files", "hello.toml"]);
    assert_eq!(out(&done).lines().count(), out(&named).lines().count());
}
