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
fn figures_that_a_sweep_was_asked_for_are_drawn_by_name() {
    let folder = folder("plot-asked");
    write(&folder, "hello.toml", HELLO);
    let over = ["sweep", "hello.toml", "--set", "bottleneck.delay=5ms,10ms", "--law", "xcp"];
    let wrong = ["--figure", "queue/bottleneck,jian", "--quiet"];
    let refused = ratewire(&folder, &[&["run", "hello.toml"][..], &wrong].concat());
    assert!(err(&refused).contains("no figure is called \"jian\""), "{}", err(&refused));
    let asked = ["--figure", "queue/bottleneck,jain", "--during", "0.5s..", "--quiet"];
    made(&folder, &[&over[..], &asked[..], &["--out", "swept"]].concat());
    for name in ["queue/bottleneck", "queue/bottleneck/bottleneck.delay"] {
        made(&folder, &["plot", "swept", name, "-o", "queue.csv"]);
        let csv = std::fs::read_to_string(folder.join("queue.csv")).expect("a figure");
        assert_eq!(csv.lines().filter(|line| line.contains("xcp")).count(), 2, "{name}: {csv}");
    }
    let done = ratewire(&folder, &["plot", "swept", "queue/other", "-o", "queue.csv"]);
    assert!(err(&done).contains("no figure is called \"queue/other\""), "{}", err(&done));
}

#[test]
fn a_folder_with_several_pages_has_the_figures_of_all() {
    let folder = folder("plot-pages");
    write(&folder, "hello.toml", HELLO);
    let short = ["--set", "duration=1s", "--quiet", "--out", "out"];
    made(&folder, &[&["run", "hello.toml", "--law", "xcp"], &short[..]].concat());
    let before = listed(&folder, "out");
    let compare = ["compare", "hello.toml", "--law", "xcp,cubic", "--seed", "1"];
    made(&folder, &[&compare[..], &short].concat());
    let names = listed(&folder, "out");
    for name in ["report:queue", "comparison:queue", "laws/utilisation"] {
        assert!(names.iter().any(|known| known == name), "{name}: {names:?}");
    }
    assert!(before.iter().any(|name| name == "queue") && !names.iter().any(|n| n == "queue"));
    let printed = out(&ratewire(&folder, &["plot", "out"]));
    assert!(printed.starts_with("out/report.html\n  report:throughput "), "{printed}");
    assert!(printed.contains("\nout/comparison.html\n  comparison:throughput "), "{printed}");
    let csv = |name: &str| {
        made(&folder, &["plot", "out", name, "-o", "figure.csv"]);
        std::fs::read_to_string(folder.join("figure.csv")).expect("the file")
    };
    assert!(!csv("report:queue").contains("cubic") && csv("comparison:queue").contains("cubic"));
    assert!(csv("laws/utilisation").contains("cubic"));
    assert!(csv("comparison:queue/s1->r1").contains("cubic"));
    let wrong = |name: &str| {
        let done = ratewire(&folder, &["plot", "out", name, "-o", "figure.csv"]);
        assert_eq!(done.status.code(), Some(2), "{name}");
        err(&done)
    };
    let says = "ratewire: out/report.html, out/comparison.html: several pages have a figure \"queue\": \
                write report:queue or comparison:queue\n";
    assert_eq!(wrong("queue"), says);
    let says = "out/report.html, out/comparison.html: no figure is called \"qeue\"; did you mean";
    assert!(wrong("qeue").contains(says), "{}", wrong("qeue"));
    let says = "out/comparison.html: no figure is called \"qeue\"; did you mean \"queue\"?";
    assert!(wrong("comparison:qeue").contains(says), "{}", wrong("comparison:qeue"));
    // One page alone is not ambiguous.
    made(&folder, &["plot", "out/comparison.html", "queue", "-o", "figure.csv"]);
}

