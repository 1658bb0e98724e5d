//! The charts of a page: where its script draws, and the text for readers without the script.

use super::changes::legend_of_changes;
use super::data::{Choice, LINKS, smoothing};
use super::groups::{Groups, Mode};
use super::text::{escape, name};
use crate::Run;
use crate::figure::{count, plural};
use crate::plots::{Chart, Plot, PlotSource, key};

/// Element in which the script answers what bound a flow's rate.
const ASK_WHY: &str = "<div class=\"why\" aria-live=\"polite\" aria-atomic=\"true\">Point at a \
                       flow, or tap it, to see what limited its rate at that time. In the plot the arrow keys \
                       do the same; Esc closes.</div>";

/// The plots over time that a page of `runs` shows.
pub(super) fn plots(
    heading: &str,
    runs: &[Run],
    groups: &Groups,
    choice: &Choice,
    halvings: u32,
) -> String {
    let flows: usize = runs.iter().map(|r| r.collected.flows.len()).sum();
    let mut out = format!(
        "<section aria-labelledby=\"h-time\"><h2 id=\"h-time\">{heading}</h2>\n\
         <p class=\"note screen\">Drag across a plot to zoom into a time, double-click to zoom out.</p>\n\
         <noscript><p class=\"note\">Plots need JavaScript; the tables do not.</p></noscript>\n",
    );
    if flows == 0 && choice.links.is_empty() {
        return out + "<p class=\"note\">The run has no samples.</p></section>\n";
    }
    out.push_str("<div class=\"plots\">\n");
    out.extend(charts(runs).iter().map(|(title, plots)| chart(runs, title, plots)));
    out.push_str("</div>\n<p class=\"note\">");
    out.push_str(&escape(&what_is_shown(runs, groups, choice, halvings)));
    out + "</p></section>\n"
}

/// The charts of a page: the title of each, and the plots it offers.
fn charts(runs: &[Run]) -> Vec<(&'static str, Vec<Plot>)> {
    let mut charts: Vec<(&str, Vec<Plot>)> = Vec::new();
    for plot in Plot::all() {
        if let Chart::Opens(title) = plot.entry().chart {
            charts.push((title(runs), Vec::new()));
        }
        if let Some((_, plots)) = charts.last_mut().filter(|_| (plot.entry().is_shown)(runs)) {
            plots.push(plot);
        }
    }
    charts.retain(|(_, plots)| !plots.is_empty());
    charts
}

/// A chart for one of `plots`, with a choice where there are several.
pub(super) fn chart(runs: &[Run], title: &str, plots: &[Plot]) -> String {
    let first = plots[0].entry();
    let chooser = if plots.len() > 1 {
        let options = plots.iter().map(|plot| plot.entry()).map(|plot| {
            format!("<option value=\"{}\">{}</option>", plot.key, escape(&(plot.detail)(runs)))
        });
        format!("<select aria-label=\"{title}: what\">{}</select>", options.collect::<String>())
    } else {
        format!("<span class=\"what\">{}</span>", escape(&(first.detail)(runs)))
    };
    let of = match first.source {
        PlotSource::Flow(_) | PlotSource::AllFlows(_) => "of-flows",
        PlotSource::Link(_) => "of-link",
        PlotSource::Group(_) | PlotSource::Connection(_) => "of-overlay",
    };
    let asks = first.asks_why && runs.iter().any(|run| !run.collected.answers.is_empty());
    // Screen readers reach elements in a group, but not in an image.
    let (role, below) = if asks { ("group", ASK_WHY) } else { ("img", "") };
    format!(
        "<figure class=\"chart {of}\" data-key=\"{}\"><figcaption><h3>{title}</h3>{chooser}</figcaption>\
         <div class=\"plot\" role=\"{role}\" aria-label=\"{title} over time. {}\"></div>\
         <div class=\"below\"></div>{below}</figure>\n",
        first.key,
        escape(&(first.said)(runs))
    )
}

/// The length of the moving mean of throughput; `None` if points are shown as they are.
pub(super) fn note_on_mean(runs: &[Run], halvings: u32) -> Option<String> {
    let (points, long) = smoothing(runs, halvings);
    (points > 1)
        .then(|| format!("Throughput per flow is the mean of the {long} around each point."))
}

/// The note below the plots: how fine the points are, what was left out, what colours mean.
fn what_is_shown(runs: &[Run], groups: &Groups, choice: &Choice, halvings: u32) -> String {
    let mut text = super::foot::points(runs, halvings);
    if let Some(note) = note_on_mean(runs, halvings) {
        text.push_str(&format!(" {note}"));
    }
    let drawn = runs.iter().map(|r| r.collected.flows.len()).max().unwrap_or(0);
    let all = runs.iter().map(|r| r.collected.flows_total).max().unwrap_or(0);
    let most = runs.iter().map(|r| r.collected.limits.flows).max().unwrap_or(0);
    if all > most && drawn > 0 {
        text.push_str(&format!(
            " {} of {}, taken evenly from the list, are drawn one by one; “all flows together” counts every one.",
            count(drawn as u64),
            plural(all, "flow")
        ));
    }
    if choice.links_known > LINKS {
        text.push_str(&format!(
            " {LINKS} of {} have plots: those that were asked for (--figure queue/LINK), then of those \
             of the verdict, then of all, the ones with the longest queues.",
            plural(choice.links_known, "link")
        ));
    }
    let tracked = runs.iter().map(|r| r.collected.links.len()).max().unwrap_or(0);
    let links = runs.iter().map(|r| r.info.topology.links.len()).max().unwrap_or(0);
    let limit = runs.iter().map(|r| r.collected.limits.links).max().unwrap_or(0);
    if links > tracked && tracked >= limit {
        text.push_str(&format!(
            " Samples of {} were kept; the tables have every link.",
            plural(tracked, "link")
        ));
    }
    if let Some(note) = legend_of_changes(runs) {
        text.push_str(&format!(" {note}"));
    }
    if runs.iter().any(|run| run.collected.links.iter().any(|link| link.tracks.has(key::PAUSED))) {
        text.push_str(" A queue is shaded when its link was paused by its far end.");
    }
    match groups.mode {
        Mode::Runs if drawn > 1 => {
            text.push_str(" A law has one colour and one marker; flows that share a plot with other laws differ by dashes.");
        }
        Mode::Mixed => text.push_str(" One colour per law; links, which all laws share, are grey."),
        Mode::Runs | Mode::Flows => {}
    }
    let name = name(&runs[0].info.law);
    if groups.mode == Mode::Flows && !name.is_empty() {
        text.push_str(&format!(" Every flow obeys {}.", runs[0].info.law));
    }
    text
}
