//! The kernel's senders with the options of a scenario's laws.

use std::path::Path;

use crate::lab::{Lab, drops, is_on_time, link, number};

/// The thesis's first implementation, and the complete law (figures 19 and 21): 1 MB, a pause of
/// 1 s, and so on. It costs 20 s of real time.
#[test]
fn a_naive_sender_of_xcp_overflows_the_router_and_the_complete_one_does_not() {
    let Some(lab) = Lab::build("naive") else { return };
    let figure = "../../papers/linux-xcp-thesis/figure-19-21.toml";
    let figure = Path::new(env!("CARGO_MANIFEST_DIR")).join(figure);
    let text = std::fs::read_to_string(figure).expect("the figure");
    let text = text.split("[[expect]]").next().expect("a network").replace("60 s", "10 s");
    let runs = lab.run(&text, &["--law", "naive-xcp,xcp", "--world", "emulate"]);
    let [naive, complete] = &runs[..] else { panic!("{} runs", runs.len()) };
    let most = |run| number(&link(run, "B->C")["queue_packets_max"]);
    if is_on_time(naive) && is_on_time(complete) {
        assert!(most(naive) > 400.0 && drops(naive) > 100.0, "{}", most(naive));
        assert!(most(complete) < 50.0 && drops(complete) == 0.0, "{}", most(complete));
    }
    let said = naive["fidelity"]["differences"].to_string();
    assert!(said.contains("headers are TCP options, without draft = 00"), "{said}");
}
