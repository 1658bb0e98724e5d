//! What a run answers with: a terminal table, Parquet files and one self-contained HTML page.
//!
//! The crate knows nothing of the simulator. A world streams samples into a [`Collector`] (bounded
//! memory, whatever the length of the run) and, if the `parquet` feature is on, into
//! `parquet::Table`s; at the end it hands over a [`Summary`] of exact counters. A [`Run`] is what
//! ran, its counters and what was collected; a [`Page`] is one or several runs of the same
//! scenario:
//!
//! ```
//! use ratewire_report::{Collector, Page, Run, RunInfo, Summary, html, table};
//!
//! let info = RunInfo { scenario: "Nothing".into(), law: "xcp".into(), ..RunInfo::default() };
//! let collected = Collector::new(&info).finish();
//! let summary = Summary::of(&info);
//! let page = Page::new(vec![Run { info, summary, collected }]);
//! assert!(html::render(&page).starts_with("<!doctype html>"));
//! print!("{}", table::render(&page.runs, &table::TableOptions::default()));
//! ```
//!
//! Everything here is a function of its arguments: the same samples give the same bytes.

#![deny(clippy::print_stdout, clippy::print_stderr)]

mod collect;
mod collected;
pub mod compare;
mod completed;
pub mod draw;
mod expectation;
mod fidelity;
mod figure;
mod figure_name;
mod figures;
mod generated;
mod headline;
pub mod html;
mod markup;
mod model;
#[cfg(feature = "parquet")]
pub mod parquet;
mod plots;
mod recorded;
mod run;
mod series;
mod summary;
mod sweep;
pub mod table;
mod thinned;
mod world;

pub use collect::Collector;
pub use collected::{Collected, FlowSeries, Limits, LinkSeries, MAX_POINTS, OverlaySeries};
pub use compare::Comparison;
pub use expectation::{Basis, CheckedExpectation, Verdict};
pub use fidelity::FidelitySummary;
pub use figure::count;
pub use generated::{JSON_HEAD, json};
pub use headline::{Headline, verdict_links};
pub use html::Page;
pub use model::{
    Answer, ChangeInfo, Completion, ConnectionRow, FlowInfo, FlowRow, GroupRow, LeftOut, LinkInfo,
    LinkRow, LoadInfo, NodeInfo, NodeKind, OverlayInfo, OverlayRows, QueueLimit, RunInfo,
    SenderRow, Topology, TrafficInfo, Transfer,
};
pub use plots::Plot;
pub use recorded::Tracks;
pub use run::Run;
pub use series::{Aggregation, Series};
pub use summary::{
    ClassSummary, CompletionSummary, ConnectionSummary, Conservation, DeadlockSummary,
    DelaySummary, DisturbancesSummary, EngineFigures, FlowSummary, GroupSummary, LinkSummary,
    OverlaySummary, PausingSummary, Settling, SizeSummary, Summary, TrafficSummary,
};
pub use sweep::{
    MeasuredRun, Sweep, SweepAxis, SweepCell, SweepFigure, SweepGatherer, SweepRun, SweepValue,
};
pub use world::{UnknownWorld, World};
