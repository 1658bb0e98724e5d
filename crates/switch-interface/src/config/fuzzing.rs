//! Properties of any text at all. The fuzz target and the tests share them, so that what the fuzzer
//! found once stays found.

use std::net::SocketAddr;
use std::path::Path;

use ratewire_config::fuzzing::check;

use super::{Config, RoutingConfig};

/// Reads `data` as a `switch.toml`. Returns whether it can be used.
///
/// # Panics
/// If a usable configuration has members that cannot be told apart or reached, or no routing
/// module, or an error names no place.
pub fn config(data: &[u8]) -> bool {
    let Ok(text) = std::str::from_utf8(data) else { return false };
    let file = Path::new("switch.toml");
    match Config::parse(file, text) {
        Ok(config) => {
            let members = &config.members;
            assert!(!members.is_empty() || config.register.is_some(), "nobody to route to");
            let addresses = members.iter().filter_map(|member| member.address.address());
            let ipv4 = addresses.clone().filter(SocketAddr::is_ipv4).count();
            assert!(ipv4 == 0 || ipv4 == addresses.count(), "addresses of both kinds");
            for (place, member) in members.iter().enumerate() {
                assert!(members[..place].iter().all(|other| other.name != member.name));
            }
            let peer = config.peer.as_ref().and_then(|peer| peer.address.address());
            assert!(peer.is_none_or(|peer| peer.is_ipv4() == config.listen.is_ipv4()));
            let is_file = matches!(config.routing, RoutingConfig::Wasm(_));
            assert_eq!(config.routing.build(members, 0).is_none(), is_file);
            assert!(Config::parse(file, text).is_ok_and(|again| again == config));
            true
        }
        Err(error) => {
            check(text, &error);
            false
        }
    }
}
