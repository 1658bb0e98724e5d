use super::HEADER_LEN;

/// Why bytes are not an XCP header. Reported for the first field that is wrong, in the order of
/// the variants.
///
/// The drafts do not say what to do with such a header; Ratewire takes it for a packet that is not
/// XCP and never guesses.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, thiserror::Error)]
pub enum ParseError {
    /// Fewer than [`HEADER_LEN`] bytes.
    #[error("XCP header: found {found} bytes, allowed {HEADER_LEN} or more")]
    TooShort {
        /// How many bytes there were.
        found: usize,
    },
    /// A Length other than [`HEADER_LEN`]. Also what a header gives that follows the letter of -00
    /// and -01, whose 40 contradicts their own picture of five words.
    #[error("XCP Length: found {found}, allowed {HEADER_LEN}")]
    Length {
        /// The Length field, in bytes.
        found: u8,
    },
    /// A Version no draft defines at that place.
    #[error(
        "XCP Version: found {found} at bit {bit}, allowed 1 at bit 0 (draft -00), 2 at bit 16 \
         (drafts -01 and -02) or 3 at bit 16 (draft -03)"
    )]
    Version {
        /// The Version field, 0 to 15.
        found: u8,
        /// Its first bit: 0 in the layout of -00, 16 in that of -02 and -03.
        bit: u8,
    },
    /// A Format other than standard and minimal.
    #[error("XCP Format: found {found}, allowed 1 (standard) or 2 (minimal)")]
    Format {
        /// The Format field, 0 to 15.
        found: u8,
    },
    /// Non-zero bits where the drafts say that they MUST be 0. Rejected rather than ignored: a
    /// sender that uses them speaks a version this one does not know.
    #[error("XCP unused bits: found {found:#04x}, allowed 0x00")]
    Unused {
        /// The eight unused bits.
        found: u8,
    },
}
