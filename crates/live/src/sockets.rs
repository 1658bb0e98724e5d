//! Connections that send by one of our congestion controls, as the kernel's socket diagnosis tells of them.

use std::io;
use std::net::{IpAddr, SocketAddr};
use std::os::fd::AsRawFd;

use nix::sys::socket::{
    AddressFamily, MsgFlags, NetlinkAddr, SockFlag, SockProtocol, SockType, recv, sendto, socket,
};
use ratewire_units::{Bytes, Duration, Throughput};

use crate::{Error, Law, pins};

/// A connection that sends by one of our congestion controls.
#[derive(Clone, Debug)]
pub struct Connection {
    /// Its law.
    pub law: Law,
    /// Its end here.
    pub local: SocketAddr,
    /// Its other end.
    pub remote: SocketAddr,
    /// What it is paced at; `None` where it is not, as its window holds it or it has not sent yet.
    pub rate: Option<Throughput>,
    /// What may be outstanding.
    pub window: Bytes,
    /// What is.
    pub outstanding: Bytes,
    /// Smoothed RTT; `None` before the first is known.
    pub rtt: Option<Duration>,
}

/// The connections of this network namespace that send by one of our congestion controls.
///
/// # Errors
/// When the kernel does not tell.
pub fn status() -> Result<Vec<Connection>, Error> {
    pins::check_rights()?;
    [AddressFamily::Inet, AddressFamily::Inet6]
        .into_iter()
        .map(|family| list(family).map_err(|e| cannot_list(&e)))
        .collect::<Result<Vec<_>, _>>()
        .map(|families| families.concat())
}

fn cannot_list(why: &io::Error) -> Error {
    let remedy = "the kernel needs CONFIG_INET_TCP_DIAG: modprobe tcp_diag; `ss -ti` asks the same";
    Error::new("the kernel does not list its connections", remedy).because(why)
}

// Of `linux/netlink.h`, `linux/sock_diag.h`, `linux/inet_diag.h`.
const NLMSG_ERROR: u16 = 2;
const NLMSG_DONE: u16 = 3;
const NLM_F_REQUEST: u16 = 1;
const NLM_F_DUMP: u16 = 0x300;
const SOCK_DIAG_BY_FAMILY: u16 = 20;
const INET_DIAG_INFO: u16 = 2;
const INET_DIAG_CONG: u16 = 4;
const IPPROTO_TCP: u8 = 6;
/// Headers of a message, of one about a socket, and of an attribute.
const MESSAGE: usize = 16;
const SOCKET: usize = 72;
const ATTRIBUTE: usize = 4;
/// States of TCP, as bits: all in which there is another end, but TIME_WAIT, which sends nothing.
const CONNECTED: u32 = 1 << 1 | 1 << 4 | 1 << 5 | 1 << 8 | 1 << 9 | 1 << 11;
/// No message is longer than the kernel's largest page of answers.
const MOST_ANSWER: usize = 1 << 16;

fn list(family: AddressFamily) -> io::Result<Vec<Connection>> {
    let (kind, flags) = (SockType::Raw, SockFlag::SOCK_CLOEXEC);
    let kernel = socket(AddressFamily::Netlink, kind, flags, SockProtocol::NetlinkSockDiag)?;
    let all = NetlinkAddr::new(0, 0);
    sendto(kernel.as_raw_fd(), &question(family), &all, MsgFlags::empty())?;
    let mut answer = vec![0; MOST_ANSWER];
    let mut connections = Vec::new();
    loop {
        let len = recv(kernel.as_raw_fd(), &mut answer, MsgFlags::empty())?;
        for (kind, content) in pieces(&answer[..len], MESSAGE, read_message) {
            match kind {
                NLMSG_DONE => return Ok(connections),
                NLMSG_ERROR => {
                    let code = word(content, 0).unwrap_or_default().cast_signed();
                    return Err(io::Error::from_raw_os_error(-code));
                }
                _ => connections.extend(connection(content)),
            }
        }
    }
}

/// A message that asks for all connections of a family: `struct nlmsghdr`, `struct inet_diag_req_v2`.
fn question(family: AddressFamily) -> Vec<u8> {
    const LEN: usize = MESSAGE + 8 + 48;
    let attributes = (1 << (INET_DIAG_INFO - 1)) | (1 << (INET_DIAG_CONG - 1));
    let mut message = Vec::with_capacity(LEN);
    message.extend((LEN as u32).to_ne_bytes());
    message.extend(SOCK_DIAG_BY_FAMILY.to_ne_bytes());
    message.extend((NLM_F_REQUEST | NLM_F_DUMP).to_ne_bytes());
    message.extend([0; 8]);
    message.extend([family as u8, IPPROTO_TCP, attributes, 0]);
    message.extend(CONNECTED.to_ne_bytes());
    // Of any addresses.
    message.resize(LEN, 0);
    message
}

/// Kind and length of a message.
fn read_message(header: &[u8]) -> Option<(u16, usize)> {
    Some((half(header, 4)?, word(header, 0)? as usize))
}
/// Likewise of an attribute.
fn read_attribute(header: &[u8]) -> Option<(u16, usize)> {
    Some((half(header, 2)?, half(header, 0)?.into()))
}

/// What lies in a row, each after a header that tells its kind and its length, and from a multiple of four on.
fn pieces(
    mut rest: &[u8],
    header: usize,
    read: fn(&[u8]) -> Option<(u16, usize)>,
) -> impl Iterator<Item = (u16, &[u8])> {
    std::iter::from_fn(move || {
        let (kind, len) = read(rest)?;
        let content = rest.get(header..len)?;
        rest = rest.get(len.next_multiple_of(4)..).unwrap_or_default();
        Some((kind, content))
    })
}

/// What a message tells of a connection, where it is by one of our congestion controls.
fn connection(message: &[u8]) -> Option<Connection> {
    let attribute = |wanted| {
        let mut all = pieces(message.get(SOCKET..)?, ATTRIBUTE, read_attribute);
        all.find(|(kind, _)| *kind == wanted).map(|(_, content)| content)
    };
    let control = attribute(INET_DIAG_CONG)?.split(|byte| *byte == 0).next()?;
    let law = Law::ALL.into_iter().find(|law| law.control().as_bytes() == control)?;
    // Where it is in `struct tcp_info`.
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
    Some(Connection {
        law,
        local: end(4, 8)?,
        remote: end(6, 24)?,
        rate: (pace != u64::MAX).then(|| Throughput::new(pace as f64)),
        window: Bytes::new(count(80)? * segment),
        outstanding: Bytes::new(outstanding * segment),
        rtt: Some(count(68)?).filter(|us| *us > 0).map(Duration::from_micros),
    })
}

fn half(bytes: &[u8], at: usize) -> Option<u16> {
    Some(u16::from_ne_bytes(bytes.get(at..at + 2)?.try_into().ok()?))
}
fn word(bytes: &[u8], at: usize) -> Option<u32> {
    Some(u32::from_ne_bytes(bytes.get(at..at + 4)?.try_into().ok()?))
}