#[test]
fn what_is_chosen_is_drawn() {
    let folder = folder("plot-chosen");
    write(&folder, "hello.toml", HELLO);
    made(&folder, &["run", "hello.toml", "--law", "xcp,cubic,newreno", "--quiet"]);
    let drawn = |figure: &str, file: &str, options: &[&str]| {
        let args = [&["plot", "out/hello", figure, "-o", file], options].concat();
        let done = ratewire(&folder, &args);
        assert_eq!(done.status.code(), Some(0), "{args:?}: {}", err(&done));
        (std::fs::read_to_string(folder.join(file)).expect("the file"), err(&done))
    };
    let size = ["--width", "89mm", "--height", "2.5in", "--font-size", "7"];
    let (svg, _) = drawn("queue", "a.svg", &size);
    assert!(svg.contains("width=\"252.28pt\" height=\"180pt\""), "{svg}");
    assert!(svg.contains("font-size=\"7\""), "{svg}");
    let lines = ["--law", "newreno, xcp", "--name", "newreno=Reno", "--during", "1 s .. 2 s"];
    let (csv, note) = drawn("queue", "a.csv", &lines);
    let row = |row: Option<&str>| -> Vec<String> {
        row.expect("a row").split(',').map(String::from).collect()
    };
    let (first, last) = (row(csv.lines().nth(1)), row(csv.lines().last()));
    assert!(first[0].starts_with("Reno") && last[0].starts_with("xcp"), "{csv}");
    assert!(!csv.contains("cubic") && note.is_empty(), "{note}");
    let seconds = |row: &[String]| row[1].parse::<f64>().expect("a number");
    assert!(seconds(&first) >= 1.0 && seconds(&last) <= 2.0, "{csv}");
    let (csv, _) = drawn("throughput", "a.csv", &["--flow", "s1-d1", "--x-range", "1..2"]);
    assert!(csv.lines().skip(1).all(|row| row.contains("s1->d1")), "{csv}");
    let axes = ["--y-log", "--x-range", "..2", "--panels", "one"];
    let (svg, note) = drawn("throughput", "a.svg", &axes);
    assert!(svg.contains("clip-path"), "{svg}");
    let says =
        "points of throughput are not above 0, and its logarithmic vertical axis leaves them out";
    assert!(note.starts_with("note: ") && note.trim_end().ends_with(says), "{note}");
}

#[test]
fn choices_that_no_figure_offers_are_refused_with_what_is_allowed() {
    let folder = folder("plot-refused");
    write(&folder, "hello.toml", HELLO);
    made(&folder, &["run", "hello.toml", "--law", "xcp,cubic", "--quiet"]);
    for (options, says) in [
        (
            &["--width", "3.5ft"][..],
            "\"3.5ft\" is no length; allowed: a number with in, mm, cm or pt",
        ),
        (&["--width", "200in"], "14400 pt is no side of a figure; allowed: 0.5in to 100in"),
        (&["--height", "1mm"], "2.83 pt is no side of a figure; allowed: 0.5in to 100in"),
        (
            &["--width", "3in", "--columns", "2"],
            "'--width <LENGTH>' cannot be used with '--columns",
        ),
        (&["--font-size", "100"], "letters cannot be 100 pt high; allowed: 3pt to 72pt"),
        (
            &["--height", "0.7in"],
            "a.svg: queue has no room in 50.4 pt of height with letters of 8 pt",
        ),
        (&["--y-range", "5"], "allowed: numbers in the unit of the axis such as 0..20"),
        (&["--y-range", ".."], "allowed: numbers in the unit of the axis such as 0..20"),
        (&["--x-range", "3..2"], "the lesser number comes first"),
        (&["--x-range", "100.."], "the horizontal axis of queue cannot have the range 100.."),
        (
            &["--law", "cubc"],
            "no law is called \"cubc\"; did you mean \"cubic\"? known: xcp, cubic",
        ),
        (&["--flow", "s1-d1"], "queue has no lines of single flows, so none can be chosen"),
        (&["--during", "1 s"], "allowed: two times such as \"5 s .. 30 s\""),
        (&["--during", "2s..1s"], "the earlier time comes first"),
        (&["--during", "1s..1h"], "at 3600 s the run has ended; its duration is 2 s"),
        (&["--name", "xcp"], "allowed: the name of a line and another one, such as newreno=Reno"),
        (&["--name", "rcp=RCP"], "no line is called \"rcp\"; did you mean \"xcp\"?"),
        (&["--y-log=maybe"], "invalid value 'maybe' for '--y-log"),
    ] {
        let args = [&["plot", "out/hello", "queue", "-o", "a.svg"], options].concat();
        let done = ratewire(&folder, &args);
        assert_eq!(done.status.code(), Some(2), "{args:?}: {}", err(&done));
        assert!(err(&done).contains(says), "{args:?}: {}", err(&done));
        assert!(!folder.join("a.svg").exists(), "{args:?}");
    }
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
        (&["out/hello", "--law", "xcp"], 2, "<FIGURE>".into()),
        (&["out/hello", "--y-log"], 2, "<FIGURE>".into()),
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
