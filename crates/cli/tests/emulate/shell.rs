//! `ratewire shell`.

use std::io::Write;
use std::path::Path;
use std::process::Stdio;

use crate::lab::{DUMBBELL, Lab, Shared, TWO_FLOWS, ratewire, said};

/// Exit code, output and standard error of a shell at the host s1 that reads `input`.
fn open(scenario: &Path, more: &[&str], input: &str) -> (Option<i32>, String, String) {
    let mut shell = ratewire()
        .arg("shell")
        .arg(scenario)
        .arg("s1")
        .args(more)
        .env("SHELL", "/bin/sh")
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("it starts");
    shell.stdin.take().expect("its input").write_all(input.as_bytes()).expect("it reads");
    let done = shell.wait_with_output().expect("it ends");
    let complaints = String::from_utf8_lossy(&done.stderr).into_owned();
    (done.status.code(), said(&done), complaints)
}

#[test]
fn a_shell_opens_at_a_host_and_its_end_is_the_runs() {
    let Some(lab) = Lab::build("shell") else { return };
    let path = lab.scenario(&format!("law = \"cubic\"\n{DUMBBELL}"));
    let script = "echo at $RATEWIRE_HOST; getent hosts d2; ip -o link show up | wc -l\n";
    let (code, printed, complaints) = open(&path, &[], script);
    assert_eq!(code, Some(0), "{printed}{complaints}");
    assert!(printed.contains("at s1\n"), "{printed}");
    assert!(
        printed.lines().any(|line| line.starts_with("198.18.0.") && line.ends_with("d2")),
        "{printed}"
    );
    assert!(printed.contains("\n2\n"), "its own device and lo, not the machine's: {printed}");
    assert!(complaints.contains("nsenter --target"), "{complaints}");
}

#[test]
fn a_shell_says_which_of_several_laws_it_takes() {
    let Some(lab) = Lab::build("several") else { return };
    let path = lab.scenario(&format!("law = [\"cubic\", \"newreno\"]\n{DUMBBELL}"));
    let complaints = |more: &[&str]| open(&path, more, "exit\n").2;
    let (unsaid, said) = (complaints(&[]), complaints(&["--law", "newreno"]));
    assert!(
        unsaid.contains("uses the first of several laws, \"cubic\"; --law chooses another"),
        "{unsaid}"
    );
    assert!(!said.contains("several"), "{said}");
}

#[test]
fn a_shell_opens_though_nobody_reads_its_greeting() {
    let Some(lab) = Lab::build("deaf") else { return };
    let path = lab.scenario(&format!("law = \"cubic\"\n{DUMBBELL}"));
    let mut shell = ratewire()
        .args(["shell", path.to_str().expect("a plain path"), "s1"])
        .env("SHELL", "/bin/true")
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::piped())
        .spawn()
        .expect("it starts");
    drop(shell.stderr.take());
    assert!(shell.wait().expect("it ends").success());
}

/// A shell has no end, so nothing is too late. Its end is that of the run, and its exit code is the
/// command's.
#[test]
fn a_shell_has_no_end_but_its_own() {
    let Some(lab) = Lab::build("endless") else { return };
    let shared = Shared::make("late");
    let marker = shared.0.join("late");
    let text = format!(
        r#"law = "cubic"
{}
[[program]]
host  = "d1"
run   = "touch {}"
start = "1500 ms"

[[flow]]
from  = "s1"
to    = "d1"
start = "1200 ms"

[[change]]
at   = "1300 ms"
link = "bottleneck"
rate = "10 Mbit/s"
"#,
        DUMBBELL.replace("6 s", "1 s"),
        marker.display()
    );
    let path = lab.scenario(&text);
    let (code, printed, complaints) = open(&path, &[], "sleep 2.5; exit 7\n");
    assert_eq!(code, Some(7), "{complaints}");
    assert!(
        !complaints.contains("never starts") && !complaints.contains("has ended"),
        "{complaints}"
    );
    assert!(
        complaints.contains("Beside it, each at its time: 1 flow and 1 program of the scenario."),
        "{complaints}"
    );
    assert!(marker.exists(), "a program that starts after the scenario's end");
    let lasted = printed.lines().nth(1).and_then(|line| line.split(", ").nth(1));
    let lasted = lasted.and_then(|text| text.strip_suffix(" s")?.parse::<f64>().ok());
    assert!(lasted.is_some_and(|secs| (2.5..60.0).contains(&secs)), "{printed}");
    std::fs::remove_file(&marker).expect("it is there");

    let (code, printed, complaints) = open(&path, &["--alone"], "sleep 2; kill -TERM $$\n");
    assert_eq!(code, Some(128 + 15), "{complaints}");
    assert!(complaints.contains("Nothing of the scenario runs beside it"), "{complaints}");
    assert!(!marker.exists(), "no program beside it");
    assert!(printed.contains("0 sent") || printed.contains("sent 0"), "{printed}");
}

