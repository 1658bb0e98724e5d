//! `ratewire groups status`: shows the state of a daemon.

use std::net::SocketAddr;
use std::time::Duration;

use console::Term;
use ratewire_groups::daemon::{StatusError, fetch_status};

use super::with_causes;
use crate::exit::Exit;
use crate::output::print_on;
use crate::terminal::takes_escapes;

#[derive(clap::Args)]
pub(crate) struct Args {
    /// The address that `status` has in the daemon's groups.toml, or a port of this host
    #[arg(long, value_name = "ADDRESS", default_value = "127.0.0.1:4809", value_parser = address)]
    at: SocketAddr,
    /// Print JSON
    #[arg(long)]
    json: bool,
    /// Print again and again, with so many seconds between, until Ctrl-C
    #[arg(long, value_name = "SECONDS", num_args = 0..=1, default_missing_value = "1",
          value_parser = clap::value_parser!(u64).range(1..=3600))]
    watch: Option<u64>,
}

fn address(text: &str) -> Result<SocketAddr, String> {
    match text.parse::<u16>() {
        Ok(port) => Ok(SocketAddr::from(([127, 0, 0, 1], port))),
        Err(_) => text.parse().map_err(|_| "give a port, or as in 127.0.0.1:4809".to_string()),
    }
}

pub(super) fn status(args: &Args) -> Exit {
    let terminal = Term::stdout();
    let takes_place = args.watch.is_some() && !args.json && terminal.is_term() && takes_escapes();
    loop {
        let text = match fetch_status(args.at) {
            Ok(status) if args.json => serde_json::to_string(&status).unwrap_or_default() + "\n",
            Ok(status) => status.table(),
            Err(error) => return fail(&error),
        };
        if takes_place {
            terminal.clear_screen().ok();
        }
        if let Err(exit) = print_on(&text) {
            return exit;
        }
        let Some(seconds) = args.watch else { return Exit::Done };
        std::thread::park_timeout(Duration::from_secs(seconds));
    }
}

fn fail(error: &StatusError) -> Exit {
    tell!("ratewire: {}\n  help: {}", with_causes(error), error.help());
    Exit::Unable
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_port_is_one_of_this_host() {
        assert_eq!(address("4809"), Ok("127.0.0.1:4809".parse().unwrap()));
        assert_eq!(address("10.0.0.1:5809"), Ok("10.0.0.1:5809".parse().unwrap()));
        assert!(address("paris").unwrap_err().contains("127.0.0.1:4809"));
    }
}
