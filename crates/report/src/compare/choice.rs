//! Figures that are asked for by name, of a link, a flow, a class of traffic or a run:
//! `queue/hop2`, `goodput/long`, `fct_p99/web`, `fct_p99`.

use super::classes;
use super::figures::of_run;
use super::measured::{Measured, Named};
use super::own::own;
use super::{About, Better, FigureUnit};
use crate::figure_name::{FigureName, OF_RUN};
use crate::figures::better_utilisation;
use crate::{FlowSummary, LinkSummary, Summary};

/// Figures of a link. To add one, add an entry, and a row to `docs/reference/figures.md`.
static OF_LINK: [Named<LinkSummary>; 8] = [
    Named {
        name: "utilisation",
        title: "utilisation",
        unit: FigureUnit::Share,
        better: Better::More,
        value: |link| Some(link.utilisation),
    },
    Named {
        name: "throughput",
        title: "throughput",
        unit: FigureUnit::Rate,
        better: Better::More,
        value: |link| Some(link.throughput_bps),
    },
    Named {
        name: "queue",
        title: "queue mean",
        unit: FigureUnit::Packets,
        better: Better::Less,
        value: |link| Some(link.queue_packets_mean),
    },
    Named {
        name: "queue_p99",
        title: "queue p99",
        unit: FigureUnit::Packets,
        better: Better::Less,
        value: |link| Some(link.queue_packets_p99),
    },
    Named {
        name: "queue_max",
        title: "queue max",
        unit: FigureUnit::Packets,
        better: Better::Less,
        value: |link| Some(link.queue_packets_max as f64),
    },
    Named {
        name: "drops",
        title: "drops",
        unit: FigureUnit::Count,
        better: Better::Less,
        value: |link| Some(link.drops_total() as f64),
    },
    Named {
        name: "drop_share",
        title: "share of packets dropped",
        unit: FigureUnit::Share,
        better: Better::Less,
        value: |link| link.loss_share,
    },
    Named {
        name: "marks",
        title: "marks",
        unit: FigureUnit::Count,
        better: Better::Neither,
        value: |link| Some(link.marks as f64),
    },
];

/// Figures of a listed flow, as [`OF_LINK`].
static OF_FLOW: [Named<FlowSummary>; 16] = [
    Named {
        name: "goodput",
        title: "goodput",
        unit: FigureUnit::Rate,
        better: Better::More,
        value: |flow| Some(flow.goodput_bps),
    },
    Named {
        name: "share",
        title: "share",
        unit: FigureUnit::Share,
        better: Better::Neither,
        value: |flow| Some(flow.share),
    },
    Named {
        name: "fct",
        title: "completion time",
        unit: FigureUnit::Seconds,
        better: Better::Less,
        value: |flow| flow.completion_s,
    },
    Named {
        name: "rtt_mean",
        title: "RTT mean",
        unit: FigureUnit::Seconds,
        better: Better::Less,
        value: |flow| flow.rtt_mean_s,
    },
    Named {
        name: "rtt_min",
        title: "RTT min",
        unit: FigureUnit::Seconds,
        better: Better::Less,
        value: |flow| flow.rtt_min_s,
    },
    Named {
        name: "rtt_max",
        title: "RTT max",
        unit: FigureUnit::Seconds,
        better: Better::Less,
        value: |flow| flow.rtt_max_s,
    },
    Named {
        name: "rtt_p50",
        title: "RTT p50",
        unit: FigureUnit::Seconds,
        better: Better::Less,
        value: |flow| flow.rtt.map(|rtt| rtt.p50_s),
    },
    Named {
        name: "rtt_p95",
        title: "RTT p95",
        unit: FigureUnit::Seconds,
        better: Better::Less,
        value: |flow| flow.rtt.map(|rtt| rtt.p95_s),
    },
    Named {
        name: "rtt_p99",
        title: "RTT p99",
        unit: FigureUnit::Seconds,
        better: Better::Less,
        value: |flow| flow.rtt.map(|rtt| rtt.p99_s),
    },
    Named {
        name: "one_way_mean",
        title: "one-way delay, mean,",
        unit: FigureUnit::Seconds,
        better: Better::Less,
        value: |flow| flow.one_way.map(|delay| delay.mean_s),
    },
    Named {
        name: "one_way_p50",
        title: "one-way delay p50",
        unit: FigureUnit::Seconds,
        better: Better::Less,
        value: |flow| flow.one_way.map(|delay| delay.p50_s),
    },
    Named {
        name: "one_way_p95",
        title: "one-way delay p95",
        unit: FigureUnit::Seconds,
        better: Better::Less,
        value: |flow| flow.one_way.map(|delay| delay.p95_s),
    },
    Named {
        name: "one_way_p99",
        title: "one-way delay p99",
        unit: FigureUnit::Seconds,
        better: Better::Less,
        value: |flow| flow.one_way.map(|delay| delay.p99_s),
    },
    Named {
        name: "loss",
        title: "data packets lost",
        unit: FigureUnit::Share,
        better: Better::Less,
        value: |flow| flow.loss_share,
    },
    Named {
        name: "power",
        title: "power",
        unit: FigureUnit::Power,
        better: Better::More,
        value: |flow| flow.power_bps2,
    },
    Named {
        name: "sent_again",
        title: "packets sent again",
        unit: FigureUnit::Count,
        better: Better::Less,
        value: |flow| Some(flow.retransmitted_packets as f64),
    },
];

