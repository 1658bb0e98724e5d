//! Properties of any bytes at all. The fuzz target and the tests share them, so that what the
//! fuzzer found once stays found.

use crate::ids::MOST_NODES;
use crate::wire::{decode, encode};

/// Reads `data` as the number of an overlay's nodes (1 byte) and messages between them, as
/// [`messages`] does.
///
/// # Panics
/// If reading and writing disagree.
pub fn messages_among(data: &[u8]) -> usize {
    let Some((nodes, messages_of)) = data.split_first() else { return 0 };
    messages(messages_of, usize::from(*nodes).clamp(1, MOST_NODES))
}

/// Reads `data` as consecutive messages in an overlay of this many nodes. Returns the number of
/// messages before the first error.
///
/// # Panics
/// If reading and writing disagree.
pub fn messages(data: &[u8], nodes: usize) -> usize {
    let mut rest = data;
    let mut count = 0;
    while let Ok(message) = decode(rest, nodes) {
        let mut bytes = Vec::new();
        encode(&message, &mut bytes);
        assert_eq!(bytes.len() as u64, message.size.get(), "it is not as long as it says");
        let (written, left) = rest.split_at(bytes.len());
        // One bit says whether a client joins; the other count bits are not read.
        let same = written[1..] == bytes[1..] && written[0] >> 5 == bytes[0] >> 5;
        assert!(same, "{written:x?} was read, {bytes:x?} is written");
        rest = left;
        count += 1;
    }
    count
}
