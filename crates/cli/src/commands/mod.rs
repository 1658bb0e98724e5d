//! One module for each command.

pub(crate) mod check;
pub(crate) mod check_law;
pub(crate) mod compare;
pub(crate) mod cost;
pub(crate) mod doctor;
pub(crate) mod dry;
pub(crate) mod explore;
pub(crate) mod generate;
pub(crate) mod lists;
#[cfg(feature = "live")]
pub(crate) mod live;
pub(crate) mod load;
pub(crate) mod new_law;
pub(crate) mod plot;
pub(crate) mod programs;
pub(crate) mod reproduce;
pub(crate) mod run;
pub(crate) mod shell;
pub(crate) mod sweep;
pub(crate) mod users;
