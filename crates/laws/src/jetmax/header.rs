//! The header: 28 bytes.

use alloc::vec;
use alloc::vec::Vec;

use crate::feedback::{Returned, wire};
use crate::law::{HeaderError, MAX_HEADER};
use crate::reason::Figure;

/// Bytes it takes.
pub const HEADER_LEN: usize = 28;

/// The header of a JetMax packet. The paper's field widths are not known; these are this
/// implementation's.
///
/// | byte | field | unit |
/// |---|---|---|
/// | 0 | format: 1 to the receiver, 2 on the way back | |
/// | 1 | `marker` | |
/// | 2 | `number` | |
/// | 4 | `bottleneck` | |
/// | 8 | `proposed` | |
/// | 12 | `gap` | s, binary32 |
/// | 16 | `loss` | binary32, -infinity: no router yet |
/// | 20 | `fair` | B/s, binary32, infinity: no router yet |
/// | 24 | `proposed_fair` | B/s, binary32, infinity: no router yet |
///
/// All are big-endian.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct JetmaxHeader {
    /// Whether the header is on its way back, where routers leave it alone.
    pub returned: bool,
    /// The sender's round, from which the sender knows at which rate the packet was sent.
    pub marker: u8,
    /// Number of the interval after which `fair` was computed.
    pub number: u16,
    /// Router that binds the flow; 0 while there is none.
    pub bottleneck: u32,
    /// The router with the largest virtual loss among the others; 0 while there is none.
    pub proposed: u32,
    /// Time since the flow's last packet in seconds, at most the gap of the flow's rate.
    pub gap: f32,
    /// Virtual loss at `proposed`.
    pub loss: f32,
    /// Fair rate at `bottleneck`, in B/s.
    pub fair: f64,
    /// Fair rate at `proposed`, in B/s.
    pub proposed_fair: f64,
}

impl JetmaxHeader {
    /// A header as the sender writes it.
    pub(super) fn new(bottleneck: u32, marker: u8, gap: f64) -> JetmaxHeader {
        JetmaxHeader {
            returned: false,
            marker,
            number: 0,
            bottleneck,
            proposed: 0,
            gap: gap as f32,
            loss: f32::NEG_INFINITY,
            fair: f64::INFINITY,
            proposed_fair: f64::INFINITY,
        }
    }

    /// A header of a flow bound by that router.
    #[cfg(test)]
    pub(crate) fn bound(bottleneck: u32, gap: f64) -> JetmaxHeader {
        JetmaxHeader::new(bottleneck, 0, gap)
    }

    pub(super) fn emit(&self, bytes: &mut [u8; MAX_HEADER]) {
        bytes[0] = wire::format(self.returned);
        bytes[1] = self.marker;
        bytes[2..4].copy_from_slice(&self.number.to_be_bytes());
        wire::put_word(bytes, 4, self.bottleneck);
        wire::put_word(bytes, 8, self.proposed);
        wire::put_real(bytes, 12, f64::from(self.gap));
        wire::put_real(bytes, 16, f64::from(self.loss));
        wire::put_real(bytes, 20, self.fair);
        wire::put_real(bytes, 24, self.proposed_fair);
    }

    pub(super) fn parse(bytes: &[u8]) -> Result<JetmaxHeader, HeaderError> {
        let (bytes, returned) = wire::parse::<HEADER_LEN>(bytes)?;
        Ok(JetmaxHeader {
            returned,
            marker: bytes[1],
            number: u16::from_be_bytes([bytes[2], bytes[3]]),
            bottleneck: wire::word(bytes, 4),
            proposed: wire::word(bytes, 8),
            gap: wire::real(bytes, 12, "gap", 0.0)? as f32,
            loss: wire::real(bytes, 16, "loss", f64::NEG_INFINITY)? as f32,
            fair: wire::real(bytes, 20, "fair", 0.0)?,
            proposed_fair: wire::real(bytes, 24, "proposed_fair", 0.0)?,
        })
    }

    pub(super) fn fields(&self) -> Vec<Figure> {
        vec![
            Figure::one("bottleneck", self.bottleneck.into()),
            Figure::one("proposed", self.proposed.into()),
            Figure::seconds("gap", f64::from(self.gap)),
            Figure::one("loss", f64::from(self.loss)),
            Figure::rate("fair", self.fair),
            Figure::rate("proposed_fair", self.proposed_fair),
            Figure::one("marker", self.marker.into()),
            Figure::one("number", self.number.into()),
        ]
    }
}

impl Returned for JetmaxHeader {
    #[inline]
    fn returned(self) -> JetmaxHeader {
        JetmaxHeader { returned: true, ..self }
    }
}
