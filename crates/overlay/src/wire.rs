//! Bytes of what nodes tell each other, little-endian. They are what the overlay costs, so they are
//! few: a cost update with news of one link has five.
//!
//! | bytes | field |
//! |---|---|
//! | 1 | kind in the three high bits; in the others the number of entries, or whether a client joins |
//! | 1 | origin |
//! | 3 each | prices: which of the origin's links (1), sixty-fourths of a waiting message (2) |
//! | 4 | interest: group |
//! | 13 | included: group (4), node that asked (1), stamp (8) |
//! | 16 | change: group (4), client (4), stamp (8) |
//! | 8 | mark: stamp |

use ratewire_units::Bytes;

use crate::ids::{ClientId, GroupId, NodeId, NodeSet};
use crate::message::{Content, Level, Message, Told};

/// The most links that one cost update can tell of.
pub const MOST_TOLD: usize = 31;

const KIND_SHIFT: u8 = 5;
const COUNT: u8 = (1 << KIND_SHIFT) - 1;
const PRICES: u8 = 0;
const INTEREST: u8 = 1;
const INCLUDED: u8 = 2;
const CHANGE: u8 = 3;
const MARK: u8 = 4;

/// Bytes that are no message between nodes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DecodeError {
    /// There are fewer than the message has.
    Short,
    /// No message is of this kind.
    UnknownKind(u8),
    /// It names a node that there is not.
    UnknownNode(u8),
}

impl core::fmt::Display for DecodeError {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        match self {
            DecodeError::Short => f.write_str("the message is cut off"),
            DecodeError::UnknownKind(kind) => write!(f, "no message is of kind {kind}"),
            DecodeError::UnknownNode(node) => write!(f, "there is no node {node}"),
        }
    }
}
impl core::error::Error for DecodeError {}

/// The length of what a node says to others; clients' messages are as long as they say.
pub(crate) fn control_len(content: &Content) -> Bytes {
    let body = match content {
        Content::Data { .. } => 0,
        Content::Prices(told) => 3 * told.len() as u64,
        Content::Interest(_) => 4,
        Content::Included(..) => 13,
        Content::Change { .. } => 16,
        Content::Mark(_) => 8,
    };
    Bytes::new(2 + body)
}

/// Writes what a node says to others. A client's message is not written: its bytes are its own.
pub fn encode(message: &Message, out: &mut Vec<u8>) {
    let head = |kind: u8, low: u8| [kind << KIND_SHIFT | low, message.origin.0];
    match &message.content {
        Content::Data { .. } => {}
        Content::Prices(told) => {
            debug_assert!(told.len() <= MOST_TOLD, "more links than one update can tell of");
            out.extend(head(PRICES, told.len() as u8));
            for one in told.iter() {
                out.push(one.link);
                out.extend(one.level.0.to_le_bytes());
            }
        }
        Content::Interest(group) => {
            out.extend(head(INTEREST, 0));
            out.extend(group.0.to_le_bytes());
        }
        Content::Included(group, stamp) => {
            out.extend(head(INCLUDED, 0));
            out.extend(group.0.to_le_bytes());
            out.push(message.to.iter().next().map_or(0, |node| node.0));
            out.extend(stamp.to_le_bytes());
        }
        Content::Change { group, client, joins, stamp } => {
            out.extend(head(CHANGE, u8::from(*joins)));
            out.extend(group.0.to_le_bytes());
            out.extend(client.0.to_le_bytes());
            out.extend(stamp.to_le_bytes());
        }
        Content::Mark(stamp) => {
            out.extend(head(MARK, 0));
            out.extend(stamp.to_le_bytes());
        }
    }
}

