//! The XCP congestion header: 20 bytes right after the IP header, before the transport.
//!
//! Sources: draft-falk-xcp-spec-00 (October 2004), -01, -02 and -03 (July 2007), section 3. The
//! header lies before AH or ESP, in IPv4 only (-03, sections 3.1 to 3.3).
//!
//! # Layouts
//! Draft -03, [`Draft::V03`], the default:
//! ```text
//!  0                   1                   2                   3
//!  0 1 2 3 4 5 6 7 8 9 0 1 2 3 4 5 6 7 8 9 0 1 2 3 4 5 6 7 8 9 0 1
//! +---------------+---------------+-------+-------+---------------+
//! |   Protocol    |  Length = 20  |Vers.=3|Format |   unused = 0  |
//! +---------------+---------------+-------+-------+---------------+
//! |                    X, Q4.28 s, 0 = unknown                    |
//! +---------------------------------------------------------------+
//! |                   RTT, Q4.28 s, 0 = unknown                   |
//! +---------------------------------------------------------------+
//! |                  Reverse_Feedback, i32, B/s                   |
//! +---------------------------------------------------------------+
//! |                  Delta_Throughput, i32, B/s                   |
//! +---------------------------------------------------------------+
//! ```
//! Drafts -01 and -02, [`Draft::V02`] (the text of -01 gives Length as 40, a slip: five words are
//! 20 bytes):
//! ```text
//! +---------------+---------------+-------+-------+---------------+
//! |   Protocol    |  Length = 20  |Vers.=2|Format |   unused = 0  |
//! +---------------+---------------+-------+-------+---------------+
//! |                   RTT, Q4.28 s, 0 = unknown                   |
//! +---------------------------------------------------------------+
//! |                    X, Q4.28 s, 0 = unknown                    |
//! +---------------------------------------------------------------+
//! |                  Delta_Throughput, i32, B/s                   |
//! +---------------------------------------------------------------+
//! |                  Reverse_Feedback, i32, B/s                   |
//! +---------------------------------------------------------------+
//! ```
//! Draft -00, [`Draft::V00`] (the same slip in Length), which the Linux thesis implements:
//! ```text
//! +-------+-------+---------------+---------------+---------------+
//! |Vers.=1|Format |   Protocol    |  Length = 20  |   unused = 0  |
//! +-------+-------+---------------+---------------+---------------+
//! |                   RTT, u32, ms, 0 = unknown                   |
//! +---------------------------------------------------------------+
//! |               Throughput, u32, B/ms, 0 = unknown              |
//! +---------------------------------------------------------------+
//! |                  Delta_Throughput, i32, B/s                   |
//! +---------------------------------------------------------------+
//! |                  Reverse_Feedback, i32, B/s                   |
//! +---------------------------------------------------------------+
//! ```
//! Format is 1 (standard) or 2 (minimal, for pure acknowledgements) in each.
//!
//! # Telling the layouts apart
//! A valid -00 header has 20 in its third byte, where the others have 0x21, 0x22, 0x31 or 0x32, so
//! no header is valid in both. A header that is valid in neither is reported in the layout it
//! comes closest to: the one whose Length is right, else the one whose Version and Format are
//! known, else that of -02 and -03.
//!
//! # Rounding
//! The drafts leave it open except for -00. Here:
//!
//! | field | rule |
//! |---|---|
//! | X and RTT of -02, -03 | to the nearest 2^-28 s; see [`Q4_28`] |
//! | RTT and Throughput of -00 | up to whole ms and B/ms (-00, section 3) |
//! | Delta_Throughput, Reverse_Feedback | to the nearest B/s, halves away from zero |
//!
//! All saturate at the ends of their range; NaN becomes 0. Since 0 means unknown in X, RTT and
//! Throughput, no known value rounds to it: the least is one unit. Deltas have no such meaning at
//! 0, so less than half a byte per second vanishes; a sender that wants less must put a whole
//! byte per second on a fraction of its packets (-03, section 4.1).

mod error;
mod header;
mod layout;
mod q4_28;
mod rate;
mod v00;
mod v00_fields;
mod view;

pub use error::ParseError;
pub use header::XcpHeader;
pub use q4_28::Q4_28;
pub use v00::XcpHeaderV00;
pub use view::XcpView;

/// Length of the header in bytes, the same in every draft (-03, section 3.1).
pub const HEADER_LEN: usize = 20;

/// The IP protocol number Ratewire gives to XCP. The drafts leave it "TBD"; this is the one the
/// Linux XCP thesis used, and no other protocol is assigned to it.
pub const IP_PROTOCOL: u8 = 200;

/// Which header layout, named after the draft that defined it.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Default)]
pub enum Draft {
    /// draft-falk-xcp-spec-00: RTT in ms and Throughput in B/ms. Version 1 on the wire.
    V00,
    /// draft-falk-xcp-spec-01 and -02: RTT and X in Q4.28 s. Version 2 on the wire.
    V02,
    /// draft-falk-xcp-spec-03: as -02 in another order. Version 3 on the wire.
    #[default]
    V03,
}

impl Draft {
    /// Every layout, oldest first.
    pub const ALL: [Draft; 3] = [Draft::V00, Draft::V02, Draft::V03];

    /// The number in the Version field, 1 to 3.
    pub const fn version(self) -> u8 {
        match self {
            Draft::V00 => 1,
            Draft::V02 => 2,
            Draft::V03 => 3,
        }
    }
}

/// What the header is for: the Format field (-03, section 3.1).
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
pub enum Format {
    /// Carries a wish that routers answer. 1 on the wire.
    #[default]
    Standard,
    /// Only returns feedback, on pure acknowledgements: X, RTT and Delta_Throughput SHOULD be 0 and
    /// a router MUST NOT process it. 2 on the wire.
    Minimal,
}

impl Format {
    /// The number in the Format field, 1 or 2.
    pub const fn number(self) -> u8 {
        match self {
            Format::Standard => 1,
            Format::Minimal => 2,
        }
    }
}
