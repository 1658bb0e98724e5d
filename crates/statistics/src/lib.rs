//! Fairness, percentiles, and how far a mean over seeds may be off.
//!
//! Functions of plain numbers. Expectations, pages and comparisons all compute their figures here,
//! so that a figure is the same everywhere.

#![deny(clippy::print_stdout, clippy::print_stderr)]

mod fairness;
mod histogram;
mod interval;
mod percentile;
mod weights;

pub use fairness::{is_fair, jain_index, max_min, settles_at};
pub use histogram::Histogram;
pub use interval::{Difference, Estimate, Significance};
pub use percentile::percentile;
pub use weights::scale;
