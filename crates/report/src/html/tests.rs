use ratewire_units::{Bytes, Duration, Rate, Throughput, Time};

use super::*;
use crate::draw::{Figures, Panels};
use crate::{
    Answer, ChangeInfo, Collector, Comparison, Completion, FlowInfo, FlowRow, LinkInfo, LinkRow,
    LinkSummary, NodeInfo, NodeKind, RunInfo, Settling, Summary, Topology, World,
};

const EVIL: &str = "<script>alert(1)</script>\"'&\u{1b}";

pub(super) fn info(law: &str, flows: usize, links: u32) -> RunInfo {
    let node =
        |name: &str| NodeInfo { name: name.into(), kind: NodeKind::Router, ..Default::default() };
    let link = |i: u32| LinkInfo {
        name: format!("{EVIL}{i}"),
        from: i % 2,
        to: 1 - i % 2,
        rate: Rate::from_mbps(10),
        bottleneck: i == 0,
        ..LinkInfo::default()
    };
    let flow = FlowInfo { name: EVIL.into(), law: law.into(), ..FlowInfo::default() };
    RunInfo {
        scenario: EVIL.into(),
        law: law.into(),
        duration: Duration::from_secs(10),
        topology: Topology {
            nodes: vec![node(EVIL), node("b")],
            links: (0..links).map(link).collect(),
        },
        flows: vec![flow; flows],
        ..RunInfo::default()
    }
}

pub(super) fn run(info: RunInfo, ticks: u64, value: f64) -> Run {
    let mut collector = Collector::new(&info);
    for tick in 1..=ticks {
        let (at, interval) =
            (Time::ZERO + Duration::from_millis(10 * tick), Duration::from_millis(10));
        let wobble = value * (1.0 + 0.123_456 * ((tick * 7919 % 1000) as f64));
        for flow in 0..info.flows.len() as u32 {
            collector.flow(&FlowRow {
                at,
                interval,
                flow,
                goodput: Throughput::new(wobble),
                cwnd: Bytes::new(wobble as u64),
                in_flight: Some(Bytes::new(wobble as u64)),
                receive_window: Bytes::new(wobble as u64),
                srtt: Duration::from_secs_f64(wobble * 1e-6),
                pacing: Some(Throughput::new(wobble)),
                ..FlowRow::default()
            });
        }
        for link in 0..info.topology.links.len() as u32 {
            collector.link(&LinkRow {
                at,
                interval,
                link,
                utilisation: wobble,
                queue_packets_mean: wobble,
                queue_packets_max: 9,
                drops: tick % 3,
                marks: tick % 5,
                ..LinkRow::default()
            });
        }
    }
    Run { summary: Summary::of(&info), collected: collector.finish(), info }
}

/// The page, after the checks that hold for every page.
fn rendered(page: &Page) -> String {
    checked(render(page))
}

fn checked(html: String) -> String {
    assert!(html.len() < 5_000_000, "{} bytes", html.len());
    assert!(html.starts_with("<!doctype html>") && html.ends_with("</html>\n"));
    assert!(!html.contains("<script>alert") && !html.contains('\u{1b}'));
    for loaded in ["src=", "href=", "url(", "@import", "http:", "eval("] {
        // A name space is no address.
        let ours = html.replace(UPLOT, "").replace("http://www.w3.org/2000/svg", "");
        assert!(!ours.contains(loaded), "{loaded}");
    }
    for figure in ["NaN", "inf", "-0.0"] {
        let visible = html.replace(UPLOT, "").replace(SCRIPT, "").replace(STYLE, "");
        let words = visible.split(|c: char| !c.is_alphanumeric() && c != '.' && c != '-');
        assert!(!words.into_iter().any(|w| w == figure), "{figure}");
    }
    html
}

fn data(html: &str) -> serde_json::Value {
    let start = html.find("id=\"data\">").unwrap() + "id=\"data\">".len();
    let end = html[start..].find("</script>").unwrap();
    serde_json::from_str(&html[start..start + end]).unwrap()
}

#[test]
fn nothing_at_all_is_a_page() {
    assert!(rendered(&Page::default()).contains("Nothing ran"));
    let html = rendered(&Page::new(vec![run(RunInfo::default(), 0, 0.0)]));
    assert!(html.contains("The run has no samples"));
    data(&html);
}

