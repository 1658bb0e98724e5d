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
//! captured link is an interface of that name and of link type raw IP (101). A link by which frames come
//! that pause a captured link, and a captured link by which frames come, is an interface of link type
//! Ethernet (1), also of that name. A packet's or frame's time is when
//! it reached the far end of the link, counted from the start of the run (so that the run starts on 1
//! January 1970) in whole nanoseconds, rounded down. The simulator's picoseconds could be written,
//! but Wireshark keeps nothing finer than nanoseconds, and 64 bits of picoseconds overflow where
//! it converts them.
//!
//! A packet that crosses two captured links is in the file twice, and TCP analysis takes the second
//! for a retransmission: look at one link and its reverse (`frame.interface_name`) at a time.
//!
//! # The packets
//! IPv4, then the congestion header if the packet carries one, then TCP, which stands in for the transport
//! that was simulated:
//!
//! | field | holds |
//! |---|---|
//! | addresses | 10.x.y.z: the node's index, its low 24 bits |
//! | ECN | not capable 0, capable 2, marked 3 |
//! | IP protocol | 6, 200 before an XCP header, 253 before another law's |
//! | ports | 49152 + low 14 bits of the flow's number at the sender, 49152 + the next 14 at the receiver |
//! | sequence number | SYN 0, data the stream offset + 1, acknowledgements 1; low 32 bits |
//! | acknowledgement number | what has arrived in order + 1, low 32 bits; 1 in data packets |
//! | flags | SYN, SYN and ACK, ACK; ECE where an acknowledgement answers a marked packet |
//! | window | in units of 16 KiB (scale 14), rounded up, at most 65,535 of them; not scaled with SYN |
//! | options | with SYN: window scale and SACK permitted; SACK with up to three ranges |
//! | checksums | right, if the payload is zeros |
//!
//! Congestion headers are as their laws' documentation has them; Wireshark's dissectors read them. The
//! flows of scenarios without a
//! handshake have no SYN, and Wireshark then does not know the window's scale unless it is told
//! (preference `tcp.default_window_scaling`).
//!
//! # The frames
//! PAUSE (802.3 annex 31B) and priority-based flow control (802.1Qbb), whole: 64 bytes with the check
//! sequence, as [`ratewire_backpressure::frames`] has them, which Wireshark shows as MAC control
//! (`macc`). The destination is 01-80-C2-00-00-01, the source 02-00-00-x-y-z: the low 24 bits of the index
//! of the node that pauses. One sees what pauses a link beside its packets; the way back need not be
//! captured for that. The maps by which queues of single flows are paused (BFC) have no standard frame and
//! are not written.
//!
//! # Sizes
//! The original length and the IPv4 total length are the simulated network-layer size wherever these
//! headers and the payload can be made to fit:
//!
//! - Simulated headers that are longer are made up for by padding the TCP options. What that cannot
//!   take (less than a word, or beyond 40 bytes of options) follows the IPv4 packet: it is in the
//!   original length, not in the total length.
//! - Simulated headers that are shorter cannot be shown: then both lengths are those of the headers
//!   written and the payload, as otherwise each segment would seem to lack its last bytes. This
//!   happens to SYN and to acknowledgements with SACK, which are simulated without options, and
//!   wherever a scenario's header sizes leave no room for IPv4, XCP and TCP.
//! - The total length is 65,535 at most.
//!
//! # Payload
//! [`Capture::new`] keeps headers only. TCP analysis works all the same: behind a congestion header Wireshark's
//! dissector in Lua (`wireshark/ratewire.lua`), which cannot tell TCP that a packet was cut short, shows it one of the
//! right length. [`Capture::with_payload`] keeps whole packets, payload as zeros, in larger files.

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

/// Writes packets to a pcapng file; the [crate] says how.
///
/// Each packet is one call to the writer: give it a [`BufWriter`](std::io::BufWriter) for files.
#[derive(Debug)]
pub struct Capture<W> {
    blocks: Blocks<W>,
    /// The number in the file of each link.
    interfaces: BTreeMap<LinkId, u32>,
    /// Of each link by which frames come: the number of their interface, and where it starts.
    controls: BTreeMap<LinkId, (u32, NodeId)>,
    flows: BTreeMap<FlowId, Flow>,
    with_payload: bool,
    /// The packet being written.
    bytes: Vec<u8>,
}

impl<W: Write> Capture<W> {
    /// Starts a file of the headers of packets on these links, each with its name.
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

    /// Says that frames come by a link that starts at `from`, before the first of them.
    ///
    /// # Errors
    /// As [`Capture::new`].
    pub fn frames_come_by(&mut self, link: LinkId, name: &str, from: NodeId) -> io::Result<()> {
        let number = self.blocks.interface(name, LinkType::Ethernet, frames::LENGTH as u32)?;
        self.controls.insert(link, (number, from));
        Ok(())
    }

    /// Says between whom a flow goes, before its first packet, and under which law.
    pub fn flow(&mut self, id: FlowId, from: NodeId, to: NodeId, law: &AnyLaw) {
        self.flows.insert(id, Flow { id, from, to, law: law.clone() });
    }

    /// Writes a packet.
    ///
    /// # Errors
    /// When writing fails, or nothing is known of the packet's link or flow.
    pub fn packet(&mut self, seen: &PacketSeen) -> io::Result<()> {
        let captured = &seen.packet;
        self.write(captured.at, captured.link, seen.flow, &Packet::from(captured))
    }

    /// Writes a frame that pauses a link or lets it go on.
    ///
    /// # Errors
    /// When writing fails, or the capture was not told that frames come by its link.
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
    let message = format!("a {seen} of {of} {number}, of which the capture was not told");
    Error::new(ErrorKind::InvalidInput, message)
}
