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
//! | [`cdf`] | flow-size distributions, percent or probability | [`cdf::SizeCdf`] |
//! | [`arrivals`] | flows from a file, Ratewire's own format | [`arrivals::Arrival`] |

pub mod arrivals;
pub mod cdf;
pub mod cooked;
mod error;
mod load;
pub mod mahimahi;
mod place;
mod rows;

pub use error::InputError;
pub use load::{decode, read};
