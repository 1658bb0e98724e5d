//! Neighbours that are paused, and those whose pauses are obeyed: by Ethernet's frames, or by
//! messages of UDP.

use std::ffi::OsString;
use std::fmt;
use std::io::{self, IoSliceMut};
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr, UdpSocket};
use std::num::NonZeroU32;
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, OwnedFd};

use nix::ifaddrs::getifaddrs;
use nix::sys::socket::sockopt::{
    BindToDevice, Ipv4RecvTtl, Ipv4Ttl, Ipv6RecvHopLimit, Ipv6Ttl, Ipv6V6Only, ReceiveTimestampns,
};
use nix::sys::socket::{
    ControlMessageOwned, LinkAddr, MsgFlags, SockaddrStorage, bind, recvmsg, sendto, setsockopt,
};
use nix::sys::time::TimeSpec;
use nix::{cmsg_space, libc, setsockopt_impl, sockopt_impl};
use ratewire_backpressure::frames::{CLASSES, Control, MULTICAST, PauseFrame, Quanta};
use ratewire_backpressure::messages::{self, Message, Numbers};
use ratewire_units::{Duration, Rate, Time};
use rustix::net::{AddressFamily, Protocol, SocketFlags, SocketType, socket_with};

use crate::{Error, router};

sockopt_impl!(
    /// Frames leave at once: they do not wait behind the packets that they are about.
    NoQueue, SetOnly, libc::SOL_PACKET, libc::PACKET_QDISC_BYPASS, bool
);
sockopt_impl!(
    /// A card lets frames to this group pass.
    Group, SetOnly, libc::SOL_PACKET, libc::PACKET_ADD_MEMBERSHIP, libc::packet_mreq
);

/// A neighbour, as users name it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Neighbour {
    /// The one at the other end of an interface's cable, by 802.3x PAUSE frames.
    Cable(String),
    /// One without Ethernet between, by messages of UDP at this address.
    Address(SocketAddr),
}

impl fmt::Display for Neighbour {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Neighbour::Cable(iface) => iface.fmt(f),
            Neighbour::Address(address) => address.fmt(f),
        }
    }
}

/// Most frames of other interfaces that can wait when a socket is bound to its own.
const MOST_BEFORE: usize = 1000;
/// EtherType of MAC control.
const MAC_CONTROL: u16 = 0x8808;
/// Hardware type of Ethernet.
const ETHER: u16 = 1;

/// A socket for MAC control frames at an interface.
pub(super) struct Frames {
    socket: OwnedFd,
    iface: LinkAddr,
    own: [u8; 6],
}

impl Frames {
    fn open(iface: &str, listens: bool) -> Result<Frames, Error> {
        let refused = |e: io::Error| {
            let what = format!("the kernel gives no socket for frames at {iface}");
            Error::new(what, "it needs CONFIG_PACKET").because(e)
        };
        router::index(iface)?;
        let mut all = getifaddrs().map_err(|e| refused(e.into()))?;
        let found = all.find_map(|one| match one.interface_name == iface {
            true => one.address?.as_link_addr().copied(),
            false => None,
        });
        let (at, own) = found
            .filter(|at| at.hatype() == ETHER)
            .and_then(|at| Some((at, at.addr()?)))
            .ok_or_else(|| {
                let remedy =
                    "name the neighbour's address: messages of UDP pause where frames cannot";
                Error::new(format!("{iface} is no Ethernet"), remedy)
            })?;
        let protocol = listens.then(|| u32::from(MAC_CONTROL.to_be()));
        let protocol = protocol.and_then(NonZeroU32::new).map(Protocol::from_raw);
        let (family, kind) = (AddressFamily::PACKET, SocketType::RAW);
        let flags = SocketFlags::CLOEXEC | SocketFlags::NONBLOCK;
        let socket = socket_with(family, kind, flags, protocol).map_err(|e| refused(e.into()))?;
        bind(socket.as_raw_fd(), &at).map_err(|e| refused(e.into()))?;
        let set = match listens {
            true => setsockopt(&socket, ReceiveTimestampns, &true)
                .and_then(|()| setsockopt(&socket, Group, &group(at.ifindex()))),
            false => setsockopt(&socket, NoQueue, &true),
        };
        set.map_err(|e| refused(e.into()))?;
        // Frames of other interfaces came until the socket was bound.
        let frames = Frames { socket, iface: at, own };
        for _ in 0..MOST_BEFORE {
            if !matches!(frames.receive(), Ok(Some(_))) {
                break;
            }
        }
        Ok(frames)
    }

