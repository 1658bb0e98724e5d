//! What experiments give out.

mod completions;
mod control;
mod experiment;
mod figures;
mod law_files;
mod link_rates;
mod saved;
mod simulation;
mod sweep;
