//! The sender's part: the order of its steps, and the pacing rate that results.

mod cycle;
mod probe_rtt;
#[cfg(test)]
mod tests;
mod window;

use ratewire_units::{Bytes, Duration, Throughput, Time};

use super::Bbr1;
use super::excess::Excess;
use super::policer::{Counts, Policer};
use crate::bbr::aggregation::Aggregation;
use crate::bbr::delivery::{Delivery, RateSample};
use crate::bbr::filter::RoundMax;
use crate::bbr::plateau::Plateau;
use crate::bbr::random::Random;
use crate::bbr::round::Round;
use crate::bbr::sizes::Sizes;
use crate::bbr::{MIN_PIPE, PacketNumber};
use crate::law::{Acked, Congestion, FlowContext, Sending, Signal, Source};
use crate::reason::{Figure, Reason};
use cycle::Cycle;
use probe_rtt::ProbeRtt;

/// Longest aggregation of acknowledgements that the window provides for, in seconds.
const LONGEST_AGGREGATION: f64 = 0.1;
/// Pace below which packets leave one by one, in bytes per second.
const SINGLE_PACKETS: f64 = 1.2e6 / 8.0;
/// Seconds of pacing that a send quantum holds.
const QUANTUM: f64 = 1.0 / 1024.0;
/// Largest send quantum in payload bytes, and in packets.
const LARGEST_QUANTUM: (f64, f64) = (65_215.0, 127.0);

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::bbr) enum Mode {
    Startup,
    Drain,
    ProbeBw,
    ProbeRtt,
}

/// Repair of losses by the transport.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Repair {
    None,
    Recovery,
    Timeout,
}

/// BBR version 1 at one sender. Payload bytes and seconds; only [`Source::pacing`] counts headers.
#[derive(Clone, Debug)]
pub struct Bbr1Source {
    law: Bbr1,
    mode: Mode,
    sizes: Sizes,
    random: Random,
    delivery: Delivery,
    round: Round,
    max_bw: RoundMax,
    policer: Policer,
    aggregation: Aggregation,
    excess: Excess,
    plateau: Plateau,
    /// Whether the path was found full.
    is_full: bool,
    cycle: Cycle,
    /// Lowest RTT in seconds; `None` while unknown.
    min_rtt: Option<f64>,
    min_rtt_at: Time,
    probe_rtt: ProbeRtt,
    idle_restart: bool,
    pacing_rate: f64,
    cwnd: f64,
    /// The window before recovery or ProbeRTT lowered it.
    prior_cwnd: f64,
    repair: Repair,
    /// The repair at the acknowledgement before.
    repair_before: Repair,
    /// Whether a packet is sent for each that arrives.
    conserves: bool,
    /// Payload found lost as of the last sample.
    lost_before: u64,
}

impl Bbr1Source {
    pub(super) fn new(law: &Bbr1, flow: &FlowContext) -> Bbr1Source {
        let sizes = Sizes::of(flow, law.initial_window);
        let mut source = Bbr1Source {
            law: *law,
            mode: Mode::Startup,
            sizes,
            random: Random::of(flow),
            delivery: Delivery::default(),
            round: Round::default(),
            max_bw: RoundMax::default(),
            policer: Policer::default(),
            aggregation: Aggregation::default(),
            excess: Excess::default(),
            plateau: Plateau::default(),
            is_full: false,
            cycle: Cycle::default(),
            min_rtt: None,
            min_rtt_at: Time::ZERO,
            probe_rtt: ProbeRtt::default(),
            idle_restart: false,
            pacing_rate: 0.0,
            cwnd: sizes.initial_window,
            prior_cwnd: 0.0,
            repair: Repair::None,
            repair_before: Repair::None,
            conserves: false,
            lost_before: 0,
        };
        source.init_pacing_rate(Duration::from_millis(1).secs());
        source
    }

    fn init_pacing_rate(&mut self, rtt: f64) {
        let bw = self.sizes.initial_window / rtt;
        self.pacing_rate = self.law.high_gain * bw * (1.0 - self.law.pacing_margin);
    }

