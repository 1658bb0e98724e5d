//! The start of every message: who sent the message when.

use bytes::{Buf, BufMut};
use ratewire_units::Time;

/// Start of a message's data.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Stamp {
    /// Number of the flood: other programs may send to the same groups.
    pub run: u32,
    /// Number of the sender, from 0.
    pub sender: u32,
    /// Number of the message among those of its sender, from 0.
    pub sequence: u64,
    /// When the sender gave the message to the client library.
    pub sent: Time,
}

impl Stamp {
    /// Bytes of a stamp: the least size of a message.
    pub(super) const SIZE: usize = 24;

    /// A message's data of `size` bytes, at least [`Stamp::SIZE`].
    pub(super) fn data(&self, size: usize) -> Vec<u8> {
        let mut data = vec![0; size];
        let mut start = &mut data[..];
        start.put_u32(self.run);
        start.put_u32(self.sender);
        start.put_u64(self.sequence);
        start.put_u64(self.sent.ps());
        data
    }

    /// Reads the stamp of a message; `None` if the message has none of this run.
    pub(super) fn read(mut data: &[u8], run: u32) -> Option<Stamp> {
        if data.len() < Stamp::SIZE || data.get_u32() != run {
            return None;
        }
        let (sender, sequence) = (data.get_u32(), data.get_u64());
        Some(Stamp { run, sender, sequence, sent: Time::from_ps(data.get_u64()) })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_stamp_is_read_as_it_was_written() {
        let stamp = Stamp { run: 7, sender: 1, sequence: 1 << 40, sent: Time::from_millis(3) };
        for size in [Stamp::SIZE, 1000] {
            let data = stamp.data(size);
            assert_eq!((data.len(), Stamp::read(&data, 7)), (size, Some(stamp)));
            assert_eq!(Stamp::read(&data, 8), None);
        }
        assert_eq!(Stamp::read(&[0; Stamp::SIZE - 1], 0), None);
    }
}
