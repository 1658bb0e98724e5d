use std::collections::BTreeMap;

use unicode_width::UnicodeWidthStr;

use super::*;
use crate::{
    ClassSummary, Collector, Comparison, CompletionSummary, FlowSummary, LinkSummary, RunInfo,
    Settling, Summary, TrafficSummary,
};

fn run(law: &str, flows: u32) -> Run {
    let info = RunInfo {
        scenario: "Three flows".into(),
        law: law.into(),
        duration: ratewire_units::Duration::from_secs(30),
        ..RunInfo::default()
    };
    let flow = |flow| FlowSummary {
        flow,
        name: format!("f{flow}"),
        from: "s1".into(),
        to: "d1".into(),
        law: law.into(),
        goodput_bps: 24.13e6,
        share: 0.25,
        ..FlowSummary::default()
    };
    let link = LinkSummary {
        name: "bottleneck".into(),
        rate_bps: 100_000_000,
        room_bytes: Some(500_000),
        bottleneck: true,
        utilisation: 0.981,
        queue_packets_mean: 3.25,
        queue_packets_p99: 12.0,
        queue_packets_max: 1040,
        drops: BTreeMap::from([("queue full".into(), 1234)]),
        ..LinkSummary::default()
    };
    let mut summary = Summary::of(&info);
    summary.flows = (0..flows).map(flow).collect();
    summary.links = vec![link];
    summary.jain_index = Some(0.9991);
    Run { collected: Collector::new(&info).finish(), info, summary }
}

/// A full queue is what everyone expects of a drop; any other reason is told.
#[test]
fn drops_for_other_reasons_than_a_full_queue_are_told() {
    let mut run = run("cubic", 1);
    let table = |run: &Run| render(std::slice::from_ref(run), &TableOptions::default());
    assert!(!table(&run).contains("Drops by reason"));
    run.summary.links[0].drops.insert("link down".into(), 28);
    let said = table(&run);
    let wanted = "  Drops by reason: bottleneck 28 link down, 1,234 queue full\n";
    assert!(said.contains(wanted), "{said}");
    let first = run.summary.links[0].clone();
    run.summary
        .links
        .extend((0..5).map(|n| LinkSummary { name: format!("x{n}"), ..first.clone() }));
    let said = table(&run).split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(said.contains("; x2 28 link down, 1,234 queue full; and of 2 more"), "{said}");
}

#[test]
fn a_load_that_is_not_met_is_explained() {
    let mut run = run("cubic", 1);
    run.summary.duration_s = 10.0;
    let link = &mut run.summary.links[0];
    (link.name, link.rate_bps, link.utilisation) = ("a->b".into(), 8_000_000, 0.75);
    // Load 60 % of 10 MB; a tenth more arrives, a twentieth of which is sent again.
    run.summary.traffic = vec![TrafficSummary {
        name: "web".into(),
        load: Some(0.6),
        load_link: Some("a->b".into()),
        expected_flows: Some(100.0),
        expected_bytes: Some(5_800_000.0),
        arriving_s: 10.0,
        arrived_flows: 120,
        arrived_bytes: 6_380_000,
        retransmitted_bytes: 319_000,
        ..TrafficSummary::default()
    }];
    let explained = |run: &Run| run.summary.arrivals_explained().join("\n");
    assert_eq!(
        explained(&run),
        "Utilisation of a->b is 75.0 %, for a load of 60.0 %: 120 flows arrived where 100 are expected, \
         with 1.10 times the expected payload (chance): 66.0 %; 9.0 % more are other flows, data sent again \
         after losses further on, and what a load leaves out: congestion headers, handshakes and acknowledgements"
    );
    let table = render(std::slice::from_ref(&run), &TableOptions::default());
    assert!(table.contains("  Utilisation of a->b is 75.0 %, for a load of 60.0 %"), "{table}");
    // Flows arrive in half the run, and a part is not yet sent.
    run.summary.traffic[0].arriving_s = 5.0;
    run.summary.links[0].utilisation = 0.1965;
    let said = explained(&run);
    assert!(said.contains("flows arrive in 5 s of 10 s, which makes 30.0 %; "), "{said}");
    assert!(said.ends_with("; 13.4 % were lost earlier, or not yet sent at the end"), "{said}");
    // Of a load on several links, one has its own part by chance.
    run.summary.traffic[0].load_other_links = 3;
    assert_eq!(explained(&run), "");
    run.summary.traffic[0].load_other_links = 0;
    run.summary.links[0].utilisation = 0.605;
    assert_eq!(explained(&run), "");
}

