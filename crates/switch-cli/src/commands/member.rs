//! `ratewire-switch member`: stands in front of a server.

use std::net::SocketAddr;

use ratewire_command_line::Exit;
use ratewire_config::Server;
use ratewire_gateway::OpenError;
use ratewire_gateway::member::{Member, MemberConfig};
use ratewire_units::Duration;

use super::files::Shares;
use super::programs::{Common, time};
use super::register::RegisterArgs;

#[derive(clap::Args)]
pub(crate) struct Args {
    /// Where switches connect to
    #[arg(long, value_name = "ADDRESS")]
    listen: SocketAddr,
    /// The server: an address or a name and a port, or unix:/PATH
    #[arg(long, value_name = "ADDRESS")]
    server: Server,
    /// Time for the server to come back, after which requests get an error
    #[arg(long, value_name = "TIME", default_value = "1 s", value_parser = time)]
    patience: Duration,
    /// Serve the member's state by HTTP there: /status.json, and /metrics for Prometheus
    #[arg(long, value_name = "ADDRESS")]
    status: Option<SocketAddr>,
    #[command(flatten)]
    register: RegisterArgs,
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
        connections: Shares::raise(args.common.framing, 0, 1).connections,
    };
    let registering = match args.register.read(&config.acp) {
        Ok(registering) => registering,
        Err(exit) => return exit,
    };
    args.common.run(async |stop| {
        let mut member = Member::open(config)?;
        if let Some(address) = args.status {
            member = member.with_status(address).await?;
        }
        let registering = registering.open(member.address()).map_err(OpenError::Acp)?;
        Ok(member.run_until(registering.run(stop)))
    })
}
