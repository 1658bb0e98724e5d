//! `ratewire switch status`: shows the state of a switch.

use std::net::SocketAddr;

use ratewire_switch::daemon::{Status, fetch_status};

use crate::commands::daemon::{Form, address, show};
use crate::exit::Exit;

/// The address of the status in the documentation's examples.
const USUAL: &str = "127.0.0.1:4817";

#[derive(clap::Args)]
pub(crate) struct Args {
    /// The address that `status` has in the switch.toml, or a port of this host
    #[arg(long, value_name = "ADDRESS", default_value = USUAL,
          value_parser = |text: &str| address(text, USUAL))]
    at: SocketAddr,
    #[command(flatten)]
    form: Form,
}

pub(super) fn status(args: &Args) -> Exit {
    show(&args.form, || fetch_status(args.at), Status::table)
}
