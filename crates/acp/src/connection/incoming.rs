//! Frames that arrive.
//!
//! A frame is handed over when all of it and everything before it in the stream has arrived. A
//! switch may have put packets of several sources into one stream, in any order: each source's
//! frames are put together apart. A frame of which a part is missing in the stream is dropped: a
//! member behind a switch has failed and has the rest of it.

use std::collections::{BTreeMap, VecDeque};
use std::ops::Range;

use bytes::{Buf, Bytes};
use ratewire_laws::Header;
use ratewire_transport::{Ack, Receiver, Reply, Stamp};
use ratewire_units::{Bytes as Size, Time};

use super::KEPT;
use crate::frame::Frame;
use crate::wire::{DataPart, varint};

/// Sources that one stream may have.
const MOST_SOURCES: usize = 1024;

/// Pieces that may wait for their turn: memory that small packets take beside their bytes.
const MOST_PIECES: usize = 1 << 16;
/// Bytes that a frame counts as in the window, at least, for the same reason.
const LEAST_SIZE: u64 = 64;

/// What arrived and has its turn in the stream later.
#[derive(Debug)]
enum Stored {
    Data { source: u64, frame: u64, within: u64, bytes: Bytes },
    Empty { length: u64 },
}

impl Stored {
    fn len(&self) -> u64 {
        match self {
            Stored::Data { bytes, .. } => bytes.len() as u64,
            Stored::Empty { length } => *length,
        }
    }
}

/// The beginning of a frame.
#[derive(Debug)]
struct Partial {
    frame: u64,
    bytes: Vec<u8>,
}

/// What a sender may not do.
pub(super) type Violation = &'static str;

/// The incoming direction.
#[derive(Debug)]
pub(super) struct Incoming {
    pub(super) receiver: Receiver,
    longest_frame: u64,
    /// By stream offset: what has arrived out of order.
    later: BTreeMap<u64, Stored>,
    /// Offset up to which the stream has been put together.
    next: u64,
    partial: BTreeMap<u64, Partial>,
    ready: VecDeque<Frame>,
    /// Bytes that `ready` takes.
    ready_bytes: u64,
    /// Sizes of the frames in `ready`, as they count.
    sizes: VecDeque<u64>,
    /// Length of the stream, once it is known.
    end: Option<u64>,
    frames_received: u64,
    /// Frames of which a part came and the rest does not.
    frames_broken: u64,
    /// Acknowledgements that must not wait for the next arrival.
    acks: Vec<Ack>,
    is_ack_due: bool,
    /// Whether the last range has found room.
    has_room: bool,
}

impl Incoming {
    pub(super) fn new(receiver: Receiver, longest_frame: u64) -> Incoming {
        Incoming {
            receiver,
            longest_frame,
            later: BTreeMap::new(),
            next: 0,
            partial: BTreeMap::new(),
            ready: VecDeque::new(),
            ready_bytes: 0,
            sizes: VecDeque::new(),
            end: None,
            frames_received: 0,
            frames_broken: 0,
            acks: Vec::new(),
            is_ack_due: false,
            has_room: true,
        }
    }

    /// Handles data of a range that has [arrived](Incoming::arrive).
    pub(super) fn on_data(&mut self, part: &DataPart<'_>) -> Result<(), Violation> {
        if part.frame > self.longest_frame {
            return Err("a frame is longer than this end takes");
        }
        let &DataPart { offset, source, frame, within, bytes, .. } = part;
        if self.is_new(offset, bytes.len() as u64) {
            let bytes = Bytes::copy_from_slice(bytes);
            self.store(offset, Stored::Data { source, frame, within, bytes })?;
        }
        Ok(())
    }

    /// Handles an empty range.
    pub(super) fn on_empty(
        &mut self,
        now: Time,
        offset: u64,
        length: u64,
    ) -> Result<(), Violation> {
        self.arrive(now, &(offset..offset + length), &Header::None, false);
        if self.is_new(offset, length) {
            self.store(offset, Stored::Empty { length })?;
        }
        Ok(())
    }

    /// Tells the transport of a packet's range.
    pub(super) fn arrive(&mut self, now: Time, range: &Range<u64>, header: &Header, marked: bool) {
        if self.receiver.answers_first(marked) {
            self.acks.push(self.receiver.acknowledge(now));
        }
        let refused = self.receiver.refused();
        let size = Size::new(range.end - range.start);
        if self.receiver.on_data(now, range.start, size, header, marked, Stamp::NONE) == Reply::Now
        {
            self.is_ack_due = true;
        }
        self.has_room = self.receiver.refused() == refused;
    }

    /// Whether a part of the last range has anything that is not here yet.
    fn is_new(&self, offset: u64, length: u64) -> bool {
        self.has_room && length > 0 && offset + length > self.next
    }