#[test]
fn what_arrives_is_printed_with_its_load() {
    let mut run = run("xcp", 1);
    let class = |name: &str, flows_per_second, load, load_link: Option<&str>, load_other_links| {
        let (name, law) = (name.to_string(), String::new());
        let load_link = load_link.map(str::to_string);
        let rest = TrafficSummary::default();
        TrafficSummary { name, law, flows_per_second, load, load_link, load_other_links, ..rest }
    };
    run.summary.traffic = vec![class("web", Some(14.47), Some(0.6), Some("a->b"), 0)];
    let line = |run: &Run| {
        let text = render(
            std::slice::from_ref(run),
            &TableOptions { width: Some(200), ..TableOptions::default() },
        );
        text.lines().nth(2).expect("a line").to_string()
    };
    assert_eq!(line(&run), "Arriving: web 14.5 flows/s, a load of 60.0 % on a->b");
    run.summary.traffic = vec![
        class("rack", Some(9e3), Some(0.5), Some("a->b"), 3),
        class("log", None, None, None, 0),
        class("all", Some(2.0), Some(1.1), None, 0),
        class("ping", Some(1.0), None, None, 0),
        class("x", None, None, None, 0),
    ];
    assert_eq!(
        line(&run),
        "Arriving: rack 9,000 flows/s, a load of 50.0 % on a->b and 3 more links as busy; log at listed times; \
         all 2.00 flows/s, 110.0 % of the topology's demands; ping 1.00 flows/s; and 1 more"
    );
    let steering = class("a\u{1b}[31m\u{202e}b", None, Some(0.5), Some("\u{9b}"), 0);
    run.summary.traffic = vec![steering];
    assert!(!line(&run).contains(['\u{1b}', '\u{202e}', '\u{9b}']), "{:?}", line(&run));
    run.summary.traffic.clear();
    assert_eq!(line(&run), "");
}

#[test]
fn flows_that_did_not_end_have_a_column_where_there_are_any() {
    let mut runs = [run("xcp", 1), run("cubic", 1)];
    assert!(!render(&runs, &TableOptions::default()).contains("unfinished"));
    runs[1].summary.unfinished_flows = Some(21);
    let text = render(&runs, &TableOptions::default());
    let row = |law: &str| text.lines().find(|line| line.starts_with(law)).expect("its row");
    assert!(text.contains("drops  unfinished\n"), "{text}");
    assert!(row("xcp").ends_with(" 0") && row("cubic").ends_with(" 21"), "{text}");
}

#[test]
fn one_run_is_its_verdict_and_tables_of_flows_and_links() {
    let text = render(&[run("xcp", 1)], &TableOptions::default());
    let expected = "\
Three flows
simulate, 30 s, seed 0

law  utilisation   Jain  queue mean   p99    max  drops
───────────────────────────────────────────────────────
xcp       98.1 %  0.999        3.25  12.0  1,040  1,234
utilisation and queue (packets) of bottleneck

xcp
flow  path     law       goodput   share  completed in  sent again  RTT mean  RTT min  RTT p95  one-way p95  lost
─────────────────────────────────────────────────────────────────────────────────────────────────────────────────
f0    s1 → d1  xcp  24.13 Mbit/s  25.0 %             –           0         –        –        –            –     –

link              rate    room  utilisation  queue mean   p99    max  max bytes  drops  marks
─────────────────────────────────────────────────────────────────────────────────────────────
bottleneck  100 Mbit/s  500 KB       98.1 %        3.25  12.0  1,040        0 B  1,234      0
packets: 0 sent = 0 delivered + 0 dropped + 0 in flight
";
    assert_eq!(text, expected, "\n{text}");
}