    fn send(&self, control: Control) -> io::Result<()> {
        let frame = PauseFrame { destination: MULTICAST, source: self.own, control };
        let (fd, flags) = (self.socket.as_raw_fd(), MsgFlags::empty());
        sendto(fd, &frame.encode_body(), &self.iface, flags)?;
        Ok(())
    }

    /// The next frame that has come, with the time since.
    fn receive(&self) -> io::Result<Option<(Option<PauseFrame>, Duration)>> {
        let mut bytes = [0; 128];
        let mut room = cmsg_space!(TimeSpec);
        let Some((len, controls, _)) = receive(self.socket.as_fd(), &mut bytes, &mut room)? else {
            return Ok(None);
        };
        let frame = PauseFrame::decode_body(&bytes[..len]).ok();
        // Bridges forward frames to this machine's own address, but never those to the group.
        let frame = frame.filter(|frame| frame.destination == MULTICAST);
        Ok(Some((frame, since(arrival(&controls)))))
    }
}

/// The group of pause frames, at an interface.
fn group(ifindex: usize) -> libc::packet_mreq {
    let mut address = [0; 8];
    address[..6].copy_from_slice(&MULTICAST);
    libc::packet_mreq {
        mr_ifindex: ifindex as libc::c_int,
        mr_type: libc::PACKET_MR_MULTICAST as libc::c_ushort,
        mr_alen: MULTICAST.len() as libc::c_ushort,
        mr_address: address,
    }
}

/// Time since the kernel took a frame in; none if it does not say when.
fn since(arrived: Option<TimeSpec>) -> Duration {
    let now = nix::time::clock_gettime(nix::time::ClockId::CLOCK_REALTIME).ok();
    let passed = arrived.zip(now).map(|(arrived, now)| now - arrived);
    let ns = passed.map(|passed| passed.tv_sec() * 1_000_000_000 + passed.tv_nsec());
    Duration::from_nanos(ns.and_then(|ns| u64::try_from(ns).ok()).unwrap_or(0))
}

type Received = (usize, Vec<ControlMessageOwned>, Option<SockaddrStorage>);

/// The next packet of a socket: its length, control messages and sender; `None` if there is none.
fn receive(
    socket: BorrowedFd<'_>,
    bytes: &mut [u8],
    room: &mut [u8],
) -> io::Result<Option<Received>> {
    let mut into = [IoSliceMut::new(bytes)];
    let (fd, flags) = (socket.as_raw_fd(), MsgFlags::MSG_DONTWAIT | MsgFlags::MSG_TRUNC);
    let received = match recvmsg::<SockaddrStorage>(fd, &mut into, Some(room), flags) {
        Ok(received) => received,
        // An interface that goes down may come back.
        Err(nix::Error::EAGAIN | nix::Error::ENETDOWN) => return Ok(None),
        Err(e) => return Err(e.into()),
    };
    let controls = received.cmsgs().map(Iterator::collect).unwrap_or_default();
    let (len, address) = (received.bytes, received.address);
    // A longer packet than there is room for is no frame and no message.
    let len = if len > bytes.len() { 0 } else { len };
    Ok(Some((len, controls, address)))
}

/// A neighbour that is paused when a queue here is long.
pub(super) struct Upstream {
    pub(super) name: String,
    way: Way,
    /// Longest pause that one frame or message can ask for.
    pub(super) longest: Duration,
    /// Rate of its link, if that is known.
    pub(super) rate: Option<Rate>,
}

enum Way {
    Frames(Frames),
    Messages { socket: UdpSocket, number: u64 },
}

/// Pause in a message.
const MESSAGE_PAUSE: Duration = Duration::from_millis(100);

