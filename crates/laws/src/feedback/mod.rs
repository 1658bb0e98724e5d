//! Shared parts of JetMax, EMKC and MaxNet, whose routers measure their load at intervals and whose
//! sources answer it.
//!
//! - A port's [`Meter`] counts arrivals and compares them, each interval, with the capacity to use,
//!   `gamma C`.
//! - A source's [`Round`] knows which answers have seen the rate in force. The source changes its
//!   rate once a round trip, from figures that include the last change.
//! - [`Limits`] bound a rate by a minimum and by the sender's own link.
//! - [`Echo`] is a sink that returns the headers that arrive.
//! - [`wire`] writes and reads numbers of their headers.

mod meter;
#[cfg(test)]
pub(crate) mod rig;
mod round;
pub(crate) mod wire;

pub(crate) use meter::{Load, Meter};
pub(crate) use round::Round;

use ratewire_units::{Rate, Time};

use crate::law::{FlowContext, Sink};
use crate::options::{OptionError, OptionKind, OptionSpec, Options, Part};

/// Initial rate of a flow.
pub(crate) const INITIAL_RATE: OptionSpec = OptionSpec {
    name: "initial_rate",
    kind: OptionKind::Rate(None),
    default: "1 Mbit/s",
    part: Part::Source,
    doc: "network-layer rate until the routers have been heard. Our choice: ten packets of \
          1500 bytes in 120 ms.",
};

/// Longest time between two packets of a flow.
pub(crate) const LONGEST_GAP: OptionSpec = OptionSpec {
    name: "longest_gap",
    kind: OptionKind::Time,
    default: "1 s",
    part: Part::Source,
    doc: "longest time between packets, however low the rate: who sends nothing hears of no \
          better rate. Our choice.",
};

/// Capacity that a port assumes of its link.
pub(crate) const CAPACITY: OptionSpec = OptionSpec {
    name: "capacity",
    kind: OptionKind::Rate(Some("link")),
    default: "link",
    part: Part::Port,
    doc: "capacity it believes in, for network-layer bytes; \"link\" is the link's rate, without \
          regard to link-layer overhead.",
};

/// Length of a port's measuring interval.
pub(crate) const fn interval(default: &'static str, doc: &'static str) -> OptionSpec {
    OptionSpec { name: "interval", kind: OptionKind::Time, default, part: Part::Port, doc }
}

/// Refuses invalid values of this module's options.
pub(crate) fn check(options: &Options) -> Result<(), OptionError> {
    for name in ["interval", "longest_gap"] {
        if options.time(name).ps() < 1_000_000 {
            return Err(OptionError::new(name, "must be 1 us or more"));
        }
    }
    Ok(())
}

/// Bounds of a source's rate, in B/s.
#[derive(Clone, Debug)]
pub(crate) struct Limits {
    least: f64,
    most: f64,
}

impl Limits {
    pub(crate) fn new(flow: &FlowContext, options: &Options) -> Limits {
        let least = flow.packet.as_f64().max(1.0) / options.time("longest_gap").secs();
        let line = match flow.line_rate {
            Rate::ZERO => f64::INFINITY,
            rate => rate.throughput().get(),
        };
        Limits { least, most: line.max(least) }
    }

    /// The nearest allowed rate.
    #[inline]
    pub(crate) fn hold(&self, rate: f64) -> f64 {
        rate.max(self.least).min(self.most)
    }

    /// The initial rate.
    pub(crate) fn initial(&self, options: &Options) -> f64 {
        self.hold(options.plain_rate("initial_rate").throughput().get())
    }
}

/// A header that a receiver can send back.
pub(crate) trait Returned: Copy {
    /// The header on its way back, where routers leave it alone.
    fn returned(self) -> Self;
}

/// The receiver's part of laws whose sources need the routers' figures: returns the newest header.
#[derive(Clone, Debug)]
pub struct Echo<H> {
    newest: Option<H>,
}

impl<H> Echo<H> {
    pub(crate) const fn new() -> Echo<H> {
        Echo { newest: None }
    }
}

impl<H: Returned> Sink for Echo<H> {
    type Header = H;

    #[inline]
    fn on_data(&mut self, _now: Time, header: &H) {
        self.newest = Some(header.returned());
    }

    #[inline]
    fn on_ack(&mut self, _now: Time) -> Option<H> {
        self.newest
    }
}
