//! The network path model: bandwidth, aggregation, and bounds from losses (5.5).

use ratewire_units::Time;

use super::max_bw::MaxBw;
use crate::bbr::PacketNumber;
use crate::bbr::aggregation::Aggregation;
use crate::bbr::delivery::RateSample;
use crate::bbr::filter::RoundMax;

/// Bounds of the path, as measured.
#[derive(Clone, Debug)]
pub(super) struct Model {
    pub(super) max_bw: MaxBw,
    min_rtt: Option<f64>,
    min_rtt_at: Time,
    bw_shortterm: f64,
    /// Infinite, as the other bounds, before a loss.
    pub(super) inflight_longterm: f64,
    pub(super) inflight_shortterm: f64,
    pub(super) extra_acked: f64,
    aggregation: Aggregation,
    aggregated: RoundMax,
    latest: Latest,
    pub(super) loss: LossRound,
    /// The bounds before the last recovery or round of losses.
    before_losses: Bounds,
}

/// Bounds that losses lower.
#[derive(Clone, Copy, Debug)]
struct Bounds {
    bw_shortterm: f64,
    inflight_shortterm: f64,
    inflight_longterm: f64,
}

/// Largest bandwidth and delivery of the last round.
#[derive(Clone, Copy, Debug, Default)]
struct Latest {
    bw: f64,
    inflight: f64,
}

/// Losses of a round. The round begins with the first loss.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct LossRound {
    pub(super) delivered: u64,
    pub(super) started: bool,
    pub(super) any: bool,
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
            aggregation: Aggregation::default(),
            aggregated: RoundMax::default(),
            latest: Latest::default(),
            loss: LossRound::default(),
            before_losses: Bounds {
                bw_shortterm: 0.0,
                inflight_shortterm: 0.0,
                inflight_longterm: 0.0,
            },
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
        let extra = self.aggregation.extra(rs.now, rs.newly_acked, self.bw());
        self.aggregated.update(round, extra.min(cwnd));
        self.extra_acked =
            if steady { self.aggregated.of_ten_rounds() } else { self.aggregated.of_one_round() };
    }

    pub(super) fn restart_aggregation(&mut self, now: Time) {
        self.aggregation.restart(now);
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
    pub(super) fn lower_bounds(&mut self, cwnd: f64, beta: f64) {
        let or = |bound: f64, start: f64| if bound.is_finite() { bound } else { start };
        let bw = or(self.bw_shortterm, self.max_bw());
        let inflight = or(self.inflight_shortterm, cwnd);
        self.bw_shortterm = self.latest.bw.max(beta * bw);
        self.inflight_shortterm = self.latest.inflight.max(beta * inflight);
    }

    pub(super) fn note_lost_range(&mut self, number: PacketNumber) {
        let continues = self.loss.last.is_some_and(|last| last.0 + 1 == number.0);
        self.loss.ranges = self.loss.ranges.saturating_add(u32::from(!continues));
        self.loss.last = Some(number);
    }

    /// Keeps the bounds, for [`Model::undo_losses`] (SaveStateUponLoss, 5.5.11.1).
    pub(super) fn save_bounds(&mut self) {
        self.before_losses = Bounds {
            bw_shortterm: self.bw_shortterm,
            inflight_shortterm: self.inflight_shortterm,
            inflight_longterm: self.inflight_longterm,
        };
    }

    /// Takes back what losses have done, because nothing was lost (5.5.11.2).
    pub(super) fn undo_losses(&mut self) {
        let before = self.before_losses;
        self.loss.any = false;
        self.bw_shortterm = self.bw_shortterm.max(before.bw_shortterm);
        self.inflight_shortterm = self.inflight_shortterm.max(before.inflight_shortterm);
        self.inflight_longterm = self.inflight_longterm.max(before.inflight_longterm);
    }
}
