//! The congestion window that every TCP shares: slow start, once-a-window reaction, timeouts,
//! restart after idling, pacing. Payload bytes and seconds.

use alloc::boxed::Box;

use ratewire_units::{Bytes, Duration, Throughput, Time};

use super::common::{Common, IdleRestart, Profile};
use super::hystart::{HyStart, Step, Watched};
use crate::law::{Acked, Congestion, FlowContext, Sending, Signal};
use crate::reason::{Figure, Reason};

/// Above this an `f64` cannot hold single bytes: 2^53. No path is that long.
const MAX_WINDOW: f64 = 9_007_199_254_740_992.0;
/// Maximum number of packets that one acknowledgement adds under HyStart++ without pacing (L of RFC
/// 9406, 4.3).
const UNPACED_LIMIT: f64 = 8.0;

/// The congestion window and slow-start threshold of one flow.
#[derive(Clone, Debug)]
pub(super) struct Window {
    cwnd: f64,
    ssthresh: f64,
    mss: f64,
    initial: f64,
    /// Network-layer bytes per payload byte: pacing counts headers, the window does not.
    overhead: f64,
    /// Payload bytes that one acknowledgement may add in slow start, without HyStart++.
    abc: f64,
    hystart: Option<Box<HyStart>>,
    profile: Profile,
    /// Whether HyStart watches slow start after timeouts, too (Linux).
    watches_each_start: bool,
    /// Whether unmarked data lets the window grow in the RTT after a mark, too.
    grows_after_marks: bool,
    pacing: bool,
    idle_restart: IdleRestart,
    srtt: Duration,
    last_sent: Option<Time>,
    episode: Episode,
    /// Whether the timer has expired and nothing was acknowledged since.
    backed_off: bool,
    /// Whether the sender is in the slow start that follows a timeout.
    after_timeout: bool,
}

/// Window and slow-start threshold at one time.
#[derive(Clone, Copy, Debug)]
pub(super) struct Sizes {
    cwnd: f64,
    ssthresh: f64,
}

/// Congestion to which the sender is still responding. There is one response a window of data (RFC
/// 3168, 6.1.2), and the window does not grow meanwhile, unless it grows after marks.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Episode {
    None,
    /// A loss, until it is repaired.
    Loss,
    /// A mark, for one RTT: until the receiver knows of the response and stops echoing the mark.
    Mark(Time),
}

impl Window {
    pub(super) fn new(common: &Common, flow: &FlowContext) -> Window {
        let mss = flow.mss.as_f64().max(1.0);
        let initial = common.initial_window(flow).as_f64().min(MAX_WINDOW).max(mss);
        Window {
            cwnd: initial,
            ssthresh: common.initial_ssthresh(flow),
            mss,
            initial,
            overhead: flow.packet.as_f64() / mss,
            abc: common.abc * mss,
            hystart: common.hystart.then(|| Box::new(HyStart::new(common.profile))),
            profile: common.profile,
            watches_each_start: common.hystart && common.profile == Profile::Linux,
            grows_after_marks: false,
            pacing: common.pacing,
            idle_restart: common.idle_restart,
            srtt: Duration::ZERO,
            last_sent: None,
            episode: Episode::None,
            backed_off: false,
            after_timeout: false,
        }
    }

    /// Lets unmarked data grow the window in the RTT after a mark, too (RFC 8257, 3.4).
    pub(super) fn grow_after_marks(&mut self) {
        self.grows_after_marks = true;
    }

    /// The window in payload bytes.
    #[inline]
    pub(super) fn cwnd(&self) -> f64 {
        self.cwnd
    }
    /// Payload of a full packet, in bytes.
    #[inline]
    pub(super) fn mss(&self) -> f64 {
        self.mss
    }
    #[inline]
    fn in_slow_start(&self) -> bool {
        self.cwnd < self.ssthresh
    }

    /// Handles a departing packet. Returns whether it ended an idle time after which growth
    /// restarts.
    #[inline]
    pub(super) fn on_send(&mut self, sending: &Sending) -> bool {
        let last = self.last_sent.replace(sending.now);
        if !ends_idling(sending) || sending.rto.is_zero() {
            return false;
        }
        last.is_some_and(|last| self.restart(sending.now.since(last), sending.rto))
    }

