//! Mistakes of a configuration file.

use std::error::Error;

use ratewire_config::ConfigError;

use crate::exit::Exit;
use crate::print_stderr;

/// Prints the mistakes of a configuration, and returns the exit code.
pub fn refuse(error: &ConfigError) -> Exit {
    print_stderr!("{error}");
    match error.problems.len() {
        _ if error.source().is_some() => return Exit::File,
        0 | 1 => {}
        count => _ = print_stderr!("\n{count} mistakes"),
    }
    Exit::Wrong
}
