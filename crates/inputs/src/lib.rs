//! Readers of the field's file formats.
//!
//! Every reader is a pure function from a file's display name and its text to a plain struct. None
//! touches the file system; [`read`] is the one helper that does. Every error is an [`InputError`]:
//! it names file and line, what was found there, what is allowed and what to do about it.
//!
//! | module | format | gives |
//! |---|---|---|
//! | [`mahimahi`] | Mahimahi packet-delivery traces | [`mahimahi::LinkTrace`] |
//! | [`cooked`] | Pensieve "cooked" traces, and others of times and rates | [`cooked::RateTrace`] |
//! | [`delays`] | delays over time, in the same form | [`delays::DelayTrace`] |
//! | [`cdf`] | flow-size distributions, percent or probability | [`cdf::SizeCdf`] |
//! | [`arrivals`] | flows in Ratewire's own format, HPCC's and htsim's | [`arrivals::FlowList`] |
//! | [`graphml`] | GraphML of the Topology Zoo, networkx and yEd | [`topology::Topology`] |
//! | [`gml`] | GML | [`topology::Topology`] |
//! | [`node_link`] | node-link JSON of networkx, TopoHub and D3 | [`topology::Topology`] |
//! | [`sndlib_xml`] | SNDlib XML 1.0 | [`topology::Topology`] |
//! | [`sndlib_native`] | SNDlib's native format 1.0 | [`topology::Topology`] |
//! | [`brite`] | BRITE | [`topology::Topology`] |
//! | [`rocketfuel`] | Rocketfuel's weights and latencies | [`topology::Topology`] |
//!
//! [`detect::topology`] picks among the last seven, [`trace::parse`] among the first two. Readers
//! of tables say by [`Note`]s what they do not use.

#![deny(clippy::print_stdout, clippy::print_stderr)]

pub mod arrivals;
mod attributes;
pub mod brite;
mod build;
mod calendar;
pub mod cdf;
pub mod cooked;
pub mod delays;
pub mod detect;
mod error;
#[doc(hidden)]
pub mod fuzzing;
pub mod gml;
pub mod graphml;
mod heading;
mod json;
mod labels;
mod load;
mod location;
pub mod mahimahi;
pub mod node_link;
mod note;
pub mod rocketfuel;
mod rows;
mod sndlib;
pub mod sndlib_native;
pub mod sndlib_xml;
mod steps;
mod tally;
pub mod topology;
pub mod trace;
mod vocabulary;
mod xml;

pub use error::InputError;
pub use load::{decode, read};
pub use note::Note;
