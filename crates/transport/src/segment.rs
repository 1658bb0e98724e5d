//! What the two ends send each other.

use ratewire_laws::Header;
use ratewire_units::Bytes;

/// A packet from sender to receiver.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Segment {
    /// What it is.
    pub kind: SegmentKind,
    /// Stream offset of its first byte.
    pub offset: u64,
    /// Payload.
    pub payload: Bytes,
    /// Its congestion header.
    pub header: Header,
}

/// What a packet from the sender is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SegmentKind {
    /// Opens the flow.
    Open,
    /// Carries data.
    Data {
        /// Whether this is not the first copy.
        again: bool,
    },
}

/// A packet from receiver to sender.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Ack {
    /// Whether this answers [`SegmentKind::Open`].
    pub opens: bool,
    /// All below this stream offset has arrived.
    pub cumulative: u64,
    /// Payload that may be sent beyond `cumulative`.
    pub window: Bytes,
    /// What arrived beyond `cumulative`.
    pub sack: SackBlocks,
    /// Whether the packet that caused this was marked.
    pub marked: bool,
    /// Its congestion header.
    pub header: Header,
}

/// Up to three ranges that arrived out of order, the newest first (RFC 2018), relative to the
/// cumulative acknowledgement.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub struct SackBlocks {
    blocks: [(u32, u32); 3],
    len: u8,
}

impl SackBlocks {
    /// How many ranges fit.
    pub const MAX: usize = 3;

    /// Adds a range; one too many, or too far beyond the cumulative acknowledgement (4 GB), is left
    /// out, as it would be for lack of room in a TCP option.
    pub fn push(&mut self, cumulative: u64, start: u64, end: u64) {
        let relative = |offset: u64| u32::try_from(offset.checked_sub(cumulative)?).ok();
        if let (Some(start), Some(end)) = (relative(start), relative(end))
            && usize::from(self.len) < Self::MAX
        {
            self.blocks[usize::from(self.len)] = (start, end);
            self.len += 1;
        }
    }
    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }
    /// The ranges as stream offsets.
    pub fn iter(&self, cumulative: u64) -> impl Iterator<Item = (u64, u64)> + '_ {
        let absolute = move |relative: u32| cumulative.saturating_add(u64::from(relative));
        self.blocks[..usize::from(self.len)].iter().map(move |(s, e)| (absolute(*s), absolute(*e)))
    }
}
