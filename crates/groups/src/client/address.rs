//! Where a daemon listens.

use std::fmt;
use std::path::PathBuf;
use std::str::FromStr;

/// Where a daemon listens.
///
/// | text | stands for |
/// |---|---|
/// | `HOST:PORT`, or `PORT@HOST` as in Spread | a TCP port |
/// | a path with a `/` | a Unix socket |
/// | `PORT`, as in Spread | the Unix socket `/tmp/PORT` |
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Address {
    /// A TCP port.
    Tcp {
        /// Name or address of the host.
        host: String,
        /// The port.
        port: u16,
    },
    /// A Unix socket.
    Unix(PathBuf),
}

/// A text that is not the address of a daemon.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error(
    "{0:?} is no address of a daemon: HOST:PORT, PORT@HOST, the path of a Unix socket with a `/`, or \
     PORT alone for the Unix socket /tmp/PORT"
)]
pub struct InvalidAddress(String);

impl FromStr for Address {
    type Err = InvalidAddress;

    fn from_str(text: &str) -> Result<Address, InvalidAddress> {
        if text.contains('/') {
            return Ok(Address::Unix(PathBuf::from(text)));
        }
        let invalid = || InvalidAddress(text.to_string());
        if let Ok(port) = text.parse::<u16>() {
            return Ok(Address::Unix(PathBuf::from(format!("/tmp/{port}"))));
        }
        let swapped = text.split_once('@').map(|(port, host)| (host, port));
        let (host, port) = swapped.or_else(|| text.rsplit_once(':')).ok_or_else(invalid)?;
        let bracketed = host.strip_prefix('[').and_then(|host| host.strip_suffix(']'));
        // Without brackets, the last number of an IPv6 address would count as the port.
        let is_ambiguous = swapped.is_none() && bracketed.is_none() && host.contains(':');
        let host = bracketed.unwrap_or(host);
        match port.parse() {
            Ok(port) if !host.is_empty() && !is_ambiguous => {
                Ok(Address::Tcp { host: host.to_string(), port })
            }
            _ => Err(invalid()),
        }
    }
}

impl fmt::Display for Address {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Address::Tcp { host, port } if host.contains(':') => write!(f, "[{host}]:{port}"),
            Address::Tcp { host, port } => write!(f, "{host}:{port}"),
            Address::Unix(path) => path.display().fmt(f),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses() {
        let shown = |text: &str| text.parse::<Address>().map(|address| address.to_string());
        for (text, address) in [
            ("localhost:4803", "localhost:4803"),
            ("4803@localhost", "localhost:4803"),
            ("[::1]:4803", "[::1]:4803"),
            ("4803@::1", "[::1]:4803"),
            ("4803", "/tmp/4803"),
            ("./daemon.socket", "./daemon.socket"),
        ] {
            assert_eq!(shown(text).unwrap(), address);
            assert_eq!(shown(address).unwrap(), address);
        }
        for text in ["", "localhost", ":4803", "::1:4803", "@localhost", "4803@", "host:65536"] {
            let error = shown(text).unwrap_err().to_string();
            assert!(error.starts_with(&format!("{text:?} is no address")), "{error}");
        }
    }
}
