//! Users of a scenario's programs, and their access to this machine.

use std::io::Write;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::process::{Command, Output, Stdio};
use std::time::{Duration, Instant};

use crate::lab::{DUMBBELL, Lab, Shared, ratewire, said, sh};

/// A number that no user of this machine has.
const STRANGER: &str = "54321";

/// A scenario of one second with only programs.
fn scenario(lab: &Lab, programs: &[&str]) -> std::path::PathBuf {
    let programs: Vec<String> =
        programs.iter().map(|keys| format!("[[program]]\nhost = \"s1\"\n{keys}\n")).collect();
    let dumbbell = DUMBBELL.replace("6 s", "1 s");
    lab.scenario(&format!("law = \"cubic\"\n{dumbbell}{}", programs.join("\n")))
}

/// Started by root, without sudo.
fn as_root() -> Command {
    let mut command = ratewire();
    command.env_remove("SUDO_UID").env_remove("SUDO_GID");
    command
}

/// Started by root for the user who called sudo.
fn by_sudo(uid: &str, gid: &str) -> Command {
    let mut command = ratewire();
    command.env("SUDO_UID", uid).env("SUDO_GID", gid);
    command
}

/// Runs programs, and returns the output of each.
fn run(mut command: Command, lab: &Lab, programs: &[&str], args: &[&str]) -> Vec<String> {
    let out = lab.folder.join("out");
    let path = scenario(lab, programs);
    command.arg("run").arg(path).args(["--world", "emulate", "--quiet", "--out"]).arg(&out);
    let done = command.args(args).output().expect("it starts");
    let complaints = String::from_utf8_lossy(&done.stderr);
    assert!(matches!(done.status.code(), Some(0 | 6)), "{complaints}");
    let logs = (1..=programs.len()).map(|n| lab.log(&format!("{n}-*")));
    logs.collect()
}

fn complaints(done: &Output) -> String {
    String::from_utf8_lossy(&done.stderr).into_owned()
}

const WHO: &str = "run = '''echo $(id -u) $(id -g) $(id -G) home $HOME user $USER''' ";

#[test]
fn programs_run_as_who_called_sudo_or_else_as_nobody() {
    let Some(lab) = Lab::build("whom") else { return };
    let nobody = run(as_root(), &lab, &[WHO], &[]);
    let expected = said(&sh("echo $(id -u nobody) $(id -g nobody) $(id -G nobody) home \
                             $(getent passwd nobody | cut -d: -f6) user nobody"));
    assert_eq!(nobody, [expected.as_str()]);
    assert_eq!(run(by_sudo("0", "0"), &lab, &[WHO], &[]), nobody, "root by sudo");
    let stranger = run(by_sudo(STRANGER, STRANGER), &lab, &[WHO], &[]);
    assert_eq!(stranger, [format!("{STRANGER} {STRANGER} {STRANGER} home / user\n")]);
    let known = said(&sh("getent passwd 1")).split(':').next().expect("a name").to_string();
    let as_it = run(by_sudo("1", "1"), &lab, &[WHO, &format!("{WHO}\nuser = \"{known}\"")], &[]);
    let expected = said(&sh(&format!("echo $(id -G {known})")));
    assert!(as_it[0].starts_with(&format!("1 1 {}", expected.trim())), "{as_it:?}");
    assert!(as_it[0].ends_with(&format!("user {known}\n")), "{as_it:?}");
    assert_eq!(as_it[0], as_it[1], "who called it may be named");
    let both = ["--allow-user", "root"];
    let as_root = run(as_root(), &lab, &[&format!("{WHO}\nroot = true"), WHO], &both);
    assert!(as_root[0].starts_with("0 0 ") && as_root[0].ends_with("user root\n"), "{as_root:?}");
    assert_eq!(as_root[1], nobody[0], "only the program that asks for it");
}

