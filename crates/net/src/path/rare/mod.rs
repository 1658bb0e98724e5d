//! Links that have something rare: see [`crate::link::RareParts`].

mod event;
mod passage;

pub(super) use passage::pass;