    /// Handles an idle time. Returns whether growth restarts.
    fn restart(&mut self, idle: Duration, rto: Duration) -> bool {
        if idle <= rto {
            return false;
        }
        let least = self.cwnd.min(self.initial);
        match self.idle_restart {
            IdleRestart::Keep => return false,
            IdleRestart::Initial => self.cwnd = least,
            IdleRestart::Halve => {
                self.ssthresh = self.ssthresh.max(0.75 * self.cwnd);
                // The timeout that ends as this packet leaves does not count (Linux,
                // `tcp_cwnd_restart`).
                let timeouts = (idle.ps() - 1) / rto.ps();
                self.cwnd = (self.cwnd * libm::exp2(-(timeouts as f64))).max(least);
            }
        }
        if let Some(hystart) = &mut self.hystart {
            hystart.on_restart();
        }
        true
    }

    /// Handles an acknowledgement. Grows the window in slow start; returns the acknowledged bytes
    /// that remain for congestion avoidance.
    #[inline]
    pub(super) fn on_ack(&mut self, acked: &Acked) -> f64 {
        self.srtt = acked.srtt;
        if acked.bytes > Bytes::ZERO {
            self.backed_off = false;
        }
        match self.episode {
            Episode::Loss if acked.in_recovery => return 0.0,
            Episode::Mark(until) if acked.now < until => {
                if acked.marked || !self.grows_after_marks {
                    return 0.0;
                }
            }
            Episode::Mark(_) => self.episode = Episode::None,
            Episode::Loss | Episode::None => {}
        }
        if self.in_slow_start() {
            self.slow_start(acked)
        } else if acked.limited {
            0.0
        } else {
            acked.bytes.as_f64()
        }
    }

    /// Slow start (RFC 5681, 3.1): `cwnd += min(acked, L)`, up to the threshold. Returns the rest
    /// of the acknowledged bytes.
    fn slow_start(&mut self, acked: &Acked) -> f64 {
        let watched = Watched { cwnd: self.cwnd, mss: self.mss, is_paced: self.pacing };
        let divisor = match self.hystart.as_mut().map(|h| h.on_ack(acked, watched)) {
            None => 1.0,
            Some(Step::Grow(divisor)) => divisor,
            Some(Step::Leave) => {
                self.ssthresh = self.cwnd;
                self.hystart = None;
                return 0.0;
            }
        };
        // An unused window does not validate the path's capacity (RFC 7661).
        if acked.limited {
            return 0.0;
        }
        let counted = acked.bytes.as_f64().min(self.slow_start_limit());
        let room = (self.ssthresh - self.cwnd) * divisor;
        if counted < room {
            self.add(counted / divisor);
            return 0.0;
        }
        self.cwnd = self.ssthresh.min(MAX_WINDOW);
        self.hystart = None;
        self.after_timeout = false;
        counted - room
    }

    /// L of RFC 3465, in bytes.
    fn slow_start_limit(&self) -> f64 {
        match self.hystart.as_deref() {
            _ if self.after_timeout && self.profile == Profile::Rfc => self.mss,
            None | Some(HyStart::Classic(_)) => self.abc,
            Some(HyStart::PlusPlus(_)) if self.pacing => f64::INFINITY,
            Some(HyStart::PlusPlus(_)) => UNPACED_LIMIT * self.mss,
        }
    }

    /// Congestion avoidance adds this many bytes.
    #[inline]
    pub(super) fn add(&mut self, bytes: f64) {
        self.cwnd = (self.cwnd + bytes).min(MAX_WINDOW);
    }

    /// Handles congestion: reduces the window to `kept` bytes, after a mark to at least
    /// `mark_floor` packets, otherwise to at least two. Returns whether this is a new event, and
    /// not part of the one to which the sender is responding.
    pub(super) fn on_congestion(&mut self, c: &Congestion, kept: f64, mark_floor: f64) -> bool {
        let answering_mark = matches!(self.episode, Episode::Mark(until) if c.now < until);
        let answering = answering_mark || self.episode == Episode::Loss;
        // HyStart++ is not needed once the threshold is known.
        self.hystart = None;
        if c.signal == Signal::Timeout {
            self.hystart = self.watches_each_start.then(|| Box::new(HyStart::new(self.profile)));
            // The threshold does not change while the same packet times out again (RFC 5681, 3.1),
            // or if the timer found a loss of a window that has been cut.
            let new = !self.backed_off && !answering;
            if new {
                self.ssthresh = kept.max(2.0 * self.mss);
            }
            self.cwnd = self.mss;
            self.episode = Episode::None;
            self.backed_off = true;
            self.after_timeout = true;
            return new;
        }
        if c.signal == Signal::Loss {
            self.episode = Episode::Loss;
        }
        if answering {
            return false;
        }
        if c.signal == Signal::Mark {
            self.episode = Episode::Mark(c.now + c.srtt);
        }
        let floor = if c.signal == Signal::Mark { mark_floor } else { 2.0 } * self.mss;
        self.ssthresh = kept.max(2.0 * self.mss);
        // Never more than before: two packets would exceed a window of one.
        self.cwnd = kept.max(floor).min(self.cwnd);
        self.after_timeout = false;
        true
    }

