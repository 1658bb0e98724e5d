//! Ports for tests.

use std::net::{Ipv4Addr, SocketAddr, TcpListener, UdpSocket};
use std::ops::RangeInclusive;
use std::sync::atomic::{AtomicU32, Ordering};

/// Ports that Linux gives to no socket by itself, unless its `ip_local_port_range` is changed: a
/// free one stays free.
const PORTS: RangeInclusive<u16> = 10_000..=29_999;

/// A port of the loopback interface that is free for TCP and UDP, another one at each call.
///
/// # Panics
/// If none is free.
pub fn port() -> u16 {
    static CALLS: AtomicU32 = AtomicU32::new(0);
    let is_free = |port: &u16| {
        let address = (Ipv4Addr::LOCALHOST, *port);
        TcpListener::bind(address).is_ok() && UdpSocket::bind(address).is_ok()
    };
    // Programs of the same time begin at places of their own.
    let begin = std::process::id().wrapping_mul(997);
    let next = || begin.wrapping_add(CALLS.fetch_add(1, Ordering::Relaxed));
    let candidate = || PORTS.start() + (next() % PORTS.len() as u32) as u16;
    std::iter::repeat_with(candidate).take(PORTS.len()).find(is_free).expect("a free port")
}

/// [`port`] as an address.
pub fn free_address() -> SocketAddr {
    SocketAddr::from((Ipv4Addr::LOCALHOST, port()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_call_gives_another_free_port() {
        let ports = [port(), port(), port()];
        assert!(ports[0] != ports[1] && ports[1] != ports[2]);
        assert!(TcpListener::bind(free_address()).is_ok());
    }
}
