//! Places of bytes in streams: a switch's knowledge of unacknowledged data.
//!
//! Streams come from sources and go to targets: one source and many targets inbound, many sources
//! and one target outbound. A range of a source's stream has a place in a target's stream from when
//! it is first seen until it is acknowledged; a retransmission keeps the place. Only the rest of a
//! frame, which has a place before it is seen, may lose it. No payload is kept.

mod positions;
mod streams;

use ratewire_transport::{Ack, SackBlocks};
use ratewire_units::{Bytes, Time};

pub(crate) use positions::StreamPositions;
use positions::Unfinished;
use streams::{GONE, Source, Target, UnackedRange, acknowledge_to_source};
pub(crate) use streams::{NewlyAcked, Sent, StreamMapping};

/// Maximum number of ranges examined to fill an acknowledgement.
const MOST_BLOCKS: usize = 64;

/// The streams of one direction.
#[derive(Clone, Debug)]
pub(crate) struct Relay {
    sources: Vec<Source>,
    targets: Vec<Target>,
    /// Whether targets may fail, and lose data that they do not have in order.
    may_fail: bool,
    /// Bytes of incomplete units that targets have in order. They are acknowledged to the sources
    /// for good when the units are complete.
    unfinished: u64,
}

impl Relay {
    /// The streams from the peer to members, which may fail.
    pub(crate) fn inbound(positions: &StreamPositions) -> Relay {
        Relay::new(positions, true)
    }
    /// The streams from members to the peer; `peer_spreads` says whether it is a switch, whose
    /// members may fail.
    pub(crate) fn outbound(positions: &StreamPositions, peer_spreads: bool) -> Relay {
        Relay::new(positions, peer_spreads)
    }

    fn new(positions: &StreamPositions, may_fail: bool) -> Relay {
        let mut relay = Relay {
            may_fail,
            unfinished: 0,
            sources: positions.below.iter().map(|below| Source::at(*below)).collect(),
            targets: positions.ends.iter().map(|end| Target::at(*end)).collect(),
        };
        if let Some(Unfinished { source, end, target }) = positions.unfinished {
            relay.place(source, positions.below[source], end, target, false);
        }
        relay
    }

    /// Everything below in a source's stream is acknowledged for good.
    pub(crate) fn below(&self, source: usize) -> u64 {
        self.sources[source].acked.below()
    }
    /// Acknowledged bytes of a source's stream.
    pub(crate) fn acknowledged(&self, source: usize) -> Bytes {
        let acked = &self.sources[source].acked;
        let beyond: u64 = acked.beyond().iter().map(|r| r.1 - r.0).sum();
        Bytes::new(acked.below() + beyond)
    }
    /// Bytes behind the first that is not acknowledged for good, which a target has without a gap.
    pub(crate) fn ahead(&self, source: usize) -> Bytes {
        let Source { received, acked, .. } = &self.sources[source];
        Bytes::new(received.below().saturating_sub(acked.below()))
    }
    /// Whether a whole range is acknowledged.
    pub(crate) fn is_acknowledged(&self, source: usize, start: u64, end: u64) -> bool {
        self.sources[source].acked.contains(start, end)
    }
    /// Offset beyond which a source's stream has no places.
    pub(crate) fn placed(&self, source: usize) -> u64 {
        self.sources[source].placed
    }
    /// Offset at which a target's stream continues.
    pub(crate) fn next(&self, target: usize) -> u64 {
        self.targets[target].next
    }
    /// Payload with a place in a target's stream that is not acknowledged.
    pub(crate) fn outstanding(&self, target: usize) -> Bytes {
        Bytes::new(self.targets[target].outstanding)
    }
    /// Number of ranges kept.
    pub(crate) fn len(&self) -> usize {
        self.targets.iter().map(|t| t.unacked.len()).sum()
    }

    /// Place of the byte at an offset of a source's stream.
    pub(crate) fn find(&self, source: usize, offset: u64) -> Option<StreamMapping> {
        let mappings = &self.sources[source].mappings;
        let at = mappings.partition_point(|p| p.end <= offset);
        mappings.get(at).copied().filter(|p| p.start <= offset)
    }

