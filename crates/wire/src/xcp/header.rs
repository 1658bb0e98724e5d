//! The XCP header as values in the units of the laws.

use ratewire_units::{Bytes, Duration, Throughput};

use super::layout::Words;
use super::rate::{delta_from_wire, delta_to_wire};
use super::v00_fields::{rtt_from_wire, rtt_to_wire, x_from_wire, x_to_wire};
use super::{Draft, Format, HEADER_LEN, Q4_28};

/// An XCP header in the units the laws compute with, whatever the layout on the wire.
///
/// The values may be finer or larger than a header can carry: [`XcpHeader::emit`] rounds and
/// saturates as the [module](super) says, and [`XcpHeader::quantise`] shows what remains.
///
/// # Packet size
/// Draft -00 carries a throughput where this struct has [`x`](Self::x), the time between packets.
/// One follows from the other and the size of the sender's packets, so the functions here take that
/// size; only -00 uses it. A size of zero stands for an unknown size: X and Throughput are then
/// unknown too.
///
/// Turned into X and back, a throughput of T B/ms is the same while T^2 is below 10^9 times the
/// packet size in bytes (9.8 Gbit/s for 1500 bytes); above, X would need a finer grain than
/// picoseconds. [`XcpHeaderV00`](super::XcpHeaderV00) is exact everywhere.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct XcpHeader {
    /// IANA number of the next header (6 for TCP).
    pub protocol: u8,
    /// Standard or minimal.
    pub format: Format,
    /// The sender's smoothed round-trip time; zero = unknown, or below the grain of its timer.
    /// Below 16 s on the wire of -02 and -03.
    pub rtt: Duration,
    /// The time between the sender's packets; zero = unknown. Below 16 s on the wire.
    pub x: Duration,
    /// The receiver's copy of the Delta_Throughput that arrived there. Within 2^31 B/s
    /// (17.18 Gbit/s) either way on the wire.
    pub reverse_feedback: Throughput,
    /// The change of throughput: the sender's wish, then what the routers on the path left of it.
    /// Same range.
    pub delta_throughput: Throughput,
}

impl XcpHeader {
    /// A header in the minimal format, for a pure acknowledgement: feedback, and everything else
    /// zero as -03, section 3.1, asks.
    pub const fn minimal(protocol: u8, reverse_feedback: Throughput) -> XcpHeader {
        XcpHeader {
            protocol,
            format: Format::Minimal,
            rtt: Duration::ZERO,
            x: Duration::ZERO,
            reverse_feedback,
            delta_throughput: Throughput::ZERO,
        }
    }

    /// Writes the header into `buf` in the layout of `draft`. `packet_size` is the size of the
    /// sender's packets, used for [`Draft::V00`] only. Fields are written as they are in the
    /// minimal format too.
    pub fn emit(&self, draft: Draft, packet_size: Bytes, buf: &mut [u8; HEADER_LEN]) {
        draft.write(self.format, self.protocol, &self.words(draft, packet_size), buf);
    }

    /// The header as it arrives at the other end: what [`XcpHeader::parse`] makes of the bytes that
    /// [`XcpHeader::emit`] writes. A simulated packet thus carries no more precision than a real
    /// one.
    pub fn quantise(&self, draft: Draft, packet_size: Bytes) -> XcpHeader {
        let words = self.words(draft, packet_size);
        let [rtt, x] = match draft {
            Draft::V00 => [rtt_from_wire(words.rtt), x_from_wire(words.pace, packet_size)],
            Draft::V02 | Draft::V03 => {
                [words.rtt, words.pace].map(|bits| Q4_28::from_bits(bits).duration())
            }
        };
        XcpHeader {
            rtt,
            x,
            reverse_feedback: delta_from_wire(words.reverse_feedback),
            delta_throughput: delta_from_wire(words.delta_throughput),
            ..*self
        }
    }

    fn words(&self, draft: Draft, packet_size: Bytes) -> Words {
        let [rtt, pace] = match draft {
            Draft::V00 => [rtt_to_wire(self.rtt), x_to_wire(self.x, packet_size)],
            Draft::V02 | Draft::V03 => {
                [self.rtt, self.x].map(|time| Q4_28::from_duration(time).bits())
            }
        };
        Words {
            rtt,
            pace,
            reverse_feedback: delta_to_wire(self.reverse_feedback),
            delta_throughput: delta_to_wire(self.delta_throughput),
        }
    }
}
