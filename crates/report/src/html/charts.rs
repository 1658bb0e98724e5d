//! The places where the page's script draws, with what a reader without it gets instead.

use ratewire_units::Time;
use serde::Deserialize;

use super::data::{Choice, LINKS, smoothing};
use super::groups::{Groups, Mode};
use super::text::{escape, name};
use crate::figure::{count, percent, plural, rate, seconds};
use crate::{ChangeInfo, Headline, Run};

/// Where the script tells what bound a flow's rate.
const ASK_WHY: &str = "<div class=\"why\" aria-live=\"polite\" aria-atomic=\"true\">Point at a \
                       flow, or tap it, to see what bound its rate then. In the plot the arrow keys \
                       do the same; Esc closes.</div>";

/// Something drawn over time, or of completed flows.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Plot {
    /// Goodput of each flow, as a moving mean.
    Throughput,
    /// The same, point by point.
    Sampled,
    /// The pace each flow's law asks for.
    Pace,
    /// Goodput of all flows together.
    Total,
    /// Congestion window of each flow.
    Window,
    /// Data of each flow in flight.
    InFlight,
    /// What each receiver allows.
    ReceiveWindow,
    /// Smoothed round-trip time of each flow.
    RoundTrip,
    /// Packets waiting at a link.
    Queue,
    /// Part of the time a link was sending.
    Utilisation,
    /// Packets a link dropped.
    Drops,
    /// Packets a link marked.
    Marks,
    /// What the senders of each group of an overlay send.
    Groups,
    /// What a message over each connection of an overlay costs.
    Price,
    /// Messages waiting for each connection of an overlay.
    Waiting,
}

impl Plot {
    pub(super) const ALL: [Plot; 15] = [
        Plot::Throughput,
        Plot::Sampled,
        Plot::Pace,
        Plot::Total,
        Plot::Window,
        Plot::InFlight,
        Plot::ReceiveWindow,
        Plot::RoundTrip,
        Plot::Queue,
        Plot::Utilisation,
        Plot::Drops,
        Plot::Marks,
        Plot::Groups,
        Plot::Price,
        Plot::Waiting,
    ];

