//! What has to be known of streams in which nothing is under way.

use ratewire_units::Bytes;

use crate::relay::{Relay, Source, Target};

/// Where the streams of one direction are.
#[derive(Clone, Debug)]
pub(crate) struct Settled {
    /// All of each source's stream below is acknowledged, and nothing beyond.
    pub(crate) below: Vec<u64>,
    /// Each target has all of its stream below.
    pub(crate) ends: Vec<u64>,
    pub(crate) unfinished: Option<Unfinished>,
}

/// A frame of which all that was sent has arrived: the rest is to follow it, whenever it comes.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Unfinished {
    pub(crate) source: usize,
    /// Where it ends in the source's stream.
    pub(crate) end: u64,
    pub(crate) target: usize,
}

impl Settled {
    /// At the beginning of streams.
    pub(crate) fn new(sources: usize, targets: usize) -> Settled {
        Settled { below: vec![0; sources], ends: vec![0; targets], unfinished: None }
    }

    /// Payload of a source's stream that is acknowledged.
    pub(crate) fn below(&self, source: usize) -> Bytes {
        Bytes::new(self.below[source])
    }
    /// Payload that has a place in a target's stream and is not acknowledged.
    pub(crate) fn outstanding(&self, target: usize) -> Bytes {
        let of_target = self.unfinished.filter(|frame| frame.target == target);
        of_target.map_or(Bytes::ZERO, |frame| Bytes::new(frame.end - self.below[frame.source]))
    }
    /// Ranges that are remembered.
    pub(crate) fn len(&self) -> usize {
        usize::from(self.unfinished.is_some())
    }
}

impl Source {
    /// All below is acknowledged.
    pub(crate) fn at(below: u64) -> Source {
        let mut source = Source::default();
        (source.placed, source.sent) = (below, below);
        source.acked.insert(0, below);
        source.heard.insert(0, below);
        source
    }

    /// Whether what targets have is all from the beginning on.
    fn is_whole(&self) -> bool {
        let gaps = !self.acked.beyond().is_empty() || !self.heard.beyond().is_empty();
        !gaps && self.acked.below() == self.heard.below()
    }
}

impl Target {
    /// All below is acknowledged.
    pub(crate) fn at(end: u64) -> Target {
        let mut target = Target::default();
        (target.next, target.cumulative, target.highest) = (end, end, end);
        target
    }
}

impl Relay {
    /// Where the streams are, unless something is under way that is more than the rest of a frame: that may
    /// be long in coming.
    pub(crate) fn settled(&self) -> Option<Settled> {
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
        let owed = self.targets.iter().map(|target| target.owed.len()).sum::<usize>();
        let ends = self.targets.iter().map(|target| target.cumulative).collect();
        (owed == usize::from(unfinished.is_some())).then_some(Settled { below, ends, unfinished })
    }
}
