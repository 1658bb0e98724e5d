//! Pauses between neighbours on IP without Ethernet: messages of 24 bytes, one a datagram of UDP.
//!
//! Herbert and Primet name "IP to IP flow control" for such links (IV-A) and leave it open. A frame
//! counts in bit times of its link; a message counts in microseconds, because a tunnel has no bit
//! times of its own.
//!
//! | bytes | content |
//! |---|---|
//! | 0..4 | `RWNQ` |
//! | 4 | version, 1 |
//! | 5..8 | 0 |
//! | 8..12 | time in microseconds; 0 resumes |
//! | 12..16 | 0 |
//! | 16..24 | number |
//!
//! Numbers are in network order. A new time replaces the one before. Datagrams may be repeated or
//! change places, which frames on a cable do not: a receiver obeys only numbers above the last
//! ([`Numbers`]), so that an old pause does not undo a resumption.

use ratewire_units::{Duration, Time};

use crate::Error;

/// Length of a message.
pub const LENGTH: usize = 24;
/// Port of UDP to which messages go by default.
pub const PORT: u16 = 8808;
/// Time to live of messages, and least at arrival: a router would have taken one off, so messages
/// that arrive with it come from a neighbour (RFC 5082).
pub const TIME_TO_LIVE: u8 = 255;
/// Longest pause: a sender of pauses that has gone away holds its upstream no longer than this.
pub const LONGEST: Duration = Duration::from_secs(1);

/// Silence after which any number is obeyed: the clock by which a sender numbers may have been set
/// back while it was away, and no datagram of a neighbour is as old.
const FORGOTTEN: Duration = Duration::from_secs(10);

const MAGIC: [u8; 4] = *b"RWNQ";
const VERSION: u8 = 1;

/// A pause, or the end of one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Message {
    /// How long to pause, in whole microseconds, at most [`LONGEST`]; zero resumes.
    pub pause: Duration,
    /// Number of the message, above those of all earlier ones of its sender.
    pub number: u64,
}

impl Message {
    /// The message's bytes. A pause above [`LONGEST`] is written as that.
    pub fn encode(&self) -> [u8; LENGTH] {
        let mut bytes = [0; LENGTH];
        bytes[..4].copy_from_slice(&MAGIC);
        bytes[4] = VERSION;
        let us = self.pause.min(LONGEST).ps() / Duration::from_micros(1).ps();
        bytes[8..12].copy_from_slice(&(us as u32).to_be_bytes());
        bytes[16..].copy_from_slice(&self.number.to_be_bytes());
        bytes
    }

    /// Reads a message.
    ///
    /// # Errors
    /// If the bytes are none.
    pub fn decode(bytes: &[u8]) -> Result<Message, Error> {
        let bytes: &[u8; LENGTH] =
            bytes.try_into().map_err(|_| Error::Length(bytes.len(), LENGTH))?;
        let word = |at: usize| core::array::from_fn(|i| bytes[at + i]);
        if word(0) != MAGIC {
            return Err(Error::Magic(word(0)));
        }
        if bytes[4] != VERSION {
            return Err(Error::Version(bytes[4]));
        }
        if bytes[5..8] != [0; 3] || bytes[12..16] != [0; 4] {
            return Err(Error::Reserved);
        }
        let us = u32::from_be_bytes(word(8));
        let pause = Duration::from_micros(us.into());
        if pause > LONGEST {
            return Err(Error::Pause(us));
        }
        let number = u64::from_be_bytes(core::array::from_fn(|i| bytes[16 + i]));
        Ok(Message { pause, number })
    }
}

/// The numbers of messages that one sender has sent.
#[derive(Clone, Copy, Debug, Default)]
pub struct Numbers {
    /// The last number, and when it came.
    last: Option<(u64, Time)>,
}

impl Numbers {
    /// Whether a message is newer than all before it, and is to be obeyed.
    pub fn is_new(&mut self, now: Time, message: &Message) -> bool {
        let is_later =
            |(last, at): (u64, Time)| message.number > last || now.since(at) >= FORGOTTEN;
        let is_new = self.last.is_none_or(is_later);
        if is_new {
            self.last = Some((message.number, now));
        }
        is_new
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const PAUSE: Message = Message { pause: Duration::from_millis(100), number: 0x0102_0304_0506 };

    #[test]
    fn bytes_are_those_of_the_table() {
        let bytes = PAUSE.encode();
        assert_eq!(bytes[..8], *b"RWNQ\x01\0\0\0");
        assert_eq!(bytes[8..16], [0, 1, 0x86, 0xa0, 0, 0, 0, 0]);
        assert_eq!(bytes[16..], [0, 0, 1, 2, 3, 4, 5, 6]);
        assert_eq!(Message::decode(&bytes), Ok(PAUSE));
    }

    #[test]
    fn bytes_that_are_no_message_are_refused_with_the_reason() {
        let changed = |at: usize, value: u8| {
            let mut bytes = PAUSE.encode();
            bytes[at] = value;
            Message::decode(&bytes).unwrap_err()
        };
        assert_eq!(Message::decode(&PAUSE.encode()[..23]), Err(Error::Length(23, LENGTH)));
        assert_eq!(changed(0, b'X'), Error::Magic(*b"XWNQ"));
        assert_eq!(changed(4, 2), Error::Version(2));
        assert_eq!(changed(7, 1), Error::Reserved);
        assert_eq!(changed(12, 1), Error::Reserved);
        // 100 ms and 2^24 us.
        assert_eq!(changed(8, 1), Error::Pause(16_877_216));
        assert_eq!(changed(4, 2).to_string(), "version 2, and not 1");
    }

    #[test]
    fn a_longer_pause_is_written_as_the_longest() {
        let written = Message { pause: Duration::from_secs(5000), number: 1 }.encode();
        assert_eq!(Message::decode(&written).map(|message| message.pause), Ok(LONGEST));
    }

    #[test]
    fn old_and_repeated_numbers_are_not_obeyed() {
        let mut numbers = Numbers::default();
        let numbered = |number| Message { number, ..PAUSE };
        let mut at = |now, n| numbers.is_new(Time::from_secs(now), &numbered(n));
        let obeyed = [7, 7, 6, 8, 0, u64::MAX, 9].map(|n| at(0, n));
        assert_eq!(obeyed, [true, false, false, true, false, true, false]);
        assert_eq!([at(9, 9), at(10, 9), at(11, 8)], [false, true, false], "after a silence");
    }
}
