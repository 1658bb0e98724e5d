//! The congestion header of a law outside this crate, as this crate keeps it.

use alloc::vec::Vec;

use crate::law::{HeaderError, NO_BYTES, NoHeader};
use crate::reason::Figure;

/// Bytes that the congestion header of a law outside this crate may take.
pub const MAX_EXTERNAL_HEADER: usize = 32;

/// A congestion header that can be kept as at most 32 bytes, and comes out of them as it went in.
///
/// These bytes are also what the packet carries on the wire, unless the law writes its header
/// otherwise ([`Law::headers`](crate::Law::headers)). Big-endian numbers read best in a capture.
///
/// ```
/// use ratewire_laws::{Figure, HeaderError, PackedHeader};
///
/// /// The rate that the way allows, in bytes per second.
/// #[derive(Clone, Copy)]
/// struct Offer(f64);
///
/// impl PackedHeader for Offer {
///     const LEN: usize = 8;
///
///     fn pack(&self, bytes: &mut [u8]) {
///         bytes.copy_from_slice(&self.0.to_be_bytes());
///     }
///     fn unpack(bytes: &[u8]) -> Result<Offer, HeaderError> {
///         let rate = f64::from_be_bytes(bytes.try_into().expect("eight bytes"));
///         if rate >= 0.0 { Ok(Offer(rate)) } else { Err(HeaderError::new("a rate below 0")) }
///     }
///     fn fields(&self) -> Vec<Figure> {
///         vec![Figure::rate("rate", self.0)]
///     }
/// }
/// ```
pub trait PackedHeader: Copy {
    /// Bytes that the header takes, at most [`MAX_EXTERNAL_HEADER`].
    const LEN: usize;

    /// Writes the header into `bytes`, which are [`PackedHeader::LEN`].
    fn pack(&self, bytes: &mut [u8]);
    /// Reads a header from `bytes`, which are [`PackedHeader::LEN`]. What [`PackedHeader::pack`]
    /// wrote must come out equal.
    ///
    /// # Errors
    /// When the bytes are not a header: a number that is none, say.
    fn unpack(bytes: &[u8]) -> Result<Self, HeaderError>;
    /// The header's fields, for people.
    fn fields(&self) -> Vec<Figure> {
        Vec::new()
    }
}

impl PackedHeader for NoHeader {
    const LEN: usize = 0;

    fn pack(&self, _: &mut [u8]) {
        match *self {}
    }
    fn unpack(_: &[u8]) -> Result<NoHeader, HeaderError> {
        Err(HeaderError::new(NO_BYTES))
    }
}

impl<const N: usize> PackedHeader for [u8; N] {
    const LEN: usize = N;

    fn pack(&self, bytes: &mut [u8]) {
        bytes.copy_from_slice(self);
    }
    fn unpack(bytes: &[u8]) -> Result<[u8; N], HeaderError> {
        bytes.try_into().map_err(|_| HeaderError::new("another number of bytes"))
    }
}

/// Tells laws outside this crate apart: each registration has a number of its own.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct LawId(pub(super) u32);

/// The header of a law outside this crate.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ExternalHeader {
    law: LawId,
    bytes: [u8; MAX_EXTERNAL_HEADER],
}

impl ExternalHeader {
    pub(super) fn pack<H: PackedHeader>(law: LawId, header: &H) -> ExternalHeader {
        let mut bytes = [0; MAX_EXTERNAL_HEADER];
        header.pack(&mut bytes[..H::LEN]);
        ExternalHeader { law, bytes }
    }

    /// The header, if it is one of that law.
    pub(super) fn unpack<H: PackedHeader>(&self, law: LawId) -> Option<H> {
        if self.law == law { H::unpack(&self.bytes[..H::LEN]).ok() } else { None }
    }
}
