//! The sealed parts of a data packet.
//!
//! | code | part | fields |
//! |---|---|---|
//! | 0 | padding | none; one byte |
//! | 1 | ping: asks for a pong | token |
//! | 2 | pong | token |
//! | 3 | open: begins a direction | none |
//! | 4, 5 | data; 5: again | offset, source, frame's length, offset in it, length, bytes |
//! | 6 | empty range: counts as arrived and carries nothing | offset, length |
//! | 7, 8 | acknowledgement; 8: of an open | cumulative, window, flags, SACK, congestion header |
//! | 9 | close: the stream ends here | offset |
//! | 10 | closed: the answer | none |
//! | 11 | reset | code, text |
//! | 12 | challenge of a new path | eight bytes |
//! | 13 | the answer | eight bytes |
//!
//! Fields are [numbers of variable length](super::varint) if nothing else is said.

use ratewire_transport::SackBlocks;

use super::{WireError, take, take_array, varint};

/// Bytes that the first part of a frame has at least, or the whole frame: a switch may choose the
/// frame's way by 1,000 bytes behind its number, before the others come.
pub const LEAST_FIRST: u64 = 1008;

/// Data of a frame.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DataPart<'a> {
    /// Stream offset of the first byte.
    pub offset: u64,
    /// Who sent the frame: 0 is the host at the other end, others are told apart by a switch.
    pub source: u64,
    /// Length of the whole frame.
    pub frame: u64,
    /// Offset of the first byte in the frame.
    pub within: u64,
    /// The bytes.
    pub bytes: &'a [u8],
    /// Whether they are sent again.
    pub again: bool,
}

impl DataPart<'_> {
    /// Bytes that the part has beside `length` bytes of data.
    pub fn fields_len(&self, length: u64) -> u64 {
        let fields = [self.offset, self.source, self.frame, self.within, length];
        1 + fields.iter().map(|field| varint::len(*field) as u64).sum::<u64>()
    }

    /// Appends the fields; `length` bytes of data are to follow.
    pub fn put_fields(&self, length: u64, out: &mut Vec<u8>) {
        out.push(4 + u8::from(self.again));
        for field in [self.offset, self.source, self.frame, self.within, length] {
            varint::put(out, field);
        }
    }
}

/// An acknowledgement.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct AckPart<'a> {
    /// Whether it answers an open.
    pub opens: bool,
    /// Every byte below this stream offset has arrived.
    pub cumulative: u64,
    /// Bytes that may be sent beyond.
    pub window: u64,
    /// Whether a packet that it covers was marked.
    pub marked: bool,
    /// Whether data that it covers had arrived before.
    pub duplicate: bool,
    /// Ranges that arrived beyond `cumulative`.
    pub sack: SackBlocks,
    /// The returned congestion header as the law encodes it; empty for none.
    pub congestion: &'a [u8],
}

/// A part of a packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Part<'a> {
    /// Nothing.
    Padding,
    /// Asks for a [`Part::Pong`] with the same token.
    Ping(u64),
    /// The answer.
    Pong(u64),
    /// Begins a direction. It is answered by an acknowledgement.
    Open,
    /// Data of a frame; without bytes it asks for the receiver's window.
    Data(DataPart<'a>),
    /// A range of the stream that stays empty.
    Empty {
        /// Offset of the range in the stream.
        offset: u64,
        /// Length of the range.
        length: u64,
    },
    /// An acknowledgement.
    Ack(AckPart<'a>),
    /// The stream ends at this offset.
    Close(u64),
    /// All up to the end has arrived.
    Closed,
    /// What still comes will not be read: the application has left.
    Leaving,
    /// The connection ends at once.
    Reset {
        /// Why, as a number.
        code: u64,
        /// Why, in words.
        text: &'a [u8],
    },
    /// Asks whether the other end is at this address.
    Challenge([u8; 8]),
    /// The answer.
    Answer([u8; 8]),
}

const MARKED: u64 = 1;
const DUPLICATE: u64 = 2;

impl Part<'_> {
    /// Appends the part.
    pub fn put(&self, out: &mut Vec<u8>) {
        let put = |out: &mut Vec<u8>, code: u8, fields: &[u64]| {
            out.push(code);
            fields.iter().for_each(|field| varint::put(out, *field));
        };
        match self {
            Part::Padding => out.push(0),
            Part::Ping(token) => put(out, 1, &[*token]),
            Part::Pong(token) => put(out, 2, &[*token]),
            Part::Open => out.push(3),
            Part::Data(data) => {
                data.put_fields(data.bytes.len() as u64, out);
                out.extend(data.bytes);
            }
            Part::Empty { offset, length } => put(out, 6, &[*offset, *length]),
            Part::Ack(ack) => {
                let flags = u64::from(ack.marked) * MARKED + u64::from(ack.duplicate) * DUPLICATE;
                put(out, 7 + u8::from(ack.opens), &[ack.cumulative, ack.window, flags]);
                let ranges = ack.sack.iter(ack.cumulative);
                varint::put(out, ranges.count() as u64);
                for (start, end) in ack.sack.iter(ack.cumulative) {
                    varint::put(out, start - ack.cumulative);
                    varint::put(out, end - start);
                }
                varint::put(out, ack.congestion.len() as u64);
                out.extend(ack.congestion);
            }
            Part::Close(end) => put(out, 9, &[*end]),
            Part::Closed => out.push(10),
            Part::Leaving => out.push(14),
            Part::Reset { code, text } => {
                put(out, 11, &[*code, text.len() as u64]);
                out.extend(*text);
            }
            Part::Challenge(bytes) => {
                out.push(12);
                out.extend(bytes);
            }
            Part::Answer(bytes) => {
                out.push(13);
                out.extend(bytes);
            }
        }
    }
}