    fn set_pacing_rate(&mut self, gain: f64) {
        let rate = gain * self.bw() * (1.0 - self.law.pacing_margin);
        if rate > 0.0 && (self.is_full || rate > self.pacing_rate) {
            self.pacing_rate = rate;
        }
    }

    fn pacing_gain(&self) -> f64 {
        match self.mode {
            Mode::Startup => self.law.high_gain,
            Mode::Drain => 1.0 / self.law.high_gain,
            Mode::ProbeBw if self.policer.rate().is_none() => self.cycle.gain(),
            Mode::ProbeBw | Mode::ProbeRtt => 1.0,
        }
    }

    fn bw(&self) -> f64 {
        self.policer.rate().unwrap_or(self.max_bw.of_ten_rounds())
    }

    /// Multiple of the bandwidth-delay product, in whole packets.
    fn bdp(&self, bw: f64, gain: f64) -> f64 {
        let bytes = self.min_rtt.map_or(self.sizes.initial_window, |min_rtt| gain * bw * min_rtt);
        libm::ceil(bytes / self.sizes.mss) * self.sizes.mss
    }

    fn min_pipe(&self) -> f64 {
        MIN_PIPE * self.sizes.mss
    }

    fn send_quantum(&self) -> f64 {
        let (bytes, packets) = LARGEST_QUANTUM;
        let least = if self.pacing_rate < SINGLE_PACKETS { 1.0 } else { 2.0 };
        let whole = libm::floor((self.pacing_rate * QUANTUM).min(bytes) / self.sizes.mss);
        whole.max(least).min(packets) * self.sizes.mss
    }

    /// What may be outstanding so that hosts with segmentation offload keep the path busy, in an
    /// even number of packets.
    fn quantised(&self, inflight: f64) -> f64 {
        let quanta = if self.law.offload { 3.0 * self.send_quantum() } else { 0.0 };
        let two = 2.0 * self.sizes.mss;
        let even = libm::ceil((inflight + quanta) / two) * two;
        if self.mode == Mode::ProbeBw && self.cycle.is_probing() { even + two } else { even }
    }

    /// Data in flight that fills the path at `gain` times its bandwidth.
    fn inflight(&self, gain: f64) -> f64 {
        self.quantised(self.bdp(self.max_bw.of_ten_rounds(), gain))
    }

    fn update_bw(&mut self, rs: &RateSample, losses: f64) {
        self.round.started = false;
        if rs.delivery_rate <= 0.0 {
            return;
        }
        self.round.update(rs, self.delivery.delivered);
        self.conserves &= !self.round.started;
        self.look_for_policer(rs.now, losses > 0.0, rs.app_limited);
        if !rs.app_limited || rs.delivery_rate >= self.max_bw.of_ten_rounds() {
            self.max_bw.update(self.round.count, rs.delivery_rate);
        }
    }

    fn look_for_policer(&mut self, now: Time, losses: bool, app_limited: bool) {
        if self.policer.rate().is_some() {
            if self.mode == Mode::ProbeBw && self.round.started && self.policer.keep() {
                self.start_probe_bw(now);
            }
        } else if self.law.detect_policers {
            let (delivered, lost) = (self.delivery.delivered, self.delivery.lost);
            let counts = Counts { now, delivered, lost };
            self.policer.sample(counts, self.round.started, losses, app_limited);
        }
    }

    fn update_aggregation(&mut self, rs: &RateSample) {
        if self.round.started {
            self.excess.begin_round();
        }
        let extra = self.aggregation.extra(rs.now, rs.newly_acked, self.bw());
        self.excess.note(extra.min(self.cwnd));
    }

    fn check_full(&mut self, rs: &RateSample) {
        if !self.is_full && self.round.started && !rs.app_limited {
            self.is_full = self.plateau.is_reached(self.max_bw.of_ten_rounds());
        }
    }

    fn check_drain(&mut self, rs: &RateSample) {
        if self.mode == Mode::Startup && self.is_full {
            self.mode = Mode::Drain;
        }
        if self.mode == Mode::Drain && rs.in_flight <= self.inflight(1.0) {
            self.start_probe_bw(rs.now);
        }
    }

