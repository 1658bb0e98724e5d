//! Connections that a host's law is for: those from an interface's addresses, those whose interface
//! pauses.

use std::net::Ipv6Addr;
use std::os::unix::fs::MetadataExt;
use std::process::Command;

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
fn netns() -> Result<u32, Error> {
    let netns = std::fs::metadata("/proc/self/ns/net").map_err(|e| {
        Error::new("cannot tell the network namespace", "is /proc mounted?").because(e)
    })?;
    Ok(netns.ino() as u32)
}

/// Gives the program the interfaces of this network namespace that pause when the next queue is
/// full, as `ethtool` says.
pub(super) fn set_pausing(map: &impl MapCore) -> Result<(), Error> {
    let failed = |what: &str, why: String| {
        let remedy = "install ethtool; or take it everywhere: --mode force";
        Error::new(what, remedy).because(why)
    };
    let netns = netns()?.to_ne_bytes();
    for (ifindex, iface) in router::interfaces()? {
        let done = Command::new("ethtool")
            .args(["-a", &iface])
            .output()
            .map_err(|e| failed("cannot ask which interfaces pause", e.to_string()))?;
        if pauses(&String::from_utf8_lossy(&done.stdout)) {
            let key = [netns, ifindex.to_ne_bytes()].concat();
            map.update(&key, &[1], MapFlags::ANY)
                .map_err(|e| failed("the kernel does not take an interface", e.to_string()))?;
        }
    }
    Ok(())
}

/// Whether an interface obeys pause frames: the negotiated setting counts, if there is one.
fn pauses(said: &str) -> bool {
    let value = |name: &str| {
        said.lines()
            .find_map(|line| line.trim().strip_prefix(name))
            .map(|value| value.trim() == "on")
    };
    value("RX negotiated:").or(value("RX:")).unwrap_or(false)
}

#[cfg(test)]
mod tests {
    use super::pauses;

    #[test]
    fn what_was_negotiated_counts() {
        let said = "Pause parameters for eth0:\nAutonegotiate:\ton\nRX:\t\toff\nTX:\t\toff\n";
        assert!(!pauses(said));
        assert!(pauses(&said.replace("RX:\t\toff", "RX:\t\ton")));
        assert!(pauses(&format!("{said}RX negotiated: on\nTX negotiated: on\n")));
        assert!(!pauses(&format!("{}RX negotiated: off\n", said.replace("off", "on"))));
        assert!(!pauses("netlink error: Operation not supported\n"));
    }
}
