//! Events that are far away, in lists that are read in order of memory: they wait for so long that they
//! leave the caches.

use ratewire_net::prefetch_bytes;

use super::Event;
use super::ring::{self, NIL};

type Ring = ring::Ring<64>;

/// Blocks that can be far away at once.
pub(super) const BLOCKS: u64 = Ring::SLOTS;

const CHUNK: usize = 10;

/// A part of a list: four cache lines.
#[derive(Debug)]
#[repr(align(64))]
struct Chunk {
    events: [Event; CHUNK],
    len: u32,
    next: u32,
}

const _: () = assert!(size_of::<Chunk>() == 4 * 64);

/// Lists of events by block, a run of buckets.
#[derive(Debug)]
pub(super) struct Far {
    ring: Ring,
    chunks: Vec<Chunk>,
    free: u32,
}

impl Far {
    pub(super) fn new() -> Far {
        Far { ring: Ring::new(), chunks: Vec::new(), free: NIL }
    }

    #[inline]
    pub(super) fn push(&mut self, block: u64, event: Event) {
        match self.chunks.get_mut(self.ring.head(block) as usize) {
            Some(chunk) if (chunk.len as usize) < CHUNK => {
                chunk.events[chunk.len as usize] = event;
                chunk.len += 1;
            }
            _ => self.begin_chunk(block, event),
        }
    }

    #[cold]
    fn begin_chunk(&mut self, block: u64, event: Event) {
        let chunk = Chunk { events: [event; CHUNK], len: 1, next: self.ring.head(block) };
        let id = self.free;
        let id = match self.chunks.get_mut(id as usize) {
            Some(place) => {
                self.free = place.next;
                *place = chunk;
                id
            }
            None => {
                self.chunks.push(chunk);
                self.chunks.len() as u32 - 1
            }
        };
        self.ring.put(block, id);
    }

    /// The first block after `after` that has events.
    #[inline]
    pub(super) fn next_after(&self, after: u64) -> Option<u64> {
        self.ring.next_after(after)
    }

    /// A block is to be drained soon.
    pub(super) fn foresee(&self, block: u64) {
        if let Some(chunk) = self.chunks.get(self.ring.head(block) as usize) {
            prefetch_bytes(chunk, 0..size_of::<Chunk>());
        }
    }

    /// Takes the events of a block out.
    pub(super) fn drain(&mut self, block: u64, mut each: impl FnMut(Event)) {
        let mut id = self.ring.take(block);
        while id != NIL {
            let next = self.chunks[id as usize].next;
            if let Some(chunk) = self.chunks.get(next as usize) {
                prefetch_bytes(chunk, 0..size_of::<Chunk>());
            }
            let chunk = &mut self.chunks[id as usize];
            chunk.events[..chunk.len as usize].iter().for_each(|event| each(*event));
            chunk.next = self.free;
            self.free = id;
            id = next;
        }
    }
}
