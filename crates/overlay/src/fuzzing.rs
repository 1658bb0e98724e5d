//! Properties of any bytes at all. The fuzz target and the tests share them, so that what the
//! fuzzer found once stays found.

use crate::membership;

/// Longest message in a frame of [`frames`].
const LONGEST: usize = 1 << 20;

/// Reads `data` as consecutive frames on the link between two daemons. Returns their number before
/// the first error.
///
/// # Panics
/// If reading and writing disagree.
pub fn frames(data: &[u8]) -> usize {
    let mut rest = data;
    let mut count = 0;
    while let Ok(Some((message, length))) = membership::read::<u32, Vec<u8>>(rest, LONGEST) {
        let mut bytes = Vec::new();
        let put = &mut |piece: &[u8]| bytes.extend_from_slice(piece);
        membership::write(message.as_ref(), LONGEST, put).expect("the message is short enough");
        let said = message.as_ref().map_or(1, |message| message.frame_len().get());
        assert_eq!(bytes.len() as u64, said, "the frame is not as long as it says");
        let again = membership::read(&bytes, LONGEST);
        assert_eq!(again, Ok(Some((message, bytes.len()))), "another message is written");
        // A frame of a few numbers has one form; `postcard` reads numbers with idle bytes.
        let is_compact = !(0x40..0x60).contains(&rest[0]);
        assert!(!is_compact || rest[..length] == bytes, "{:x?} is read", &rest[..length]);
        rest = &rest[length..];
        count += 1;
    }
    count
}
