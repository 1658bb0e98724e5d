//! A daemon's state, once or again and again.

use std::net::SocketAddr;
use std::time::Duration;

use console::Term;
use ratewire_status::StatusError;
use serde::Serialize;

use crate::exit::Exit;
use crate::output::{print_on, with_causes};
use crate::print_stderr;
use crate::terminal::takes_escapes;

/// How a state is shown.
#[derive(clap::Args)]
pub struct Form {
    /// Print JSON
    #[arg(long)]
    json: bool,
    /// Print again and again, with so many seconds between, until Ctrl-C
    #[arg(long, value_name = "SECONDS", num_args = 0..=1, default_missing_value = "1",
          value_parser = clap::value_parser!(u64).range(1..=3600))]
    watch: Option<u64>,
}

/// Parses the address of a status, or a port of this host.
///
/// # Errors
/// What is allowed, with `usual` as an example, for another text.
pub fn address(text: &str, usual: &str) -> Result<SocketAddr, String> {
    match text.parse::<u16>() {
        Ok(port) => Ok(SocketAddr::from(([127, 0, 0, 1], port))),
        Err(_) => text.parse().map_err(|_| format!("give a port, or as in {usual}")),
    }
}

/// Prints what `fetch` returns: as JSON, or as `table` writes it. With `--watch` on a terminal,
/// each table replaces the last.
pub fn show<S: Serialize>(
    form: &Form,
    fetch: impl Fn() -> Result<S, StatusError>,
    table: impl Fn(&S) -> String,
) -> Exit {
    let terminal = Term::stdout();
    let takes_place = form.watch.is_some() && !form.json && terminal.is_term() && takes_escapes();
    loop {
        let text = match fetch() {
            Ok(status) if form.json => serde_json::to_string(&status).unwrap_or_default() + "\n",
            Ok(status) => table(&status),
            Err(error) => return fail(&error),
        };
        if takes_place {
            terminal.clear_screen().ok();
        }
        if let Err(exit) = print_on(&text) {
            return exit;
        }
        let Some(seconds) = form.watch else { return Exit::Done };
        std::thread::park_timeout(Duration::from_secs(seconds));
    }
}

fn fail(error: &StatusError) -> Exit {
    print_stderr!("ratewire: {}\n  help: {}", with_causes(error), error.help());
    Exit::Unable
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_port_is_one_of_this_host() {
        let address = |text| address(text, "127.0.0.1:4809");
        assert_eq!(address("4809"), Ok("127.0.0.1:4809".parse().unwrap()));
        assert_eq!(address("10.0.0.1:5809"), Ok("10.0.0.1:5809".parse().unwrap()));
        assert!(address("paris").unwrap_err().contains("127.0.0.1:4809"));
    }
}
