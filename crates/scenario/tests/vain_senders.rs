//! What is said of flows, traffic and receivers and does nothing is told.

mod common;

use common::{scenario, shown};

/// A dumbbell of one pair with these further lines.
fn dumbbell(more: &str) -> String {
    format!(
        "duration = \"2 s\"\nlaw = \"newreno\"\n[topology]\nkind = \"dumbbell\"\n\
         bottleneck = {{ rate = \"10 Mbit/s\", delay = \"10 ms\" }}\n{more}\n"
    )
}

fn flow(more: &str) -> String {
    dumbbell(&format!("[[flow]]\nfrom = \"s1\"\nto = \"d1\"\n{more}"))
}

/// What is told of a run under one law.
fn planned(text: &str, law: &str) -> String {
    shown(&scenario(text).plan(Some(law), None).expect("a plan").warnings)
}

#[test]
fn a_slow_reader_that_holds_nobody_back_is_told() {
    let slow = "reader = { per_frame = \"5 ms\" }\n";
    let said = planned(&flow(slow), "newreno");
    assert!(
        said.contains(
            "simulated, the reader of \"s1->d1\" holds nobody back: its receive window is unlimited"
        ),
        "{said}"
    );
    assert!(said.contains("receive_window = \"64 KB\""), "{said}");
    let many = format!("{slow}count = 3\n");
    assert!(planned(&flow(&many), "newreno").contains("\"s1->d1\" and 2 more"));
    for window in ["\"64 KB\"", "{ initial = \"4 packets\", max = \"4 MB\" }"] {
        let window = format!("{slow}transport = {{ receive_window = {window} }}");
        assert_eq!(planned(&flow(&window), "newreno"), "");
    }
    // Such receivers feed back how full their buffer is.
    let soft = format!("{slow}law = \"xcp\"\noptions = {{ flow_control = \"soft\" }}");
    assert_eq!(planned(&flow(&soft), "xcp"), "");
    assert_eq!(planned(&flow("reader = { per_frame = \"0 s\" }"), "newreno"), "");
}