/// Reads the message at the start of `bytes`, in an overlay of so many nodes. What follows it is
/// after [`Message::size`] bytes.
///
/// # Errors
/// When there is none.
pub fn decode(bytes: &[u8], nodes: usize) -> Result<Message, DecodeError> {
    let mut rest = bytes;
    let [first, origin] = take(&mut rest)?;
    let origin = known(origin, nodes)?;
    let mut to = NodeSet::first(nodes).without(origin);
    let content = match first >> KIND_SHIFT {
        PRICES => {
            let one = |_| {
                let [link, low, high] = take(&mut rest)?;
                Ok(Told { link, level: Level(u16::from_le_bytes([low, high])) })
            };
            Content::Prices((0..first & COUNT).map(one).collect::<Result<_, _>>()?)
        }
        INTEREST => Content::Interest(group(&mut rest)?),
        INCLUDED => {
            let group = group(&mut rest)?;
            let [asker] = take(&mut rest)?;
            to = [known(asker, nodes)?].into_iter().collect();
            Content::Included(group, u64::from_le_bytes(take(&mut rest)?))
        }
        CHANGE => Content::Change {
            group: group(&mut rest)?,
            client: ClientId(u32::from_le_bytes(take(&mut rest)?)),
            joins: first & COUNT != 0,
            stamp: u64::from_le_bytes(take(&mut rest)?),
        },
        MARK => Content::Mark(u64::from_le_bytes(take(&mut rest)?)),
        kind => return Err(DecodeError::UnknownKind(kind)),
    };
    Ok(Message::control(origin, to, content))
}

fn take<const N: usize>(rest: &mut &[u8]) -> Result<[u8; N], DecodeError> {
    let (taken, left) = rest.split_first_chunk().ok_or(DecodeError::Short)?;
    *rest = left;
    Ok(*taken)
}

fn group(rest: &mut &[u8]) -> Result<GroupId, DecodeError> {
    Ok(GroupId(u32::from_le_bytes(take(rest)?)))
}

fn known(node: u8, nodes: usize) -> Result<NodeId, DecodeError> {
    if usize::from(node) < nodes { Ok(NodeId(node)) } else { Err(DecodeError::UnknownNode(node)) }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn contents() -> impl Strategy<Value = Content> {
        let told = (any::<u8>(), any::<u16>()).prop_map(|(link, l)| Told { link, level: Level(l) });
        let group = any::<u32>().prop_map(GroupId);
        prop_oneof![
            prop::collection::vec(told, 0..=MOST_TOLD).prop_map(|t| Content::Prices(t)),
            group.clone().prop_map(Content::Interest),
            (group.clone(), any::<u64>()).prop_map(|(g, s)| Content::Included(g, s)),
            (group, any::<u32>(), any::<bool>(), any::<u64>()).prop_map(
                |(group, c, joins, stamp)| {
                    Content::Change { group, client: ClientId(c), joins, stamp }
                }
            ),
            any::<u64>().prop_map(Content::Mark),
        ]
    }

    proptest! {
        #[test]
        fn what_is_written_is_read(content in contents(), origin in 0u8..9, to in 0u8..9) {
            let to = match content {
                Content::Included(..) => [NodeId(to)].into_iter().collect(),
                _ => NodeSet::first(9).without(NodeId(origin)),
            };
            let message = Message::control(NodeId(origin), to, content);
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
            if let Ok(message) = decode(&bytes, nodes) {
                prop_assert!(message.size.get() as usize <= bytes.len());
            }
        }
    }

    #[test]
    fn news_of_one_link_takes_five_bytes() {
        let told = [Told { link: 2, level: Level(0x1234) }];
        let message = Message::prices(NodeId(3), NodeSet::first(6).without(NodeId(3)), &told);
        let mut bytes = Vec::new();
        encode(&message, &mut bytes);
        assert_eq!(bytes, [1, 3, 2, 0x34, 0x12]);
        assert_eq!(decode(&[0xe0, 0], 1), Err(DecodeError::UnknownKind(7)));
        assert_eq!(decode(&[0, 6], 6), Err(DecodeError::UnknownNode(6)));
    }
}
