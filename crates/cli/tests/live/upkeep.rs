//! Remains of killed commands, units of systemd, and users without rights.

use std::collections::BTreeSet;
use std::os::unix::fs::MetadataExt;
use std::path::Path;
use std::process::{Command, Stdio};
use std::thread::sleep;
use std::time::{Duration, Instant};

use crate::lab::Lab;

const PINS: &str = "/sys/fs/bpf/ratewire";

/// Parts of a law in the kernel: its name, its pins, and the filters of the router's interface.
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

/// A command killed at any time leaves nothing that `detach` does not remove, and `detach` removes
/// nothing else.
#[test]
fn what_a_killed_command_leaves_is_detached() {
    let Some(lab) = Lab::build("kill") else { return };
    let cgroup = lab.cgroup.to_str().expect("a plain path");
    let router = ["live", "router", "--iface", "right", "--law", "xcp", "--capacity", "98mbit"];
    let host = ["live", "host", "--law", "xcp", "--cgroup", cgroup];
    let qdisc = |args: &str| {
        let mut tc = Command::new("tc");
        tc.args(["-n", &lab.netns("r"), "qdisc"]).args(args.split(' '));
        tc.output().expect("tc").stdout
    };
    let mut left_something = 0;
    for (args, has_hook) in [(&router[..], false), (&router, true), (&host, false)] {
        if has_hook {
            qdisc("add dev right clsact");
        }
        let before = qdisc("show");
        // The last command may finish, so that its remains do not depend on the machine's speed.
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
            // The kernel releases a process's objects a moment after the process.
            let start = Instant::now();
            while !left(&lab).is_empty() && start.elapsed() < Duration::from_secs(5) {
                sleep(Duration::from_millis(10));
            }
            assert_eq!(left(&lab), Vec::<String>::new(), "{args:?}, killed after {wait:?}");
            assert_eq!(qdisc("show"), before, "{args:?}, killed after {wait:?}");
        }
        if has_hook {
            qdisc("del dev right clsact");
        }
    }
    assert!(left_something >= 3, "what is attached was not seen");
}

/// State after an `attach` that was killed between two steps: `status` reports it, and `detach`
/// removes it.
#[test]
fn what_was_left_halfway_is_reported_and_detached() {
    let Some(lab) = Lab::build("half") else { return };
    let netns = std::fs::metadata(format!("/var/run/netns/{}", lab.netns("r"))).expect("its file");
    let prefix = format!("{}-", netns.ino());
    // The folder's name also contains the namespace's cookie.
    let port = || {
        let folders = std::fs::read_dir(PINS).expect("it is attached").flatten();
        let is_own = |name: &str| name.starts_with(&prefix);
        let mut own = folders.filter(|folder| folder.file_name().to_str().is_some_and(is_own));
        own.next().expect("the namespace's folder").path()
    };
    let host = Path::new(PINS).join("host-rw_rcp");
    let without_its_filter = || {
        lab.sh(&format!("tc -n {} filter del dev right egress", lab.netns("r")));
    };
    let without = |pinned: &Path| match pinned.is_dir() {
        true => std::fs::remove_dir_all(pinned).expect("what is pinned there"),
        false => std::fs::remove_file(pinned).expect("it is pinned"),
    };
    let detach_port = "ratewire live detach --iface right";
    let detach_hosts = "ratewire live detach --hosts";
    for (what, remedy, kill) in [
        ("right", detach_port, &(|| without(&port())) as &dyn Fn()),
        ("right", detach_port, &without_its_filter),
        ("rw_rcp", detach_hosts, &|| without(&host.join("counters"))),
        ("rw_rcp", detach_hosts, &|| {
            ["counters", "option", "control"].iter().for_each(|pin| without(&host.join(pin)))
        }),
    ] {
        lab.attach("rcp");
        assert!(!lab.live(&["status"]).contains("half attached"), "{}", lab.live(&["status"]));
        kill();
        let said = lab.live(&["status"]);
        assert!(said.contains(&format!("{what}: half attached, ")), "{said}");
        assert!(said.contains(&format!("  help: `{remedy}`\n")), "{said}");
        let is_port = what == "right";
        assert_eq!(said.contains("connections by rcp"), is_port, "what is whole: {said}");
        assert_eq!(said.contains("right      rcp"), !is_port, "what is whole: {said}");
        let samples = lab.live(&["status", "--format", "prometheus"]);
        assert!(
            samples.contains(&format!("ratewire_half_attached{{what=\"{what}\"}} 1\n")),
            "{samples}"
        );
        let done = lab.ratewire(&remedy.split(' ').skip(1).collect::<Vec<_>>());
        assert_eq!(String::from_utf8_lossy(&done.stdout), format!("detached: {what}\n"));
        assert!(!lab.live(&["status"]).contains("half attached"), "{}", lab.live(&["status"]));
        lab.live(&["detach"]);
        assert_eq!(left(&lab), Vec::<String>::new(), "{what}");
    }
}