#[test]
fn values_that_were_set_are_shown() {
    let with = |values: &[(&str, &str)]| {
        let values = values.iter().map(|(key, value)| (key.to_string(), value.to_string()));
        let info = RunInfo { values: values.collect(), ..info("xcp", 1, 1) };
        rendered(&Page::new(vec![run(info, 3, 1.0)]))
    };
    let page = with(&[("bottleneck.rate", "10M"), ("name", EVIL)]);
    assert!(page.contains("<dt>Set</dt><dd>bottleneck.rate=10M, name=&lt;script"));
    assert!(!with(&[]).contains("<dt>Set</dt>"));
}

#[test]
fn a_few_changes_are_marked_and_many_are_not() {
    let with = |count: u64| {
        let change = |i| ChangeInfo {
            at: Time::ZERO + Duration::from_millis(100 * i),
            what: format!("{EVIL} sends at {i} bit/s"),
        };
        let changes = (1..=count).map(change).collect();
        let html =
            rendered(&Page::new(vec![run(RunInfo { changes, ..info("xcp", 1, 1) }, 3, 1.0)]));
        (
            data(&html)["changes"].as_array().unwrap().len(),
            html.contains("Dashed lines: &lt;script"),
            html.contains("Links change 25 times, too often for lines."),
        )
    };
    let expected = [(0, false, false), (1, true, false), (24, true, false), (0, false, true)];
    assert_eq!([0, 1, 24, 25].map(with), expected);
}

#[test]
fn changes_that_differ_between_runs_are_counted() {
    let change = |ms| ChangeInfo {
        at: Time::ZERO + Duration::from_millis(ms),
        what: "bottleneck goes down".to_string(),
    };
    let of = |changes| run(RunInfo { changes, ..info("xcp", 1, 1) }, 3, 1.0);
    let html = rendered(&Page::new(vec![of(vec![change(1)]), of(vec![change(2), change(3)])]));
    assert_eq!(data(&html)["changes"].as_array().unwrap().len(), 0);
    assert!(html.contains("Links change 1 to 2 times, at other times in each run."));
}

#[test]
fn outages_and_duplicates_of_links_are_in_their_table() {
    let with = |disturbances: Option<crate::DisturbancesSummary>| {
        let mut run = run(info("xcp", 1, 1), 3, 1.0);
        run.summary.links[0].disturbances = disturbances;
        rendered(&Page::new(vec![run]))
    };
    let quiet = with(None);
    assert!(!quiet.contains("Duplicates") && !quiet.contains(">Down<"));
    let of = crate::DisturbancesSummary { outages: 3, down_s: 0.25, duplicated: 1_234 };
    let page = with(Some(of));
    assert!(page.contains(">Down<") && page.contains("250 ms in 3"), "{page}");
    assert!(page.contains("Duplicates") && page.contains("1,234"));
}

#[test]
fn two_worlds_share_a_colour_and_a_late_run_is_loud() {
    let in_world = |world, holds: Option<bool>| {
        let info = RunInfo { world, ..info("xcp", 1, 1) };
        let mut run = run(info, 2, 1e6);
        run.summary.fidelity =
            holds.map(|holds| crate::FidelitySummary { holds, ..Default::default() });
        run
    };
    let page = |holds| {
        rendered(&Page::new(vec![
            in_world(World::Simulate, None),
            in_world(World::Emulate, Some(holds)),
        ]))
    };
    let good = page(true);
    assert!(good.contains("xcp (emulated)") && good.contains("simulate, emulate"));
    assert!(!good.contains("relied on</p>") && good.contains("fidelity holds."));
    let late = page(false);
    assert!(late.contains("✗ xcp (emulated): not to be relied on</p>"));
    let groups = &data(&late)["groups"];
    assert_eq!(groups[0]["hue"], groups[1]["hue"]);
    assert_ne!(groups[0]["dash"], groups[1]["dash"]);
}

#[test]
fn one_sample() {
    let html = rendered(&Page::new(vec![run(info("xcp", 1, 1), 1, 1e6)]));
    let data = data(&html);
    assert_eq!(data["mode"], "flows");
    assert_eq!(data["flows"][0]["goodput"].as_array().unwrap().len(), 2);
    assert!(html.contains("1 point of 10 ms each"));
}

