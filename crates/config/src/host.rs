//! Hosts by address or by name.

use std::fmt;
use std::net::SocketAddr;
use std::str::FromStr;

/// Longest name of the domain name system, and longest part of one.
const LONGEST_NAME: usize = 253;
const LONGEST_LABEL: usize = 63;

/// A port of a host.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Host {
    /// By its address.
    Address(SocketAddr),
    /// By its name, which may have another address whenever it is resolved, and the port.
    Name(String, u16),
}

impl Host {
    /// The address, if it needs not be resolved.
    pub fn address(&self) -> Option<SocketAddr> {
        match self {
            Host::Address(address) => Some(*address),
            Host::Name(..) => None,
        }
    }
}

impl From<SocketAddr> for Host {
    fn from(address: SocketAddr) -> Host {
        Host::Address(address)
    }
}

impl fmt::Display for Host {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Host::Address(address) => address.fmt(f),
            Host::Name(name, port) => write!(f, "{name}:{port}"),
        }
    }
}

impl FromStr for Host {
    type Err = String;

    fn from_str(text: &str) -> Result<Host, String> {
        if let Ok(address) = text.parse() {
            return Ok(Host::Address(address));
        }
        let Some((name, port)) = text.rsplit_once(':') else {
            return Err("it has no port: write HOST:PORT".to_string());
        };
        if name.contains([':', '[', ']']) {
            return Err("an IPv6 address is written in brackets, as in [::1]:4816".to_string());
        }
        let port = port.parse().ok().filter(|port| *port > 0);
        let port = port.ok_or("the port is not a number of 1 to 65535")?;
        match is_name(name) {
            true => Ok(Host::Name(name.to_string(), port)),
            false => Err(format!("{name:?} is neither an IP address nor a host's name")),
        }
    }
}

/// Whether a host may be called so. What ends with a number is an address, a wrong one here.
fn is_name(name: &str) -> bool {
    let name = name.strip_suffix('.').unwrap_or(name);
    let is_good = |c: char| c.is_ascii_alphanumeric() || c == '-' || c == '_';
    let is_label =
        |label: &str| (1..=LONGEST_LABEL).contains(&label.len()) && label.chars().all(is_good);
    let last = name.rsplit('.').next().unwrap_or_default();
    name.len() <= LONGEST_NAME
        && name.split('.').all(is_label)
        && !last.chars().all(|c| c.is_ascii_digit())
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn addresses_and_names_are_read() {
        for text in ["127.0.0.1:0", "[::1]:5", "redis-1.example.:6379", "a_b:1", "localhost:65535"]
        {
            let host: Host = text.parse().unwrap();
            assert_eq!(host.to_string(), text);
            assert_eq!(host.address().is_some(), text.starts_with(['1', '[']), "{text}");
        }
        let wrong = [
            ("redis", "no port"),
            ("127.0.0.1", "no port"),
            ("::1:5", "in brackets"),
            ("[::1", "in brackets"),
            ("redis:", "1 to 65535"),
            ("redis:0", "1 to 65535"),
            ("redis:65536", "1 to 65535"),
            (":5", "neither"),
            ("10.0.0.300:5", "neither"),
            ("10:5", "neither"),
            ("a..b:5", "neither"),
            ("a b:5", "neither"),
            ("-ä:5", "neither"),
        ];
        for (text, why) in wrong {
            let error = text.parse::<Host>().unwrap_err();
            assert!(error.contains(why), "{text}: {error}");
        }
        assert!(format!("{}:1", "a".repeat(64)).parse::<Host>().is_err());
        assert!(format!("{}a:1", "a.".repeat(127)).parse::<Host>().is_err());
    }

    proptest! {
        #[test]
        fn what_is_read_is_written_alike(text in "[a-z0-9.:\\[\\]-]{0,20}") {
            if let Ok(host) = text.parse::<Host>() {
                prop_assert_eq!(host.to_string().parse(), Ok(host));
            }
        }
    }
}
