//! `ratewire plot` as users see it.

mod common;

use std::path::Path;

use common::{HELLO, err, folder, out, ratewire, write};

fn made(folder: &Path, args: &[&str]) {
    let done = ratewire(folder, args);
    assert_eq!(done.status.code(), Some(0), "{args:?}: {}", err(&done));
}

/// Names of the figures that the command lists.
fn listed(folder: &Path, results: &str) -> Vec<String> {
    let done = ratewire(folder, &["plot", results]);
    assert_eq!(done.status.code(), Some(0), "{}", err(&done));
    let printed = out(&done);
    let lines = printed.lines().filter(|line| line.starts_with("  "));
    lines.filter_map(|line| line.split_whitespace().next()).map(String::from).collect()
}

#[test]
fn every_figure_of_a_run_is_drawn_in_every_format() {
    let folder = folder("plot-run");
    let sized = "\n[[flow]]\nfrom = \"s1\"\nto = \"d1\"\nsize = \"20 KB\"\ncount = 5\n";
    write(&folder, "hello.toml", &(HELLO.to_string() + sized));
    made(&folder, &["run", "hello.toml", "--law", "xcp,cubic", "--quiet"]);
    let names = listed(&folder, "out/hello");
    for name in ["throughput", "total", "round-trip", "queue", "completion-time"] {
        assert!(names.iter().any(|known| known == name), "{name}: {names:?}");
    }
    for name in &names {
        let files = ["svg", "pdf", "png", "csv"].map(|format| format!("drawn/{name}.{format}"));
        let [svg, pdf, png, csv] = files.each_ref().map(String::as_str);
        made(&folder, &["plot", "out/hello", name, "-o", svg, "-o", pdf, "-o", png, "-o", csv]);
        let bytes = |file: &str| std::fs::read(folder.join(file)).expect("the file");
        let text = |file| String::from_utf8(bytes(file)).expect("text");
        assert!(text(svg).starts_with("<svg ") && text(svg).contains("width=\"252pt\""), "{name}");
        assert!(bytes(pdf).starts_with(b"%PDF-") && bytes(png).starts_with(b"\x89PNG"), "{name}");
        assert!(text(csv).lines().count() > 2, "{name}");
    }
    // A page alone is enough, and earlier files are replaced.
    std::fs::copy(folder.join("out/hello/report.html"), folder.join("kept.html")).expect("a copy");
    let wide = ["plot", "kept.html", "queue", "--columns", "2", "--serif", "-o", "drawn/queue.svg"];
    made(&folder, &wide);
    let svg = std::fs::read_to_string(folder.join("drawn/queue.svg")).expect("the file");
    assert!(svg.contains("width=\"515.5pt\"") && svg.contains("Liberation Serif"), "{svg}");
    assert!(svg.contains(">Queue (packets)<") && svg.contains(">Time (s)<"));
    made(&folder, &["plot", "kept.html", "queue/s1->r1", "-o", "drawn/other.csv"]);
}

#[test]
fn comparisons_and_sweeps_have_figures() {
    let folder = folder("plot-others");
    write(&folder, "hello.toml", HELLO);
    let short = ["--set", "duration=1s", "--quiet"];
    let compare = ["compare", "hello.toml", "--law", "xcp,cubic", "--seed", "1"];
    made(&folder, &[&compare[..], &short].concat());
    let sweep = ["sweep", "hello.toml", "--set", "bottleneck.rate=4M..16M:log3", "--law", "xcp"];
    let queues = ["--set", "bottleneck.queue=0.5bdp,2bdp"];
    made(&folder, &[&sweep[..], &queues, &short].concat());
    let csv = |results: &str, name: &str| {
        made(&folder, &["plot", results, name, "-o", "figure.csv"]);
        std::fs::read_to_string(folder.join("figure.csv")).expect("the file")
    };
    assert!(listed(&folder, "out/hello").contains(&"laws/utilisation".to_string()));
    let printed = csv("out/hello", "laws/utilisation");
    assert!(printed.starts_with("series,Law,Utilisation (%)\nxcp,xcp,"), "{printed}");
    assert!(listed(&folder, "out/hello-sweep").contains(&"queue_packets_mean".to_string()));
    let printed = csv("out/hello-sweep", "queue_packets_mean");
    let head = "bottleneck.queue,series,bottleneck.rate (Mbit/s),Queue mean (packets)\n";
    assert!(printed.starts_with(head) && printed.lines().count() == 7, "{printed}");
    let printed = csv("out/hello-sweep", "map/queue_packets_mean");
    let head =
        "law,series,bottleneck.rate,bottleneck.queue,Queue mean (packets)\nxcp,xcp,4M,0.5bdp,";
    assert!(printed.starts_with(head) && printed.lines().count() == 7, "{printed}");
    let printed = csv("out/hello-sweep", "queue_packets_mean/bottleneck.queue");
    assert!(printed.starts_with("bottleneck.rate,series,bottleneck.queue (bdp),"), "{printed}");
}

#[test]
fn mistakes_are_reported_with_place_and_remedy() {
    let folder = folder("plot-wrong");
    write(&folder, "hello.toml", HELLO);
    made(&folder, &["run", "hello.toml", "--quiet"]);
    let page = "out/hello/report.html";
    for (args, code, says) in [
        (
            &["out/hello", "qeue", "-o", "a.svg"][..],
            2,
            format!(
                "ratewire: {page}: no figure is called \"qeue\"; did you mean \"queue\"? known: "
            ),
        ),
        (
            &["out/hello", "queue/bottlenek", "-o", "a.svg"],
            2,
            format!(
                "{page}: no figure is called \"queue/bottlenek\"; did you mean \"queue/bottleneck\"?"
            ),
        ),
        (
            &["out/hello", "queue", "-o", "a.bmp"],
            2,
            "'a.bmp' for '--out <FILE>': no figure has the extension \"bmp\"; allowed: svg, pdf, png, csv".into(),
        ),
        (&["out/hello", "queue"], 2, "--out <FILE>".into()),
        (
            &["out", "queue", "-o", "a.svg"],
            3,
            "cannot read out: no results are there; name a".into(),
        ),
        (&["none"], 3, "cannot read none: No such file".into()),
        (&["hello.toml"], 3, "cannot read hello.toml: no page of this version".into()),
        (&["out/hello", "queue", "-o", "hello.toml/a.svg"], 3, "it is a file, not a folder".into()),
    ] {
        let done = ratewire(&folder, &[&["plot"], args].concat());
        assert_eq!(done.status.code(), Some(code), "{args:?}: {}", err(&done));
        assert!(err(&done).contains(&says), "{args:?}: {}", err(&done));
    }
    std::fs::create_dir(folder.join("a.svg")).expect("a folder");
    let done = ratewire(&folder, &["plot", "out/hello", "queue", "-o", "a.svg"]);
    assert!(
        err(&done).contains("cannot write a.svg: it is a folder; name a file"),
        "{}",
        err(&done)
    );
}