/// The figure of a name.
fn measured(asked: &FigureName, all: &[&Summary], bottlenecks: &[u32]) -> Option<Measured> {
    let name = asked.to_string();
    let (figure, of) = asked.parts();
    let Some(of) = of.map(str::to_string) else {
        let (_, known) = OF_RUN.iter().find(|(name, _)| *name == figure)?;
        let mut figures = of_run(all, bottlenecks).into_iter().chain(own());
        let found = figures.find(|figure| figure.name == *known)?;
        return Some(Measured { name, about: About::Chosen, ..found });
    };
    let title = |title: &str, word: &str| format!("{title} {word} {of}");
    let about = About::Chosen;
    if let Some(found) = classes::measured(figure, &of) {
        return Some(Measured { about, ..found });
    }
    if let Some(Named { title: what, unit, better, value, .. }) = of_link(figure) {
        let title = title(what, "at");
        let value = move |s: &Summary| value(s.links.iter().find(|link| link.name == of)?);
        // What a link carries is as much as was offered, where all of it arrives.
        let better = match figure {
            "utilisation" | "throughput" => better_utilisation(all),
            _ => *better,
        };
        let (unit, value) = (*unit, Box::new(value));
        return Some(Measured { name, title, at: String::new(), about, unit, better, value });
    }
    let Named { title: what, unit, better, value, .. } = of_flow(figure)?;
    let title = title(what, "of");
    let is_completion = figure == "fct";
    let value = move |s: &Summary| {
        let flow = s.flows.iter().find(|flow| flow.name == of)?;
        // Flows that complete count if they start in the measured part.
        let counts = if is_completion { s.has_begun(flow) } else { s.has_run(flow) };
        value(Some(flow).filter(|_| counts)?)
    };
    let (unit, better, value) = (*unit, *better, Box::new(value));
    Some(Measured { name, title, at: String::new(), about, unit, better, value })
}

fn of_link(name: &str) -> Option<&'static Named<LinkSummary>> {
    OF_LINK.iter().find(|figure| figure.name == name)
}

fn of_flow(name: &str) -> Option<&'static Named<FlowSummary>> {
    OF_FLOW.iter().find(|figure| figure.name == name)
}

