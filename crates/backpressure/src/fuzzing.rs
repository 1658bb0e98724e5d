//! Properties of any bytes at all. The fuzz target and the test that replays its corpus share them,
//! so that what the fuzzer found once stays found.

use crate::frames::{BODY, Control, LENGTH, PauseFrame, Quanta};
use crate::messages::Message;

/// Reads `data` as a frame, and as the values of one to write.
///
/// # Panics
/// If reading and writing disagree.
pub fn frames(data: &[u8]) {
    if let Ok(frame) = PauseFrame::decode_body(data) {
        let bytes = frame.encode_body();
        assert_eq!(
            PauseFrame::decode_body(&bytes),
            Ok(frame),
            "reading and writing lost something"
        );
    }
    if let Ok(frame) = PauseFrame::decode(data) {
        let bytes = frame.encode();
        assert_eq!(PauseFrame::decode(&bytes), Ok(frame), "reading and writing lost something");
    }
    let Some(values) = data.first_chunk::<30>() else { return };
    let number = |at: usize| u16::from_be_bytes([values[at], values[at + 1]]);
    let address = |at: usize| core::array::from_fn(|i| values[at + i]);
    let mut destination: [u8; 6] = address(0);
    destination[0] &= !1;
    let time =
        |class: usize| (values[13] >> class & 1 == 1).then(|| Quanta(number(14 + 2 * class)));
    let control = match values[12] & 1 {
        0 => Control::Pause(Quanta(number(14))),
        _ => Control::Priority(core::array::from_fn(time)),
    };
    let frame = PauseFrame { destination, source: address(6), control };
    let bytes = frame.encode();
    assert_eq!(PauseFrame::decode(&bytes), Ok(frame));
    assert_eq!(PauseFrame::decode_body(&bytes[..BODY]), Ok(frame));
    // One wrong bit is noticed wherever it is.
    let bit = usize::from(number(28)) % (8 * LENGTH);
    let mut wrong = bytes;
    wrong[bit / 8] ^= 1 << (bit % 8);
    assert!(PauseFrame::decode(&wrong).is_err(), "bit {bit} is not covered");
}

/// Reads `data` as a message.
///
/// # Panics
/// If a message that is read is not written with the same bytes.
pub fn messages(data: &[u8]) {
    if let Ok(message) = Message::decode(data) {
        assert_eq!(message.encode(), data, "reading and writing lost something");
    }
}
