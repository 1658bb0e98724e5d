//! Values of metrics, and how a run is checked against its expectations.

mod crossing;
mod evaluate;
mod flows;
mod late;
mod links;
mod overlay;
mod rates;

pub use evaluate::{Evaluator, Finding};
