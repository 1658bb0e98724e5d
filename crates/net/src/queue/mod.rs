//! The queue in front of a link: the first-in-first-out queue, and the queue disciplines.
//!
//! A discipline decides which packets a queue drops or marks, beside those that find no room. Each
//! discipline is a folder here and a line in `registry.rs`. The scenario language, `ratewire
//! disciplines` and `ratewire explain` read the registry.
//!
//! # A discipline of another crate
//! A discipline of another crate is a type with the same traits, [`Discipline`] and
//! [`NamedDiscipline`]. [`DisciplineSet::register`] adds it under its name, and scenarios that are
//! read with that set accept the name. Its methods are called through a pointer.

mod backlog;
mod codel;
mod discipline;
mod drop_tail;
mod dualpi2;
mod external;
pub(crate) mod fifo;
mod fq_codel;
mod pie;
mod red;
mod registry;
mod set;
pub(crate) mod sorted;
mod timer;

pub use crate::packet::Ecn;
pub use backlog::Backlog;
pub use discipline::{
    Arrival, Departure, Discipline, DisciplineInfo, NamedDiscipline, Treatment, option,
};
pub use registry::{AnyDiscipline, find, list};
pub use set::{DisciplineSet, RegisterDisciplineError};
pub use sorted::{Head, Queues};
