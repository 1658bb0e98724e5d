//! The sender's part: the order of its steps (5.2), and the pacing rate and window that result
//! (5.6).

mod full_pipe;
mod losses;
mod probe_bw;
mod probe_rtt;
mod startup;
#[cfg(test)]
mod tests;

use ratewire_units::{Bytes, Duration, Throughput, Time};

use super::Bbr3;
use super::model::Model;
use crate::bbr::delivery::{Delivery, RateSample};
use crate::bbr::random::Random;
use crate::bbr::round::Round;
use crate::bbr::sizes::Sizes;
use crate::bbr::{MAX_WINDOW, MIN_PIPE, PacketNumber};
use crate::law::{Acked, Congestion, FlowContext, Sending, Signal, Source};
use crate::reason::{Figure, Reason};
use full_pipe::FullPipe;
use probe_bw::Cycle;
use probe_rtt::ProbeRtt;

/// ProbeRTTCwndGain (2.16.2).
const PROBE_RTT_CWND_GAIN: f64 = 0.5;

/// A state of the state machine (5.1).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::bbr) enum State {
    Startup,
    Drain,
    Down,
    Cruise,
    Refill,
    Up,
    ProbeRtt,
}

impl State {
    fn is_probe_bw(self) -> bool {
        matches!(self, State::Down | State::Cruise | State::Refill | State::Up)
    }
    /// Whether the state probes for more bandwidth (5.3.3.6.1, IsProbingBW).
    fn accelerates(self) -> bool {
        matches!(self, State::Startup | State::Refill | State::Up)
    }
    fn cwnd_gain(self) -> f64 {
        match self {
            State::Up => 2.25,
            State::ProbeRtt => PROBE_RTT_CWND_GAIN,
            _ => 2.0,
        }
    }
}

/// BBR at one sender. Payload bytes and seconds; only [`Source::pacing`] counts headers.
#[derive(Clone, Debug)]
pub struct Bbr3Source {
    law: Bbr3,
    state: State,
    delivery: Delivery,
    round: Round,
    model: Model,
    full_pipe: FullPipe,
    cycle: Cycle,
    probe_rtt: ProbeRtt,
    idle_restart: bool,
    cwnd: f64,
    pacing_rate: f64,
    /// The window before loss recovery or ProbeRTT lowered it.
    prior_cwnd: f64,
    in_recovery: bool,
    /// The round in which the window was last used to the full.
    cwnd_limited: Option<u64>,
    sizes: Sizes,
    random: Random,
    /// The state that losses have ended, while they may prove to be none.
    undo_state: Option<State>,
}

impl Bbr3Source {
    pub(super) fn new(law: &Bbr3, flow: &FlowContext) -> Bbr3Source {
        let sizes = Sizes::of(flow, law.initial_window);
        let mut source = Bbr3Source {
            law: *law,
            state: State::Startup,
            delivery: Delivery::default(),
            round: Round::default(),
            model: Model::default(),
            full_pipe: FullPipe::default(),
            cycle: Cycle::default(),
            probe_rtt: ProbeRtt::default(),
            idle_restart: false,
            cwnd: sizes.initial_window,
            pacing_rate: 0.0,
            prior_cwnd: 0.0,
            in_recovery: false,
            cwnd_limited: None,
            sizes,
            random: Random::of(flow),
            undo_state: None,
        };
        source.init_pacing_rate(Duration::from_millis(1).secs());
        source
    }

    /// InitPacingRate (5.6.2).
    fn init_pacing_rate(&mut self, rtt: f64) {
        self.pacing_rate = self.law.startup_pacing_gain * self.sizes.initial_window / rtt;
    }

    fn pacing_gain(&self) -> f64 {
        match self.state {
            State::Startup => self.law.startup_pacing_gain,
            State::Drain => 0.5,
            State::Down => 0.9,
            State::Up => self.law.up_pacing_gain,
            State::Cruise | State::Refill | State::ProbeRtt => 1.0,
        }
    }

    fn set_pacing_rate(&mut self, gain: f64) {
        let rate = gain * self.model.bw() * (1.0 - self.law.pacing_margin);
        if rate > 0.0 && (self.full_pipe.reached || rate > self.pacing_rate) {
            self.pacing_rate = rate;
        }
    }

    /// BDPMultiple (5.6.4.2) of this bandwidth.
    fn bdp_multiple(&self, bw: f64, gain: f64) -> f64 {
        let min_rtt = self.model.min_rtt();
        min_rtt.map_or(self.sizes.initial_window, |min_rtt| gain * bw * min_rtt)
    }

