//! Packets at a switch: where they come from and go to, and what is known of their frames.

use ratewire_laws::Header;
use ratewire_transport::{Ack, Segment, SegmentKind, Stamp};
use ratewire_units::Bytes;

/// A neighbour of the switch.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Side {
    /// The host that sees the ensemble as one.
    Peer,
    /// A member of the ensemble, by index.
    Member(usize),
}

/// What is known of the frame of a packet.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct FrameOf<'a> {
    /// First bytes of the frame; empty if they are not known.
    pub content: &'a [u8],
    /// Stream offsets of its begin and end; `None` if each frame has
    /// [`SwitchConfig::frame`](crate::SwitchConfig::frame) bytes.
    pub bounds: Option<(u64, u64)>,
    /// Network-layer bytes of the packet, or of this part of one: headers declare rates by it.
    /// `None` for payload with the headers of
    /// [`SwitchConfig::packet`](crate::SwitchConfig::packet).
    pub size: Option<Bytes>,
}

impl<'a> From<&'a [u8]> for FrameOf<'a> {
    fn from(content: &'a [u8]) -> FrameOf<'a> {
        FrameOf { content, bounds: None, size: None }
    }
}

/// A packet that leaves the switch.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Output {
    /// Data.
    Segment(Side, Segment),
    /// A range of the stream to that side that stays empty: it counts as arrived and carries no
    /// data.
    Skip(Side, Segment),
    /// An acknowledgement.
    Ack(Side, Ack),
}

impl Output {
    pub(crate) fn skip(to: Side, start: u64, end: u64) -> Output {
        let (kind, payload) = (SegmentKind::Data { again: true }, Bytes::new(end - start));
        Output::Skip(
            to,
            Segment { kind, offset: start, payload, stamp: Stamp::NONE, header: Header::None },
        )
    }
}
