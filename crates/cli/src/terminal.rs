//! Properties of the terminal.

/// Options of tables; the width is set if standard output is a terminal.
pub(crate) fn table_options() -> ratewire_report::table::TableOptions {
    let terminal = console::Term::stdout();
    let width = terminal.is_term().then(|| usize::from(terminal.size().1));
    let colour = terminal.is_term() && takes_escapes();
    ratewire_report::table::TableOptions { width, colour, ..Default::default() }
}

/// Whether the terminal accepts escape sequences: not if `NO_COLOR` is set, or `TERM` is `dumb`.
pub(crate) fn takes_escapes() -> bool {
    let is_set = |name: &str| std::env::var_os(name).is_some_and(|value| !value.is_empty());
    !is_set("NO_COLOR") && std::env::var_os("TERM").is_none_or(|term| term != "dumb")
}
