//! Packets that leave at one time as one, as Linux hands them to a network card that cuts them
//! (TSO).

use ratewire_units::Time;

use super::Sender;
use crate::segment::Stamp;

/// The packets that have left at one time.
#[derive(Clone, Copy, Debug)]
pub(super) struct Bundle {
    at: Time,
    packets: usize,
}

impl Bundle {
    pub(super) const NONE: Bundle = Bundle { at: Time::ZERO, packets: 0 };

    fn add(&mut self, now: Time) {
        if self.at != now {
            *self = Bundle { at: now, packets: 0 };
        }
        self.packets += 1;
    }
}

impl Sender {
    /// What the packet that leaves now says. The last of a bundle has TCP's flag PSH (Linux 5.4),
    /// and so has the last that the application has written.
    #[inline]
    pub(super) fn stamp(&mut self, now: Time, again: bool) -> Stamp {
        Stamp { epoch: self.epoch, pushed: !again && self.ends_bundle(now) }
    }

    /// Whether the packet that leaves now ends a bundle. The longest has as many packets as a small
    /// queue: what the pace carries in 1/1024 s, at least two (`tcp_tso_autosize`).
    #[inline]
    fn ends_bundle(&mut self, now: Time) -> bool {
        let Some(bundle) = &mut self.bundle else { return false };
        bundle.add(now);
        let packets = bundle.packets;
        let is_full = packets >= self.most_queued();
        if is_full && let Some(bundle) = &mut self.bundle {
            **bundle = Bundle::NONE;
        }
        let end = self.next + u64::from(self.mss);
        let is_paced = self.pace_next > now;
        let goes_on = self.has_room(self.mss) && end <= self.allowed && !is_paced;
        self.next >= self.writing.written() || (packets > 1 && (is_full || !goes_on))
    }
}
