//! The samples as the page's script reads them: compact JSON, four significant digits.
//!
//! A series is an array whose first element is the index of its first point; point `i` covers the
//! time from `i` to `i + 1` times `dt`. `g` is the group that gives the colour, -1 for none.

use std::collections::BTreeMap;

use ratewire_units::Duration;

use super::changes::changes;
use super::groups::{Groups, Mode};
use super::text::{json_sentence, json_string, json_value, push_number};
use super::units::{PlotUnit, units};
use crate::figure_name::{FigureName, Subject};
use crate::headline::{bottlenecks, summaries};
use crate::plots::{Plot, PlotSource, Recorded, Scale, Unit, draws, key, recorded};
use crate::{Answer, ConnectionRow, FlowRow, FlowSeries, GroupRow, LinkRow, Run, Series, Tracks};

/// Links the page draws plots for.
pub(super) const LINKS: usize = 24;

/// Units and links of the plots, chosen over all runs.
pub(super) struct Choice {
    /// By key of a series: its unit, if the unit depends on the values.
    units: Vec<(&'static str, PlotUnit)>,
    /// Indices of the links with plots, the most interesting first.
    pub(super) links: Vec<u32>,
    /// How many links had series to choose from.
    pub(super) links_known: usize,
}

impl Choice {
    pub(super) fn of(runs: &[Run]) -> Choice {
        Choice::beside(runs, &[])
    }

    /// As [`Choice::of`], with units that also fit the runs `others`.
    pub(super) fn beside(runs: &[Run], others: &[Run]) -> Choice {
        let ranked = rank_links(runs);
        Choice {
            units: units(runs.iter().chain(others)),
            links_known: ranked.len(),
            links: ranked.into_iter().take(LINKS).collect(),
        }
    }

    /// The unit of a plot.
    fn unit(&self, unit: &Unit) -> &'static str {
        match unit {
            Unit::Fixed(unit) => unit,
            Unit::Of(series) => {
                let fitted = self.units.iter().find(|(key, _)| key == series);
                fitted.map_or("", |(_, unit)| unit.0)
            }
        }
    }

    /// What a point of a series is divided by.
    fn divisor<R>(&self, series: &Recorded<R>) -> f64 {
        match series.scale {
            Scale::Fixed(divisor) => divisor,
            Scale::Fits(_) | Scale::FitsLasting(_) => {
                let fitted = self.units.iter().find(|(key, _)| *key == series.key);
                fitted.map_or(1.0, |(_, unit)| unit.1)
            }
        }
    }

    /// Leaves only the links of these names, in their order; without names, the bottlenecks.
    pub(super) fn only(&mut self, runs: &[Run], names: &[String]) {
        let Some(run) = runs.first() else { return };
        let known = &run.info.topology.links;
        let named = names.iter().filter_map(|name| known.iter().position(|l| l.name == *name));
        self.links = match names {
            [] => bottlenecks(&summaries(runs)),
            _ => named.map(|link| link as u32).collect(),
        };
    }
}

/// Length of the moving means that the script draws, in points and in time. Packets come in clumps
/// of a round trip, which would hide how flows share.
pub(super) fn smoothing(runs: &[Run], halvings: u32) -> (u64, Duration) {
    let flows = runs.iter().flat_map(|run| &run.collected.flows);
    let width = flows
        .filter_map(|flow| flow.tracks.get(key::GOODPUT))
        .map(Series::interval)
        .max()
        .unwrap_or_default();
    let width = width * (1_u64 << halvings.min(30));
    let lasted = runs.iter().map(|run| run.info.duration).max().unwrap_or_default();
    // At most a sixty-sixth of the run; an odd number has a middle.
    let all = lasted.ps().checked_div(width.ps()).unwrap_or(0);
    let points = ((all / 66).clamp(1, 9) - 1) / 2 * 2 + 1;
    (points, width * points)
}

