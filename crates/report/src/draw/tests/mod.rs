use ratewire_units::{Bytes, Duration, Rate, Throughput, Time};

mod choice;
mod labels;

use super::*;
use crate::{
    Collector, Comparison, Completion, FlowInfo, FlowRow, LinkInfo, LinkRow, LinkSummary,
    MeasuredRun, NodeInfo, Page, Run, RunInfo, Summary, SweepAxis, SweepGatherer, SweepValue,
    Topology,
};

/// A run of flows over two links, 1 s long.
fn run(law: &str, flows: u32) -> Run {
    let nodes = ["a", "b"].map(|name| NodeInfo { name: name.into(), ..NodeInfo::default() });
    let link = |name: &str| LinkInfo {
        name: name.into(),
        to: 1,
        rate: Rate::from_mbps(1),
        ..LinkInfo::default()
    };
    let flow = |i| FlowInfo { name: format!("f{i} <&>"), law: law.into(), ..FlowInfo::default() };
    let info = RunInfo {
        law: law.into(),
        duration: Duration::from_secs(1),
        topology: Topology { nodes: nodes.into(), links: vec![link("first"), link("second")] },
        flows: (0..flows).map(flow).collect(),
        ..RunInfo::default()
    };
    let mut collector = Collector::new(&info);
    let interval = Duration::from_millis(10);
    for tick in 1..=100 {
        let at = Time::ZERO + interval * tick;
        for flow in 0..flows {
            let goodput = Throughput::new(1e5 * (tick + u64::from(flow)) as f64);
            let (cwnd, srtt) = (Bytes::new(3000), Duration::from_millis(20 + tick));
            collector.flow(&FlowRow {
                at,
                interval,
                flow,
                goodput,
                cwnd,
                srtt,
                ..FlowRow::default()
            });
        }
        for link in 0..2 {
            let (queue_packets_mean, queue_packets_max) = (tick as f64 / 3.0, tick as u32);
            collector.link(&LinkRow {
                at,
                interval,
                link,
                utilisation: 0.5,
                queue_packets_mean,
                queue_packets_max,
                ..LinkRow::default()
            });
        }
        collector.completion(Completion {
            flow: tick,
            law: law.into(),
            size: Bytes::new(1000 * tick),
            took: Duration::from_millis(tick),
            ..Completion::default()
        });
    }
    let summary = Summary::of(&info);
    Run { collected: collector.finish(), info, summary }
}

fn figures(laws: &[&str], flows: u32) -> Figures {
    let page = Page::new(laws.iter().map(|law| run(law, flows)).collect());
    Figures::read(&crate::html::render(&page)).expect("a page")
}

/// Figures of a comparison whose laws differ in their figures.
fn compared(laws: &[&str]) -> Figures {
    let of = |law: &&str| {
        let link = |n| LinkSummary { bottleneck: true, utilisation: n, ..LinkSummary::default() };
        let seeds = [0.5, 0.52].map(|n| n / law.len() as f64);
        let seeds = seeds.map(|n| Summary { links: vec![link(n)], ..Summary::default() });
        (law.to_string(), seeds.to_vec())
    };
    let comparison = Comparison::of(&laws.iter().map(of).collect::<Vec<_>>(), true);
    let page = Page::new(laws.iter().map(|law| run(law, 1)).collect());
    Figures::read(&crate::html::render_comparison(&comparison, &page)).expect("a page")
}

