//! A sender's single timer, set for the next thing due.

use ratewire_laws::Signal;
use ratewire_units::{Bytes, Duration, Time};

use super::{Opening, Phase, Sender, TimerFor};
use crate::segment::{Segment, SegmentKind};

/// Slack of a tail-loss probe beside two RTTs (Linux: two ticks of its clock).
const PROBE_SLACK: Duration = Duration::from_millis(2);
/// Longest time between two probes of a closed window (Linux: as for retransmissions).
const LONGEST_WINDOW_PROBE: Duration = Duration::from_secs(120);

impl Sender {
    /// Restarts the timer: for reordering if there is a hole, for a tail-loss probe if none is
    /// under repair (RFC 8985, 7.2), never later than the retransmission timeout.
    #[inline]
    pub(super) fn arm_timer(&mut self, now: Time) {
        self.timer_for = TimerFor::Retransmission;
        if self.board.is_empty() {
            self.timer = Time::NEVER;
            return;
        }
        let rto = self.rtt.rto();
        self.timer = now + rto;
        let srtt = self.rtt.srtt();
        if let Some(rack) = self.rack.as_ref().filter(|_| self.is_overtaken) {
            self.timer_for = TimerFor::Reordering;
            self.timer = self.timer.min(rack.overtaken_until);
            return;
        }
        if !self.tail_loss_probe || self.in_repair() || srtt.is_zero() {
            return;
        }
        if self.board.has_sacked() {
            if self.rack.is_none() {
                self.timer_for = TimerFor::Reordering;
                self.timer = now + (srtt / 4).min(rto);
            }
        } else if self.tail_probed.is_none() {
            let alone = self.board.len() == 1;
            let delayed_ack = if alone { self.delayed_ack } else { Duration::ZERO };
            self.timer_for = TimerFor::TailProbe;
            self.timer = now + (srtt * 2 + PROBE_SLACK + delayed_ack).min(rto);
        }
    }

    /// Starts the timer for a probe of the receiver's closed window: the update that opens the
    /// window may be lost.
    pub(super) fn arm_window_probe(&mut self, now: Time) {
        let wait = self.rtt.rto() * (1 << self.window_probes.min(16));
        self.timer = now + wait.min(LONGEST_WINDOW_PROBE);
        self.timer_for = TimerFor::WindowProbe;
    }

    /// Does what is due; call it at [`Sender::deadline`]. May return a packet that must be sent
    /// whatever the window.
    pub fn on_timer(&mut self, now: Time) -> Option<Segment> {
        self.on_timer_within(now, |_, most| most)
    }

    /// As [`Sender::on_timer`], with the `fit` of [`Sender::poll_transmit_within`].
    pub fn on_timer_within(&mut self, now: Time, fit: impl Fn(u64, u64) -> u64) -> Option<Segment> {
        if self.law_timer <= now {
            self.source.on_timer(now);
            self.law_timer = self.source.next_timer();
            if self.law_timer <= now {
                self.law_timer_stands_still = true;
                self.law_timer = Time::NEVER;
            }
        }
        if self.timer > now || self.timer == Time::NEVER {
            return None;
        }
        if let Opening::Sent { .. } = self.opening {
            self.opening = Opening::Sent { again: true };
            self.rtt.back_off();
            self.stats.timeouts += 1;
            self.timer = now + self.rtt.rto();
            return Some(self.open_segment(now));
        }
        match self.timer_for {
            TimerFor::WindowProbe => self.probe_window(now),
            TimerFor::TailProbe => self.probe_tail(now, fit),
            TimerFor::Reordering => {
                self.end_reordering(now);
                None
            }
            TimerFor::Retransmission => {
                self.time_out(now);
                None
            }
        }
    }

    fn arm_retransmission(&mut self, now: Time) {
        self.timer = now + self.rtt.rto();
        self.timer_for = TimerFor::Retransmission;
    }

    fn time_out(&mut self, now: Time) {
        self.stats.timeouts += 1;
        let (in_repair, again) = (self.in_repair(), matches!(self.phase, Phase::Timeout(_)));
        // Before everything counts as lost: copies that are out are counted.
        if !again {
            self.begin_undo(!in_repair);
        }
        self.board.mark_all_lost();
        if let Some(rack) = &mut self.rack {
            rack.prr = None;
        }
        self.is_overtaken = false;
        self.tell(now, Signal::Timeout, self.flight_size());
        self.phase = Phase::Timeout(self.next);
        self.lost_beyond = false;
        self.urgent = false;
        self.tail_probed = None;
        self.rtt.back_off();
        self.answered = Time::NEVER;
        self.pace_next = now;
        self.arm_retransmission(now);
    }

    /// Ends the time that overtaken packets had to arrive.
    fn end_reordering(&mut self, now: Time) {
        if self.rack.is_some() {
            self.detect_losses(now);
            self.arm_timer(now);
            return;
        }
        if let Some(lost) = self.board.give_up_holes() {
            self.found_lost(now, lost);
        }
        self.arm_retransmission(now);
    }

    /// RFC 8985, 7.3: new data if there is any, else the last packet again.
    fn probe_tail(&mut self, now: Time, fit: impl Fn(u64, u64) -> u64) -> Option<Segment> {
        self.arm_retransmission(now);
        if let Some(payload) = self.next_payload(now, fit) {
            let offset = self.next;
            self.board.push(now, offset, payload);
            self.advance_stream(now, payload);
            return Some(self.segment(now, offset, payload, false));
        }
        let (offset, payload) = self.board.resend_last(now)?;
        self.tail_probed = Some(self.next);
        self.stats.retransmitted += Bytes::new(u64::from(payload));
        self.stats.retransmitted_packets += 1;
        Some(self.segment(now, offset, payload, true))
    }

    /// An empty packet, which the receiver answers with its window. It is neither data nor news for
    /// the law, and its loss is no sign of congestion.
    fn probe_window(&mut self, now: Time) -> Option<Segment> {
        if self.next >= self.writing.written() {
            self.timer = Time::NEVER;
            return None;
        }
        self.window_probes += 1;
        self.arm_window_probe(now);
        Some(Self::bare_segment(SegmentKind::Data { again: false }, self.next))
    }
}