/// Links with series in any run: bottlenecks first, then by peak queue, then by peak utilisation.
fn rank_links(runs: &[Run]) -> Vec<u32> {
    let judged = bottlenecks(&summaries(runs));
    let is_asked = |run: &Run, link: u32| {
        let name = run.info.topology.links.get(link as usize).map(|link| link.name.as_str());
        let asked = run.info.figures.iter().filter_map(FigureName::subject);
        name.is_some_and(|name| asked.clone().any(|of| of == (Subject::Link, name)))
    };
    let mut ranked: Vec<((bool, bool), f64, f64, u32)> = Vec::new();
    for run in runs {
        for link in &run.collected.links {
            let queue = link.tracks.peak(key::QUEUE_MAX).unwrap_or(0.0);
            let busy = link.tracks.peak(key::UTILISATION).unwrap_or(0.0);
            match ranked.iter_mut().find(|r| r.3 == link.link) {
                Some(r) => *r = (r.0, r.1.max(queue), r.2.max(busy), r.3),
                None => {
                    let meant = (is_asked(run, link.link), judged.contains(&link.link));
                    ranked.push((meant, queue, busy, link.link));
                }
            }
        }
    }
    ranked.sort_by(|a, b| {
        let (queue, busy) = (b.1.total_cmp(&a.1), b.2.total_cmp(&a.2));
        b.0.cmp(&a.0).then(queue).then(busy).then(a.3.cmp(&b.3))
    });
    ranked.into_iter().map(|r| r.3).collect()
}

/// How runs are drawn.
pub(super) struct Drawing<'a> {
    /// The plots.
    pub(super) plots: &'a [Plot],
    /// Whether each law has a plot of its own from the start.
    pub(super) apart: bool,
    /// How often every series is halved to fit the page.
    pub(super) halvings: u32,
}

/// The content of the page's data element.
pub(super) fn json(
    runs: &[Run],
    groups: &Groups,
    choice: &Choice,
    drawing: &Drawing<'_>,
) -> String {
    let mut out = String::from("{\"mode\":");
    out.push_str(match groups.mode {
        Mode::Runs => "\"runs\"",
        Mode::Mixed => "\"mixed\"",
        Mode::Flows => "\"flows\"",
    });
    let end = runs.iter().map(|r| r.info.duration.secs()).fold(0.0, f64::max);
    out.push_str(&format!(",\"apart\":{},\"end\":", drawing.apart));
    push_number(&mut out, end);
    let times = changes(runs).iter().map(|change| {
        let mut text = String::new();
        push_number(&mut text, change.at.secs());
        text
    });
    out.push_str(&format!(",\"changes\":[{}]", times.collect::<Vec<_>>().join(",")));
    let (points, long) = smoothing(runs, drawing.halvings);
    out.push_str(&format!(",\"smooth\":{points},\"smoothed\":\"{long}\""));
    let list = groups.list.iter().map(|g| {
        let name = json_string(&g.name);
        format!("{{\"name\":{name},\"hue\":{},\"dash\":{},\"mark\":{}}}", g.hue, g.dash, g.mark)
    });
    out.push_str(&format!(",\"groups\":[{}]", list.collect::<Vec<_>>().join(",")));
    let plots = drawing.plots.iter().map(|plot| plot_json(*plot, runs, choice));
    out.push_str(&format!(",\"plots\":[{}]", plots.collect::<Vec<_>>().join(",")));
    let writer = Writer { halvings: drawing.halvings, choice, plots: drawing.plots };
    let mut sentences = Sentences::default();
    out.push_str(",\"flows\":[");
    for (index, run) in runs.iter().enumerate() {
        for flow in &run.collected.flows {
            let name = run.info.flows.get(flow.flow as usize).map_or("", |f| f.name.as_str());
            let name = if name.is_empty() { format!("flow {}", flow.flow) } else { name.into() };
            writer.flow(
                &mut out,
                run,
                flow,
                groups.of_flow(runs, index, flow.flow),
                &name,
                &mut sentences,
            );
        }
    }
    out.push_str("],\"totals\":[");
    let of_all = recorded::<f64>();
    for (index, run) in runs.iter().enumerate() {
        if of_all.iter().any(|series| draws(drawing.plots, series.key)) {
            writer.line(
                &mut out,
                of_run(groups, index),
                "all flows",
                &of_all,
                &run.collected.all_flows,
            );
        }
    }
    out.push_str("],\"links\":[");
    for &link in &choice.links {
        comma(&mut out);
        let name = link_name(runs, link);
        out.push_str(&format!("{{\"name\":{},\"id\":{link},\"runs\":[", json_string(&name)));
        writer.link(&mut out, runs, groups, link);
        out.push_str("]}");
    }
    out.push_str("],\"overlay\":[");
    for (index, run) in runs.iter().enumerate() {
        writer.overlay(&mut out, run, of_run(groups, index));
    }
    out.push_str(&format!("],\"says\":[{}]}}", sentences.list.join(",")));
    out
}

