//! The congestion header of the kernel's laws: the TCP option of `bpf/laws/option.h`.

use alloc::format;
use alloc::vec;
use alloc::vec::Vec;

use ratewire_kernel::Header;
use ratewire_units::Bytes;

use crate::law::{HeaderError, MAX_HEADER};
use crate::reason::Figure;

const KIND: u8 = 254;
const MINIMAL: usize = 8;

/// What tells a law's option from others': its identifier, and its length with data.
#[derive(Clone, Copy, Debug)]
pub(super) struct Form {
    pub(super) exid: u16,
    pub(super) len: usize,
}

pub(super) const XCP: Form = Form { exid: 0x5278, len: 20 };
pub(super) const RCP: Form = Form { exid: 0x5272, len: 16 };

/// A header of the kernel's laws.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct KernelHeader {
    /// What routers read and write, on packets with data.
    pub(crate) request: Option<Header>,
    /// What the receiver returns, as it is in the option.
    pub(crate) returned: u32,
    /// Network-layer bytes of the packet; not on the wire.
    pub(super) size: u32,
}

impl KernelHeader {
    /// Of a packet with data, as its fields come off the wire.
    pub(super) fn request(header: Header, size: Bytes) -> KernelHeader {
        let size = u32::try_from(size.get()).unwrap_or(u32::MAX);
        KernelHeader { request: Some(header.quantised()), returned: 0, size }
    }
    /// Of an acknowledgement.
    pub(super) fn answer(returned: u32) -> KernelHeader {
        KernelHeader { request: None, returned, size: 0 }
    }

    pub(super) fn encode(&self, form: Form, bytes: &mut [u8; MAX_HEADER]) -> usize {
        let len = if self.request.is_some() { form.len } else { MINIMAL };
        bytes[0] = KIND;
        bytes[1] = len as u8;
        bytes[2..4].copy_from_slice(&form.exid.to_be_bytes());
        let fields = self.request.map(Header::to_fields).unwrap_or_default();
        let words = fields[..(len - MINIMAL) / 4].iter().chain([&self.returned]);
        for (at, word) in words.enumerate() {
            bytes[4 + at * 4..8 + at * 4].copy_from_slice(&word.to_be_bytes());
        }
        len
    }

    pub(super) fn decode(
        form: Form,
        bytes: &[u8],
        size: Bytes,
    ) -> Result<KernelHeader, HeaderError> {
        let [kind, len, a, b, ..] = *bytes else {
            return Err(HeaderError::new(format!("{} bytes are no option", bytes.len())));
        };
        let (len, exid) = (usize::from(len), u16::from_be_bytes([a, b]));
        if kind != KIND || exid != form.exid {
            return Err(HeaderError::new(format!(
                "kind {kind} and identifier {exid:#06x}; this law's are {KIND} and {:#06x}",
                form.exid
            )));
        }
        if len > bytes.len() || (len != MINIMAL && len != form.len) {
            return Err(HeaderError::new(format!(
                "a length of {len} in {} bytes; allowed are {MINIMAL} and {}",
                bytes.len(),
                form.len
            )));
        }
        let words = bytes[4..len].chunks_exact(4);
        let words: Vec<u32> = words.map(|w| u32::from_be_bytes([w[0], w[1], w[2], w[3]])).collect();
        let returned = words.last().copied().unwrap_or_default();
        if len == MINIMAL {
            return Ok(KernelHeader::answer(returned));
        }
        let header =
            Header::from_fields([words[0], words[1], if len == 20 { words[2] } else { 0 }]);
        Ok(KernelHeader { returned, ..KernelHeader::request(header, size) })
    }

    pub(super) fn fields(&self) -> Vec<Figure> {
        let mut fields = Vec::new();
        if let Some(header) = &self.request {
            fields = vec![
                Figure::rate("rate", header.rate().get()),
                Figure::seconds("rtt", header.rtt().secs()),
                Figure::rate("change a second", header.change().get()),
            ];
        }
        fields.push(Figure::one("returned", f64::from(self.returned.cast_signed())));
        fields
    }
}
