use super::*;
use crate::{CompletionSummary, FlowSummary, LinkSummary, Settling, SizeSummary};

fn summary(seed: u64, utilisation: f64, queue_packets_max: u64, took: Option<f64>) -> Summary {
    let link = LinkSummary {
        name: "bottleneck".into(),
        bottleneck: true,
        utilisation,
        queue_packets_max,
        ..LinkSummary::default()
    };
    let settling =
        Settling { event: "f2 joins at 1 s".into(), took_s: took, ..Settling::default() };
    Summary { seed, links: vec![link], settlings: vec![settling], ..Summary::default() }
}

/// Utilisations that vary a lot with the seed but hardly between laws a and b; c is far off.
fn three() -> Comparison {
    let seeds = |of: fn(u64) -> Summary| (1..=4).map(of).collect::<Vec<Summary>>();
    Comparison::of(
        &[
            ("a".into(), seeds(|s| summary(s, UTILISED[s as usize - 1], 40, Some(0.5)))),
            (
                "b".into(),
                seeds(|s| summary(s, UTILISED[s as usize - 1] + NOISE[s as usize - 1], 40, None)),
            ),
            (
                "c".into(),
                seeds(|s| summary(s, UTILISED[s as usize - 1] - 0.02, 50, (s > 1).then_some(0.1))),
            ),
        ],
        true,
    )
}

const UTILISED: [f64; 4] = [0.80, 0.85, 0.90, 0.82];
const NOISE: [f64; 4] = [0.010, -0.012, 0.011, -0.008];

fn figure<'a>(comparison: &'a Comparison, name: &str) -> &'a Metric {
    comparison.figures.iter().find(|f| f.name == name).expect(name)
}

fn standings(figure: &Metric) -> Vec<Standing> {
    figure.laws.iter().map(|law| law.standing).collect()
}

#[test]
fn pairs_distinguish_noise_from_difference() {
    use Standing::{Best, Unknown, WithinNoise, Worse};
    let comparison = three();
    let utilisation = figure(&comparison, "utilisation");
    // b has the best mean by 0.00025; a is 0.02 above c from every seed, though the intervals of
    // their means overlap widely.
    assert_eq!(standings(utilisation), [WithinNoise, Best, Worse]);
    let [a, _, c] = &utilisation.laws[..] else { panic!() };
    assert!(a.mean.unwrap() - a.margin.unwrap() < c.mean.unwrap());
    let by = utilisation.difference("c", "a").unwrap();
    assert!((by.by + 0.02).abs() < 1e-9, "{by:?}");
    assert_eq!(by.significance, Significance::Differs);
    // Equal values from every seed give no margin, and a tie has two best laws.
    let queue = figure(&comparison, "queue_packets_max");
    assert_eq!(standings(queue), [Best, Best, Worse]);
    assert_eq!((queue.laws[0].mean, queue.laws[0].margin), (Some(40.0), None));
    // A law that settles from three seeds of four has no mean, however fast it was in those.
    let settling = figure(&comparison, "settling_s: f2 joins at 1 s");
    assert_eq!(standings(settling), [Best, Unknown, Unknown]);
    let texts: Vec<String> = settling.laws.iter().map(|law| law.text(settling.unit)).collect();
    assert_eq!(texts, ["500 ms", "0 of 4", "3 of 4"]);
    assert!(settling.differences.is_empty());
    // That no law became fair is no reason to hide the change.
    let never = [("a".to_string(), vec![summary(1, 0.9, 40, None)])];
    let never = Comparison::of(&never, false);
    let settling = figure(&never, "settling_s: f2 joins at 1 s");
    assert_eq!(settling.laws[0].text(settling.unit), "–");
}