    fn bdp(&self) -> f64 {
        self.bdp_multiple(self.model.bw(), 1.0)
    }

    fn min_pipe_cwnd(&self) -> f64 {
        MIN_PIPE * self.sizes.mss
    }

    /// QuantizationBudget (5.6.4.2), with the offload budget of 5.5.8 and the quantum of 5.6.3.
    fn quantised(&self, inflight: f64) -> f64 {
        let offload = if self.law.offload {
            3.0 * (self.pacing_rate * 1e-3).min(64e3).max(2.0 * self.sizes.mss)
        } else {
            0.0
        };
        let spare = if self.state == State::Up { 2.0 * self.sizes.mss } else { 0.0 };
        inflight.max(offload).max(self.min_pipe_cwnd()) + spare
    }

    /// Data in flight that fills the path at this bandwidth without a queue.
    fn inflight(&self, bw: f64) -> f64 {
        self.quantised(self.bdp_multiple(bw, 1.0))
    }

    /// TargetInflight (5.3.3.5.3).
    fn target_inflight(&self) -> f64 {
        self.bdp().min(self.cwnd)
    }

    fn is_cwnd_limited(&self) -> bool {
        self.cwnd_limited.is_some_and(|round| self.round.count - round <= 1)
    }

    /// IsInflightTooHigh (5.5.10.2).
    fn is_inflight_too_high(&self, lost: f64, tx_in_flight: f64) -> bool {
        lost > tx_in_flight * self.law.loss_thresh
    }

    /// InflightWithHeadroom (5.3.3.6).
    fn inflight_with_headroom(&self) -> f64 {
        let longterm = self.model.inflight_longterm;
        if longterm.is_infinite() {
            return f64::INFINITY;
        }
        let headroom = self.sizes.mss.max(self.law.headroom * longterm);
        (longterm - headroom).max(self.min_pipe_cwnd())
    }

    /// ProbeRTTCwnd (5.6.4.5).
    fn probe_rtt_cwnd(&self) -> f64 {
        (PROBE_RTT_CWND_GAIN * self.bdp()).max(self.min_pipe_cwnd())
    }

    /// SetCwnd (5.6.4.6).
    fn set_cwnd(&mut self, rs: &RateSample) {
        let gain = self.state.cwnd_gain();
        let max_inflight = self.bdp_multiple(self.model.bw(), gain) + self.model.extra_acked;
        let max_inflight = self.quantised(max_inflight);
        let grown = self.cwnd + rs.newly_acked;
        if self.full_pipe.reached {
            self.cwnd = grown.min(max_inflight);
        } else if self.cwnd < max_inflight
            || (self.delivery.delivered as f64) < self.sizes.initial_window
        {
            self.cwnd = grown;
        }
        let cap = self.cwnd_cap().max(self.min_pipe_cwnd());
        self.cwnd = self.cwnd.max(self.min_pipe_cwnd()).min(cap).min(MAX_WINDOW);
    }

    /// BoundCwndForProbeRTT (5.6.4.5) and BoundCwndForModel (5.6.4.7).
    fn cwnd_cap(&self) -> f64 {
        let shortterm = self.model.inflight_shortterm;
        match self.state {
            State::Startup | State::Drain => shortterm,
            State::Down | State::Refill | State::Up => self.model.inflight_longterm.min(shortterm),
            State::Cruise => self.inflight_with_headroom().min(shortterm),
            State::ProbeRtt => {
                self.probe_rtt_cwnd().min(self.inflight_with_headroom()).min(shortterm)
            }
        }
    }

    /// SaveCwnd (5.6.4.4).
    fn save_cwnd(&mut self) {
        let modulated = self.in_recovery || self.state == State::ProbeRtt;
        self.prior_cwnd = if modulated { self.prior_cwnd.max(self.cwnd) } else { self.cwnd };
    }

    fn restore_cwnd(&mut self) {
        self.cwnd = self.cwnd.max(self.prior_cwnd);
    }

    /// HandleRestartFromIdle (5.4.1).
    fn restart_from_idle(&mut self, now: Time) {
        self.idle_restart = true;
        self.model.restart_aggregation(now);
        if self.state.is_probe_bw() {
            self.set_pacing_rate(1.0);
        } else if self.state == State::ProbeRtt {
            self.check_probe_rtt_done(now);
        }
    }

