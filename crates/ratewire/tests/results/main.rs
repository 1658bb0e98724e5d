//! What experiments give out.

mod completions;
mod experiment;
mod figures;
mod saved;
mod sweep;
