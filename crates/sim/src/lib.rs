//! Virtual time: the event engine, modelled hosts and traffic.

pub mod outcome;
pub mod record;
pub mod setup;
