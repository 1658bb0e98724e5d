//! Properties of anything that a gateway or a member with the right keys may send. The fuzz target
//! and the test that replays its corpus share them.

use bytes::Bytes;

use crate::frame::{Message, Replies, read_replies};

/// Reads bytes as a frame of a gateway and as one of a member: what is read is written so that it
/// is read again. Returns whether they were either.
///
/// # Panics
/// If that does not hold.
pub fn frames(data: &[u8]) -> bool {
    let data = Bytes::copy_from_slice(data);
    let message = Message::decode(data.clone());
    if let Some(message) = &message {
        assert_eq!(Message::decode(message.encode()).as_ref(), Some(message));
    }
    let replies = read_replies(data);
    if let Some(replies) = &replies {
        let mut frame = Replies::default();
        replies.iter().for_each(|(exchange, reply)| frame.push(*exchange, reply));
        assert_eq!(read_replies(frame.take()).as_ref(), Some(replies));
    }
    message.is_some() || replies.is_some()
}
