//! TCP Small Queues: a sender waits while the queue of its own host holds enough of its packets
//! (Linux 6.12, `tcp_small_queue_check`).

use std::collections::VecDeque;

use ratewire_units::{Bytes, Time};

use super::Sender;

/// The pace as a multiple of the window a round trip, below half the slow-start threshold (Linux:
/// `tcp_pacing_ss_ratio`).
const PACING_IN_SLOW_START: f64 = 2.0;
/// This multiple in all other phases (Linux: `tcp_pacing_ca_ratio`).
const PACING: f64 = 1.2;
/// Part of a second for which the queue may hold packets (Linux: `sk_pacing_shift`, 2^10).
const QUEUES_A_SECOND: f64 = 1024.0;
/// Most bytes in the queue (Linux: `tcp_limit_output_bytes`).
const MOST_BYTES: f64 = 4_194_304.0;
/// First packets of a flow, which are not paced (Linux: `tcp_update_skb_after_send`).
const UNPACED_PACKETS: u64 = 10;
/// Least number of packets in a full queue.
const LEAST_PACKETS: usize = 2;

/// A sender's packets in the queue of its own host.
#[derive(Debug)]
pub(super) struct SmallQueue {
    /// Time at which the last packet in the queue leaves it.
    empty_at: Time,
    /// Time from which the host takes the next packet.
    pub(super) takes_at: Time,
    /// The sender's `next` when its window was last full.
    pub(super) full_at: u64,
    /// Times at which packets leave the queue, in order.
    leaves: VecDeque<Time>,
}

impl SmallQueue {
    const EMPTY: SmallQueue = SmallQueue {
        empty_at: Time::ZERO,
        takes_at: Time::ZERO,
        full_at: 0,
        leaves: VecDeque::new(),
    };

    /// Works out when the host takes the next packet, as there may be `most` in the queue. If the
    /// queue is full, half of them must have left, which spares a timer for each packet.
    fn update(&mut self, now: Time, most: usize) {
        while self.leaves.front().is_some_and(|leaves| *leaves <= now) {
            self.leaves.pop_front();
        }
        let count = self.leaves.len();
        self.takes_at = if count < most { now } else { self.leaves[count - 1 - (most - 1) / 2] };
    }
}

impl Sender {
    /// Lets the sender keep the queue of its own host small, and pace only what follows its first
    /// packets, as Linux does. The host then reports what is in its queue, by
    /// [`Sender::on_queued`] or [`Sender::on_queue_seen`].
    pub fn keep_queue_small(&mut self) {
        self.small_queue = Some(Box::new(SmallQueue::EMPTY));
    }

    /// Whether a packet that leaves now starts no wait for the pace. Of the first ten only the last
    /// does.
    #[inline]
    pub(super) fn is_unpaced(&self, payload: u32) -> bool {
        self.small_queue.is_some()
            && self.next + u64::from(payload) < UNPACED_PACKETS * u64::from(self.mss)
    }

    /// Notes that the packet just sent is in the host's queue until `leaves`, when its transmission
    /// begins.
    #[inline]
    pub fn on_queued(&mut self, leaves: Time) {
        if let Some(queue) = &mut self.small_queue {
            queue.empty_at = leaves;
            queue.leaves.push_back(leaves);
        }
    }

    /// Notes that the host's queue now holds so many of the sender's packets, and may hold fewer at
    /// `next`.
    pub fn on_queue_seen(&mut self, now: Time, packets: usize, next: Time) {
        let is_full = packets >= self.most_queued();
        if let Some(queue) = &mut self.small_queue {
            let takes_at = if is_full { next } else { now };
            // What was foretold before counts no more.
            **queue = SmallQueue { takes_at, full_at: queue.full_at, ..SmallQueue::EMPTY };
        }
    }

    /// Number of packets in a full queue of the host: about a millisecond of the sender's pace.
    pub(crate) fn most_queued(&self) -> usize {
        let packet = (u64::from(self.mss) + u64::from(self.headers)) as f64;
        let srtt = self.rtt.srtt();
        let bytes_a_second = match self.source.pacing() {
            Some(pace) => pace.get(),
            None if srtt.is_zero() => 0.0,
            None => {
                let window = self.source.window();
                let threshold = self.source.slow_start_threshold();
                let is_starting = threshold.is_some_and(|threshold| window * 2 < threshold);
                let gain = if is_starting { PACING_IN_SLOW_START } else { PACING };
                gain * packet * window.as_f64() / f64::from(self.mss) / srtt.secs()
            }
        };
        let bytes = (bytes_a_second / QUEUES_A_SECOND).min(MOST_BYTES);
        ((bytes / packet) as usize).max(LEAST_PACKETS)
    }

    /// Whether the host takes a packet now.
    #[inline]
    pub(super) fn host_takes_packet(&mut self, now: Time) -> bool {
        let Some(queue) = &self.small_queue else { return true };
        if queue.empty_at > now {
            let most = self.most_queued();
            if let Some(queue) = &mut self.small_queue {
                queue.update(now, most);
            }
        }
        self.small_queue.as_ref().is_none_or(|queue| queue.takes_at <= now)
    }

    /// When the host takes the packet that waits for it, if one does.
    #[inline]
    pub(super) fn host_takes_at(&self) -> Time {
        let queue = self.small_queue.as_ref().filter(|_| self.waits_for_host);
        queue.map_or(Time::NEVER, |queue| queue.takes_at)
    }

    /// Notes that the window is full.
    #[inline]
    pub(super) fn note_full_window(&mut self) {
        if let Some(queue) = &mut self.small_queue {
            queue.full_at = self.next;
        }
    }

    /// Whether the queue of its own host has kept the sender from using its window for a round
    /// trip. In slow start the window may reach twice what was in flight (Linux 6.12,
    /// `tcp_is_cwnd_limited`). Laws without a slow-start threshold go by the rate at which packets
    /// arrive: their host is a bottleneck like any other.
    #[inline]
    pub(super) fn leaves_window_unused(&self, in_flight: Bytes) -> bool {
        let Some(queue) = self.small_queue.as_ref().filter(|_| self.waits_for_host) else {
            return false;
        };
        let window = self.source.window();
        let is_to_grow = |threshold| window < threshold && window < in_flight * 2;
        self.cumulative > queue.full_at
            && self.source.slow_start_threshold().is_some_and(|threshold| !is_to_grow(threshold))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MS: fn(u64) -> Time = Time::from_millis;

    fn queue(packets: u64) -> SmallQueue {
        SmallQueue { leaves: (1..=packets).map(MS).collect(), ..SmallQueue::EMPTY }
    }

    #[test]
    fn a_full_queue_takes_packets_when_half_have_left() {
        for (most, takes_at) in [(2, 2), (3, 2), (4, 3), (9, 5)] {
            let mut full = queue(most);
            full.update(MS(0), most as usize);
            assert_eq!(full.takes_at, MS(takes_at), "{most}");
            full.update(MS(takes_at), most as usize);
            assert_eq!(full.takes_at, MS(takes_at));
            let mut room = queue(most - 1);
            room.update(MS(0), most as usize);
            assert_eq!(room.takes_at, MS(0));
        }
    }

    #[test]
    fn a_queue_that_is_to_hold_fewer_waits_longer() {
        let mut queue = queue(10);
        queue.update(MS(0), 10);
        assert_eq!(queue.takes_at, MS(6));
        queue.update(MS(0), 2);
        assert_eq!(queue.takes_at, MS(10));
    }
}
