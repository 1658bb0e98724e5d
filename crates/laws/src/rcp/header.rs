//! The congestion header of RCP and PIQI-RCP: the 20-byte shell of XCP (draft-falk-xcp-spec-03,
//! section 3.1) with formats of its own. Papers and ns-2 name the fields and give no layout: this
//! layout is Ratewire's.
//!
//! ```text
//!  0                   1                   2                   3
//!  0 1 2 3 4 5 6 7 8 9 0 1 2 3 4 5 6 7 8 9 0 1 2 3 4 5 6 7 8 9 0 1
//! +---------------+---------------+-------+-------+---------------+
//! |   Protocol    |  Length = 20  |Vers.=3|Format |   unused = 0  |
//! +---------------+---------------+-------+-------+---------------+
//! |             Rate, u32, 64 B/s: the wish, then R               |
//! +---------------------------------------------------------------+
//! |                   RTT, Q4.28 s, 0 = unknown                   |
//! +---------------------------------------------------------------+
//! |        Reverse_Rate, u32, 64 B/s: as it reached the sink      |
//! +---------------------------------------------------------------+
//! |                          unused = 0                           |
//! +---------------------------------------------------------------+
//! ```
//! Format is 3 (request) or 4 (reply, which routers do not change) for RCP, 5 or 6 for PIQI-RCP.
//!
//! A rate is rounded to the nearest 64 B/s (512 bit/s) and saturates at 2^32 - 1 of these units
//! (2.2 Tbit/s). Only a rate of 0 rounds to 0, because a slow sender must not be stopped. NaN and
//! negative rates become 0. The RTT is rounded as XCP's, see [`Q4_28`].

use alloc::format;
use alloc::vec;
use alloc::vec::Vec;

use ratewire_units::{Bytes, Duration, Throughput};
use ratewire_wire::xcp::{HEADER_LEN, Q4_28};

use crate::law::{HeaderError, HeaderFormat, MAX_HEADER};
use crate::reason::Figure;

/// Bytes per second in a unit of the rate fields.
const RATE_UNIT: f64 = 64.0;
/// The largest rate a header can carry, B/s: the wish of a sender that sets itself no limit.
pub(crate) const MAX_RATE: f64 = u32::MAX as f64 * RATE_UNIT;
const VERSION: u8 = 3;

/// The Format codes of one law.
#[derive(Clone, Copy, Debug)]
pub struct Formats {
    pub(crate) request: u8,
    pub(crate) reply: u8,
}

/// Purpose of a header.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RcpKind {
    /// Asks routers for a rate.
    Request,
    /// Only returns a rate, on an acknowledgement.
    Reply,
}

/// The header in the laws' units.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct RcpHeader {
    /// IANA number of the next header (6 for TCP).
    pub protocol: u8,
    /// Request or reply.
    pub kind: RcpKind,
    /// The sender's desired rate, lowered to the smallest rate that routers on the path allow.
    pub rate: Throughput,
    /// The sender's smoothed round-trip time; zero while unknown.
    pub rtt: Duration,
    /// The rate that reached the receiver.
    pub reverse_rate: Throughput,
}

impl RcpHeader {
    pub(crate) fn request(wish: f64, rtt: Duration) -> RcpHeader {
        RcpHeader {
            protocol: 6,
            kind: RcpKind::Request,
            rate: Throughput::new(wish),
            rtt,
            reverse_rate: Throughput::ZERO,
        }
    }
    pub(crate) fn reply(request: &RcpHeader) -> RcpHeader {
        RcpHeader {
            protocol: request.protocol,
            kind: RcpKind::Reply,
            rate: Throughput::ZERO,
            rtt: Duration::ZERO,
            reverse_rate: request.rate,
        }
    }
}

impl HeaderFormat for Formats {
    type Header = RcpHeader;

    fn length(&self) -> Bytes {
        Bytes::new(HEADER_LEN as u64)
    }

    fn encode(&self, header: &RcpHeader, _: Bytes, bytes: &mut [u8; MAX_HEADER]) -> usize {
        let format = match header.kind {
            RcpKind::Request => self.request,
            RcpKind::Reply => self.reply,
        };
        bytes[..4].copy_from_slice(&[header.protocol, HEADER_LEN as u8, VERSION << 4 | format, 0]);
        bytes[4..8].copy_from_slice(&rate_to_wire(header.rate).to_be_bytes());
        bytes[8..12].copy_from_slice(&Q4_28::from_duration(header.rtt).bits().to_be_bytes());
        bytes[12..16].copy_from_slice(&rate_to_wire(header.reverse_rate).to_be_bytes());
        bytes[16..HEADER_LEN].fill(0);
        HEADER_LEN
    }

    fn decode(&self, bytes: &[u8], _: Bytes) -> Result<RcpHeader, HeaderError> {
        let refuse = |field: &str, found: usize, allowed: &str| {
            Err(HeaderError::new(format!("{field}: found {found}, allowed {allowed}")))
        };
        let Some(header) = bytes.first_chunk::<HEADER_LEN>() else {
            return refuse("bytes", bytes.len(), "20 or more");
        };
        let word = |at: usize| {
            u32::from_be_bytes([header[at], header[at + 1], header[at + 2], header[at + 3]])
        };
        let [protocol, length, kind, unused, ..] = *header;
        if usize::from(length) != HEADER_LEN {
            return refuse("Length", length.into(), "20");
        }
        if kind >> 4 != VERSION {
            return refuse("Version", (kind >> 4).into(), "3");
        }
        let kind = match kind & 0x0f {
            f if f == self.request => RcpKind::Request,
            f if f == self.reply => RcpKind::Reply,
            f => {
                let Formats { request, reply } = self;
                return refuse("Format", f.into(), &format!("{request} or {reply}"));
            }
        };
        if unused != 0 || word(16) != 0 {
            return refuse(
                "unused bits",
                unused.max(header[16..].iter().fold(0, |a, b| a | b)).into(),
                "0",
            );
        }
        Ok(RcpHeader {
            protocol,
            kind,
            rate: rate_from_wire(word(4)),
            rtt: Q4_28::from_bits(word(8)).duration(),
            reverse_rate: rate_from_wire(word(12)),
        })
    }

    fn fields(&self, header: &RcpHeader) -> Vec<Figure> {
        vec![
            Figure::rate("rate", header.rate.get()),
            Figure::seconds("RTT", header.rtt.secs()),
            Figure::rate("reverse_rate", header.reverse_rate.get()),
        ]
    }
}

fn rate_to_wire(rate: Throughput) -> u32 {
    // `as` saturates and sends NaN to 0.
    let units = (rate.get() / RATE_UNIT + 0.5) as u32;
    units.max(u32::from(rate.get() > 0.0))
}

fn rate_from_wire(units: u32) -> Throughput {
    Throughput::new(f64::from(units) * RATE_UNIT)
}
