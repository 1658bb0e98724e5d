//! The network path model: rounds, bandwidth, aggregation, and bounds from losses (5.5).

use ratewire_units::{Bytes, Time};

use super::PacketNumber;
use super::delivery::{RateSample, Sent};
use super::filter::{MaxBw, RoundMax};
use super::source::{BbrSource, State};
use crate::law::Acked;

/// Packet-timed round trips (5.5.1).
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Round {
    pub(super) count: u64,
    /// Whether this acknowledgement begins a round.
    pub(super) started: bool,
    /// A packet that was sent after this much had been delivered ends the round.
    next_delivered: u64,
}

impl Round {
    /// Restarts the round with the packets sent from now on.
    pub(super) fn restart(&mut self, delivered: u64) {
        self.next_delivered = delivered;
    }

    fn update(&mut self, rs: &RateSample, delivered: u64) {
        self.started = rs.prior_delivered >= self.next_delivered;
        if self.started {
            self.restart(delivered);
            self.count += 1;
        }
    }
}

/// Bounds of the path, as measured.
#[derive(Clone, Debug)]
pub(super) struct Model {
    max_bw: MaxBw,
    min_rtt: Option<f64>,
    min_rtt_at: Time,
    bw_shortterm: f64,
    /// Infinite, as the other bounds, before a loss.
    pub(super) inflight_longterm: f64,
    pub(super) inflight_shortterm: f64,
    pub(super) extra_acked: f64,
    aggregation: RoundMax,
    aggregation_since: Time,
    aggregation_delivered: f64,
    latest: Latest,
    loss: LossRound,
}

/// Largest bandwidth and delivery of the last round.
#[derive(Clone, Copy, Debug, Default)]
struct Latest {
    bw: f64,
    inflight: f64,
}

/// Losses of a round. The round begins with the first loss.
#[derive(Clone, Copy, Debug, Default)]
struct LossRound {
    delivered: u64,
    started: bool,
    any: bool,
    /// Ranges of packet numbers lost.
    ranges: u32,
    last: Option<PacketNumber>,
}

impl Default for Model {
    fn default() -> Model {
        Model {
            max_bw: MaxBw::default(),
            min_rtt: None,
            min_rtt_at: Time::ZERO,
            bw_shortterm: f64::INFINITY,
            inflight_longterm: f64::INFINITY,
            inflight_shortterm: f64::INFINITY,
            extra_acked: 0.0,
            aggregation: RoundMax::default(),
            aggregation_since: Time::ZERO,
            aggregation_delivered: 0.0,
            latest: Latest::default(),
            loss: LossRound::default(),
        }
    }
}

impl Model {
    pub(super) fn max_bw(&self) -> f64 {
        self.max_bw.get()
    }
    pub(super) fn bw(&self) -> f64 {
        self.max_bw().min(self.bw_shortterm)
    }
    /// Lowest RTT in seconds; `None` while unknown.
    pub(super) fn min_rtt(&self) -> Option<f64> {
        self.min_rtt
    }
    pub(super) fn min_rtt_at(&self) -> Time {
        self.min_rtt_at
    }
    pub(super) fn set_min_rtt(&mut self, rtt: f64, at: Time) {
        self.min_rtt = Some(rtt);
        self.min_rtt_at = at;
    }
    pub(super) fn advance_max_bw(&mut self) {
        self.max_bw.advance();
    }
    /// Largest delivery of the last round.
    pub(super) fn inflight_latest(&self) -> f64 {
        self.latest.inflight
    }
    /// Number of ranges of lost packets in the loss round that ends now; `None` if none ends.
    pub(super) fn lost_ranges_of_round(&self) -> Option<u32> {
        self.loss.started.then_some(self.loss.ranges)
    }

    /// UpdateACKAggregation (5.5.9).
    pub(super) fn update_aggregation(
        &mut self,
        rs: &RateSample,
        cwnd: f64,
        round: u64,
        steady: bool,
    ) {
        let mut expected = self.bw() * rs.now.since(self.aggregation_since).secs();
        if self.aggregation_delivered <= expected {
            self.restart_aggregation(rs.now);
            expected = 0.0;
        }
        self.aggregation_delivered += rs.newly_acked;
        self.aggregation.update(round, (self.aggregation_delivered - expected).min(cwnd));
        self.extra_acked =
            if steady { self.aggregation.of_ten_rounds() } else { self.aggregation.of_one_round() };
    }

    pub(super) fn restart_aggregation(&mut self, now: Time) {
        self.aggregation_since = now;
        self.aggregation_delivered = 0.0;
    }

    /// UpdateLatestDeliverySignals (5.5.10.3).
    pub(super) fn update_latest_delivery(&mut self, rs: &RateSample, delivered: u64) {
        self.latest.bw = self.latest.bw.max(rs.delivery_rate);
        self.latest.inflight = self.latest.inflight.max(rs.delivered);
        self.loss.started = rs.prior_delivered >= self.loss.delivered;
        if self.loss.started {
            self.loss.delivered = delivered;
        }
    }

    /// AdvanceLatestDeliverySignals (5.5.10.3).
    pub(super) fn advance_latest_delivery(&mut self, rs: &RateSample) {
        if self.loss.started {
            self.latest = Latest { bw: rs.delivery_rate, inflight: rs.delivered };
            self.loss.ranges = 0;
        }
    }

    pub(super) fn reset_congestion_signals(&mut self) {
        self.loss.any = false;
        self.latest = Latest::default();
    }

    pub(super) fn reset_short_term(&mut self) {
        self.bw_shortterm = f64::INFINITY;
        self.inflight_shortterm = f64::INFINITY;
    }

    /// InitLowerBounds and LossLowerBounds (5.5.10.3).
    fn lower_bounds(&mut self, cwnd: f64, beta: f64) {
        let or = |bound: f64, start: f64| if bound.is_finite() { bound } else { start };
        let bw = or(self.bw_shortterm, self.max_bw());
        let inflight = or(self.inflight_shortterm, cwnd);
        self.bw_shortterm = self.latest.bw.max(beta * bw);
        self.inflight_shortterm = self.latest.inflight.max(beta * inflight);
    }

    fn note_lost_range(&mut self, number: PacketNumber) {
        let continues = self.loss.last.is_some_and(|last| last.0 + 1 == number.0);
        self.loss.ranges = self.loss.ranges.saturating_add(u32::from(!continues));
        self.loss.last = Some(number);
    }
}

impl BbrSource {
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
            self.save_cwnd();
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

    /// IsInflightTooHigh (5.5.10.2).
    pub(super) fn is_inflight_too_high(&self, lost: f64, tx_in_flight: f64) -> bool {
        lost > tx_in_flight * self.law.loss_thresh
    }

    fn handle_inflight_too_high(&mut self, now: Time, inflight: f64, app_limited: bool) {
        self.cycle.prev_too_high = true;
        self.cycle.is_probe_sample = false;
        if !app_limited {
            let floor = self.target_inflight() * self.law.beta;
            self.model.inflight_longterm = inflight.max(floor);
        }
        if self.state == State::Up {
            self.start_down(now);
        }
    }
}
