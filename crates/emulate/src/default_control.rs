//! Congestion control of a host's sockets whose program chooses none.

use std::fs;
use std::io::{self, Write};
use std::net::Ipv4Addr;
use std::process::{Command, Stdio};

use crate::device::DEVICE;

/// File with a namespace's default.
const CONTROL: &str = "/proc/sys/net/ipv4/tcp_congestion_control";

/// Gives the namespace of the calling thread this congestion control, if possible; returns the one
/// that it then has.
///
/// A namespace's own default can only be one that every user may choose. A route may name any, and
/// connections that take the route begin under it.
pub(crate) fn settle(wanted: Option<&str>, by_route: bool, address: Ipv4Addr) -> String {
    if let Some(wanted) = wanted {
        let is_set = fs::write(CONTROL, wanted).is_ok();
        let device = DEVICE.to_string_lossy();
        let route = format!("route change default dev {device} src {address} congctl {wanted}\n");
        if !is_set && by_route && ip(&route).is_ok() {
            return wanted.to_string();
        }
    }
    fs::read_to_string(CONTROL).unwrap_or_default().trim().to_string()
}

/// Lets iproute2's `ip` run these commands; the error "not found" is only for `ip` itself.
fn ip(commands: &str) -> io::Result<()> {
    let mut ip = Command::new("ip")
        .args(["-batch", "-"])
        .stdin(Stdio::piped())
        .stdout(Stdio::null())
        .stderr(Stdio::piped())
        .spawn()
        .map_err(|e| io::Error::new(e.kind(), format!("ip (Debian's iproute2): {e}")))?;
    if let Some(mut input) = ip.stdin.take() {
        input.write_all(commands.as_bytes())?;
    }
    let done = ip.wait_with_output()?;
    if done.status.success() {
        return Ok(());
    }
    Err(io::Error::other(String::from_utf8_lossy(&done.stderr).trim().to_string()))
}