/// Figures of a sweep over rates and disciplines with long names.
fn swept(laws: &[&str]) -> Figures {
    let value = |text: &str, number| SweepValue { text: text.into(), number };
    let rates = [("1M", 1e6), ("10M", 1e7), ("100M", 1e8)].map(|(text, n)| value(text, Some(n)));
    let queues = ["fq_codel", "dualpi2 with a step"].map(|text| value(text, None));
    let axis = |key: &str, values: Vec<SweepValue>| SweepAxis {
        key: key.into(),
        values,
        ..SweepAxis::default()
    };
    let axes =
        vec![axis("bottleneck.rate", rates.into()), axis("bottleneck.discipline", queues.into())];
    let names = laws.iter().map(|law| law.to_string()).collect();
    let mut gatherer = SweepGatherer::new(axes, names, vec![1]);
    for (rate, queue, law) in (0..6 * laws.len()).map(|n| (n / 2 % 3, n % 2, n / 6)) {
        let utilisation = 0.1 + 0.2 * rate as f64 + 0.1 * law as f64;
        let link = LinkSummary { bottleneck: true, utilisation, ..LinkSummary::default() };
        let summary = Summary { seed: 1, links: vec![link], ..Summary::default() };
        gatherer.add(MeasuredRun { point: vec![rate, queue], law, summary });
    }
    Figures::read(&crate::html::render_sweep(&gatherer.finish(), &[], "")).expect("a page")
}

#[test]
fn every_figure_is_xml_with_its_axes_and_a_line_a_series() {
    for laws in [&["xcp"][..], &["xcp", "cubic"]] {
        let figures = figures(laws, 3);
        let list = figures.list();
        for name in ["throughput", "window", "round-trip", "queue", "completion-time"] {
            assert!(list.iter().any(|listed| listed.name == name), "{name}: {list:?}");
        }
        for listed in list {
            let figure = figures.figure(&listed.name, Panels::Auto).expect("a figure");
            assert_eq!(figure.y.unit, listed.unit);
            for (columns, serif) in [(Columns::One, false), (Columns::Two, true)] {
                let svg = figure.svg(&Style { columns, serif, ..Style::default() });
                let xml = roxmltree::Document::parse(&svg).expect("XML");
                let texts: Vec<&str> = xml.descendants().filter_map(|node| node.text()).collect();
                for label in [figure.x.label(), figure.y.label()] {
                    assert!(texts.contains(&label.as_str()), "{label}: {texts:?}");
                }
                let series = figure.panels.iter().flat_map(|panel| &panel.series).count();
                let paths = xml.descendants().filter(|node| node.has_tag_name("path")).count();
                assert!(paths > series && !svg.contains("NaN"), "{}", listed.name);
            }
            let points = figure.panels.iter().flat_map(|panel| &panel.series);
            let points: usize = points.map(|series| series.points.len()).sum();
            assert_eq!(figure.csv().lines().count(), points + 1, "{}", listed.name);
        }
    }
}

#[test]
fn more_than_three_lines_have_panels() {
    let titles = |figure: Figure| -> Vec<String> {
        figure.panels.into_iter().map(|panel| panel.title).collect()
    };
    let of = |laws: &[&str], flows, panels| {
        titles(figures(laws, flows).figure("throughput", panels).expect("a figure"))
    };
    assert_eq!(of(&["xcp", "cubic"], 1, Panels::Auto), [""]);
    assert_eq!(of(&["xcp", "cubic"], 2, Panels::Auto), ["xcp", "cubic"]);
    assert_eq!(of(&["xcp", "cubic"], 2, Panels::One), [""]);
    assert_eq!(of(&["xcp"], 3, Panels::Auto), [""]);
    assert_eq!(of(&["xcp"], 4, Panels::Auto).len(), 4);
    assert_eq!(of(&["xcp"], 13, Panels::Auto), [""]);
    assert_eq!(of(&["xcp"], 2, Panels::Each).len(), 2);
}