#[test]
fn flows_of_several_laws_are_added_up_law_by_law() {
    let mut mixed = run("bbr", 2);
    assert!(!render(&[mixed.clone()], &TableOptions::default()).contains("together"));
    mixed.summary.flows[1].law = "cubic".into();
    mixed.info.flows = mixed
        .summary
        .flows
        .iter()
        .map(|f| crate::FlowInfo { law: f.law.clone(), ..Default::default() })
        .collect();
    let text = render(&[mixed], &TableOptions::default());
    assert!(text.contains("\nbbr+cubic ") && text.contains("\nbbr+cubic\n"), "{text}");
    let (_, totals) = text.split_once("goodput, together").expect(&text);
    let line = |law: &str| totals.lines().find(|line| line.starts_with(law));
    assert!(line("bbr ").is_some() && line("cubic ").is_some(), "{text}");
}

#[test]
fn flows_that_ran_outside_the_measured_part_have_no_figures_of_it() {
    let mut run = run("cubic", 2);
    run.summary.duration_s = 10.0;
    (run.summary.measured_from_s, run.summary.measured_to_s) = (Some(2.0), Some(8.0));
    run.summary.flows[1].start_s = 8.0;
    let table = render(std::slice::from_ref(&run), &TableOptions::default());
    let line = |flow: &str| table.lines().find(|line| line.starts_with(flow)).expect(flow);
    assert!(line("f0").contains("24.13 Mbit/s"), "{table}");
    assert!(!line("f1").contains("Mbit/s") && !line("f1").contains("25.0 %"), "{table}");
}

#[test]
fn figures_of_bottlenecks_that_were_asked_for_name_the_links() {
    let mut run = run("cubic", 1);
    run.info.figures = vec!["queue_p99".parse().expect("a figure")];
    let said = "utilisation and queue (packets) of bottleneck";
    assert!(render(std::slice::from_ref(&run), &TableOptions::default()).contains(said));
    let laws = [("cubic".to_string(), vec![run.summary.clone()])];
    let asked = Comparison::with(&run.info.figures, &laws, false);
    assert!(comparison::comparison(&asked, &TableOptions::default()).contains(said));
    run.info.figures = vec!["jain".parse().expect("a figure")];
    assert!(!render(std::slice::from_ref(&run), &TableOptions::default()).contains(said));
}

#[test]
fn completion_times_of_several_classes_say_so() {
    let mut run = run("cubic", 1);
    let said = "completion times are of all classes of traffic and listed flows together";
    run.summary.completions = Some(CompletionSummary { flows: 9, ..Default::default() });
    let table = |run: &Run| render(std::slice::from_ref(run), &TableOptions::default());
    assert!(!table(&run).contains(said));
    let of_class = || ClassSummary { name: "web".into(), ..Default::default() };
    let completions = run.summary.completions.as_mut().expect("just set");
    completions.by_traffic = vec![of_class(), of_class()];
    assert!(table(&run).contains(said), "{}", table(&run));
}

#[test]
fn figures_of_several_bottlenecks_say_how_they_are_made_one() {
    let mut run = run("cubic", 1);
    run.summary.links.push(LinkSummary { name: "other".into(), ..run.summary.links[0].clone() });
    let said = "of bottleneck, other: means over these links; 99 % and max are the";
    let table = render(std::slice::from_ref(&run), &TableOptions::default());
    assert!(table.contains(said), "{table}");
    let comparison = Comparison::of(&[("cubic".into(), vec![run.summary])], false);
    let titles: Vec<&str> = comparison.figures.iter().map(|figure| &*figure.title).collect();
    for title in ["queue mean of 2 links", "queue p99, largest of 2 links"] {
        assert!(titles.contains(&title), "{titles:?}");
    }
}

