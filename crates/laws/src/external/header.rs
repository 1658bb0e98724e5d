//! Congestion headers of laws outside this crate, as this crate stores them.

use alloc::format;
use alloc::vec::Vec;
use core::marker::PhantomData;

use ratewire_units::Bytes;

use crate::law::{HeaderError, HeaderFormat, MAX_HEADER, NO_BYTES, NoHeader};
use crate::reason::Figure;

/// Maximum size of the congestion header of a law outside this crate, in bytes.
pub const MAX_EXTERNAL_HEADER: usize = 32;

/// A congestion header that is stored as at most 32 bytes, without loss.
///
/// With [`PackedFormat`] a packet carries these bytes on the wire too. Big-endian numbers are the
/// most readable in a capture.
///
/// The answer to why a flow sends at its rate names the last port that changed the header. A law of
/// which that is not true says so in its source's reason, with [`Bound::Hop`](crate::Bound::Hop) or
/// [`Bound::Port`](crate::Bound::Port).
///
/// ```
/// use ratewire_laws::{Figure, HeaderError, PackedHeader};
///
/// /// The rate that the path allows, in bytes per second.
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
    /// Reads a header from `bytes`, which are [`PackedHeader::LEN`]. Bytes that
    /// [`PackedHeader::pack`] wrote must give an equal header.
    ///
    /// # Errors
    /// When the bytes are not a header: a NaN in place of a number, say.
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

/// Format of a header whose stored bytes are also its bytes on the wire.
#[derive(Clone, Copy, Debug)]
pub struct PackedFormat<H>(PhantomData<H>);

impl<H: PackedHeader + 'static> PackedFormat<H> {
    /// For [`Law::headers`](crate::Law::headers): `Some(PackedFormat::of())`.
    pub fn of() -> &'static dyn HeaderFormat<Header = H> {
        &PackedFormat(PhantomData)
    }
}

impl<H: PackedHeader> HeaderFormat for PackedFormat<H> {
    type Header = H;

    fn length(&self) -> Bytes {
        Bytes::new(H::LEN as u64)
    }
    fn encode(&self, header: &H, _: Bytes, bytes: &mut [u8; MAX_HEADER]) -> usize {
        header.pack(&mut bytes[..H::LEN]);
        H::LEN
    }
    fn decode(&self, bytes: &[u8], _: Bytes) -> Result<H, HeaderError> {
        match bytes.get(..H::LEN) {
            Some(bytes) => H::unpack(bytes),
            None => {
                let (found, wanted) = (bytes.len(), H::LEN);
                Err(HeaderError::new(format!("{found} bytes of a header of {wanted}")))
            }
        }
    }
    fn quantise(&self, header: H, _: Bytes) -> H {
        header
    }
    fn fields(&self, header: &H) -> Vec<Figure> {
        header.fields()
    }
}

/// Distinguishes laws outside this crate: each registration has a number of its own.
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
