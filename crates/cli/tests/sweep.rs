//! `ratewire sweep` as users see it.

mod common;

use common::{HELLO, err, folder, out, ratewire, without_chance, write};
use serde_json::{Value, json};

#[test]
fn a_sweep_prints_one_table_and_leaves_one_page_and_one_data_set() {
    let folder = folder("sweep");
    write(&folder, "hello.toml", HELLO);
    let sweep = |more: &[&str]| {
        let args = ["sweep", "hello.toml", "--set", "bottleneck.rate=4M..16M:log3", "--quiet"];
        let more = [&["--set", "duration=1s", "--law", "xcp,cubic"], more].concat();
        let done = ratewire(&folder, &[&args[..], &more].concat());
        assert_eq!(done.status.code(), Some(0), "{}", err(&done));
        (out(&done), err(&done))
    };
    let queues = ["--set", "bottleneck.queue=0.5bdp,2bdp"];
    let (printed, said) = sweep(&queues);
    assert!(printed.contains("6 points, 2 laws, seed 1: 12 runs"), "{printed}");
    assert!(
        printed
            .contains("Report: out/hello-sweep/sweep.html\nTable: out/hello-sweep/sweep.parquet")
    );
    let lines = printed.lines().filter(|line| line.contains("bdp"));
    assert_eq!(lines.count(), 12, "{printed}");
    assert_eq!(said, "");
    let own = folder.join("out/hello-sweep");
    for file in ["sweep.html", "sweep.json", "sweep.parquet"] {
        assert!(own.join(file).metadata().is_ok_and(|file| file.len() > 500), "{file}");
    }
    let json: Value = serde_json::from_slice(&std::fs::read(own.join("sweep.json")).expect("JSON"))
        .expect("JSON");
    assert_eq!(json["experiment"]["set"], json!([{ "key": "duration", "value": "1s" }]));
    assert_eq!(json["axes"][1]["unit"], "bdp");
    assert_eq!(json["runs"].as_array().map(Vec::len), Some(12));
    assert_eq!(
        std::fs::read_link(folder.join("out/latest")).expect("a link").to_str(),
        Some("hello-sweep")
    );

    // The same sweep runs nothing, and another has a folder of its own.
    let (again, said) = sweep(&queues);
    assert_eq!(again, printed);
    assert_eq!(said, "ratewire: 12 of 12 runs were finished before and are kept\n");
    assert_eq!(sweep(&[&queues[..], &["--anew"]].concat()), (printed, String::new()));
    let (other, said) = sweep(&["--seed", "1..2"]);
    assert!(other.contains("3 points, 2 laws, seeds 1, 2: 12 runs"), "{other}");
    assert!(other.contains("Report: out/hello-sweep-") && said.is_empty(), "{other}{said}");
    let of_laws = std::fs::read_dir(own.join("runs")).expect("finished runs");
    let mut of_laws: Vec<_> = of_laws.map(|law| law.expect("a folder").file_name()).collect();
    of_laws.sort_unstable();
    assert_eq!(of_laws, ["law=cubic", "law=xcp"]);
}

#[test]
fn seeds_that_change_nothing_at_any_point_are_reported() {
    let folder = folder("sweep-seeds");
    write(&folder, "hello.toml", &without_chance(HELLO));
    let said = |values: &str| {
        let args = ["sweep", "hello.toml", "--no-files", "--quiet", "--seed", "1..2", "--set"];
        err(&ratewire(&folder, &[&args[..], &[values]].concat()))
    };
    assert_eq!(
        said("bottleneck.delay=1ms,2ms"),
        "warning: nothing is random in these simulated runs: every seed gives the same results\n  \
         help: `jitter` in [transport], a range as `start`, or arriving traffic makes seeds differ\n"
    );
    assert_eq!(said("transport.jitter=none,packet-time"), "");
}

#[test]
fn mistakes_in_values_name_the_option() {
    let folder = folder("sweep-wrong");
    write(&folder, "hello.toml", HELLO);
    for (args, says) in [
        (&["--set", "bottleneck.rate=1M..2M:log"][..], "--set bottleneck.rate=1M..2M:log: "),
        (&["--set", "bottleneck.rate=1M"], "--set: nothing is swept"),
        (&["--set", "bottleneck.rat=1M,2M"], " --> --set:1:1\n"),
        (&["--set", "law=xcp,cubic"], "laws and seeds are swept by --law"),
        (&["--set", "pairs=1,2", "--seed", "1..x"], "allowed: whole numbers"),
        (&["--set", "pairs=1,2", "--law", "xpc"], "no law or variant is called \"xpc\""),
    ] {
        let done = ratewire(&folder, &[&["sweep", "hello.toml", "--no-files"], args].concat());
        assert_eq!(done.status.code(), Some(2), "{args:?}: {}", err(&done));
        assert!(err(&done).contains(says), "{args:?}: {}", err(&done));
    }
    assert!(!folder.join("out").exists());
}
