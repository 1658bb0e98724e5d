//! Whom a request names as its server.

use std::net::IpAddr;

use hyper::header::HOST;
use hyper::http::uri::Authority;
use hyper::{HeaderMap, http};

/// The server that a request's `Host` names.
///
/// A site whose name suddenly resolves to this host (DNS rebinding) sends its own name.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Host {
    /// Which server.
    pub name: HostName,
    /// Its port: 80 if the request names none.
    pub port: u16,
}

/// The name of a server.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum HostName {
    /// An address.
    Address(IpAddr),
    /// `localhost`.
    Localhost,
    /// Another name, as the request writes it.
    Other(String),
}

impl Host {
    /// The host of a request with these headers; `None` if there is none, or one that is none.
    pub fn of(headers: &HeaderMap) -> Option<Host> {
        Host::parse(headers.get(HOST)?.to_str().ok()?)
    }

    /// The host in the value of a header.
    pub fn parse(value: &str) -> Option<Host> {
        let parsed: Result<Authority, http::uri::InvalidUri> = value.parse();
        let authority = parsed.ok().filter(|authority| !authority.as_str().contains('@'))?;
        let host = authority.host();
        let name = match host.trim_start_matches('[').trim_end_matches(']').parse() {
            Ok(ip) => HostName::Address(ip),
            Err(_) if host.eq_ignore_ascii_case("localhost") => HostName::Localhost,
            Err(_) => HostName::Other(host.to_string()),
        };
        Some(Host { name, port: authority.port_u16().unwrap_or(80) })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hosts_are_addresses_localhost_or_other_names() {
        let ip = |text: &str| HostName::Address(text.parse().expect("an address"));
        let other = |text: &str| HostName::Other(text.to_string());
        for (value, name, port) in [
            ("127.0.0.1", ip("127.0.0.1"), 80),
            ("[::1]:8000", ip("::1"), 8000),
            ("LocalHost:81", HostName::Localhost, 81),
            ("localhost.evil.example", other("localhost.evil.example"), 80),
            ("127.0.0.1.evil.example:9", other("127.0.0.1.evil.example"), 9),
        ] {
            assert_eq!(Host::parse(value), Some(Host { name, port }), "{value}");
        }
        for wrong in ["", "a b", "evil@127.0.0.1", "a/b"] {
            assert_eq!(Host::parse(wrong), None, "{wrong}");
        }
        assert_eq!(Host::of(&HeaderMap::new()), None);
    }
}
