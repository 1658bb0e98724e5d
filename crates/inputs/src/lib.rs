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
//! | [`cdf`] | flow-size distributions, percent or probability | [`cdf::SizeCdf`] |
//! | [`arrivals`] | flows in Ratewire's own format, HPCC's and htsim's | [`arrivals::FlowList`] |
//! | [`graphml`] | Topology Zoo GraphML | [`topology::Topology`] |
//! | [`sndlib_xml`] | SNDlib XML 1.0 | [`topology::Topology`] |
//! | [`topohub`] | networkx node-link JSON, as TopoHub publishes it | [`topology::Topology`] |
//!
//! [`detect::topology`] picks among the last three, [`trace::parse`] among the first two. Readers
//! of tables say by [`Note`]s what they do not use.

#![deny(clippy::print_stdout, clippy::print_stderr)]

pub mod arrivals;
mod build;
mod calendar;
pub mod cdf;
pub mod cooked;
pub mod detect;
mod error;
#[doc(hidden)]
pub mod fuzzing;
pub mod graphml;
mod heading;
mod load;
mod location;
pub mod mahimahi;
mod note;
mod rows;
pub mod sndlib_xml;
mod steps;
pub mod topohub;
pub mod topology;
pub mod trace;
mod xml;

pub use error::InputError;
pub use load::{decode, read};
pub use note::Note;
