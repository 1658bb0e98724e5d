//! Packets that a sender sends: which is next, and whether it may leave now.

use ratewire_units::{Bytes, Duration, Time};

use super::undo::Frto;
use super::{Opening, Phase, Sender, TimerFor};
use crate::segment::Segment;

/// Maximum lateness that the pacing schedule makes up for. A longer one means that time had
/// stopped.
const LONGEST_CATCHING_UP: Duration = Duration::from_millis(10);
/// Longest wait between two packets, however slow the pace.
const LONGEST_PACE: Duration = Duration::from_secs(3600);

impl Sender {
    // Inlined, the packet is built where it is sent and not copied: 2 % of a packet's time.
    /// The next packet to send now, if any; call again until there is none.
    #[inline(always)]
    pub fn poll_transmit(&mut self, now: Time) -> Option<Segment> {
        self.poll_transmit_within(now, |_, most| most)
    }

    /// As [`Sender::poll_transmit`], for a packet whose content decides how much it carries:
    /// `fit` says how much of the stream from an offset a new packet takes, at least one byte and
    /// at most a number of bytes.
    #[inline(always)]
    pub fn poll_transmit_within(
        &mut self,
        now: Time,
        fit: impl Fn(u64, u64) -> u64,
    ) -> Option<Segment> {
        if self.opening != Opening::Done {
            return self.poll_open(now);
        }
        if self.writing.next() <= now {
            self.writing.advance(now, self.next);
        }
        let waited = core::mem::take(&mut self.waits_for_pace);
        self.waits_for_host = false;
        let (offset, payload, again) = match self.first_lost() {
            Some((offset, payload)) => (offset, payload, true),
            None => (self.next, self.next_payload(now, fit)?, false),
        };
        let has_room = self.has_room(payload) || (again && self.urgent);
        if !has_room {
            self.note_full_window();
            return None;
        }
        self.waits_for_host = !self.host_takes_packet(now);
        if self.waits_for_host || !self.pace_allows(now, payload, waited) {
            return None;
        }
        if again {
            self.urgent = false;
            self.board.resend_first_lost(now);
            self.stats.retransmitted += Bytes::new(u64::from(payload));
            self.stats.retransmitted_packets += 1;
            if let Some(rack) = &mut self.rack {
                rack.undo.on_copy();
            }
        } else {
            self.board.push(now, offset, payload);
            self.advance_stream(now, payload);
        }
        if let Some(prr) = self.rate_reduction() {
            prr.on_sent(payload);
        }
        if self.timer == Time::NEVER || self.timer_for == TimerFor::WindowProbe {
            self.window_probes = 0;
            self.arm_timer(now);
        }
        Some(self.segment(now, offset, payload, again))
    }

    /// The packet to send again next, if any. F-RTO sends new data before it, if there is any.
    #[inline]
    fn first_lost(&mut self) -> Option<(u64, u32)> {
        if matches!(self.phase, Phase::Timeout(_))
            && let Some(rack) = &mut self.rack
            && let Frto::MaySendNew(left) = &mut rack.undo.frto
            && *left > 0
            && self.next < self.writing.written().min(self.allowed)
        {
            *left -= 1;
            return None;
        }
        self.board.first_lost()
    }

    fn poll_open(&mut self, now: Time) -> Option<Segment> {
        if self.opening != Opening::ToSend {
            return None;
        }
        (self.opening, self.opened) = (Opening::Sent { again: false }, now);
        self.timer = now + self.rtt.rto();
        Some(self.open_segment(now))
    }

    /// Whether the pace lets a packet go now, and when the next may go. A packet that waited only
    /// for the pace and goes late keeps the schedule; after any other wait a new schedule begins.
    #[inline]
    fn pace_allows(&mut self, now: Time, payload: u32, waited: bool) -> bool {
        let Some(pace) = self.source.pacing() else { return true };
        if self.is_unpaced(payload) {
            return true;
        }
        if self.pace_next > now {
            self.waits_for_pace = true;
            return false;
        }
        let size = Bytes::new(u64::from(payload) + u64::from(self.headers));
        let due = if waited { self.pace_next.max(now - LONGEST_CATCHING_UP) } else { now };
        self.pace_next = due + pace.time_for(size).min(LONGEST_PACE);
        // Still late: the packets after it have waited as well.
        self.waits_for_pace = waited && self.pace_next <= now;
        true
    }
}