    /// What the script calls it.
    pub(super) fn key(self) -> &'static str {
        match self {
            Plot::Throughput => "goodput",
            Plot::Sampled => "sampled",
            Plot::Pace => "pacing",
            Plot::Total => "total",
            Plot::Window => "cwnd",
            Plot::InFlight => "flight",
            Plot::ReceiveWindow => "rwnd",
            Plot::RoundTrip => "rtt",
            Plot::Queue => "queue",
            Plot::Utilisation => "util",
            Plot::Drops => "drops",
            Plot::Marks => "marks",
            Plot::Groups => "sent",
            Plot::Price => "price",
            Plot::Waiting => "waiting",
        }
    }

    pub(super) fn title(self) -> &'static str {
        match self {
            Plot::Throughput | Plot::Sampled | Plot::Pace | Plot::Total => "Throughput",
            Plot::Window | Plot::InFlight | Plot::ReceiveWindow => "Window",
            Plot::RoundTrip => "Round-trip time",
            Plot::Queue => "Queue",
            Plot::Utilisation => "Utilisation",
            Plot::Drops => "Drops",
            Plot::Marks => "Marks",
            Plot::Groups => "Groups of the overlay",
            Plot::Price | Plot::Waiting => "Connections of the overlay",
        }
    }

    /// What tells it from others of its title.
    fn detail(self) -> &'static str {
        match self {
            Plot::Throughput => "per flow",
            Plot::Sampled => "per flow, as sampled",
            Plot::Pace => "pace asked for",
            Plot::Total => "all flows together",
            Plot::Window => "congestion window",
            Plot::InFlight => "data in flight",
            Plot::ReceiveWindow => "receive window",
            Plot::RoundTrip => "smoothed",
            Plot::Queue => "mean, shaded up to the maximum",
            Plot::Utilisation => "",
            Plot::Drops => "dropped",
            Plot::Marks => "marked",
            Plot::Groups => "sent by all their senders",
            Plot::Price => "price of a message",
            Plot::Waiting => "messages waiting",
        }
    }

    fn is_of_link(self) -> bool {
        matches!(self, Plot::Queue | Plot::Utilisation | Plot::Drops | Plot::Marks)
    }
}

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
         <noscript><p class=\"note\">These plots need JavaScript; the tables below do not.</p></noscript>\n",
    );
    let is_told = |run: &Run| !run.collected.total_goodput_bps.is_empty();
    let throughput = match flows {
        0 => &[Plot::Total][..],
        _ => &[Plot::Throughput, Plot::Sampled, Plot::Pace, Plot::Total],
    };
    if flows == 0 && choice.links.is_empty() {
        return out + "<p class=\"note\">The run has no samples.</p></section>\n";
    }
    out.push_str("<div class=\"plots\">\n");
    if flows > 0 || runs.iter().any(is_told) {
        out.push_str("<div>\n");
        out.push_str(&chart(runs, throughput[0].title(), throughput));
        let mut flows_shown = runs.iter().flat_map(|run| &run.collected.flows);
        let windows = match flows_shown.any(|flow| !flow.cwnd_bytes.is_empty()) {
            true => &[Plot::Window, Plot::InFlight, Plot::ReceiveWindow][..],
            false => &[Plot::InFlight, Plot::ReceiveWindow],
        };
        // Flows that arrive are drawn together, and have no window together.
        for quantities in [windows, &[Plot::RoundTrip]] {
            if flows > 0 {
                out.push_str(&chart(runs, quantities[0].title(), quantities));
            }
        }
        if runs.iter().any(|run| run.collected.overlay.is_some()) {
            for quantities in [&[Plot::Groups][..], &[Plot::Price, Plot::Waiting]] {
                out.push_str(&chart(runs, quantities[0].title(), quantities));
            }
        }
        out.push_str("</div>\n");
    }
    if !choice.links.is_empty() {
        let marked = runs.iter().flat_map(|r| &r.summary.links).any(|l| l.marks > 0);
        let drops = if marked { "Drops and marks" } else { "Drops" };
        out.push_str("<div>\n");
        for (title, quantities) in [
            ("Queue", &[Plot::Queue][..]),
            ("Utilisation", &[Plot::Utilisation]),
            (drops, &[Plot::Drops, Plot::Marks]),
        ] {
            out.push_str(&chart(runs, title, quantities));
        }
        out.push_str("</div>\n");
    }
    out.push_str("</div>\n<p class=\"note\">");
    out.push_str(&escape(&what_is_shown(runs, groups, choice, halvings)));
    out + "</p></section>\n"
}

/// A place for one of `quantities`, with a choice where there are several.
pub(super) fn chart(runs: &[Run], title: &str, quantities: &[Plot]) -> String {
    let chooser = if quantities.len() > 1 {
        let options = quantities
            .iter()
            .map(|plot| format!("<option value=\"{}\">{}</option>", plot.key(), plot.detail()));
        format!("<select aria-label=\"{title}: what\">{}</select>", options.collect::<String>())
    } else {
        format!("<span class=\"what\">{}</span>", quantities[0].detail())
    };
    let (of, said) = match quantities[0] {
        plot if plot.is_of_link() => ("of-link", links_said(runs)),
        Plot::RoundTrip => ("of-flows", flows_said(runs).1),
        Plot::Groups | Plot::Price | Plot::Waiting => ("of-overlay", overlay_said(runs)),
        _ => ("of-flows", flows_said(runs).0),
    };
    let asks = quantities[0] == Plot::Throughput
        && runs.iter().any(|run| !run.collected.answers.is_empty());
    // What is in a picture cannot be reached; what is in a group can.
    let (role, below) = if asks { ("group", ASK_WHY) } else { ("img", "") };
    format!(
        "<figure class=\"chart {of}\" data-key=\"{}\"><figcaption><h3>{title} \
         <small class=\"unit\"></small></h3>{chooser}</figcaption>\
         <div class=\"plot\" role=\"{role}\" aria-label=\"{title} over time. {}\"></div>{below}</figure>\n",
        quantities[0].key(),
        escape(&said)
    )
}

