//! What a queue discipline is.

use core::fmt;

use ratewire_laws::OptionError;
use ratewire_laws::options::{OptionKind, OptionSpec, Options, Part};
use ratewire_units::{Bytes, Duration, Time};

use super::backlog::Backlog;
use super::sorted::{Head, Queues};
use crate::packet::Ecn;

/// What a discipline does with a packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Treatment {
    /// Lets it pass.
    Pass,
    /// Marks it if it can be marked, else drops it.
    MarkOrDrop,
    /// Drops it.
    Drop,
}

impl Treatment {
    /// Marks packets that can be marked where `ecn` is on, and drops all others.
    pub fn signal(ecn: bool) -> Treatment {
        if ecn { Treatment::MarkOrDrop } else { Treatment::Drop }
    }
}

/// A packet that comes to a queue.
#[derive(Clone, Copy, Debug)]
pub struct Arrival {
    /// When.
    pub now: Time,
    /// Its network-layer bytes.
    pub size: Bytes,
    /// Its flow.
    pub flow: u32,
    /// Its congestion mark.
    pub ecn: Ecn,
    /// How long the link takes to send it, where that is known.
    pub packet_time: Option<Duration>,
    /// What waits before it.
    pub backlog: Backlog,
}

/// A packet that is about to be sent after it has waited.
#[derive(Clone, Copy, Debug)]
pub struct Departure {
    /// When.
    pub now: Time,
    /// The queue in which it waited, of a discipline that sorts.
    pub queue: u32,
    /// Its network-layer bytes.
    pub size: Bytes,
    /// Its congestion mark.
    pub ecn: Ecn,
    /// How long it has waited.
    pub sojourn: Duration,
    /// What waits behind it in its queue.
    pub backlog: Backlog,
    /// The packet behind it in its queue; of a switch's none is told.
    pub next: Option<Head>,
}

/// A queue discipline: its parameters, and the state of one queue under it.
///
/// A queue calls the methods in the order of their times. A discipline with a periodic timer works
/// out the timer's past steps whenever it is called: between two calls the backlog does not change.
pub trait Discipline: Clone + fmt::Debug {
    /// What it says of itself.
    const INFO: DisciplineInfo;

    /// The discipline with an empty queue, for full packets of `packet` bytes.
    ///
    /// # Errors
    /// When options contradict each other; the message is a whole sentence.
    fn from_options(options: &Options, packet: Bytes) -> Result<Self, OptionError>;

    /// Whether it only drops packets that find no room: it is then never called.
    fn is_passive(&self) -> bool {
        false
    }

    /// Whether it may mark packets.
    fn marks(&self) -> bool {
        false
    }

    /// Whether it draws random numbers.
    fn draws(&self) -> bool {
        false
    }

    /// Whether it sorts packets into queues of its own, so that the next to be sent need not be the
    /// first that came: [`Discipline::place`], [`Discipline::choose`] and [`Discipline::shed`] are
    /// then called.
    fn sorts(&self) -> bool {
        false
    }

    /// A packet arrives. `draw` gives random numbers from 0 up to but not including 1.
    fn on_arrival(&mut self, _arrival: &Arrival, _draw: &mut dyn FnMut() -> f64) -> Treatment {
        Treatment::Pass
    }

    /// The queue in which a packet that passed waits from now on, numbered from zero.
    fn place(&mut self, _arrival: &Arrival, _draw: &mut dyn FnMut() -> f64) -> u32 {
        0
    }

    /// The queue whose head is next to be sent; some packet waits.
    fn choose(&mut self, _now: Time, _queues: Queues<'_>) -> u32 {
        0
    }

    /// Whether it is other packets that [`Discipline::shed`] drops where the link has no room for
    /// one that comes; else that one is dropped.
    fn makes_room(&self) -> bool {
        false
    }

    /// From the head of which queue how many packets are to be dropped, if too many wait by the
    /// discipline's own measure or because the link has no room (`is_full`).
    fn shed(&mut self, _queues: Queues<'_>, _is_full: bool) -> Option<(u32, u32)> {
        None
    }

    /// A packet that waited is next to be sent. Where it is dropped, the packet behind it is next.
    fn on_departure(&mut self, _departure: &Departure) -> Treatment {
        Treatment::Pass
    }

    /// Nothing waits any more: a packet is sent with none behind it, or the link went down.
    fn on_empty(&mut self, _now: Time) {}
}

/// What a discipline says of itself.
#[derive(Debug)]
pub struct DisciplineInfo {
    /// As scenarios write it.
    pub name: &'static str,
    /// As texts write it.
    pub title: &'static str,
    /// What it does, with its source, in a line without a full stop.
    pub summary: &'static str,
    /// What it does, with equations and sources.
    pub explanation: &'static str,
    /// An example of the key `discipline` in a scenario.
    pub example: &'static str,
    /// Its parameters.
    pub options: &'static [OptionSpec],
}

/// A parameter of a discipline.
pub const fn option(
    name: &'static str,
    kind: OptionKind,
    default: &'static str,
    doc: &'static str,
) -> OptionSpec {
    OptionSpec { name, kind, default, part: Part::Queue, doc }
}
