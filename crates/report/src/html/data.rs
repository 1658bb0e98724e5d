//! The samples as the page's script reads them: compact JSON, four significant digits.
//!
//! A series is an array whose first element is the index of its first point; point `i` covers the
//! time from `i` to `i + 1` times `dt`. `g` is the group that gives the colour, -1 for none.

use std::collections::BTreeMap;

use ratewire_units::Duration;

use super::groups::{Groups, Mode};
use super::plots::{Plot, changes};
use super::text::{json_sentence, json_string, push_number};
use crate::headline::{bottlenecks, summaries};
use crate::{Answer, FlowSeries, LinkSeries, Run, Series};

/// Links the page draws plots for.
pub(super) const LINKS: usize = 24;

/// A unit that fits the largest value: its name, and its size in the base unit.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Unit(pub(super) &'static str, pub(super) f64);

const RATES: [Unit; 4] =
    [Unit("Gbit/s", 1e9), Unit("Mbit/s", 1e6), Unit("kbit/s", 1e3), Unit("bit/s", 1.0)];
const SIZES: [Unit; 4] = [Unit("GB", 1e9), Unit("MB", 1e6), Unit("KB", 1e3), Unit("B", 1.0)];
const TIMES: [Unit; 4] = [Unit("s", 1.0), Unit("ms", 1e-3), Unit("µs", 1e-6), Unit("ns", 1e-9)];

/// What the plots are about, chosen over all runs.
pub(super) struct Choice {
    units: Vec<(Plot, Unit)>,
    /// Indices of the links with plots, the most interesting first.
    pub(super) links: Vec<u32>,
    /// How many links had series to choose from.
    pub(super) links_known: usize,
}

impl Choice {
    pub(super) fn of(runs: &[Run]) -> Choice {
        let flows = || runs.iter().flat_map(|r| &r.collected.flows);
        let of_flows = |series: fn(&FlowSeries) -> &Series| peak(flows().map(series));
        let totals = runs.iter().map(|r| &r.collected.total_goodput_bps);
        let groups = runs.iter().filter_map(|r| r.collected.overlay.as_ref());
        let groups = groups.flat_map(|overlay| &overlay.sent_bps);
        let goodputs = flows().map(|f| &f.goodput_bps);
        let rate = |peak| fit(peak, &RATES, "Mbit/s");
        let size = |peak| fit(peak, &SIZES, "KB");
        let ranked = rank_links(runs);
        Choice {
            units: vec![
                (Plot::Throughput, rate(lasting_peak(goodputs))),
                (Plot::Pace, rate(of_flows(|f| &f.pacing_bps))),
                (Plot::Total, rate(peak(totals))),
                (Plot::Groups, rate(lasting_peak(groups))),
                (Plot::Window, size(of_flows(|f| &f.cwnd_bytes))),
                (Plot::InFlight, size(of_flows(|f| &f.in_flight_bytes))),
                (Plot::ReceiveWindow, size(of_flows(|f| &f.receive_window_bytes))),
                (Plot::RoundTrip, fit(of_flows(|f| &f.srtt_s), &TIMES, "ms")),
            ],
            links_known: ranked.len(),
            links: ranked.into_iter().take(LINKS).collect(),
        }
    }
}

impl Choice {
    /// What a point of `plot` is divided by: the rest are counts.
    fn size_of_unit(&self, plot: Plot) -> f64 {
        self.units.iter().find(|(of, _)| *of == plot).map_or(1.0, |(_, unit)| unit.1)
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

fn peak<'a>(all: impl Iterator<Item = &'a Series>) -> f64 {
    all.filter_map(Series::peak).fold(0.0, f64::max)
}

/// The largest of the means of eight points each: packets come in clumps of a round trip, and one sample
/// may be ten times what there is to see.
fn lasting_peak<'a>(all: impl Iterator<Item = &'a Series>) -> f64 {
    let merged: Vec<Series> = all.map(|series| coarse(series, 3)).collect();
    peak(merged.iter())
}