impl Upstream {
    /// A neighbour; times of frames are in bit times of `rate`, or else of the interface's speed.
    pub(super) fn open(neighbour: &Neighbour, rate: Option<Rate>) -> Result<Upstream, Error> {
        let name = neighbour.to_string();
        match neighbour {
            Neighbour::Cable(iface) => {
                let rate = rate.unwrap_or_else(|| router::speed(iface));
                let way = Way::Frames(Frames::open(iface, false)?);
                let longest = Quanta::MAX.time(rate);
                Ok(Upstream { name, way, longest, rate: Some(rate) })
            }
            Neighbour::Address(address) => {
                let socket = connect(*address).map_err(|e| no_messages(*address, &e))?;
                // Above those of an earlier program: the neighbour obeys only higher numbers.
                let now = nix::time::clock_gettime(nix::time::ClockId::CLOCK_REALTIME);
                let now = now.map_or(0, |now| now.tv_sec() * 1_000_000_000 + now.tv_nsec());
                let way = Way::Messages { socket, number: now.unsigned_abs() };
                Ok(Upstream { name, way, longest: MESSAGE_PAUSE, rate })
            }
        }
    }

    /// Pauses the neighbour for as long as one frame or message can, or lets it go.
    pub(super) fn tell(&mut self, is_paused: bool) -> io::Result<()> {
        match &mut self.way {
            Way::Frames(frames) => {
                frames.send(Control::Pause(if is_paused { Quanta::MAX } else { Quanta::ZERO }))
            }
            Way::Messages { socket, number } => {
                *number += 1;
                let pause = if is_paused { MESSAGE_PAUSE } else { Duration::ZERO };
                socket.send(&Message { pause, number: *number }.encode()).map(drop)
            }
        }
    }
}

fn connect(to: SocketAddr) -> io::Result<UdpSocket> {
    let socket = UdpSocket::bind((any(to.ip()), 0))?;
    match to.ip() {
        IpAddr::V4(_) => setsockopt(&socket, Ipv4Ttl, &messages::TIME_TO_LIVE.into())?,
        IpAddr::V6(_) => setsockopt(&socket, Ipv6Ttl, &messages::TIME_TO_LIVE.into())?,
    }
    socket.connect(to)?;
    socket.set_nonblocking(true)?;
    Ok(socket)
}

/// The address of all interfaces, or of this machine alone if the neighbour is on it.
fn any(neighbour: IpAddr) -> IpAddr {
    match neighbour {
        _ if neighbour.is_loopback() => neighbour,
        IpAddr::V4(_) => Ipv4Addr::UNSPECIFIED.into(),
        IpAddr::V6(_) => Ipv6Addr::UNSPECIFIED.into(),
    }
}

fn no_messages(neighbour: SocketAddr, why: &io::Error) -> Error {
    let what = format!("cannot exchange messages with {neighbour}");
    Error::new(what, "give a neighbour's address, and a free port").because(why)
}

/// A pause that has arrived.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Arrived {
    /// How long to pause; zero resumes.
    pub(super) pause: Duration,
    /// Time since the kernel took it in; none if it does not say when.
    pub(super) since: Duration,
}

/// A neighbour whose pauses are obeyed at an egress.
pub(super) enum Downstream {
    /// The one at the cable, whose times are in bit times of this rate.
    Cable {
        frames: Frames,
        rate: Rate,
        /// Address from which the last frame came.
        by: Option<[u8; 6]>,
    },
    /// The one at this address.
    Address { socket: UdpSocket, from: SocketAddr, numbers: Numbers },
}

impl Downstream {
    /// A neighbour behind the egress `iface`; times of frames are in bit times of `rate`, or else
    /// of the interface's speed. Messages count only from the neighbour's own address, at this
    /// interface, and if no router has forwarded them.
    pub(super) fn open(
        neighbour: &Neighbour,
        iface: &str,
        rate: Option<Rate>,
    ) -> Result<Downstream, Error> {
        match neighbour {
            Neighbour::Cable(_) => {
                let rate = rate.unwrap_or_else(|| router::speed(iface));
                Ok(Downstream::Cable { frames: Frames::open(iface, true)?, rate, by: None })
            }
            Neighbour::Address(from) => {
                let socket = listen(*from, iface).map_err(|e| no_messages(*from, &e))?;
                Ok(Downstream::Address { socket, from: *from, numbers: Numbers::default() })
            }
        }
    }

    /// The neighbour's address; `None` if that is Ethernet's and no frame has come.
    pub(super) fn name(&self) -> Option<String> {
        match self {
            Downstream::Cable { by, .. } => {
                by.map(|by| by.map(|byte| format!("{byte:02x}")).join(":"))
            }
            Downstream::Address { from, .. } => Some(from.ip().to_string()),
        }
    }

