//! What experiments give out.

mod completions;
mod experiment;
mod figures;
mod link_rates;
mod sweep;
