//! Properties of the terminal.

use ratewire_command_line::takes_escapes;

/// Options of tables; the width is set if standard output is a terminal.
pub(crate) fn table_options() -> ratewire_report::table::TableOptions {
    let terminal = console::Term::stdout();
    let width = terminal.is_term().then(|| usize::from(terminal.size().1));
    let colour = terminal.is_term() && takes_escapes();
    ratewire_report::table::TableOptions { width, colour, ..Default::default() }
}
