//! Names with a meaning for the system: hosts in `/etc/hosts`, and files.

use crate::lab::{DUMBBELL, Lab, ONE_FLOW, number, ratewire};

/// Two hosts with these names.
fn pair(one: &str, other: &str) -> String {
    format!(
        r#"
law      = "cubic"
duration = "500 ms"

[topology]
kind = "custom"

[[node]]
name = "{one}"
[[node]]
name = "{other}"

[[link]]
between = ["{one}", "{other}"]
name    = "cable"
rate    = "10 Mbit/s"
delay   = "1 ms"

[[flow]]
name = "{one} to {other}"
from = "{one}"
to   = "{other}"
"#
    )
}

#[test]
fn flows_run_whatever_they_and_their_hosts_are_called() {
    let Some(lab) = Lab::build("any-names") else { return };
    let long = "x".repeat(5000);
    for (one, other) in [
        ("a\\u0000b", "c\\nd"),
        ("../a", "/"),
        ("New York", "Washington D.C."),
        (long.as_str(), "#"),
    ] {
        let runs = lab.run(&pair(one, other), &["--world", "emulate"]);
        let delivered = number(&runs[0]["flows"][0]["delivered_bytes"]);
        assert!(delivered > 0.0, "{one} {other}: {}", runs[0]);
    }
}

#[test]
fn programs_reach_hosts_only_by_names_that_they_can_look_up() {
    let Some(lab) = Lab::build("odd-names") else { return };
    let long = "x".repeat(254);
    for (name, what) in [
        ("a\\u0000b", "the host \"a\\0b\" has a control character in its name"),
        ("a\\nb", "the host \"a\\nb\" has a control character in its name"),
        ("New York", "the host \"New York\" has a blank in its name"),
        (long.as_str(), "has too long a name"),
    ] {
        let program = format!("\n[[program]]\nhost = \"{name}\"\nrun = \"true\"\n");
        let path = lab.scenario(&(pair(name, "other") + &program));
        let path = path.to_str().expect("a plain path");
        for args in
            [&["run", path, "--world", "emulate", "--no-files"][..], &["shell", path, "other"]]
        {
            let done = ratewire().args(args).output().expect("it starts");
            let said = String::from_utf8_lossy(&done.stderr);
            assert_eq!(done.status.code(), Some(5), "{name}: {said}");
            assert!(said.contains(what) && said.contains("rename the node"), "{name}: {said}");
        }
    }
}

#[test]
fn logs_of_programs_are_files_whatever_their_host_is_called() {
    let Some(lab) = Lab::build("log-names") else { return };
    let program =
        "\n[[program]]\nhost = \"/../a\"\nrun = \"echo at $RATEWIRE_HOST; getent hosts /../a\"\n";
    lab.run(&(pair("/../a", "b") + program), &["--world", "emulate"]);
    let log = lab.log("1-_.._a.txt");
    assert!(log.contains("at /../a\n") && log.contains("198.18.0."), "{log}");
}

#[test]
fn a_program_with_a_nul_is_refused_where_it_stands() {
    let Some(lab) = Lab::build("nul") else { return };
    let program = "\n[[program]]\nhost = \"s1\"\nrun = \"echo \\u0000\"\n";
    let path = lab.scenario(&format!("law = \"cubic\"\n{DUMBBELL}{ONE_FLOW}{program}"));
    let args = ["run", path.to_str().expect("a plain path"), "--world", "emulate", "--no-files"];
    let done = ratewire().args(args).output().expect("it starts");
    let said = String::from_utf8_lossy(&done.stderr);
    assert_eq!(done.status.code(), Some(2), "{said}");
    assert!(
        said.contains("scenario.toml:") && said.contains("`run` has a NUL character"),
        "{said}"
    );
}
