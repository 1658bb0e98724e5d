//! The header: 12 bytes.

use alloc::vec;
use alloc::vec::Vec;

use crate::feedback::{Returned, wire};
use crate::law::{HeaderError, MAX_HEADER};
use crate::reason::Figure;

/// Bytes it takes.
pub const HEADER_LEN: usize = 12;

/// The header of an EMKC packet. The paper's field widths are not known; these are this
/// implementation's.
///
/// | byte | field | |
/// |---|---|---|
/// | 0 | format: 1 to the receiver, 2 on the way back | |
/// | 1 | `marker` | |
/// | 2 | `number` | |
/// | 4 | `router` | |
/// | 8 | `loss` | binary32, -infinity: no router yet |
///
/// All are big-endian.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct EmkcHeader {
    /// Whether the header is on its way back, where routers leave it alone.
    pub returned: bool,
    /// The sender's round, from which the sender knows at which rate the packet was sent.
    pub marker: u8,
    /// Sequence number of the price: the interval in which it was measured.
    pub number: u16,
    /// Router that stated the price; 0 while there is none.
    pub router: u32,
    /// The price: the largest `(S - gamma C) / S` on the path.
    pub loss: f64,
}

impl EmkcHeader {
    /// A header as the sender writes it.
    pub(super) fn new(marker: u8) -> EmkcHeader {
        EmkcHeader { returned: false, marker, number: 0, router: 0, loss: f64::NEG_INFINITY }
    }

    pub(super) fn emit(&self, bytes: &mut [u8; MAX_HEADER]) {
        bytes[0] = wire::format(self.returned);
        bytes[1] = self.marker;
        bytes[2..4].copy_from_slice(&self.number.to_be_bytes());
        wire::put_word(bytes, 4, self.router);
        wire::put_real(bytes, 8, self.loss);
    }

    pub(super) fn parse(bytes: &[u8]) -> Result<EmkcHeader, HeaderError> {
        let (bytes, returned) = wire::parse::<HEADER_LEN>(bytes)?;
        let loss = wire::real(bytes, 8, "loss", f64::NEG_INFINITY)?;
        if loss > 1.0 {
            return Err(HeaderError::new("loss of more than everything"));
        }
        Ok(EmkcHeader {
            returned,
            marker: bytes[1],
            number: u16::from_be_bytes([bytes[2], bytes[3]]),
            router: wire::word(bytes, 4),
            loss,
        })
    }

    pub(super) fn fields(&self) -> Vec<Figure> {
        vec![
            Figure::one("router", self.router.into()),
            Figure::one("number", self.number.into()),
            Figure::one("loss", self.loss),
            Figure::one("marker", self.marker.into()),
        ]
    }
}

impl Returned for EmkcHeader {
    #[inline]
    fn returned(self) -> EmkcHeader {
        EmkcHeader { returned: true, ..self }
    }
}