#[test]
fn a_law_keeps_its_colour_and_marker_in_all_figures() {
    let laws = [
        "cubic", "mylaw", "xcp", "newreno", "bbr3", "rcp", "maxnet", "emkc", "hpcc", "dctcp",
        "jetmax", "bbr1",
    ];
    let figures = figures(&laws, 1);
    let mut looks = Vec::new();
    for name in ["queue", "utilisation", "completion-time"] {
        let figure = figures.figure(name, Panels::One).expect("a figure");
        let series = figure.panels.iter().flat_map(|panel| &panel.series);
        let mut look: Vec<_> = series.map(|s| (s.g, s.hue, s.dash, s.mark)).collect();
        look.dedup();
        looks.push(look);
    }
    assert!(looks.iter().all(|look| *look == looks[0] && look.len() == 12), "{looks:?}");
    let mut lines: Vec<_> = looks[0].iter().map(|look| (look.1, look.2)).collect();
    lines.sort_unstable();
    lines.dedup();
    assert_eq!(lines.len(), 12, "no two lines look alike");
    let alone = super::tests::figures(&["cubic", "newreno"], 1);
    let alone = alone.figure("queue", Panels::One).expect("a figure");
    let look = |series: &FigureSeries| (series.hue, series.dash, series.mark);
    let alone: Vec<_> = alone.panels[0].series.iter().map(look).collect();
    for (g, look) in [(0, alone[0]), (3, alone[alone.len() - 1])] {
        let same = looks[0].iter().find(|all| all.0 == g).expect("the law");
        assert_eq!((same.1, same.2, same.3), look, "as on a page of other laws");
    }
}

#[test]
fn a_link_and_an_unknown_name_are_named() {
    let figures = figures(&["xcp"], 1);
    assert_eq!(figures.parts("queue").len(), 2);
    let other = figures.figure("queue/second", Panels::Auto).expect("the other link");
    assert_eq!((other.title.as_str(), other.name.as_str()), ("Queue of second", "queue/second"));
    let known = |name: &str| match figures.figure(name, Panels::Auto) {
        Err(Error::Unknown { known, .. }) => known,
        other => panic!("{other:?}"),
    };
    assert!(known("qeue").contains(&"queue".to_string()));
    assert_eq!(known("queue/third"), ["queue/first", "queue/second"]);
    assert!(known("throughput/first").contains(&"throughput".to_string()));
    assert_eq!(Figures::read("<!doctype html>").unwrap_err(), Error::NoPage);
    assert_eq!(Format::of("a.bmp".as_ref()), Err(Error::Format("bmp".into())));
}

#[test]
fn figures_of_one_name_are_numbered() {
    let page = crate::html::render(&Page::new(vec![run("xcp", 1)]));
    let (_, drawn) =
        page.split_once("<script type=\"application/json\" class=\"figure\">").unwrap();
    let figure = drawn.split_inclusive("</script>").next().unwrap();
    let again = format!("<script type=\"application/json\" class=\"figure\">{figure}");
    let figures = Figures::read(&(page.clone() + &again + &again)).expect("a page");
    let names: Vec<String> = figures.list().into_iter().map(|listed| listed.name).collect();
    for name in ["completion-time", "completion-time#2", "completion-time#3"] {
        assert_eq!(names.iter().filter(|known| *known == name).count(), 1, "{names:?}");
        assert_eq!(figures.figure(name, Panels::Auto).expect("it").name, name);
    }
}

#[cfg(feature = "images")]
#[test]
fn pictures_are_whole() {
    let figure = figures(&["xcp", "cubic"], 1).figure("queue", Panels::Auto).expect("a figure");
    let style = Style { serif: true, ..Style::default() };
    let bytes = |format| figure.bytes(format, &style).expect("a file");
    let pdf = bytes(Format::Pdf);
    assert!(pdf.starts_with(b"%PDF-") && pdf.trim_ascii_end().ends_with(b"%%EOF"));
    let text = String::from_utf8_lossy(&pdf).into_owned();
    assert!(text.contains("LiberationSerif") && text.contains("/FontFile"), "the font is inside");
    let png = bytes(Format::Png);
    // Width in the header: 3.5 inches of 600 dots.
    assert!(png.starts_with(b"\x89PNG") && png[16..20] == 2100_u32.to_be_bytes());
    assert_eq!(png, bytes(Format::Png), "the same each time");
}

#[test]
fn script_and_style_of_the_page_have_the_same_colours() {
    let (script, style) =
        (include_str!("../../../assets/figure.js"), include_str!("../../../assets/page.css"));
    for (hue, colour) in PALETTE.iter().enumerate() {
        assert!(script.contains(&format!("\"{colour}\"")), "{colour}");
        assert!(style.contains(&format!("--hue{hue}: {colour};")), "{colour}");
    }
}
