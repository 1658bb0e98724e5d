//! `ratewire switch member`: stands in front of a server.

use std::net::SocketAddr;

use ratewire_daemon::socket::Listen;
use ratewire_gateway::member::{Member, MemberConfig};
use ratewire_units::Duration;

use super::programs::{Common, time};
use crate::exit::Exit;

#[derive(clap::Args)]
pub(crate) struct Args {
    /// Where switches connect to
    #[arg(long, value_name = "ADDRESS")]
    listen: SocketAddr,
    /// The server: an address and a port, or unix:/PATH
    #[arg(long, value_name = "ADDRESS")]
    server: Listen,
    /// Time for the server to come back, after which requests get an error
    #[arg(long, value_name = "TIME", default_value = "1 s", value_parser = time)]
    patience: Duration,
    #[command(flatten)]
    common: Common,
}

pub(super) fn member(args: &Args) -> Exit {
    let acp = match args.common.acp() {
        Ok(acp) => acp,
        Err(exit) => return exit,
    };
    let config = MemberConfig {
        framing: args.common.framing,
        listen: args.listen,
        server: args.server.clone(),
        acp,
        patience: std::time::Duration::from_nanos(args.patience.ps() / 1000),
        longest: args.common.longest.get() as usize,
    };
    args.common.run(async || Ok(Member::open(config)?.run()))
}
