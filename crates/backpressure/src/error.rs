//! Why bytes are not a pause.

/// Why bytes are not a frame or a message that pauses or resumes. Reading them changes nothing.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Error {
    /// The first length is that found, the second the right one, in bytes.
    #[error("{0} bytes, and not {1}")]
    Length(usize, usize),
    /// A frame's check sequence: that found, and the right one.
    #[error("check sequence {0:#010x}, and not {1:#010x}")]
    Check(u32, u32),
    /// A frame's destination is a group other than that of pauses.
    #[error("sent to the group {0:02x?}, and not to 01:80:c2:00:00:01")]
    Destination([u8; 6]),
    /// A frame's EtherType is not MAC control.
    #[error("EtherType {0:#06x}, and not 0x8808 (MAC control)")]
    EtherType(u16),
    /// A frame's opcode is another MAC control operation.
    #[error("opcode {0:#06x}, and not 0x0001 or 0x0101")]
    Opcode(u16),
    /// A frame enables classes beyond the eighth.
    #[error("class vector {0:#06x}: there are eight classes")]
    Classes(u16),
    /// A message's first bytes are others.
    #[error("it begins with {0:02x?}, and not with RWNQ")]
    Magic([u8; 4]),
    /// A message's version is another.
    #[error("version {0}, and not 1")]
    Version(u8),
    /// A message's bytes that must be 0 are not.
    #[error("bytes 5 to 7 and 12 to 15 are not all 0")]
    Reserved,
    /// A message's pause, in microseconds, exceeds a second.
    #[error("a pause of {0} us, and the longest is a second")]
    Pause(u32),
}
