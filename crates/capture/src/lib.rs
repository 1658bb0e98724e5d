//! The packets a simulation saw, as a pcapng file that Wireshark opens.
//!
//! ```
//! use ratewire_capture::Capture;
//! use ratewire_net::spec::{LinkId, NodeId};
//! use ratewire_sim::record::FlowId;
//! use ratewire_laws::AnyLaw;
//!
//! let mut capture = Capture::new(Vec::new(), &[(LinkId(0), "bottleneck")])?;
//! // In `Recorder::flow_started`:
//! let law = AnyLaw::new("xcp", &[]).unwrap();
//! capture.flow(FlowId(0), NodeId(2), NodeId(3), &law);
//! // In `Recorder::packet`: capture.packet(seen)?;
//! let file = capture.finish()?;
//! assert_eq!(file[..4], [0x0a, 0x0d, 0x0d, 0x0a]);
//! # Ok::<(), std::io::Error>(())
//! ```
//!
//! # The file
//! One section, little-endian on every machine, so that the same run gives the same bytes. Each
//! captured link is an interface of that name and of link type raw IP (101). A link that carries
//! pause frames has an interface of link type Ethernet (1), also of its name, if the link itself or
//! the link that the frames pause is captured.
//!
//! The time of a packet or frame is its arrival at the far end of the link. Times are whole
//! nanoseconds since the start of the run, rounded down; the run starts on 1 January 1970.
//! Wireshark keeps nothing finer, and its conversion of picoseconds overflows.
//!
//! A packet that crosses two captured links is in the file twice, and TCP analysis takes the second
//! for a retransmission. Look at one link and its reverse at a time (`frame.interface_name`).
//!
//! # The packets
//! IPv4, then the congestion header if the packet carries one, then TCP in place of the simulated
//! transport:
//!
//! | field | holds |
//! |---|---|
//! | addresses | 10.x.y.z: the node's index, its low 24 bits |
//! | ECN | not capable 0, capable 2, marked 3 |
//! | time to live | 64, one less for each router that has forwarded the packet, and at least 1 |
//! | IP protocol | 6, 200 before an XCP header, 253 before another law's |
//! | ports | 49152 + bits 0 to 13 of the flow's number (sender), 49152 + bits 14 to 27 (receiver) |
//! | sequence number | SYN 0, data the stream offset + 1, acknowledgements 1; low 32 bits |
//! | acknowledgement number | what has arrived in order + 1, low 32 bits; 1 in data packets |
//! | flags | SYN, SYN and ACK, ACK; ECE where an acknowledgement answers a marked packet |
//! | window | in 16 KiB (scale 14), rounded up, at most 65,535; not scaled with SYN |
//! | options | with SYN: window scale and SACK permitted; SACK with up to three ranges |
//! | checksums | right, if the payload is zeros |
//!
//! Congestion headers are laid out as their laws' documentation says. In scenarios without a
//! handshake flows have no SYN, so Wireshark needs the preference `tcp.default_window_scaling` to
//! scale windows.
//!
//! # The frames
//! PAUSE (802.3 annex 31B) and priority-based flow control (802.1Qbb) frames are written whole: 64
//! bytes with the check sequence, encoded by [`ratewire_backpressure::frames`]. Wireshark shows
//! them as MAC control (`macc`). The destination is 01-80-C2-00-00-01, the source 02-00-00-x-y-z:
//! the low 24 bits of the index of the pausing node.
//!
//! Capturing a link also captures the frames that pause it; the reverse link need not be captured.
//! BFC's maps of paused flow queues have no standard frame and are not written.
//!
//! # Sizes
//! The original length and the IPv4 total length are the simulated network-layer size wherever
//! these headers and the payload can be made to fit it:
//!
//! - Longer simulated headers are made up for by padding the TCP options. The rest (less than a
//!   word, or beyond 40 bytes of options) follows the IPv4 packet: the original length counts it,
//!   the total length does not.
//! - Shorter simulated headers cannot be shown: both lengths are those of the written headers and
//!   the payload, or each segment would seem to lack its last bytes. This concerns SYN and
//!   acknowledgements with SACK, which are simulated without options, and scenarios whose header
//!   sizes leave no room for IPv4, XCP and TCP.
//! - The total length is 65,535 at most.
//!
//! # Payload
//! [`Capture::new`] keeps headers only, and TCP analysis works all the same. Behind a congestion
//! header the Lua dissector (`wireshark/ratewire.lua`) cannot pass to TCP that a packet was cut
//! short, so it hands TCP a packet of the full length. [`Capture::with_payload`] keeps whole
//! packets, payload as zeros, in larger files.

#![deny(clippy::print_stdout, clippy::print_stderr)]

mod headers;
mod pcapng;
#[cfg(test)]
mod tests;

use std::collections::BTreeMap;
use std::io::{self, Error, ErrorKind, Write};

