//! The interface of a queue discipline.

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
    /// The signal of congestion: if `ecn` is on, a mark for packets that can be marked; otherwise a
    /// drop.
    pub fn signal(ecn: bool) -> Treatment {
        if ecn { Treatment::MarkOrDrop } else { Treatment::Drop }
    }
}

/// A packet that arrives at a queue.
#[derive(Clone, Copy, Debug)]
pub struct Arrival {
    /// Time of this event.
    pub now: Time,
    /// Size of the packet in network-layer bytes.
    pub size: Bytes,
    /// Number of the packet's flow.
    pub flow: u32,
    /// Congestion mark of the packet.
    pub ecn: Ecn,
    /// Transmission time of the packet, if it is known.
    pub packet_time: Option<Duration>,
    /// Backlog that the packet finds.
    pub backlog: Backlog,
}

/// A packet that has waited and is about to be sent.
#[derive(Clone, Copy, Debug)]
pub struct Departure {
    /// Time of this event.
    pub now: Time,
    /// Queue that the packet leaves, of a discipline that sorts; otherwise 0.
    pub queue: u32,
    /// Size of the packet in network-layer bytes.
    pub size: Bytes,
    /// Congestion mark of the packet.
    pub ecn: Ecn,
    /// Time that the packet has waited.
    pub sojourn: Duration,
    /// Backlog behind the packet in its queue; at a switch, with the packet itself.
    pub backlog: Backlog,
    /// Bytes behind the packet in all queues of the link; at a switch, with the packet itself.
    pub link_bytes: Bytes,
    /// The packet behind this one in its queue; always `None` at a switch.
    pub next: Option<Head>,
}

/// A queue discipline: its parameters, and the state of one queue under it.
///
/// A queue calls the methods in order of time. A discipline with a periodic timer computes the
/// timer's past steps at each call, because the backlog does not change between two calls. See
/// [`NamedDiscipline`] for name and options.
pub trait Discipline: fmt::Debug {
    /// Whether the discipline only drops packets that find no room; a queue need not call it then.
    fn is_passive(&self) -> bool {
        false
    }

    /// Whether the discipline may mark packets.
    fn marks(&self) -> bool {
        false
    }

    /// Whether the discipline draws random numbers.
    fn draws(&self) -> bool {
        false
    }

    /// Whether the discipline sorts packets into queues of its own.
    ///
    /// If so, the link calls [`Discipline::place`], [`Discipline::choose`] and
    /// [`Discipline::shed`], and the next packet to be sent need not be the first that came.
    fn sorts(&self) -> bool {
        false
    }

    /// Decides about an arriving packet. `draw` returns random numbers from 0 up to but not
    /// including 1.
    fn on_arrival(&mut self, _arrival: &Arrival, _draw: &mut dyn FnMut() -> f64) -> Treatment {
        Treatment::Pass
    }

    /// Chooses the queue, numbered from zero, of an arriving packet that has passed. The link keeps
    /// memory for each queue up to the highest number.
    fn place(&mut self, _arrival: &Arrival, _draw: &mut dyn FnMut() -> f64) -> u32 {
        0
    }

    /// Chooses the queue whose head is sent next; at least one packet waits. A link sends nothing
    /// while its discipline chooses an empty queue.
    fn choose(&mut self, _now: Time, _queues: Queues<'_>) -> u32 {
        0
    }

    /// Whether [`Discipline::shed`] makes room for a packet that finds none; otherwise the link
    /// drops that packet.
    fn makes_room(&self) -> bool {
        false
    }

    /// The queue that loses packets from its head, and their number; `None` for no more drops.
    ///
    /// Packets are dropped if too many wait by the discipline's own limit, or if the link has no
    /// room (`is_full`).
    fn shed(&mut self, _queues: Queues<'_>, _is_full: bool) -> Option<(u32, u32)> {
        None
    }

    /// Decides about a packet that is next to be sent. If it is dropped, the packet behind it is
    /// next.
    fn on_departure(&mut self, _departure: &Departure) -> Treatment {
        Treatment::Pass
    }

    /// Notes that no packet waits: one is sent with none behind it, or the link went down.
    fn on_empty(&mut self, _now: Time) {}
}

/// A queue discipline that is known by a name and made from options.
pub trait NamedDiscipline: Discipline + Clone {
    /// Name, documentation and parameters of the discipline.
    const INFO: DisciplineInfo;

    /// Makes the discipline with an empty queue, for full packets of `packet` bytes, from its
    /// options, each present and within its range.
    ///
    /// # Errors
    /// An error if options contradict each other; the message is a whole sentence.
    fn from_options(options: &Options, packet: Bytes) -> Result<Self, OptionError>;
}

/// Name, documentation and parameters of a discipline.
#[derive(Debug)]
pub struct DisciplineInfo {
    /// Name in scenarios.
    pub name: &'static str,
    /// Name in texts.
    pub title: &'static str,
    /// Summary with its source, in a line without a full stop.
    pub summary: &'static str,
    /// Explanation, with equations and sources.
    pub explanation: &'static str,
    /// An example of the key `discipline` in a scenario.
    pub example: &'static str,
    /// Parameters of the discipline.
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
