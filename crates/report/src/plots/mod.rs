//! Plots over time: each is an entry, in a file of its own in `plots/entries`.
//!
//! A [`PlotEntry`] has all that varies between plots: names, the series that a [`crate::Collector`]
//! records, the unit, when a page shows the plot, and which series it draws. To add a
//! plot, write its file and add it to [`REGISTRY`].

mod entries;

use core::fmt;
use std::borrow::Cow;

use serde::Serialize;
use serde::de::{Deserialize, Deserializer, Error};

use crate::recorded::Tracks;
pub(crate) use crate::recorded::{Family, Recorded, Scale};
use crate::{ConnectionRow, FlowRow, GroupRow, LinkRow, Run};
pub(crate) use entries::REGISTRY;

/// Keys of series that a page also reads by itself: to rank links, to say what was paused.
pub(crate) mod key {
    /// Goodput of a flow.
    pub(crate) const GOODPUT: &str = "goodput";
    /// Most packets waiting at a link.
    pub(crate) const QUEUE_MAX: &str = "qmax";
    /// Part of the time that a link was paused.
    pub(crate) const PAUSED: &str = "paused";
    /// Part of the time that a link was sending.
    pub(crate) const UTILISATION: &str = "util";
    /// Messages waiting for a connection of an overlay.
    pub(crate) const WAITING: &str = "waiting";
}

/// Everything that is particular to one plot.
pub(crate) struct PlotEntry {
    /// The name in `plots` of a `paper.toml`.
    pub(crate) name: &'static str,
    /// The name in the page: of the figure, and in the script.
    pub(crate) key: &'static str,
    /// Title of the plot where it is drawn alone.
    pub(crate) title: &'static str,
    /// What distinguishes the plot from others of its chart.
    pub(crate) detail: fn(&[Run]) -> Cow<'static, str>,
    /// What the plot draws, in a sentence for the documentation.
    pub(crate) explanation: &'static str,
    /// The chart of a page in which the plot can be chosen.
    pub(crate) chart: Chart,
    /// What the plot is of, and the series it draws.
    pub(crate) source: PlotSource,
    /// Whether a page of these runs offers the plot.
    pub(crate) is_shown: fn(&[Run]) -> bool,
    /// What the plot shows, in words, for readers who do not see it.
    pub(crate) said: fn(&[Run]) -> String,
    /// Whether a reader can point at a line of the plot and ask what bound the flow's rate.
    pub(crate) asks_why: bool,
    /// Title of the vertical axis.
    pub(crate) quantity: &'static str,
    /// Unit of the vertical axis.
    pub(crate) unit: Unit,
    /// The series of the source that the plot draws, from the back to the front.
    pub(crate) draws: &'static [Drawn],
    /// How the series are drawn.
    pub(crate) shape: Shape,
    /// Text of a plot without lines.
    pub(crate) none: &'static str,
}

