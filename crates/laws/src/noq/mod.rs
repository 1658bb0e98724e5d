//! NoQ: the transport of a network of queues that pause each other (Herbert and Primet, *A case for
//! queue-to-queue, back-pressure-based congestion control for grid networks*, sections II-D and
//! IV-A).
//!
//! # Sender
//! - On a back-pressured path there is no slow start and no congestion window. Queues of any layer
//!   hold the sender back, and the receiver's window bounds outstanding data.
//! - A loss is repaired and is no sign of congestion: nothing slows down (II-D, figure 10).
//! - Safe mode (II-D, "checks the state of 802.3x flow control on the Ethernet link before
//!   acting"): the path counts as back-pressured only if the sender's own link is paused when the
//!   queue that it fills has no room. A host can know no more. Otherwise every call goes to
//!   NewReno.
//!
//! # Deliberate differences
//! - Packets are spaced by the rate of the sender's own link, which could not send them faster.
//!   Otherwise a receiver without a window would make the sender put all its data on its queue at
//!   once.
//! - The paper turns congestion control off for an interface. Here it is off for a flow, whose path
//!   begins with that interface.

mod source;
#[cfg(test)]
mod tests;

pub use source::NoqSource;

use ratewire_units::Rate;

use crate::law::{
    FlowContext, Invariants, Law, LawInfo, Named, NoHeader, NoPort, NoSink, Promises, Properties,
};
use crate::options::{OptionError, OptionKind, OptionSpec, Options, Part};
use crate::tcp::common;
use crate::tcp::newreno::{self, NewReno};

/// NoQ with its parameters.
#[derive(Clone, Debug)]
pub struct Noq {
    reno: NewReno,
    /// Whether the law requires that the sender's own link is paused when the queue that it fills
    /// has no room.
    safe: bool,
}

const OPTIONS: &[OptionSpec] = &[
    OptionSpec {
        name: "mode",
        kind: OptionKind::Word(&["safe", "force"]),
        default: "safe",
        part: Part::Source,
        doc: "\"safe\": as NewReno where the sender's own link is not paused (802.3x, PFC) when what \
              it fills has no room; \"force\": without a congestion window wherever it is. Section II-D.",
    },
    newreno::COUNT,
    newreno::INCREASE,
    newreno::BETA,
    common::INITIAL_WINDOW,
    common::INITIAL_SSTHRESH,
    common::abc("2"),
    common::HYSTART,
    common::PACING,
    common::IDLE_RESTART,
];

impl Named for Noq {
    const INFO: LawInfo = LawInfo {
        name: "noq",
        title: "NoQ",
        summary: "no congestion window where queues pause their upstream; elsewhere NewReno",
        explanation: include_str!("explain.md"),
        operations: "",
        options: OPTIONS,
    };

    fn from_options(o: &Options) -> Result<Noq, OptionError> {
        Ok(Noq { reno: NewReno::from_options(o)?, safe: o.word("mode") == "safe" })
    }
}

impl Law for Noq {
    type Header = NoHeader;
    type Source = NoqSource;
    type Port = NoPort;
    type Sink = NoSink;

    fn source(&self, flow: &FlowContext) -> NoqSource {
        let unleashed = (flow.back_pressured || !self.safe) && flow.line_rate != Rate::ZERO;
        if unleashed { NoqSource::held_back(flow) } else { NoqSource::Reno(self.reno.source(flow)) }
    }
    fn properties(&self) -> Properties {
        Properties { leaves_it_to_queues: true, ..Properties::default() }
    }
    fn invariants(&self) -> Option<&dyn Invariants<Header = NoHeader>> {
        Some(self)
    }
}

impl Invariants for Noq {
    type Header = NoHeader;

    /// Without pauses the shares are NewReno's. With pauses the receiver sets the window.
    fn promises(&self) -> Promises {
        Promises {
            equal_shares: false,
            any_speed: false,
            bounded_window: false,
            ..Promises::default()
        }
    }
    fn extremes(&self) -> &'static [&'static [(&'static str, &'static str)]] {
        &[&[("mode", "force")]]
    }
}
