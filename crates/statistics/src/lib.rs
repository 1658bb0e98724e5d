//! Fairness, percentiles, and how far a mean over seeds may be off.
//!
//! Functions of plain numbers, for whoever measures: every figure of a kind is worked out here, so
//! that it is the same figure in an expectation, on a page and in a comparison.

#![deny(clippy::print_stdout, clippy::print_stderr)]

mod fairness;
mod interval;
mod percentile;
mod weights;

pub use fairness::{is_fair, jain_index, max_min, settles_at};
pub use interval::{Difference, Estimate, Significance};
pub use percentile::percentile;
pub use weights::scale;
