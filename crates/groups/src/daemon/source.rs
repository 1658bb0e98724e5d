//! Where a connection comes from, for those that share out what a daemon has.

use std::net::{IpAddr, Ipv6Addr};

/// Bits of an IPv6 address that name a network: a host has all addresses of its own.
const NETWORK: u32 = 64;

/// One address for all that a host can take: it has its IPv4 address, and a network of IPv6.
pub(super) fn source(address: IpAddr) -> IpAddr {
    match address.to_canonical() {
        IpAddr::V6(address) => {
            let network = address.to_bits() >> (128 - NETWORK) << (128 - NETWORK);
            Ipv6Addr::from_bits(network).into()
        }
        v4 => v4,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_of_one_network_are_one_source() {
        let of = |address: &str| source(address.parse().unwrap());
        assert_eq!(of("2001:db8:0:1::5"), of("2001:db8:0:1:9::6"));
        assert_ne!(of("2001:db8:0:1::5"), of("2001:db8:0:2::5"));
        assert_eq!(of("::ffff:10.0.0.1"), of("10.0.0.1"));
        assert_ne!(of("10.0.0.1"), of("10.0.0.2"));
    }
}
