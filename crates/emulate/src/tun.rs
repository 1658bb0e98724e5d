//! The network device of a host, from the network's side: whole IP packets in and out.
//!
//! Segmentation offload (TSO, GSO) lets a kernel hand over many TCP packets of a stream at once, as
//! one large packet; here that is a bundle. A checksum may be left to the device too. Before each
//! packet stands the header of virtio-net, Linux's interface of virtual network devices, which says
//! what is left to do.

use std::ffi::CStr;
use std::fs::{File, OpenOptions};
use std::io::{self, IoSlice, Read};
use std::os::fd::{AsFd, BorrowedFd};
use std::os::unix::fs::OpenOptionsExt;

use crate::sys;

/// Bytes before each packet: `struct virtio_net_hdr` of `linux/virtio_net.h`.
pub(crate) const OFFLOAD: usize = 10;
/// Longest bundle.
pub(crate) const MOST: usize = OFFLOAD + 65_535;

const NEEDS_CHECKSUM: u8 = 1;
const NOT_BUNDLED: u8 = 0;
const TCP_OVER_IPV4: u8 = 1;

/// Work that one side leaves to the other.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Offload {
    /// For a packet with an unfinished checksum: where the covered bytes start, and the checksum's
    /// offset from there.
    pub(crate) checksum: Option<(u16, u16)>,
    /// For a bundle: payload of each packet but the last.
    pub(crate) payload: Option<u16>,
}

impl Offload {
    /// Reads a header; `None` for a kind of bundle that was not asked for.
    pub(crate) fn read(bytes: &[u8; OFFLOAD]) -> Option<Offload> {
        let field = |at: usize| u16::from_ne_bytes([bytes[at], bytes[at + 1]]);
        let payload = match (bytes[1], field(4)) {
            (NOT_BUNDLED, _) => None,
            (TCP_OVER_IPV4, payload) if payload > 0 => Some(payload),
            _ => return None,
        };
        let checksum = (bytes[0] & NEEDS_CHECKSUM != 0).then(|| (field(6), field(8)));
        Some(Offload { checksum, payload })
    }

    pub(crate) fn write(&self, headers: usize) -> [u8; OFFLOAD] {
        let mut bytes = [0; OFFLOAD];
        let mut put = |at: usize, value: u16| {
            bytes[at..at + 2].copy_from_slice(&value.to_ne_bytes());
        };
        if let Some((start, offset)) = self.checksum {
            put(6, start);
            put(8, offset);
        }
        if let Some(payload) = self.payload {
            put(2, headers as u16);
            put(4, payload);
        }
        bytes[0] = if self.checksum.is_some() { NEEDS_CHECKSUM } else { 0 };
        bytes[1] = if self.payload.is_some() { TCP_OVER_IPV4 } else { NOT_BUNDLED };
        bytes
    }
}

/// A TUN device.
#[derive(Debug)]
pub(crate) struct Tun {
    file: File,
    /// Whether bundles and unfinished checksums are exchanged.
    pub(crate) offloads: bool,
}

impl Tun {
    /// Makes a device of this name in the calling thread's network namespace. The device ends with
    /// that namespace: the kernel takes down many at once then, while a single close takes tens of
    /// milliseconds.
    pub(crate) fn make(name: &CStr) -> io::Result<Tun> {
        let mut options = OpenOptions::new();
        let options = options.read(true).write(true).custom_flags(libc::O_NONBLOCK);
        let file = options.open("/dev/net/tun")?;
        sys::make_tun(&file, name)?;
        sys::keep_tun(&file)?;
        let offloads = sys::offload_tun(&file).is_ok();
        Ok(Tun { file, offloads })
    }

    /// Reads a packet, behind [`OFFLOAD`] bytes; `None` if there is none now.
    pub(crate) fn read(&self, into: &mut [u8]) -> io::Result<Option<usize>> {
        match (&self.file).read(into) {
            Ok(len) => Ok(Some(len)),
            Err(e) if e.kind() == io::ErrorKind::WouldBlock => Ok(None),
            Err(e) => Err(e),
        }
    }

    /// Hands a packet to the host's kernel.
    pub(crate) fn write(&self, parts: &[IoSlice<'_>]) -> io::Result<()> {
        nix::sys::uio::writev(&self.file, parts).map(drop).map_err(io::Error::from)
    }
}

impl AsFd for Tun {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.file.as_fd()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_written_is_read() {
        for offload in [
            Offload::default(),
            Offload { checksum: Some((20, 16)), payload: None },
            Offload { checksum: Some((20, 16)), payload: Some(1448) },
        ] {
            assert_eq!(Offload::read(&offload.write(52)), Some(offload));
        }
    }

    #[test]
    fn bundles_of_other_kinds_are_refused() {
        let mut bytes = Offload { checksum: None, payload: Some(1000) }.write(52);
        bytes[1] = 5;
        assert_eq!(Offload::read(&bytes), None, "UDP");
        let empty = Offload { checksum: None, payload: Some(0) };
        assert_eq!(Offload::read(&empty.write(52)), None, "bundles of nothing");
    }
}
