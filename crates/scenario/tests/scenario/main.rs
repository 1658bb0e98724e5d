//! Scenarios as text. One program: each would link everything that a scenario can name.

mod common;

mod all_links;
mod apps;
mod broken;
mod catalogue;
mod chance;
mod disciplines;
mod ensembles;
mod evaluate;
mod extremes;
mod files;
mod graphs;
mod hard;
mod law_options;
mod loads;
mod lowering;
mod own_discipline;
mod own_law;
mod properties;
mod reference;
mod remedies;
mod runs;
mod speed;
mod trust;
mod unread;
mod users;
mod vain;
mod vain_ensembles;
mod vain_links;
mod vain_senders;
mod varying;
