//! Bytes of control messages between nodes. They are the overlay's overhead, so they are few: a
//! cost update with news of one link has five, a mark mostly two.
//!
//! | bytes | field |
//! |---|---|
//! | 1 | kind in the three high bits; in the others a count, whether a client joins, or a mark |
//! | 1 | origin |
//! | 3 each | prices: link of the origin (1), 64ths of a waiting message (2, little-endian) |
//! | 1 to 5 | interest: group |
//! | 3 to 16 | included: node that asked (1), group, stamp |
//! | 3 to 20 | change: group, client, stamp |
//! | 0 to 9 | mark: distance from the last mark, without its four low bits |
//!
//! A mark's first byte holds its four low bits, and a fifth bit says whether more bytes follow.
//! Numbers take as many bytes as they need: seven bits in each, low ones first, and the high bit
//! says whether more follow (LEB128). A number with idle bytes is neither written nor read.

use crate::ids::{ClientId, GroupId, NodeSet, OverlayNodeId};
use crate::layout::MARK_BITS;
use crate::message::{Level, Message, MessageBody, QueueLevel};

/// Maximum number of links in one cost update.
pub const MOST_TOLD: usize = 31;

const KIND_SHIFT: u8 = 5;
const COUNT: u8 = (1 << KIND_SHIFT) - 1;
/// Whether more of a mark follows its first byte.
const MARK_MORE: u8 = 1 << MARK_BITS;
const PRICES: u8 = 0;
const INTEREST: u8 = 1;
const INCLUDED: u8 = 2;
const CHANGE: u8 = 3;
const MARK: u8 = 4;

/// Why bytes are no message between nodes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DecodeError {
    /// The message is cut off.
    Short,
    /// No message has this kind.
    UnknownKind(u8),
    /// The message names a node that does not exist.
    UnknownNode(u8),
    /// A number is larger than its field, or has idle bytes.
    BadNumber,
}

impl core::fmt::Display for DecodeError {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        match self {
            DecodeError::Short => f.write_str("the message is cut off"),
            DecodeError::UnknownKind(kind) => write!(f, "no message is of kind {kind}"),
            DecodeError::UnknownNode(node) => write!(f, "there is no node {node}"),
            DecodeError::BadNumber => f.write_str("a number is too large or has idle bytes"),
        }
    }
}
impl core::error::Error for DecodeError {}

fn put_number(mut number: u64, out: &mut Vec<u8>) {
    while number >> 7 != 0 {
        out.push(number as u8 | 0x80);
        number >>= 7;
    }
    out.push(number as u8);
}

/// Writes a control message. A client's message is not written: its bytes are its own.
pub fn encode(message: &Message, out: &mut Vec<u8>) {
    let head = |kind: u8, low: u8| [kind << KIND_SHIFT | low, message.origin.0];
    match &message.body {
        MessageBody::Data { .. } => {}
        MessageBody::Prices(told) => {
            debug_assert!(told.len() <= MOST_TOLD, "more links than one update can tell of");
            out.extend(head(PRICES, told.len() as u8));
            for one in told.iter() {
                out.push(one.link);
                out.extend(one.level.0.to_le_bytes());
            }
        }
        MessageBody::Interest(group) => {
            out.extend(head(INTEREST, 0));
            put_number(group.0.into(), out);
        }
        MessageBody::Included(group, stamp) => {
            out.extend(head(INCLUDED, 0));
            out.push(message.to.iter().next().map_or(0, |node| node.0));
            put_number(group.0.into(), out);
            put_number(*stamp, out);
        }
        MessageBody::Change { group, client, joins, stamp } => {
            out.extend(head(CHANGE, u8::from(*joins)));
            put_number(group.0.into(), out);
            put_number(client.0.into(), out);
            put_number(*stamp, out);
        }
        MessageBody::Mark(beyond) => {
            let (low, rest) = (*beyond as u8 & (MARK_MORE - 1), beyond >> MARK_BITS);
            if rest == 0 {
                out.extend(head(MARK, low));
            } else {
                out.extend(head(MARK, low | MARK_MORE));
                put_number(rest, out);
            }
        }
    }
}

