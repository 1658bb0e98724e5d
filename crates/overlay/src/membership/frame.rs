//! Frames: the bytes of messages on the connection between two daemons.
//!
//! What daemons tell again and again is the overlay's overhead, so it takes few bytes: news of one
//! link's queue takes five, and progress two or three. A frame begins with three bits of kind:
//!
//! | first byte | frame |
//! |---|---|
//! | `000nnnnn` | prices of `n` links: origin (1); for each its place (1) and level (2) |
//! | `001assoo` | progress: origin (1), growth of the clock, and what the flags say |
//! | `010mllll` | any message, in the format of the crate `postcard` |
//! | `01100000` | a sign of life |
//! | `100mllll` | progress of a clock alone: origin (1); `l` is the low part of the growth |
//!
//! - Prices: levels are little-endian. If `n` is 31, a byte with the number precedes the origin.
//! - Progress: `a` says that the growth of the stamp up to which the origin has all follows; `oo`
//!   (ordered) and `ss` (safe) are 0 if the stamp is as told last, 1 if it is the clock, and 2 if
//!   its distance below the clock follows.
//! - Other messages: `l` is the low part of the length. Here and in progress of a clock, `m` says
//!   that the rest of the number follows.
//!
//! Numbers take as many bytes as they need: seven bits in each, low ones first, and the high bit
//! says whether more follow (LEB128). A number with idle bytes is neither written nor read.

use std::sync::Arc;

use postcard::ser_flavors::{Flavor, Size};
use ratewire_units::Bytes;
use serde::Serialize;
use serde::de::DeserializeOwned;

use super::message::{LinkMessage, Prices, Progress};
use crate::ids::OverlayNodeId;
use crate::level::Level;

const KIND_SHIFT: u8 = 5;
const LOW: u8 = (1 << KIND_SHIFT) - 1;
const PRICES: u8 = 0;
const PROGRESS: u8 = 1;
const BODY: u8 = 2;
const ALIVE: u8 = 3;
const CLOCK: u8 = 4;
/// Bits of a number in the first byte, and whether more of the number follows.
const NUMBER_BITS: u32 = 4;
const NUMBER_MORE: u8 = 1 << NUMBER_BITS;
/// Flags of progress.
const SAFE_SHIFT: u8 = 2;
const HAS_ALL: u8 = 1 << 4;

