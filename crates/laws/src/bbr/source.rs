//! The sender's part: the order of its steps (5.2), and the pacing rate and window that result
//! (5.6).

use ratewire_units::{Bytes, Duration, Throughput, Time};

use super::delivery::{Delivery, RateSample};
use super::model::{Model, Round};
use super::probe_bw::Cycle;
use super::probe_rtt::ProbeRtt;
use super::startup::FullPipe;
use super::{Bbr, PacketNumber};
use crate::law::{Acked, Congestion, FlowContext, Sending, Signal, Source};
use crate::reason::{Figure, Reason};

/// Above this an `f64` cannot hold single bytes: 2^53. No path is that long.
const MAX_WINDOW: f64 = 9_007_199_254_740_992.0;
/// MinPipeCwnd, in packets (2.8).
const MIN_PIPE: f64 = 4.0;
/// ProbeRTTCwndGain (2.16.2).
pub(super) const PROBE_RTT_CWND_GAIN: f64 = 0.5;

/// A state of the state machine (5.1).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum State {
    Startup,
    Drain,
    Down,
    Cruise,
    Refill,
    Up,
    ProbeRtt,
}

impl State {
    pub(super) fn is_probe_bw(self) -> bool {
        matches!(self, State::Down | State::Cruise | State::Refill | State::Up)
    }
    /// Whether the state probes for more bandwidth (5.3.3.6.1, IsProbingBW).
    pub(super) fn accelerates(self) -> bool {
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
pub struct BbrSource {
    pub(super) law: Bbr,
    pub(super) state: State,
    pub(super) delivery: Delivery,
    pub(super) round: Round,
    pub(super) model: Model,
    pub(super) full_pipe: FullPipe,
    pub(super) cycle: Cycle,
    pub(super) probe_rtt: ProbeRtt,
    pub(super) idle_restart: bool,
    pub(super) cwnd: f64,
    pub(super) pacing_rate: f64,
    /// The window before loss recovery or ProbeRTT lowered it.
    prior_cwnd: f64,
    pub(super) in_recovery: bool,
    /// The round in which the window was last used to the full.
    cwnd_limited: Option<u64>,
    pub(super) mss: f64,
    initial_window: f64,
    /// Network-layer bytes of a packet beside its payload.
    headers: Bytes,
    /// Network-layer bytes per payload byte.
    overhead: f64,
}

impl BbrSource {
    pub(super) fn new(law: &Bbr, flow: &FlowContext) -> BbrSource {
        let mss = flow.mss.as_f64().max(1.0);
        let initial_window = law.initial_window.bytes(flow.mss).as_f64().clamp(mss, MAX_WINDOW);
        let mut source = BbrSource {
            law: *law,
            state: State::Startup,
            delivery: Delivery::default(),
            round: Round::default(),
            model: Model::default(),
            full_pipe: FullPipe::default(),
            cycle: Cycle::default(),
            probe_rtt: ProbeRtt::default(),
            idle_restart: false,
            cwnd: initial_window,
            pacing_rate: 0.0,
            prior_cwnd: 0.0,
            in_recovery: false,
            cwnd_limited: None,
            mss,
            initial_window,
            headers: flow.packet.saturating_sub(flow.mss),
            overhead: flow.packet.as_f64() / mss,
        };
        source.init_pacing_rate(Duration::from_millis(1).secs());
        source
    }

    /// InitPacingRate (5.6.2).
    fn init_pacing_rate(&mut self, rtt: f64) {
        self.pacing_rate = self.law.startup_pacing_gain * self.initial_window / rtt;
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

    pub(super) fn set_pacing_rate(&mut self, gain: f64) {
        let rate = gain * self.model.bw() * (1.0 - self.law.pacing_margin);
        if rate > 0.0 && (self.full_pipe.reached || rate > self.pacing_rate) {
            self.pacing_rate = rate;
        }
    }

    /// BDPMultiple (5.6.4.2) of this bandwidth.
    fn bdp_multiple(&self, bw: f64, gain: f64) -> f64 {
        let min_rtt = self.model.min_rtt();
        min_rtt.map_or(self.initial_window, |min_rtt| gain * bw * min_rtt)
    }

    pub(super) fn bdp(&self) -> f64 {
        self.bdp_multiple(self.model.bw(), 1.0)
    }

    pub(super) fn min_pipe_cwnd(&self) -> f64 {
        MIN_PIPE * self.mss
    }

    /// QuantizationBudget (5.6.4.2), with the offload budget of 5.5.8 and the quantum of 5.6.3.
    fn quantised(&self, inflight: f64) -> f64 {
        let offload = if self.law.offload {
            3.0 * (self.pacing_rate * 1e-3).min(64e3).max(2.0 * self.mss)
        } else {
            0.0
        };
        let spare = if self.state == State::Up { 2.0 * self.mss } else { 0.0 };
        inflight.max(offload).max(self.min_pipe_cwnd()) + spare
    }

    /// Data in flight that fills the path at this bandwidth without a queue.
    pub(super) fn inflight(&self, bw: f64) -> f64 {
        self.quantised(self.bdp_multiple(bw, 1.0))
    }

    /// TargetInflight (5.3.3.5.3).
    pub(super) fn target_inflight(&self) -> f64 {
        self.bdp().min(self.cwnd)
    }

    pub(super) fn is_cwnd_limited(&self) -> bool {
        self.cwnd_limited.is_some_and(|round| self.round.count - round <= 1)
    }

    /// SetCwnd (5.6.4.6).
    fn set_cwnd(&mut self, rs: &RateSample) {
        let gain = self.state.cwnd_gain();
        let max_inflight = self.bdp_multiple(self.model.bw(), gain) + self.model.extra_acked;
        let max_inflight = self.quantised(max_inflight);
        let grown = self.cwnd + rs.newly_acked;
        if self.full_pipe.reached {
            self.cwnd = grown.min(max_inflight);
        } else if self.cwnd < max_inflight || (self.delivery.delivered as f64) < self.initial_window
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
    pub(super) fn save_cwnd(&mut self) {
        let modulated = self.in_recovery || self.state == State::ProbeRtt;
        self.prior_cwnd = if modulated { self.prior_cwnd.max(self.cwnd) } else { self.cwnd };
    }

    pub(super) fn restore_cwnd(&mut self) {
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

impl Source for BbrSource {
    type Header = PacketNumber;

    fn on_opened(&mut self, now: Time, rtt: Option<Duration>, _: Option<&PacketNumber>) {
        if let Some(rtt) = rtt.filter(|rtt| !rtt.is_zero()) {
            self.init_pacing_rate(rtt.secs());
            self.probe_rtt.first_rtt(rtt.secs(), now);
            self.model.set_min_rtt(rtt.secs(), now);
        }
    }

    fn on_send(&mut self, sending: &Sending) -> Option<PacketNumber> {
        let size = sending.packet.saturating_sub(self.headers).get();
        let in_flight = sending.in_flight.get();
        let before = in_flight.saturating_sub(size);
        if sending.limited {
            self.delivery.mark_app_limited(before);
        }
        if before == 0 && self.delivery.is_app_limited() {
            self.restart_from_idle(sending.now);
        }
        if in_flight as f64 + self.mss > self.cwnd {
            self.cwnd_limited = Some(self.round.count);
        }
        Some(self.delivery.on_send(sending.now, size, in_flight))
    }

    fn on_ack(&mut self, acked: &Acked, header: Option<&PacketNumber>) {
        if acked.limited {
            self.delivery.mark_app_limited(acked.in_flight.get());
        }
        let packet = header.and_then(|number| self.delivery.on_ack(acked, *number));
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
        self.save_cwnd();
        self.in_recovery = true;
        if congestion.signal == Signal::Timeout {
            self.cwnd = self.mss;
        }
    }

    fn on_recovered(&mut self, _now: Time) {
        self.in_recovery = false;
        self.restore_cwnd();
    }

    #[inline]
    fn window(&self) -> Bytes {
        Bytes::new((self.cwnd + 0.5) as u64)
    }

    #[inline]
    fn pacing(&self) -> Option<Throughput> {
        Some(Throughput::new(self.pacing_rate * self.overhead))
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
