//! Streams of sources and of targets, and the ranges in which they meet.

use std::collections::VecDeque;

use ratewire_units::Time;

use crate::ranges::Ranges;

/// Marks a source that has failed, or the rest of a frame that was given up.
pub(super) const GONE: u32 = u32::MAX;

#[derive(Clone, Debug, Default)]
pub(super) struct Source {
    /// Ranges that targets have acknowledged for good, with everything before them in their
    /// streams.
    pub(super) acked: Ranges,
    /// Ranges that targets have acknowledged at all, also selectively: a target may discard those
    /// (RFC 2018, section 8).
    pub(super) received: Ranges,
    /// Places of its unacknowledged ranges, in order.
    pub(super) mappings: VecDeque<StreamMapping>,
    /// Every byte below has, or had, a place.
    pub(super) placed: u64,
    /// No byte beyond was ever sent on.
    pub(super) sent: u64,
    /// An offset in the range that was acknowledged last.
    pub(super) newest: u64,
    /// Index of the acknowledged range to report next.
    pub(super) turn: usize,
    /// Feedback for packets that were acknowledged to the source, B/s.
    pub(super) feedback: f64,
}

/// A range of a source's stream, and its place in a target's stream.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct StreamMapping {
    pub(crate) start: u64,
    pub(crate) end: u64,
    pub(crate) target: u32,
    /// Offset in the target's stream.
    pub(crate) at: u64,
    /// Feedback due for the range's packets when they are acknowledged to the source, B/s.
    pub(super) feedback: f64,
}

#[derive(Clone, Debug, Default)]
pub(super) struct Target {
    /// Ranges with places, in order.
    pub(super) unacked: VecDeque<UnackedRange>,
    pub(super) next: u64,
    pub(super) cumulative: u64,
    /// All acknowledged ranges are below.
    pub(super) highest: u64,
    pub(super) outstanding: u64,
    /// Bytes that arrived empty and were not asked for yet.
    pub(super) skipped: u64,
}

/// A range of a target's stream that is not cumulatively acknowledged, and its source.
#[derive(Clone, Copy, Debug)]
pub(super) struct UnackedRange {
    pub(super) at: u64,
    pub(super) end: u64,
    pub(super) source: u32,
    /// Offset in the source's stream.
    pub(super) start: u64,
    /// Whether the range is acknowledged to the source for good only when the target has all of it.
    /// Another target then gets all of it, if this one fails before.
    pub(super) is_unit: bool,
    /// Everything of the range below was sent.
    pub(super) sent: u64,
    /// When the range's last packet was sent; [`Time::NEVER`] if any was sent twice.
    pub(super) left: Time,
    /// What was sent of the range, together: each byte stands for the same part of the wish. A
    /// packet that is sent again counts as before.
    pub(super) packet: Sent,
}

/// Facts that are kept of packets until they are acknowledged.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Sent {
    pub(crate) payload: u32,
    /// Wish of the headers as they left, B/s.
    pub(crate) wish: f64,
    /// Whether a packet was marked before it came.
    pub(crate) marked: bool,
}

/// Part of a source's stream that an acknowledgement newly covers.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct NewlyAcked {
    pub(crate) source: usize,
    /// Sum of the wishes of the packets covered.
    pub(crate) wish: f64,
    pub(crate) marked: bool,
}

impl UnackedRange {
    /// Bytes that the target has in order, if the range is a unit and not complete.
    pub(super) fn unfinished(&self, cumulative: u64) -> u64 {
        if self.is_unit { cumulative.saturating_sub(self.at) } else { 0 }
    }

    /// What was sent of the range with another packet.
    pub(super) fn packets_with(&self, at: u64, packet: Sent) -> Sent {
        let known = self.packet;
        let marked = known.marked || packet.marked;
        if at >= self.sent && known.payload > 0 {
            let (payload, wish) = (known.payload + packet.payload, known.wish + packet.wish);
            Sent { payload, wish, marked }
        } else if known.payload <= packet.payload {
            packet
        } else {
            Sent { marked, ..known }
        }
    }

    /// When the last packet left, if the range was sent whole and new data up to `end` completes
    /// it.
    pub(super) fn left_if_complete(&self, end: u64, new_bytes: u64) -> Option<Time> {
        (new_bytes > 0 && end == self.end && self.sent >= end).then_some(self.left)
    }
}

impl Source {
    /// A source with everything below acknowledged.
    pub(super) fn at(below: u64) -> Source {
        let mut source = Source::default();
        (source.placed, source.sent) = (below, below);
        source.acked.insert(0, below);
        source.received.insert(0, below);
        source
    }

    /// Whether targets have everything from the start on.
    pub(super) fn is_whole(&self) -> bool {
        let gaps = !self.acked.beyond().is_empty() || !self.received.beyond().is_empty();
        !gaps && self.acked.below() == self.received.below()
    }

    /// Parts of a range that are not acknowledged and have no place.
    pub(super) fn without_place(&self, start: u64, end: u64) -> Vec<(u64, u64)> {
        let mut gaps = self.acked.gaps(start, end);
        let first = self.mappings.partition_point(|p| p.end <= start);
        for mapping in self.mappings.range(first..).take_while(|p| p.start < end) {
            gaps = gaps
                .into_iter()
                .flat_map(|(from, to)| [(from, to.min(mapping.start)), (from.max(mapping.end), to)])
                .filter(|(from, to)| from < to)
                .collect();
        }
        gaps
    }

    fn forget_acknowledged(&mut self) {
        let below = self.acked.below();
        while let Some(mapping) = self.mappings.front().filter(|p| p.end <= below) {
            self.feedback += mapping.feedback;
            self.mappings.pop_front();
        }
    }
}

impl Target {
    /// A target with everything below acknowledged.
    pub(super) fn at(end: u64) -> Target {
        let mut target = Target::default();
        (target.next, target.cumulative, target.highest) = (end, end, end);
        target
    }
}

/// Acknowledges a part of a range to its source, for good or not; returns how much of it is
/// new.
pub(super) fn acknowledge_to_source(
    sources: &mut [Source],
    range: &UnackedRange,
    (at, end): (u64, u64),
    for_good: bool,
    newly_acked: &mut Vec<NewlyAcked>,
) -> u64 {
    let Some(source) = sources.get_mut(range.source as usize) else { return 0 };
    let (start, end) = (range.start + (at - range.at), range.start + (end - range.at));
    if for_good {
        source.acked.insert(start, end);
        source.forget_acknowledged();
    }
    let new_bytes = source.received.insert(start, end);
    if new_bytes == 0 {
        return 0;
    }
    source.newest = start;
    let share = new_bytes as f64 / f64::from(range.packet.payload.max(1));
    let wish = range.packet.wish * share;
    let marked = range.packet.marked;
    match newly_acked.iter_mut().find(|f| f.source == range.source as usize) {
        Some(known) => {
            known.wish += wish;
            known.marked |= marked;
        }
        None => newly_acked.push(NewlyAcked { source: range.source as usize, wish, marked }),
    }
    new_bytes
}
