//! What a run answers with: a terminal table, Parquet files and one self-contained HTML page.
//!
//! The crate knows nothing of the simulator. A world streams samples into a [`Collector`] (bounded
//! memory, whatever the length of the run) and, if the `parquet` feature is on, into
//! `parquet::Table`s; at the end it hands over a [`Summary`] of exact
//! counters. A [`Run`] is what ran, its counters and what was collected; a [`Page`] is one or
//! several runs of the same scenario:
//!
//! ```
//! use ratewire_report::{Collector, Page, Run, RunInfo, Summary, html, table};
//!
//! let info = RunInfo { scenario: "Nothing at all".into(), law: "xcp".into(), ..RunInfo::default() };
//! let collected = Collector::new(&info).finish();
//! let summary = Summary::of(&info);
//! let page = Page::new(vec![Run { info, summary, collected }]);
//! assert!(html::render(&page).starts_with("<!doctype html>"));
//! print!("{}", table::render(&page.runs, &table::Options::default()));
//! ```
//!
//! Everything here is a function of its arguments: the same samples give the same bytes.

#![deny(clippy::print_stdout, clippy::print_stderr)]

mod collect;
pub mod compare;
mod completed;
mod distribution;
mod expectation;
mod fidelity;
mod figure;
mod generated;
mod headline;
mod histogram;
pub mod html;
mod model;
#[cfg(feature = "parquet")]
pub mod parquet;
mod series;
mod summary;
pub mod table;
mod thinned;
mod world;

pub use collect::{
    Collected, Collector, FlowSeries, Limits, LinkSeries, MAX_POINTS, OverlaySeries,
};
pub use compare::Comparison;
pub use expectation::{Basis, Expectation, Verdict};
pub use fidelity::FidelitySummary;
pub use generated::{JSON_HEAD, json};
pub use headline::{Headline, verdict_links};
pub use histogram::Histogram;
pub use html::Page;
pub use model::{
    Answer, ChangeInfo, Completion, ConnectionSample, FlowInfo, FlowSample, GroupSample, LeftOut,
    LinkInfo, LinkSample, LoadInfo, NodeInfo, NodeKind, OverlayInfo, OverlaySample, Room, Run,
    RunInfo, SenderSample, Topology, TrafficInfo, Transfer,
};
pub use series::{Kind, Series};
pub use summary::{
    CompletionSummary, ConnectionSummary, Conservation, DeadlockSummary, EngineFigures,
    FlowSummary, GroupSummary, LinkSummary, OverlaySummary, PausingSummary, Settling, SizeSummary,
    Summary, TrafficSummary,
};
pub use world::{UnknownWorld, World};
