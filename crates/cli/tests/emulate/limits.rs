//! Runs that are impossible, and remains of killed commands.

use std::process::{Child, Stdio};
use std::time::{Duration, Instant};

use crate::lab::{self, DUMBBELL, Lab, TWO_FLOWS, ratewire, said, sh};

#[test]
fn a_run_that_is_killed_leaves_nothing() {
    let Some(lab) = Lab::build("killed") else { return };
    let marker = format!("7{}", std::process::id());
    let program =
        format!("\n[[program]]\nhost = \"s1\"\nrun = \"sleep {marker} & sleep {marker}\"\n");
    let path = lab.scenario(&format!("law = \"cubic\"\n{DUMBBELL}{TWO_FLOWS}{program}"));
    let mut run = ratewire()
        .args(["run", path.to_str().expect("a plain path"), "--world", "emulate", "--no-files"])
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .expect("it starts");
    let running = || said(&sh(&format!("pgrep -fx 'sleep {marker}'"))).lines().count();
    let until = |is: &dyn Fn() -> bool| {
        let start = Instant::now();
        while !is() && start.elapsed() < Duration::from_secs(20) {
            std::thread::sleep(Duration::from_millis(20));
        }
        is()
    };
    assert!(until(&|| running() == 2), "the programs run");
    let namespace = said(&sh(&format!(
        "readlink /proc/$(pgrep -fx 'sleep {marker}' | head -1)/ns/net | tr -dc 0-9"
    )));
    let has_namespace =
        || sh(&format!("lsns -n -t net -o NS | grep -qw {namespace}")).status.success();
    assert!(has_namespace(), "{namespace}");
    run.kill().expect("it can be killed");
    run.wait().expect("it ends");
    assert!(until(&|| running() == 0), "what it started is killed with it");
    assert!(until(&|| !has_namespace()), "its namespaces are gone");
}

/// The next command cleans up, even one that needs no control group.
#[cfg(feature = "live")]
#[test]
fn the_groups_of_runs_that_were_killed_are_removed_by_the_next() {
    let Some(lab) = Lab::build("groups") else { return };
    // No process has such a high number.
    let left = said(&sh(
        "group=$(findmnt -n -o TARGET -t cgroup2 | head -1)/ratewire-emulate-99999999-xcp
        mkdir $group && echo $group",
    ));
    let left = std::path::Path::new(left.trim());
    assert!(left.is_dir());
    let text = format!("law = \"cubic\"\n{DUMBBELL}{TWO_FLOWS}").replace("6 s", "1 s");
    lab.run(&text, &["--world", "emulate"]);
    assert!(!left.exists());
}

#[test]
fn what_cannot_be_emulated_is_refused_with_a_remedy() {
    let Some(lab) = Lab::build("refused") else { return };
    let refused = |text: &str, expected: &[&str]| {
        let path = lab.scenario(text);
        let args =
            ["run", path.to_str().expect("a plain path"), "--world", "emulate", "--no-files"];
        let done = ratewire().args(args).output().expect("it starts");
        let said = String::from_utf8_lossy(&done.stderr);
        assert_eq!(done.status.code(), Some(5), "{said}");
        expected.iter().for_each(|words| assert!(said.contains(words), "{words}: {said}"));
    };
    let with = |law: &str, rest: &str| format!("law = \"{law}\"\n{DUMBBELL}{rest}");
    refused(
        &with("maxnet", TWO_FLOWS),
        &["no kernel sends under maxnet", "help: laws with a kernel"],
    );
    let many = "[[traffic]]\narrivals = { poisson = \"5000 /s\" }\nsizes = { fixed = \"1 KB\" }\n";
    refused(
        &with("cubic", many),
        &["more than 20000 flows", "a port of its own", "help: a shorter `duration`"],
    );
    let lie = format!("{TWO_FLOWS}lie = {{ ignore_feedback = true }}\n");
    refused(&with("xcp", &lie), &["senders that lie"]);
    let path = lab.scenario(&with("cubic", TWO_FLOWS));
    let args = ["run", path.to_str().expect("a plain path"), "--world", "emulate", "--no-files"];
    let done = ratewire().args(args).env("TMPDIR", "/nowhere").output().expect("it starts");
    let said = String::from_utf8_lossy(&done.stderr);
    assert_eq!(done.status.code(), Some(5), "{said}");
    assert!(said.contains("help: make room in /nowhere, or name another folder"), "{said}");

    let path = lab.scenario(&with("cubic", TWO_FLOWS));
    let scenario = std::env::temp_dir().join(format!("ratewire-{}.toml", std::process::id()));
    std::fs::copy(path, &scenario).expect("a copy");
    let (done, said) = as_nobody(&format!("run {} --world emulate --no-files", scenario.display()));
    let _ = std::fs::remove_file(&scenario);
    assert_eq!(done, Some(5), "{said}");
    assert!(said.contains("run it with sudo; `ratewire doctor`"), "{said}");
}