fn coarse(series: &Series, halvings: u32) -> Series {
    let mut coarse = series.clone();
    (0..halvings).for_each(|_| coarse.halve());
    coarse
}

/// Of how many points up to each the script draws the mean, where it draws a moving mean: packets come in
/// clumps of a round trip, which would hide how flows share. And how long that is.
pub(super) fn smoothing(runs: &[Run], halvings: u32) -> (u64, Duration) {
    let flows = runs.iter().flat_map(|run| &run.collected.flows);
    let width = flows.map(|flow| flow.goodput_bps.interval()).max().unwrap_or_default();
    let width = width * (1_u64 << halvings.min(30));
    let lasted = runs.iter().map(|run| run.info.duration).max().unwrap_or_default();
    // No more than a sixty-sixth of what is drawn.
    let all = lasted.ps().checked_div(width.ps()).unwrap_or(0);
    let points = (all / 66).clamp(1, 9);
    (points, width * points)
}

/// The largest unit of which `peak` is at least one; `usual` when there is nothing to measure.
fn fit(peak: f64, units: &[Unit], usual: &str) -> Unit {
    let fits = units.iter().find(|u| peak >= u.1);
    let usual = || units.iter().find(|u| u.0 == usual);
    fits.or_else(usual).copied().unwrap_or(Unit("", 1.0))
}