    /// Whether this is a loss or a timeout with no repair under way.
    pub(super) fn begins_repair(&self, c: &Congestion) -> bool {
        c.signal != Signal::Mark && self.episode != Episode::Loss && !self.backed_off
    }

    /// Ends the response to a mark, for laws that respond more strongly to a loss. Returns whether
    /// there was one.
    pub(super) fn leave_mark(&mut self, now: Time) -> bool {
        let answering = matches!(self.episode, Episode::Mark(until) if now < until);
        if answering {
            self.episode = Episode::None;
        }
        answering
    }

    /// Outstanding data within the window. Data beyond it, from limited transmit (RFC 5681, 3.2) or
    /// from before the window was lowered, does not count.
    pub(super) fn outstanding(&self, c: &Congestion) -> f64 {
        c.in_flight.as_f64().min(self.cwnd)
    }

    /// Window and threshold, for [`Window::on_spurious`].
    pub(super) fn sizes(&self) -> Sizes {
        Sizes { cwnd: self.cwnd, ssthresh: self.ssthresh }
    }

    /// Goes back to the window and threshold before congestion that was none.
    pub(super) fn on_spurious(&mut self, before: Sizes) {
        self.cwnd = self.cwnd.max(before.cwnd);
        self.ssthresh = self.ssthresh.max(before.ssthresh);
        self.episode = Episode::None;
        self.backed_off = false;
        self.after_timeout = false;
    }

    /// See [`crate::Source::slow_start_threshold`].
    pub(super) fn threshold(&self) -> Bytes {
        Bytes::new((self.ssthresh.min(MAX_WINDOW) + 0.5) as u64)
    }

    pub(super) fn on_recovered(&mut self) {
        if self.episode == Episode::Loss {
            self.episode = Episode::None;
        }
    }

    /// See [`crate::Source::window`].
    #[inline]
    pub(super) fn bytes(&self) -> Bytes {
        // Through a signed number, whose conversion is one instruction: the window is below 2^63.
        Bytes::new((self.cwnd + 0.5) as i64 as u64)
    }

    /// See [`crate::Source::pacing`]. The factors leave room for growth (Linux,
    /// `tcp_update_pacing_rate`).
    #[inline]
    pub(super) fn pacing(&self) -> Option<Throughput> {
        if !self.pacing || self.srtt.is_zero() {
            return None;
        }
        let factor = if self.cwnd < self.ssthresh / 2.0 { 2.0 } else { 1.2 };
        Some(Throughput::new(factor * self.cwnd * self.overhead / self.srtt.secs()))
    }

    /// See [`crate::Source::reason`].
    pub(super) fn reason(&self) -> Reason {
        let equation = match self.episode {
            Episode::Loss => "a loss is being repaired: the window was cut and does not grow",
            Episode::Mark(_) => "a mark was seen: the window was cut and does not grow for an RTT",
            Episode::None if self.in_slow_start() => "slow start: as much more as is acknowledged",
            Episode::None => "congestion avoidance: growing until the next loss or mark",
        };
        let figures = [
            Figure::bytes("cwnd", self.cwnd),
            Figure::bytes("ssthresh", self.ssthresh),
            Figure::seconds("srtt", self.srtt.secs()),
        ];
        Reason::new(equation, figures)
    }
}

/// Whether nothing but this packet is outstanding.
#[inline]
pub(super) fn ends_idling(sending: &Sending) -> bool {
    sending.in_flight <= sending.packet
}

#[cfg(test)]
impl Window {
    pub(super) fn ssthresh(&self) -> f64 {
        self.ssthresh
    }
}