/// A plot as the page's script draws it, and as [`crate::draw`] reads it.
fn plot_json(plot: Plot, runs: &[Run], choice: &Choice) -> String {
    let entry = plot.entry();
    let of = match entry.source {
        PlotSource::Flow(_) => "flow",
        PlotSource::AllFlows(_) => "all",
        PlotSource::Link(_) => "link",
        PlotSource::Group(_) | PlotSource::Connection(_) => "overlay",
    };
    json_value(&serde_json::json!({
        "name": entry.name,
        "key": entry.key,
        "title": entry.title,
        "detail": (entry.detail)(runs),
        "quantity": entry.quantity,
        "unit": choice.unit(&entry.unit),
        "of": of,
        "draws": entry.draws,
        "shape": entry.shape,
        "none": entry.none,
    }))
}

/// What to call link `link`.
pub(super) fn link_name(runs: &[Run], link: u32) -> String {
    let known = runs.iter().filter_map(|r| r.info.topology.links.get(link as usize));
    let name = known.map(|l| l.name.clone()).find(|n| !n.is_empty());
    name.unwrap_or_else(|| format!("link {link}"))
}

/// The group of a whole run, as the script knows it.
fn of_run(groups: &Groups, run: usize) -> i64 {
    groups.of_run(run).map_or(-1, |g| g as i64)
}

struct Writer<'a> {
    halvings: u32,
    choice: &'a Choice,
    /// The plots whose series are written.
    plots: &'a [Plot],
}

impl Writer<'_> {
    /// The width of a point. Some series may be empty; those with points agree.
    fn dt(&self, out: &mut String, tracks: &Tracks) {
        out.push_str(",\"dt\":");
        let width = tracks.all().map(Series::interval).max().unwrap_or_default();
        // More digits than a figure needs: an error here would grow along the axis of time.
        let width = width.secs() * f64::from(1_u32 << self.halvings.min(30));
        out.push_str(&if width > 0.0 { format!("{width}") } else { "1".into() });
    }

    /// A series, if any of the plots draws it.
    fn series<R>(&self, out: &mut String, of: &Recorded<R>, tracks: &Tracks) {
        if let Some(series) = tracks.get(of.key).filter(|_| draws(self.plots, of.key)) {
            let values: Vec<f64> = series.coarse(self.halvings).values().collect();
            push_values(out, of.key, &values, self.choice.divisor(of));
        }
    }

    /// A named line: a group, a connection, or all flows together.
    fn line<R>(
        &self,
        out: &mut String,
        group: i64,
        name: &str,
        of: &[&Recorded<R>],
        tracks: &Tracks,
    ) {
        comma(out);
        out.push_str(&format!("{{\"g\":{group},\"name\":{}", json_string(name)));
        self.dt(out, tracks);
        of.iter().for_each(|series| self.series(out, series, tracks));
        out.push('}');
    }

    /// A flow and its series; with the goodput go the answers to what bound its rate, and its
    /// completion.
    fn flow(
        &self,
        out: &mut String,
        run: &Run,
        flow: &FlowSeries,
        group: usize,
        name: &str,
        sentences: &mut Sentences,
    ) {
        comma(out);
        out.push_str(&format!("{{\"g\":{group},\"name\":{}", json_string(name)));
        self.dt(out, &flow.tracks);
        for series in recorded::<FlowRow>() {
            self.series(out, series, &flow.tracks);
            if series.key == key::GOODPUT && draws(self.plots, series.key) {
                let answers = run.collected.answers.iter().filter(|a| a.flow == flow.flow);
                self.answers(out, answers, sentences);
                let end = run.summary.flows.get(flow.flow as usize);
                if let Some((end, took)) = end.and_then(|end| Some((end, end.completion_s?))) {
                    out.push_str(",\"done\":");
                    push_number(out, end.start_s + took);
                }
            }
        }
        out.push('}');
    }

    /// The answers to what bound the rate: `[time, who, equation, figures]`, who and equation as
    /// indices of sentences. Answers are thinned as points are.
    fn answers<'a>(
        &self,
        out: &mut String,
        answers: impl Iterator<Item = &'a Answer>,
        sentences: &mut Sentences,
    ) {
        let texts = answers.step_by(1 << self.halvings.min(30)).map(|answer| {
            let (by, equation) = (sentences.place(&answer.by), sentences.place(&answer.equation));
            let figures: Vec<String> = answer.figures.iter().map(|f| json_string(f)).collect();
            let mut text = String::from("[");
            push_number(&mut text, answer.sent.secs());
            text + &format!(",{by},{equation},[{}]]", figures.join(","))
        });
        let texts: Vec<String> = texts.collect();
        if !texts.is_empty() {
            out.push_str(&format!(",\"why\":[{}]", texts.join(",")));
        }
    }

    /// Groups and connections of an overlay, each with a name.
    fn overlay(&self, out: &mut String, run: &Run, group: i64) {
        let (Some(series), Some(info)) = (&run.collected.overlay, &run.info.overlay) else {
            return;
        };
        let of_group = recorded::<GroupRow>();
        for (name, tracks) in info.groups.iter().zip(&series.groups) {
            self.line(out, group, name, &of_group, tracks);
        }
        let of_connection = recorded::<ConnectionRow>();
        for (flow, tracks) in info.connections.iter().zip(&series.connections) {
            // A connection that nothing ever waited for would be a line along the axis.
            if is_positive(tracks, key::WAITING) {
                let name = run.info.flows.get(*flow as usize).map_or("", |f| f.name.as_str());
                self.line(out, group, name, &of_connection, tracks);
            }
        }
    }

    /// A link under each run that has series of it.
    fn link(&self, out: &mut String, runs: &[Run], groups: &Groups, link: u32) {
        let tracks_of =
            |run: &'_ Run| run.collected.links.iter().position(|series| series.link == link);
        let is_written = |series: &&Recorded<LinkRow>| {
            let under = |run: &Run| {
                let place = tracks_of(run);
                place.is_some_and(|i| is_positive(&run.collected.links[i].tracks, series.key))
            };
            !series.is_left_out_if_zero || runs.iter().any(under)
        };
        let of_link: Vec<_> = recorded::<LinkRow>().into_iter().filter(is_written).collect();
        for (index, run) in runs.iter().enumerate() {
            let Some(place) = tracks_of(run) else { continue };
            let tracks = &run.collected.links[place].tracks;
            comma(out);
            out.push_str(&format!("{{\"g\":{}", of_run(groups, index)));
            self.dt(out, tracks);
            of_link.iter().for_each(|series| self.series(out, series, tracks));
            out.push('}');
        }
    }
}

