//! MAC control frames: PAUSE (802.3 annex 31B) and priority-based flow control (802.1Qbb, PFC).
//!
//! Both are 64 bytes with the check sequence:
//!
//! | bytes | PAUSE | PFC |
//! |---|---|---|
//! | 0..6 | destination, 01-80-C2-00-00-01 or the peer's own | the same |
//! | 6..12 | source | source |
//! | 12..14 | 0x8808 | 0x8808 |
//! | 14..16 | 0x0001 | 0x0101 |
//! | 16..18 | time | classes: bit n for class n, high byte 0 |
//! | 18..34 | 0 | eight times, one a class |
//! | ..60 | 0 | 0 |
//! | 60..64 | check sequence (CRC-32, low byte first) | the same |
//!
//! Times are in quanta of 512 bit times. A new time replaces the one before; 0 resumes. Bridges do
//! not forward these frames, and the frames themselves are never paused.

use ratewire_units::{Bytes, Duration, Rate};

use crate::Error;

/// Length with the check sequence: the shortest Ethernet frame.
pub const LENGTH: usize = 64;
/// Bytes of a frame on the wire, with preamble (8 bytes) and gap (12).
pub const ON_WIRE: Bytes = Bytes::new(LENGTH as u64 + 20);
/// Number of priority classes.
pub const CLASSES: usize = 8;
/// Address to which bridges listen and which they do not forward.
pub const MULTICAST: [u8; 6] = [0x01, 0x80, 0xc2, 0x00, 0x00, 0x01];

const ETHERTYPE: u16 = 0x8808;
const PAUSE: u16 = 0x0001;
const PRIORITY: u16 = 0x0101;
/// Length without the check sequence, as the kernel's sockets send and receive frames: cards add
/// the check sequence and take it away.
pub const BODY: usize = LENGTH - 4;
/// Bytes of a quantum: 512 bits.
const QUANTUM: u64 = 64;

/// A length of time in quanta of 512 bit times.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Quanta(pub u16);

impl Quanta {
    /// No time: resume.
    pub const ZERO: Quanta = Quanta(0);
    /// The longest time.
    pub const MAX: Quanta = Quanta(u16::MAX);

    /// Duration at this rate; for ever at rate 0.
    pub fn time(self, rate: Rate) -> Duration {
        let size = Bytes::new(u64::from(self.0) * QUANTUM);
        rate.serial_time().map_or(Duration::MAX, |per_byte| per_byte.of(size))
    }

    /// The shortest time of at least `time` at this rate, or the longest there is.
    pub fn lasting(time: Duration, rate: Rate) -> Quanta {
        let bits = u128::from(time.ps()) * u128::from(rate.bps());
        let quanta = bits.div_ceil(8 * u128::from(QUANTUM) * 1_000_000_000_000);
        Quanta(u16::try_from(quanta).unwrap_or(u16::MAX))
    }
}

/// Meaning of a frame.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Control {
    /// Pauses all traffic.
    Pause(Quanta),
    /// Pauses single classes; `None` for classes that the frame does not mention.
    Priority([Option<Quanta>; CLASSES]),
}

/// A MAC control frame that pauses or resumes its receiver.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PauseFrame {
    /// Destination: [`MULTICAST`], or the peer's address.
    pub destination: [u8; 6],
    /// Source address.
    pub source: [u8; 6],
    /// Meaning of the frame.
    pub control: Control,
}

impl PauseFrame {
    /// The frame's bytes.
    pub fn encode(&self) -> [u8; LENGTH] {
        let mut bytes = [0; LENGTH];
        let (body, check) = bytes.split_at_mut(BODY);
        body.copy_from_slice(&self.encode_body());
        check.copy_from_slice(&check_sequence(body).to_le_bytes());
        bytes
    }

    /// The frame's bytes before the check sequence.
    pub fn encode_body(&self) -> [u8; BODY] {
        let mut bytes = [0; BODY];
        bytes[..6].copy_from_slice(&self.destination);
        bytes[6..12].copy_from_slice(&self.source);
        put(&mut bytes, 12, ETHERTYPE);
        match self.control {
            Control::Pause(quanta) => {
                put(&mut bytes, 14, PAUSE);
                put(&mut bytes, 16, quanta.0);
            }
            Control::Priority(times) => {
                put(&mut bytes, 14, PRIORITY);
                for (class, time) in times.iter().enumerate() {
                    if let Some(quanta) = time {
                        bytes[17] |= 1 << class;
                        put(&mut bytes, 18 + 2 * class, quanta.0);
                    }
                }
            }
        }
        bytes
    }

    /// Reads a frame. Padding, and times of classes that are not enabled, are ignored.
    ///
    /// # Errors
    /// If the bytes are no such frame.
    pub fn decode(bytes: &[u8]) -> Result<PauseFrame, Error> {
        let bytes: &[u8; LENGTH] =
            bytes.try_into().map_err(|_| Error::Length(bytes.len(), LENGTH))?;
        let found = u32::from_le_bytes([bytes[60], bytes[61], bytes[62], bytes[63]]);
        let fits = check_sequence(&bytes[..BODY]);
        if found != fits {
            return Err(Error::Check(found, fits));
        }
        PauseFrame::decode_body(&bytes[..BODY])
    }

    /// Reads a frame without its check sequence, as a socket receives it from a card that has
    /// checked it.
    ///
    /// # Errors
    /// If the bytes are no such frame.
    pub fn decode_body(bytes: &[u8]) -> Result<PauseFrame, Error> {
        let bytes: &[u8; BODY] = bytes.try_into().map_err(|_| Error::Length(bytes.len(), BODY))?;
        let address = |at: usize| core::array::from_fn(|i| bytes[at + i]);
        let destination: [u8; 6] = address(0);
        let is_group = destination[0] & 1 == 1;
        if is_group && destination != MULTICAST {
            return Err(Error::Destination(destination));
        }
        match get(bytes, 12) {
            ETHERTYPE => {}
            other => return Err(Error::EtherType(other)),
        }
        let control = match get(bytes, 14) {
            PAUSE => Control::Pause(Quanta(get(bytes, 16))),
            PRIORITY => {
                let classes = get(bytes, 16);
                if classes > 0xff {
                    return Err(Error::Classes(classes));
                }
                let time = |class: usize| {
                    (classes >> class & 1 == 1).then(|| Quanta(get(bytes, 18 + 2 * class)))
                };
                Control::Priority(core::array::from_fn(time))
            }
            other => return Err(Error::Opcode(other)),
        };
        Ok(PauseFrame { destination, source: address(6), control })
    }
}

fn put(bytes: &mut [u8; BODY], at: usize, value: u16) {
    bytes[at..at + 2].copy_from_slice(&value.to_be_bytes());
}

fn get(bytes: &[u8; BODY], at: usize) -> u16 {
    u16::from_be_bytes([bytes[at], bytes[at + 1]])
}

/// The frame check sequence (802.3, 3.2.9): CRC-32.
fn check_sequence(bytes: &[u8]) -> u32 {
    const POLYNOMIAL: u32 = 0xedb8_8320;
    let mut register = u32::MAX;
    for byte in bytes {
        register ^= u32::from(*byte);
        for _ in 0..8 {
            let shifted = register >> 1;
            register = if register & 1 == 1 { shifted ^ POLYNOMIAL } else { shifted };
        }
    }
    !register
}

#[cfg(test)]
#[path = "frames_tests.rs"]
mod tests;
