//! Two network namespaces with a pair of interfaces between them, and a port at one of these.

use std::fs::File;
use std::net::UdpSocket;
use std::os::fd::{AsRawFd, OwnedFd};
use std::process::Command;

use nix::ifaddrs::getifaddrs;
use nix::libc;
use nix::sched::{CloneFlags, setns};
use nix::sys::socket::sockopt::ReceiveTimeout;
use nix::sys::socket::{
    AddressFamily, LinkAddr, MsgFlags, SockFlag, SockProtocol, SockType, bind, recv, sendto,
    setsockopt, socket,
};
use nix::sys::time::TimeVal;
use nix::{setsockopt_impl, sockopt_impl};
use ratewire_live::KernelLaw;
use ratewire_live::router::{self, Capacity, Queue, Spec, Status};

use crate::frames::{CAPACITY, can_run};

/// Wait for a packet that should come.
const PATIENCE: TimeVal = TimeVal::new(10, 0);

/// Namespace `near` sends by its interface of that name to `far`. The interface computes no
/// checksums and cuts no packets: the kernel does that behind the port, and what arrives is
/// finished.
pub(crate) struct Pair {
    tag: String,
}

impl Pair {
    /// `None` if there can be no port, and the environment does not require it.
    pub(crate) fn build(test: &str) -> Option<Pair> {
        if !can_run() {
            return None;
        }
        let pair = Pair { tag: format!("rw{}{test}", std::process::id()) };
        let (near, far) = (pair.netns("near"), pair.netns("far"));
        sh(&format!(
            "ip netns add {near}; ip netns add {far}
             ip link add name near netns {near} address 02:00:00:00:00:02 type veth \
                 peer name far address 02:00:00:00:00:01 netns {far}
             ip -n {near} addr add 10.8.0.1/24 dev near
             ip -n {near} addr add fd00:8::1/64 dev near nodad
             ip -n {far} addr add 10.8.0.2/24 dev far
             ip -n {far} addr add fd00:8::2/64 dev far nodad
             ip -n {near} link set near up; ip -n {far} link set far up"
        ));
        pair.leave_to_card(false);
        Some(pair)
    }

    /// Whether the interface is to compute checksums and cut packets, which one of this kind leaves
    /// to the receiver.
    pub(crate) fn leave_to_card(&self, does: bool) {
        let (near, what) = (self.netns("near"), if does { "on" } else { "off" });
        sh(&format!(
            "nsenter --net=/var/run/netns/{near} \
                 ethtool -K near tx {what} sg {what} txvlan {what} >/dev/null 2>&1"
        ));
    }

    fn netns(&self, end: &str) -> String {
        format!("{}{end}", self.tag)
    }

    /// Does something in one of the namespaces.
    pub(crate) fn at<T: Send>(&self, end: &str, act: impl FnOnce() -> T + Send) -> T {
        let netns = File::open(format!("/var/run/netns/{}", self.netns(end))).expect("a namespace");
        // A separate thread, because it stays in the namespace.
        std::thread::scope(|scope| {
            let there = scope.spawn(|| {
                setns(netns, CloneFlags::CLONE_NEWNET).expect("root may");
                act()
            });
            there.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic))
        })
    }

    /// Attaches a law's port to interface `near`.
    pub(crate) fn attach(&self, law: KernelLaw) {
        let spec = Spec {
            iface: "near".to_string(),
            law: router::Law::of(law).expect("routers have a part in it"),
            capacity: Capacity::Given(CAPACITY),
            queue: Queue::Virtual,
            police: None,
        };
        self.at("near", || router::attach(&spec)).expect("it is attached");
    }
    pub(crate) fn detach(&self) {
        self.at("near", || router::detach(None)).expect("it is detached");
    }
    pub(crate) fn status(&self) -> Status {
        self.at("near", router::status).expect("ports").pop().expect("one")
    }

    /// A UDP socket at one of the ends.
    pub(crate) fn udp(&self, end: &str, address: &str) -> UdpSocket {
        let socket = self.at(end, || UdpSocket::bind((address, 0))).expect("a socket");
        setsockopt(&socket, ReceiveTimeout, &PATIENCE).expect("it may wait");
        socket
    }

    /// A socket for whole frames at the interface of an end.
    pub(crate) fn frames(&self, end: &str) -> Frames {
        self.at(end, || {
            let (family, flags) = (AddressFamily::Packet, SockFlag::empty());
            let all = SockProtocol::EthAll;
            let socket = socket(family, SockType::Raw, flags, all).expect("a raw socket");
            let mut addresses =
                getifaddrs().expect("interfaces").filter(|i| i.interface_name == end);
            let iface =
                addresses.find_map(|i| i.address?.as_link_addr().copied()).expect("its own");
            bind(socket.as_raw_fd(), &iface).expect("it is bound");
            setsockopt(&socket, ReceiveTimeout, &PATIENCE).expect("it may wait");
            Frames { socket, iface }
        })
    }
}

impl Drop for Pair {
    fn drop(&mut self) {
        let _ = self.at("near", || router::detach(None));
        for end in ["near", "far"] {
            let _ = Command::new("ip").args(["netns", "del", &self.netns(end)]).output();
        }
    }
}

fn sh(script: &str) {
    let done = Command::new("sh").args(["-ec", script]).output().expect("a shell");
    assert!(done.status.success(), "{script}\n{}", String::from_utf8_lossy(&done.stderr));
}

// Before each frame that is sent stands the header of virtio-net.
sockopt_impl!(OffloadHeader, SetOnly, libc::SOL_PACKET, libc::PACKET_VNET_HDR, bool);

/// Bytes of `struct virtio_net_hdr`.
const OFFLOAD: usize = 10;

/// Sends and receives whole frames.
pub(crate) struct Frames {
    socket: OwnedFd,
    iface: LinkAddr,
}

impl Frames {
    pub(crate) fn send(&self, frame: &[u8]) {
        let fd = self.socket.as_raw_fd();
        sendto(fd, frame, &self.iface, MsgFlags::empty()).expect("it leaves");
    }

    /// Sends a frame as one packet of many datagrams of this size, whose UDP header is at that
    /// place.
    pub(crate) fn send_many(&self, frame: &[u8], udp: usize, each: usize) {
        setsockopt(&self.socket, OffloadHeader, &true).expect("Linux can");
        let (needs_checksum, datagrams_of_udp) = (1, 5);
        let mut packet = vec![needs_checksum, datagrams_of_udp];
        for field in [udp + 8, each, udp, 6] {
            packet.extend((field as u16).to_ne_bytes());
        }
        assert_eq!(packet.len(), OFFLOAD);
        packet.extend(frame);
        self.send(&packet);
        setsockopt(&self.socket, OffloadHeader, &false).expect("Linux can");
    }

    /// The next frame that is wanted.
    pub(crate) fn receive(&self, is_wanted: impl Fn(&[u8]) -> bool) -> Vec<u8> {
        let mut frame = vec![0; 1 << 16];
        loop {
            let len = recv(self.socket.as_raw_fd(), &mut frame, MsgFlags::empty())
                .unwrap_or_else(|e| panic!("no frame that is wanted: {e}"));
            if is_wanted(&frame[..len]) {
                frame.truncate(len);
                return frame;
            }
        }
    }
}
