//! Figures of all laws are about the same links, which the runs do not choose.

use ratewire::Experiment;
use ratewire::report::verdict_links;

/// The links that figures of a run are about, one list a law.
fn links(text: &str, laws: &[&str]) -> Vec<Vec<String>> {
    let experiment = Experiment::parse("test.toml", text).expect("a scenario");
    let results =
        experiment.laws(laws.iter().copied()).run().unwrap_or_else(|wrong| panic!("{wrong}"));
    let runs = results.runs().iter().map(|run| run.clone().into_report());
    runs.map(|run| verdict_links(&[run])).collect()
}

const PARKING_LOT: &str = r#"
duration = "1 s"
law = "xcp"
[topology]
kind   = "parking-lot"
hops   = 3
link   = { rate = "100 Mbit/s", delay = "10 ms" }
access = { rate = "1 Gbit/s", delay = "1 ms" }
[[link]]
name = "hop2"
rate = "60 Mbit/s"
[[link]]
name = "hop3"
rate = "80 Mbit/s"
"#;

fn flow(from: &str, to: &str, more: &str) -> String {
    format!("[[flow]]\nfrom = \"{from}\"\nto = \"{to}\"\n{more}\n")
}

#[test]
fn where_flows_get_the_least_each_is_the_bottleneck_under_every_law() {
    let cross = flow("s0", "d0", "") + &flow("s1", "d1", "") + &flow("s2", "d2", "");
    let text = PARKING_LOT.to_string() + &cross;
    assert_eq!(links(&text, &["cubic", "hpcc", "xcp"]), [["hop2"]; 3]);
    // Three flows on 80 Mbit/s get less than two on 60.
    let more = text.clone() + &flow("s3", "d3", "count = 2");
    assert_eq!(links(&more, &["cubic"]), [["hop3"]]);
    // Of links alike on the same way, flows wait at the first.
    let alike = PARKING_LOT.replace("60 Mbit/s", "80 Mbit/s") + &flow("s0", "d0", "");
    assert_eq!(links(&alike, &["cubic"]), [["hop2"]]);
    // What flows of constant rate take is not for others: 38 Mbit/s are left of 100 for two.
    let constant = "count = 4\napp = { constant = { rate = \"15 Mbit/s\" } }";
    let constant = text.clone() + &flow("s1", "d1", constant);
    assert_eq!(links(&constant, &["cubic"]), [["hop1"]]);
}

#[test]
fn what_others_take_is_counted_with_headers_and_up_to_their_rate() {
    let two = |first: &str, more: &str| {
        format!(
            "duration = \"1 s\"\nlaw = \"cubic\"\n[topology]\nkind = \"parking-lot\"\nhops = 2\n\
             link = {{ rate = \"10 Mbit/s\", delay = \"5 ms\" }}\n\
             [[link]]\nname = \"hop1\"\nrate = \"{first} Mbit/s\"\n{}{}{more}",
            flow("s1", "d1", ""),
            flow("s2", "d2", "")
        )
    };
    // Frames of 160 B have 40 B of headers: 3 Mbit/s of payload take 3.75 of 10.
    let tone = "frame = \"160 B\"\napp = { constant = { rate = \"3 Mbit/s\" } }";
    let tone = flow("s2", "d2", tone);
    assert_eq!(links(&two("6.5", &tone), &["cubic"]), [["hop2"]]);
    assert_eq!(links(&two("6", &tone), &["cubic"]), [["hop1"]]);
    // Half of hop2 with headers are 5 Mbit/s.
    let half = "[[traffic]]\nbetween = [[\"s2\", \"d2\"]]\nsizes = { fixed = \"30 KB\" }\n\
                load = { link = \"hop2\", fraction = 0.5 }\n";
    assert_eq!(links(&two("5.08", half), &["cubic"]), [["hop2"]]);
    // Of constant rates above a fair part, no more than that part counts.
    let fast = flow("s2", "d2", "app = { constant = { rate = \"9 Mbit/s\" } }");
    assert_eq!(links(&two("4.5", &fast), &["cubic"]), [["hop1"]]);
    // Bursts of 10 KB with pauses of 5 s take next to nothing.
    let quiet = "app = { on_off = { burst = \"10 KB\", pause = \"5 s\" } }";
    let quiet = flow("s1", "d1", quiet);
    assert_eq!(links(&two("10.5", &quiet), &["cubic"]), [["hop2"]]);
}

#[test]
fn flows_count_for_the_measured_time_in_which_they_run() {
    let cross =
        flow("s0", "d0", "") + &flow("s1", "d1", "") + &flow("s2", "d2", "stop = \"100 ms\"");
    let text = PARKING_LOT.to_string() + &cross;
    // 1.1 flows on 60 Mbit/s get more each than two on 100.
    assert_eq!(links(&text, &["cubic"]), [["hop1"]]);
    let during = |part: &str| links(&format!("during = \"{part}\"\n{text}"), &["cubic"]);
    assert_eq!(during("0 s .. 100 ms"), [["hop2"]]);
    assert_eq!(during("500 ms .. 1 s"), [["hop1"]]);
    // Rates count for their time too: hop3 has 8 Mbit/s for the last tenth.
    let change = "[[change]]\nat = \"900 ms\"\nlink = \"hop3\"\nrate = \"8 Mbit/s\"\n";
    let after = format!("during = \"900 ms .. 1 s\"\n{text}{change}");
    assert_eq!(links(&after, &["cubic"]), [["hop3"]]);
    assert_eq!(links(&format!("{text}{change}"), &["cubic"]), [["hop1"]]);
    // And what a policer lets pass in the long run is a rate.
    let policed = PARKING_LOT.to_string()
        + "policer = { rate = \"9 Mbit/s\", burst = \"64 KB\" }\n"
        + &flow("s0", "d0", "");
    assert_eq!(links(&policed, &["cubic"]), [["hop3"]]);
}

#[test]
fn without_flows_that_take_all_the_most_loaded_link_is_it() {
    let sized = |bytes: &str| format!("size = \"{bytes}\"");
    let first = flow("s1", "d1", &sized("3 MB")) + &flow("s2", "d2", &sized("1 MB"));
    assert_eq!(links(&(PARKING_LOT.to_string() + &first), &["cubic", "xcp"]), [["hop1"]; 2]);
    // Equal paths share what arrives, so that no link of a fabric stands out by chance.
    let fabric = "duration = \"10 ms\"\nlaw = \"dctcp\"\n[topology]\nkind = \"fat-tree\"\nk = 4\n\
        link = { rate = \"1 Gbit/s\", delay = \"5 us\" }\n\
        access = { rate = \"1 Gbit/s\", delay = \"5 us\" }\n\
        [[traffic]]\narrivals = { poisson = \"1000 /s\" }\nsizes = { fixed = \"10 KB\" }\n";
    // All links from and to hosts; those above carry less.
    assert_eq!(links(fabric, &["dctcp"])[0].len(), 32);
}