/// What the plots of flows show, in words: (throughput, round-trip time) of each law.
fn flows_said(runs: &[Run]) -> (String, String) {
    let (mut rates, mut times) = (Vec::new(), Vec::new());
    for (run, label) in runs.iter().zip(crate::headline::labels(runs)).take(8) {
        let flows = &run.summary.flows;
        let goodputs = || flows.iter().map(|f| f.goodput_bps).filter(|g| g.is_finite());
        let (low, high) = (goodputs().reduce(f64::min), goodputs().reduce(f64::max));
        if let (Some(low), Some(high)) = (low, high) {
            rates.push(format!("{label}: goodputs from {} to {}", rate(low), rate(high)));
        }
        let means: Vec<f64> = flows.iter().filter_map(|f| f.rtt_mean_s).collect();
        if !means.is_empty() {
            let mean = means.iter().sum::<f64>() / means.len() as f64;
            times.push(format!("{label}: mean {}", seconds(Some(mean))));
        }
    }
    (rates.join("; "), times.join("; "))
}

fn overlay_said(runs: &[Run]) -> String {
    let overlays = runs.iter().zip(crate::headline::labels(runs)).take(8);
    let said = overlays.filter_map(|(run, label)| {
        let overlay = run.summary.overlay.as_ref()?;
        let groups = overlay.groups.iter().take(8);
        let groups = groups.map(|g| format!("{} sent {}", g.name, rate(g.sent_bps)));
        Some(format!("{label}: {}", groups.collect::<Vec<_>>().join(", ")))
    });
    said.collect::<Vec<_>>().join("; ")
}

fn links_said(runs: &[Run]) -> String {
    let said = Headline::of_all(runs).into_iter().take(8).map(|h| {
        let queue = crate::figure::mean(h.queue_packets_mean.unwrap_or(f64::NAN));
        let busy = percent(h.utilisation.unwrap_or(f64::NAN));
        format!("{}: utilisation {busy}, mean queue {queue} packets", h.law)
    });
    said.collect::<Vec<_>>().join("; ")
}

/// The most instants that are marked in plots: lines of more would hide what they are to explain.
const CHANGES: usize = 24;

/// What the network does at given times, if that is marked in plots. Runs of a page are of one network.
pub(super) fn changes(runs: &[Run]) -> &[ChangeInfo] {
    let all = runs.first().map_or(&[][..], |run| &run.info.changes);
    if all.len() > CHANGES { &[] } else { all }
}

/// What the lines mean that mark changes.
pub(super) fn changes_told(runs: &[Run]) -> Option<String> {
    let at = |change: &ChangeInfo| format!("{} at {}", change.what, change.at.since(Time::ZERO));
    let told: Vec<String> = changes(runs).iter().map(at).collect();
    (!told.is_empty()).then(|| format!("Dashed lines: {}.", told.join("; ")))
}

/// What a point of throughput is the mean of, if of more than itself.
pub(super) fn mean_told(runs: &[Run], halvings: u32) -> Option<String> {
    let (points, long) = smoothing(runs, halvings);
    (points > 1).then(|| format!("Throughput per flow is the mean of the {long} up to each point."))
}

/// What was left out, and how fine the points are.
fn what_is_shown(runs: &[Run], groups: &Groups, choice: &Choice, halvings: u32) -> String {
    let mut text = super::foot::points(runs, halvings);
    if let Some(told) = mean_told(runs, halvings) {
        text.push_str(&format!(" {told}"));
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
            " Of {} there are plots for {LINKS}: those of the verdict, then those with the longest queue.",
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
    if let Some(told) = changes_told(runs) {
        text.push_str(&format!(" {told}"));
    }
    if runs.iter().any(|run| run.collected.links.iter().any(|link| !link.paused.is_empty())) {
        text.push_str(" A queue is shaded when its link was paused by its far end.");
    }
    match groups.mode {
        Mode::Runs if drawn > 1 => {
            text.push_str(" One colour a law; its flows are lighter and darker.");
        }
        Mode::Mixed => text.push_str(" One colour a law; links, which all laws share, are grey."),
        Mode::Runs | Mode::Flows => {}
    }
    let name = name(&runs[0].info.law);
    if groups.mode == Mode::Flows && !name.is_empty() {
        text.push_str(&format!(" Every flow obeys {}.", runs[0].info.law));
    }
    text
}
