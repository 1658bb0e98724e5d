//! What Ratewire's programs share: the laboratory, the group daemon's and the switch's.
//!
//! | part | is |
//! |---|---|
//! | [`print_stderr!`] | writes a line to standard error |
//! | `output` | standard output, and the text of errors |
//! | `exit` | exit codes |
//! | `common` | commands that every program has |
//! | `arguments` | arguments that several commands take |
//! | `refuse` | mistakes of a configuration file |
//! | `status` | a daemon's state, once or again and again |
//! | `terminal` | properties of the terminal |
//! | [`generate`] | manual pages, completions and help for the book |
//! | [`documented`] | command lines that the documentation shows |

// The standard print macros panic if the reader has closed the pipe. `print_stderr!` and `print` do
// not.
#![deny(clippy::print_stdout, clippy::print_stderr)]

mod arguments;
mod common;
pub mod documented;
mod exit;
pub mod generate;
mod output;
mod refuse;
mod status;
mod stderr;
mod terminal;

pub use arguments::whole_number;
pub use common::{Common, parse};
pub use exit::Exit;
pub use output::{print, print_on, with_causes};
pub use refuse::refuse;
pub use status::{Form, address, show};
pub use stderr::write_line;
pub use terminal::takes_escapes;
