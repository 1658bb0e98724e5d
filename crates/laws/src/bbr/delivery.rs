//! Delivery rate samples: draft -06, section 4.1.
//!
//! [`Sent`] is `P` of the draft, the state kept of each packet on its way. [`RateSample`] is `RS`.

use alloc::collections::VecDeque;

use ratewire_units::Time;

use super::PacketNumber;
use crate::law::{Acked, Sending};

/// State of a packet at its departure (`P`).
#[derive(Clone, Copy, Debug)]
pub(super) struct Sent {
    /// Payload.
    pub(super) size: u64,
    /// Payload outstanding, this packet included.
    pub(super) in_flight: u64,
    /// Payload lost so far.
    pub(super) lost: u64,
    pub(super) app_limited: bool,
    delivered: u64,
    delivered_at: Time,
    first_sent_at: Time,
    sent_at: Time,
    arrived: bool,
}

/// Sample of the path from one acknowledgement (`RS`).
#[derive(Clone, Copy, Debug)]
pub(super) struct RateSample {
    pub(super) now: Time,
    /// Delivery rate in payload bytes per second, 0 if unknown.
    pub(super) delivery_rate: f64,
    /// Payload delivered while the newest packet was on its way.
    pub(super) delivered: f64,
    /// Payload that had been delivered when the newest packet was sent.
    pub(super) prior_delivered: u64,
    /// Payload outstanding when the newest packet was sent.
    pub(super) tx_in_flight: f64,
    /// Payload lost while the newest packet was on its way.
    pub(super) lost: f64,
    pub(super) app_limited: bool,
    /// Round-trip time in seconds.
    pub(super) rtt: f64,
    /// Payload that the acknowledgement newly covers.
    pub(super) newly_acked: f64,
    /// Payload outstanding before the acknowledgement.
    pub(super) was_in_flight: f64,
    /// Payload outstanding now.
    pub(super) in_flight: f64,
}

/// Counts what is delivered and lost.
#[derive(Clone, Debug, Default)]
pub(super) struct Delivery {
    /// Payload delivered.
    pub(super) delivered: u64,
    /// Payload found lost.
    pub(super) lost: u64,
    delivered_at: Time,
    /// Send time of the packet that was delivered last or that ended an idle time.
    first_sent_at: Time,
    /// Samples are the application's, not the path's, until more than this is delivered.
    app_limited: Option<u64>,
    /// Packets on their way, from the oldest that has neither arrived nor been lost.
    sent: VecDeque<Sent>,
    /// Number of `sent[0]`.
    first: u64,
    /// Payload of the packets that have not arrived.
    out: u64,
}

impl Delivery {
    /// Marks samples from now on as limited by the application, which offers less than the window
    /// allows (4.1.2.4).
    pub(super) fn mark_app_limited(&mut self, in_flight: u64) {
        self.app_limited = Some(self.delivered.saturating_add(in_flight));
    }

    /// Prepares the departure of a packet of `size`. Returns whether it ends an idle time that the
    /// application has made.
    pub(super) fn ends_idling(&mut self, sending: &Sending, size: u64) -> bool {
        let before = sending.in_flight.get().saturating_sub(size);
        if sending.limited {
            self.mark_app_limited(before);
        }
        before == 0 && self.app_limited.is_some()
    }

    /// Notes a departing packet of `size`; `in_flight` includes the packet (4.1.2.2).
    pub(super) fn on_send(&mut self, now: Time, size: u64, in_flight: u64) -> PacketNumber {
        if in_flight <= size {
            self.first_sent_at = now;
            self.delivered_at = now;
        }
        let number = self.first + self.sent.len() as u64;
        self.out = self.out.saturating_add(size);
        self.sent.push_back(Sent {
            size,
            in_flight,
            lost: self.lost,
            app_limited: self.app_limited.is_some(),
            delivered: self.delivered,
            delivered_at: self.delivered_at,
            first_sent_at: self.first_sent_at,
            sent_at: now,
            arrived: false,
        });
        PacketNumber(number)
    }

    /// Handles the acknowledgement of this packet (4.1.2.3). The caller reports losses after this
    /// call, and takes the sample after them.
    pub(super) fn on_ack(&mut self, acked: &Acked, number: Option<PacketNumber>) -> Option<Sent> {
        if acked.limited {
            self.mark_app_limited(acked.in_flight.get());
        }
        let number = number?;
        let bytes = acked.bytes.get();
        if bytes > 0 {
            self.delivered = self.delivered.saturating_add(bytes);
            self.delivered_at = acked.now;
        }
        let sent = self.arrive(number, bytes);
        if let Some(sent) = &sent {
            self.first_sent_at = sent.sent_at;
        }
        if self.app_limited.is_some_and(|until| self.delivered > until) {
            self.app_limited = None;
        }
        sent.filter(|_| bytes > 0)
    }

    /// Marks the packet as arrived, and as many before it as the acknowledgement covers, because it
    /// names only the newest.
    fn arrive(&mut self, number: PacketNumber, bytes: u64) -> Option<Sent> {
        let newest = number.0.checked_sub(self.first)? as usize;
        let packet = *self.sent.get(newest)?;
        let mut unnamed = bytes.saturating_sub(packet.size);
        for (steps, sent) in self.sent.range_mut(..=newest).rev().enumerate() {
            if sent.arrived || (steps > 0 && unnamed < sent.size) {
                break;
            }
            if steps > 0 {
                unnamed -= sent.size;
            }
            sent.arrived = true;
            self.out = self.out.saturating_sub(sent.size);
        }
        while self.sent.front().is_some_and(|sent| sent.arrived) {
            self.forget_first();
        }
        Some(packet)
    }

    fn forget_first(&mut self) {
        self.sent.pop_front();
        self.first += 1;
    }

    /// The oldest packet that still counts as on its way, with its number, if the transport has
    /// given it up. The transport has `in_flight` outstanding.
    pub(super) fn give_up(&mut self, in_flight: u64) -> Option<(PacketNumber, Sent)> {
        while let Some(sent) = self.sent.front().copied() {
            if !sent.arrived && self.out <= in_flight {
                return None;
            }
            let number = PacketNumber(self.first);
            self.forget_first();
            if !sent.arrived {
                self.out = self.out.saturating_sub(sent.size);
                return Some((number, sent));
            }
        }
        None
    }

    /// The sample from the arrival of this packet.
    pub(super) fn sample(&self, acked: &Acked, packet: &Sent) -> RateSample {
        let send_elapsed = packet.sent_at.since(packet.first_sent_at);
        let ack_elapsed = acked.now.since(packet.delivered_at);
        let interval = send_elapsed.max(ack_elapsed).secs();
        let delivered = self.delivered.saturating_sub(packet.delivered) as f64;
        RateSample {
            now: acked.now,
            delivery_rate: if interval > 0.0 { delivered / interval } else { 0.0 },
            delivered,
            prior_delivered: packet.delivered,
            tx_in_flight: packet.in_flight as f64,
            lost: self.lost.saturating_sub(packet.lost) as f64,
            app_limited: packet.app_limited,
            rtt: acked.now.since(packet.sent_at).secs(),
            newly_acked: acked.bytes.as_f64(),
            was_in_flight: acked.was_in_flight.as_f64(),
            in_flight: acked.in_flight.as_f64(),
        }
    }
}
