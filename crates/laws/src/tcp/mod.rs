//! The TCPs people use today: window-based, no part for routers.

pub mod cubic;
pub mod newreno;
