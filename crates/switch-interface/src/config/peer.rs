//! `[peer]`: a switch that this one connects to.

use std::net::SocketAddr;

use ratewire_config::{At, Host, Section};
use ratewire_laws::AnyLaw;

use super::host;

const KEYS: &[&str] = &["address", "law"];

/// A switch that this one connects to, so that the two face each other.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PeerConfig {
    /// Where it waits for its peers.
    pub address: Host,
    /// The law of the connection, `name key=value ...`; `None` for the usual one of ACP.
    pub law: Option<String>,
}

/// Reads the table; `listen` is the switch's own address for peers.
pub(super) fn read(root: &Section<'_>, listen: SocketAddr) -> Option<At<PeerConfig>> {
    let table = root.table("[peer]", KEYS)?;
    let law = table.text("law", "the name of a law").and_then(|text| {
        // As the option --law of the commands has it.
        let told = text.value.replace(',', " ");
        match told.parse::<AnyLaw>() {
            Ok(_) => Some(told),
            Err(error) => {
                table.note(&text.span, error.to_string(), "`ratewire laws` lists the laws");
                None
            }
        }
    });
    if !table.has("address") {
        table.missing("address", "say where the other switch listens, as in \"10.0.0.9:4816\"");
    }
    let host = host(&table, "address")?;
    let span = table.place("address");
    let Some(address) = host.address() else {
        return Some(At { value: PeerConfig { address: host, law }, span });
    };
    let own = listen.ip();
    if address.port() == 0 || address.ip().is_unspecified() || address.ip().is_multicast() {
        let message = format!("the peer cannot be at {address}");
        let help = "give the address and the port where the other switch listens, as in \
                    \"10.0.0.9:4816\"";
        table.note(&table.place("address"), message, help);
        return None;
    }
    let problem = match () {
        () if own.is_ipv4() != address.is_ipv4() => Some("`listen` is of another kind of address"),
        () if own.is_loopback() && !address.ip().is_loopback() => {
            Some("`listen` is an address that only this machine reaches")
        }
        () => None,
    };
    if let Some(problem) = problem {
        let message = format!("the peer at {address} cannot be reached: {problem}");
        let help = "packets to the peer leave from `listen`: give that an address which the peer \
                    reaches, as in listen = \"0.0.0.0:4816\"";
        table.note(&table.place("address"), message, help);
    }
    Some(At { value: PeerConfig { address: host, law }, span })
}