    /// Bytes of incomplete units that targets have in order.
    pub(crate) fn unfinished(&self) -> u64 {
        self.unfinished
    }

    /// Gives the unacknowledged parts of a range that have no place one at the end of a target's
    /// stream. `is_unit` says whether the range arrives as a whole or not at all.
    pub(crate) fn place(
        &mut self,
        source: usize,
        start: u64,
        end: u64,
        target: usize,
        is_unit: bool,
    ) {
        let from = &mut self.sources[source];
        let to = &mut self.targets[target];
        for (start, end) in from.without_place(start, end) {
            let mapping =
                StreamMapping { start, end, target: target as u32, at: to.next, feedback: 0.0 };
            let index = from.mappings.partition_point(|p| p.start < start);
            from.mappings.insert(index, mapping);
            let at = to.next;
            to.next += end - start;
            to.outstanding += end - start;
            let (source, packet) = (source as u32, Sent::default());
            let (end, sent, left) = (to.next, at, Time::ZERO);
            to.unacked.push_back(UnackedRange {
                at,
                end,
                source,
                start,
                is_unit,
                sent,
                left,
                packet,
            });
        }
        from.placed = from.placed.max(end);
    }

    /// Notes that a packet was sent to its place.
    pub(crate) fn note(&mut self, now: Time, target: usize, at: u64, packet: Sent) {
        let ranges = &mut self.targets[target].unacked;
        let index = ranges.partition_point(|r| r.end <= at);
        if let Some(range) = ranges.get_mut(index).filter(|r| r.at <= at) {
            range.packet = range.packets_with(at, packet);
            let is_first = at >= range.sent && range.left != Time::NEVER;
            range.left = if is_first { now } else { Time::NEVER };
            range.sent = range.sent.max(at + u64::from(packet.payload));
            if let Some(from) = self.sources.get_mut(range.source as usize) {
                let end = range.start + (at - range.at) + u64::from(packet.payload);
                from.sent = from.sent.max(end);
            }
        }
    }

    /// The target that has acknowledged a whole range, but not for good.
    pub(crate) fn holder(&self, source: usize, start: u64, end: u64) -> Option<usize> {
        let is_received = self.sources[source].received.contains(start, end);
        self.find(source, start).filter(|_| is_received).map(|mapping| mapping.target as usize)
    }

    /// The range that alone keeps a target's stream waiting: the rest of a frame that the source
    /// has begun and not continued, with other data behind it. The rest loses its place.
    pub(crate) fn give_up_rest(&mut self, source: usize, target: usize) -> Option<(u64, u64)> {
        let from = &mut self.sources[source];
        let to = &mut self.targets[target];
        let front = to.unacked.front_mut()?;
        let at = to.cumulative.max(front.at);
        let start = front.start + (at - front.at);
        let is_rest = front.source == source as u32 && start == from.sent;
        if is_rest && front.end < to.next {
            let end = start + (front.end - at);
            to.outstanding -= from.received.gaps(start, end).iter().map(|r| r.1 - r.0).sum::<u64>();
            self.unfinished -= front.unfinished(to.cumulative);
            // Of a unit, another target gets all.
            let lost = if front.is_unit { front.start } else { start };
            from.received.remove(lost, end);
            (front.source, front.at, front.start) = (GONE, at, start);
            front.is_unit = false;
            let index = from.mappings.partition_point(|p| p.end <= start);
            if let Some(mapping) = from.mappings.get_mut(index).filter(|p| p.start <= start) {
                mapping.end = lost;
            }
            from.mappings.retain(|p| p.start < p.end);
        }
        (front.source == GONE).then_some((at, front.end))
    }

    /// Bytes of a target's stream that arrived empty since the last call.
    pub(crate) fn take_skipped(&mut self, target: usize) -> Bytes {
        Bytes::new(core::mem::take(&mut self.targets[target].skipped))
    }