#[test]
fn figures_that_are_no_numbers() {
    let mut odd = run(info("xcp", 2, 2), 5, f64::NAN);
    odd.summary.jain_index = Some(f64::NAN);
    for flow in &mut odd.summary.flows {
        (flow.goodput_bps, flow.share) = (f64::NAN, f64::INFINITY);
        flow.rtt_mean_s = Some(f64::NEG_INFINITY);
    }
    for link in &mut odd.summary.links {
        (link.utilisation, link.queue_packets_mean) = (f64::NAN, f64::NAN);
        (link.queue_bytes_mean, link.throughput_bps) = (f64::NAN, f64::INFINITY);
    }
    data(&rendered(&Page::new(vec![odd])));
}

#[test]
fn ten_thousand_flows_and_a_thousand_links_stay_small() {
    let runs = ["xcp", "cubic", "newreno"].map(|law| run(info(law, 10_000, 1_000), 3, 1e6));
    let html = rendered(&Page::new(runs.into()));
    assert!(html.contains("40 of 10,000 flows, taken evenly from the list, are drawn"), "flows");
    assert!(html.contains("Samples of 512 links were kept"), "links");
    assert!(html.contains("… and 9,900 more"), "table");
}

#[test]
fn many_laws_over_a_long_time_are_made_coarser_and_it_says_so() {
    let runs: Vec<Run> =
        (0..12).map(|i| run(info(&format!("law{i}"), 40, 24), 1_200, 1.234e6)).collect();
    let html = rendered(&Page::new(runs));
    let data = data(&html);
    assert_eq!(data["groups"].as_array().unwrap().len(), 12);
    let dt = data["flows"][0]["dt"].as_f64().unwrap();
    assert!(dt > 0.02, "{dt}");
    assert!(html.contains(&format!("points of {} each", Duration::from_secs_f64(dt))), "{dt}");
}

#[test]
fn names_cannot_break_out_anywhere() {
    let page = Page {
        runs: vec![run(info(EVIL, 2, 2), 3, 1e6), run(info("b", 2, 2), 3, 1e6)],
        expectations: vec![CheckedExpectation {
            law: EVIL.into(),
            claim: EVIL.into(),
            measured: EVIL.into(),
            bound: EVIL.into(),
            passed: false,
            source: Some(EVIL.into()),
            ..CheckedExpectation::default()
        }],
        scenario_text: Some(format!("# {EVIL}\nname = \"x\"")),
        ..Page::default()
    };
    let html = rendered(&page);
    // Three scripts: data, uPlot and the page's own.
    assert_eq!(html.matches("<script").count(), 3);
    assert!(html.contains("✗ 1 of 1 claim failed"));
    assert_eq!(
        data(&html)["groups"][0]["name"].as_str().unwrap(),
        EVIL.replace('\u{1b}', "\u{fffd}")
    );
}

#[test]
fn completions_are_drawn_per_law() {
    let info = info("xcp", 1, 1);
    let mut collector = Collector::new(&info);
    for flow in 1..=20_000 {
        let (size, took) = (Bytes::new(flow * 100), Duration::from_millis(flow));
        collector.completion(Completion {
            flow,
            size,
            took,
            law: "xcp".into(),
            ..Default::default()
        });
    }
    let summary = Summary::of(&info);
    let html = rendered(&Page::new(vec![Run { info, summary, collected: collector.finish() }]));
    assert!(html.contains("5,000 of 20,000 completed flows"), "kept");
    assert!(html.contains("at most 1,500 of each law"), "in the note");
    let figures = Figures::read(&html).expect("figures");
    let dots = figures.figure("completion-size", Panels::Auto).expect("few laws");
    assert_eq!((dots.panels.len(), dots.panels[0].series[0].points.len()), (1, 1250));
    assert!(!html.contains("Unfinished") && !html.contains("for them a distribution"));
}

/// A run in which this many flows completed and this many did not.
fn run_with_completions(law: &str, completed: u64, unfinished: u64) -> Run {
    let info = info(law, 1, 1);
    let mut collector = Collector::new(&info);
    for flow in 1..=completed {
        let (size, took) = (Bytes::new(100), Duration::from_millis(flow));
        collector.completion(Completion {
            flow,
            size,
            took,
            law: law.into(),
            ..Default::default()
        });
    }
    let summary = Summary { unfinished_flows: Some(unfinished), ..Summary::of(&info) };
    Run { info, summary, collected: collector.finish() }
}

