//! Connections that a host's law is for: those from an interface's addresses.

use std::net::Ipv6Addr;
use std::os::unix::fs::MetadataExt;

use libbpf_rs::{MapCore, MapFlags};
use nix::ifaddrs::getifaddrs;
use nix::sys::socket::SockaddrStorage;

use super::Spec;
use crate::{Error, router};

/// Addresses of the interface in `spec`, if it names one; IPv4 addresses as IPv6 writes them.
pub(super) fn addresses(spec: &Spec) -> Result<Vec<Ipv6Addr>, Error> {
    let Some(iface) = &spec.iface else { return Ok(Vec::new()) };
    router::index(iface)?;
    let all = getifaddrs().map_err(|e| Error::new("cannot list addresses", "").because(e))?;
    let of_iface = all.filter(|one| one.interface_name == *iface).filter_map(|one| one.address);
    let ip = |address: SockaddrStorage| {
        let v4 = address.as_sockaddr_in().map(|v4| v4.ip().to_ipv6_mapped());
        v4.or_else(|| address.as_sockaddr_in6().map(|v6| v6.ip()))
    };
    let addresses: Vec<_> = of_iface.filter_map(ip).collect();
    if addresses.is_empty() {
        let remedy = "give it one first: connections take part by their own address";
        return Err(Error::new(format!("{iface} has no address"), remedy));
    }
    Ok(addresses)
}

/// Gives the program the addresses of this network namespace from which connections take part.
pub(super) fn set_addresses(map: &impl MapCore, addresses: &[Ipv6Addr]) -> Result<(), Error> {
    let netns = netns()?.to_ne_bytes();
    for address in addresses {
        let key = [&netns[..], &address.octets()].concat();
        map.update(&key, &[1], MapFlags::ANY)
            .map_err(|e| Error::new("the kernel does not take an address", "").because(e))?;
    }
    Ok(())
}

/// Number of this network namespace, as programs see it.
pub(super) fn netns() -> Result<u32, Error> {
    let netns = std::fs::metadata("/proc/self/ns/net").map_err(|e| {
        Error::new("cannot tell the network namespace", "is /proc mounted?").because(e)
    })?;
    Ok(netns.ino() as u32)
}