    fn restart_from_idle(&mut self, now: Time) {
        self.idle_restart = true;
        self.aggregation.restart(now);
        match self.mode {
            Mode::ProbeBw => self.set_pacing_rate(1.0),
            Mode::ProbeRtt => self.check_probe_rtt_done(now),
            Mode::Startup | Mode::Drain => {}
        }
    }

    fn update(&mut self, rs: &RateSample, losses: f64) {
        self.update_bw(rs, losses);
        self.update_aggregation(rs);
        self.update_phase(rs, losses);
        self.check_full(rs);
        self.check_drain(rs);
        self.update_min_rtt(rs);
        self.set_pacing_rate(self.pacing_gain());
        self.set_cwnd(rs, losses);
    }
}

impl Source for Bbr1Source {
    type Header = PacketNumber;

    fn on_opened(&mut self, now: Time, rtt: Option<Duration>, _: Option<&PacketNumber>) {
        if let Some(rtt) = rtt.filter(|rtt| !rtt.is_zero()) {
            self.init_pacing_rate(rtt.secs());
            self.min_rtt = Some(rtt.secs());
            self.min_rtt_at = now;
        }
    }

    fn on_send(&mut self, sending: &Sending) -> Option<PacketNumber> {
        let size = self.sizes.payload(sending.packet);
        if self.delivery.ends_idling(sending, size) {
            self.restart_from_idle(sending.now);
        }
        Some(self.delivery.on_send(sending.now, size, sending.in_flight.get()))
    }

    fn on_ack(&mut self, acked: &Acked, header: Option<&PacketNumber>) {
        let packet = self.delivery.on_ack(acked, header.copied());
        self.delivery.lost = self.delivery.lost.saturating_add(acked.lost.get());
        while self.delivery.give_up(acked.in_flight.get()).is_some() {}
        let Some(packet) = packet else { return };
        let rs = self.delivery.sample(acked, &packet);
        let losses = (self.delivery.lost - self.lost_before) as f64;
        self.lost_before = self.delivery.lost;
        if self.min_rtt.is_none() && rs.rtt > 0.0 {
            self.init_pacing_rate(rs.rtt);
        }
        self.update(&rs, losses);
    }

    fn on_congestion(&mut self, congestion: &Congestion) {
        if congestion.signal == Signal::Mark {
            return;
        }
        self.save_cwnd();
        if congestion.signal == Signal::Loss {
            self.repair = Repair::Recovery;
            return;
        }
        self.repair = Repair::Timeout;
        self.repair_before = Repair::Timeout;
        self.plateau = Plateau::default();
        self.round.started = true;
        self.look_for_policer(congestion.now, true, false);
        self.cwnd = self.sizes.mss;
    }

    fn on_recovered(&mut self, _now: Time) {
        self.repair = Repair::None;
    }

    /// The window is restored by the next acknowledgement, as after any recovery.
    fn on_spurious(&mut self, _now: Time) {
        self.plateau = Plateau::default();
        self.policer.reset();
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
        let equation = match self.mode {
            Mode::Startup => "Startup: pace 2.885 bw until bw no longer grows by a quarter a round",
            Mode::Drain => "Drain: pace bw / 2.885 until no more than bw min_rtt is outstanding",
            Mode::ProbeBw if self.policer.rate().is_some() => {
                "ProbeBW: pace bw, the rate of a policer, for 48 rounds"
            }
            Mode::ProbeBw if self.cycle.is_probing() => {
                "ProbeBW: pace 1.25 bw for a min_rtt, to find more"
            }
            Mode::ProbeBw if self.cycle.gain() < 1.0 => {
                "ProbeBW: pace 0.75 bw until the queue of the probe is gone"
            }
            Mode::ProbeBw => "ProbeBW: pace bw for six of eight min_rtt",
            Mode::ProbeRtt => "ProbeRTT: four packets outstanding, to see the empty path",
        };
        Reason::new(
            equation,
            [
                Figure::rate("bw", self.bw()),
                Figure::seconds("min_rtt", self.min_rtt.unwrap_or(0.0)),
                Figure::bytes("cwnd", self.cwnd),
            ],
        )
    }
}
