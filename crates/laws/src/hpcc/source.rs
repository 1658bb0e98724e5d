//! The sender's part: SIGCOMM 2019, algorithm 1.

use ratewire_units::{Bytes, Duration, Throughput, Time};

use super::{Hpcc, HpccHeader};
use crate::law::{Acked, Congestion, FlowContext, Sending, Source};
use crate::paced::{AFTER_LOSS_EQUATION, Paced};
use crate::reason::{Bound, Figure, Reason};

/// Packets that may be outstanding until the RTT is known (RFC 6928).
const UNKNOWING: f64 = 10.0;

/// HPCC at one sender. Windows are in network-layer bytes.
#[derive(Clone, Debug)]
pub struct HpccSource {
    /// `W / T`, capped after losses.
    paced: Paced,
    pub(super) window: f64,
    /// `Wc`: the window from which this RTT's acknowledgements compute `W`.
    pub(super) reference: f64,
    /// `U`.
    pub(super) used: f64,
    /// Number of consecutive RTTs that only added.
    stage: u32,
    /// An acknowledgement beyond this offset ends the RTT.
    round_end: u64,
    /// The RTT also ends at this time, because a hole may keep acknowledgements below `round_end`.
    round_until: Time,
    last: Option<(Time, HpccHeader)>,
    /// The most used hop.
    hop: Option<usize>,
    /// Whether the window was last multiplied, or only added to.
    multiplied: bool,
    base: Base,
    /// `B_NIC`, B/s.
    line: f64,
    eta: f64,
    max_stage: u32,
    flows: f64,
    /// First window in network-layer bytes; `None` for `B_NIC T`.
    initial: Option<f64>,
    mss: f64,
    packet: f64,
}

/// `T` in seconds.
#[derive(Clone, Copy, Debug)]
enum Base {
    Set(f64),
    Unknown,
    /// RTT of the packet that opened the flow, which is shorter than that of data packets.
    Opening(f64),
    /// Smallest RTT of data packets.
    Measured(f64),
}

impl HpccSource {
    pub(super) fn new(law: &Hpcc, flow: &FlowContext) -> HpccSource {
        let line = flow.line_rate.throughput().get();
        let packet = flow.packet.as_f64().max(1.0);
        let set = law.base_rtt.secs();
        let mut source = HpccSource {
            paced: Paced::new(line, flow, &law.options),
            window: UNKNOWING * packet,
            reference: UNKNOWING * packet,
            used: 1.0,
            stage: 0,
            round_end: 0,
            round_until: Time::ZERO,
            last: None,
            hop: None,
            multiplied: false,
            base: if set > 0.0 { Base::Set(set) } else { Base::Unknown },
            line,
            eta: law.eta,
            max_stage: law.max_stage,
            flows: law.flows,
            initial: law.initial_window.map(|size| size.bytes(flow.packet).as_f64()),
            mss: flow.mss.as_f64(),
            packet,
        };
        source.start();
        source
    }

    /// `T`, 0 while unknown.
    #[inline]
    fn base(&self) -> f64 {
        match self.base {
            Base::Unknown => 0.0,
            Base::Set(secs) | Base::Opening(secs) | Base::Measured(secs) => secs,
        }
    }

    /// Bandwidth-delay product of the sender's own link, `B_NIC T`; at least a packet.
    #[inline]
    fn most(&self) -> f64 {
        (self.line * self.base()).clamp(self.packet, 9e15)
    }

    /// `W_AI`.
    #[inline]
    fn added(&self) -> f64 {
        self.most() * (1.0 - self.eta) / self.flows
    }

    /// The first window.
    fn start(&mut self) {
        let known = self.base() > 0.0;
        let line = if known { self.most() } else { UNKNOWING * self.packet };
        self.reference = self.initial.unwrap_or(line).max(self.packet);
        self.set_window(self.reference);
    }

    #[inline]
    fn set_window(&mut self, window: f64) {
        self.window = window;
        let base = self.base();
        if base > 0.0 {
            self.paced.grant(window / base);
        }
    }

    fn learn(&mut self, rtt: Duration) {
        let rtt = rtt.secs();
        match self.base {
            _ if rtt <= 0.0 => {}
            Base::Set(_) => {}
            Base::Measured(least) if least <= rtt => {}
            Base::Unknown => {
                self.base = Base::Measured(rtt);
                self.start();
            }
            Base::Opening(_) | Base::Measured(_) => self.base = Base::Measured(rtt),
        }
    }

