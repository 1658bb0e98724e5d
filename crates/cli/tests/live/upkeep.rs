//! What stays and what does not: killed commands, units of systemd, who has no rights.

use std::path::Path;
use std::process::{Command, Stdio};
use std::thread::sleep;
use std::time::{Duration, Instant};

use crate::lab::Lab;

const PINS: &str = "/sys/fs/bpf/ratewire";

/// What is in the kernel of a law: its name, pins, and the filters of the router's interface.
fn left(lab: &Lab) -> Vec<String> {
    let names = std::fs::read_to_string("/proc/sys/net/ipv4/tcp_available_congestion_control");
    let names = names.expect("a kernel says");
    let names = names.split_whitespace().filter(|name| name.starts_with("rw_"));
    let mut left: Vec<String> = names.map(str::to_string).collect();
    left.extend(Path::new(PINS).exists().then(|| PINS.to_string()));
    let filters =
        ["-n", &lab.netns("r"), "filter", "show", "dev", "right", "egress"].map(str::to_string);
    let filters = Command::new("tc").args(filters).output().expect("tc").stdout;
    left.extend((!filters.is_empty()).then(|| String::from_utf8_lossy(&filters).into_owned()));
    left
}

/// Killed at whatever moment, neither command leaves what `detach` does not remove.
#[test]
fn what_a_killed_command_leaves_is_detached() {
    let Some(lab) = Lab::build("kill") else { return };
    let cgroup = lab.cgroup.to_str().expect("a plain path");
    let router = ["live", "router", "--iface", "right", "--law", "xcp", "--capacity", "98mbit"];
    let host = ["live", "host", "--law", "xcp", "--cgroup", cgroup];
    let qdiscs = || {
        let args = ["-n", &lab.netns("r"), "qdisc", "show"].map(str::to_string);
        Command::new("tc").args(args).output().expect("tc").stdout
    };
    let (before, mut left_something) = (qdiscs(), 0);
    for args in [&router[..], &host[..]] {
        // The last is let end: what it leaves does not depend on how fast the machine is.
        for wait in (0..300).step_by(20).map(Duration::from_millis).map(Some).chain([None]) {
            let mut command = lab
                .at("r", env!("CARGO_BIN_EXE_ratewire"))
                .args(args)
                .stdout(Stdio::null())
                .stderr(Stdio::null())
                .spawn()
                .expect("it starts");
            if let Some(wait) = wait {
                sleep(wait);
                command.kill().expect("it can be killed, or has ended");
            }
            command.wait().expect("it ends");
            left_something += u32::from(!left(&lab).is_empty());
            lab.live(&["detach"]);
            // The kernel lets go of what a process had a moment after it.
            let start = Instant::now();
            while !left(&lab).is_empty() && start.elapsed() < Duration::from_secs(5) {
                sleep(Duration::from_millis(10));
            }
            assert_eq!(left(&lab), Vec::<String>::new(), "{args:?}, killed after {wait:?}");
            assert_eq!(qdiscs(), before, "{args:?}, killed after {wait:?}");
        }
    }
    assert!(left_something >= 2, "what is attached was not seen");
}

/// What the units of systemd start and stop, with the variables that their comments name.
#[test]
fn the_units_attach_and_detach() {
    let Some(lab) = Lab::build("units") else { return };
    let units = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../systemd");
    let cgroup = format!("--cgroup={}", lab.cgroup.display());
    for (unit, variables, attached) in [
        ("ratewire-host.service", vec![("LAW", "rcp"), ("CGROUP", &cgroup)], "connections by rcp"),
        (
            "ratewire-router@.service",
            vec![("LAW", "xcp"), ("CAPACITY", "98mbit"), ("QUEUE", "backlog")],
            "right      xcp",
        ),
    ] {
        let text = std::fs::read_to_string(units.join(unit)).expect("a unit");
        let run = |key: &str| {
            let line = text.lines().find_map(|line| line.strip_prefix(key));
            let line = line.unwrap_or_else(|| panic!("{unit} has no {key}"));
            let line = line.replace("%I", "right");
            let line = line.replace("/usr/local/bin/ratewire", env!("CARGO_BIN_EXE_ratewire"));
            let mut command = lab.at("r", "sh");
            let done = command.args(["-ec", &line]).envs(variables.clone()).output();
            let done = done.expect("a shell");
            assert!(done.status.success(), "{line}: {}", String::from_utf8_lossy(&done.stderr));
        };
        run("ExecStart=");
        assert!(lab.live(&["status"]).contains(attached), "{unit}: {}", lab.live(&["status"]));
        run("ExecStop=");
        assert_eq!(lab.live(&["status"]), "nothing is attached\n", "{unit}");
    }
}

/// As systemd reads them.
#[test]
fn the_units_are_sound() {
    if Command::new("systemd-analyze").arg("--version").output().is_err() {
        let required = std::env::var("RATEWIRE_REQUIRE_TOOLS").is_ok_and(|v| v == "1");
        assert!(!required, "RATEWIRE_REQUIRE_TOOLS=1, but systemd-analyze is not installed");
        return eprintln!("skipped: systemd-analyze is not installed (apt-get install systemd)");
    }
    let units = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../systemd");
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("units");
    std::fs::create_dir_all(&folder).expect("a folder");
    for unit in ["ratewire-host.service", "ratewire-router@.service"] {
        let text = std::fs::read_to_string(units.join(unit)).expect("a unit");
        // Where the command is meant to be installed it may not be.
        let text = text.replace("/usr/local/bin/ratewire", env!("CARGO_BIN_EXE_ratewire"));
        let copy = folder.join(unit);
        std::fs::write(&copy, text).expect("a copy");
        let done = Command::new("systemd-analyze").args(["verify", "--man=no"]).arg(&copy).output();
        let done = done.expect("it starts");
        let said = String::from_utf8_lossy(&done.stderr);
        assert!(done.status.success() && said.is_empty(), "{unit}: {said}");
    }
}

#[test]
fn who_is_not_root_is_told_and_changes_nothing() {
    let Some(lab) = Lab::build("nobody") else { return };
    // Where others may not enter, the command is not found, and the test would prove nothing.
    let copy = std::env::temp_dir().join(format!("ratewire-{}", lab.tag));
    std::fs::copy(env!("CARGO_BIN_EXE_ratewire"), &copy).expect("a copy");
    let cases =
        ["router --iface right --law xcp --capacity 1gbit", "host --law xcp", "status", "detach"];
    let done = cases.map(|args| {
        let mut command = lab.at("r", "setpriv");
        command.args(["--reuid", "65534", "--clear-groups"]).arg(&copy).arg("live");
        command.args(args.split(' ')).output().expect("it starts")
    });
    std::fs::remove_file(&copy).expect("it is there");
    for (args, done) in cases.iter().zip(done) {
        let said = String::from_utf8_lossy(&done.stderr);
        assert_eq!(done.status.code(), Some(5), "{args}: {said}");
        assert!(
            said.contains("the kernel lets only root do this\n  help: run it with sudo"),
            "{said}"
        );
    }
    assert_eq!(left(&lab), Vec::<String>::new());
}