/// The parts of a packet, in order; nothing follows an error.
#[derive(Clone, Debug)]
pub struct Parts<'a> {
    rest: &'a [u8],
}

impl<'a> Parts<'a> {
    /// The parts in these bytes.
    pub fn new(bytes: &'a [u8]) -> Parts<'a> {
        Parts { rest: bytes }
    }

    /// Where the data ends that `first` begins and the parts after it continue.
    pub fn run_end(&self, first: &DataPart<'_>) -> u64 {
        let end = first.offset + first.bytes.len() as u64;
        let continued = self.clone().map_while(Result::ok).try_fold(end, |end, part| match part {
            Part::Data(data) if data.offset == end => Ok(end + data.bytes.len() as u64),
            _ => Err(end),
        });
        continued.unwrap_or_else(|end| end)
    }

    fn read(&mut self) -> Result<Part<'a>, WireError> {
        let rest = &mut self.rest;
        let [code] = take_array(rest)?;
        Ok(match code {
            0 => {
                // A probe of the path's packet size is mostly padding.
                let length = rest.iter().position(|byte| *byte != 0).unwrap_or(rest.len());
                *rest = &rest[length..];
                Part::Padding
            }
            1 => Part::Ping(varint::take(rest)?),
            2 => Part::Pong(varint::take(rest)?),
            3 => Part::Open,
            4 | 5 => Part::Data(read_data(rest, code == 5)?),
            6 => {
                let [offset, length] = fields(rest)?;
                within_stream(offset, length)?;
                Part::Empty { offset, length }
            }
            7 | 8 => Part::Ack(read_ack(rest, code == 8)?),
            9 => Part::Close(varint::take(rest)?),
            10 => Part::Closed,
            11 => {
                let [code, length] = fields(rest)?;
                Part::Reset { code, text: take_counted(rest, length)? }
            }
            12 => Part::Challenge(take_array(rest)?),
            13 => Part::Answer(take_array(rest)?),
            14 => Part::Leaving,
            _ => return Err(WireError::Field("the code of a part")),
        })
    }
}

impl<'a> Iterator for Parts<'a> {
    type Item = Result<Part<'a>, WireError>;

    fn next(&mut self) -> Option<Result<Part<'a>, WireError>> {
        if self.rest.is_empty() {
            return None;
        }
        let part = self.read();
        if part.is_err() {
            self.rest = &[];
        }
        Some(part)
    }
}

fn fields<const N: usize>(rest: &mut &[u8]) -> Result<[u64; N], WireError> {
    let mut all = [0; N];
    for field in &mut all {
        *field = varint::take(rest)?;
    }
    Ok(all)
}

fn take_counted<'a>(rest: &mut &'a [u8], length: u64) -> Result<&'a [u8], WireError> {
    take(rest, usize::try_from(length).map_err(|_| WireError::Short)?)
}

/// Offsets of a stream have 62 bits.
fn within_stream(offset: u64, length: u64) -> Result<(), WireError> {
    match offset + length <= varint::MOST {
        true => Ok(()),
        false => Err(WireError::Field("a stream offset")),
    }
}

fn read_data<'a>(rest: &mut &'a [u8], again: bool) -> Result<DataPart<'a>, WireError> {
    let [offset, source, frame, within, length] = fields(rest)?;
    let bytes = take_counted(rest, length)?;
    within_stream(offset, length)?;
    if within + length > frame {
        return Err(WireError::Field("an offset in a frame"));
    }
    Ok(DataPart { offset, source, frame, within, bytes, again })
}

