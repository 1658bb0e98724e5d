use ratewire_units::{Duration, Throughput};

use super::layout::Words;
use super::rate::delta_to_wire;
use super::v00_fields::{rtt_to_wire, throughput_to_wire};
use super::{Draft, Format, HEADER_LEN, XcpView};

/// The header of draft -00, which carries the sender's throughput where later drafts carry the time
/// between its packets.
///
/// [`XcpHeader`](super::XcpHeader) can be sent and read in this layout too, given the packet size.
/// This struct is for programs that use -00 alone, and is exact: `emit` writes the bytes that it
/// was read from.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct XcpHeaderV00 {
    /// IANA number of the next header (6 for TCP).
    pub protocol: u8,
    /// Standard or minimal.
    pub format: Format,
    /// The sender's round-trip time; zero = unknown. On the wire whole ms, rounded up, up to
    /// 2^32 - 1 ms (49.7 days).
    pub rtt: Duration,
    /// The sender's throughput; zero = unknown. On the wire whole B/ms, rounded up, from 0 up to
    /// 2^32 - 1 B/ms (34.36 Tbit/s), in steps of 8 kbit/s.
    pub throughput: Throughput,
    /// The receiver's copy of the Delta_Throughput that arrived there; whole B/s on the wire.
    pub reverse_feedback: Throughput,
    /// The change of throughput wished for, then allotted; whole B/s on the wire.
    pub delta_throughput: Throughput,
}

impl XcpHeaderV00 {
    /// The header under `view`; `None` if it is of another draft.
    pub fn from_view<T: AsRef<[u8]>>(view: &XcpView<T>) -> Option<XcpHeaderV00> {
        Some(XcpHeaderV00 {
            protocol: view.protocol(),
            format: view.format(),
            rtt: view.rtt(),
            throughput: view.throughput()?,
            reverse_feedback: view.reverse_feedback(),
            delta_throughput: view.delta_throughput(),
        })
    }

    /// Writes the header into `buf`, rounding and saturating as its fields say.
    pub fn emit(&self, buf: &mut [u8; HEADER_LEN]) {
        let words = Words {
            rtt: rtt_to_wire(self.rtt),
            pace: throughput_to_wire(self.throughput),
            reverse_feedback: delta_to_wire(self.reverse_feedback),
            delta_throughput: delta_to_wire(self.delta_throughput),
        };
        Draft::V00.write(self.format, self.protocol, &words, buf);
    }
}