#[test]
fn several_laws_are_compared_first() {
    let text = render(&[run("xcp", 1), run("cubic", 1)], &TableOptions::default());
    let compare = text.find("utilisation").unwrap();
    assert!(text[compare..].contains("xcp"), "{text}");
    assert!(text.contains("98.1 %  0.999"), "{text}");
    assert!(text.contains("utilisation and queue (packets) of bottleneck"), "{text}");
}

#[test]
fn long_lists_are_cut_and_say_so() {
    let text = render(&[run("xcp", 200)], &TableOptions::default());
    assert!(text.contains("f19 ") && !text.contains("f20 "));
    assert!(text.contains("... and 180 more"), "{text}");
}

#[test]
fn fits_the_terminal() {
    let mut wide = run("xcp", 3);
    wide.summary.flows[0].name = "a flow with a very long name indeed, 漢字 and all".into();
    for width in [60, 80, 100] {
        let options = TableOptions { width: Some(width), ..TableOptions::default() };
        let text = render(&[wide.clone(), wide.clone()], &options);
        for line in text.lines().filter(|l| !l.starts_with("packets") && !l.starts_with('(')) {
            assert!(line.width() <= width, "{width}: {line}");
        }
    }
}

#[test]
fn names_cannot_steer_the_terminal_and_colour_is_asked_for() {
    let mut bad = run("xcp", 1);
    bad.summary.flows[0].name = "\u{1b}[31mred".into();
    bad.info.scenario = "\u{7}bell".into();
    let plain = render(std::slice::from_ref(&bad), &TableOptions::default());
    assert!(!plain.contains('\u{1b}') && !plain.contains('\u{7}'));
    assert!(
        render(&[bad], &TableOptions { colour: true, ..TableOptions::default() })
            .contains("\u{1b}[1m")
    );
}

#[test]
fn a_packet_that_vanished_is_loud() {
    let mut odd = run("xcp", 1);
    odd.summary.conservation.sent_packets = 1;
    assert!(render(&[odd], &TableOptions::default()).contains("NOT CONSERVED"));
}

#[test]
fn an_overview_has_no_more_than_a_line_a_run_and_what_makes_it_doubtful() {
    let options = TableOptions::default();
    let (good, mut odd) = (run("xcp", 1), run("cubic", 1));
    let text = overview(&[good.clone(), odd.clone()], &options);
    assert!(text.contains("98.1 %  0.999") && text.lines().count() == 8, "{text}");
    assert_eq!(doubts(&odd, &options), "");
    odd.summary.conservation.sent_packets = 1;
    odd.summary.fidelity = Some(crate::FidelitySummary::default());
    odd.summary.links[0].pausing =
        Some(crate::PausingSummary { overflowed: 3, ..Default::default() });
    let text = overview(&[good, odd], &options);
    let (_, below_heading) = text.split_once("\ncubic\n").expect("a heading");
    for doubt in ["3 packets dropped by buffers", "NOT CONSERVED", "fidelity DOES NOT HOLD"] {
        assert!(below_heading.contains(doubt), "{text}");
    }
    assert!(!text.contains("\nxcp\n") && !text.contains("RTT"), "{text}");
    assert_eq!(overview(&[], &options), "");
}

#[test]
fn a_run_that_was_late_is_printed_in_red() {
    let mut late = run("xcp", 1);
    late.summary.fidelity = Some(crate::FidelitySummary::default());
    let text = render(&[late.clone()], &TableOptions { colour: true, ..TableOptions::default() });
    assert!(text.contains("\u{1b}[1;31mfidelity DOES NOT HOLD"), "{text}");
    late.summary.fidelity = Some(crate::FidelitySummary { holds: true, ..Default::default() });
    assert!(!render(&[late], &TableOptions::default()).contains("DOES NOT HOLD"));
}