use ratewire_backpressure::frames::{self, PauseFrame};
use ratewire_laws::AnyLaw;
use ratewire_net::CapturedFrame;
use ratewire_net::spec::{LinkId, NodeId};
use ratewire_sim::record::{FlowId, PacketSeen};
use ratewire_units::Time;

use headers::{Flow, Packet};
use pcapng::{Blocks, LinkType};

const APPLICATION: &str = "Ratewire";

/// Writes packets to a pcapng file; the [crate's documentation](crate) describes the file.
///
/// Each packet is one call to the writer: give it a [`BufWriter`](std::io::BufWriter) for files.
#[derive(Debug)]
pub struct Capture<W> {
    blocks: Blocks<W>,
    /// Number of each captured link's interface in the file.
    interfaces: BTreeMap<LinkId, u32>,
    /// For each link that carries pause frames: number of the frames' interface, and the node where
    /// the link starts.
    controls: BTreeMap<LinkId, (u32, NodeId)>,
    flows: BTreeMap<FlowId, Flow>,
    with_payload: bool,
    /// The packet being written.
    bytes: Vec<u8>,
}

impl<W: Write> Capture<W> {
    /// Starts a capture of packets' headers on these links, each with its name.
    ///
    /// # Errors
    /// When writing fails, or a name is longer than 65,535 bytes.
    pub fn new(w: W, links: &[(LinkId, &str)]) -> io::Result<Capture<W>> {
        Capture::start(w, links, false)
    }

    /// As [`Capture::new`], with the packets' payload as zeros.
    ///
    /// # Errors
    /// As [`Capture::new`].
    pub fn with_payload(w: W, links: &[(LinkId, &str)]) -> io::Result<Capture<W>> {
        Capture::start(w, links, true)
    }

    fn start(w: W, links: &[(LinkId, &str)], with_payload: bool) -> io::Result<Capture<W>> {
        let mut blocks = Blocks::new(w, APPLICATION)?;
        let mut interfaces = BTreeMap::new();
        let snap_length = if with_payload { headers::MAX_PACKET } else { headers::MAX_LEN };
        for (link, name) in links {
            let number = blocks.interface(name, LinkType::RawIp, snap_length as u32)?;
            interfaces.insert(*link, number);
        }
        Ok(Capture {
            blocks,
            interfaces,
            controls: BTreeMap::new(),
            flows: BTreeMap::new(),
            with_payload,
            bytes: Vec::new(),
        })
    }

    /// Announces that the link `link`, which starts at `from`, carries pause frames. Call this
    /// before the first frame.
    ///
    /// # Errors
    /// As [`Capture::new`].
    pub fn frames_come_by(&mut self, link: LinkId, name: &str, from: NodeId) -> io::Result<()> {
        let number = self.blocks.interface(name, LinkType::Ethernet, frames::LENGTH as u32)?;
        self.controls.insert(link, (number, from));
        Ok(())
    }

    /// Announces a flow: its sender, its receiver and its law. Call this before the flow's first
    /// packet.
    pub fn flow(&mut self, id: FlowId, from: NodeId, to: NodeId, law: &AnyLaw) {
        self.flows.insert(id, Flow { id, from, to, law: law.clone() });
    }

    /// Writes a packet.
    ///
    /// # Errors
    /// When writing fails, or the packet's link or flow was not announced.
    pub fn packet(&mut self, seen: &PacketSeen) -> io::Result<()> {
        let captured = &seen.packet;
        self.write(captured.at, captured.link, seen.flow, &Packet::from(captured))
    }

    /// Writes a frame that pauses or resumes a link.
    ///
    /// # Errors
    /// When writing fails, or [`frames_come_by`](Capture::frames_come_by) did not announce the
    /// frame's link.
    pub fn frame(&mut self, seen: &CapturedFrame) -> io::Result<()> {
        let Some((interface, from)) = self.controls.get(&seen.link) else {
            return Err(unknown("frame", "link", seen.link.0));
        };
        let source = headers::mac_address(*from);
        let frame = PauseFrame { destination: frames::MULTICAST, source, control: seen.control };
        self.blocks.packet(*interface, seen.at, frames::LENGTH as u32, &frame.encode())
    }

    fn write(&mut self, at: Time, link: LinkId, flow: FlowId, packet: &Packet) -> io::Result<()> {
        let Some(interface) = self.interfaces.get(&link) else {
            return Err(unknown("packet", "link", link.0));
        };
        let Some(flow) = self.flows.get(&flow) else {
            return Err(unknown("packet", "flow", flow.0));
        };
        let original = headers::write(packet, flow, self.with_payload, &mut self.bytes);
        self.blocks.packet(*interface, at, original, &self.bytes)
    }

    /// Ends the file and returns the writer, flushed.
    ///
    /// # Errors
    /// When flushing fails.
    pub fn finish(self) -> io::Result<W> {
        self.blocks.finish()
    }
}

fn unknown(seen: &str, of: &str, number: u32) -> Error {
    let message = format!("a {seen} of {of} {number}, which was not announced to the capture");
    Error::new(ErrorKind::InvalidInput, message)
}
