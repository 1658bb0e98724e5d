//! What an end has counted.

use ratewire_units::{Bytes, Duration};

/// What an end has counted. Times are those since time zero.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Figures {
    /// Whether the end can be connected to, or connects when its time has come.
    pub is_ready: bool,
    /// When the first frame was written.
    pub started: Option<Duration>,
    /// Payload of frames that have arrived whole.
    pub received: Bytes,
    /// When the other end's last frame was read.
    pub ended: Option<Duration>,
    /// Payload of frames that the other end has acknowledged.
    pub acknowledged: Bytes,
    /// When the last written frame was acknowledged.
    pub acknowledged_at: Option<Duration>,
    /// Packets that found no room in the receive buffer.
    pub without_room: u64,
    /// Payload sent for the second time or more.
    pub retransmitted: Bytes,
    /// Packets sent for the second time or more.
    pub retransmitted_packets: u64,
    /// Retransmission timeouts.
    pub timeouts: u64,
    /// Smoothed round-trip time; zero while unknown.
    pub srtt: Duration,
    /// The law's window.
    pub window: Bytes,
    /// Payload under way.
    pub in_flight: Bytes,
}

/// Numbers that the figures are in a file.
pub(super) const NUMBERS: usize = 13;

impl Figures {
    /// Whether the end has read or sent all that there is.
    pub fn is_over(&self) -> bool {
        self.ended.is_some() || self.acknowledged_at.is_some()
    }

    /// The figures of connections that are over, and those of the present one.
    pub fn plus(&self, present: &Figures) -> Figures {
        Figures {
            started: self.started.or(present.started),
            received: self.received + present.received,
            acknowledged: self.acknowledged + present.acknowledged,
            without_room: self.without_room + present.without_room,
            retransmitted: self.retransmitted + present.retransmitted,
            retransmitted_packets: self.retransmitted_packets + present.retransmitted_packets,
            timeouts: self.timeouts + present.timeouts,
            ..*present
        }
    }

    pub(super) fn to_numbers(self) -> [u64; NUMBERS] {
        // Zero stands for no time.
        let time = |time: Option<Duration>| time.map_or(0, |time| time.ps().max(1));
        [
            u64::from(self.is_ready),
            time(self.started),
            self.received.get(),
            time(self.ended),
            self.acknowledged.get(),
            time(self.acknowledged_at),
            self.without_room,
            self.retransmitted.get(),
            self.retransmitted_packets,
            self.timeouts,
            self.srtt.ps(),
            self.window.get(),
            self.in_flight.get(),
        ]
    }

    pub(super) fn from_numbers(numbers: &[u64; NUMBERS]) -> Figures {
        let time = |ps: u64| (ps > 0).then(|| Duration::from_ps(ps));
        let [
            is_ready,
            started,
            received,
            ended,
            acknowledged,
            acknowledged_at,
            without_room,
            retransmitted,
            retransmitted_packets,
            timeouts,
            srtt,
            window,
            in_flight,
        ] = *numbers;
        Figures {
            is_ready: is_ready != 0,
            started: time(started),
            received: Bytes::new(received),
            ended: time(ended),
            acknowledged: Bytes::new(acknowledged),
            acknowledged_at: time(acknowledged_at),
            without_room,
            retransmitted: Bytes::new(retransmitted),
            retransmitted_packets,
            timeouts,
            srtt: Duration::from_ps(srtt),
            window: Bytes::new(window),
            in_flight: Bytes::new(in_flight),
        }
    }
}
