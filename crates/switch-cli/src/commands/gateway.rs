//! `ratewire-switch gateway`: stands in front of clients.

use std::net::SocketAddr;

use ratewire_command_line::Exit;
use ratewire_config::Listen;
use ratewire_gateway::gateway::{Gateway, GatewayConfig};
use ratewire_units::Duration;

use super::programs::{Common, time};

#[derive(clap::Args)]
pub(crate) struct Args {
    /// Where clients connect to: an address and a port, or unix:/PATH
    #[arg(long, value_name = "ADDRESS")]
    listen: Listen,
    /// The switch
    #[arg(long, value_name = "ADDRESS", default_value = "127.0.0.1:4816")]
    switch: SocketAddr,
    /// Time for an answer, after which the client gets an error
    #[arg(long, value_name = "TIME", default_value = "5 s", value_parser = time)]
    timeout: Duration,
    /// Clients at a time
    #[arg(long, value_name = "N", default_value_t = 10_000)]
    clients: u32,
    #[command(flatten)]
    common: Common,
}

pub(super) fn gateway(args: &Args) -> Exit {
    let acp = match args.common.acp() {
        Ok(acp) => acp,
        Err(exit) => return exit,
    };
    let config = GatewayConfig {
        framing: args.common.framing,
        listen: args.listen.clone(),
        switch: args.switch,
        acp,
        timeout: std::time::Duration::from_nanos(args.timeout.ps() / 1000),
        clients: args.clients.max(1) as usize,
        longest: args.common.longest.get() as usize,
    };
    args.common.run(async |stop| {
        let gateway = Gateway::open(config).await?;
        Ok(async {
            tokio::select! {
                () = gateway.run() => {}
                () = stop => {}
            }
        })
    })
}