    /// Notes an acknowledgement of a target; appends newly covered data to `newly_acked`. Returns
    /// when the last packet of the newest range that it completes left; `None` if it completes
    /// none, or one of which a packet was sent twice (Karn and Partridge 1987).
    pub(crate) fn acknowledge(
        &mut self,
        target: usize,
        ack: &Ack,
        newly_acked: &mut Vec<NewlyAcked>,
    ) -> Option<Time> {
        newly_acked.clear();
        let to = &mut self.targets[target];
        if ack.cumulative > to.next {
            return None; // Of what was never sent.
        }
        let before = to.unacked.front().map_or(0, |front| front.unfinished(to.cumulative));
        let mut newest = None;
        to.cumulative = to.cumulative.max(ack.cumulative);
        to.highest = to.highest.max(to.cumulative);
        while let Some(front) = to.unacked.front().copied().filter(|o| o.at < to.cumulative) {
            let whole = front.end <= to.cumulative;
            let end = if whole { front.end } else { to.cumulative };
            let for_good = whole || !front.is_unit;
            let new_bytes = acknowledge_to_source(
                &mut self.sources,
                &front,
                (front.at, end),
                for_good,
                newly_acked,
            );
            to.outstanding -= new_bytes;
            newest = newest.max(front.left_if_complete(end, new_bytes));
            if !whole {
                break;
            }
            if front.source == GONE {
                to.skipped += front.end - front.at;
            }
            to.unacked.pop_front();
        }
        let after = to.unacked.front().map_or(0, |front| front.unfinished(to.cumulative));
        self.unfinished = self.unfinished + after - before;
        for (from, until) in ack.sack.iter(ack.cumulative).filter(|r| r.1 <= to.next) {
            to.highest = to.highest.max(until);
            let first = to.unacked.partition_point(|o| o.end <= from);
            for range in to.unacked.range(first..).take_while(|o| o.at < until) {
                let (at, end) = (range.at.max(from), range.end.min(until));
                let for_good = !self.may_fail;
                let new_bytes = acknowledge_to_source(
                    &mut self.sources,
                    range,
                    (at, end),
                    for_good,
                    newly_acked,
                );
                to.outstanding -= new_bytes;
                newest = newest.max(range.left_if_complete(end, new_bytes));
            }
        }
        newest.filter(|left| *left != Time::NEVER)
    }

    /// Drops a target that is gone: its unacknowledged data loses its place.
    pub(crate) fn drop_target(&mut self, target: usize) {
        let gone = core::mem::take(&mut self.targets[target]);
        self.unfinished -=
            gone.unacked.front().map_or(0, |front| front.unfinished(gone.cumulative));
        for source in &mut self.sources {
            let gone = |mapping: &&StreamMapping| mapping.target == target as u32;
            source.feedback += source.mappings.iter().filter(gone).map(|p| p.feedback).sum::<f64>();
            for mapping in source.mappings.iter().filter(gone) {
                for (start, end) in source.acked.gaps(mapping.start, mapping.end) {
                    source.received.remove(start, end);
                }
            }
            source.mappings.retain(|mapping| mapping.target != target as u32);
        }
    }

    /// Acknowledges a range to its source as if a target had acknowledged it, but not for good.
    pub(crate) fn note_received(&mut self, source: usize, start: u64, end: u64) {
        let from = &mut self.sources[source];
        from.received.insert(start, end);
        from.newest = start;
    }
    /// Takes back that a target has a range, as far as it does not have it for good.
    pub(crate) fn doubt(&mut self, source: usize, start: u64, end: u64, target: usize) {
        let from = &mut self.sources[source];
        for (start, end) in from.acked.gaps(start, end) {
            let missing: u64 = from.received.gaps(start, end).iter().map(|r| r.1 - r.0).sum();
            self.targets[target].outstanding += end - start - missing;
            from.received.remove(start, end);
        }
    }
    /// Takes back what [`Relay::note_received`] has acknowledged.
    pub(crate) fn retract_received(&mut self, source: usize, start: u64, end: u64) {
        let from = &mut self.sources[source];
        for (start, end) in from.acked.gaps(start, end) {
            from.received.remove(start, end);
        }
    }

