//! Cookies: a client shows that packets reach it at its address, before a server keeps anything.

use std::net::SocketAddr;

use ratewire_units::Time;
use ring::hmac;
use ring::rand::SystemRandom;

use crate::wire::ConnectionId;

/// Bytes of a cookie.
pub const COOKIE: usize = 8 + 32;
/// Seconds for which a cookie is good.
const LIFETIME_S: u64 = 10;

/// Makes and checks cookies, and keeps none of them.
#[derive(Debug)]
pub struct Cookies(hmac::Key);

impl Cookies {
    /// With a new key; `None` if the kernel gives no random numbers.
    pub fn new() -> Option<Cookies> {
        hmac::Key::generate(hmac::HMAC_SHA256, &SystemRandom::new()).ok().map(Cookies)
    }

    fn text(second: u64, address: SocketAddr, client: ConnectionId) -> Vec<u8> {
        format!("{second} {address} {}", client.0).into_bytes()
    }

    /// A cookie for a client at an address.
    pub fn make(&self, now: Time, address: SocketAddr, client: ConnectionId) -> [u8; COOKIE] {
        let second = now.ps() / 1_000_000_000_000;
        let tag = hmac::sign(&self.0, &Cookies::text(second, address, client));
        let mut cookie = [0; COOKIE];
        cookie[..8].copy_from_slice(&second.to_be_bytes());
        cookie[8..].copy_from_slice(tag.as_ref());
        cookie
    }

    /// Whether a cookie was made for this client a short time ago.
    pub fn is_good(
        &self,
        now: Time,
        address: SocketAddr,
        client: ConnectionId,
        cookie: &[u8],
    ) -> bool {
        let Some((second, tag)) = cookie.split_first_chunk::<8>() else { return false };
        let second = u64::from_be_bytes(*second);
        let is_fresh = (now.ps() / 1_000_000_000_000).abs_diff(second) <= LIFETIME_S;
        is_fresh && hmac::verify(&self.0, &Cookies::text(second, address, client), tag).is_ok()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_cookie_is_good_for_its_client_and_for_a_short_time() {
        let cookies = Cookies::new().unwrap();
        let at = |port| SocketAddr::from(([127, 0, 0, 1], port));
        let (now, client) = (Time::from_secs(100), ConnectionId(7));
        let cookie = cookies.make(now, at(1), client);
        assert!(cookies.is_good(now, at(1), client, &cookie));
        assert!(cookies.is_good(Time::from_secs(110), at(1), client, &cookie));
        assert!(!cookies.is_good(Time::from_secs(111), at(1), client, &cookie));
        assert!(!cookies.is_good(now, at(2), client, &cookie));
        assert!(!cookies.is_good(now, at(1), ConnectionId(8), &cookie));
        assert!(!cookies.is_good(now, at(1), client, &cookie[..COOKIE - 1]));
        assert!(!Cookies::new().unwrap().is_good(now, at(1), client, &cookie));
    }
}
