//! The buffer at the far end of a link that it pauses.

use core::ops::{Deref, DerefMut};
use core::slice::from_ref;
use std::collections::VecDeque;

use ratewire_backpressure::flows::Filter;
use ratewire_backpressure::frames::CLASSES;
use ratewire_backpressure::watch::Watch;
use ratewire_units::{Bytes, Time};

use crate::link::FarTally;
use crate::packet::Label;
use crate::spec::{LinkId, PauseSpec};

/// The buffer at the far end of a link that it pauses; fields of the packet path come first.
#[derive(Debug)]
#[repr(C, align(64))]
pub(crate) struct Buffer {
    pub(super) watches: Watches,
    /// The paused link.
    pub(super) link: LinkId,
    /// The switch at the far end, which has the buffer.
    pub(super) node: u32,
    pub(super) spec: PauseSpec,
    /// With queues by flow: counts packets against the queues of the near end.
    pub(super) filter: Option<Filter>,
    /// Time at which the next map is sent; [`Time::NEVER`] if none has to be.
    pub(super) map_at: Time,
    pub(super) map_sent: Time,
    /// Packets dropped because the buffer was full.
    pub(super) overflowed: u64,
    /// Packets among these that were waiting for intake.
    pub(super) refused: u64,
    pub(super) intake: VecDeque<Label>,
    pub(super) intake_at: Time,
}

/// The watches of a buffer.
#[derive(Debug)]
pub(super) enum Watches {
    Whole(Watch),
    ByClass(Box<[Watch; CLASSES]>),
}

impl Watches {
    /// The watch of a class.
    pub(super) fn of(&self, class: u8) -> &Watch {
        match self {
            Watches::Whole(watch) => watch,
            Watches::ByClass(watches) => &watches[usize::from(class)],
        }
    }
    pub(super) fn of_mut(&mut self, class: u8) -> &mut Watch {
        match self {
            Watches::Whole(watch) => watch,
            Watches::ByClass(watches) => &mut watches[usize::from(class)],
        }
    }
}

impl Deref for Watches {
    type Target = [Watch];
    fn deref(&self) -> &[Watch] {
        match self {
            Watches::Whole(watch) => from_ref(watch),
            Watches::ByClass(watches) => &watches[..],
        }
    }
}
impl DerefMut for Watches {
    fn deref_mut(&mut self) -> &mut [Watch] {
        match self {
            Watches::Whole(watch) => core::slice::from_mut(watch),
            Watches::ByClass(watches) => &mut watches[..],
        }
    }
}

impl Buffer {
    pub(super) fn tally(&self) -> FarTally {
        FarTally {
            intake: self.intake.len() as u64,
            overflowed: self.overflowed,
            refused: self.refused,
        }
    }

    pub(super) fn next_due(&self) -> Time {
        let refresh = self.watches.iter().map(Watch::deadline).fold(Time::NEVER, Time::min);
        refresh.min(self.map_at).min(self.intake_at)
    }

    /// Bytes of the fullest class, and the threshold above which the buffer pauses its link.
    pub(crate) fn level(&self) -> (Bytes, Bytes) {
        let held = self.watches.iter().map(Watch::held);
        (held.fold(Bytes::ZERO, Bytes::max), self.spec.xoff)
    }

    pub(super) fn has_room_for(&self, label: &Label) -> bool {
        self.watches.of(label.class).has_room_for(Bytes::new(u64::from(label.size)))
    }
}