#[test]
fn a_run_without_programs_needs_no_other_command() {
    let Some(lab) = Lab::build("no-path") else { return };
    let text = format!("law = \"cubic\"\n{DUMBBELL}{TWO_FLOWS}").replace("6 s", "500 ms");
    let path = lab.scenario(&text);
    let args = ["run", path.to_str().expect("a plain path"), "--world", "emulate", "--no-files"];
    let done = ratewire().args(args).env("PATH", "").output().expect("it starts");
    let complaints = String::from_utf8_lossy(&done.stderr);
    assert!(matches!(done.status.code(), Some(0 | lab::LATE)), "{complaints}");
}

/// Exit code and output of the command for a user who is not root.
fn as_nobody(args: &str) -> (Option<i32>, String) {
    let command = env!("CARGO_BIN_EXE_ratewire");
    // If other users could not enter the folder, the command would not be found, and the test would
    // prove nothing.
    let copy = std::env::temp_dir().join(format!("ratewire-{}", std::process::id()));
    std::fs::copy(command, &copy).expect("a copy");
    let done = sh(&format!("setpriv --reuid 65534 --clear-groups {} {args} 2>&1", copy.display()));
    let _ = std::fs::remove_file(&copy);
    (done.status.code(), said(&done))
}

/// Possible runs are run, reported and written. The impossible ones are reported before and after,
/// and by the exit code.
#[test]
fn laws_that_this_kernel_cannot_send_under_are_left_out() {
    let Some(lab) = Lab::build("left-out") else { return };
    let path =
        lab.scenario(&format!("law = \"cubic\"\n{DUMBBELL}{TWO_FLOWS}").replace("6 s", "2 s"));
    let out = lab.folder.join("out");
    let run = |laws: &str| {
        let mut command = ratewire();
        command
            .arg("run")
            .arg(&path)
            .args(["--world", "emulate", "--law", laws, "--out"])
            .arg(&out);
        command.output().expect("it starts")
    };
    lab::load_controls();
    let available = lab::controls();
    let is_there = |control: &str| available.iter().any(|has| has == control);
    let missing = [("dctcp", "dctcp"), ("bbr1", "bbr")].into_iter();
    let missing = missing.filter(|(_, control)| !is_there(control));
    let present = if is_there("bbr") { "bbr1" } else { "newreno" };
    for (law, control) in missing.chain([("maxnet", ""), ("bbr3", "")]) {
        let done = run(&format!("{law},{present}"));
        let complaints = String::from_utf8_lossy(&done.stderr);
        assert_eq!(done.status.code(), Some(5), "{complaints}");
        assert!(complaints.contains(&format!("warning: {law} is not emulated: ")), "{complaints}");
        assert!(
            complaints.ends_with(&format!("not emulated, as said above: {law}\n")),
            "{complaints}"
        );
        if !control.is_empty() {
            assert!(complaints.contains(&format!("modprobe tcp_{control}")), "{complaints}");
        }
        assert!(said(&done).contains(present), "{}", said(&done));
        assert!(out.join("report.html").exists());
        std::fs::remove_dir_all(&out).expect("what was written");

        let done = run(law);
        let complaints = String::from_utf8_lossy(&done.stderr);
        assert_eq!(done.status.code(), Some(5), "{complaints}");
        assert!(complaints.contains("nothing is left to run"), "{complaints}");
        assert!(!out.exists(), "nothing was started");
    }
}

