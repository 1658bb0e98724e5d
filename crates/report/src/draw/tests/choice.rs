//! What a user chooses of figures.

use ratewire_units::{Duration, Time};

use super::*;

fn list(names: &[&str]) -> Vec<String> {
    names.iter().map(|name| name.to_string()).collect()
}

fn at_ms(ms: u64) -> Time {
    Time::ZERO + Duration::from_millis(ms)
}

fn of_laws(laws: &[&str]) -> Choice {
    Choice { laws: list(laws), panels: Panels::One, ..Choice::default() }
}

fn names(figure: &Figure) -> Vec<&str> {
    figure.panels.iter().flat_map(|panel| &panel.series).map(|one| one.name.as_str()).collect()
}

fn chosen(figures: &Figures, name: &str, choice: &Choice) -> Figure {
    figures.choose(name, choice).unwrap_or_else(|e| panic!("{name}: {e}")).figure
}

fn refusal(figures: &Figures, name: &str, choice: &Choice) -> String {
    figures.choose(name, choice).expect_err(name).to_string()
}

#[test]
fn laws_have_the_order_that_is_chosen_and_keep_their_looks() {
    let figures = figures(&["xcp", "cubic", "newreno"], 1);
    for name in ["total", "round-trip", "utilisation", "completion-time"] {
        let all = chosen(&figures, name, &Choice { panels: Panels::One, ..Choice::default() });
        let some = chosen(&figures, name, &of_laws(&["newreno", "xcp"]));
        let laws: Vec<&str> = names(&some).iter().map(|n| n.split(' ').next().unwrap()).collect();
        assert_eq!(laws, ["newreno", "xcp"], "{name}");
        for series in &some.panels[0].series {
            let mut same = all.panels[0].series.iter();
            let same = same.find(|one| one.name == series.name).expect("the law");
            assert_eq!((series.hue, series.dash, series.mark), (same.hue, same.dash, same.mark));
        }
        assert_eq!(some.csv().lines().filter(|line| line.contains("cubic")).count(), 0, "{name}");
    }
    let scattered = chosen(&figures, "completion-size", &of_laws(&["newreno", "xcp"]));
    let titles: Vec<&str> = scattered.panels.iter().map(|panel| panel.title.as_str()).collect();
    assert_eq!(titles, ["newreno", "xcp"]);
    assert_eq!(names(&chosen(&figures, "total", &of_laws(&["*c", "xcp"]))), ["cubic", "xcp"]);
    let wrong = figures.choose("queue", &of_laws(&["cubc"])).expect_err("no law");
    let known = list(&["xcp", "cubic", "newreno"]);
    assert_eq!(wrong, Error::Unknown { what: "law", name: "cubc".into(), known });
}

#[test]
fn a_law_stands_for_all_its_seeds() {
    let runs = [("xcp", 1), ("cubic", 1), ("xcp", 2)].map(|(law, seed)| {
        let mut run = run(law, 1);
        run.info.seed = seed;
        run
    });
    let figures = Figures::read(&crate::html::render(&Page::new(runs.into()))).expect("a page");
    let both = chosen(&figures, "total", &of_laws(&["xcp"]));
    assert_eq!(names(&both), ["xcp (seed 1)", "xcp (seed 2)"]);
    assert_eq!(names(&chosen(&figures, "total", &of_laws(&["xcp (seed 2)"]))), ["xcp (seed 2)"]);
}

#[test]
fn axes_fit_the_laws_that_are_left() {
    let figures = compared(&["xcp", "a-law"]);
    let y = |laws: &[&str]| chosen(&figures, "laws/utilisation", &of_laws(laws)).y.high;
    assert!((y(&["a-law"]) / y(&[]) - 0.6).abs() < 0.01, "{} {}", y(&["a-law"]), y(&[]));
    let one = chosen(&figures, "laws/utilisation", &of_laws(&["a-law", "xcp"]));
    assert_eq!(one.x.names, ["a-law", "xcp"]);
    assert!(one.csv().starts_with("series,Law,Utilisation (%)"), "{}", one.csv());
    assert!(one.csv().contains("\na-law,a-law,") && one.csv().contains("\nxcp,xcp,"));
    let figures = swept(&["xcp", "cubic"]);
    let lines = chosen(&figures, "utilisation", &of_laws(&["cubic"]));
    assert_eq!(names(&lines), ["cubic", "cubic"], "a panel a discipline");
    let all = chosen(&figures, "utilisation", &Choice::default());
    assert_eq!(lines.panels[0].series[0].hue, all.panels[0].series[1].hue);
    let xcp = chosen(&figures, "utilisation", &of_laws(&["xcp"]));
    assert!(xcp.y.high < lines.y.high);
    assert_eq!(chosen(&figures, "map/utilisation", &of_laws(&["cubic"])).panels.len(), 1);
    let wrong = refusal(&figures, "map/utilisation", &of_laws(&["rcp"]));
    assert_eq!(wrong, "no law is called \"rcp\"; known: xcp, cubic");
}

