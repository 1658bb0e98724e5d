//! The congestion header of the kernel's laws: the TCP option of `bpf/laws/option.h`.

use alloc::boxed::Box;
use alloc::format;
use alloc::vec;
use alloc::vec::Vec;

use ratewire_kernel::Header;
use ratewire_units::Bytes;

use super::in_integers;
use crate::law::{Books, HeaderError, HeaderFormat, Invariants, MAX_HEADER, Promises};
use crate::reason::{Figure, Reason};

const KIND: u8 = 254;
const MINIMAL: usize = 8;

/// Identifies a law's option: its experiment's identifier, and its length with data.
#[derive(Clone, Copy, Debug)]
pub(super) struct Form {
    pub(super) exid: u16,
    pub(super) len: usize,
}

pub(super) const XCP: Form = Form { exid: 0x5278, len: 20 };
pub(super) const RCP: Form = Form { exid: 0x5272, len: 16 };

/// Writes an option of these words. Returns its length.
pub(super) fn put(exid: u16, words: &[u32], bytes: &mut [u8; MAX_HEADER]) -> usize {
    let len = 4 + 4 * words.len();
    bytes[0] = KIND;
    bytes[1] = len as u8;
    bytes[2..4].copy_from_slice(&exid.to_be_bytes());
    for (bytes, word) in bytes[4..].chunks_exact_mut(4).zip(words) {
        bytes.copy_from_slice(&word.to_be_bytes());
    }
    len
}

/// Reads the words of an option that has one of two lengths.
pub(super) fn get(
    exid: u16,
    bytes: &[u8],
    shorter: usize,
    longer: usize,
) -> Result<Vec<u32>, HeaderError> {
    let [kind, len, a, b, ..] = *bytes else {
        return Err(HeaderError::new(format!("{} bytes are no option", bytes.len())));
    };
    let (len, found) = (usize::from(len), u16::from_be_bytes([a, b]));
    if kind != KIND || found != exid {
        return Err(HeaderError::new(format!(
            "kind {kind} and identifier {found:#06x}; this law's are {KIND} and {exid:#06x}"
        )));
    }
    if len > bytes.len() || (len != shorter && len != longer) {
        return Err(HeaderError::new(format!(
            "a length of {len} in {} bytes; allowed are {shorter} and {longer}",
            bytes.len()
        )));
    }
    let words = bytes[4..len].chunks_exact(4);
    Ok(words.map(|w| u32::from_be_bytes([w[0], w[1], w[2], w[3]])).collect())
}

/// A header of the kernel's laws.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct KernelHeader {
    /// Fields that routers read and write, on packets with data.
    pub(crate) request: Option<Header>,
    /// The receiver's answer, as in the option.
    pub(crate) returned: u32,
    /// Network-layer bytes of the packet; not on the wire.
    pub(super) size: u32,
}

impl KernelHeader {
    /// The header of a packet with data, from its fields on the wire.
    pub(super) fn request(header: Header, size: Bytes) -> KernelHeader {
        let size = u32::try_from(size.get()).unwrap_or(u32::MAX);
        KernelHeader { request: Some(header), returned: 0, size }
    }
    /// The header of an acknowledgement.
    pub(super) fn answer(returned: u32) -> KernelHeader {
        KernelHeader { request: None, returned, size: 0 }
    }
}

impl HeaderFormat for Form {
    type Header = KernelHeader;

    fn length(&self) -> Bytes {
        Bytes::new(self.len as u64)
    }

    fn encode(&self, header: &KernelHeader, _: Bytes, bytes: &mut [u8; MAX_HEADER]) -> usize {
        let fields = header.request.map(Header::to_fields).unwrap_or_default();
        let count = if header.request.is_some() { (self.len - MINIMAL) / 4 } else { 0 };
        put(self.exid, &[&fields[..count], &[header.returned]].concat(), bytes)
    }

    fn decode(&self, bytes: &[u8], size: Bytes) -> Result<KernelHeader, HeaderError> {
        let words = get(self.exid, bytes, MINIMAL, self.len)?;
        Ok(match *words.as_slice() {
            [rate, rtt, change, returned] => {
                let header = Header::from_fields([rate, rtt, change]);
                KernelHeader { returned, ..KernelHeader::request(header, size) }
            }
            [rate, rtt, returned] => {
                let header = Header::from_fields([rate, rtt, 0]);
                KernelHeader { returned, ..KernelHeader::request(header, size) }
            }
            _ => KernelHeader::answer(words[0]),
        })
    }

    fn fields(&self, header: &KernelHeader) -> Vec<Figure> {
        let mut fields = Vec::new();
        if let Some(request) = &header.request {
            fields = vec![
                Figure::rate("rate", request.rate().get()),
                Figure::seconds("rtt", request.rtt().secs()),
                Figure::acceleration("change", request.change().get()),
            ];
        }
        fields.push(Figure::one("returned", f64::from(header.returned.cast_signed())));
        fields
    }
}

impl Invariants for Form {
    type Header = KernelHeader;

    fn promises(&self) -> Promises {
        in_integers()
    }
    fn books(&self) -> Option<Box<dyn Books<Header = KernelHeader>>> {
        Some(Box::new(KernelBooks))
    }
}

/// A packet leaves a port with no more than it arrived with, and nothing else of its header
/// changes.
struct KernelBooks;

impl Books for KernelBooks {
    type Header = KernelHeader;

    fn departed(
        &mut self,
        _: Bytes,
        (was, _): (&KernelHeader, &Reason),
        (is, _): (&KernelHeader, &Reason),
    ) {
        let (Some(came), Some(left)) = (was.request, is.request) else {
            return assert_eq!(is, was, "changed without a request");
        };
        let no_more = left.change() <= came.change() && left.rate() <= came.rate();
        assert!(no_more, "{left:?} of {came:?}");
        assert_eq!((left.rtt(), is.returned), (came.rtt(), was.returned));
    }
}