/// The figures that are asked for, in their order.
pub(super) fn chosen(names: &[FigureName], all: &[&Summary], bottlenecks: &[u32]) -> Vec<Measured> {
    names.iter().filter_map(|name| measured(name, all, bottlenecks)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn figures_are_read_off_the_links_and_flows_of_their_names() {
        let link = |name: &str, queue_packets_mean| LinkSummary {
            name: name.into(),
            queue_packets_mean,
            ..LinkSummary::default()
        };
        let flow = |name: &str, goodput_bps| FlowSummary {
            name: name.into(),
            goodput_bps,
            ..FlowSummary::default()
        };
        let late = FlowSummary { start_s: 10.0, ..flow("late", 0.0) };
        let summary = Summary {
            links: vec![link("hop1", 455.0), link("hop2", 9.5)],
            flows: vec![flow("a/b", 1e6), flow("long", 2e6), late],
            duration_s: 10.0,
            jain_over_time: Some(0.5),
            ..Summary::default()
        };
        let names =
            ["queue/hop2", "goodput/a/b", "jain_over_time", "fct/long", "queue", "goodput/late"];
        let names = names.map(|name| name.parse::<FigureName>().expect(name));
        let all = [&summary];
        let chosen = chosen(&names, &all, &[0]);
        let read: Vec<(String, Option<f64>)> =
            chosen.iter().map(|figure| (figure.title(), figure.value(&summary))).collect();
        let expected = [
            ("queue mean at hop2", Some(9.5)),
            ("goodput of a/b", Some(1e6)),
            ("Jain over time", Some(0.5)),
            ("completion time of long", None),
            ("queue mean at hop1", Some(455.0)),
            ("goodput of late", None),
        ];
        assert_eq!(read, expected.map(|(title, value)| (title.to_string(), value)));
        assert_eq!(chosen[0].name, "queue/hop2");
    }

    #[test]
    fn completions_are_of_flows_that_start_in_the_measured_part() {
        let flow = |name: &str, start_s| FlowSummary {
            name: name.into(),
            start_s,
            completion_s: Some(5.0),
            ..FlowSummary::default()
        };
        let summary = Summary {
            flows: vec![flow("early", 3.0), flow("within", 4.0)],
            measured_from_s: Some(4.0),
            measured_to_s: Some(9.0),
            ..Summary::default()
        };
        let read = |name: &str| {
            let name: FigureName = name.parse().expect(name);
            chosen(&[name], &[&summary], &[])[0].value(&summary)
        };
        assert_eq!((read("fct/early"), read("fct/within")), (None, Some(5.0)));
        assert_eq!(read("goodput/early"), Some(0.0), "it ran in it");
    }

    #[test]
    fn what_a_link_carries_of_completed_flows_is_not_ranked() {
        let completed = |unfinished| Summary {
            completions: Some(crate::CompletionSummary { flows: 100, ..Default::default() }),
            unfinished_flows: Some(unfinished),
            ..Summary::default()
        };
        let better = |summary: &Summary, name: &str| {
            chosen(&[name.parse().expect(name)], &[summary], &[])[0].better
        };
        for name in ["utilisation/hop1", "throughput/hop1"] {
            assert_eq!(better(&completed(0), name), Better::Neither, "{name}");
            assert_eq!(better(&completed(50), name), Better::More, "{name}");
        }
    }

    #[test]
    fn every_figure_of_a_run_exists() {
        let summary = Summary::default();
        let all = [&summary];
        for (name, _) in OF_RUN {
            let name: FigureName = name.parse().expect(name);
            assert_eq!(chosen(&[name], &all, &[]).len(), 1);
        }
    }

    #[test]
    fn names_are_those_that_are_read() {
        assert!(OF_LINK.iter().map(|figure| figure.name).eq(crate::figure_name::OF_LINK));
        assert!(OF_FLOW.iter().map(|figure| figure.name).eq(crate::figure_name::OF_FLOW));
        assert!(classes::names().eq(crate::figure_name::OF_CLASS));
    }
}
