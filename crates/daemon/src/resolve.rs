//! Addresses of hosts that are named.

use std::net::SocketAddr;
use std::time::Duration;

use ratewire_config::Host;
use tokio::net::lookup_host;
use tokio::time::timeout;

/// Time for a name to be resolved.
const PATIENCE: Duration = Duration::from_secs(5);

/// A name without an address.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the name {name} cannot be resolved: {why}")]
pub struct ResolveError {
    name: String,
    why: String,
}

/// The addresses of a host, in the order in which they are to be tried: those that the system's
/// resolver has at present.
///
/// # Errors
/// When a name has no address, or the resolver does not answer within five seconds.
pub async fn resolve(host: &Host) -> Result<Vec<SocketAddr>, ResolveError> {
    let (name, port) = match host {
        Host::Address(address) => return Ok(vec![*address]),
        Host::Name(name, port) => (name, *port),
    };
    let fail = |why: String| ResolveError { name: name.clone(), why };
    let found = timeout(PATIENCE, lookup_host((name.as_str(), port))).await;
    let found = found.map_err(|_| fail("no answer within 5 s".to_string()))?;
    let mut addresses = Vec::new();
    for address in found.map_err(|error| fail(error.to_string()))? {
        if !addresses.contains(&address) {
            addresses.push(address);
        }
    }
    match addresses.is_empty() {
        true => Err(fail("it has no address".to_string())),
        false => Ok(addresses),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn names_have_addresses_or_a_reason() {
        let of = async |text: &str| resolve(&text.parse().expect("a host")).await;
        let local = SocketAddr::from(([127, 0, 0, 1], 5));
        assert_eq!(of("127.0.0.1:5").await, Ok(vec![local]));
        let named = of("localhost:5").await.expect("addresses");
        assert!(named.iter().all(|at| at.ip().is_loopback() && at.port() == 5), "{named:?}");
        let error = of("ratewire.invalid:5").await.expect_err("no address");
        assert!(error.to_string().starts_with("the name ratewire.invalid cannot be resolved: "));
    }
}