    fn store(&mut self, offset: u64, stored: Stored) -> Result<(), Violation> {
        if offset <= self.next {
            self.take(offset, stored)?;
        } else if self.later.len() == MOST_PIECES {
            return Err("too many pieces wait for one that is missing");
        } else if self.later.get(&offset).is_none_or(|known| known.len() < stored.len()) {
            self.later.insert(offset, stored);
        }
        while let Some(first) = self.later.first_entry().filter(|first| *first.key() <= self.next) {
            let (offset, stored) = first.remove_entry();
            self.take(offset, stored)?;
        }
        self.note_read();
        Ok(())
    }

    /// Takes in what has its turn, without the part that is here already.
    fn take(&mut self, offset: u64, stored: Stored) -> Result<(), Violation> {
        let end = offset + stored.len();
        if end <= self.next {
            return Ok(());
        }
        let known = self.next - offset;
        self.next = end;
        match stored {
            Stored::Empty { .. } => {}
            Stored::Data { source, frame, within, mut bytes } => {
                bytes.advance(known as usize);
                self.append(source, frame, within + known, bytes)?;
            }
        }
        Ok(())
    }

    fn append(
        &mut self,
        source: u64,
        frame: u64,
        within: u64,
        bytes: Bytes,
    ) -> Result<(), Violation> {
        if within == 0 {
            // What was before it is never finished.
            self.frames_broken += u64::from(self.partial.remove(&source).is_some());
            if bytes.len() as u64 == frame {
                return self.finish(bytes);
            }
            if self.partial.len() == MOST_SOURCES {
                return Err("the stream has too many sources");
            }
            let bytes = Vec::from(bytes);
            self.partial.insert(source, Partial { frame, bytes });
            return Ok(());
        }
        let Some(partial) = self.partial.get_mut(&source) else { return Ok(()) };
        if (partial.frame, partial.bytes.len() as u64) != (frame, within) {
            self.partial.remove(&source);
            self.frames_broken += 1;
            return Ok(());
        }
        partial.bytes.extend_from_slice(&bytes);
        if partial.bytes.len() as u64 == frame
            && let Some(whole) = self.partial.remove(&source)
        {
            return self.finish(whole.bytes.into());
        }
        Ok(())
    }

    fn finish(&mut self, mut data: Bytes) -> Result<(), Violation> {
        let mut rest = &data[..];
        let id = varint::take(&mut rest).map_err(|_| "a frame has no number")?;
        let size = (data.len() as u64).max(LEAST_SIZE);
        data.advance(data.len() - rest.len());
        self.ready.push_back(Frame { id, data });
        self.sizes.push_back(size);
        self.ready_bytes += size;
        self.frames_received += 1;
        Ok(())
    }

    /// Parts of frames do not count: else a frame larger than the buffer would close the window
    /// for ever.
    fn note_read(&mut self) {
        self.is_ack_due |= self.receiver.read(self.next.saturating_sub(self.ready_bytes));
    }

    /// The next frame, if it is whole.
    pub(super) fn read(&mut self) -> Option<Frame> {
        let frame = self.ready.pop_front()?;
        self.ready_bytes -= self.sizes.pop_front().unwrap_or(0);
        if self.ready.is_empty() && self.ready.capacity() > KEPT {
            (self.ready, self.sizes) = Default::default();
        }
        self.note_read();
        Some(frame)
    }
    pub(super) fn is_readable(&self) -> bool {
        !self.ready.is_empty()
    }
    pub(super) fn frames_received(&self) -> u64 {
        self.frames_received
    }
    pub(super) fn frames_broken(&self) -> u64 {
        self.frames_broken
    }

    /// Answers an open.
    pub(super) fn open(&mut self, now: Time, header: &Header) {
        self.acks.push(self.receiver.open(now, header));
    }

    /// Does what is due.
    pub(super) fn on_timer(&mut self, now: Time) {
        self.is_ack_due |= self.receiver.on_timer(now);
    }

    /// The next acknowledgement to send.
    pub(super) fn poll_ack(&mut self, now: Time) -> Option<Ack> {
        if !self.acks.is_empty() {
            return Some(self.acks.remove(0));
        }
        let is_due = core::mem::take(&mut self.is_ack_due);
        is_due.then(|| self.receiver.acknowledge(now))
    }

    /// Notes where the stream ends.
    pub(super) fn set_end(&mut self, end: u64) -> Result<(), Violation> {
        if end < self.next || self.end.is_some_and(|known| known != end) {
            return Err("the stream ends before its data");
        }
        self.end = Some(end);
        Ok(())
    }
    /// Whether all of the stream has arrived.
    pub(super) fn is_whole(&self) -> bool {
        self.end == Some(self.next)
    }
}

#[cfg(test)]
impl Incoming {
    /// Frames for which there is memory.
    pub(super) fn capacity(&self) -> usize {
        self.ready.capacity().max(self.sizes.capacity())
    }
}
