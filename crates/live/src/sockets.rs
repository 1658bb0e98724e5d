//! Connections that send by one of our congestion controls, from the kernel's socket diagnosis.

use std::io;
use std::net::{IpAddr, SocketAddr};

use nix::sys::socket::{AddressFamily, SockProtocol};
use ratewire_units::{Bytes, Duration, Throughput};

use crate::netlink::{self, Kernel, word};
use crate::{Error, KernelLaw, pins};

/// A connection that sends by one of our congestion controls.
#[derive(Clone, Debug)]
pub struct TcpConnection {
    /// The law.
    pub law: KernelLaw,
    /// Address of this end.
    pub local: SocketAddr,
    /// Address of the other end.
    pub remote: SocketAddr,
    /// Pacing rate; `None` if the window limits the connection, or it has not sent yet.
    pub rate: Option<Throughput>,
    /// Bytes that may be outstanding.
    pub window: Bytes,
    /// Bytes that are outstanding.
    pub outstanding: Bytes,
    /// Smoothed RTT; `None` before the first is known.
    pub rtt: Option<Duration>,
}

/// Connections of this network namespace that send by one of our congestion controls.
///
/// # Errors
/// If the kernel does not report it.
pub fn status() -> Result<Vec<TcpConnection>, Error> {
    pins::check_rights()?;
    [AddressFamily::Inet, AddressFamily::Inet6]
        .into_iter()
        .map(|family| list(family, IPPROTO_TCP).map_err(|e| cannot_list(&e)))
        .collect::<Result<Vec<_>, _>>()
        .map(|families| families.concat())
}

/// Checks that the kernel lists connections.
pub(crate) fn look() -> io::Result<()> {
    list(AddressFamily::Inet, IPPROTO_TCP).map(drop)
}

pub(crate) const REMEDY: &str =
    "the kernel needs CONFIG_INET_TCP_DIAG: modprobe tcp_diag; `ss -ti` asks the same";

fn cannot_list(why: &io::Error) -> Error {
    Error::new("the kernel does not list its connections", REMEDY).because(why)
}

// From `linux/sock_diag.h`, `linux/inet_diag.h`.
const SOCK_DIAG_BY_FAMILY: u16 = 20;
const INET_DIAG_INFO: u16 = 2;
const INET_DIAG_CONG: u16 = 4;
const IPPROTO_TCP: u8 = 6;
/// Length of the header of a message about a socket.
const SOCKET: usize = 72;
/// States of TCP, as bits: all with another end, except TIME_WAIT, which sends nothing.
const CONNECTED: u32 = 1 << 1 | 1 << 4 | 1 << 5 | 1 << 8 | 1 << 9 | 1 << 11;
fn list(family: AddressFamily, protocol: u8) -> io::Result<Vec<TcpConnection>> {
    let mut connections = Vec::new();
    Kernel::open(SockProtocol::NetlinkSockDiag)?
        .ask(&question(family, protocol), |_, content| connections.extend(connection(content)))?;
    Ok(connections)
}

/// A question for all connections of a family and protocol: `struct inet_diag_req_v2`.
fn question(family: AddressFamily, protocol: u8) -> Vec<u8> {
    let attributes = (1 << (INET_DIAG_INFO - 1)) | (1 << (INET_DIAG_CONG - 1));
    let mut content = vec![family as u8, protocol, attributes, 0];
    content.extend(CONNECTED.to_ne_bytes());
    // Of any address.
    content.resize(8 + 48, 0);
    netlink::message(SOCK_DIAG_BY_FAMILY, netlink::DUMP, &content)
}