#[test]
fn flows_have_the_order_that_is_chosen_and_keep_their_looks() {
    let figures = figures(&["xcp", "cubic"], 5);
    let of = |flows: &[&str]| Choice { flows: list(flows), ..Choice::default() };
    let all = chosen(&figures, "throughput", &Choice::default());
    let some = chosen(&figures, "throughput", &of(&["f4 <&>", "f1*"]));
    assert_eq!(names(&some), ["f4 <&>", "f1 <&>", "f4 <&>", "f1 <&>"], "law by law");
    for (series, place) in some.panels[1].series.iter().zip([4, 1]) {
        let same = &all.panels[1].series[place];
        assert_eq!((series.hue, series.mark), (same.hue, same.mark));
    }
    // Two lines of each law need no panels of their own.
    let one = chosen(&figures, "throughput", &of(&["f1*"]));
    assert_eq!(one.panels.len(), 1);
    assert_eq!(names(&one), ["xcp f1 <&>", "cubic f1 <&>"]);
    let wrong = refusal(&figures, "throughput", &of(&["f9"]));
    assert!(wrong.starts_with("no flow is called \"f9\"; known: f0 <&>, f1 <&>,"), "{wrong}");
    for name in ["queue", "total", "completion-time"] {
        let says = format!("{name} has no lines of single flows, so none can be chosen");
        assert_eq!(refusal(&figures, name, &of(&["f1*"])), says);
    }
}

#[test]
fn a_part_of_the_time_has_its_own_axes() {
    let figures = figures(&["xcp"], 2);
    let during = |from, to| Choice { during: Some((at_ms(from), at_ms(to))), ..Choice::default() };
    let part = chosen(&figures, "queue", &during(200, 300));
    // The unit is that of the time shown.
    assert_eq!((part.x.low, part.x.high, part.x.unit.as_str()), (200.0, 300.0, "ms"));
    let all = chosen(&figures, "queue", &Choice::default());
    assert!((part.y.high / all.y.high - 0.3).abs() < 0.02, "{} {}", part.y.high, all.y.high);
    let points = |figure: &Figure| figure.panels[0].series[0].points.len();
    assert_eq!(points(&part) * 10, points(&all));
    assert_eq!(part.csv().lines().count() - 1, points(&part) * 2);
    let wrong = refusal(&figures, "queue", &during(200, 1100));
    assert_eq!(wrong, "at 1.1 s the run has ended; its duration is 1 s");
    assert!(refusal(&figures, "queue", &during(300, 200)).contains("300 ms to 200 ms is empty"));
    let says = "completion-time is not drawn over time, so no time can be chosen";
    assert_eq!(refusal(&figures, "completion-time", &during(200, 300)), says);
}

#[test]
fn lines_have_other_names() {
    let name = |pairs: &[(&str, &str)]| Choice {
        names: pairs.iter().map(|(old, new)| (old.to_string(), new.to_string())).collect(),
        ..Choice::default()
    };
    let renamed = name(&[("xcp", "XCP"), ("f1 <&>", "bulk")]);
    let few = figures(&["xcp", "cubic"], 1);
    assert_eq!(names(&chosen(&few, "completion-time", &name(&[("xcp", "XCP")]))), ["XCP", "cubic"]);
    let one = name(&[("xcp f0 <&>", "first")]);
    assert_eq!(names(&chosen(&few, "throughput", &one)), ["first", "cubic f0 <&>"]);
    let figures = figures(&["xcp", "cubic"], 3);
    let figure = chosen(&figures, "throughput", &renamed);
    let titles: Vec<&str> = figure.panels.iter().map(|panel| panel.title.as_str()).collect();
    assert_eq!(titles, ["XCP", "cubic"]);
    assert_eq!(names(&figure)[..3], ["f0 <&>", "bulk", "f2 <&>"]);
    assert!(figure.csv().contains("XCP,bulk,") && figure.svg(&Style::default()).contains(">bulk<"));
    let wrong = refusal(&figures, "throughput", &name(&[("xpc", "XCP")]));
    assert!(wrong.starts_with("no line is called \"xpc\"; known: xcp, cubic, f0 <&>"), "{wrong}");
    let laws = compared(&["xcp", "cubic"]);
    let laws = chosen(&laws, "laws/utilisation", &name(&[("xcp", "XCP")]));
    assert_eq!(laws.x.names, ["XCP", "cubic"]);
    let map = chosen(&swept(&["xcp"]), "map/utilisation", &name(&[("xcp", "XCP")]));
    assert_eq!(map.panels[0].title, "XCP");
}

