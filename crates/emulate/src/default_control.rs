//! The congestion control that a host's sockets have where their program chooses none.

use std::fs;
use std::net::Ipv4Addr;

use crate::host::{DEVICE, ip};

/// Where it is set for a namespace.
const CONTROL: &str = "/proc/sys/net/ipv4/tcp_congestion_control";

/// Gives the namespace of the calling thread this congestion control if it can have it; the one that it then has.
///
/// A namespace's own default can only be one that every user may choose. A route may name any, and connections that
/// take the route begin under it.
pub(crate) fn settle(wanted: Option<&str>, by_route: bool, address: Ipv4Addr) -> String {
    if let Some(wanted) = wanted {
        let is_set = fs::write(CONTROL, wanted).is_ok();
        let route = format!("route change default dev {DEVICE} src {address} congctl {wanted}\n");
        if !is_set && by_route && ip(&route).is_ok() {
            return wanted.to_string();
        }
    }
    fs::read_to_string(CONTROL).unwrap_or_default().trim().to_string()
}
