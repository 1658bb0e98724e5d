//! Events of the far level, in lists that are read in order of memory, because the events leave the
//! caches while they wait.

use ratewire_net::prefetch_bytes;

use super::Event;
use super::bits;
use crate::tuning::{EVENTS_A_CHUNK, WORDS_A_LEVEL};

type Bits = bits::Bits<WORDS_A_LEVEL>;

/// Number of blocks of the far level.
pub(super) const BLOCKS: u64 = Bits::SLOTS;

/// The end of a list.
const NIL: u32 = u32::MAX;

/// A part of a list, in four cache lines.
#[derive(Debug)]
#[repr(align(64))]
struct Chunk {
    events: [Event; EVENTS_A_CHUNK],
    len: u32,
    next: u32,
}

const _: () = assert!(size_of::<Chunk>() == 4 * 64);

/// The list of a block: its first and last chunk.
#[derive(Clone, Copy, Debug)]
struct ChunkList {
    first: u32,
    last: u32,
}

impl ChunkList {
    const EMPTY: ChunkList = ChunkList { first: NIL, last: NIL };
}

/// The events of each block of buckets, in order of insertion.
#[derive(Debug)]
pub(super) struct Far {
    used: Bits,
    lists: Box<[ChunkList; BLOCKS as usize]>,
    chunks: Vec<Chunk>,
    free: u32,
}

impl Far {
    pub(super) fn new() -> Far {
        let lists = Box::new([ChunkList::EMPTY; BLOCKS as usize]);
        Far { used: Bits::new(), lists, chunks: Vec::new(), free: NIL }
    }

    #[inline]
    pub(super) fn push(&mut self, block: u64, event: Event) {
        let list = &mut self.lists[Bits::slot(block)];
        match self.chunks.get_mut(list.last as usize) {
            Some(chunk) if (chunk.len as usize) < EVENTS_A_CHUNK => {
                chunk.events[chunk.len as usize] = event;
                chunk.len += 1;
            }
            _ => self.begin_chunk(block, event),
        }
    }

    #[cold]
    fn begin_chunk(&mut self, block: u64, event: Event) {
        let chunk = Chunk { events: [event; EVENTS_A_CHUNK], len: 1, next: NIL };
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
        let list = &mut self.lists[Bits::slot(block)];
        match self.chunks.get_mut(list.last as usize) {
            Some(last) => last.next = id,
            None => list.first = id,
        }
        list.last = id;
        self.used.insert(block);
    }

    /// The first block with events that is not below this one.
    #[inline]
    pub(super) fn next_from(&self, block: u64) -> Option<u64> {
        self.used.next_from(block)
    }

    /// Removes all events of a block.
    pub(super) fn drain(&mut self, block: u64, mut each: impl FnMut(Event)) {
        self.used.remove(block);
        let list = core::mem::replace(&mut self.lists[Bits::slot(block)], ChunkList::EMPTY);
        let mut id = list.first;
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
