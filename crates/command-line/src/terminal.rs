//! Properties of the terminal.

/// Whether the terminal accepts escape sequences: not if `NO_COLOR` is set, or `TERM` is `dumb`.
pub fn takes_escapes() -> bool {
    let is_set = |name: &str| std::env::var_os(name).is_some_and(|value| !value.is_empty());
    !is_set("NO_COLOR") && std::env::var_os("TERM").is_none_or(|term| term != "dumb")
}