    pub(super) fn socket(&self) -> BorrowedFd<'_> {
        match self {
            Downstream::Cable { frames, .. } => frames.socket.as_fd(),
            Downstream::Address { socket, .. } => socket.as_fd(),
        }
    }

    /// The next pause that has arrived; `Ok(Some(None))` for a packet that is none.
    pub(super) fn receive(&mut self, now: Time) -> io::Result<Option<Option<Arrived>>> {
        match self {
            Downstream::Cable { frames, rate, by } => {
                let Some((frame, since)) = frames.receive()? else { return Ok(None) };
                // The holder holds all packets of an egress, and not those of a class.
                let Some(PauseFrame { source, control: Control::Pause(quanta), .. }) = frame else {
                    return Ok(Some(None));
                };
                let pause = quanta.time(*rate);
                if !pause.is_zero() {
                    *by = Some(source);
                }
                Ok(Some(Some(Arrived { pause, since })))
            }
            Downstream::Address { socket, from, numbers } => {
                let mut bytes = [0; 2 * messages::LENGTH];
                let mut room = cmsg_space!(TimeSpec, i32);
                let Some((len, controls, sender)) = receive(socket.as_fd(), &mut bytes, &mut room)?
                else {
                    return Ok(None);
                };
                let is_theirs = sender.and_then(|sender| ip(&sender)) == Some(from.ip());
                if !is_theirs || hops_left(&controls) != Some(messages::TIME_TO_LIVE.into()) {
                    return Ok(Some(None));
                }
                let message = Message::decode(&bytes[..len]).ok();
                let message = message.filter(|message| numbers.is_new(now, message));
                let since = since(arrival(&controls));
                Ok(Some(message.map(|message| Arrived { pause: message.pause, since })))
            }
        }
    }

    /// Sends a packet without content through the queue of the egress, so that the kernel looks at
    /// the queue. It neither pauses nor resumes the neighbour.
    pub(super) fn kick(&self) -> io::Result<()> {
        match self {
            Downstream::Cable { frames, .. } => frames.send(Control::Priority([None; CLASSES])),
            Downstream::Address { socket, from, .. } => socket.send_to(&[], from).map(drop),
        }
    }
}

fn listen(from: SocketAddr, iface: &str) -> io::Result<UdpSocket> {
    let family = if from.is_ipv4() { AddressFamily::INET } else { AddressFamily::INET6 };
    let flags = SocketFlags::CLOEXEC | SocketFlags::NONBLOCK;
    let socket = socket_with(family, SocketType::DGRAM, flags, None)?;
    setsockopt(&socket, ReceiveTimestampns, &true)?;
    match from.ip() {
        IpAddr::V4(_) => setsockopt(&socket, Ipv4RecvTtl, &true)?,
        IpAddr::V6(_) => {
            setsockopt(&socket, Ipv6V6Only, &true)?;
            setsockopt(&socket, Ipv6RecvHopLimit, &true)?;
        }
    }
    // Before it has a port: no datagram of another interface waits in it, and others may have the
    // same port at theirs. Loopback is no way to the interface.
    if !from.ip().is_loopback() {
        setsockopt(&socket, BindToDevice, &OsString::from(iface))?;
    }
    let at = SockaddrStorage::from(SocketAddr::new(any(from.ip()), from.port()));
    bind(socket.as_raw_fd(), &at)?;
    Ok(socket.into())
}

fn ip(address: &SockaddrStorage) -> Option<IpAddr> {
    let v4 = address.as_sockaddr_in().map(|v4| v4.ip().into());
    v4.or_else(|| address.as_sockaddr_in6().map(|v6| v6.ip().into()))
}

/// Time to live, or hop limit, with which a datagram arrived.
fn hops_left(controls: &[ControlMessageOwned]) -> Option<i32> {
    controls.iter().find_map(|control| match control {
        ControlMessageOwned::Ipv4Ttl(left) | ControlMessageOwned::Ipv6HopLimit(left) => Some(*left),
        _ => None,
    })
}

fn arrival(controls: &[ControlMessageOwned]) -> Option<TimeSpec> {
    controls.iter().find_map(|control| match control {
        ControlMessageOwned::ScmTimestampns(at) => Some(*at),
        _ => None,
    })
}

#[cfg(test)]
#[path = "neighbour_tests.rs"]
mod tests;