/// The scenario alone does not allow a user, and the command line alone does not either; nothing is
/// started.
#[test]
fn a_user_takes_the_consent_of_file_and_command_line() {
    let Some(lab) = Lab::build("consent") else { return };
    let shared = Shared::make("consent");
    let marker = shared.0.join("marker");
    let touch = format!("run = \"touch {}\"", marker.display());
    let refuse = |command: Command, keys: &str, args: &[&str], expected: &[&str]| {
        let path = scenario(&lab, &[&touch, &format!("{touch}\n{keys}")]);
        let mut run = command;
        run.arg("run").arg(&path).args(["--world", "emulate", "--no-files"]).args(args);
        let done = run.output().expect("it starts");
        let complaints = complaints(&done);
        assert_eq!(done.status.code(), Some(2), "{complaints}");
        expected.iter().for_each(|words| assert!(complaints.contains(words), "{complaints}"));
        assert!(!marker.exists(), "nothing is started");
    };
    let root = ["run as root, which the command line does not allow", "`--allow-user root`"];
    for keys in ["root = true", "user = \"root\""] {
        refuse(as_root(), keys, &[], &root);
        refuse(by_sudo(STRANGER, STRANGER), keys, &["--allow-user", "nobody"], &root);
    }
    refuse(as_root(), "root = true", &[], &["scenario.toml:", "root = true\n", "as nobody"]);
    let daemon = ["run as daemon, which", "`--allow-user daemon`"];
    refuse(as_root(), "user = \"daemon\"", &["--allow-user", "root"], &daemon);
    let unknown = ["no user of this machine is called \"nobody-there\"", "scenario.toml:"];
    refuse(as_root(), "user = \"nobody-there\"", &[], &unknown);
    let option = ["--allow-user: no user of this machine is called \"nobody-there\""];
    refuse(as_root(), "", &["--allow-user", "root, nobody-there"], &option);
    let both = ["`root` and `user` exclude each other", "scenario.toml:"];
    refuse(as_root(), "root = true\nuser = \"root\"", &["--allow-user", "root"], &both);
    // The system takes the largest number for "unchanged", which would be root.
    for wrong in ["-1", "4294967295", "alice", ""] {
        let expected = [format!("SUDO_UID is {wrong:?}, which is not the number of a user")];
        refuse(by_sudo(wrong, STRANGER), "", &[], &[&expected[0]]);
        let expected = [format!("SUDO_GID is {wrong:?}, which is not the number of a user")];
        refuse(by_sudo(STRANGER, wrong), "", &[], &[&expected[0]]);
    }
    let mut groupless = by_sudo(STRANGER, "");
    groupless.env_remove("SUDO_GID");
    refuse(groupless, "", &[], &["does not know", "SUDO_GID"]);

    let path = scenario(&lab, &[&touch, &format!("{touch}\nroot = true")]);
    let shell = as_root().arg("shell").arg(&path).arg("s1").stdin(Stdio::null()).output();
    let shell = shell.expect("it starts");
    assert_eq!(shell.status.code(), Some(2), "{}", complaints(&shell));
    assert!(complaints(&shell).contains(root[1]) && !marker.exists(), "{}", complaints(&shell));

    let allowed = run(as_root(), &lab, &[&format!("{touch}\nroot = true")], &["--allow-user=root"]);
    assert!(marker.exists(), "with both it runs: {allowed:?}");
}

/// Rights that ordinary users have here, and rights that they do not have.
#[test]
fn a_program_reaches_only_what_its_user_may() {
    let Some(lab) = Lab::build("reach") else { return };
    let marker = format!("/root/ratewire-{}", std::process::id());
    let programs = [
        format!("run = '''touch {marker}; echo x > /etc/ratewire-test; ls /root; echo end'''"),
        "run = '''grep -E '^(Cap|NoNewPrivs)' /proc/self/status; ip link set dev rw0 down; ls /proc/self/fd'''".into(),
        "run = '''env | cut -d= -f1 | sort | tr '\\n' ' '; echo to >> /dev/stdout; (echo x > /dev/tty) 2>&1 | grep -c /dev/tty'''".into(),
        "run = '''cat /proc/sys/net/ipv4/ping_group_range; ping -c 1 -W 2 d1 || echo no ping; iperf3 -s -p 80 -D && echo serves'''".into(),
    ];
    let programs: Vec<&str> = programs.iter().map(String::as_str).collect();
    let mut command = by_sudo(STRANGER, STRANGER);
    command.env("SECRET", "of root");
    let logs = run(command, &lab, &programs, &[]);
    assert!(!Path::new(&marker).exists() && !Path::new("/etc/ratewire-test").exists());
    assert!(
        logs[0].matches("ermission denied").count() == 3 && logs[0].contains("end"),
        "{logs:?}"
    );
    let zero = "\t0000000000000000\n";
    assert_eq!(logs[1].matches(zero).count(), 5, "{}", logs[1]);
    assert!(logs[1].contains("NoNewPrivs:\t1\n"), "{}", logs[1]);
    assert!(logs[1].contains("not permitted"), "{}", logs[1]);
    // Standard input, output and error, and the listed folder.
    assert!(logs[1].ends_with("0\n1\n2\n3\n"), "{}", logs[1]);
    assert!(!logs[2].contains("SECRET") && !logs[2].contains("SUDO"), "{}", logs[2]);
    assert!(logs[2].contains("HOME ") && logs[2].contains("RATEWIRE_HOST "), "{}", logs[2]);
    assert!(logs[2].ends_with("to\n1\n"), "{}", logs[2]);
    assert!(logs[3].starts_with("0\t2147483647\n") && logs[3].contains("serves"), "{}", logs[3]);
    let has_ping = sh("command -v ping").status.success();
    assert_eq!(logs[3].contains("no ping"), !has_ping, "{}", logs[3]);
}

