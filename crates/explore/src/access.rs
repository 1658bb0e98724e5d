//! Who may ask: a page that has the token of the address, by a name of this host.

use std::fmt::{self, Write};
use std::net::SocketAddr;

use hyper::Uri;
use ratewire_http::{Host, HostName};
use subtle::ConstantTimeEq;

/// Bytes of a token: 128 bits cannot be guessed.
const BYTES: usize = 16;

/// A secret that the address of the page has, and that every request must have.
///
/// Without it any page in the user's browser, and any user of the machine, could start runs.
#[derive(Clone)]
pub(crate) struct Token(String);

impl Token {
    /// A token of the system's random numbers.
    pub(crate) fn random() -> Result<Token, getrandom::Error> {
        let mut bytes = [0; BYTES];
        getrandom::fill(&mut bytes)?;
        let mut text = String::with_capacity(2 * BYTES);
        for byte in bytes {
            // Writing to a string cannot fail.
            _ = write!(text, "{byte:02x}");
        }
        Ok(Token(text))
    }

    /// Whether the query of an address has the token. The time does not depend on where a wrong
    /// token differs.
    pub(crate) fn is_in(&self, uri: &Uri) -> bool {
        let mut parts = uri.query().unwrap_or_default().split('&');
        let given = parts.find_map(|part| part.strip_prefix("token=")).unwrap_or_default();
        given.as_bytes().ct_eq(self.0.as_bytes()).into()
    }

    pub(crate) fn as_str(&self) -> &str {
        &self.0
    }
}

/// A log must not show the token.
impl fmt::Debug for Token {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Token(..)")
    }
}

/// Whether a request asks this server at `address`, and no other name that resolves to this host.
pub(crate) fn is_own_host(host: Option<Host>, address: SocketAddr) -> bool {
    let Some(Host { name, port }) = host else { return false };
    let is_name = match name {
        // A socket of all addresses is asked by each of them.
        HostName::Address(ip) => {
            ip == address.ip() || ip.is_loopback() || address.ip().is_unspecified()
        }
        HostName::Localhost => true,
        HostName::Other(_) => false,
    };
    is_name && port == address.port()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_whole_token_opens() {
        let token = Token::random().expect("random numbers");
        let other = Token::random().expect("random numbers");
        assert_eq!(token.as_str().len(), 2 * BYTES);
        assert_ne!(token.as_str(), other.as_str());
        let opens = |query: String| token.is_in(&format!("/run?{query}").parse().expect("a URI"));
        assert!(opens(format!("token={}", token.as_str())));
        assert!(opens(format!("a=b&token={}&c", token.as_str())));
        let part = &token.as_str()[..2 * BYTES - 1];
        for wrong in [other.as_str(), part, "", &format!("{}0", token.as_str())] {
            assert!(!opens(format!("token={wrong}")), "{wrong}");
        }
        assert!(!opens(String::new()) && !opens(format!("Token={}", token.as_str())));
        // The first token counts: a second one does not make up for it.
        assert!(!opens(format!("token=x&token={}", token.as_str())));
        assert!(!format!("{token:?}").contains(token.as_str()));
    }

    #[test]
    fn only_this_host_is_asked() {
        let at = |host: &str, address: &str| {
            is_own_host(Host::parse(host), address.parse().expect("an address"))
        };
        for own in ["127.0.0.1:8000", "localhost:8000", "LOCALHOST:8000", "[::1]:8000"] {
            assert!(at(own, "127.0.0.1:8000"), "{own}");
        }
        for other in [
            "127.0.0.1",
            "127.0.0.1:8001",
            "evil.example:8000",
            "192.0.2.1:8000",
            "localhost.evil.example:8000",
            "evil@127.0.0.1:8000",
            "",
            "a b",
        ] {
            assert!(!at(other, "127.0.0.1:8000"), "{other}");
        }
        assert!(at("192.0.2.1:8000", "192.0.2.1:8000") && at("192.0.2.1:8000", "0.0.0.0:8000"));
        assert!(!at("evil.example:8000", "0.0.0.0:8000") && at("localhost", "127.0.0.1:80"));
        assert!(!is_own_host(None, "127.0.0.1:8000".parse().expect("an address")));
    }
}