#[test]
fn of_several_laws_in_one_run_those_that_did_not_end_are_only_counted() {
    let mut run = run_with_completions("xcp", 30, 10);
    let other = FlowInfo { law: "cubic".into(), ..run.info.flows[0].clone() };
    run.info.flows.push(other);
    let html = rendered(&Page::new(vec![run]));
    assert!(
        html.contains("had not completed when the run ended: 10; the distributions leave them out")
    );
}

#[test]
fn flows_that_did_not_end_are_counted_and_their_distribution_ends_lower() {
    let runs = vec![run_with_completions("xcp", 30, 10), run_with_completions("cubic", 40, 0)];
    let html = rendered(&Page::new(runs));
    assert!(html.contains("10 under xcp, 0 under cubic; for them"), "in the note");
    assert!(html.contains("<dt>Unfinished</dt><dd>10 <small>flows</small>"), "on the card");
    let figures = Figures::read(&html).expect("figures");
    let figure = figures.figure("completion-time", Panels::Auto).expect("distributions");
    let highest = |nth: usize| figure.panels[0].series[nth].points.last().and_then(|point| point.1);
    assert_eq!((highest(0), highest(1)), (Some(75.0), Some(100.0)));
}

#[test]
fn completions_of_many_laws_are_not_drawn_against_size() {
    let laws = ["a", "b", "c", "d", "e"];
    let runs = laws.iter().map(|law| run_with_completions(law, 3, 0)).collect();
    let html = rendered(&Page::new(runs));
    let figures = Figures::read(&html).expect("figures");
    assert!(figures.figure("completion-size", Panels::Auto).is_err());
    assert!(html.contains("Against size they are drawn for up to 4 laws."));
}

#[test]
fn the_head_counts_flows_that_are_listed_and_that_arrive() {
    let mut run = run(info("xcp", 1, 1), 3, 1e6);
    let shows = |runs: &[&Run], flows: &str| {
        let page = rendered(&Page::new(runs.iter().map(|run| (*run).clone()).collect()));
        assert!(page.contains(&format!("<dt>Flows</dt><dd>{flows}</dd>")), "{flows}");
    };
    shows(&[&run], "1");
    run.summary.arrived_flows = Some(40);
    run.summary.traffic = vec![crate::TrafficSummary { name: "<b>".into(), ..Default::default() }];
    let page = rendered(&Page::new(vec![run.clone()]));
    assert!(page.contains("<p class=\"note\">Arriving: &lt;b&gt; at listed times</p>"));
    shows(&[&run], "1 listed, 40 arrived");
    run.collected.flows_total = 0;
    shows(&[&run], "40");
    let mut other = run.clone();
    other.summary.arrived_flows = Some(42);
    shows(&[&run, &other], "40 to 42");
}

#[test]
fn where_no_law_has_a_window_data_in_flight_comes_first() {
    let first = |run: &Run| {
        let page = rendered(&Page::new(vec![run.clone()]));
        let (_, rest) = page.split_once("aria-label=\"Window: what\"><option value=\"").unwrap();
        rest.split_once('"').unwrap().0.to_string()
    };
    let mut run = run(info("rcp", 1, 1), 3, 1e6);
    assert_eq!(first(&run), "cwnd");
    run.collected.flows.iter_mut().for_each(|flow| flow.tracks = crate::Tracks::default());
    assert_eq!(first(&run), "flight");
}

#[test]
fn a_moving_mean_says_how_long_it_is() {
    let length = |flows, ticks| {
        let html = rendered(&Page::new(vec![run(info("xcp", flows, 1), ticks, 1e6)]));
        let (_, rest) = html.split_once("Throughput per flow is the mean of the ")?;
        rest.split_once(" around").map(|(long, _)| long.to_string())
    };
    // Runs of 10 s, sampled every 10 ms.
    assert_eq!(length(1, 500).as_deref(), Some("90 ms"));
    assert_eq!(length(1, 1000).as_deref(), Some("140 ms"));
    assert_eq!(length(0, 500), None, "without flows there is none");
}