#[test]
fn each_host_has_folders_for_files_of_its_own() {
    let Some(lab) = Lab::build("private") else { return };
    let name = format!("ratewire-test-{}", std::process::id());
    for folder in ["/tmp", "/var/tmp"] {
        std::fs::write(format!("{folder}/{name}"), "of the machine").expect("a file");
    }
    let both = |script: &str| {
        format!("run = '''for f in /tmp /var/tmp; do cd $f; {script}; done; echo end'''")
    };
    let look = both("ls -A; stat -c %a .; echo mine > mine; echo x > NAME").replace("NAME", &name);
    let of_same_host = both("sleep 0.3; cat mine");
    // This program starts last, so that none lists its file.
    let large =
        "run = '''head -c 300M /dev/zero > /tmp/large || echo limited'''\nstart = \"1100 ms\"";
    let path = scenario(&lab, &[&look, &of_same_host, large]);
    let text = std::fs::read_to_string(&path).expect("the scenario").replace("1 s", "2 s");
    let at_other = format!("\n[[program]]\nhost = \"s2\"\n{}\n", both("sleep 0.3; ls -A"));
    std::fs::write(&path, text + &at_other).expect("a file");
    let out = lab.folder.join("out");
    let mut command = as_root();
    command.arg("run").arg(path).args(["--world", "emulate", "--out"]).arg(&out);
    let done = command.output().expect("it starts");
    for folder in ["/tmp", "/var/tmp"] {
        let file = format!("{folder}/{name}");
        let text = std::fs::read_to_string(&file).expect("it is there");
        std::fs::remove_file(&file).expect("it can be removed");
        assert_eq!(text, "of the machine", "{folder}");
        assert!(!Path::new(folder).join("mine").exists());
    }
    assert_eq!(lab.log("1-*"), "1777\n1777\nend\n", "{}", complaints(&done));
    assert_eq!(lab.log("2-*"), "mine\nmine\nend\n");
    assert_eq!(lab.log("3-*"), "end\n", "another host has its own");
    assert!(lab.log("4-*").contains("limited"), "{}", lab.log("4-*"));
}

/// Below /tmp, programs see only this folder of the real machine, and only its own rights protect
/// it.
#[test]
fn a_working_directory_below_tmp_stays_where_it_was() {
    let Some(lab) = Lab::build("below") else { return };
    let above = std::env::temp_dir().join(format!("ratewire-above-{}", std::process::id()));
    let here = above.join("here");
    std::fs::create_dir_all(&here).expect("a folder");
    std::fs::write(here.join("file"), "found\n").expect("a file");
    std::fs::write(above.join("beside"), "hidden\n").expect("a file");
    let look = format!("run = '''cat file; pwd; cat {0}/file; ls {0}/..'''", here.display());
    let root = format!("{look}\nroot = true");
    let look = |command: Command| {
        let mut command = command;
        command.current_dir(&here);
        run(command, &lab, &[&look, &root], &["--allow-user", "root"])
    };
    let shown = look(as_root());
    let closed = std::fs::Permissions::from_mode(0o700);
    std::fs::set_permissions(&above, closed).expect("it is ours");
    let not_shown = look(as_root());
    let mut in_it = as_root();
    in_it.current_dir(std::env::temp_dir());
    in_it.arg("run").arg(scenario(&lab, &[&root])).args(["--world", "emulate", "--dry-run"]);
    let in_it = in_it.args(["--allow-user", "root"]).output().expect("it starts");
    std::fs::remove_dir_all(&above).expect("it is ours");
    let expected = format!("found\n{}\nfound\nhere\n", here.display());
    assert_eq!(shown, [expected.as_str(), expected.as_str()]);
    assert_eq!(not_shown[1], expected);
    assert!(!not_shown[0].contains("found"), "{}", not_shown[0]);
    assert!(not_shown[0].contains("starts in /: its user may not enter"), "{}", not_shown[0]);
    assert!(complaints(&in_it).contains("programs cannot see the files of this directory"));
}