/// Names of congestion controls are shared by the machine: each run has its own, and a live host
/// has another. A live host over emulated hosts is refused, and leaves nothing behind.
#[cfg(feature = "live")]
#[test]
fn a_law_is_had_by_several_runs_at_a_time_and_by_a_live_host_apart() {
    let Some(lab) = Lab::build("beside") else { return };
    let path = lab.scenario(&format!("law = \"xcp\"\n{DUMBBELL}{TWO_FLOWS}"));
    let run = || {
        let mut run = ratewire();
        run.arg("run").arg(&path).args(["--world", "emulate", "--no-files", "--law", "xcp"]);
        run.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().expect("it starts")
    };
    let runs = [run(), run()];
    let start = Instant::now();
    let is_loaded = |name: &&str| lab::controls().iter().any(|loaded| loaded == name);
    while !["rw_xcp_1", "rw_xcp_2"].iter().all(&is_loaded) {
        assert!(start.elapsed() < Duration::from_secs(20), "both have the law");
        std::thread::sleep(Duration::from_millis(20));
    }
    let cgroup = said(&sh("cgroup=$(findmnt -n -o TARGET -t cgroup2 | head -1)/ratewire-beside
        mkdir -p $cgroup; echo $cgroup"));
    let host = ["live", "host", "--law", "xcp"];
    let over = ratewire().args(host).output().expect("it starts");
    let apart = ratewire().args(host).args(["--cgroup", cgroup.trim()]).output();
    let apart = apart.expect("it starts");
    let detached = ratewire().args(["live", "detach", "--hosts"]).output().expect("it starts");
    std::fs::remove_dir(cgroup.trim()).expect("it is empty");
    let complaints = String::from_utf8_lossy(&over.stderr);
    assert_eq!(over.status.code(), Some(5), "{complaints}");
    assert!(complaints.contains("hosts of an emulated run would take part"), "{complaints}");
    let is_named = |run: &Child| complaints.contains(&format!("process {} emulates", run.id()));
    assert!(runs.iter().any(is_named), "{complaints}");
    assert!(apart.status.success(), "{}", String::from_utf8_lossy(&apart.stderr));
    assert_eq!(said(&detached), "detached: rw_xcp\n", "the refused one left nothing");
    for run in runs {
        let done = run.wait_with_output().expect("it ends");
        assert!(done.status.success(), "{}", String::from_utf8_lossy(&done.stderr));
    }
}

#[test]
fn a_doctor_says_what_there_is_and_how_to_get_what_is_not() {
    let Some(_lab) = Lab::build("doctor") else { return };
    let doctor =
        |path: &str| ratewire().arg("doctor").env("PATH", path).output().expect("it starts");
    let path = std::env::var("PATH").expect("a path");
    let well = said(&doctor(&path));
    let (emulation, _) = well.split_once("\n\n").expect("two parts");
    assert_eq!(
        emulation.matches("ok  ").count(),
        6 + usize::from(cfg!(feature = "live")),
        "{well}"
    );
    // Congestion controls of the kernel, each with a remedy if it is missing.
    let available = lab::controls();
    for (law, name) in
        [("newreno", "reno"), ("cubic", "cubic"), ("bbr1", "bbr"), ("dctcp", "dctcp")]
    {
        let is_there = available.iter().any(|control| control == name);
        let line =
            well.lines().position(|line| line.get(5..).is_some_and(|line| line.starts_with(law)));
        let line = line.unwrap_or_else(|| panic!("nothing of {law}: {well}"));
        let next = well.lines().nth(line + 1).unwrap_or_default();
        let helps = next.trim() == format!("help: modprobe tcp_{name}");
        assert_eq!(
            (is_there, !is_there),
            (well.lines().nth(line).is_some_and(|line| line.starts_with("ok")), helps),
            "{well}"
        );
    }
    let ill = doctor("");
    assert_eq!(ill.status.code(), Some(5));
    let text = said(&ill);
    let line = text.lines().position(|line| line.starts_with("NO   setpriv and unshare "));
    let line = line.unwrap_or_else(|| panic!("nothing of setpriv: {text}"));
    assert!(text.lines().nth(line + 1).is_some_and(|next| next.contains("util-linux")), "{text}");
    let (done, said) = as_nobody("doctor");
    assert_eq!(done, Some(5), "{said}");
    assert!(said.contains("NO   rights"), "{said}");
    // Some checks fail even for root: a fresh machine has no BPF file system mounted.
    let mut missing = said.lines().filter(|line| line.starts_with("NO  "));
    let is_missing = |line: &str| line.starts_with("NO   rights") || well.contains(line);
    assert!(missing.all(is_missing), "{said}");
    assert!(
        said.contains(
            "??   namespaces               not examined: run `ratewire doctor` as root once"
        ),
        "{said}"
    );
}

/// A host's law applies to all connections of its cgroup, so emulated connections would use it in
/// place of their own.
#[cfg(feature = "live")]
#[test]
fn where_all_connections_have_a_law_nothing_is_emulated() {
    let Some(lab) = Lab::build("inside") else { return };
    let text = format!("law = \"cubic\"\n{DUMBBELL}{TWO_FLOWS}").replace("6 s", "1 s");
    let path = lab.scenario(&text);
    let script = format!(
        "cgroup=$(findmnt -n -o TARGET -t cgroup2 | head -1)/ratewire-inside; mkdir -p $cgroup/below
         {0} live host --law rcp --cgroup $cgroup >&2
         (echo 0 > $cgroup/below/cgroup.procs; exec {0} run {1} --world emulate --no-files); echo run $?
         (echo 0 > $cgroup/cgroup.procs; exec {0} shell {1} s1 --alone < /dev/null); echo shell $?
         {0} run {1} --world emulate --no-files --quiet > /dev/null; echo outside $?
         {0} live detach --hosts >&2; sleep 0.2; rmdir $cgroup/below $cgroup",
        env!("CARGO_BIN_EXE_ratewire"),
        path.display()
    );
    let done = sh(&script);
    let (printed, complaints) = (said(&done), String::from_utf8_lossy(&done.stderr).into_owned());
    assert!(printed.contains("run 5\nshell 5\n"), "{printed}{complaints}");
    assert!(
        printed.contains("outside 0\n") || printed.contains("outside 6\n"),
        "{printed}{complaints}"
    );
    let why = "`ratewire live host --law rcp` has all connections from here take part";
    assert_eq!(complaints.matches(why).count(), 2, "{complaints}");
    assert!(complaints.contains("help: `ratewire live detach --hosts`"), "{complaints}");
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
"#;

const CLAIM: &str = r#"
[[expect]]
metric = "utilisation"
link   = "bottleneck"
min    = 0.1
source = "a page"

[[expect]]
metric = "late_acks"
link   = "bottleneck"
max    = 0.5

[variant.plain]
law              = "cubic"
fast_convergence = false

[variant.of-a-kernel]
law              = "cubic"
fast_convergence = false
describes        = "kernel"
"#;

/// A paper with a variant that no kernel is, the same as a description of one, a law that no kernel
/// has, and one that some kernels have.
#[test]
fn figures_say_what_stands_for_what_and_what_is_missing() {
    let Some(lab) = Lab::build("figures") else { return };
    let folder = lab.folder.join("papers/first");
    std::fs::create_dir_all(&folder).expect("a folder");
    let dumbbell = DUMBBELL.replace("6 s", "2 s");
    let laws = "law = [\"of-a-kernel\", \"plain\", \"maxnet\", \"dctcp\"]";
    let text = format!("{laws}\n{dumbbell}{TWO_FLOWS}{CLAIM}");
    std::fs::write(folder.join("one.toml"), text).expect("a scenario");
    std::fs::write(folder.join("paper.toml"), PAPER).expect("a paper");
    let ratewire = |args: &str| {
        let mut command = ratewire();
        command.args(args.split(' ')).current_dir(&lab.folder).output().expect("it starts")
    };
    lab::load_controls();
    let is_missing = !lab::controls().iter().any(|control| control == "dctcp");
    let done = ratewire("reproduce first --world emulate --quiet");
    let complaints = String::from_utf8_lossy(&done.stderr);
    let says_once =
        |what: &str| assert_eq!(complaints.matches(what).count(), 1, "{what}: {complaints}");
    says_once("plain is not emulated: no kernel sends under cubic with fast_convergence = false");
    says_once("an emulated run leaves out the expectation of late_acks on line");
    assert!(!said(&done).contains("late_acks"), "{}", said(&done));
    says_once("maxnet is not emulated: no kernel sends");
    assert!(said(&done).contains("cubic of Linux "), "{}", said(&done));
    let page = std::fs::read_to_string(lab.folder.join("out/reproduce/first.html"));
    let page = page.expect("the page");
    assert!(page.contains("has no fast_convergence = false"), "the page tells what differs");
    if is_missing {
        says_once("dctcp is not emulated: this kernel has no congestion control dctcp");
        // The code is the same if the machine is too busy for reliable runs.
        assert_eq!(done.status.code(), Some(5), "{complaints}");
    }
}
