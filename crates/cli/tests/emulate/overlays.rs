//! Overlays: group daemons and their clients.

use std::collections::BTreeMap;
use std::fs::File;
use std::ops::Range;

use parquet::file::reader::{FileReader, SerializedFileReader};
use parquet::record::RowAccessor;
use serde_json::Value;

use crate::lab::{Lab, is_on_time, number};

/// A ring of three nodes. One group has a bound of its own; the other fills the link from a to b.
const RING: &str = r#"
duration = "10 s"
law      = "newreno"
topology = { kind = "custom" }
node = [{ name = "a" }, { name = "b" }, { name = "c" }]
link = [
  { between = ["a", "b"], rate = "2 Mbit/s", delay = "10 ms", queue = "20 packets" },
  { between = ["b", "c"], rate = "4 Mbit/s", delay = "10 ms", queue = "20 packets" },
  { between = ["c", "a"], rate = "4 Mbit/s", delay = "10 ms", queue = "20 packets" },
]

[overlay]

[[group]]
name      = "quotes"
senders   = [["a", 2]]
rate      = "50 kbit/s"
receivers = ["c"]

[[group]]
name      = "bulk"
service   = "agreed"
senders   = [["a", 3]]
receivers = ["b"]
"#;

fn group<'a>(run: &'a Value, name: &str) -> &'a Value {
    let groups = run["overlay"]["groups"].as_array().expect("groups");
    groups.iter().find(|group| group["name"] == name).expect("a group of this name")
}

/// Messages of a group that were delivered in each second.
fn delivered(lab: &Lab, run: &str, name: &str) -> BTreeMap<u64, u64> {
    let path = lab.folder.join(format!("out/{run}/groups.parquet"));
    let file = SerializedFileReader::new(File::open(path).expect("the file")).expect("Parquet");
    let mut sums = BTreeMap::new();
    for row in file.get_row_iter(None).expect("rows") {
        let row = row.expect("a row");
        let place =
            |column| row.get_column_iter().position(|(name, _)| name == column).expect("a column");
        if row.get_string(place("group_name")).expect("a text") == name {
            let time = row.get_double(place("time_s")).expect("a number");
            let messages = row.get_ulong(place("delivered_messages")).expect("a number");
            *sums.entry(time as u64).or_default() += messages;
        }
    }
    println!("{name}: {sums:?}");
    sums
}

fn over(sums: &BTreeMap<u64, u64>, seconds: Range<u64>) -> u64 {
    sums.range(seconds).map(|(_, messages)| messages).sum()
}

#[test]
fn an_overlay_is_one_of_group_daemons() {
    let Some(lab) = Lab::build("overlay") else { return };
    let runs = lab.run(RING, &["--world", "simulate,emulate"]);
    let [simulated, emulated] = &runs[..] else { panic!("{} runs", runs.len()) };
    println!("{}\n{}", simulated["overlay"], emulated["overlay"]);
    let of = |run, name, figure: &str| number(&group(run, name)[figure]);
    // Senders of the emulated world need time to start.
    let quotes =
        |world| over(&delivered(&lab, &format!("newreno-{world}-seed-1"), "quotes"), 5..10) as f64;
    let ratio = quotes("emulate") / quotes("simulate");
    assert!((0.93..1.07).contains(&ratio) || !is_on_time(emulated), "{ratio}");
    // Prices hold the other senders to what their link carries.
    let bulk = of(emulated, "bulk", "sent_bps");
    assert!((1.2e6..2.3e6).contains(&bulk), "{bulk}");
    let [quotes, bulk] = ["quotes", "bulk"].map(|name| of(emulated, name, "delivery_mean_s"));
    assert!(quotes > 0.01 && bulk > quotes, "{quotes} s and {bulk} s; a link takes 10 ms");
    assert!(lab.log("overlay-1-a.txt").contains("daemon ready"));
}

#[test]
fn a_crash_kills_a_daemon_and_others_go_on() {
    let Some(lab) = Lab::build("overlay-crash") else { return };
    let faults = r#"
        fault = [
          { at = "2 s", kind = "crash", node = "c" },
          { at = "5 s", kind = "restart", node = "c" },
        ]
    "#;
    let runs = lab.run(&format!("{faults}{RING}"), &["--world", "emulate"]);
    let quotes = delivered(&lab, "newreno-seed-1", "quotes");
    // 100 kbit/s in messages of 1460 bytes are 8.6 a second.
    assert!(over(&quotes, 8..10) > 12, "after the restart");
    assert_eq!(over(&quotes, 3..5), 0, "the daemon of their receiver does not run");
    let bulk = delivered(&lab, "newreno-seed-1", "bulk");
    assert!(over(&bulk, 3..5) > 150, "the others have formed a view without it");
    let views = number(&runs[0]["overlay"]["views"]);
    assert!(views >= 2.0, "without it, and with it again: {views}");
}

#[test]
fn cut_links_are_gone_round() {
    let Some(lab) = Lab::build("overlay-cut") else { return };
    let faults = r#"fault = [{ at = "1 s", kind = "cut", link = ["a", "b"] }]"#;
    lab.run(&format!("{faults}{RING}"), &["--world", "emulate"]);
    let bulk = delivered(&lab, "newreno-seed-1", "bulk");
    // The cut is a second after the beginning, and senders need time to start.
    let cut = (0..3)
        .find(|second| over(&bulk, *second..second + 1) == 0)
        .expect("a second without messages");
    let silent = cut..cut + 4;
    assert_eq!(over(&bulk, silent), 0, "it is the shortest way until its silence has lasted 5 s");
    assert!(over(&bulk, 8..10) > 200, "then c is on the way");
}