/// The kernel forgets the signal that kills a process with its parent when the process changes its
/// user.
#[test]
fn programs_of_other_users_die_with_the_command() {
    let Some(lab) = Lab::build("die") else { return };
    let marker = format!("8{}", std::process::id());
    let sleep = format!("run = \"sleep {marker} & setsid sleep {marker} & sleep {marker}\"");
    let path = scenario(&lab, &[&sleep, &format!("{sleep}\nroot = true")]);
    let text = std::fs::read_to_string(&path).expect("the scenario").replace("1 s", "60 s");
    std::fs::write(&path, text).expect("a file");
    let mut run = by_sudo(STRANGER, STRANGER);
    run.arg("run").arg(&path).args(["--world", "emulate", "--no-files", "--allow-user", "root"]);
    let mut run = run.stdout(Stdio::null()).stderr(Stdio::null()).spawn().expect("it starts");
    let running = |of: &str| said(&sh(&format!("pgrep {of} -fx 'sleep {marker}'"))).lines().count();
    let until = |is: &dyn Fn() -> bool| {
        let start = Instant::now();
        while !is() && start.elapsed() < Duration::from_secs(20) {
            std::thread::sleep(Duration::from_millis(20));
        }
        is()
    };
    let own = format!("-U {STRANGER}");
    assert!(until(&|| running(&own) == 3 && running("-U 0") == 3), "both programs run");
    run.kill().expect("it can be killed");
    run.wait().expect("it ends");
    assert!(until(&|| running("") == 0), "all are killed with it");
}

/// A dry run lists programs and users, on one line whatever the command contains, and starts
/// nothing.
#[test]
fn a_dry_run_lists_programs_and_starts_none() {
    let Some(lab) = Lab::build("dry") else { return };
    let shared = Shared::make("dry");
    let marker = shared.0.join("marker");
    let touch = format!("run = \"touch {}\"", marker.display());
    let steering =
        "run = \"\"\"true\n  s1  nobody  at 0 s  harmless \\u001b[2J\"\"\"\nstart = \"500 ms\"";
    let path = scenario(&lab, &[&touch, steering, "run = \"true\"\nroot = true"]);
    let out = lab.folder.join("out");
    let dry = |mut command: Command, args: &[&str]| {
        command.arg("run").arg(&path).args(["--world", "simulate,emulate", "--dry-run"]);
        command.args(["--law", "cubic,newreno", "--seed", "1,2", "--out"]).arg(&out).args(args);
        let done = command.output().expect("it starts");
        assert!(!marker.exists() && !out.exists(), "nothing is done");
        (done.status.code(), said(&done), complaints(&done))
    };
    let (code, printed, complaints) = dry(as_root(), &["--allow-user", "root"]);
    assert_eq!(code, Some(0), "{complaints}");
    let rows: Vec<Vec<&str>> =
        printed.lines().map(|line| line.split_whitespace().collect()).collect();
    let has = |row: &[&str]| rows.iter().any(|is| is.starts_with(row));
    for row in [
        &["simulate", "cubic", "1", "1", "s"][..],
        &["emulate", "newreno", "2", "1", "s"],
        &["s1", "nobody", "before", "all", "flows", "touch"],
        &["s1", "nobody", "at", "500", "ms", "true\\n"],
        &["s1", "root", "before", "all", "flows", "true"],
    ] {
        assert!(has(row), "{row:?}: {printed}");
    }
    assert!(printed.contains("harmless \\u001b[2J") && !printed.contains('\u{1b}'), "{printed}");
    assert!(printed.contains("newreno-emulate-seed-2") && printed.contains("/tmp"), "{printed}");
    let (code, printed, complaints) = dry(by_sudo(STRANGER, STRANGER), &[]);
    assert_eq!(code, Some(2), "as without --dry-run: {complaints}");
    assert!(
        printed.contains(&format!("user {STRANGER}")) && printed.contains("root (refused)"),
        "{printed}"
    );
    assert!(complaints.contains("`--allow-user root`"), "{complaints}");

    let mut shell = as_root();
    shell.arg("shell").arg(&path).args(["s1", "--dry-run", "--allow-user", "root"]);
    let shell = shell.stdin(Stdio::null()).output().expect("it starts");
    assert!(shell.status.success(), "{}", crate::users::complaints(&shell));
    assert!(said(&shell).contains("touch") && !marker.exists(), "{}", said(&shell));
}

