//! `ratewire-groups status`: shows the state of a daemon.

use std::net::SocketAddr;

use ratewire_command_line::{Exit, Form, address, show};
use ratewire_groups::daemon::{Status, fetch_status};

/// Address of the status of a daemon without a file.
const USUAL: &str = "127.0.0.1:4809";

#[derive(clap::Args)]
pub(crate) struct Args {
    /// The address that `status` has in the daemon's groups.toml, or a port of this host
    #[arg(long, value_name = "ADDRESS", default_value = USUAL,
          value_parser = |text: &str| address(text, USUAL))]
    at: SocketAddr,
    #[command(flatten)]
    form: Form,
}

pub(super) fn status(args: &Args) -> Exit {
    show(&args.form, || fetch_status(args.at), Status::table)
}
