//! Verdicts on the reliability of runs, with their remedies.

use std::path::Path;

use crate::lab::{self, DUMBBELL, Lab, ratewire, said};

/// On any machine, a flow whose program fails has no reliable figures.
#[test]
fn a_run_that_cannot_be_relied_on_says_so_and_has_its_own_code() {
    let Some(lab) = Lab::build("unreliable") else { return };
    let flow = "[[flow]]\nfrom = \"s1\"\nto = \"d1\"\nrun = \"false\"\n";
    let path = lab.scenario(&format!("law = \"cubic\"\n{DUMBBELL}{flow}").replace("6 s", "1 s"));
    let mut command = ratewire();
    command.arg("run").arg(path).args(["--world", "emulate", "--out"]).arg(lab.folder.join("o"));
    let done = command.output().expect("it starts");
    let complaints = String::from_utf8_lossy(&done.stderr);
    assert_eq!(done.status.code(), Some(lab::LATE), "{complaints}");
    let says = "\"false\" at s1 ended with an error\n  help: ";
    let (_, rest) = complaints.split_once(says).expect(&complaints);
    let (log, _) = rest.split_once(" has what it wrote").expect(rest);
    assert!(Path::new(log).is_file(), "{log}");
    let printed = said(&done);
    assert!(
        printed.contains("DOES NOT HOLD") && printed.contains("Not all emulated runs"),
        "{printed}"
    );
    assert!(
        printed.contains(", 1 flow failed") && printed.contains("help: mend the flows"),
        "{printed}"
    );
    let is_late = printed.contains(" were later than 1 ms");
    assert!(is_late || !printed.contains("quieter machine"), "{printed}");
}

#[test]
fn where_nothing_is_to_be_sent_nothing_is_missing() {
    let Some(lab) = Lab::build("nothing") else { return };
    let dumbbell = DUMBBELL.replace("6 s", "300 ms");
    let run = |rest: &str| {
        let path = lab.scenario(&format!("law = \"cubic\"\n{dumbbell}{rest}"));
        let mut command = ratewire();
        command.arg("run").arg(path).args(["--world", "emulate", "--no-files"]);
        let done = command.output().expect("it starts");
        (done.status.code(), said(&done))
    };
    let (code, printed) = run("");
    assert_eq!(code, Some(0), "{printed}");
    assert!(printed.contains("fidelity holds. No packet passed;"), "{printed}");
    let (code, printed) = run("[[program]]\nhost = \"s1\"\nrun = \"true\"\n");
    assert_eq!(code, Some(lab::LATE), "{printed}");
    assert!(printed.contains("No packet passed, although flows had data"), "{printed}");
}