#[test]
fn a_law_whose_seeds_agree_to_the_byte_has_no_standing() {
    let seeds = |of: fn(u64) -> Summary| (1..=4).map(of).collect::<Vec<Summary>>();
    let varied = |s: u64| summary(s, UTILISED[s as usize - 1], 40, None);
    let laws = [
        ("varied".to_string(), seeds(varied)),
        ("same".to_string(), seeds(|s| summary(s, 0.99, 10, None))),
    ];
    let comparison = Comparison::of(&laws, true);
    assert_eq!(comparison.without_chance, ["same"]);
    for name in ["utilisation", "queue_packets_max"] {
        let figure = figure(&comparison, name);
        assert_eq!(standings(figure), [Standing::Unknown; 2], "{name}");
        assert!(figure.differences.is_empty());
    }
    assert_eq!(figure(&comparison, "utilisation").laws[1].mean, Some(0.99));
    assert!(comparison.about_seeds().ends_with("all seeds gave the same run: same."));
    // The same figure from every seed is a result, where other figures vary.
    let laws = [
        laws[0].clone(),
        ("short".to_string(), seeds(|s| summary(s, UTILISED[s as usize - 1], 10, None))),
    ];
    let comparison = Comparison::of(&laws, true);
    assert_eq!(standings(figure(&comparison, "queue_packets_max"))[1], Standing::Best);
    assert!(comparison.without_chance.is_empty());
}

#[test]
fn without_chance_differences_are_exact() {
    let one = |u| vec![summary(1, u, 40, None)];
    let laws =
        [("a".to_string(), one(0.9)), ("b".to_string(), one(0.91)), ("c".to_string(), one(0.91))];
    let exact = Comparison::of(&laws, false);
    let utilisation = figure(&exact, "utilisation");
    assert_eq!(standings(utilisation), [Standing::Worse, Standing::Best, Standing::Best]);
    assert_eq!(utilisation.laws[0].margin, None);
    assert!(exact.about_seeds().contains("left to chance"));
    // With chance, one seed shows no difference.
    let one_seed = Comparison::of(&laws, true);
    assert_eq!(standings(figure(&one_seed, "utilisation")), [Standing::Unknown; 3]);
    assert!(figure(&one_seed, "utilisation").differences.is_empty());
}

/// If utilisation were ranked, the law that retransmits most would be the best.
#[test]
fn of_flows_of_given_sizes_no_utilisation_is_better() {
    let standing = |listed: &[Option<u64>], unfinished| {
        let flow = |size: &Option<u64>| FlowSummary { size_bytes: *size, ..FlowSummary::default() };
        let of = |utilisation| {
            let flows = listed.iter().map(flow).collect();
            let completions =
                Some(CompletionSummary { flows: 100, ..CompletionSummary::default() });
            let unfinished_flows = Some(unfinished);
            let all = summary(1, utilisation, 40, None);
            vec![Summary { flows, completions, unfinished_flows, ..all }]
        };
        let laws = [("a".to_string(), of(0.5)), ("b".to_string(), of(0.6))];
        let comparison = Comparison::of(&laws, false);
        let utilisation = figure(&comparison, "utilisation");
        assert_eq!(utilisation.difference("b", "a").unwrap().significance, Significance::Differs);
        standings(utilisation)[1]
    };
    let other = LinkSummary { name: "s1->r1".into(), utilisation: 0.9, ..LinkSummary::default() };
    let mut busier = summary(1, 0.5, 40, None);
    busier.links.push(other);
    let comparison = Comparison::of(&[("a".into(), vec![busier])], false);
    assert_eq!(comparison.bottleneck, "bottleneck");
    assert_eq!(comparison.bottleneck_text(), "bottleneck (s1->r1 was busier)");
    assert_eq!(standing(&[], 0), Standing::Unranked);
    assert_eq!(standing(&[Some(5)], 2), Standing::Unranked);
    assert_eq!(standing(&[Some(5), None], 0), Standing::Best);
    // A law under which flows did not complete carried less.
    assert_eq!(standing(&[Some(5)], 3), Standing::Best);
}

#[test]
fn what_reads_the_same_counts_as_equal() {
    let one = |u| vec![summary(1, u, 40, None)];
    let laws = [
        ("a".to_string(), one(0.9979)),
        ("b".to_string(), one(0.9981)),
        ("c".to_string(), one(0.9971)),
    ];
    let comparison = Comparison::of(&laws, false);
    let utilisation = figure(&comparison, "utilisation");
    // 99.8 %, 99.8 %, 99.7 %.
    assert_eq!(standings(utilisation), [Standing::Best, Standing::Best, Standing::Worse]);
    let by = utilisation.difference("b", "a").expect("a difference");
    assert_eq!(by.significance, Significance::Differs, "for who reads comparison.json");
}

