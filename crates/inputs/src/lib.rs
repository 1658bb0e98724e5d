//! Readers of the field's file formats.
//!
//! Every reader is a pure function from a file's display name and its text to a plain struct. None
//! touches the file system; [`read`] is the one helper that does. Every error is an [`InputError`]:
//! it names file and line, what was found there, what is allowed and what to do about it.
//!
//! | module | format | gives |
//! |---|---|---|
//! | [`mahimahi`] | Mahimahi packet-delivery traces | [`mahimahi::LinkTrace`] |
//! | [`cooked`] | Pensieve "cooked" bandwidth traces | [`cooked::RateTrace`] |
//! | [`delays`] | delays over time, in the same form | [`delays::DelayTrace`] |
//! | [`cdf`] | flow-size distributions, percent or probability | [`cdf::SizeCdf`] |
//! | [`arrivals`] | flows from a file, Ratewire's own format | [`arrivals::FlowArrival`] |
//! | [`graphml`] | Topology Zoo GraphML | [`topology::Topology`] |
//! | [`sndlib_xml`] | SNDlib XML 1.0 | [`topology::Topology`] |
//! | [`topohub`] | networkx node-link JSON, as TopoHub publishes it | [`topology::Topology`] |
//!
//! [`detect::topology`] picks among the last three.

#![deny(clippy::print_stdout, clippy::print_stderr)]

pub mod arrivals;
mod build;
pub mod cdf;
pub mod cooked;
pub mod delays;
pub mod detect;
mod error;
#[doc(hidden)]
pub mod fuzzing;
pub mod graphml;
mod load;
mod location;
pub mod mahimahi;
mod rows;
pub mod sndlib_xml;
pub mod topohub;
pub mod topology;
mod xml;

pub use error::InputError;
pub use load::{decode, read};