#[test]
fn claims_are_listed_with_their_verdict() {
    assert_eq!(expectations(&[], &TableOptions::default()), "");
    let list = [
        CheckedExpectation {
            passed: true,
            claim: "utilisation".into(),
            ..CheckedExpectation::default()
        },
        CheckedExpectation { claim: "drops".into(), ..CheckedExpectation::default() },
    ];
    let text = expectations(&list, &TableOptions::default());
    assert!(text.contains("FAIL") && text.contains("1 of 2 claims hold"), "{text}");
    let text = failed_claims(&list, &TableOptions::default());
    assert!(text.contains("FAIL") && !text.contains("pass"), "{text}");
    assert!(text.contains("1 of 2 claims hold"), "{text}");
    assert_eq!(failed_claims(&list[..1], &TableOptions::default()), "1 of 1 claim holds\n");
    assert_eq!(failed_claims(&[], &TableOptions::default()), "");
}

#[test]
fn what_is_not_reproduced_does_not_read_as_a_pass() {
    let claim = |basis| CheckedExpectation {
        passed: true,
        law: "rcp".into(),
        claim: "drops".into(),
        bound: "at most 0".into(),
        note: Some("The paper sees 12.".into()),
        basis,
        ..CheckedExpectation::default()
    };
    let text = claims(&[claim(Basis::Differs)], &TableOptions::default());
    assert!(text.contains("at most 0 (from a run)"), "{text}");
    let (_, said) = text.split_once("\nNot reproduced: the source says otherwise.").expect(&text);
    assert!(said.ends_with("  - rcp, drops: The paper sees 12.\n"), "{text}");
    let text = claims(&[claim(Basis::Claim)], &TableOptions::default());
    assert!(!text.contains("from a run") && !text.contains("The paper sees"), "{text}");
    let text = claims(&[claim(Basis::Derived)], &TableOptions::default());
    assert!(text.contains("at most 0 (derived)") && text.contains("as derived"), "{text}");
    let text = claims(&[claim(Basis::Fit)], &TableOptions::default());
    assert!(text.contains("\nfitted  ") && text.contains("at most 0 (fitted)"), "{text}");
}

#[test]
fn nothing_ran() {
    assert_eq!(render(&[], &TableOptions::default()), "");
}

/// Laws a to c from two seeds: a and b the same but for noise, c with a longer queue.
fn compared(has_chance: bool) -> Comparison {
    let summary = |seed: u64, mean: f64, took_s: Option<f64>| {
        let mut summary = run("", 1).summary;
        summary.seed = seed;
        summary.links[0].queue_packets_mean = mean;
        summary.settlings =
            vec![Settling { event: "s2->d2 joins at 10 s".into(), took_s, ..Settling::default() }];
        summary
    };
    let law = |name: &str, summaries: [Summary; 2]| {
        let seeds = if has_chance { 2 } else { 1 };
        (name.to_string(), summaries.into_iter().take(seeds).collect())
    };
    Comparison::of(
        &[
            law("a", [summary(1, 3.0, Some(1.0)), summary(2, 4.0, Some(1.5))]),
            law("b", [summary(1, 3.5, Some(1.0)), summary(2, 3.6, None)]),
            law("c", [summary(1, 43.0, None), summary(2, 44.0, None)]),
        ],
        has_chance,
    )
}

#[test]
fn a_comparison_is_a_line_a_law_with_marks() {
    let text = comparison(&compared(true), &TableOptions::default());
    let expected = "\
Three flows
simulate, 30 s, 3 laws, seeds 1 to 2

law  utilisation     queue mean    queue p99    queue max    drops
────────────────────────────────────────────────────────────────────
a         98.1 % *    3.5 ± 6.4 *         12 *      1,040 *  1,234 *
b         98.1 % *  3.55 ± 0.64 ≈         12 *      1,040 *  1,234 *
c         98.1 % *   43.5 ± 6.4           12 *      1,040 *  1,234 *
utilisation and queue (packets) of bottleneck

Goodput, delay, loss and power of flows
law  goodput a flow
─────────────────────
a      24.13 Mbit/s *
b      24.13 Mbit/s *
c      24.13 Mbit/s *
goodput: mean of listed flows

Time until shares are fair
law  s2->d2 joins at 10 s
───────────────────────────
a             1.2 ± 3.2 s *
b                  1 of 2
c                  0 of 2

* best   ≈ within noise of the best: the 95 % interval of the paired difference includes 0
k of 2: only k seeds gave a value, or saw shares become fair
± is half the 95 % interval of the mean over 2 seeds (Student’s t); where there is none, every seed
gave the same. All laws met the same arrivals and sizes.
";
    assert_eq!(text, expected, "\n{text}");
}