/// Why a frame cannot be written or read.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum FrameError {
    /// The message is longer than allowed: the number of bytes that are.
    #[error("a message has more than {0} bytes")]
    TooLong(usize),
    /// No frame has this kind, or its flags.
    #[error("no frame begins with byte {0:#04x}")]
    Unknown(u8),
    /// A number is larger than its field, or has idle bytes.
    #[error("a number is too large or has idle bytes")]
    BadNumber,
    /// The bytes are no message.
    #[error("a message cannot be read: {0}")]
    Malformed(#[source] postcard::Error),
    /// This many bytes follow a message in its frame.
    #[error("{0} bytes follow a message")]
    Trailing(usize),
    /// The message has a sequence of unknown length.
    #[error("a message cannot be written: {0}")]
    Unwritable(#[source] postcard::Error),
}

/// Writes the frame of a message, or of a sign of life, piece by piece. A message in the format of
/// `postcard` has at most `most` bytes.
///
/// # Errors
/// If the message is too long, or has a sequence of unknown length. Pieces of it may be written.
pub fn write<G: Serialize, P: Serialize>(
    message: Option<&LinkMessage<G, P>>,
    most: usize,
    put: &mut impl FnMut(&[u8]),
) -> Result<(), FrameError> {
    match message {
        None => put(&[head(ALIVE, 0)]),
        Some(LinkMessage::Prices(prices)) if is_short(prices) => write_prices(prices, put),
        Some(LinkMessage::Progress(progress)) => write_progress(progress, put),
        Some(message) => {
            let length = postcard::serialize_with_flavor(message, Size::default());
            let length = length.map_err(FrameError::Unwritable)?;
            if length > most {
                return Err(FrameError::TooLong(most));
            }
            write_number(BODY, length as u64, &[], put);
            postcard::serialize_with_flavor(message, Pieces(put))
                .map_err(FrameError::Unwritable)?;
        }
    }
    Ok(())
}

impl<G: Serialize, P: Serialize> LinkMessage<G, P> {
    /// Bytes of the message's frame on a connection.
    pub fn frame_len(&self) -> Bytes {
        let mut length = 0;
        let written = write(Some(self), usize::MAX, &mut |piece| length += piece.len());
        debug_assert_eq!(written, Ok(()), "messages have no sequences of unknown length");
        Bytes::new(length as u64)
    }
}

/// A message, or a sign of life, and the bytes of its frame.
pub type Framed<G, P> = (Option<LinkMessage<G, P>>, usize);

/// Reads the frame at the start of `bytes`. `None` if more bytes are needed. A message in the
/// format of `postcard` has at most `most` bytes. A length alone reserves no memory.
///
/// Elements of sequences in the message must have at least one byte each: a few bytes could
/// announce any number of empty ones.
///
/// # Errors
/// If the bytes are no frame. Where the next one begins is then unknown.
pub fn read<G: DeserializeOwned, P: DeserializeOwned>(
    bytes: &[u8],
    most: usize,
) -> Result<Option<Framed<G, P>>, FrameError> {
    let mut input = Input { bytes, rest: bytes };
    match read_from(&mut input, most) {
        Ok(message) => Ok(Some((message, input.bytes.len() - input.rest.len()))),
        Err(Stop::Short) => Ok(None),
        Err(Stop::Bad(error)) => Err(error),
    }
}

fn read_from<G: DeserializeOwned, P: DeserializeOwned>(
    input: &mut Input<'_>,
    most: usize,
) -> Result<Option<LinkMessage<G, P>>, Stop> {
    let first = input.byte()?;
    let low = first & LOW;
    let message = match first >> KIND_SHIFT {
        PRICES => LinkMessage::Prices(Arc::new(read_prices(low, input)?)),
        PROGRESS => LinkMessage::Progress(Arc::new(read_progress(first, input)?)),
        BODY => {
            let length = read_number(low, input)?;
            if length > most as u64 {
                return Err(Stop::Bad(FrameError::TooLong(most)));
            }
            let body = input.take(length as usize)?;
            let bad = |error| Stop::Bad(FrameError::Malformed(error));
            let (message, rest) = postcard::take_from_bytes(body).map_err(bad)?;
            if !rest.is_empty() {
                return Err(Stop::Bad(FrameError::Trailing(rest.len())));
            }
            message
        }
        ALIVE if low == 0 => return Ok(None),
        CLOCK => {
            let origin = OverlayNodeId(input.byte()?);
            let clock = read_number(low, input)?;
            let progress = Progress { origin, clock, all: 0, ordered: None, safe: None };
            LinkMessage::Progress(Arc::new(progress))
        }
        _ => return Err(Stop::Bad(FrameError::Unknown(first))),
    };
    Ok(Some(message))
}

fn head(kind: u8, low: u8) -> u8 {
    kind << KIND_SHIFT | low
}

/// Whether prices have a frame of their own kind.
fn is_short(prices: &Prices) -> bool {
    prices.clients.is_empty() && prices.links.len() <= usize::from(u8::MAX)
}

fn write_prices(prices: &Prices, put: &mut impl FnMut(&[u8])) {
    let count = prices.links.len() as u8;
    if count < LOW {
        put(&[head(PRICES, count), prices.origin.0]);
    } else {
        put(&[head(PRICES, LOW), count, prices.origin.0]);
    }
    for (place, level) in &prices.links {
        let [low, high] = level.0.to_le_bytes();
        put(&[*place, low, high]);
    }
}

fn read_prices(low: u8, input: &mut Input<'_>) -> Result<Prices, Stop> {
    let count = match low {
        LOW => Some(input.byte()?).filter(|count| *count >= LOW).ok_or(BAD_NUMBER)?,
        count => count,
    };
    let origin = OverlayNodeId(input.byte()?);
    let entry = |_| {
        let entry = input.take(3)?;
        Ok((entry[0], Level(u16::from_le_bytes([entry[1], entry[2]]))))
    };
    let links = (0..count).map(entry).collect::<Result<_, Stop>>()?;
    Ok(Prices { origin, links, clients: Vec::new() })
}

fn write_progress(progress: &Progress, put: &mut impl FnMut(&[u8])) {
    let Progress { origin, clock, all, ordered, safe } = *progress;
    if (all, ordered, safe) == (0, None, None) {
        return write_number(CLOCK, clock, &[origin.0], put);
    }
    let flags = |below: Option<u64>| below.map_or(0, |below| if below == 0 { 1 } else { 2 });
    let has_all = if all == 0 { 0 } else { HAS_ALL };
    let first = head(PROGRESS, has_all | flags(safe) << SAFE_SHIFT | flags(ordered));
    put(&[first, origin.0]);
    put_number(clock, put);
    let further = [Some(all), ordered, safe].into_iter().flatten();
    further.filter(|number| *number != 0).for_each(|number| put_number(number, put));
}

fn read_progress(first: u8, input: &mut Input<'_>) -> Result<Progress, Stop> {
    if first & LOW == 0 {
        return Err(Stop::Bad(FrameError::Unknown(first)));
    }
    let origin = OverlayNodeId(input.byte()?);
    let clock = input.number()?;
    let all = if first & HAS_ALL != 0 { input.above_zero()? } else { 0 };
    let mut below = |flags: u8| match flags & 3 {
        0 => Ok(None),
        1 => Ok(Some(0)),
        2 => input.above_zero().map(Some),
        _ => Err(Stop::Bad(FrameError::Unknown(first))),
    };
    let (ordered, safe) = (below(first)?, below(first >> SAFE_SHIFT)?);
    Ok(Progress { origin, clock, all, ordered, safe })
}

/// Writes a number whose low bits stand in the first byte, with `between` before its other bits.
fn write_number(kind: u8, number: u64, between: &[u8], put: &mut impl FnMut(&[u8])) {
    let (low, rest) = (number as u8 & (NUMBER_MORE - 1), number >> NUMBER_BITS);
    let more = if rest == 0 { 0 } else { NUMBER_MORE };
    put(&[head(kind, low | more)]);
    put(between);
    if rest != 0 {
        put_number(rest, put);
    }
}

/// Reads the rest of a number whose low bits stand in the first byte.
fn read_number(low: u8, input: &mut Input<'_>) -> Result<u64, Stop> {
    let begun = u64::from(low & (NUMBER_MORE - 1));
    if low & NUMBER_MORE == 0 {
        return Ok(begun);
    }
    let rest = input.above_zero()?;
    let fits = rest >> (u64::BITS - NUMBER_BITS) == 0;
    if fits { Ok(rest << NUMBER_BITS | begun) } else { Err(BAD_NUMBER) }
}

fn put_number(mut number: u64, put: &mut impl FnMut(&[u8])) {
    while number >> 7 != 0 {
        put(&[number as u8 | 0x80]);
        number >>= 7;
    }
    put(&[number as u8]);
}

/// Why reading stops.
enum Stop {
    /// More bytes are needed.
    Short,
    Bad(FrameError),
}

const BAD_NUMBER: Stop = Stop::Bad(FrameError::BadNumber);

struct Input<'a> {
    bytes: &'a [u8],
    rest: &'a [u8],
}