/// The connection in a message, if it sends by one of our congestion controls.
fn connection(message: &[u8]) -> Option<TcpConnection> {
    let attribute = |wanted| netlink::attribute(message.get(SOCKET..)?, wanted);
    let control = attribute(INET_DIAG_CONG)?.split(|byte| *byte == 0).next()?;
    let law = KernelLaw::ALL.into_iter().find(|law| law.control().as_bytes() == control)?;
    // Its place in `struct tcp_info`.
    let info = attribute(INET_DIAG_INFO)?;
    let count = |at| word(info, at).map(u64::from);
    let segment = count(16)?;
    let outstanding = (count(24)? + count(36)?).saturating_sub(count(28)? + count(32)?);
    let pace = u64::from_ne_bytes(info.get(104..112)?.try_into().ok()?);
    // `struct inet_diag_msg`: family, then the two ports, then the two addresses.
    let end = |port: usize, at: usize| {
        let port = u16::from_be_bytes(message.get(port..port + 2)?.try_into().ok()?);
        let ip = match i32::from(message[0]) {
            nix::libc::AF_INET => IpAddr::from(<[u8; 4]>::try_from(message.get(at..at + 4)?).ok()?),
            _ => IpAddr::from(<[u8; 16]>::try_from(message.get(at..at + 16)?).ok()?),
        };
        Some(SocketAddr::new(ip.to_canonical(), port))
    };
    Some(TcpConnection {
        law,
        local: end(4, 8)?,
        remote: end(6, 24)?,
        rate: (pace != u64::MAX).then(|| Throughput::new(pace as f64)),
        window: Bytes::new(count(80)? * segment),
        outstanding: Bytes::new(outstanding * segment),
        rtt: Some(count(68)?).filter(|us| *us > 0).map(Duration::from_micros),
    })
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// An answer about a connection over IPv4.
    fn answer(control: &[u8], pace: u64) -> Vec<u8> {
        let mut message = vec![0; SOCKET];
        message[0] = nix::libc::AF_INET as u8;
        message[4..8].copy_from_slice(&[0, 80, 0x14, 0x51]);
        message[8..12].copy_from_slice(&[10, 0, 0, 1]);
        message[24..28].copy_from_slice(&[10, 0, 0, 2]);
        let mut info = vec![0; 112];
        // Segment size; in flight, selectively acknowledged, lost, sent again; RTT; window.
        for (at, value) in
            [(16, 1000_u32), (24, 10), (28, 3), (32, 2), (36, 1), (68, 20_000), (80, 12)]
        {
            info[at..at + 4].copy_from_slice(&value.to_ne_bytes());
        }
        info[104..].copy_from_slice(&pace.to_ne_bytes());
        for (kind, content) in [(INET_DIAG_CONG, control), (INET_DIAG_INFO, &info)] {
            netlink::put(&mut message, kind, content);
        }
        message
    }

    /// A kernel without TCP's diagnosis behaves as for this protocol number, which is for
    /// experiments and has none.
    #[test]
    fn a_kernel_that_does_not_list_connections_is_an_error() {
        const EXPERIMENT: u8 = 253;
        let why = list(AddressFamily::Inet, EXPERIMENT).expect_err("nobody lists them");
        assert_eq!(why.kind(), io::ErrorKind::NotFound, "{why}");
        let said = cannot_list(&why).to_string();
        assert!(said.contains("modprobe tcp_diag"), "{said}");
        look().expect("of TCP's it does");
    }

    #[test]
    fn what_is_ours_is_read_and_all_else_is_not() {
        let found = connection(&answer(b"rw_piqi\0", 1_000_000)).expect("it is ours");
        assert_eq!(found.law, KernelLaw::PiqiRcp);
        assert_eq!(found.local.to_string(), "10.0.0.1:80");
        assert_eq!(found.remote.to_string(), "10.0.0.2:5201");
        assert_eq!(found.rate, Some(Throughput::new(1e6)));
        assert_eq!((found.window, found.outstanding), (Bytes::new(12_000), Bytes::new(6000)));
        assert_eq!(found.rtt, Some(Duration::from_millis(20)));
        let found = connection(&answer(b"rw_xcp\0", u64::MAX)).expect("it is ours");
        assert_eq!((found.law, found.rate), (KernelLaw::Xcp, None));
        assert!(connection(&answer(b"cubic\0", 1)).is_none());
    }

    proptest! {
        /// Reading ends, however an answer is cut or garbled.
        #[test]
        fn no_answer_is_read_past_its_end(
            cut in 0_usize..220,
            at in 0_usize..220,
            garbage: [u8; 4],
        ) {
            let mut message = answer(b"rw_xcp\0", 1);
            let at = at.min(message.len() - 4);
            message[at..at + 4].copy_from_slice(&garbage);
            message.truncate(cut);
            let _ = connection(&message);
        }
    }
}
