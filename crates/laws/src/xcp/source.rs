//! The sender's part: draft -03, section 4.1.

use ratewire_units::{Bytes, Duration, Throughput, Time};
use ratewire_wire::xcp::{Format, XcpHeader};

use super::{AfterLoss, ThroughputField, Xcp};
use crate::law::{Acked, Congestion, FlowContext, Sending, Signal, Source};
use crate::reason::{Bound, Figure, Reason};

/// If a round trip is shorter than the smoothed RTT by more than this factor, the RTT has
/// collapsed.
const COLLAPSE: f64 = 2.0;

/// XCP at one sender.
///
/// The window is kept in network-layer bytes, as feedback is; [`Source::window`] answers in
/// payload.
#[derive(Clone, Debug)]
pub struct XcpSource {
    window: f64,
    srtt: f64,
    /// The smoothed RTT to which the window has fallen, if it has. It falls once with each.
    fallen_to: f64,
    round: Round,
    state: State,
    /// Window and state before the last loss, timeout or mark.
    before_congestion: (f64, State),
    /// The halved window after congestion, in network-layer bytes: growth without headers turns
    /// from doubling to linear there.
    ssthresh: f64,
    /// Half of what was outstanding at congestion, in network-layer bytes: feedback does not grow
    /// the window beyond it in a repair. It is more than `ssthresh` if feedback had lowered the
    /// window since the lost packets left: a window of one packet, kept for the whole repair,
    /// would take as many round trips as packets were lost.
    repair_limit: f64,
    /// Last grant of the routers, B/s.
    reverse_feedback: f64,
    desired: f64,
    /// Wishes below 1 B/s, which the header cannot carry, are saved up.
    wish_carry: f64,
    packet: f64,
    /// Payload over network-layer bytes of a full packet, and its inverse.
    payload_per_packet: f64,
    packet_per_payload: f64,
    whole_window: bool,
    aging: f64,
    weight: f64,
    throughput: ThroughputField,
    after_loss: AfterLoss,
    reno_without_header: bool,
    pacing: bool,
    cap_to_receive_window: bool,
    zero_wish_when_limited: bool,
}

/// Bytes sent in the current RTT, for comparison with the allowed bytes.
#[derive(Clone, Debug)]
struct Round {
    /// [`Time::NEVER`] before anything was sent.
    start: Time,
    sent: f64,
    limited: bool,
    last_limited: bool,
    /// Measured over the round before this one, B/s.
    measured: f64,
}

#[derive(Clone, Copy, Debug, PartialEq)]
enum State {
    Xcp,
    /// A loss is being repaired.
    Repairing,
    /// A mark was seen, which counts as a repair until the time given.
    Marked(Time),
    /// Reno for the rest of the connection.
    Reno,
}

impl XcpSource {
    pub(super) fn new(law: &Xcp, flow: &FlowContext) -> XcpSource {
        XcpSource {
            window: law.initial_window.bytes(flow.packet).max(flow.packet).as_f64(),
            srtt: 0.0,
            fallen_to: f64::INFINITY,
            round: Round {
                start: Time::NEVER,
                sent: 0.0,
                limited: false,
                last_limited: false,
                measured: 0.0,
            },
            state: State::Xcp,
            before_congestion: (0.0, State::Xcp),
            ssthresh: f64::INFINITY,
            repair_limit: f64::INFINITY,
            reverse_feedback: 0.0,
            desired: law.desired.unwrap_or(flow.line_rate).throughput().get(),
            wish_carry: 0.0,
            packet: flow.packet.as_f64(),
            payload_per_packet: flow.mss.as_f64() / flow.packet.as_f64(),
            packet_per_payload: flow.packet.as_f64() / flow.mss.as_f64(),
            whole_window: law.whole_window,
            aging: law.aging,
            weight: law.weight,
            throughput: law.throughput,
            after_loss: law.after_loss,
            reno_without_header: law.reno_without_header,
            pacing: law.pacing,
            cap_to_receive_window: law.cap_to_receive_window,
            zero_wish_when_limited: law.zero_wish_when_limited,
        }
    }

    fn is_limited(&self) -> bool {
        self.round.limited || self.round.last_limited
    }

    /// Notes whether application or receiver limit the sender. While a loss is repaired, the repair
    /// does: what it leaves unused would age the window down to one packet.
    fn note_limit(&mut self, limited: bool) {
        self.round.limited |= limited && self.state != State::Repairing;
    }

