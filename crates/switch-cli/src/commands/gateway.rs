//! `ratewire-switch gateway`: stands in front of clients.

use std::net::SocketAddr;

use ratewire_acp::Config;
use ratewire_command_line::Exit;
use ratewire_config::{Host, Listen};
use ratewire_daemon::socket::UnixSocket;
use ratewire_framing::Framing;
use ratewire_gateway::gateway::{Gateway, GatewayConfig};
use ratewire_units::{Bytes, Duration};

use super::files::Shares;
use super::programs::{Common, longest, time};

#[derive(clap::Args)]
pub(crate) struct Args {
    #[command(flatten)]
    clients: ClientArgs,
    /// The switch: an address or a name, and a port
    #[arg(long, value_name = "ADDRESS", default_value = "127.0.0.1:4816")]
    switch: Host,
    /// Serve the gateway's state by HTTP there: /status.json, and /metrics for Prometheus
    #[arg(long, value_name = "ADDRESS")]
    status: Option<SocketAddr>,
    #[command(flatten)]
    common: Common,
}

/// Options of what stands in front of clients.
#[derive(clap::Args)]
pub(super) struct ClientArgs {
    /// Where clients connect to: an address and a port, or unix:/PATH
    #[arg(long, value_name = "ADDRESS")]
    pub(super) listen: Listen,
    /// Who may connect to unix:/PATH, as for chmod: 660 for the gateway's user and group; everybody
    /// by default
    #[arg(long, value_name = "MODE", value_parser = mode)]
    listen_mode: Option<u32>,
    /// Time for an answer, after which the client gets an error; as long after SIGTERM, clients get
    /// the answers that they wait for
    #[arg(long, value_name = "TIME", default_value = "5 s", value_parser = time)]
    timeout: Duration,
    /// Time for a request to arrive, after which its client's connection is ended
    #[arg(long, value_name = "TIME", default_value = "60 s", value_parser = time)]
    patience: Duration,
    /// Clients at a time; 1024 more wait for a place, as long as for an answer
    #[arg(long, value_name = "N", default_value_t = 10_000)]
    clients: u32,
    /// Memory for what clients have sent and no server has, and for answers that they have not
    /// taken
    #[arg(long, value_name = "SIZE", default_value = "256 MB", value_parser = memory)]
    memory: Bytes,
    /// Longest request, and longest head of HTTP up to 64 KiB
    #[arg(long, value_name = "SIZE", default_value = "16 MB", value_parser = longest)]
    longest: Bytes,
}

impl ClientArgs {
    /// Notes options that do not go together.
    pub(super) fn check(&self) -> Result<(), Exit> {
        if let (Some(_), Listen::Tcp(address)) = (self.listen_mode, &self.listen) {
            let help = "take `--listen-mode` away, or listen at unix:/PATH";
            print_stderr!("ratewire: {address} is no file that could have a mode\n  help: {help}");
            return Err(Exit::Wrong);
        }
        Ok(())
    }

    /// Clients at a time, as the options say.
    pub(super) fn count(&self) -> usize {
        self.clients.max(1) as usize
    }

    /// What a gateway is to do for so many of them.
    pub(super) fn config(
        &self,
        framing: Framing,
        switch: Host,
        acp: Config,
        clients: usize,
    ) -> GatewayConfig {
        GatewayConfig {
            framing,
            listen: self.listen.clone(),
            listen_mode: self.listen_mode.unwrap_or(UnixSocket::ALL),
            switch,
            acp,
            timeout: self.timeout.to_std(),
            patience: self.patience.to_std(),
            clients,
            longest: self.longest.get() as usize,
            memory: self.memory.get() as usize,
        }
    }

    /// Time in which clients get their answers, or are told that there are none.
    pub(super) fn timeout(&self) -> std::time::Duration {
        self.timeout.to_std()
    }
}

pub(super) fn gateway(args: &Args) -> Exit {
    let Args { clients, switch, status, common } = args;
    let acp = match clients.check().and_then(|()| common.acp()) {
        Ok(acp) => acp,
        Err(exit) => return exit,
    };
    let shares = Shares::raise(common.framing, clients.count(), 0);
    let config = clients.config(common.framing, switch.clone(), acp, shares.clients);
    args.common.run(async |stop| {
        let mut gateway = Gateway::open(config).await?;
        if let Some(address) = *status {
            gateway = gateway.with_status(address).await?;
        }
        Ok(gateway.run_until(stop, clients.timeout()))
    })
}

/// At least two of the longest requests.
fn memory(text: &str) -> Result<Bytes, String> {
    let size: Bytes = text.parse().map_err(|error| format!("{error}"))?;
    if size >= Bytes::new(32_000_000) { Ok(size) } else { Err("allowed: 32 MB and more".into()) }
}

/// A mode of a file, in octal digits.
fn mode(text: &str) -> Result<u32, String> {
    let mode = u32::from_str_radix(text, 8).ok().filter(|mode| *mode <= 0o777);
    mode.ok_or_else(|| "allowed: octal digits as for chmod, such as 660".to_string())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn modes_are_octal() {
        assert_eq!([mode("660"), mode("0600")], [Ok(0o660), Ok(0o600)]);
        assert!(["", "8", "1777", "u+w", "-1"].iter().all(|text| mode(text).is_err()));
    }
}
