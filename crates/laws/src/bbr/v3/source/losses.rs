//! Losses, and losses that were none (5.5.10, 5.5.11).

use ratewire_units::{Bytes, Time};

use super::{Bbr3Source, State};
use crate::bbr::delivery::{RateSample, Sent};
use crate::law::Acked;

impl Bbr3Source {
    /// UpdateMaxBw and UpdateCongestionSignals (5.5.5, 5.5.10.3).
    pub(super) fn update_congestion_signals(&mut self, rs: &RateSample) {
        self.round.update(rs, self.delivery.delivered);
        if self.round.started {
            self.cycle.rounds_since_probe += 1;
        }
        if rs.delivery_rate >= self.model.max_bw() || !rs.app_limited {
            self.model.max_bw.update(rs.delivery_rate);
        }
        if self.model.loss.started {
            if self.model.loss.any && !self.state.accelerates() {
                self.model.lower_bounds(self.cwnd, self.law.beta);
            }
            self.model.loss.any = false;
        }
    }

    /// Notes the packets that the transport has given up, and marked ones, which count as lost
    /// (3.7). `arrived` is the newest packet acknowledged.
    pub(super) fn note_losses(&mut self, acked: &Acked, arrived: Option<&Sent>) {
        let mut untold = acked.lost.get();
        while let Some((number, packet)) = self.delivery.give_up(acked.in_flight.get()) {
            // A packet that the transport no longer counts, and did not report lost, has arrived.
            if untold >= packet.size {
                untold -= packet.size;
                self.model.note_lost_range(number);
                self.on_lost(acked.now, &packet, packet.size);
            }
        }
        self.delivery.lost = self.delivery.lost.saturating_add(untold);
        if let Some(packet) = arrived
            && acked.marked
            && acked.bytes > Bytes::ZERO
        {
            self.on_lost(acked.now, packet, acked.bytes.get());
        }
    }

    /// NoteLoss and HandleLostPacket (5.5.10.2) for `lost` bytes that end with this packet.
    fn on_lost(&mut self, now: Time, packet: &Sent, lost: u64) {
        self.delivery.lost = self.delivery.lost.saturating_add(lost);
        if !self.model.loss.any {
            self.model.loss.delivered = self.delivery.delivered;
            self.save_state();
        }
        self.model.loss.any = true;
        if !self.cycle.is_probe_sample {
            return;
        }
        let since_sent = self.delivery.lost.saturating_sub(packet.lost) as f64;
        let tx_in_flight = packet.in_flight as f64;
        if self.is_inflight_too_high(since_sent, tx_in_flight) {
            let before = tx_in_flight - packet.size as f64;
            let lost_before = since_sent - packet.size as f64;
            let thresh = self.law.loss_thresh;
            let prefix = (thresh * before - lost_before) / (1.0 - thresh);
            self.handle_inflight_too_high(now, before + prefix, packet.app_limited);
        }
    }

    fn handle_inflight_too_high(&mut self, now: Time, inflight: f64, app_limited: bool) {
        self.cycle.prev_too_high = true;
        self.cycle.is_probe_sample = false;
        if !app_limited {
            let floor = self.target_inflight() * self.law.beta;
            self.model.inflight_longterm = inflight.max(floor);
        }
        if self.state == State::Up {
            self.undo_state = Some(State::Up);
            self.start_down(now);
        }
    }

    /// SaveStateUponLoss (5.5.11.1).
    pub(super) fn save_state(&mut self) {
        self.save_cwnd();
        self.undo_state = None;
        self.model.save_bounds();
    }

    /// HandleSpuriousLossDetection (5.5.11.2).
    pub(super) fn undo_losses(&mut self) {
        self.restore_cwnd();
        self.full_pipe.reset(0.0);
        self.model.undo_losses();
        match self.undo_state.take() {
            Some(State::Startup) if self.state != State::Startup => {
                self.full_pipe.reached = false;
                if self.state != State::ProbeRtt {
                    self.state = State::Startup;
                }
            }
            Some(State::Up) if !matches!(self.state, State::Up | State::ProbeRtt) => {
                self.start_refill();
            }
            _ => {}
        }
    }
}