#[test]
fn the_head_names_each_law_and_each_seed_once() {
    let of = |law: &str, seed| {
        let mut run = run(info(law, 1, 1), 3, 1e6);
        run.info.seed = seed;
        run
    };
    let runs = ["xcp", "cubic"].iter().flat_map(|law| (1..=10).map(|seed| of(law, seed)));
    let description = Some(format!("What {EVIL} shows"));
    let html = rendered(&Page { description, ..Page::new(runs.collect()) });
    assert!(html.contains("<dt>Laws</dt><dd>xcp, cubic</dd>"));
    assert!(html.contains("<dt>Seeds</dt><dd>1, 2, 3, 4, 5, 6, 7, 8, and 2 more</dd>"));
    assert!(html.contains("<p class=\"note\">What &lt;script"), "the description");

    let mut mixed = info("xcp", 2, 1);
    mixed.flows[1].law = "bbr".into();
    let html = rendered(&Page::new(vec![run(mixed, 3, 1e6)]));
    assert!(html.contains("<dt>Laws</dt><dd>xcp, bbr</dd>") && html.contains("<h3>xcp, bbr</h3>"));
}

#[test]
fn the_table_says_how_long_it_took_to_share() {
    let time_until_fair = |took: &[Option<f64>]| {
        let mut run = run(info("xcp", 1, 1), 3, 1e6);
        let settlings =
            took.iter().map(|took_s| Settling { took_s: *took_s, ..Default::default() });
        run.summary.settlings = settlings.collect();
        let html = rendered(&Page::new(vec![run]));
        let row = "Time until fair, the longest after a change</th><td class=\"n\">";
        html.split_once(row).map(|(_, rest)| rest.split('<').next().unwrap_or("").to_string())
    };
    assert_eq!(time_until_fair(&[]), None);
    assert_eq!(time_until_fair(&[Some(1.2), Some(0.4)]).as_deref(), Some("1.2 s"));
    assert_eq!(time_until_fair(&[Some(1.2), None]).as_deref(), Some("not always"));
}

#[test]
fn plots_begin_with_the_links_of_the_verdict() {
    let mut info = info("xcp", 1, 3);
    info.topology.links.iter_mut().for_each(|link| link.bottleneck = false);
    let mut run = run(info, 5, 1e6);
    run.summary.links = [0.5, 0.2, 0.9]
        .map(|utilisation| LinkSummary { utilisation, ..LinkSummary::default() })
        .into();
    let html = rendered(&Page::new(vec![run]));
    let first = data(&html)["links"][0]["name"].as_str().map(|name| name.ends_with('2'));
    assert_eq!(first, Some(true), "the busiest, where all queues are alike");
}

#[test]
fn the_same_runs_give_the_same_bytes() {
    let page = || Page::new(vec![run(info("xcp", 3, 2), 50, 1e6)]);
    assert_eq!(render(&page()), render(&page()));
}

#[test]
fn uplot_comes_with_its_licence() {
    assert!(UPLOT.contains("uPlot (v1.6.32)"));
    let html = rendered(&Page::new(vec![run(info("xcp", 1, 1), 3, 1e6)]));
    assert!(html.contains("The MIT License") && html.contains("Leon Sorokin"));
}

/// A run with `each` answers of every flow, of the greatest length.
fn run_with_answers(info: RunInfo, each: u64) -> Run {
    let mut collector = Collector::new(&info);
    for i in 0..each {
        let at = Time::ZERO + Duration::from_millis(i + 1);
        for flow in 0..info.flows.len() as u32 {
            collector.flow(&FlowRow {
                at,
                interval: Duration::from_millis(1),
                flow,
                ..Default::default()
            });
            collector.answer(Answer {
                flow,
                sent: at,
                by: format!("{EVIL}{}", i % 2),
                equation: EVIL.repeat(100),
                figures: vec![format!("{EVIL} = {i}"); 8],
            });
        }
    }
    Run { summary: Summary::of(&info), collected: collector.finish(), info }
}

#[test]
fn what_bound_a_rate_is_on_the_page_and_said_once() {
    let html = rendered(&Page::new(vec![run_with_answers(info("xcp", 2, 2), 3)]));
    assert!(html.contains("class=\"why\" aria-live=\"polite\" aria-atomic=\"true\">Point at"));
    let data = data(&html);
    assert_eq!(data["says"].as_array().unwrap().len(), 3);
    for flow in 0..2 {
        let answers = data["flows"][flow]["why"].as_array().unwrap();
        assert_eq!(answers.len(), 3);
        assert_eq!(
            (&answers[2][0], &answers[2][1], &answers[2][2]),
            (&0.003.into(), &0.into(), &1.into())
        );
        assert!(answers[2][3][7].as_str().unwrap().ends_with(" = 2"));
    }
    assert!(data["says"][0].as_str().unwrap().ends_with('0'));
}

