//! Soft flow control: XCP's efficiency controller on a receive buffer (Yocum and Chase, *Explicit
//! rate control for Anypoint communication*, section IV-A).
//!
//! A receiver acts as a router whose queue is the receive buffer and whose capacity is unknown. An
//! epoch is the mean RTT `d`. In each epoch the receiver measures the arrival rate `y`, the reading
//! rate `a`, and the queue `Q` (mean of its running mean and its maximum). It then chooses a
//! target, and gives out `F = alpha (target - y) - beta Q / d` over the packets of the next epoch.
//! There is one flow, so nothing is shuffled.
//!
//! The first that applies moves the target:
//! 1. nothing was read: one segment;
//! 2. packets found no room: half of the target;
//! 3. `Q` above `soft_high` of the buffer: the target decreases by its part `soft_decrease`;
//! 4. `y` below half of the target: no change, because probing is useless;
//! 5. `Q` below `soft_low` of the buffer, and reading keeps up: `soft_probe` segments more;
//! 6. otherwise no change.
//!
//! The target never exceeds a buffer a round trip: the controller "respects both window limits and
//! application limits".
//!
//! Deliberate differences: reading keeps up if at least as many bytes were read as arrived. The
//! paper has `a > y`, but an idle reader cannot read more than arrives. The paper's `gamma %`, with
//! `gamma = 0.1`, is taken as 10 %.

use ratewire_units::{Bytes, Duration, Time};

use super::Xcp;
use crate::law::{Buffer, FlowContext};

/// The controller of soft flow control.
#[derive(Clone, Debug)]
pub(super) struct Soft {
    alpha: f64,
    beta: f64,
    low: f64,
    high: f64,
    decrease: f64,
    probe: f64,
    /// The shortest epoch, and the first, in seconds.
    min_interval: f64,
    packet: f64,
    /// Network-layer bytes per payload.
    scale: f64,
    target: f64,
    epoch: Epoch,
    /// Rest of this epoch's feedback, positive or negative, and its part for a byte.
    left: f64,
    per_byte: f64,
}

/// Measurements of an epoch; the queue is in network-layer bytes.
#[derive(Clone, Debug)]
struct Epoch {
    /// [`Time::NEVER`] before anything came.
    start: Time,
    length: f64,
    /// Payload that came.
    came: Bytes,
    queue_sum: f64,
    queue_max: f64,
    packets: f64,
    rtt_sum: f64,
    rtts: f64,
    /// Payload read and packets refused, at the start of the epoch.
    read: Bytes,
    refused: u64,
}

impl Soft {
    pub(super) fn new(law: &Xcp, flow: &FlowContext) -> Soft {
        let length = law.initial_interval.secs();
        Soft {
            alpha: law.alpha,
            beta: law.beta,
            low: law.soft_low,
            high: law.soft_high,
            decrease: law.soft_decrease,
            probe: law.soft_probe,
            min_interval: law.min_interval.secs(),
            packet: flow.packet.as_f64(),
            scale: flow.packet.as_f64() / flow.mss.as_f64(),
            target: flow.packet.as_f64() / length,
            epoch: Epoch::new(Time::NEVER, length, Bytes::ZERO, 0),
            left: 0.0,
            per_byte: 0.0,
        }
    }

    /// Notes a packet that has reached the buffer.
    pub(super) fn observe(&mut self, now: Time, payload: Bytes, buffer: &Buffer) {
        let epoch = &mut self.epoch;
        if epoch.start == Time::NEVER {
            epoch.start = now;
        }
        if now.since(epoch.start).secs() >= epoch.length {
            self.control(now, buffer);
        }
        let epoch = &mut self.epoch;
        let queue = buffer.unread.as_f64() * self.scale;
        epoch.came = epoch.came.saturating_add(payload);
        epoch.queue_sum += queue;
        epoch.queue_max = epoch.queue_max.max(queue);
        epoch.packets += 1.0;
    }

    /// Grant of a packet with this RTT and wish, in B/s.
    pub(super) fn grant(&mut self, rtt: Duration, wish: f64) -> f64 {
        if !rtt.is_zero() {
            self.epoch.rtt_sum += rtt.secs();
            self.epoch.rtts += 1.0;
        }
        let allotted = self.per_byte * self.packet;
        let gives = allotted > 0.0;
        let allotted = if gives { allotted.min(self.left) } else { allotted.max(self.left) };
        let granted = wish.min(allotted);
        // The part that a router has refused remains for later packets.
        self.left -= if gives { granted.max(0.0) } else { allotted };
        granted
    }

    /// Ends the epoch.
    fn control(&mut self, now: Time, buffer: &Buffer) {
        let epoch = &self.epoch;
        let time = now.since(epoch.start).secs();
        let mean_rtt = if epoch.rtts > 0.0 { epoch.rtt_sum / epoch.rtts } else { epoch.length };
        let length = mean_rtt.max(self.min_interval);
        let came = epoch.came.as_f64() * self.scale / time;
        // Whole bytes: a reader that keeps up must not be a rounding error behind.
        let read = buffer.read - epoch.read;
        let mean = if epoch.packets > 0.0 { epoch.queue_sum / epoch.packets } else { 0.0 };
        let queue = (mean + epoch.queue_max) / 2.0;
        let size = buffer.size.as_f64() * self.scale;
        let segment = self.packet / length;
        if read == Bytes::ZERO {
            self.target = segment;
        } else if buffer.refused > epoch.refused {
            self.target /= 2.0;
        } else if queue > self.high * size {
            self.target *= 1.0 - self.decrease;
        } else if came >= 0.5 * self.target && queue < self.low * size && read >= epoch.came {
            self.target += self.probe * segment;
        }
        self.target = self.target.max(segment).min(size / length);
        let change = self.alpha * (self.target - came) - self.beta * queue / length;
        self.left = change;
        // The next epoch is assumed to bring as many bytes as this one.
        self.per_byte = change / (came * length).max(self.packet);
        self.epoch = Epoch::new(now, length, buffer.read, buffer.refused);
    }
}

impl Epoch {
    fn new(start: Time, length: f64, read: Bytes, refused: u64) -> Epoch {
        Epoch {
            start,
            length,
            came: Bytes::ZERO,
            queue_sum: 0.0,
            queue_max: 0.0,
            packets: 0.0,
            rtt_sum: 0.0,
            rtts: 0.0,
            read,
            refused,
        }
    }
}

#[cfg(test)]
#[path = "soft_tests.rs"]
mod tests;
