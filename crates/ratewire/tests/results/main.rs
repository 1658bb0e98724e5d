//! What experiments give out.

mod completions;
mod experiment;
mod figures;
mod law_files;
mod link_rates;
mod saved;
mod simulation;
mod sweep;