#[test]
fn what_bound_a_rate_is_reached_by_keys_and_taps() {
    let html = rendered(&Page::new(vec![run_with_answers(info("xcp", 2, 2), 3)]));
    // An image would hide its content from screen readers.
    let (before, after) = html.split_once("data-key=\"goodput\"").unwrap();
    let (figure, _) = after.split_once("</figure>").unwrap();
    assert!(figure.contains("class=\"plot\" role=\"group\""), "{figure}");
    assert!(!before.contains("role=\"group\""));
    let script = include_str!("../../assets/tip.js");
    for said in ["tabindex: 0, role: \"slider\"", "aria-valuetext", "aria-label\": KEYS"] {
        assert!(script.contains(said), "{said}");
    }
    let keys = ["ArrowLeft", "ArrowRight", "ArrowUp", "ArrowDown", "Home", "End", "Escape"];
    for key in keys {
        assert!(script.contains(key), "{key}");
    }
    assert!(script.contains("over.addEventListener(\"keydown\""));
    assert!(script.contains("over.addEventListener(\"click\""));
    assert!(include_str!("../../assets/page.css").contains(":focus-visible { outline: 2px solid"));
}

#[test]
fn where_nothing_was_asked_there_is_nothing_to_point_at() {
    let html = rendered(&Page::new(vec![run(info("xcp", 1, 1), 3, 1e6)]));
    assert!(!html.contains("class=\"why\""));
}

#[test]
fn answers_are_few_and_spread_over_the_run() {
    for flows in [1, 3, 100] {
        let run = run_with_answers(info("xcp", flows, 2), 300);
        let answers = &run.collected.answers;
        assert!((80..=200).contains(&answers.len()), "{flows}: {}", answers.len());
        let asked: std::collections::BTreeSet<u32> = answers.iter().map(|a| a.flow).collect();
        assert_eq!(asked.len(), flows.min(40), "each flow as much as any other");
        let last = answers.iter().map(|a| a.sent).max().unwrap();
        assert!(last > Time::ZERO + Duration::from_millis(200), "{last}");
    }
    let runs: Vec<Run> = (0..60).map(|_| run_with_answers(info("xcp", 40, 2), 100)).collect();
    rendered(&Page::new(runs));
}

/// Three laws from three seeds, with hostile names.
fn compared(utilisation: impl Fn(usize, u64) -> f64) -> (Comparison, Page) {
    let laws = [EVIL, "b", "c"];
    let summary = |law: usize, seed| {
        let mut summary = Summary { seed, ..Summary::of(&info(laws[law], 2, 2)) };
        summary.links[0].utilisation = utilisation(law, seed);
        summary.engine.events = seed;
        summary.settlings = vec![crate::Settling {
            event: EVIL.into(),
            took_s: (law == 0 || seed == 1).then_some(0.5),
            ..Default::default()
        }];
        summary
    };
    let all = (0..3).map(|law| (laws[law].into(), (1..=3).map(|s| summary(law, s)).collect()));
    let all: Vec<(String, Vec<Summary>)> = all.collect();
    let runs = laws.iter().map(|law| run(info(law, 2, 2), 3, 1e6)).collect();
    (Comparison::of(&all, true), Page::new(runs))
}

#[test]
fn a_comparison_says_who_is_best_and_what_is_noise() {
    // b is better than the first by noise, c worse by more than that.
    let noise = [[0.0, 0.0, 0.0], [0.02, -0.01, 0.01], [-0.3, -0.3, -0.3]];
    let (comparison, page) = compared(|law, seed| 0.9 + noise[law][seed as usize - 1]);
    let html = checked(render_comparison(&comparison, &page));
    // Three scripts: data, uPlot and the page's own; and the data of each figure.
    let figures = html.matches("<script type=\"application/json\" class=\"figure\">").count();
    assert_eq!(html.matches("<script").count(), 3 + figures);
    assert_eq!(html.matches("<figure class=\"means\">").count(), figures);
    data(&html);
    let row = html.split("<tr>").find(|row| row.contains(">Utilisation at ")).unwrap();
    let cells: Vec<&str> = row.split("<td ").collect();
    assert!(
        cells[1].contains("data-standing=\"Best\"")
            && cells[1].contains(">b<")
            && cells[1].contains("90.7 ± 3.8 %"),
        "{row}"
    );
    assert!(cells[2].contains("&lt;script&gt;") && cells[3].contains(">c<"), "{row}");
    assert!(html.contains("<td class=\"n noise\">≈ −0.7 ± 3.8 %"), "a difference within noise");
    assert!(html.contains("60.0 %") && html.contains("Over time, seed 1"));
    assert!(html.contains(">1 of 3<"), "shares became fair in one seed of three");
    // Two laws without a value from every seed have no difference to judge.
    let judged: usize = comparison.figures.iter().map(|figure| figure.differences.len()).sum();
    assert!(judged < 3 * comparison.figures.len());
    assert!(html.contains(&format!("Each of {judged} differences is judged by itself")));
    let exact = Comparison { has_chance: false, ..comparison };
    assert!(!render_comparison(&exact, &page).contains("one in twenty"));
}

