//! State of streams with nothing under way.

use ratewire_units::Bytes;

use super::Relay;

/// Positions of the streams of one direction.
#[derive(Clone, Debug)]
pub(crate) struct StreamPositions {
    /// In each source's stream, everything below is acknowledged, and nothing beyond.
    pub(crate) below: Vec<u64>,
    /// Each target has everything below in its stream.
    pub(crate) ends: Vec<u64>,
    pub(crate) unfinished: Option<Unfinished>,
}

/// A frame whose sent part has arrived: the rest must follow it, whenever it comes.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Unfinished {
    pub(crate) source: usize,
    /// End of the frame in the source's stream.
    pub(crate) end: u64,
    pub(crate) target: usize,
}

impl StreamPositions {
    /// Positions at the start of all streams.
    pub(crate) fn new(sources: usize, targets: usize) -> StreamPositions {
        StreamPositions { below: vec![0; sources], ends: vec![0; targets], unfinished: None }
    }

    /// Acknowledged payload of a source's stream.
    pub(crate) fn below(&self, source: usize) -> Bytes {
        Bytes::new(self.below[source])
    }
    /// Payload with a place in a target's stream that is not acknowledged.
    pub(crate) fn outstanding(&self, target: usize) -> Bytes {
        let of_target = self.unfinished.filter(|frame| frame.target == target);
        of_target.map_or(Bytes::ZERO, |frame| Bytes::new(frame.end - self.below[frame.source]))
    }
    /// Number of ranges kept.
    pub(crate) fn len(&self) -> usize {
        usize::from(self.unfinished.is_some())
    }
}

impl Relay {
    /// Positions of the streams, if nothing is under way but the rest of a frame, which may be long
    /// in coming.
    pub(crate) fn idle_positions(&self) -> Option<StreamPositions> {
        let mut below = Vec::with_capacity(self.sources.len());
        let mut unfinished = None;
        for (source, from) in self.sources.iter().enumerate() {
            let here = from.acked.below();
            let rest = match (from.mappings.front(), from.mappings.len()) {
                (None, _) => None,
                (Some(place), 1) if place.end == from.placed => {
                    Some((place.end, place.target as usize))
                }
                _ => return None,
            };
            if !from.is_whole() || from.sent > here {
                return None;
            }
            if let Some((end, target)) = rest {
                if unfinished.is_some() {
                    return None;
                }
                unfinished = Some(Unfinished { source, end, target });
            }
            below.push(here);
        }
        let unacked = self.targets.iter().map(|target| target.unacked.len()).sum::<usize>();
        let ends = self.targets.iter().map(|target| target.cumulative).collect();
        (unacked == usize::from(unfinished.is_some())).then_some(StreamPositions {
            below,
            ends,
            unfinished,
        })
    }
}
