//! A packet's way: over which links, and through each of them.

pub(crate) mod passage;
pub(crate) mod rare;
pub mod routing;
pub(crate) mod trail;