/// Reads the message at the start of `bytes`, in an overlay of this many nodes. The next message
/// begins after [`Message::size`] bytes.
///
/// # Errors
/// If there is none.
pub fn decode(bytes: &[u8], nodes: usize) -> Result<Message, DecodeError> {
    let mut rest = bytes;
    let [first, origin] = take(&mut rest)?;
    let origin = known(origin, nodes)?;
    let mut to = NodeSet::first(nodes).without(origin);
    let body = match first >> KIND_SHIFT {
        PRICES => {
            let one = |_| {
                let [link, low, high] = take(&mut rest)?;
                Ok(QueueLevel { link, level: Level(u16::from_le_bytes([low, high])) })
            };
            MessageBody::Prices((0..first & COUNT).map(one).collect::<Result<_, _>>()?)
        }
        INTEREST => MessageBody::Interest(GroupId(short_number(&mut rest)?)),
        INCLUDED => {
            let [asker] = take(&mut rest)?;
            to = [known(asker, nodes)?].into_iter().collect();
            MessageBody::Included(GroupId(short_number(&mut rest)?), number(&mut rest)?)
        }
        CHANGE => MessageBody::Change {
            group: GroupId(short_number(&mut rest)?),
            client: ClientId(short_number(&mut rest)?),
            joins: first & COUNT != 0,
            stamp: number(&mut rest)?,
        },
        MARK => {
            let low = u64::from(first & (MARK_MORE - 1));
            let rest = if first & MARK_MORE != 0 { Some(number(&mut rest)?) } else { None };
            if rest == Some(0) || rest.is_some_and(|rest| rest >> (u64::BITS - MARK_BITS) != 0) {
                return Err(DecodeError::BadNumber);
            }
            MessageBody::Mark(rest.unwrap_or(0) << MARK_BITS | low)
        }
        kind => return Err(DecodeError::UnknownKind(kind)),
    };
    Ok(Message::control(origin, to, body))
}

fn take<const N: usize>(rest: &mut &[u8]) -> Result<[u8; N], DecodeError> {
    let (taken, left) = rest.split_first_chunk().ok_or(DecodeError::Short)?;
    *rest = left;
    Ok(*taken)
}

fn number(rest: &mut &[u8]) -> Result<u64, DecodeError> {
    let mut number = 0;
    for shift in (0..u64::BITS).step_by(7) {
        let [byte] = take(rest)?;
        let bits = u64::from(byte & 0x7f);
        let is_idle = byte == 0 && shift > 0;
        if is_idle || bits << shift >> shift != bits {
            return Err(DecodeError::BadNumber);
        }
        number |= bits << shift;
        if byte & 0x80 == 0 {
            return Ok(number);
        }
    }
    Err(DecodeError::BadNumber)
}

fn short_number(rest: &mut &[u8]) -> Result<u32, DecodeError> {
    u32::try_from(number(rest)?).map_err(|_| DecodeError::BadNumber)
}

