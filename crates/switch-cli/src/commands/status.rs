//! `ratewire-switch status`: shows the state of a switch, a gateway or a member.

use std::net::SocketAddr;
use std::path::Path;

use ratewire_command_line::{Exit, Form, address, refuse, show};
use ratewire_switch::config::Config;
use ratewire_switch::daemon::{AnyStatus, fetch_any};

/// The address of the status in the documentation's examples.
const USUAL: &str = "127.0.0.1:4817";

#[derive(clap::Args)]
pub(crate) struct Args {
    /// The address that `status` has in a switch's switch.toml, or that `--status` of a gateway or
    /// a member names, or a port of this host; by default that in the switch.toml of this folder,
    /// or 127.0.0.1:4817 if there is none
    #[arg(long, value_name = "ADDRESS", value_parser = |text: &str| address(text, USUAL))]
    at: Option<SocketAddr>,
    #[command(flatten)]
    form: Form,
}

pub(super) fn status(args: &Args) -> Exit {
    match at(args) {
        Ok(at) => show(&args.form, || fetch_any(at), AnyStatus::table),
        Err(exit) => exit,
    }
}

fn at(args: &Args) -> Result<SocketAddr, Exit> {
    let file = Path::new("switch.toml");
    match args.at {
        Some(at) => Ok(at),
        None if !file.exists() => Ok(USUAL.parse().expect("an address")),
        None => {
            let config = Config::read(file).map_err(|error| refuse(&error))?;
            config.status.ok_or_else(|| {
                let help = format!("add status = \"{USUAL}\", and start the switch again");
                print_stderr!("ratewire: the switch.toml has no key `status`\n  help: {help}");
                Exit::Wrong
            })
        }
    }
}
