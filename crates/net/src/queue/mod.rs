//! The queue in front of a link: the first-in-first-out queue, and the queue disciplines.
//!
//! A discipline decides which packets a queue drops or marks, beside those that find no room. Each
//! discipline is a folder here and a line in `registry.rs`. The scenario language, `ratewire
//! disciplines` and `ratewire explain` read the registry.

mod backlog;
mod codel;
mod discipline;
mod drop_tail;
mod dualpi2;
pub(crate) mod fifo;
mod fq_codel;
mod pie;
mod red;
mod registry;
pub(crate) mod sorted;
mod timer;

pub use backlog::Backlog;
pub use discipline::{Arrival, Departure, Discipline, DisciplineInfo, Treatment, option};
pub use registry::{AnyDiscipline, find, list};
pub use sorted::{Head, Queues};
