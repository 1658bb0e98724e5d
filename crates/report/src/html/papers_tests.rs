use super::*;
use crate::{Basis, Collector, FlowInfo, FlowRow, RunInfo, Summary};
use ratewire_units::{Duration, Throughput, Time};

const EVIL: &str = "<script>alert(1)</script>\"'&\u{1b}";

fn run(law: &str, ticks: u64) -> Run {
    let flow = |i| FlowInfo { name: format!("f{i}"), law: law.into(), ..FlowInfo::default() };
    let info = RunInfo {
        law: law.into(),
        duration: Duration::from_millis(10 * ticks),
        flows: (0..40).map(flow).collect(),
        ..RunInfo::default()
    };
    let mut collector = Collector::new(&info);
    for tick in 1..=ticks {
        let interval = Duration::from_millis(10);
        let at = Time::ZERO + interval * tick;
        for flow in 0..40 {
            let goodput = Throughput::new((tick * 7919 % 9973) as f64);
            collector.flow(&FlowRow { at, interval, flow, goodput, ..FlowRow::default() });
        }
    }
    Run { summary: Summary::of(&info), collected: collector.finish(), info }
}

fn claim(passed: bool, basis: Basis) -> CheckedExpectation {
    CheckedExpectation {
        passed,
        basis,
        claim: EVIL.into(),
        law: "xcp".into(),
        ..CheckedExpectation::default()
    }
}

fn figure(panels: Vec<Panel>, expectations: Vec<CheckedExpectation>) -> FigureSection {
    FigureSection {
        id: "Figure 8".into(),
        title: EVIL.into(),
        caption: EVIL.into(),
        note: Some(EVIL.into()),
        panels,
        sweeps: vec![SweepPlot {
            title: "utilisation".into(),
            over: "capacity".into(),
            logarithmic: true,
            unit: "share",
            lines: vec![Line { law: "xcp".into(), points: vec![(1.0, 0.5), (1000.0, f64::NAN)] }],
            claimed: vec![(1.0, 0.98)],
        }],
        real_time: vec![EVIL.into()],
        claims: vec![Claims { scenario: EVIL.into(), file: EVIL.into(), expectations }],
    }
}

fn paper(figures: Vec<FigureSection>) -> PaperSection {
    PaperSection { title: EVIL.into(), authors: EVIL.into(), summary: EVIL.into(), figures }
}

fn panel_of(runs: Vec<Run>, plots: &[Plot]) -> Panel {
    Panel { title: EVIL.into(), runs, plots: plots.into(), links: Vec::new(), apart: true }
}

#[test]
fn a_bound_set_after_a_run_or_fitted_to_never_counts_as_reproduced() {
    let claims = vec![
        claim(true, Basis::Claim),
        claim(true, Basis::Derived),
        claim(true, Basis::Fit),
        claim(true, Basis::Run),
        claim(true, Basis::Run),
        claim(true, Basis::Differs),
        claim(false, Basis::Run),
    ];
    let html = render(&[paper(vec![figure(Vec::new(), claims)])]);
    for pill in [
        "✓ 1 reproduced",
        "∴ 1 as derived",
        "≈ 1 fitted",
        "○ 2 set after a run",
        "≠ 1 not reproduced",
        "✗ 1 failed",
    ] {
        assert!(html.contains(pill), "{pill}");
    }
    assert!(html.contains("<li class=\"is-failed\">"), "the index shows the worst");
    assert!(html.contains("<b>2</b> <span>set after a run</span>"));
}

#[test]
fn nothing_breaks_out_and_nothing_is_loaded() {
    let panel = panel_of(
        vec![run("xcp", 9), run("rcp", 9)],
        &[Plot::named("throughput").unwrap(), Plot::named("queue").unwrap()],
    );
    let html = render(&[paper(vec![figure(vec![panel], vec![claim(true, Basis::Claim)])])]);
    assert!(!html.contains("<script>alert") && !html.contains('\u{1b}'));
    let ours = html.replace(super::super::UPLOT, "");
    for odd in ["src=", "url(", "@import", "href=\"h", "NaN"] {
        assert!(!ours.contains(odd), "{odd}");
    }
}

#[test]
fn many_papers_stay_below_five_megabytes_and_keep_every_plot() {
    let panels =
        || (0..6).map(|_| panel_of(vec![run("xcp", 600)], &[Plot::named("throughput").unwrap()]));
    let papers: Vec<PaperSection> =
        (0..6).map(|_| paper(vec![figure(panels().collect(), Vec::new())])).collect();
    let html = render(&papers);
    assert!(html.len() < 5_000_000, "{}", html.len());
    assert_eq!(html.matches("<div class=\"panel apart\">").count(), 36);
}

#[test]
fn only_what_is_drawn_is_in_the_page() {
    let html = render(&[paper(vec![figure(
        vec![panel_of(vec![run("xcp", 9)], &[Plot::named("window").unwrap()])],
        Vec::new(),
    )])]);
    assert!(html.contains("\"apart\":true") && !html.contains("\"goodput\":["));
}

#[test]
fn claimed_values_are_open_rings_in_front_of_the_laws_marks() {
    let mut one = figure(Vec::new(), Vec::new());
    // The law measured just what the source says.
    one.sweeps[0].claimed = vec![(1.0, 0.5)];
    let html = render(&[paper(vec![one])]);
    let figures = crate::draw::Figures::read(&html).expect("figures");
    let name = figures.list()[0].name.clone();
    let figure = figures.figure(&name, crate::draw::Panels::Auto).expect("it");
    let svg = figure.svg(&crate::draw::Style::default());
    let rings: Vec<usize> = svg.match_indices("<circle").map(|(at, _)| at).collect();
    let marks = svg.rfind("Z\" fill=\"#0072b2\"").expect("the law's mark");
    assert_eq!(rings.len(), 2, "in the legend and in the plane: {svg}");
    assert!(rings[1] > marks, "{svg}");
    assert!(svg[rings[1]..].starts_with("<circle") && svg[rings[1]..].contains("fill=\"none\""));
}