#[test]
fn without_chance_there_are_no_intervals_and_it_says_why() {
    let text = comparison(&compared(false), &TableOptions::default());
    assert!(text.contains("seed 1\n") && !text.contains('±') && !text.contains('≈'), "{text}");
    assert!(text.contains("Nothing in this scenario is left to chance"), "{text}");
}

#[test]
fn a_comparison_folds_to_the_terminal_and_leaves_nothing_out() {
    for width in [40, 60, 80] {
        let text = comparison(
            &compared(true),
            &TableOptions { width: Some(width), ..TableOptions::default() },
        );
        for line in text.lines() {
            assert!(line.width() <= width, "{width}: {line}");
        }
        for title in ["utilisation", "queue mean", "queue p99", "queue max", "drops", "joins"] {
            assert!(text.contains(title), "{width}: {text}");
        }
    }
}

#[test]
fn clamps_are_printed_where_there_are_any() {
    let mut policed = run("xcp", 2);
    assert!(!render(&[policed.clone()], &TableOptions::default()).contains("clamps"));
    policed.summary.flows[1].clamps = 1_234;
    policed.summary.links[0].clamps = 5_678;
    let text = render(&[policed], &TableOptions::default());
    let line = |start: &str| text.lines().find(|line| line.starts_with(start)).unwrap();
    assert!(line("flow").ends_with("clamps") && line("link").ends_with("clamps"), "{text}");
    assert!(line("f0").ends_with(" 0") && line("f1").ends_with(" 1,234"), "{text}");
    assert!(line("bottleneck").ends_with(" 5,678"), "{text}");
}

#[test]
fn outages_and_duplicates_are_printed_where_there_are_any() {
    let mut disturbed = run("xcp", 2);
    let quiet = render(&[disturbed.clone()], &TableOptions::default());
    assert!(["outages", "time down", "duplicate"].iter().all(|word| !quiet.contains(word)));
    disturbed.summary.links[0].disturbances =
        Some(crate::DisturbancesSummary { outages: 3, down_s: 0.25, duplicated: 1_234 });
    disturbed.summary.conservation.duplicated_packets = 1_234;
    let text = render(&[disturbed], &TableOptions { width: None, ..TableOptions::default() });
    let line = |start: &str| text.lines().find(|line| line.starts_with(start)).unwrap();
    let titles = line("link").split_whitespace().rev().take(4).collect::<Vec<_>>();
    assert_eq!(titles, ["duplicates", "down", "time", "outages"], "{text}");
    assert!(line("bottleneck").ends_with("250 ms       1,234"), "{text}");
    assert!(line("packets:").contains(" + 1,234 duplicated "), "{text}");
}

#[test]
fn claims_go_on_below_where_it_is_narrow_and_keep_their_law() {
    let claim = CheckedExpectation {
        law: "newreno".into(),
        claim: "utilisation of bottleneck, 5 s .. 30 s".into(),
        measured: "0.9997".into(),
        bound: ">= 0.95".into(),
        source: Some("a paper, figure 3".into()),
        ..CheckedExpectation::default()
    };
    let text = expectations(&[claim], &TableOptions { width: Some(48), ..TableOptions::default() });
    let lines: Vec<&str> = text.lines().map(str::trim_end).collect();
    assert_eq!(lines[2], "FAIL  newreno  utilisation of  0.9997    >= 0.95", "{text}");
    assert_eq!(lines[3].trim(), "bottleneck, 5", "{text}");
    assert_eq!(lines[4].trim(), "s .. 30 s", "{text}");
    assert!(text.contains("(too narrow for: source)"), "{text}");
}