/// Whether a series has a point above zero.
fn is_positive(tracks: &Tracks, key: &str) -> bool {
    tracks.peak(key).is_some_and(|peak| peak > 0.0)
}

fn comma(out: &mut String) {
    if !out.ends_with('[') {
        out.push(',');
    }
}

/// The sentences of answers, each kept once, as JSON.
#[derive(Default)]
struct Sentences {
    list: Vec<String>,
    places: BTreeMap<String, usize>,
}

impl Sentences {
    /// Index of a sentence in the list.
    fn place(&mut self, text: &str) -> usize {
        *self.places.entry(text.to_string()).or_insert_with(|| {
            self.list.push(json_sentence(text));
            self.list.len() - 1
        })
    }
}

/// An array: the index of the first value there is, then the values.
fn push_values(out: &mut String, key: &str, values: &[f64], unit: f64) {
    let Some(first) = values.iter().position(|v| v.is_finite()) else { return };
    out.push_str(&format!(",\"{key}\":[{first}"));
    for &value in &values[first..] {
        out.push(',');
        push_number(out, value / unit);
    }
    out.push(']');
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Collector, LinkInfo, RunInfo, Summary};

    #[test]
    fn links_that_were_asked_for_have_plots_before_those_with_longer_queues() {
        let link = |n: u32| LinkInfo { name: format!("l{n}"), ..LinkInfo::default() };
        let mut info = RunInfo { sampling: Duration::from_millis(1), ..RunInfo::default() };
        info.topology.links = (0..30).map(link).collect();
        info.figures = vec!["queue_max/l3".parse().expect("a figure")];
        let mut collector = Collector::new(&info);
        for link in 0..30 {
            collector.link(&LinkRow {
                at: ratewire_units::Time::from_millis(1),
                interval: Duration::from_millis(1),
                link,
                queue_packets_max: link,
                ..LinkRow::default()
            });
        }
        let mut summary = Summary::of(&info);
        summary.links[1].expected_bottleneck = true;
        let run = Run { collected: collector.finish(), info, summary };
        let ranked = rank_links(&[run]);
        assert_eq!(ranked[..4], [3, 1, 29, 28]);
    }
}