#[test]
fn sizes_and_changes_of_all_laws_are_listed_in_order() {
    let size = |from_bytes, below_bytes| SizeSummary {
        from_bytes,
        below_bytes,
        flows: 3,
        slowdown_median: Some(2.0),
        slowdown_p99: Some(9.0),
        ..SizeSummary::default()
    };
    let with = |sizes: Vec<SizeSummary>, events: &[(&str, f64)]| {
        let settling = |(event, at_s): &(&str, f64)| Settling {
            event: event.to_string(),
            at_s: *at_s,
            took_s: Some(1.0),
            ..Settling::default()
        };
        Summary {
            completions: Some(CompletionSummary { by_size: sizes, ..Default::default() }),
            settlings: events.iter().map(settling).collect(),
            ..Summary::default()
        }
    };
    let a = with(vec![size(10_000, Some(100_000))], &[("f1 completes", 9.0), ("g joins", 10.0)]);
    let b = with(
        vec![size(0, Some(10_000)), size(10_000_000, None)],
        &[("f1 completes", 12.0), ("x joins", 1.0)],
    );
    let comparison = Comparison::of(&[("a".into(), vec![a]), ("b".into(), vec![b])], true);
    let titles = |about| {
        let of = comparison.figures.iter().filter(move |f| f.about == about);
        of.map(|f| f.title.clone()).collect::<Vec<_>>()
    };
    let sizes = titles(About::Sizes);
    assert_eq!(sizes[..2], ["below 10 KB, n", "below 10 KB, p50"]);
    assert_eq!(sizes[5], "10 KB to 100 KB, p99");
    assert_eq!(sizes[6], "10 MB and more, n");
    assert_eq!(titles(About::Changes), ["x joins", "f1 completes", "g joins"]);
    // Without links, round trips and flows there are no metrics of them.
    assert_eq!(titles(About::Run), ["drops"]);
}

#[test]
fn a_change_is_the_same_at_whatever_instant_a_run_has_it() {
    let with = |events: &[(&str, f64)]| {
        let settling = |(what, at_s): &(&str, f64)| Settling {
            event: format!("{what} at {at_s} s"),
            at_s: *at_s,
            took_s: Some(*at_s),
            ..Settling::default()
        };
        Summary { settlings: events.iter().map(settling).collect(), ..Summary::default() }
    };
    let runs = vec![
        with(&[("x joins", 0.3), ("hop changes", 5.0), ("hop changes", 6.0)]),
        with(&[("x joins", 0.7), ("hop changes", 5.0), ("hop changes", 6.5)]),
    ];
    let comparison = Comparison::of(&[("a".into(), runs)], true);
    let changes = comparison.figures.iter().filter(|figure| figure.about == About::Changes);
    let found: Vec<(&str, &[Option<f64>])> =
        changes.map(|figure| (&figure.title[..], &figure.laws[0].values[..])).collect();
    let expected: [(&str, &[Option<f64>]); 3] = [
        ("x joins", &[Some(0.3), Some(0.7)]),
        ("hop changes at 5 s", &[Some(5.0), Some(5.0)]),
        ("hop changes, number 2", &[Some(6.0), Some(6.5)]),
    ];
    assert_eq!(found, expected);
}

#[test]
fn json_has_values_and_verdicts() {
    let json = serde_json::to_value(three()).unwrap();
    let utilisation = &json["figures"][0];
    assert_eq!(utilisation["name"], "utilisation");
    assert_eq!(utilisation["better"], "more");
    assert_eq!(utilisation["laws"][0]["values"][2], 0.90);
    assert_eq!(utilisation["differences"][0]["verdict"], "within_noise");
    assert_eq!(json["seeds"], serde_json::json!([1, 2, 3, 4]));
}

#[test]
fn seeds_that_follow_each_other_are_a_range() {
    let text =
        |seeds: &[u64]| Comparison { seeds: seeds.to_vec(), ..Comparison::default() }.seeds_text();
    assert_eq!([text(&[3]), text(&[3, 4, 5])], ["seed 3", "seeds 3 to 5"]);
    assert_eq!(
        [text(&[3, 5]), text(&[u64::MAX, 0])],
        ["seeds 3, 5", "seeds 18446744073709551615, 0"]
    );
}

#[test]
fn nothing_ran() {
    assert_eq!(Comparison::of(&[], true), Comparison::default());
}