/// The shell belongs to the caller: it has all rights, beside programs without any.
#[test]
fn a_shell_is_the_callers_and_its_folders_the_hosts() {
    let Some(lab) = Lab::build("own-shell") else { return };
    let path = scenario(&lab, &["run = '''id -u > /tmp/who'''"]);
    let mut shell = by_sudo(STRANGER, STRANGER);
    shell.arg("shell").arg(&path).arg("s1").env("SHELL", "/bin/sh").env("TMPDIR", "/tmp");
    let mut shell = shell
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("it starts");
    let script =
        b"while ! [ -s /tmp/who ]; do sleep 0.1; done; id -u; cat /tmp/who; echo TMPDIR $TMPDIR; ip link set dev rw0 mtu 1400 && echo may\n";
    shell.stdin.take().expect("its input").write_all(script).expect("it reads");
    let done = shell.wait_with_output().expect("it ends");
    let printed = said(&done);
    let expected = format!("0\n{STRANGER}\nTMPDIR\nmay\n");
    assert!(printed.starts_with(&expected), "{printed}{}", complaints(&done));
    assert!(complaints(&done).contains("/tmp and /var/tmp are their own"), "{}", complaints(&done));
}

const PAPER: &str = r#"
title   = "A paper"
authors = "Its authors"
summary = "What it says."

[[figure]]
id        = "Figure 1"
title     = "One link"
caption   = "A link."
scenarios = ["one.toml"]
plots     = ["throughput"]

[[figure.emulated]]
set = ["bottleneck.rate=5 Mbit/s"]
why = "it is the rate of a test"
"#;

#[test]
fn a_figure_takes_the_same_consent() {
    let Some(lab) = Lab::build("figure-consent") else { return };
    let folder = lab.folder.join("papers/first");
    std::fs::create_dir_all(&folder).expect("a folder");
    std::fs::write(folder.join("paper.toml"), PAPER).expect("a paper");
    std::fs::rename(scenario(&lab, &["run = \"true\"\nroot = true"]), folder.join("one.toml"))
        .expect("a scenario");
    let reproduce = |args: &[&str]| {
        let mut command = as_root();
        command.args(["reproduce", "first", "--quiet"]).args(args).current_dir(&lab.folder);
        command.output().expect("it starts")
    };
    let refused = reproduce(&["--world", "emulate"]);
    assert_eq!(refused.status.code(), Some(2), "{}", complaints(&refused));
    assert!(complaints(&refused).contains("`--allow-user root`"), "{}", complaints(&refused));
    let simulated = reproduce(&[]);
    assert_eq!(simulated.status.code(), Some(0), "{}", complaints(&simulated));
    let allowed = reproduce(&["--world", "emulate", "--allow-user", "root"]);
    assert!(matches!(allowed.status.code(), Some(0 | 6)), "{}", complaints(&allowed));
    let page = std::fs::read_to_string(lab.folder.join("out/reproduce/first.html"));
    let said = "have bottleneck.rate=5 Mbit/s: it is the rate of a test";
    assert!(page.expect("a page").contains(said));
    // A run is kept, and carried out again only if it was not reliable or nobody wants the old one.
    let again = |args: &[&str]| {
        let mut command = as_root();
        command.args(["reproduce", "first", "--world", "emulate", "--allow-user", "root"]);
        complaints(&command.args(args).current_dir(&lab.folder).output().expect("it starts"))
    };
    let kept = match allowed.status.code() {
        Some(0) => "first: 0 runs; 1 were finished before",
        _ => "first: 1 runs, ",
    };
    let said = again(&[]);
    assert!(said.contains(kept), "{said}");
    let said = again(&["--anew"]);
    assert!(said.contains("first: 1 runs, "), "{said}");
}