    /// Holds feedback for newly covered data of a source until the source gets the acknowledgement,
    /// so that feedback and packets stay together.
    pub(crate) fn hold(&mut self, source: usize, feedback: f64) {
        let from = &mut self.sources[source];
        let at = from.mappings.partition_point(|p| p.end <= from.newest);
        match from.mappings.get_mut(at).filter(|p| p.start <= from.newest) {
            Some(mapping) => mapping.feedback += feedback,
            None => from.feedback += feedback,
        }
    }

    /// Releases the feedback for everything below an offset that is acknowledged to a source.
    pub(crate) fn release(&mut self, source: usize, below: u64) -> f64 {
        let from = &mut self.sources[source];
        for mapping in from.mappings.iter_mut().take_while(|p| p.start < below) {
            from.feedback += core::mem::take(&mut mapping.feedback);
        }
        core::mem::take(&mut from.feedback)
    }

    /// Drops a source that is gone: nobody will send its missing data again.
    pub(crate) fn drop_source(&mut self, source: usize) {
        let gone = core::mem::take(&mut self.sources[source]);
        for target in &mut self.targets {
            for range in target.unacked.iter_mut().filter(|o| o.source == source as u32) {
                let end = range.start + (range.end - range.at);
                let missing = gone.received.gaps(range.start, end);
                target.outstanding -= missing.iter().map(|r| r.1 - r.0).sum::<u64>();
                range.source = GONE;
            }
        }
    }

    /// Missing ranges of a target's stream that will never come.
    pub(crate) fn abandoned(&self, target: usize) -> Vec<(u64, u64)> {
        let to = &self.targets[target];
        let mut ranges: Vec<(u64, u64)> = Vec::new();
        for range in to.unacked.iter().filter(|o| o.source == GONE) {
            let at = range.at.max(to.cumulative);
            match ranges.last_mut() {
                Some(last) if last.1 == at => last.1 = range.end,
                _ => ranges.push((at, range.end)),
            }
        }
        ranges
    }

    /// Ranges beyond the first missing byte that may be reported to a source, and the offset up to
    /// which they go.
    ///
    /// Members are at different distances. An arrival at one member does not show a loss of data
    /// for another, but a sender would count that data as lost. So no range is reported beyond a
    /// packet that may still be on its way.
    pub(crate) fn sack(&mut self, source: usize) -> (SackBlocks, u64) {
        let mut sack = SackBlocks::default();
        let below = self.sources[source].acked.below();
        let mut count = 0;
        // Data that was routed anew may wait at its member behind data that the source sent later.
        // It must be reported, or the source would repeat it for ever.
        let mut hole = self.sources[source].received.below().max(below);
        if hole > below {
            sack.push(below, below, hole);
        }
        for &(start, end) in self.sources[source].received.beyond().iter().take(MOST_BLOCKS) {
            if !self.is_overtaken(source, hole, start) {
                break;
            }
            count += 1;
            hole = end;
        }
        let from = &mut self.sources[source];
        let blocks = &from.received.beyond()[..count];
        let newest = from.received.index_of(from.newest).filter(|i| *i < blocks.len());
        let others = (0..blocks.len()).map(|i| (from.turn + i) % blocks.len());
        let others = others.filter(|i| Some(*i) != newest);
        for index in newest.into_iter().chain(others).take(SackBlocks::MAX) {
            sack.push(below, blocks[index].0, blocks[index].1);
        }
        from.turn =
            if blocks.is_empty() { 0 } else { (from.turn + SackBlocks::MAX - 1) % blocks.len() };
        (sack, hole)
    }

    /// Whether a whole missing range should have arrived: later data of the same target has
    /// arrived, or the range has no place and is not on its way.
    fn is_overtaken(&self, source: usize, start: u64, end: u64) -> bool {
        let mappings = &self.sources[source].mappings;
        let first = mappings.partition_point(|p| p.end <= start);
        let within = mappings.range(first..).take_while(|p| p.start < end);
        within.into_iter().all(|p| {
            let at = p.at + start.saturating_sub(p.start);
            self.targets[p.target as usize].highest > at
        })
    }
}