/// A filter that a killed command left is removed when a port is attached again.
#[test]
fn a_hook_that_a_killed_command_made_does_not_pass_for_anothers() {
    let Some(lab) = Lab::build("hook") else { return };
    let qdiscs = || {
        let mut tc = Command::new("tc");
        tc.args(["-n", &lab.netns("r"), "qdisc", "show", "dev", "right"])
            .output()
            .expect("tc")
            .stdout
    };
    let before = qdiscs();
    for has_hook in [false, true] {
        let tc = format!("tc -n {}", lab.netns("r"));
        if has_hook {
            lab.sh(&format!("{tc} qdisc add dev right clsact"));
        }
        let found = qdiscs();
        lab.attach("rcp");
        // State of a command killed between the two steps.
        lab.sh(&format!("{tc} filter del dev right egress"));
        lab.live(&["detach", "--hosts"]);
        lab.attach("rcp");
        lab.live(&["detach"]);
        assert_eq!(qdiscs(), found, "{has_hook}");
        if has_hook {
            lab.sh(&format!("{tc} qdisc del dev right clsact"));
        }
    }
    assert_eq!(qdiscs(), before);
}

/// Commands that the units of systemd start and stop, with the variables that their comments name.
#[test]
fn the_units_attach_and_detach() {
    let Some(lab) = Lab::build("units") else { return };
    let units = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../systemd");
    let cgroup = format!("--cgroup={}", lab.cgroup.display());
    let of_host = vec![
        ("LAW", "rcp"),
        ("CGROUP", &*cgroup),
        ("IFACE", "--iface=right"),
        ("DESIRED", "--desired=90mbit"),
    ];
    let with_mode = vec![("LAW", "noq"), ("CGROUP", &*cgroup), ("MODE", "--mode=force")];
    let options = "--option=aging=0 --option=pacing=false";
    let with_options = vec![("LAW", "xcp"), ("CGROUP", &*cgroup), ("OPTION", options)];
    for (unit, variables, attached) in [
        ("ratewire-host.service", of_host, "connections by rcp"),
        ("ratewire-host.service", with_options, "connections by xcp"),
        ("ratewire-host.service", with_mode, "connections by noq"),
        (
            "ratewire-router@.service",
            vec![
                ("LAW", "xcp"),
                ("CAPACITY", "98mbit"),
                ("QUEUE", "backlog"),
                ("OPTION", "--option=alpha=0.3 --option=min_interval=10ms"),
                ("POLICE", "--police=suspects=16,tolerance=0.1"),
            ],
            "police of right: 0 flows watched",
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

/// `make install` puts programs where the installed units start them.
#[test]
fn what_is_installed_is_where_the_units_look() {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("installed");
    let _ = std::fs::remove_dir_all(&folder);
    let own = env!("CARGO_BIN_EXE_ratewire");
    for other in ["ratewire-groups", "ratewire-switch"] {
        ratewire_testing::program_beside(own, other);
    }
    let built = Path::new(own).parent().expect("a folder");
    let done = Command::new("make")
        .args(["-C", concat!(env!("CARGO_MANIFEST_DIR"), "/../.."), "install", "PREFIX=/opt/rw"])
        .arg(format!("BUILT_IN={}", built.display()))
        .arg(format!("DESTDIR={}", folder.display()))
        .output();
    let Ok(done) = done else { return eprintln!("skipped: make is not installed") };
    assert!(done.status.success(), "{}", String::from_utf8_lossy(&done.stderr));
    for (unit, program) in [
        ("ratewire-host.service", "ratewire"),
        ("ratewire-router@.service", "ratewire"),
        ("ratewire-noq@.service", "ratewire"),
        ("ratewire-groups.service", "ratewire-groups"),
        ("ratewire-switch.service", "ratewire-switch"),
    ] {
        let text = std::fs::read_to_string(folder.join("etc/systemd/system").join(unit));
        let text = text.expect("a unit");
        let lines = text.lines().filter(|line| line.starts_with("Exec"));
        // A plus gives a command all rights.
        let commands = lines.filter_map(|line| line.split_once('=')?.1.split(' ').next());
        let commands = commands.map(|command| command.trim_start_matches('+'));
        let commands: BTreeSet<&str> = commands.filter(|path| !path.starts_with("/bin/")).collect();
        let place = format!("/opt/rw/bin/{program}");
        assert_eq!(commands, BTreeSet::from([place.as_str()]), "{unit}");
        let installed = folder.join(&place[1..]);
        let version = Command::new(&installed).arg("--version").output().expect("it can be run");
        assert!(version.status.success(), "{unit}");
    }
    let share = folder.join("opt/rw/share");
    for file in [
        "man/man1/ratewire-live-host.1",
        "man/man1/ratewire-groups-daemon.1",
        "man/man1/ratewire-switch-run.1",
        "bash-completion/completions/ratewire-groups",
        "bash-completion/completions/ratewire",
        "zsh/site-functions/_ratewire",
        "fish/vendor_completions.d/ratewire.fish",
    ] {
        assert!(share.join(file).exists(), "{file}");
    }
    // The copy would be as large as all other test files together.
    std::fs::remove_dir_all(&folder).expect("it is ours");
}

/// Reads units as systemd does.
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
    let only_noq = ["--upstream", "--obey", "--xoff", "--xon", "--room"];
    for (unit, command, of_others) in [
        ("ratewire-host.service", "host", &[][..]),
        ("ratewire-router@.service", "router", &only_noq),
        ("ratewire-noq@.service", "router", &["--queue", "--option", "--police"]),
    ] {
        let text = std::fs::read_to_string(units.join(unit)).expect("a unit");
        every_option_can_be_given(&text, command, of_others);
        // The command may not be installed at the place that the units name.
        let text = text.replace("/usr/local/bin/ratewire", env!("CARGO_BIN_EXE_ratewire"));
        let copy = folder.join(unit);
        std::fs::write(&copy, text).expect("a copy");
        let done = Command::new("systemd-analyze").args(["verify", "--man=no"]).arg(&copy).output();
        let done = done.expect("it starts");
        let said = String::from_utf8_lossy(&done.stderr);
        // systemd may report many problems of the machine's own units, and even fail because of
        // them.
        let of_ours: Vec<&str> = said.lines().filter(|line| line.contains("ratewire-")).collect();
        assert_eq!(of_ours, Vec::<&str>::new());
    }
}

/// Each command option that a unit uses is in its line, or in a variable that the comments
/// document, but for those of other units.
fn every_option_can_be_given(unit: &str, command: &str, of_others: &[&str]) {
    let help =
        Command::new(env!("CARGO_BIN_EXE_ratewire")).args(["live", command, "--help"]).output();
    let help = String::from_utf8(help.expect("it starts").stdout).expect("text");
    let start =
        unit.lines().find_map(|line| line.strip_prefix("ExecStart=")).expect("what it starts");
    let comments: String = unit.lines().filter(|line| line.starts_with('#')).collect();
    let words = help.split_whitespace().filter(|word| word.starts_with("--") && *word != "--help");
    let options: BTreeSet<&str> = words.collect();
    assert!(options.len() >= 4, "{help}");
    assert!(of_others.iter().all(|option| options.contains(option)), "{help}");
    for option in options.into_iter().filter(|option| !of_others.contains(option)) {
        let variable = option.trim_start_matches('-').to_uppercase();
        let by_variable = comments.contains(&format!("{variable}={option}="))
            && start.split(' ').any(|word| word == format!("${variable}"));
        assert!(by_variable || start.contains(&format!(" {option} ")), "{option}: {start}");
    }
}

#[test]
fn who_is_not_root_is_refused_and_changes_nothing() {
    let Some(lab) = Lab::build("nobody") else { return };
    // If other users could not enter the folder, the command would not be found, and the test would
    // prove nothing.
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
