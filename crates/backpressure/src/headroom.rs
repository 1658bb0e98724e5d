//! Room that a buffer must have left when it pauses its upstream, so that nothing is dropped.
//!
//! From the arrival that takes a buffer past its upper threshold to the last byte that may still
//! arrive:
//!
//! 1. that arrival itself may be a full packet: `L`, with the link's own bytes;
//! 2. the frame waits for the packet that is being sent the other way, `L / r` at the rate `r` of
//!    the way back, and takes `F / r` itself. A waiting frame gets its content when it is sent, so
//!    at most one of each kind waits. With queues by flow a map may be ahead of it: `n` is 1, or 2;
//! 3. it travels for `d'`;
//! 4. the upstream transmitter may take a time `e` to obey;
//! 5. it may have started a full packet just then: `L`;
//! 6. the packets that it sent before that travel for `d`.
//!
//! During 2, 3, 4 and 6 the upstream sends at its rate `R`:
//!
//! ```text
//! headroom = 2 L + R (L / r + n F / r + d' + e + d)
//! ```
//!
//! The usual rule is `2 d R`, a full packet at each end, the frame's own time and the reaction
//! time. With `r = R` and `d' = d` this is the same, and one full packet more for the arrival that
//! passes the threshold. Sizes are those on the wire, which exceed those in buffers and so leave a
//! small margin.

use ratewire_units::{Bytes, Duration, Rate};

use crate::frames::ON_WIRE;

/// A link that is to be paused, and the way back that carries its pause frames.
#[derive(Clone, Copy, Debug)]
pub struct PausedLink {
    /// Rate of the link that is paused.
    pub rate: Rate,
    /// Propagation delay of the link that is paused.
    pub delay: Duration,
    /// Rate of the way back.
    pub back_rate: Rate,
    /// Propagation delay of the way back.
    pub back_delay: Duration,
    /// Size of a full packet on the wire, either way.
    pub packet: Bytes,
    /// Time that the transmitter takes to obey.
    pub reaction: Duration,
    /// Frames that may wait to be sent at once: one, or with queues by flow a map more.
    pub frames: u64,
}

impl PausedLink {
    /// Longest time from the decision to pause until the transmitter starts no more packets; for
    /// ever if the way back sends nothing.
    pub fn latency(&self) -> Duration {
        self.sending() + self.back_delay + self.reaction
    }

    /// Longest time from the decision until the frame is sent. The distance of two frames at
    /// arrival differs from that of their decisions by at most this time.
    pub fn sending(&self) -> Duration {
        let size = self.packet + ON_WIRE * self.frames;
        self.back_rate.serial_time().map_or(Duration::MAX, |per_byte| per_byte.of(size))
    }

    /// Room that must be left beyond the threshold.
    pub fn headroom(&self) -> Bytes {
        let sent = self.rate.bytes_in(self.latency() + self.delay);
        // Bytes that are cut at either end of that time count too.
        sent.saturating_add(self.packet * 2 + Bytes::new(1))
    }
}

/// Longest time in which a station must obey (802.3, 31B.3.7): pause quanta of 512 bit times each.
pub fn reaction(rate: Rate) -> Duration {
    let quanta = match rate.bps() {
        0..=100_000_000 => 1,
        100_000_001..=1_000_000_000 => 2,
        1_000_000_001..=10_000_000_000 => 60,
        10_000_000_001..=40_000_000_000 => 118,
        _ => 394,
    };
    crate::frames::Quanta(quanta).time(rate)
}

#[cfg(test)]
mod tests {
    use super::*;

    const HOP: PausedLink = PausedLink {
        rate: Rate::from_mbps(1000),
        delay: Duration::from_micros(5),
        back_rate: Rate::from_mbps(1000),
        back_delay: Duration::from_micros(5),
        packet: Bytes::new(1538),
        reaction: Duration::from_nanos(1024),
        frames: 2,
    };

    /// 1 Gbit/s is a byte each 8 ns: 12.304 us for the packet before, 1.344 us for two frames, 10
    /// us there and back, 1.024 us to obey: 24.672 us or 3084 bytes, and two packets.
    #[test]
    fn headroom_adds_up() {
        assert_eq!(HOP.latency(), Duration::from_nanos(12_304 + 1_344 + 5_000 + 1_024));
        assert_eq!(HOP.headroom(), Bytes::new(3084 + 2 * 1538 + 1));
    }

    #[test]
    fn reaction_times_are_those_of_the_standard() {
        assert_eq!(reaction(Rate::from_mbps(100)), Duration::from_nanos(5_120));
        assert_eq!(reaction(Rate::from_mbps(1000)), Duration::from_nanos(1_024));
        assert_eq!(reaction(Rate::from_mbps(10_000)), Duration::from_nanos(3_072));
        assert_eq!(reaction(Rate::ZERO), Duration::MAX);
    }

    #[test]
    fn a_way_back_that_sends_nothing_needs_endless_room() {
        assert!(PausedLink { back_rate: Rate::ZERO, ..HOP }.headroom() > Bytes::new(1 << 40));
    }
}