fn known(node: u8, nodes: usize) -> Result<OverlayNodeId, DecodeError> {
    if usize::from(node) < nodes {
        Ok(OverlayNodeId(node))
    } else {
        Err(DecodeError::UnknownNode(node))
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// Numbers of every length.
    fn numbers() -> impl Strategy<Value = u64> + Clone {
        (any::<u64>(), 0u32..64).prop_map(|(number, shift)| number >> shift)
    }

    fn contents() -> impl Strategy<Value = MessageBody> {
        let told =
            (any::<u8>(), any::<u16>()).prop_map(|(link, l)| QueueLevel { link, level: Level(l) });
        let group = numbers().prop_map(|n| GroupId(n as u32));
        prop_oneof![
            prop::collection::vec(told, 0..=MOST_TOLD).prop_map(MessageBody::Prices),
            group.clone().prop_map(MessageBody::Interest),
            (group.clone(), numbers()).prop_map(|(g, s)| MessageBody::Included(g, s)),
            (group, any::<u32>(), any::<bool>(), numbers()).prop_map(|(group, c, joins, stamp)| {
                MessageBody::Change { group, client: ClientId(c), joins, stamp }
            }),
            numbers().prop_map(MessageBody::Mark),
        ]
    }

    proptest! {
        #[test]
        fn what_is_written_is_read(body in contents(), origin in 0u8..9, to in 0u8..9) {
            let to = match body {
                MessageBody::Included(..) => [OverlayNodeId(to)].into_iter().collect(),
                _ => NodeSet::first(9).without(OverlayNodeId(origin)),
            };
            let message = Message::control(OverlayNodeId(origin), to, body);
            let mut bytes = Vec::new();
            encode(&message, &mut bytes);
            prop_assert_eq!(bytes.len() as u64, message.size.get());
            for cut in 0..bytes.len() {
                prop_assert_eq!(decode(&bytes[..cut], 9), Err(DecodeError::Short));
            }
            bytes.push(0xaa);
            prop_assert_eq!(decode(&bytes, 9), Ok(message));
        }

        #[test]
        fn anything_may_come(bytes in prop::collection::vec(any::<u8>(), 0..64), nodes in 1usize..129) {
            crate::fuzzing::messages(&bytes, nodes);
        }
    }

    fn written(body: MessageBody) -> Vec<u8> {
        let to = match body {
            MessageBody::Included(..) => [OverlayNodeId(5)].into_iter().collect(),
            _ => NodeSet::first(6).without(OverlayNodeId(3)),
        };
        let mut bytes = Vec::new();
        encode(&Message::control(OverlayNodeId(3), to, body), &mut bytes);
        bytes
    }

    /// Bytes written by hand.
    #[test]
    fn messages_have_these_bytes() {
        let group = GroupId(300);
        let told = vec![QueueLevel { link: 2, level: Level(0x1234) }];
        assert_eq!(written(MessageBody::Prices(told)), [0x01, 3, 2, 0x34, 0x12]);
        assert_eq!(written(MessageBody::Interest(group)), [0x20, 3, 0xac, 0x02]);
        assert_eq!(written(MessageBody::Included(group, 7)), [0x40, 3, 5, 0xac, 0x02, 7]);
        let change =
            |joins| MessageBody::Change { group, client: ClientId(127), joins, stamp: 128 };
        assert_eq!(written(change(true)), [0x61, 3, 0xac, 0x02, 0x7f, 0x80, 0x01]);
        assert_eq!(written(change(false)), [0x60, 3, 0xac, 0x02, 0x7f, 0x80, 0x01]);
        assert_eq!(written(MessageBody::Mark(15)), [0x8f, 3]);
        assert_eq!(written(MessageBody::Mark(16)), [0x90, 3, 1]);
        assert_eq!(written(MessageBody::Mark(u64::MAX)).len(), 2 + 9);
    }

    #[test]
    fn what_is_no_message_is_refused() {
        assert_eq!(decode(&[0xe0, 0], 1), Err(DecodeError::UnknownKind(7)));
        assert_eq!(decode(&[0, 6], 6), Err(DecodeError::UnknownNode(6)));
        assert_eq!(decode(&[0x40, 0, 6, 1, 1], 6), Err(DecodeError::UnknownNode(6)));
        let bad = Err(DecodeError::BadNumber);
        assert_eq!(decode(&[0x20, 0, 0x81, 0], 6), bad, "an idle byte");
        assert_eq!(decode(&[0x20, 0, 0xff, 0xff, 0xff, 0xff, 0x1f], 6), bad, "33 bits");
        assert_eq!(decode(&[0x90, 0, 0], 6), bad, "a mark that needs no more");
        let all = [0xff; 9];
        assert_eq!(decode(&[&[0x90, 0], &all[..], &[0x02]].concat(), 6), bad, "65 bits");
        assert_eq!(
            decode(&[&[0x90, 0], &all[..], &[0x01]].concat(), 6),
            bad,
            "64 bits beside four"
        );
    }
}