    /// The reported rate as a window: bytes sent in an RTT. The RTT must be known.
    #[inline]
    fn reported_window(&self, in_flight: Bytes) -> f64 {
        let window = match self.throughput {
            ThroughputField::Window => self.window,
            ThroughputField::Outstanding => in_flight.as_f64() * self.packet_per_payload,
            ThroughputField::Measured if self.is_limited() => {
                (self.round.measured * self.srtt).min(self.window)
            }
            ThroughputField::Measured => self.window,
        };
        let window = window.max(self.packet);
        if self.whole_window { window - libm::fmod(window, self.packet) } else { window }
    }

    /// The wish for this packet, B/s: the wish for the flow spread over the packets of one RTT,
    /// whose number is the inverse of `share`.
    #[inline]
    fn wish(&mut self, throughput: f64, share: f64) -> f64 {
        if self.zero_wish_when_limited && self.is_limited() {
            return 0.0;
        }
        let wish = (self.desired - throughput) * share;
        if wish.abs() >= 1.0 {
            return wish;
        }
        self.wish_carry += wish;
        let whole = libm::trunc(self.wish_carry);
        self.wish_carry -= whole;
        whole
    }

    /// Ends the round once an RTT has passed, and ages the unused part of the window (4.1.3.1).
    #[inline]
    fn advance_round(&mut self, now: Time, srtt: Duration) {
        let elapsed = now.since(self.round.start);
        if srtt.is_zero() || elapsed < srtt {
            return;
        }
        let actual = self.round.sent / elapsed.secs();
        if self.round.limited && self.aging > 0.0 {
            let idle_rounds = (elapsed.ps() / srtt.ps()).min(64);
            let used = actual * srtt.secs();
            for _ in 0..idle_rounds {
                if used < self.window {
                    self.window = (1.0 - self.aging) * self.window + self.aging * used;
                }
            }
            self.window = self.window.max(self.packet);
        }
        self.round = Round {
            start: now,
            sent: 0.0,
            limited: false,
            last_limited: self.round.limited,
            measured: actual,
        };
    }

    fn apply_feedback(&mut self, feedback: f64, now: Time) {
        if let State::Marked(until) = self.state
            && now >= until
        {
            self.state = State::Xcp;
        }
        self.reverse_feedback = feedback;
        let most = if self.state == State::Xcp { f64::INFINITY } else { self.repair_limit };
        self.window = (self.window + feedback * self.srtt).max(self.packet).min(most);
    }

    /// Lets the window fall with the RTT if it collapses, as after a link has stood still.
    /// Otherwise the pace would rise without a router's grant.
    #[inline]
    fn take_rtt(&mut self, acked: &Acked) {
        let srtt = acked.srtt.secs();
        let collapses = acked.rtt.is_some_and(|rtt| COLLAPSE * rtt.secs() < self.srtt);
        if collapses && self.pacing && self.state != State::Reno {
            let from = self.srtt.min(self.fallen_to);
            if srtt < from {
                self.window = (self.window * srtt / from).max(self.packet);
                self.fallen_to = srtt;
            }
        } else if srtt > COLLAPSE * self.fallen_to {
            self.fallen_to = f64::INFINITY;
        }
        self.srtt = srtt;
    }

    /// Growth by RFC 5681, for senders that stay Reno after a loss, or that get no headers.
    fn grow_as_reno(&mut self, acked: &Acked) {
        if acked.in_recovery || acked.limited {
            return;
        }
        let bytes = acked.bytes.as_f64() * self.packet_per_payload;
        self.window += if self.window < self.ssthresh {
            bytes.min(self.packet)
        } else {
            self.packet * bytes.min(self.window) / self.window
        };
    }
}

impl Source for XcpSource {
    type Header = XcpHeader;

