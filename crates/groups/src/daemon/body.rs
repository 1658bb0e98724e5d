//! Data of a client's message on its way between daemons.

use bytes::Bytes;
use ratewire_overlay::benefit::PACKET;
use ratewire_overlay::daemon::Payload;
use ratewire_overlay::membership::Label;
use ratewire_units::Time;
use serde::{Deserialize, Serialize};

use crate::spread::{ByteOrder, Message};

/// Data below this length is copied off the buffer that it came in. A part of a buffer would keep
/// all of it in memory.
const SMALL: usize = 8 << 10;

/// A message's data, who sent it, and how the sender describes it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Body {
    /// The sender's name at its daemon. It need not be a member of any group that others know.
    pub(super) sender: Label,
    kind: i16,
    is_big_endian: bool,
    /// When the message was sent, in microseconds since 1970, if its daemon measures latency.
    /// Before, what must be added to the daemon's time.
    sent_unix_us: Option<u64>,
    data: Bytes,
}

impl Body {
    /// The body of a client's message. `clock` is the time at which the daemon's time was zero, in
    /// microseconds since 1970, if latency is measured.
    pub(super) fn of(sender: &str, message: &Message, clock: Option<u64>) -> Body {
        let data = match message.data.len() {
            ..SMALL => Bytes::copy_from_slice(&message.data),
            _ => message.data.clone(),
        };
        Body {
            sender: sender.into(),
            kind: message.kind,
            is_big_endian: message.order == ByteOrder::Big,
            sent_unix_us: clock,
            data,
        }
    }

    pub(super) fn kind(&self) -> i16 {
        self.kind
    }
    pub(super) fn order(&self) -> ByteOrder {
        if self.is_big_endian { ByteOrder::Big } else { ByteOrder::Little }
    }
    pub(super) fn data(&self) -> &Bytes {
        &self.data
    }
    pub(super) fn sent_unix_us(&self) -> Option<u64> {
        self.sent_unix_us
    }
}

/// Number of messages that so many bytes count as, rounded: one that is a little larger than a
/// packet does not count as two.
pub(super) fn counted(bytes: usize) -> u32 {
    let packet = PACKET.get() as usize;
    ((bytes + packet / 2) / packet).max(1) as u32
}

impl Payload for Body {
    fn counted(&self) -> u32 {
        counted(self.data.len())
    }
    fn size(&self) -> ratewire_units::Bytes {
        ratewire_units::Bytes::new(self.data.len() as u64)
    }
    fn note_sent(&mut self, now: Time) {
        let sent = self.sent_unix_us.as_mut();
        sent.into_iter().for_each(|sent| *sent = sent.wrapping_add(now.ps() / 1_000_000));
    }
}

#[cfg(test)]
mod tests {
    use super::counted;

    #[test]
    fn a_message_counts_as_its_packets() {
        assert_eq!([0, 1, 1_460, 2_159].map(counted), [1; 4]);
        assert_eq!([2_160, 144_000].map(counted), [2, 100]);
    }
}
