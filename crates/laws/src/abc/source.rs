//! The sender's part: two windows; the smaller one counts.

use alloc::boxed::Box;

use ratewire_units::{Bytes, Time};

use super::{Abc, AbcHeader};
use crate::law::{Acked, Congestion, FlowContext, Law, Sending, Source};
use crate::reason::{Bound, Figure, Reason};
use crate::tcp::cubic::CubicSource;

/// Initial window in packets, and lower bound of the growth limit (RFC 6928).
const INITIAL: f64 = 10.0;
/// A window does not grow beyond this multiple of the outstanding data.
const AHEAD: f64 = 2.0;
/// Upper bound of a window in packets: no path holds more.
const MOST: f64 = 1e12;

/// ABC at one sender.
#[derive(Clone, Debug)]
pub struct AbcSource {
    /// The window in packets.
    pub(super) window: f64,
    /// Boxed, because sources of all laws are as large as the largest.
    pub(super) cubic: Option<Box<CubicSource>>,
    additive: f64,
    mss: f64,
    /// Share of accelerating packets in the last acknowledgement.
    accelerated: f64,
}

impl AbcSource {
    pub(super) fn new(law: &Abc, flow: &FlowContext) -> AbcSource {
        AbcSource {
            window: INITIAL,
            cubic: law.cubic.as_ref().map(|cubic| Box::new(cubic.source(flow))),
            additive: law.additive,
            mss: flow.mss.as_f64().max(1.0),
            accelerated: 0.0,
        }
    }

    #[inline]
    fn obey(&mut self, accelerated: f64, braked: f64, outstanding: f64) {
        let packets = accelerated + braked;
        if packets == 0.0 {
            return;
        }
        self.accelerated = accelerated / packets;
        let most = (AHEAD * outstanding).clamp(INITIAL, MOST);
        let next = self.window + accelerated - braked + self.additive * packets / self.window;
        self.window = next.clamp(1.0, most);
    }

    /// The window in payload bytes.
    #[inline]
    fn own(&self) -> Bytes {
        Bytes::new((self.window * self.mss + 0.5) as u64)
    }
}

impl Source for AbcSource {
    type Header = AbcHeader;

    #[inline]
    fn on_send(&mut self, sending: &Sending) -> Option<AbcHeader> {
        if let Some(cubic) = &mut self.cubic {
            cubic.on_send(sending);
        }
        Some(AbcHeader::Data { accelerate: true })
    }

    #[inline]
    fn on_ack(&mut self, acked: &Acked, header: Option<&AbcHeader>) {
        if let Some(AbcHeader::Echo { accelerated, braked }) = header {
            let outstanding = acked.was_in_flight.as_f64() / self.mss;
            self.obey(f64::from(*accelerated), f64::from(*braked), outstanding);
        }
        if let Some(cubic) = &mut self.cubic {
            let ahead = cubic.window().as_f64() > AHEAD * acked.was_in_flight.as_f64();
            cubic.on_ack(&Acked { limited: acked.limited || ahead, ..*acked }, None);
        }
    }

    fn on_congestion(&mut self, congestion: &Congestion) {
        if let Some(cubic) = &mut self.cubic {
            cubic.on_congestion(congestion);
        }
    }

    fn on_recovered(&mut self, now: Time) {
        if let Some(cubic) = &mut self.cubic {
            cubic.on_recovered(now);
        }
    }

    fn on_spurious(&mut self, now: Time) {
        if let Some(cubic) = &mut self.cubic {
            cubic.on_spurious(now);
        }
    }

    #[inline]
    fn window(&self) -> Bytes {
        let own = self.own();
        self.cubic.as_ref().map_or(own, |cubic| own.min(cubic.window()))
    }

    fn reason(&self) -> Reason {
        if let Some(cubic) = self.cubic.as_ref().filter(|cubic| cubic.window() < self.own()) {
            let mut reason = cubic.reason();
            reason.figures.push(Figure::one("w", self.window));
            return reason.bound(Bound::Source);
        }
        Reason::new(
            "w += 1 + 1/w for each packet that says accelerate, w += -1 + 1/w for each that says brake",
            [Figure::one("w", self.window), Figure::one("accelerated", self.accelerated)],
        )
    }
}