/// Links with series in any run: those of the verdict first, then by peak queue, then by peak utilisation.
fn rank_links(runs: &[Run]) -> Vec<u32> {
    let judged = bottlenecks(&summaries(runs));
    let mut ranked: Vec<(bool, f64, f64, u32)> = Vec::new();
    for run in runs {
        for link in &run.collected.links {
            let queue = link.queue_packets_max.peak().unwrap_or(0.0);
            let busy = link.utilisation.peak().unwrap_or(0.0);
            match ranked.iter_mut().find(|r| r.3 == link.link) {
                Some(r) => *r = (r.0, r.1.max(queue), r.2.max(busy), r.3),
                None => ranked.push((judged.contains(&link.link), queue, busy, link.link)),
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
    /// What of.
    pub(super) plots: &'a [Plot],
    /// Whether each law has a plot of its own from the start.
    pub(super) apart: bool,
    /// How often every series is halved to fit the page.
    pub(super) halvings: u32,
}

/// The whole data element.
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
    out.push_str(&format!(",\"smooth\":{}", smoothing(runs, drawing.halvings).0));
    let list = groups.list.iter().map(|g| {
        format!("{{\"name\":{},\"hue\":{},\"dash\":{}}}", json_string(&g.name), g.hue, g.dash)
    });
    out.push_str(&format!(",\"groups\":[{}]", list.collect::<Vec<_>>().join(",")));
    let units = choice.units.iter();
    let units = units.map(|(plot, unit)| format!("\"{}\":{}", plot.key(), json_string(unit.0)));
    out.push_str(&format!(",\"units\":{{{}}}", units.collect::<Vec<_>>().join(",")));
    let writer = Writer { halvings: drawing.halvings };
    let drawn = |plot: Plot| drawing.plots.contains(&plot);
    let unit = |plot: Plot| choice.size_of_unit(plot);
    let mut sentences = Sentences::default();
    out.push_str(",\"flows\":[");
    for (index, run) in runs.iter().enumerate() {
        for flow in &run.collected.flows {
            comma(&mut out);
            let group = groups.of_flow(runs, index, flow.flow);
            let name = run.info.flows.get(flow.flow as usize).map_or("", |f| f.name.as_str());
            let name = if name.is_empty() { format!("flow {}", flow.flow) } else { name.into() };
            out.push_str(&format!("{{\"g\":{group},\"name\":{}", json_string(&name)));
            writer.dt(&mut out, &[&flow.goodput_bps, &flow.in_flight_bytes]);
            if drawn(Plot::Throughput) || drawn(Plot::Sampled) {
                writer.series(&mut out, "goodput", &flow.goodput_bps, unit(Plot::Throughput));
                let answers = run.collected.answers.iter().filter(|a| a.flow == flow.flow);
                writer.answers(&mut out, answers, &mut sentences);
                let end = run.summary.flows.get(flow.flow as usize);
                if let Some((end, took)) = end.and_then(|end| Some((end, end.completion_s?))) {
                    out.push_str(",\"done\":");
                    push_number(&mut out, end.start_s + took);
                }
            }
            for (plot, series) in [
                (Plot::Window, &flow.cwnd_bytes),
                (Plot::InFlight, &flow.in_flight_bytes),
                (Plot::ReceiveWindow, &flow.receive_window_bytes),
                (Plot::RoundTrip, &flow.srtt_s),
                (Plot::Pace, &flow.pacing_bps),
            ] {
                if drawn(plot) {
                    writer.series(&mut out, plot.key(), series, unit(plot));
                }
            }
            out.push('}');
        }
    }
    out.push_str("],\"totals\":[");
    for (index, run) in runs.iter().enumerate().filter(|_| drawn(Plot::Total)) {
        comma(&mut out);
        let group = groups.of_run(index).map_or(-1, |g| g as i64);
        out.push_str(&format!("{{\"g\":{group},\"name\":\"all flows\""));
        writer.dt(&mut out, &[&run.collected.total_goodput_bps]);
        writer.series(&mut out, "total", &run.collected.total_goodput_bps, unit(Plot::Total));
        out.push('}');
    }
    out.push_str("],\"links\":[");
    for &link in &choice.links {
        comma(&mut out);
        let name = link_name(runs, link);
        out.push_str(&format!("{{\"name\":{},\"id\":{link},\"runs\":[", json_string(&name)));
        let under = || runs.iter().flat_map(|r| &r.collected.links).filter(|l| l.link == link);
        let some = |s: &Series| s.peak().is_some_and(|peak| peak > 0.0);
        // All zeros under every law is the usual case: the script says so in words.
        let dropped = under().any(|l| some(&l.drops_per_s));
        let marked = under().any(|l| some(&l.marks_per_s));
        let written = |plot: Plot| match plot {
            Plot::Drops => drawn(plot) && dropped,
            Plot::Marks => drawn(plot) && marked,
            _ => drawn(plot),
        };
        for (index, run) in runs.iter().enumerate() {
            let Some(series) = run.collected.links.iter().find(|l| l.link == link) else {
                continue;
            };
            comma(&mut out);
            let group = groups.of_run(index).map_or(-1, |g| g as i64);
            writer.link(&mut out, series, group, written);
        }
        out.push_str("]}");
    }
    out.push_str("],\"overlay\":[");
    for (index, run) in runs.iter().enumerate() {
        let group = groups.of_run(index).map_or(-1, |g| g as i64);
        writer.overlay(&mut out, run, group, unit(Plot::Groups), drawn);
    }
    out.push_str(&format!("],\"says\":[{}]}}", sentences.list.join(",")));
    out
}

/// What to call link `link`.
pub(super) fn link_name(runs: &[Run], link: u32) -> String {
    let known = runs.iter().filter_map(|r| r.info.topology.links.get(link as usize));
    let name = known.map(|l| l.name.clone()).find(|n| !n.is_empty());
    name.unwrap_or_else(|| format!("link {link}"))
}

struct Writer {
    halvings: u32,
}

impl Writer {
    /// The width of a point; one series may be empty, those with points agree.
    fn dt(&self, out: &mut String, series: &[&Series]) {
        out.push_str(",\"dt\":");
        let width = series.iter().map(|s| s.interval()).max().unwrap_or_default();
        // More digits than a figure needs: an error here would grow along the axis of time.
        let width = width.secs() * f64::from(1_u32 << self.halvings.min(30));
        out.push_str(&if width > 0.0 { format!("{width}") } else { "1".into() });
    }

    fn series(&self, out: &mut String, key: &str, series: &Series, unit: f64) {
        let values: Vec<f64> = coarse(series, self.halvings).values().collect();
        push_values(out, key, &values, unit);
    }

    /// What bound the rate: `[time, who, equation, figures]`, the middle two as places among the
    /// sentences; as many as points are.
    fn answers<'a>(
        &self,
        out: &mut String,
        answers: impl Iterator<Item = &'a Answer>,
        sentences: &mut Sentences,
    ) {
        let told = answers.step_by(1 << self.halvings.min(30)).map(|answer| {
            let (by, equation) = (sentences.place(&answer.by), sentences.place(&answer.equation));
            let figures: Vec<String> = answer.figures.iter().map(|f| json_string(f)).collect();
            let mut text = String::from("[");
            push_number(&mut text, answer.sent.secs());
            text + &format!(",{by},{equation},[{}]]", figures.join(","))
        });
        let told: Vec<String> = told.collect();
        if !told.is_empty() {
            out.push_str(&format!(",\"why\":[{}]", told.join(",")));
        }
    }

    /// Groups and connections of an overlay, each with a name.
    fn overlay(
        &self,
        out: &mut String,
        run: &Run,
        group: i64,
        unit: f64,
        drawn: impl Fn(Plot) -> bool,
    ) {
        let (Some(series), Some(info)) = (&run.collected.overlay, &run.info.overlay) else {
            return;
        };
        let mut one = |name: &str, lines: &[(Plot, &Series, f64)]| {
            comma(out);
            out.push_str(&format!("{{\"g\":{group},\"name\":{}", json_string(name)));
            self.dt(out, &lines.iter().map(|line| line.1).collect::<Vec<_>>());
            for (plot, series, unit) in lines.iter().filter(|line| drawn(line.0)) {
                self.series(out, plot.key(), series, *unit);
            }
            out.push('}');
        };
        for (name, sent) in info.groups.iter().zip(&series.sent_bps) {
            one(name, &[(Plot::Groups, sent, unit)]);
        }
        let connections = info.connections.iter().zip(series.waiting.iter().zip(&series.price));
        for (flow, (waiting, price)) in connections {
            // One that nothing ever waited for would be a line along the axis.
            if waiting.peak().is_some_and(|peak| peak > 0.0) {
                let name = run.info.flows.get(*flow as usize).map_or("", |f| f.name.as_str());
                one(name, &[(Plot::Waiting, waiting, 1.0), (Plot::Price, price, 1.0)]);
            }
        }
    }

    fn link(&self, out: &mut String, link: &LinkSeries, group: i64, drawn: impl Fn(Plot) -> bool) {
        out.push_str(&format!("{{\"g\":{group}"));
        self.dt(out, &[&link.utilisation, &link.queue_packets_mean]);
        for (plot, key, series, unit) in [
            (Plot::Utilisation, "util", &link.utilisation, 0.01),
            (Plot::Queue, "qmean", &link.queue_packets_mean, 1.0),
            (Plot::Queue, "qmax", &link.queue_packets_max, 1.0),
            (Plot::Queue, "paused", &link.paused, 1.0),
            (Plot::Drops, "drops", &link.drops_per_s, 1.0),
            (Plot::Marks, "marks", &link.marks_per_s, 1.0),
        ] {
            if drawn(plot) {
                self.series(out, key, series, unit);
            }
        }
        out.push('}');
    }
}

fn comma(out: &mut String) {
    if !out.ends_with('[') {
        out.push(',');
    }
}

/// What many answers say, each kept once, as JSON.
#[derive(Default)]
struct Sentences {
    list: Vec<String>,
    places: BTreeMap<String, usize>,
}

impl Sentences {
    /// Its place in the list.
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

    #[test]
    fn units_fit_the_largest_value() {
        assert_eq!(fit(24e6, &RATES, "Mbit/s"), Unit("Mbit/s", 1e6));
        assert_eq!(fit(0.1e9, &RATES, "Mbit/s"), Unit("Mbit/s", 1e6));
        assert_eq!(fit(1e9, &RATES, "Mbit/s"), Unit("Gbit/s", 1e9));
        assert_eq!(fit(0.05, &TIMES, "ms"), Unit("ms", 1e-3));
        assert_eq!(fit(0.0, &SIZES, "KB"), Unit("KB", 1e3));
    }
}