    /// UpdateModelAndState and UpdateControlParameters (5.2.3).
    fn update(&mut self, rs: &RateSample) {
        self.model.update_latest_delivery(rs, self.delivery.delivered);
        self.update_congestion_signals(rs);
        self.model.update_aggregation(rs, self.cwnd, self.round.count, self.full_pipe.reached);
        self.full_pipe.check(rs, self.round.started);
        self.check_startup_done(rs);
        self.check_drain_done(rs);
        self.update_probe_bw(rs);
        self.update_min_rtt(rs);
        self.check_probe_rtt(rs);
        self.model.advance_latest_delivery(rs);
        self.set_pacing_rate(self.pacing_gain());
        self.set_cwnd(rs);
    }
}

impl Source for Bbr3Source {
    type Header = PacketNumber;

    fn on_opened(&mut self, now: Time, rtt: Option<Duration>, _: Option<&PacketNumber>) {
        if let Some(rtt) = rtt.filter(|rtt| !rtt.is_zero()) {
            self.init_pacing_rate(rtt.secs());
            self.probe_rtt.first_rtt(rtt.secs(), now);
            self.model.set_min_rtt(rtt.secs(), now);
        }
    }

    fn on_send(&mut self, sending: &Sending) -> Option<PacketNumber> {
        let size = self.sizes.payload(sending.packet);
        let in_flight = sending.in_flight.get();
        if self.delivery.ends_idling(sending, size) {
            self.restart_from_idle(sending.now);
        }
        if in_flight as f64 + self.sizes.mss > self.cwnd {
            self.cwnd_limited = Some(self.round.count);
        }
        Some(self.delivery.on_send(sending.now, size, in_flight))
    }

    fn on_ack(&mut self, acked: &Acked, header: Option<&PacketNumber>) {
        let packet = self.delivery.on_ack(acked, header.copied());
        self.note_losses(acked, packet.as_ref());
        let Some(packet) = packet else { return };
        let rs = self.delivery.sample(acked, &packet);
        if self.model.min_rtt().is_none() && rs.rtt > 0.0 {
            self.init_pacing_rate(rs.rtt);
        }
        self.update(&rs);
    }

    fn on_congestion(&mut self, congestion: &Congestion) {
        if congestion.signal == Signal::Mark {
            // Acknowledgements report marks packet by packet; see `note_losses`.
            return;
        }
        self.save_state();
        self.in_recovery = true;
        if congestion.signal == Signal::Timeout {
            self.cwnd = self.sizes.mss;
        }
    }

    fn on_recovered(&mut self, _now: Time) {
        self.in_recovery = false;
        self.restore_cwnd();
    }

    fn on_spurious(&mut self, _now: Time) {
        self.undo_losses();
    }

    #[inline]
    fn window(&self) -> Bytes {
        Bytes::new((self.cwnd + 0.5) as u64)
    }

    #[inline]
    fn pacing(&self) -> Option<Throughput> {
        Some(self.sizes.network_rate(self.pacing_rate))
    }

    fn reason(&self) -> Reason {
        let equation = match self.state {
            State::Startup => "Startup: pace 2.77 bw until bw no longer grows by a quarter a round",
            State::Drain => "Drain: pace 0.5 bw until no more than bw min_rtt is outstanding",
            State::Down => "ProbeBW_DOWN: pace 0.9 bw until the queue is gone, with some headroom",
            State::Cruise => "ProbeBW_CRUISE: pace bw until it is time to probe again",
            State::Refill => "ProbeBW_REFILL: pace bw for a round, the short-term bounds forgotten",
            State::Up => "ProbeBW_UP: pace 1.25 bw until bw no longer grows or packets are lost",
            State::ProbeRtt => "ProbeRTT: half of bw min_rtt outstanding, to see the empty path",
        };
        let mut figures = alloc::vec![
            Figure::rate("bw", self.model.bw()),
            Figure::rate("max_bw", self.model.max_bw()),
            Figure::seconds("min_rtt", self.model.min_rtt().unwrap_or(0.0)),
            Figure::bytes("cwnd", self.cwnd),
        ];
        let bounds = [
            ("inflight_longterm", self.model.inflight_longterm),
            ("inflight_shortterm", self.model.inflight_shortterm),
        ];
        let set = bounds.iter().filter(|(_, bound)| bound.is_finite());
        figures.extend(set.map(|(name, bound)| Figure::bytes(name, *bound)));
        Reason::new(equation, figures)
    }
}
