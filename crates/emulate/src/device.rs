//! Network devices of the namespace that the calling thread is in.

use std::ffi::{CStr, c_int, c_short};
use std::io;
use std::mem::zeroed;
use std::net::Ipv4Addr;
use std::os::fd::{AsRawFd, OwnedFd};

use nix::sys::socket::{AddressFamily, SockFlag, SockType, socket};

mod ioctl {
    use super::Route;

    nix::ioctl_write_ptr_bad!(set_flags, libc::SIOCSIFFLAGS, libc::ifreq);
    nix::ioctl_write_ptr_bad!(set_mtu, libc::SIOCSIFMTU, libc::ifreq);
    nix::ioctl_write_ptr_bad!(set_queue, libc::SIOCSIFTXQLEN, libc::ifreq);
    nix::ioctl_write_ptr_bad!(set_address, libc::SIOCSIFADDR, libc::ifreq);
    nix::ioctl_write_ptr_bad!(add_route, libc::SIOCADDRT, Route);
}

/// Name of each host's device.
pub(crate) const DEVICE: &CStr = c"rw0";
/// Loopback's name.
pub(crate) const LOOPBACK: &CStr = c"lo";

/// A device of the namespace that the calling thread was in when it named it.
#[derive(Debug)]
pub(crate) struct Device {
    /// A socket that stands for the device's namespace.
    socket: OwnedFd,
    name: &'static CStr,
}

/// `struct rtentry` of `linux/route.h`.
#[repr(C)]
struct Route {
    pad: libc::c_ulong,
    to: libc::sockaddr,
    gateway: libc::sockaddr,
    mask: libc::sockaddr,
    flags: libc::c_ushort,
    pad_of_flags: c_short,
    more_pad: libc::c_ulong,
    last_pad: *mut libc::c_void,
    metric: c_short,
    device: *const libc::c_char,
    mtu: libc::c_ulong,
    window: libc::c_ulong,
    round_trip: libc::c_ushort,
}

/// Names the action that failed.
fn cannot(what: &'static str) -> impl Fn(nix::errno::Errno) -> io::Error {
    move |e| {
        let e = io::Error::from(e);
        io::Error::new(e.kind(), format!("{what}: {e}"))
    }
}

impl Device {
    /// The device of this name, at most 15 bytes long.
    pub(crate) fn named(name: &'static CStr) -> io::Result<Device> {
        let flags = SockFlag::SOCK_CLOEXEC;
        let socket = socket(AddressFamily::Inet, SockType::Datagram, flags, None);
        Ok(Device { socket: socket.map_err(cannot("a socket"))?, name })
    }

    fn request(&self) -> libc::ifreq {
        // SAFETY: a request consists of numbers only.
        let mut request: libc::ifreq = unsafe { zeroed() };
        let bytes = self.name.to_bytes().iter().take(request.ifr_name.len() - 1);
        for (to, from) in request.ifr_name.iter_mut().zip(bytes) {
            *to = *from as libc::c_char;
        }
        request
    }

    /// Sets the device up.
    pub(crate) fn set_up(&self) -> io::Result<()> {
        let mut request = self.request();
        request.ifr_ifru.ifru_flags = (libc::IFF_UP | libc::IFF_RUNNING) as c_short;
        // SAFETY: the call reads a whole request.
        let done = unsafe { ioctl::set_flags(self.socket.as_raw_fd(), &raw const request) };
        done.map(drop).map_err(cannot("up"))
    }

    /// Sets network-layer bytes of the largest packet.
    pub(crate) fn set_mtu(&self, bytes: u64) -> io::Result<()> {
        let mut request = self.request();
        request.ifr_ifru.ifru_mtu = c_int::try_from(bytes).unwrap_or(c_int::MAX);
        // SAFETY: the call reads a whole request.
        let done = unsafe { ioctl::set_mtu(self.socket.as_raw_fd(), &raw const request) };
        done.map(drop).map_err(cannot("mtu"))
    }

    /// Sets the maximum number of packets that wait before the device.
    pub(crate) fn set_queue(&self, packets: c_int) -> io::Result<()> {
        let mut request = self.request();
        // All members of the union that are a plain `int` are one.
        request.ifr_ifru.ifru_metric = packets;
        // SAFETY: the call reads a whole request.
        let done = unsafe { ioctl::set_queue(self.socket.as_raw_fd(), &raw const request) };
        done.map(drop).map_err(cannot("txqueuelen"))
    }

    /// Gives the device an address; a point-to-point device gets a network of its own.
    pub(crate) fn set_address(&self, address: Ipv4Addr) -> io::Result<()> {
        let mut request = self.request();
        request.ifr_ifru.ifru_addr = socket_address(address);
        // SAFETY: the call reads a whole request.
        let done = unsafe { ioctl::set_address(self.socket.as_raw_fd(), &raw const request) };
        done.map(drop).map_err(cannot("address"))
    }

    /// Routes everything without a route of its own through the device.
    pub(crate) fn route_all(&self) -> io::Result<()> {
        // SAFETY: a route consists of numbers, and of pointers that may be null.
        let mut route: Route = unsafe { zeroed() };
        route.to = socket_address(Ipv4Addr::UNSPECIFIED);
        route.mask = socket_address(Ipv4Addr::UNSPECIFIED);
        route.flags = libc::RTF_UP;
        route.device = self.name.as_ptr();
        // SAFETY: the call reads a whole route, and the name, which it does not change.
        let done = unsafe { ioctl::add_route(self.socket.as_raw_fd(), &raw const route) };
        done.map(drop).map_err(cannot("route"))
    }
}

/// The kernel's form of an address: `struct sockaddr_in`, without a port.
fn socket_address(address: Ipv4Addr) -> libc::sockaddr {
    // SAFETY: an address consists of numbers only.
    let mut bytes: libc::sockaddr = unsafe { zeroed() };
    bytes.sa_family = libc::AF_INET as libc::sa_family_t;
    for (to, from) in bytes.sa_data[2..6].iter_mut().zip(address.octets()) {
        *to = from as libc::c_char;
    }
    bytes
}
