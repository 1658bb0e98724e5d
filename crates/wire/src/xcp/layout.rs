//! Where each draft keeps its fields, how a header is written, and the check of word 0.

use super::{Draft, Format, HEADER_LEN, ParseError};

const LENGTH: u8 = HEADER_LEN as u8;

/// Byte offsets of the fields of one draft.
pub(super) struct Layout {
    pub protocol: usize,
    pub rtt: usize,
    /// X, or Throughput in draft -00.
    pub pace: usize,
    pub reverse_feedback: usize,
    pub delta_throughput: usize,
}

/// A header's fields after the first word, as they are on the wire.
pub(super) struct Words {
    pub rtt: u32,
    /// X, or Throughput in draft -00.
    pub pace: u32,
    pub reverse_feedback: i32,
    pub delta_throughput: i32,
}

impl Draft {
    pub(super) const fn layout(self) -> Layout {
        match self {
            Draft::V00 => {
                Layout { protocol: 1, rtt: 4, pace: 8, delta_throughput: 12, reverse_feedback: 16 }
            }
            Draft::V02 => {
                Layout { protocol: 0, rtt: 4, pace: 8, delta_throughput: 12, reverse_feedback: 16 }
            }
            Draft::V03 => {
                Layout { protocol: 0, pace: 4, rtt: 8, reverse_feedback: 12, delta_throughput: 16 }
            }
        }
    }

    /// Writes a header into `buf`.
    pub(super) fn write(
        self,
        format: Format,
        protocol: u8,
        words: &Words,
        buf: &mut [u8; HEADER_LEN],
    ) {
        let at = self.layout();
        buf[..4].copy_from_slice(&self.word0(format, protocol));
        buf[at.rtt..][..4].copy_from_slice(&words.rtt.to_be_bytes());
        buf[at.pace..][..4].copy_from_slice(&words.pace.to_be_bytes());
        buf[at.reverse_feedback..][..4].copy_from_slice(&words.reverse_feedback.to_be_bytes());
        buf[at.delta_throughput..][..4].copy_from_slice(&words.delta_throughput.to_be_bytes());
    }

    /// The first four bytes of a header.
    const fn word0(self, format: Format, protocol: u8) -> [u8; 4] {
        let kind = self.version() << 4 | format.number();
        match self {
            Draft::V00 => [kind, protocol, LENGTH, 0],
            Draft::V02 | Draft::V03 => [protocol, LENGTH, kind, 0],
        }
    }
}

/// Checks that `bytes` start with a valid header, and returns its draft and format.
pub(super) fn check(bytes: &[u8]) -> Result<(Draft, Format), ParseError> {
    let Some(header) = bytes.first_chunk::<HEADER_LEN>() else {
        return Err(ParseError::TooShort { found: bytes.len() });
    };
    let [first, second, third, unused, ..] = *header;
    let old = looks_like_v00(first, second, third);
    let (kind, length, bit) = if old { (first, third, 0) } else { (third, second, 16) };
    if length != LENGTH {
        return Err(ParseError::Length { found: length });
    }
    let draft = match (kind >> 4, old) {
        (1, true) => Draft::V00,
        (2, false) => Draft::V02,
        (3, false) => Draft::V03,
        (found, _) => return Err(ParseError::Version { found, bit }),
    };
    let format = match kind & 0x0f {
        1 => Format::Standard,
        2 => Format::Minimal,
        found => return Err(ParseError::Format { found }),
    };
    if unused != 0 {
        return Err(ParseError::Unused { found: unused });
    }
    Ok((draft, format))
}

/// Whether the first three bytes come closer to draft -00 than to the later ones.
fn looks_like_v00(first: u8, second: u8, third: u8) -> bool {
    let (length_later, length_v00) = (second == LENGTH, third == LENGTH);
    if length_later != length_v00 {
        return length_v00;
    }
    if length_v00 {
        // Read as a later draft, the third byte would be a Version of 1.
        return first >> 4 == 1;
    }
    matches!(first, 0x11 | 0x12) && !matches!(third, 0x21 | 0x22 | 0x31 | 0x32)
}