    #[inline]
    fn on_send(&mut self, sending: &Sending) -> Option<XcpHeader> {
        if self.round.start == Time::NEVER {
            self.round.start = sending.now;
        }
        self.advance_round(sending.now, sending.srtt);
        self.note_limit(sending.limited);
        self.round.sent += sending.packet.as_f64();
        let mut header = XcpHeader {
            protocol: 6,
            format: Format::Standard,
            rtt: sending.srtt,
            x: Duration::ZERO,
            reverse_feedback: Throughput::ZERO,
            delta_throughput: Throughput::ZERO,
        };
        if sending.srtt.is_zero() {
            // Granted only where no router is on the path (draft -03, 5.6): X is unknown.
            header.delta_throughput = Throughput::new(self.desired * self.packet / self.window);
        } else {
            self.srtt = sending.srtt.secs();
            let window = self.reported_window(sending.in_flight);
            let x = sending.srtt.ps() as f64 * (self.weight * sending.packet.as_f64() / window);
            header.x = Duration::from_ps((x + 0.5) as u64);
            let wish = self.wish(window / self.srtt, self.packet / window);
            header.delta_throughput = Throughput::new(wish);
        }
        Some(header)
    }

    #[inline]
    fn on_ack(&mut self, acked: &Acked, header: Option<&XcpHeader>) {
        self.take_rtt(acked);
        self.advance_round(acked.now, acked.srtt);
        self.note_limit(acked.limited);
        match header {
            _ if self.state == State::Reno => self.grow_as_reno(acked),
            Some(header) => self.apply_feedback(header.reverse_feedback.get(), acked.now),
            None if self.reno_without_header => self.grow_as_reno(acked),
            None => {}
        }
        if self.cap_to_receive_window {
            let cap = acked.receive_window.as_f64() * self.packet_per_payload;
            self.window = self.window.min(cap).max(self.packet);
        }
    }

    fn on_congestion(&mut self, congestion: &Congestion) {
        if self.after_loss == AfterLoss::Ignore {
            return;
        }
        self.before_congestion = (self.window, self.state);
        let flight = congestion.in_flight.as_f64() * self.packet_per_payload;
        let half = (self.window.min(flight) / 2.0).max(self.packet);
        self.ssthresh = half.max(2.0 * self.packet);
        self.repair_limit = match self.throughput {
            // As ns-2, in which the window is what counts.
            ThroughputField::Window => self.ssthresh,
            ThroughputField::Measured | ThroughputField::Outstanding => {
                self.ssthresh.max(flight / 2.0)
            }
        };
        self.window = if congestion.signal == Signal::Timeout { self.packet } else { half };
        self.state = match (self.after_loss, congestion.signal) {
            (AfterLoss::StayReno, _) => State::Reno,
            (_, Signal::Mark) => State::Marked(congestion.now + congestion.srtt),
            (_, Signal::Loss) => State::Repairing,
            // With one packet a round trip, a repair would take as many round trips as packets were
            // lost. So the routers may speed it up, as slow start does for Reno.
            (_, Signal::Timeout) => State::Xcp,
        };
    }

    fn on_spurious(&mut self, _now: Time) {
        let (window, state) = self.before_congestion;
        self.window = self.window.max(window);
        self.state = state;
    }

    fn on_recovered(&mut self, _now: Time) {
        if self.state == State::Repairing {
            self.state = State::Xcp;
        }
    }

    #[inline]
    fn window(&self) -> Bytes {
        // With pacing, the pace is the limit and the window only bounds outstanding data. It is one
        // packet larger, so that fractions of a packet are used too.
        let network = if self.pacing { self.window + self.packet } else { self.window };
        Bytes::new((network * self.payload_per_packet + 0.5) as u64)
    }

    fn reason(&self) -> Reason {
        let bound = match self.state {
            State::Xcp => Bound::LastChange,
            State::Repairing | State::Marked(_) | State::Reno => Bound::Source,
        };
        let equation = match self.state {
            State::Xcp => "window += reverse_feedback * RTT, as routers have granted",
            State::Repairing => {
                "a loss is being repaired: the window was halved and does not grow beyond that"
            }
            State::Marked(_) => {
                "a mark was seen: the window was halved and does not grow beyond that for an RTT"
            }
            State::Reno => "a loss was seen: window as Reno has it for the rest of the connection",
        };
        let figures = [
            Figure::bytes("window", self.window),
            Figure::rate("reverse_feedback", self.reverse_feedback),
            Figure::seconds("RTT", self.srtt),
            Figure::rate("measured", self.round.measured),
            Figure::one("limited", f64::from(u8::from(self.is_limited()))),
        ];
        Reason::new(equation, figures).bound(bound)
    }

    #[inline]
    fn pacing(&self) -> Option<Throughput> {
        (self.pacing && self.srtt > 0.0).then(|| Throughput::new(self.window / self.srtt))
    }
}