fn read_ack<'a>(rest: &mut &'a [u8], opens: bool) -> Result<AckPart<'a>, WireError> {
    let [cumulative, window, flags, ranges] = fields(rest)?;
    within_stream(cumulative, window)?;
    if ranges > SackBlocks::MAX as u64 {
        return Err(WireError::Field("the number of SACK ranges"));
    }
    let mut sack = SackBlocks::default();
    for _ in 0..ranges {
        let [gap, length] = fields(rest)?;
        within_stream(gap, length)?;
        within_stream(cumulative, gap + length)?;
        let start = cumulative + gap;
        sack.push(cumulative, start, start + length);
    }
    let length = varint::take(rest)?;
    let congestion = take_counted(rest, length)?;
    let [marked, duplicate] = [MARKED, DUPLICATE].map(|flag| flags & flag != 0);
    Ok(AckPart { opens, cumulative, window, marked, duplicate, sack, congestion })
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn bytes_of(part: &Part<'_>) -> Vec<u8> {
        let mut out = Vec::new();
        part.put(&mut out);
        out
    }

    #[test]
    fn parts_have_these_bytes() {
        let mut sack = SackBlocks::default();
        sack.push(300, 310, 330);
        for (part, expected) in [
            (Part::Padding, &[0][..]),
            (Part::Ping(5), &[1, 5]),
            (Part::Pong(64), &[2, 0x40, 64]),
            (Part::Open, &[3]),
            (
                Part::Data(DataPart {
                    offset: 300,
                    source: 2,
                    frame: 10,
                    within: 7,
                    bytes: b"end",
                    again: true,
                }),
                &[5, 0x41, 0x2c, 2, 10, 7, 3, b'e', b'n', b'd'],
            ),
            (Part::Empty { offset: 1, length: 2 }, &[6, 1, 2]),
            (
                Part::Ack(AckPart {
                    opens: false,
                    cumulative: 300,
                    window: 50,
                    marked: true,
                    duplicate: false,
                    sack,
                    congestion: &[9, 8],
                }),
                &[7, 0x41, 0x2c, 50, 1, 1, 10, 20, 2, 9, 8],
            ),
            (
                Part::Ack(AckPart {
                    opens: true,
                    cumulative: 7,
                    window: 50,
                    marked: false,
                    duplicate: true,
                    sack: SackBlocks::default(),
                    congestion: &[],
                }),
                &[8, 7, 50, 2, 0, 0],
            ),
            (Part::Close(9), &[9, 9]),
            (Part::Closed, &[10]),
            (Part::Reset { code: 1, text: b"no" }, &[11, 1, 2, b'n', b'o']),
            (Part::Challenge([7; 8]), &[12, 7, 7, 7, 7, 7, 7, 7, 7]),
            (Part::Answer([7; 8]), &[13, 7, 7, 7, 7, 7, 7, 7, 7]),
            (Part::Leaving, &[14]),
        ] {
            assert_eq!(bytes_of(&part), expected);
            let mut parts = Parts::new(expected);
            assert_eq!((parts.next(), parts.next()), (Some(Ok(part)), None));
            for length in 1..expected.len() {
                assert_eq!(Parts::new(&expected[..length]).next(), Some(Err(WireError::Short)));
            }
        }
        assert_eq!(Parts::new(&[0, 0, 0, 3]).count(), 2, "padding is one part");
    }

    #[test]
    fn impossible_fields_are_refused() {
        let beyond = varint::MOST.to_be_bytes().map(|byte| byte | 0xc0);
        let with = |code: u8, fields: &[&[u8]]| [&[code], &fields.concat()[..]].concat();
        for bytes in [
            with(15, &[]),
            // More of a frame than it has.
            with(4, &[&[0, 0, 2, 1, 2, 9, 9]]),
            with(6, &[&beyond, &[1, 0]]),
            // Four ranges.
            with(7, &[&[0, 0, 0, 4, 1, 1, 3, 1, 5, 1, 7, 1, 0]]),
            with(7, &[&beyond, &[1, 0, 0, 0]]),
        ] {
            let first = Parts::new(&bytes).next();
            assert!(matches!(first, Some(Err(WireError::Field(_)))), "{bytes:?}: {first:?}");
        }
    }

    proptest! {
        #[test]
        fn anything_may_come(bytes in proptest::collection::vec(any::<u8>(), 0..80)) {
            for part in Parts::new(&bytes).flatten() {
                let again = bytes_of(&part);
                prop_assert_eq!(Parts::new(&again).next(), Some(Ok(part)));
            }
        }
    }
}
