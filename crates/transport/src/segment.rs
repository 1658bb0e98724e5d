//! Packets between the two ends.

use ratewire_laws::Header;
use ratewire_units::Bytes;

/// A packet from sender to receiver.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Segment {
    /// Kind of the packet.
    pub kind: SegmentKind,
    /// Stream offset of its first byte.
    pub offset: u64,
    /// Payload.
    pub payload: Bytes,
    /// What it says beside its data.
    pub stamp: Stamp,
    /// Congestion header.
    pub header: Header,
}

/// What a packet says beside its data, as TCP's timestamp and its flag PSH do.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Stamp {
    /// Repair that was the last to begin when the packet left.
    pub epoch: Epoch,
    /// Whether nothing follows it at once. A sender says so to receivers whose
    /// [`AckRules`](crate::AckRules) heed it, and to no other.
    pub pushed: bool,
}

impl Stamp {
    /// Of a packet that says nothing.
    pub const NONE: Stamp = Stamp { epoch: Epoch::UNKNOWN, pushed: false };
}

/// Number of the last repair that a sender had begun when a packet left, modulo 255. The
/// acknowledgement returns it, as one with TCP's timestamps returns the time (RFC 7323): an older
/// number than that of the present repair says that the packet left before it (Eifel, RFC 3522).
/// Repairs that begin while copies of the one before are out share its number.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Epoch(u8);

impl Epoch {
    /// Of an acknowledgement that returns none.
    pub const UNKNOWN: Epoch = Epoch(0);
    /// Before any repair.
    pub(crate) const FIRST: Epoch = Epoch(1);

    /// Any, for fuzzing.
    pub(crate) fn any(number: u8) -> Epoch {
        Epoch(number)
    }

    pub(crate) fn next(self) -> Epoch {
        Epoch(if self.0 == u8::MAX { 1 } else { self.0 + 1 })
    }
}

/// Kind of a packet from the sender.
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
    /// Every byte below this stream offset has arrived.
    pub cumulative: u64,
    /// Payload that may be sent beyond `cumulative`.
    pub window: Bytes,
    /// Ranges that arrived beyond `cumulative`.
    pub sack: SackBlocks,
    /// Whether the packet that caused this was marked.
    pub marked: bool,
    /// Whether the data that caused this had arrived before (DSACK, RFC 2883).
    pub duplicate: bool,
    /// Of the packet that caused this.
    pub epoch: Epoch,
    /// Congestion header.
    pub header: Header,
}

impl Ack {
    /// An acknowledgement of what has arrived in order, and nothing else.
    pub fn plain(cumulative: u64, window: Bytes) -> Ack {
        Ack {
            opens: false,
            cumulative,
            window,
            sack: SackBlocks::default(),
            marked: false,
            duplicate: false,
            epoch: Epoch::UNKNOWN,
            header: Header::None,
        }
    }
}

/// Up to three ranges that arrived out of order, the newest first (RFC 2018), relative to the
/// cumulative acknowledgement.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub struct SackBlocks {
    blocks: [(u32, u32); 3],
    len: u8,
}

impl SackBlocks {
    /// Maximum number of ranges.
    pub const MAX: usize = 3;

    /// Adds a range. A range too many, or more than 4 GB beyond the cumulative acknowledgement, is
    /// left out, as a TCP option would for lack of room.
    pub fn push(&mut self, cumulative: u64, start: u64, end: u64) {
        let relative = |offset: u64| u32::try_from(offset.checked_sub(cumulative)?).ok();
        if let (Some(start), Some(end)) = (relative(start), relative(end))
            && !self.is_full()
        {
            self.blocks[usize::from(self.len)] = (start, end);
            self.len += 1;
        }
    }
    /// Whether there is no range.
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }
    /// Whether no range more has room.
    pub(crate) fn is_full(&self) -> bool {
        usize::from(self.len) == Self::MAX
    }
    /// The ranges as stream offsets.
    pub fn iter(&self, cumulative: u64) -> impl Iterator<Item = (u64, u64)> + '_ {
        let absolute = move |relative: u32| cumulative.saturating_add(u64::from(relative));
        self.blocks[..usize::from(self.len)].iter().map(move |(s, e)| (absolute(*s), absolute(*e)))
    }
}
