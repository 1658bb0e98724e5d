//! Congestion control laws in shared objects.
//!
//! A shared object exports a table of functions, which `include/ratewire_law.h` describes. [`load`]
//! reads the table, and [`Plugin::register`] adds the law to a set of laws, in which it then is as
//! any other law from outside the workspace.
//!
//! A crash in the object's code ends the process. A number that no law may give (a window that is
//! no number or too large, an endless rate, a timer that is none) is caught where it is given, and
//! ends the run with an error that names it ([`Source::fault`](ratewire_laws::Source::fault)).
//!
//! # Trust
//! Loading a shared object runs its code, with all the rights of the process: name only objects
//! that you would run as programs. Objects are never unloaded: a table and its texts stay valid for
//! the rest of the process, however long its law is in use.

#![deny(clippy::print_stdout, clippy::print_stderr)]

mod abi;
mod books;
mod fault;
mod law;
mod load;
mod options;
mod part;
mod port;
mod reason;
mod shared;
mod sink;
mod source;

pub use load::{LoadError, Plugin, load};

/// The header file that a law in C includes.
pub const HEADER: &str = include_str!("../include/ratewire_law.h");
