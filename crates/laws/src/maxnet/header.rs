//! The header: 8 bytes.

use crate::feedback::{Returned, wire};
use crate::law::{HeaderError, MAX_HEADER};

/// Bytes it takes.
pub const HEADER_LEN: usize = 8;

/// The header of a MaxNet packet. The paper's field widths are not known; these are this
/// implementation's.
///
/// | byte | field | |
/// |---|---|---|
/// | 0 | format: 1 to the receiver, 2 on the way back | |
/// | 1 | 0 | |
/// | 4 | `price` | binary32, -infinity: no router yet |
///
/// All are big-endian.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct MaxnetHeader {
    /// Whether the header is on its way back, where routers leave it alone.
    pub returned: bool,
    /// The largest price on the path, `q`.
    pub price: f64,
}

impl MaxnetHeader {
    /// A header as the sender writes it.
    pub(super) fn new() -> MaxnetHeader {
        MaxnetHeader { returned: false, price: f64::NEG_INFINITY }
    }

    pub(super) fn emit(&self, bytes: &mut [u8; MAX_HEADER]) {
        bytes[..4].copy_from_slice(&[wire::format(self.returned), 0, 0, 0]);
        wire::put_real(bytes, 4, self.price);
    }

    pub(super) fn parse(bytes: &[u8]) -> Result<MaxnetHeader, HeaderError> {
        let (bytes, returned) = wire::parse::<HEADER_LEN>(bytes)?;
        if bytes[1..4] != [0; 3] {
            return Err(HeaderError::new("bytes 1 to 3 are not zero"));
        }
        Ok(MaxnetHeader { returned, price: wire::real(bytes, 4, "price", f64::NEG_INFINITY)? })
    }
}

impl Returned for MaxnetHeader {
    #[inline]
    fn returned(self) -> MaxnetHeader {
        MaxnetHeader { returned: true, ..self }
    }
}
