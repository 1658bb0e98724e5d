//! ProbeBW, the cycle of DOWN, CRUISE, REFILL and UP (5.3.3).

use ratewire_units::{Duration, Time};

use super::{Bbr3Source, State};
use crate::bbr::delivery::RateSample;

/// Maximum number of rounds between two probes, for coexistence with Reno and CUBIC (5.3.3.5.2).
const RENO_ROUNDS: f64 = 63.0;
/// Maximum difference of two waits between probes, in seconds (5.3.3.5.3).
const WAIT_SPREAD: f64 = 1.0;
/// Maximum number of doublings of the growth of `inflight_longterm` in one probe (5.3.3.6).
const MOST_DOUBLINGS: u32 = 30;

/// Position of the flow in the cycle of probes.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Cycle {
    /// Whether acknowledgements are of packets sent while probing.
    pub(super) is_probe_sample: bool,
    /// Whether the probe is over while acknowledgements of its packets still arrive. (The draft's
    /// `ack_phase`; nothing depends on its other phases.)
    pub(super) stopping: bool,
    /// Whether the last probe lost too much.
    pub(super) prev_too_high: bool,
    /// Whether the last probe ended at the bound at which the one before had lost too much.
    prev_precautionary: bool,
    pub(super) rounds_since_probe: u64,
    started_at: Time,
    wait: Duration,
    /// Rounds over which `inflight_longterm` has grown in this probe.
    up_rounds: u32,
    up_acked: f64,
    /// Acknowledged bytes for each packet of growth of `inflight_longterm`.
    up_acked_per_packet: f64,
}

impl Bbr3Source {
    pub(super) fn start_down(&mut self, now: Time) {
        self.model.reset_congestion_signals();
        self.cycle.up_acked_per_packet = f64::INFINITY;
        self.pick_probe_wait();
        self.cycle.started_at = now;
        self.cycle.stopping = true;
        self.round.restart(self.delivery.delivered);
        self.state = State::Down;
    }

    pub(super) fn start_refill(&mut self) {
        self.model.reset_short_term();
        self.cycle.up_rounds = 0;
        self.cycle.up_acked = 0.0;
        self.cycle.prev_precautionary = false;
        self.cycle.stopping = false;
        self.round.restart(self.delivery.delivered);
        self.state = State::Refill;
    }

    fn start_up(&mut self, rs: &RateSample) {
        self.round.restart(self.delivery.delivered);
        self.full_pipe.reset(rs.delivery_rate);
        self.state = State::Up;
        self.raise_slope();
    }

    /// UpdateProbeBWCyclePhase (5.3.3.6).
    pub(super) fn update_probe_bw(&mut self, rs: &RateSample) {
        if !self.full_pipe.reached || self.adapt_long_term_model(rs) {
            return;
        }
        let state = self.state;
        match state {
            State::Down | State::Cruise if self.is_time_to_probe(rs.now) => self.start_refill(),
            State::Down if self.is_time_to_cruise(rs) => self.state = State::Cruise,
            State::Refill if self.round.started => {
                self.cycle.is_probe_sample = true;
                self.start_up(rs);
            }
            State::Up if self.is_time_to_go_down(rs) => {
                // The probe's losses are not known yet.
                self.cycle.prev_too_high = false;
                self.start_down(rs.now);
            }
            _ => {}
        }
    }

    /// PickProbeWait (5.3.3.5.3): two to three seconds; the count of rounds starts at 0 or 1.
    fn pick_probe_wait(&mut self) {
        self.cycle.rounds_since_probe = self.random.next() & 1;
        let spread = Duration::from_secs_f64(self.random.unit() * WAIT_SPREAD);
        self.cycle.wait = self.law.probe_wait + spread;
    }

    /// IsTimeToProbeBW (5.3.3.5.3).
    fn is_time_to_probe(&self, now: Time) -> bool {
        let reno_rounds = (self.target_inflight() / self.sizes.mss).min(RENO_ROUNDS);
        now > self.cycle.started_at + self.cycle.wait
            || self.cycle.rounds_since_probe as f64 >= reno_rounds
    }

    fn is_time_to_cruise(&self, rs: &RateSample) -> bool {
        let room = self.inflight_with_headroom().min(self.inflight(self.model.max_bw()));
        rs.in_flight <= room
    }

    fn is_time_to_go_down(&mut self, rs: &RateSample) -> bool {
        let longterm = self.model.inflight_longterm;
        // Packets are sent whole, so the bound is reached when no further packet fits.
        if self.cycle.prev_too_high && rs.was_in_flight + self.sizes.mss > longterm {
            self.cycle.prev_precautionary = true;
            return true;
        }
        if self.is_cwnd_limited() && self.cwnd >= longterm {
            // The bound, and not the path, keeps the rate from growing.
            self.full_pipe.reset(rs.delivery_rate);
            return false;
        }
        self.full_pipe.now
    }

    /// RaiseInflightLongtermSlope (5.3.3.6): twice as fast as in the round before.
    fn raise_slope(&mut self) {
        let packets = f64::from(1u32 << self.cycle.up_rounds);
        self.cycle.up_rounds = (self.cycle.up_rounds + 1).min(MOST_DOUBLINGS);
        self.cycle.up_acked_per_packet = (self.cwnd / packets).max(self.sizes.mss);
    }

    /// ProbeInflightLongtermUpward (5.3.3.6).
    fn raise_inflight_longterm(&mut self, rs: &RateSample) {
        if !self.is_cwnd_limited() || self.cwnd < self.model.inflight_longterm {
            return;
        }
        self.cycle.up_acked += rs.newly_acked;
        if self.cycle.up_acked >= self.cycle.up_acked_per_packet {
            let packets = libm::floor(self.cycle.up_acked / self.cycle.up_acked_per_packet);
            self.cycle.up_acked -= packets * self.cycle.up_acked_per_packet;
            self.model.inflight_longterm += packets * self.sizes.mss;
        }
        if self.round.started {
            self.raise_slope();
        }
    }

    /// AdaptLongTermModel (5.3.3.6). Returns whether the state changed.
    fn adapt_long_term_model(&mut self, rs: &RateSample) -> bool {
        if self.cycle.stopping && self.round.started {
            self.cycle.is_probe_sample = false;
            self.cycle.stopping = false;
            let is_probe_bw = self.state.is_probe_bw();
            if is_probe_bw && !rs.app_limited {
                self.model.advance_max_bw();
            }
            if is_probe_bw && self.cycle.prev_precautionary && !self.cycle.prev_too_high {
                self.start_refill();
                return true;
            }
        }
        if !self.is_inflight_too_high(rs.lost, rs.tx_in_flight)
            && self.model.inflight_longterm.is_finite()
        {
            let proven = self.model.inflight_longterm.max(rs.tx_in_flight);
            self.model.inflight_longterm = proven;
            if self.state == State::Up {
                self.raise_inflight_longterm(rs);
            }
        }
        false
    }
}