/// Unit of a plot's values.
pub(crate) enum Unit {
    /// The same unit on every page.
    Fixed(&'static str),
    /// The unit that fits the values of a series.
    Of(&'static str),
}

/// A series that a plot draws.
#[derive(Serialize)]
pub(crate) struct Drawn {
    /// Key of the series.
    key: &'static str,
    /// What distinguishes the line from others of its flow or link; may be empty.
    name: &'static str,
    /// Whether the line is the moving mean of the series.
    mean: bool,
    /// Whether the area down to the next line is shaded.
    band: bool,
}

impl Drawn {
    /// The series as it is.
    const fn line(key: &'static str) -> Drawn {
        Drawn::named(key, "")
    }
    /// The series as it is, with a name.
    const fn named(key: &'static str, name: &'static str) -> Drawn {
        Drawn { key, name, mean: false, band: false }
    }
    /// The series as a moving mean.
    const fn moving_mean(key: &'static str) -> Drawn {
        Drawn { mean: true, ..Drawn::line(key) }
    }
    /// The series as the upper edge of a shaded area.
    const fn band(key: &'static str, name: &'static str) -> Drawn {
        Drawn { band: true, ..Drawn::named(key, name) }
    }
}

/// How a plot's series are drawn.
#[derive(Serialize)]
pub(crate) struct Shape {
    /// Whether lines are stairs: a value holds until the next.
    steps: bool,
    /// The top of the vertical axis; the largest value chooses it if `None`.
    top: Option<f64>,
    /// A series of shares of time: the plot is shaded where the share is above zero.
    shaded: Option<&'static str>,
}

impl Shape {
    const LINES: Shape = Shape { steps: false, top: None, shaded: None };
    const STEPS: Shape = Shape { steps: true, ..Shape::LINES };
}

/// A plot's place among the charts of a page.
pub(crate) enum Chart {
    /// The plot is the first of a chart, which has this title.
    Opens(fn(&[Run]) -> &'static str),
    /// The plot is a further choice in the chart of the plot before.
    Joins,
}

/// What a plot is of, and the series it draws.
pub(crate) enum PlotSource {
    /// One line a flow.
    Flow(&'static [Recorded<FlowRow>]),
    /// One line for all flows together; a sample is the bits delivered.
    AllFlows(&'static [Recorded<f64>]),
    /// Lines of one link.
    Link(&'static [Recorded<LinkRow>]),
    /// One line a group of an overlay.
    Group(&'static [Recorded<GroupRow>]),
    /// One line a connection of an overlay.
    Connection(&'static [Recorded<ConnectionRow>]),
}

/// A plot over time, or of completed flows.
///
/// ```
/// use ratewire_report::Plot;
///
/// let queue = Plot::named("queue").unwrap();
/// assert_eq!(queue.title(), "Queue");
/// assert!(Plot::all().any(|plot| plot == queue));
/// ```
#[derive(Clone, Copy)]
pub struct Plot(&'static PlotEntry);

impl Plot {
    /// All plots, in the order in which a page shows them.
    pub fn all() -> impl Iterator<Item = Plot> {
        REGISTRY.iter().map(|entry| Plot(entry))
    }

    /// The plot that `paper.toml` calls `name`.
    pub fn named(name: &str) -> Option<Plot> {
        Plot::all().find(|plot| plot.0.name == name)
    }

    /// The name in `plots` of a `paper.toml`.
    pub fn name(self) -> &'static str {
        self.0.name
    }

    /// The title of the plot.
    pub fn title(self) -> &'static str {
        self.0.title
    }

    /// What the plot draws, in a sentence.
    pub fn explanation(self) -> &'static str {
        self.0.explanation
    }

    pub(crate) fn entry(self) -> &'static PlotEntry {
        self.0
    }

    /// Whether a throughput is drawn as a moving mean, whose length a page has to say.
    pub(crate) fn is_moving_mean(self) -> bool {
        [entries::throughput::PLOT.name, entries::at_link::PLOT.name].contains(&self.0.name)
    }
}

impl fmt::Debug for Plot {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Plot({})", self.0.name)
    }
}

impl PartialEq for Plot {
    fn eq(&self, other: &Plot) -> bool {
        self.0.name == other.0.name
    }
}
impl Eq for Plot {}

impl<'de> Deserialize<'de> for Plot {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Plot, D::Error> {
        static NAMES: [&str; REGISTRY.len()] = {
            let mut names = [""; REGISTRY.len()];
            let mut i = 0;
            while i < names.len() {
                names[i] = REGISTRY[i].name;
                i += 1;
            }
            names
        };
        let name = String::deserialize(from)?;
        Plot::named(&name).ok_or_else(|| D::Error::unknown_variant(&name, &NAMES))
    }
}

/// Whether one of `plots` draws the series `key`.
pub(crate) fn draws(plots: &[Plot], key: &str) -> bool {
    plots.iter().any(|plot| plot.0.source.keys().any(|known| known == key))
}

impl PlotSource {
    /// Keys of the series.
    pub(crate) fn keys(&self) -> impl Iterator<Item = &'static str> {
        self.scales().into_iter().map(|(key, _)| key)
    }

    /// Keys of the series and how each is scaled.
    pub(crate) fn scales(&self) -> Vec<(&'static str, Scale)> {
        fn of<R>(list: &[Recorded<R>]) -> Vec<(&'static str, Scale)> {
            list.iter().map(|one| (one.key, one.scale)).collect()
        }
        match self {
            PlotSource::Flow(list) => of(list),
            PlotSource::AllFlows(list) => of(list),
            PlotSource::Link(list) => of(list),
            PlotSource::Group(list) => of(list),
            PlotSource::Connection(list) => of(list),
        }
    }

    /// What a run has collected for the source: one set of series a line.
    pub(crate) fn collected<'a>(&self, run: &'a Run) -> Vec<&'a Tracks> {
        let kept = &run.collected;
        let overlay = kept.overlay.iter();
        match self {
            PlotSource::Flow(_) => kept.flows.iter().map(|flow| &flow.tracks).collect(),
            PlotSource::AllFlows(_) => vec![&kept.all_flows],
            PlotSource::Link(_) => kept.links.iter().map(|link| &link.tracks).collect(),
            PlotSource::Group(_) => overlay.flat_map(|overlay| &overlay.groups).collect(),
            PlotSource::Connection(_) => overlay.flat_map(|overlay| &overlay.connections).collect(),
        }
    }

    #[cfg(test)]
    fn is_of_link(&self) -> bool {
        matches!(self, PlotSource::Link(_))
    }
}

/// Samples that plots record series of.
pub(crate) trait SampleKind: Sized + 'static {
    /// The series that a plot records of these samples.
    fn of(source: &PlotSource) -> &'static [Recorded<Self>];
}

macro_rules! subjects {
    ($($sample:ty => $variant:ident),*) => {$(
        impl SampleKind for $sample {
            fn of(source: &PlotSource) -> &'static [Recorded<$sample>] {
                match source {
                    PlotSource::$variant(list) => list,
                    _ => &[],
                }
            }
        }
    )*};
}
subjects! {
    FlowRow => Flow, f64 => AllFlows, LinkRow => Link, GroupRow => Group, ConnectionRow => Connection
}

/// The series that plots record of samples `R`, each once, in the order of the page's data.
pub(crate) fn recorded<R: SampleKind>() -> Vec<&'static Recorded<R>> {
    let mut all: Vec<&Recorded<R>> = REGISTRY.iter().flat_map(|plot| R::of(&plot.source)).collect();
    all.sort_by_key(|series| series.number);
    all.dedup_by_key(|series| series.number);
    all
}

/// Whether any run has series of single flows.
fn has_flows(runs: &[Run]) -> bool {
    runs.iter().any(|run| !run.collected.flows.is_empty())
}

/// Whether any run has series of single links.
fn has_links(runs: &[Run]) -> bool {
    runs.iter().any(|run| !run.collected.links.is_empty())
}

/// Whether any run has series of an overlay.
fn has_overlay(runs: &[Run]) -> bool {
    runs.iter().any(|run| run.collected.overlay.is_some())
}

#[cfg(test)]
mod tests;

/// Name of the link at which the runs sample the rates of flows; `None` without one.
fn rates_at(runs: &[Run]) -> Option<&str> {
    runs.iter().find_map(|run| {
        Some(run.info.topology.links.get(run.info.rates_at? as usize)?.name.as_str())
    })
}