/// Flows that are left out are in no table, and none of them starts.
#[test]
fn a_shell_that_is_alone_shows_no_flows() {
    let Some(lab) = Lab::build("alone") else { return };
    let dumbbell = DUMBBELL.replace("6 s", "1 s");
    let sized = TWO_FLOWS.replace("[[flow]]\n", "[[flow]]\nsize = \"1 MB\"\n");
    let text = format!("law = \"cubic\"\n{dumbbell}{sized}{ARRIVING}");
    let path = lab.scenario(&text);
    let script = "sleep 1\n";
    let (code, printed, complaints) = open(&path, &["--alone"], script);
    assert_eq!(code, Some(0), "{printed}{complaints}");
    assert!(!printed.contains("unfinished") && !printed.contains("goodput"), "{printed}");
    assert!(printed.contains("bottleneck") && !printed.contains("Arriving"), "{printed}");
    let (code, printed, complaints) = open(&path, &[], "sleep 1\n");
    assert_eq!(code, Some(0), "{printed}{complaints}");
    assert!(
        printed.contains("goodput") && printed.contains("Arriving"),
        "beside it they are: {printed}"
    );
}

const ARRIVING: &str = r#"
[[traffic]]
name     = "mice"
arrivals = { poisson = "20 /s" }
sizes    = { fixed = "10 kB" }
"#;

#[test]
fn a_shell_whose_flows_no_kernel_sends_is_refused_or_alone() {
    let Some(lab) = Lab::build("refused-shell") else { return };
    let path = lab.scenario(&format!("law = \"maxnet\"\n{DUMBBELL}{TWO_FLOWS}"));
    let open = |more: &[&str]| {
        ratewire()
            .args(["shell", path.to_str().expect("a plain path"), "s1"])
            .args(more)
            .env("SHELL", "/bin/true")
            .stdin(Stdio::null())
            .output()
            .expect("it starts")
    };
    let refused = open(&[]);
    let complaints = String::from_utf8_lossy(&refused.stderr);
    assert_eq!(refused.status.code(), Some(5), "{complaints}");
    assert!(complaints.contains("no kernel sends under maxnet"), "{complaints}");
    for more in [&["--alone"][..], &["--law", "cubic"]] {
        let done = open(more);
        assert!(done.status.success(), "{}", String::from_utf8_lossy(&done.stderr));
    }
}

/// A build without laws for kernels says how to build with them, and what works without.
#[cfg(not(feature = "live"))]
#[test]
fn a_shell_without_laws_for_kernels_has_two_remedies() {
    let Some(lab) = Lab::build("plain-build") else { return };
    let path = lab.scenario(&format!("law = \"xcp\"\n{DUMBBELL}{TWO_FLOWS}"));
    let done = ratewire().arg("shell").arg(path).arg("s1").stdin(Stdio::null()).output();
    let done = done.expect("it starts");
    let complaints = String::from_utf8_lossy(&done.stderr);
    assert_eq!(done.status.code(), Some(5), "{complaints}");
    assert!(complaints.contains("--law cubic") && complaints.contains("make live"), "{complaints}");
}