#[test]
fn ranges_cut_lines_and_rows() {
    let figures = figures(&["xcp"], 1);
    let x = AxisChoice { low: Some(0.4), high: None, log: None };
    let y = AxisChoice { low: None, high: Some(20.0), log: None };
    let figure = chosen(&figures, "queue", &Choice { x, y, ..Choice::default() });
    assert_eq!((figure.x.low, figure.x.high, figure.y.low, figure.y.high), (0.4, 1.0, 0.0, 20.0));
    let csv = figure.csv();
    let rows: Vec<(f64, f64)> = csv
        .lines()
        .skip(1)
        .map(|row| {
            let cells: Vec<f64> =
                row.split(',').skip(1).map(|cell| cell.parse().unwrap()).collect();
            (cells[0], cells[1])
        })
        .collect();
    assert!(rows.iter().all(|(x, y)| *x >= 0.4 && *y <= 20.0) && rows.len() > 10, "{csv}");
    let svg = figure.svg(&Style::default());
    let xml = roxmltree::Document::parse(&svg).expect("XML");
    let plane = xml.descendants().find(|node| node.has_tag_name("clipPath")).expect("a plane");
    let edge = |name: &str| -> f64 {
        plane.first_element_child().unwrap().attribute(name).unwrap().parse().unwrap()
    };
    let (left, right) = (edge("x"), edge("x") + edge("width"));
    // Lines go on outside, where they are not seen; markers stay within.
    let starts = |node: &roxmltree::Node<'_, '_>| -> f64 {
        let path = node.attribute("d").unwrap();
        path[1..].split(' ').next().unwrap().parse().unwrap()
    };
    let clipped = |node: &roxmltree::Node<'_, '_>| {
        node.ancestors().any(|above| above.attribute("clip-path") == Some("url(#plane0)"))
    };
    let paths: Vec<_> = xml.descendants().filter(|node| node.has_tag_name("path")).collect();
    assert!(paths.iter().any(|path| clipped(path) && starts(path) < left));
    let free = paths.iter().filter(|path| !clipped(path));
    assert!(free.clone().count() > 5);
    assert!(free.clone().all(|path| (left..=right + 4.0).contains(&starts(path))), "{svg}");
    let plain = chosen(&figures, "queue", &Choice::default()).svg(&Style::default());
    assert!(!plain.contains("clip"), "only where something is cut");
    for (low, high, says) in [
        (Some(30.0), Some(20.0), "cannot have the range 30..20 packets; the lesser number comes"),
        (Some(200.0), None, "cannot have the range 200..106 packets; the lesser number comes"),
        (Some(200.0), Some(300.0), "has no value in 200..300 packets; they are in 0.3333..100"),
    ] {
        let choice = Choice { y: AxisChoice { low, high, log: None }, ..Choice::default() };
        let wrong = refusal(&figures, "queue", &choice);
        assert_eq!(wrong.find(says), Some("the vertical axis of queue ".len()), "{wrong}");
    }
    let wrong = refusal(&swept(&["xcp"]), "map/utilisation", &Choice { x, ..Choice::default() });
    let says = "the horizontal axis of map/utilisation has names, and no range or logarithm";
    assert_eq!(wrong, says);
}

#[test]
fn a_logarithmic_axis_says_what_it_leaves_out() {
    let mut silent = run("xcp", 1);
    let mut collector = Collector::new(&silent.info);
    let interval = Duration::from_millis(10);
    for tick in 1..=100_u64 {
        let (at, packets) =
            (Time::ZERO + interval * tick, if tick > 25 { tick as f64 } else { 0.0 });
        collector.link(&LinkRow {
            at,
            interval,
            queue_packets_mean: packets,
            queue_packets_max: packets as u32,
            ..LinkRow::default()
        });
    }
    silent.collected = collector.finish();
    let page = crate::html::render(&Page::new(vec![silent]));
    let figures = Figures::read(&page).expect("a page");
    let log = AxisChoice { log: Some(true), ..AxisChoice::default() };
    let queue = figures.choose("queue", &Choice { y: log, ..Choice::default() }).expect("it");
    let says = "50 of 200 points of queue are not above 0, and its logarithmic vertical axis leaves \
                them out";
    assert_eq!(queue.notes, [says]);
    assert!(queue.figure.y.log && queue.figure.y.low > 20.0 && queue.figure.y.low < 26.0);
    let svg = queue.figure.svg(&Style::default());
    assert!(!svg.contains("NaN") && !svg.contains("inf"), "{svg}");
    let ticks: Vec<&str> = svg.split("text-anchor=\"end\">").skip(1).collect();
    assert!(ticks.iter().any(|tick| tick.starts_with("60<")), "{svg}");
    // Time is above 0 everywhere: nothing to note.
    let both = Choice { x: log, ..Choice::default() };
    let queue = figures.choose("queue", &both).expect("it");
    assert!(queue.notes.is_empty() && queue.figure.x.log && queue.figure.x.low > 0.0);
    let zero = AxisChoice { low: Some(0.0), ..log };
    let wrong = refusal(&figures, "queue", &Choice { y: zero, ..Choice::default() });
    assert!(
        wrong.contains("is logarithmic, so its range 0..106 packets must be above 0"),
        "{wrong}"
    );
    let wrong = refusal(&figures, "utilisation", &Choice { y: log, ..Choice::default() });
    assert!(wrong.contains("has no value above 0, and cannot be logarithmic"), "{wrong}");
    let linear = AxisChoice { log: Some(false), ..AxisChoice::default() };
    let figures = super::figures(&["xcp"], 1);
    let times = chosen(&figures, "completion-time", &Choice { x: linear, ..Choice::default() });
    assert!(!times.x.log && times.x.low == 0.0);
}