    /// Updates `U` from the stamps. Returns false if they cannot be compared with earlier ones.
    #[inline]
    fn measure(&mut self, now: Time, header: &HpccHeader) -> bool {
        let base = self.base();
        let Some((at, before)) = self.last.replace((now, *header)) else { return false };
        if base <= 0.0 || !header.same_path(&before) {
            return false;
        }
        let elapsed = now.since(at).secs();
        let (mut most, mut tau) = (-1.0, 0.0);
        for ((hop, stamp), (_, old)) in header.stamps().zip(before.stamps()) {
            let Some(passed) = stamp.since(old, elapsed) else { continue };
            let used = passed.queued / base + passed.busy;
            if used > most {
                (most, tau) = (used, passed.secs);
                self.hop = Some(hop);
            }
        }
        let weight = (tau / base).min(1.0);
        self.used += weight * (most - self.used);
        most >= 0.0
    }

    fn begin_round(&mut self, acked: &Acked) {
        self.round_end = acked.next;
        self.round_until = acked.now + acked.srtt;
    }

    #[inline]
    fn react(&mut self, acked: &Acked) {
        self.multiplied = self.used >= self.eta || self.stage >= self.max_stage;
        let window = if self.multiplied {
            self.reference * self.eta / self.used + self.added()
        } else {
            self.reference + self.added()
        };
        // While a loss holds the rate below the window's, the lower rate has caused U: the window
        // does not grow.
        let window = if self.paced.is_capped() { window.min(self.window) } else { window };
        self.set_window(window.clamp(1.0, self.most()));
        let is_held_up = acked.in_recovery && acked.now >= self.round_until;
        if acked.cumulative > self.round_end || is_held_up {
            self.begin_round(acked);
            self.reference = self.window;
            self.stage = if self.multiplied { 0 } else { self.stage + 1 };
        }
    }
}

impl Source for HpccSource {
    type Header = HpccHeader;

    fn on_opened(&mut self, _now: Time, rtt: Option<Duration>, _: Option<&HpccHeader>) {
        if let (Some(rtt), Base::Unknown) = (rtt.filter(|rtt| !rtt.is_zero()), self.base) {
            self.base = Base::Opening(rtt.secs());
            self.start();
        }
    }

    #[inline]
    fn on_send(&mut self, _: &Sending) -> Option<HpccHeader> {
        Some(HpccHeader::default())
    }

    #[inline]
    fn on_ack(&mut self, acked: &Acked, header: Option<&HpccHeader>) {
        self.paced.on_ack(acked);
        if let Some(rtt) = acked.rtt {
            self.learn(rtt);
        }
        let Some(header) = header else { return };
        let first = self.last.is_none();
        if self.measure(acked.now, header) {
            self.react(acked);
        } else if first {
            self.begin_round(acked);
        }
    }

    fn on_congestion(&mut self, congestion: &Congestion) {
        self.paced.on_congestion(congestion);
    }

    fn on_spurious(&mut self, _now: Time) {
        self.paced.on_spurious();
    }

    #[inline]
    fn window(&self) -> Bytes {
        let capped = match self.base() {
            0.0 => self.window,
            base => self.window.min(self.paced.cap() * base),
        };
        // A packet may be sent while less than the window is outstanding.
        let payload = (capped * self.mss / self.packet).max(1.0);
        Bytes::new((payload + self.mss - 0.5) as u64)
    }

    #[inline]
    fn pacing(&self) -> Option<Throughput> {
        self.paced.pacing()
    }

    fn reason(&self) -> Reason {
        let (equation, bound) = match self.hop {
            _ if self.paced.is_capped() => (AFTER_LOSS_EQUATION, Bound::Source),
            None => ("W at first: no two stamps to compare yet", Bound::Source),
            Some(hop) if self.multiplied => ("W = Wc / (U / eta) + W_AI", Bound::Hop(hop)),
            Some(hop) => ("W = Wc + W_AI", Bound::Hop(hop)),
        };
        let figures = [
            Figure::bytes("W", self.window),
            Figure::bytes("Wc", self.reference),
            Figure::bytes("W_AI", self.added()),
            Figure::one("U", self.used),
            Figure::one("eta", self.eta),
            Figure::seconds("T", self.base()),
        ];
        Reason::new(equation, figures).bound(bound)
    }
}
