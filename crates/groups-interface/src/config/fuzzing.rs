//! Properties of any text at all. The fuzz target and the tests share them, so that what the fuzzer
//! found once stays found.

use std::path::Path;

use ratewire_config::fuzzing::check;
use ratewire_overlay::{OverlayNodeId, Trees};

use super::Config;

/// Reads `data` as a configuration. Returns whether it can be used.
///
/// # Panics
/// If a usable configuration has no way between two daemons, or an error names no place.
pub fn config(data: &[u8]) -> bool {
    let Ok(text) = std::str::from_utf8(data) else { return false };
    let file = Path::new("groups.toml");
    match Config::parse(file, text) {
        Ok(config) => {
            let nodes = config.daemons.len();
            Trees::new(nodes, &config.edges()).expect("every daemon is reached");
            for (place, daemon) in config.daemons.iter().enumerate() {
                assert_eq!(config.node(&daemon.name), Some(OverlayNodeId(place as u8)));
                assert_eq!(config.me(Some(&daemon.name)).unwrap().index(), place);
            }
            let again = Config::parse(file, text).expect("what was read once is read again");
            assert!(again == config && again.fingerprint() == config.fingerprint());
            true
        }
        Err(error) => {
            check(text, &error);
            false
        }
    }
}