impl<'a> Input<'a> {
    fn take(&mut self, length: usize) -> Result<&'a [u8], Stop> {
        let (taken, rest) = self.rest.split_at_checked(length).ok_or(Stop::Short)?;
        self.rest = rest;
        Ok(taken)
    }

    fn byte(&mut self) -> Result<u8, Stop> {
        Ok(self.take(1)?[0])
    }

    fn number(&mut self) -> Result<u64, Stop> {
        let mut number = 0;
        for shift in (0..u64::BITS).step_by(7) {
            let byte = self.byte()?;
            let bits = u64::from(byte & 0x7f);
            let is_idle = byte == 0 && shift > 0;
            if is_idle || bits << shift >> shift != bits {
                return Err(BAD_NUMBER);
            }
            number |= bits << shift;
            if byte & 0x80 == 0 {
                return Ok(number);
            }
        }
        Err(BAD_NUMBER)
    }

    /// A number whose place says that it is not 0.
    fn above_zero(&mut self) -> Result<u64, Stop> {
        Some(self.number()?).filter(|number| *number != 0).ok_or(BAD_NUMBER)
    }
}

/// Hands on what is serialised.
struct Pieces<'a, F>(&'a mut F);

impl<F: FnMut(&[u8])> Flavor for Pieces<'_, F> {
    type Output = ();

    fn try_extend(&mut self, data: &[u8]) -> postcard::Result<()> {
        (self.0)(data);
        Ok(())
    }

    fn try_push(&mut self, data: u8) -> postcard::Result<()> {
        self.try_extend(&[data])
    }

    fn finalize(self) -> postcard::Result<()> {
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::super::message::{Target, Update, ViewBody, ViewId, ViewMessage};
    use super::*;
    use crate::ids::{ClientId, NodeSet};

    type Message = LinkMessage<u32, Vec<u8>>;

    fn written(message: Option<&Message>) -> Vec<u8> {
        let mut bytes = Vec::new();
        write(message, 1000, &mut |piece| bytes.extend_from_slice(piece)).unwrap();
        bytes
    }

    fn read(bytes: &[u8]) -> Result<Option<Framed<u32, Vec<u8>>>, FrameError> {
        super::read(bytes, 1000)
    }

    /// Numbers of every length.
    fn numbers() -> impl Strategy<Value = u64> + Clone {
        (any::<u64>(), 0u32..64).prop_map(|(number, shift)| number >> shift)
    }

    fn node() -> impl Strategy<Value = OverlayNodeId> {
        any::<u8>().prop_map(OverlayNodeId)
    }

    fn messages() -> impl Strategy<Value = Option<Message>> {
        let link = || (any::<u8>(), any::<u16>().prop_map(Level));
        let client = (any::<u32>().prop_map(ClientId), ".{0,3}", any::<u16>().prop_map(Level))
            .prop_map(|(id, name, level)| (id, name.into(), level));
        let prices =
            (node(), prop::collection::vec(link(), 0..80), prop::collection::vec(client, 0..2))
                .prop_map(|(origin, links, clients)| Prices { origin, links, clients });
        let below = || prop::option::of(numbers());
        let progress = (node(), numbers(), numbers(), below(), below()).prop_map(
            |(origin, clock, all, ordered, safe)| Progress { origin, clock, all, ordered, safe },
        );
        let id = || {
            (numbers(), node(), numbers()).prop_map(|(number, coordinator, incarnation)| {
                Arc::new(ViewId { number, coordinator, incarnation })
            })
        };
        let view = (node(), numbers(), prop::collection::vec(any::<u8>(), 0..200)).prop_map(
            |(origin, stamp, payload)| {
                let to = NodeSet::first(5);
                let body = ViewBody::Data {
                    sender: ClientId(3),
                    service: super::super::message::Service::Fifo,
                    self_discard: false,
                    targets: [Target::Group(7)].into(),
                    payload,
                };
                LinkMessage::View(Arc::new(ViewMessage { origin, to, stamp, body }))
            },
        );
        prop_oneof![
            1 => Just(None),
            4 => prices.prop_map(|prices| Some(LinkMessage::Prices(Arc::new(prices)))),
            4 => progress.prop_map(|progress| Some(LinkMessage::Progress(Arc::new(progress)))),
            1 => id().prop_map(|id| Some(LinkMessage::Enter(id))),
            1 => id().prop_map(|id| Some(LinkMessage::EnterPrices(id))),
            2 => view.prop_map(Some),
        ]
    }

    proptest! {
        #[test]
        fn what_is_written_is_read(message in messages()) {
            let mut bytes = written(message.as_ref());
            if let Some(message) = &message {
                prop_assert_eq!(bytes.len() as u64, message.frame_len().get());
            }
            for cut in 0..bytes.len() {
                prop_assert_eq!(read(&bytes[..cut]), Ok(None));
            }
            let length = bytes.len();
            bytes.push(0xaa);
            prop_assert_eq!(read(&bytes), Ok(Some((message, length))));
        }

        #[test]
        fn anything_may_come(bytes in prop::collection::vec(any::<u8>(), 0..64)) {
            crate::fuzzing::frames(&bytes);
        }
    }

    /// Bytes written by hand.
    #[test]
    fn frames_have_these_bytes() {
        let origin = OverlayNodeId(3);
        let prices = |links| {
            written(Some(&Message::Prices(Arc::new(Prices { origin, links, clients: vec![] }))))
        };
        assert_eq!(prices(vec![(2, Level(0x1234))]), [0x01, 3, 2, 0x34, 0x12]);
        assert_eq!(prices(vec![(2, Level(1)); 31])[..5], [0x1f, 31, 3, 2, 1]);
        let progress = |clock, all, ordered, safe| {
            let progress = Progress { origin, clock, all, ordered, safe };
            written(Some(&Message::Progress(Arc::new(progress))))
        };
        assert_eq!(progress(7, 0, Some(0), None), [0x21, 3, 7]);
        assert_eq!(progress(15, 0, None, None), [0x8f, 3]);
        assert_eq!(progress(0x1234, 0, None, None), [0x94, 3, 0xa3, 2]);
        assert_eq!(progress(0, 5, Some(2), Some(0)), [0x36, 3, 0, 5, 2]);
        let view = ViewId { number: 2, coordinator: origin, incarnation: 1 };
        assert_eq!(written(Some(&Message::Enter(Arc::new(view)))), [0x44, 3, 2, 3, 1]);
        let to = NodeSet::first(40).without(origin);
        let body = ViewBody::Update(Update::Leave(300, ClientId(5)));
        let leave = Message::View(Arc::new(ViewMessage { origin, to, stamp: 9, body }));
        let bytes = [0x4d, 4, 3, 0xa4, 0, 3, 4, 40, 9, 1, 1, 0xac, 2, 5];
        assert_eq!(written(Some(&leave)), bytes);
        assert_eq!(written(None), [0x60]);
    }

    #[test]
    fn what_is_no_frame_is_refused() {
        let bad = Err(FrameError::BadNumber);
        assert_eq!(read(&[0xa0]), Err(FrameError::Unknown(0xa0)));
        assert_eq!(read(&[0x20, 0, 1]), Err(FrameError::Unknown(0x20)), "a clock alone");
        assert_eq!(read(&[0x61]), Err(FrameError::Unknown(0x61)));
        assert_eq!(read(&[0x23, 0, 1]), Err(FrameError::Unknown(0x23)));
        assert_eq!(read(&[0x1f, 30, 0]), bad, "a count that needs no byte");
        assert_eq!(read(&[0x21, 0, 0x81, 0]), bad, "an idle byte");
        assert_eq!(read(&[0x30, 0, 1, 0]), bad, "a growth that needs no byte");
        assert_eq!(read(&[0x50, 0]), bad, "a length that needs no more");
        let all = [0xff; 9];
        assert_eq!(read(&[&[0x21, 0], &all[..], &[0x02]].concat()), bad, "65 bits");
        assert_eq!(read(&[&[0x50], &all[..], &[0x01]].concat()), bad, "64 bits beside four");
        assert_eq!(read(&[0x50, 63]), Err(FrameError::TooLong(1000)));
        let entered = [0x45, 3, 2, 3, 1, 9];
        assert_eq!(read(&entered), Err(FrameError::Trailing(1)));
        assert!(matches!(read(&[0x41, 99]), Err(FrameError::Malformed(_))));
        let long = Message::Enter(Arc::new(ViewId {
            number: 1,
            coordinator: OverlayNodeId(0),
            incarnation: 1,
        }));
        assert_eq!(write(Some(&long), 3, &mut |_| {}), Err(FrameError::TooLong(3)));
    }
}
