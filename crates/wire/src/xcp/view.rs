use ratewire_units::{Bytes, Duration, Throughput};

use super::rate::{delta_from_wire, delta_to_wire};
use super::v00_fields::{rtt_from_wire, throughput_from_wire, x_from_wire};
use super::{Draft, Format, HEADER_LEN, ParseError, Q4_28, XcpHeader, layout};

/// A checked XCP header where it lies: at the start of `T`'s bytes, which may go on after it.
///
/// Reads are field by field, without a copy. Over mutable bytes a router answers the wish in place.
///
/// ```
/// use ratewire_units::Throughput;
/// use ratewire_wire::xcp::{Format, XcpView};
///
/// let mut packet = *b"\x06\x14\x31\0\0\x04\xea\x4b\0\xa3\xd7\x0a\0\0\0\0\0\x01\xe8\x48";
/// let mut header = XcpView::new_checked(&mut packet[..])?;
/// if header.format() == Format::Standard {
///     let allotted = header.delta_throughput().min(Throughput::new(1000.0));
///     header.set_delta_throughput(allotted);
/// }
/// assert_eq!(packet[16..], 1000_i32.to_be_bytes());
/// # Ok::<(), ratewire_wire::xcp::ParseError>(())
/// ```
#[derive(Clone, Copy, Debug)]
pub struct XcpView<T> {
    bytes: T,
    draft: Draft,
    format: Format,
}

impl<T: AsRef<[u8]>> XcpView<T> {
    /// The header at the start of `bytes`.
    ///
    /// # Errors
    /// When the bytes are too few or any field of the first word is not as the drafts have it.
    pub fn new_checked(bytes: T) -> Result<XcpView<T>, ParseError> {
        let (draft, format) = layout::check(bytes.as_ref())?;
        Ok(XcpView { bytes, draft, format })
    }

    /// The layout.
    pub fn draft(&self) -> Draft {
        self.draft
    }
    /// Standard, or minimal: then a router must leave the header alone (-03, section 3.1).
    pub fn format(&self) -> Format {
        self.format
    }
    /// IANA number of the next header.
    pub fn protocol(&self) -> u8 {
        self.bytes.as_ref()[self.draft.layout().protocol]
    }
    /// The sender's round-trip time; zero = unknown.
    pub fn rtt(&self) -> Duration {
        let bits = self.word(self.draft.layout().rtt);
        match self.draft {
            Draft::V00 => rtt_from_wire(bits),
            Draft::V02 | Draft::V03 => Q4_28::from_bits(bits).duration(),
        }
    }
    /// The time between the sender's packets, zero = unknown; `None` in [`Draft::V00`], which has
    /// [`throughput`](Self::throughput) in its place.
    pub fn x(&self) -> Option<Duration> {
        let bits = self.word(self.draft.layout().pace);
        (self.draft != Draft::V00).then(|| Q4_28::from_bits(bits).duration())
    }
    /// The sender's throughput, zero = unknown; only in [`Draft::V00`].
    pub fn throughput(&self) -> Option<Throughput> {
        let bits = self.word(self.draft.layout().pace);
        (self.draft == Draft::V00).then(|| throughput_from_wire(bits))
    }
    /// The receiver's copy of the Delta_Throughput that arrived there.
    pub fn reverse_feedback(&self) -> Throughput {
        delta_from_wire(self.word(self.draft.layout().reverse_feedback).cast_signed())
    }
    /// The change of throughput: the wish, or what is left of it.
    pub fn delta_throughput(&self) -> Throughput {
        delta_from_wire(self.word(self.draft.layout().delta_throughput).cast_signed())
    }
    /// All fields of the header. `packet_size` is the size of the sender's packets, used for
    /// [`Draft::V00`] only; see [`XcpHeader`].
    pub fn header(&self, packet_size: Bytes) -> XcpHeader {
        let pace = self.word(self.draft.layout().pace);
        XcpHeader {
            protocol: self.protocol(),
            format: self.format,
            rtt: self.rtt(),
            x: self.x().unwrap_or_else(|| x_from_wire(pace, packet_size)),
            reverse_feedback: self.reverse_feedback(),
            delta_throughput: self.delta_throughput(),
        }
    }
    /// The bytes after the header: the transport's header and data.
    pub fn payload(&self) -> &[u8] {
        &self.bytes.as_ref()[HEADER_LEN..]
    }
    /// The bytes the view was made from.
    pub fn into_inner(self) -> T {
        self.bytes
    }

    fn word(&self, offset: usize) -> u32 {
        let mut word = [0; 4];
        word.copy_from_slice(&self.bytes.as_ref()[offset..][..4]);
        u32::from_be_bytes(word)
    }
}

impl XcpHeader {
    /// Reads the header at the start of `bytes`, which may go on after it. `packet_size` is the
    /// size of the sender's packets, used for [`Draft::V00`] only.
    ///
    /// # Errors
    /// When the bytes are too few, or a field of the first word has a value that no draft allows.
    pub fn parse(bytes: &[u8], packet_size: Bytes) -> Result<(Draft, XcpHeader), ParseError> {
        let view = XcpView::new_checked(bytes)?;
        Ok((view.draft(), view.header(packet_size)))
    }
}

impl<T: AsRef<[u8]> + AsMut<[u8]>> XcpView<T> {
    /// Rewrites Delta_Throughput and nothing else, to the nearest B/s (see the [module](super)).
    /// Whether a router may is the caller's to judge: not in the minimal format, and never to more
    /// than was there.
    pub fn set_delta_throughput(&mut self, delta: Throughput) {
        let offset = self.draft.layout().delta_throughput;
        let word = delta_to_wire(delta).to_be_bytes();
        self.bytes.as_mut()[offset..][..4].copy_from_slice(&word);
    }
}
