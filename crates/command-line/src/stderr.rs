//! Standard error.

use std::io::Write;

/// Writes a line to standard error, with the arguments of [`format!`].
///
/// A closed pipe, as after `head`, is no error: the work goes on and ends as usual. Control
/// characters in names are made visible.
#[macro_export]
macro_rules! print_stderr {
    ($($line:tt)*) => { $crate::write_line(&format!($($line)*)) };
}

/// Writes a line as [`print_stderr!`] does; `None` if nobody reads it.
pub fn write_line(line: &str) -> Option<()> {
    writeln!(std::io::stderr(), "{}", ratewire_units::text::legible_lines(line)).ok()
}