#[test]
fn comparisons_of_nothing_and_of_no_numbers_are_pages() {
    checked(render_comparison(&Comparison::default(), &Page::default()));
    let (comparison, page) = compared(|_, _| f64::NAN);
    assert!(!checked(render_comparison(&comparison, &page)).contains(">Utilisation</th>"));
}

#[test]
fn a_burst_that_is_not_drawn_does_not_choose_the_unit() {
    let one = run(info("a", 1, 1), 100, 0.0);
    let mut collector = Collector::new(&one.info);
    for tick in 1..=100 {
        let goodput = Throughput::new(if tick == 50 { 1.1e9 / 8.0 } else { 0.1e9 / 8.0 });
        let interval = Duration::from_millis(10);
        let (at, pacing) = (Time::ZERO + interval * tick, Some(Throughput::new(2e9 / 8.0)));
        collector.flow(&FlowRow { at, interval, goodput, pacing, ..FlowRow::default() });
    }
    let page = Page::new(vec![Run { collected: collector.finish(), ..one }]);
    let data = data(&rendered(&page));
    let unit = |name: &str| {
        let plots = data["plots"].as_array().expect("plots");
        plots.iter().find(|plot| plot["name"] == name).expect("the plot")["unit"].clone()
    };
    assert_eq!((unit("throughput"), unit("pace")), ("Mbit/s".into(), "Gbit/s".into()));
    assert_eq!(data["flows"][0]["goodput"][1], 100);
    assert_eq!(data["flows"][0]["pacing"][1], 2);
}

#[test]
fn what_could_not_run_is_listed_with_its_reason() {
    let left = LeftOut { law: EVIL.into(), world: World::Emulate, why: "no <kernel>".into() };
    let page = Page { left_out: vec![left], ..Page::new(vec![run(info("a", 1, 1), 3, 1e6)]) };
    assert!(rendered(&page).contains(" could not run in the world emulate: no &lt;kernel&gt;</p>"));
}

#[test]
fn figures_that_were_asked_for_are_rows_before_all_others() {
    let names = ["goodput/a", "jain"].map(|name| name.parse().expect(name));
    let info = RunInfo { figures: names.into(), ..info("xcp", 1, 1) };
    let mut run = run(info, 1, 1.0);
    run.summary.flows[0].name = "a".into();
    run.summary.flows[0].goodput_bps = 4e6;
    let page = render(&Page::new(vec![run]));
    let (_, table) = page.split_once("<caption>Laws</caption>").expect("the table");
    let first = "<tr><th scope=\"row\">Goodput of a</th><td class=\"n\">4 Mbit/s</td></tr>";
    assert!(table.split_once("<tbody>\n").expect("rows").1.starts_with(first), "{}", &table[..400]);
}

#[test]
fn a_page_says_which_part_of_the_runs_is_measured() {
    let page = |measured| {
        let info = RunInfo { measured, ..info("xcp", 1, 1) };
        let mut run = run(info.clone(), 1, 1.0);
        (run.summary.duration_s, run.summary.measured_from_s) = (10.0, None);
        if let Some((from, to)) = info.measured {
            run.summary.measured_from_s = Some(from.secs());
            run.summary.measured_to_s = Some(to.secs());
        }
        render(&Page::new(vec![run]))
    };
    let part = page(Some((Time::from_millis(2_000), Time::from_millis(8_000))));
    assert!(part.contains("10 s, measured 2 s to 8 s"));
    assert!(part.contains(", over the measured part of the run"));
    let whole = page(None);
    assert!(whole.contains(", over the whole run") && !whole.contains("measured 2 s"));
}
