//! Frames on their way to the other end.

use std::collections::VecDeque;
use std::ops::Range;

use ratewire_transport::{Segment, Sender};
use ratewire_units::{Bytes as Size, Time};

use super::{DATA_FIELDS, KEPT};
use crate::channel::Draft;
use crate::frame::Frame;
use crate::wire::{DataPart, varint};

/// A frame until all of it is acknowledged.
#[derive(Debug)]
struct Kept {
    /// Stream offset of the frame's first byte.
    start: u64,
    /// Number of the frame, as bytes.
    head: Vec<u8>,
    frame: Frame,
}

impl Kept {
    fn len(&self) -> u64 {
        (self.head.len() + self.frame.data.len()) as u64
    }
    fn end(&self) -> u64 {
        self.start + self.len()
    }

    /// The part from a stream offset on, without its bytes.
    fn part(&self, offset: u64, again: bool) -> DataPart<'static> {
        let (frame, within) = (self.len(), offset - self.start);
        DataPart { offset, source: 0, frame, within, bytes: &[], again }
    }

    /// Appends bytes of the frame.
    fn copy(&self, within: u64, length: u64, out: &mut Vec<u8>) {
        let (begin, end, head) = (within as usize, (within + length) as usize, self.head.len());
        out.extend_from_slice(&self.head[begin.min(head)..end.min(head)]);
        out.extend_from_slice(&self.frame.data[begin.max(head) - head..end.max(head) - head]);
    }
}

/// The outgoing direction.
#[derive(Debug)]
pub(super) struct Outgoing {
    pub(super) sender: Sender,
    frames: VecDeque<Kept>,
    /// Length of the stream so far.
    end: u64,
    frames_sent: u64,
}

impl Outgoing {
    pub(super) fn new(sender: Sender) -> Outgoing {
        Outgoing { sender, frames: VecDeque::new(), end: 0, frames_sent: 0 }
    }

    /// Bytes that are written and not acknowledged.
    pub(super) fn buffered(&self) -> u64 {
        self.end - self.frames.front().map_or(self.end, |first| first.start)
    }
    /// Frames that were written.
    pub(super) fn frames_sent(&self) -> u64 {
        self.frames_sent
    }
    /// Frames that are acknowledged whole.
    pub(super) fn frames_acknowledged(&self) -> u64 {
        self.frames_sent - self.frames.len() as u64
    }
    /// Length of the stream so far.
    pub(super) fn end(&self) -> u64 {
        self.end
    }

    pub(super) fn write(&mut self, frame: Frame) {
        let mut head = Vec::new();
        varint::put(&mut head, frame.id);
        let kept = Kept { start: self.end, head, frame };
        self.end += kept.len();
        self.sender.write(Size::new(kept.len()));
        self.frames.push_back(kept);
        self.frames_sent += 1;
    }

    /// Forgets what is acknowledged. Returns whether that is a frame or more.
    pub(super) fn forget_acknowledged(&mut self) -> bool {
        let before = self.frames.len();
        let below = self.sender.acknowledged();
        while self.frames.front().is_some_and(|first| first.end() <= below) {
            self.frames.pop_front();
        }
        if self.frames.is_empty() && self.frames.capacity() > KEPT {
            self.frames = VecDeque::new();
        }
        self.frames.len() < before
    }

    /// Frames of which the other end has not acknowledged all, in order.
    pub(super) fn unacknowledged(&self) -> Vec<Frame> {
        self.frames.iter().map(|kept| kept.frame.clone()).collect()
    }

    /// How many of these, the last ones, were never sent.
    pub(super) fn unsent(&self) -> usize {
        let sent = self.end - self.sender.unsent().get();
        self.frames.len() - self.frames.partition_point(|kept| kept.start < sent)
    }

    /// The next packet of the transport, for one whose data parts have `room` bytes. It carries a
    /// part of one frame, or whole frames that fit together.
    pub(super) fn poll_transmit(&mut self, now: Time, room: u64) -> Option<Segment> {
        let frames = &self.frames;
        self.sender.poll_transmit_within(now, |offset, most| fit(frames, offset, most, room))
    }

    /// Does what is due, and gives a packet that must be sent whatever the window, as
    /// [`Outgoing::poll_transmit`] does.
    pub(super) fn on_timer(&mut self, now: Time, room: u64) -> Option<Segment> {
        let frames = &self.frames;
        self.sender.on_timer_within(now, |offset, most| fit(frames, offset, most, room))
    }

    /// Whether the other end has acknowledged all data of a packet of the transport.
    pub(super) fn is_acknowledged(&self, segment: &Segment) -> bool {
        let end = segment.offset + segment.payload.get();
        segment.payload > Size::ZERO && end <= self.sender.acknowledged()
    }

    /// Appends the parts for a range of the stream until a packet has `room` bytes of them. Returns
    /// the offset up to which they go. Frames that are acknowledged are left out.
    pub(super) fn put(
        &self,
        range: Range<u64>,
        again: bool,
        room: u64,
        draft: &Draft,
        out: &mut Vec<u8>,
    ) -> u64 {
        let Range { start, end } = range;
        for kept in self.frames.range(index(&self.frames, start)..) {
            let offset = kept.start.max(start);
            if offset >= end {
                break;
            }
            let part = kept.part(offset, again);
            let length = end.min(kept.end()) - offset;
            let left = room.saturating_sub(draft.len(out) as u64);
            if part.fields_len(length) + length <= left {
                part.put_fields(length, out);
                kept.copy(part.within, length, out);
            } else if draft.len(out) == 0 && left > DATA_FIELDS {
                // A packet that was sent on a path for larger ones goes in pieces.
                let length = left - DATA_FIELDS;
                part.put_fields(length, out);
                kept.copy(part.within, length, out);
                return offset + length;
            } else {
                return offset;
            }
        }
        end
    }
}

#[cfg(test)]
impl Outgoing {
    /// Frames for which there is memory.
    pub(super) fn capacity(&self) -> usize {
        self.frames.capacity()
    }
}

/// Index of the frame with the byte at a stream offset.
fn index(frames: &VecDeque<Kept>, offset: u64) -> usize {
    frames.partition_point(|kept| kept.end() <= offset)
}

/// How much of the stream from an offset one packet carries, at most `most` bytes.
fn fit(frames: &VecDeque<Kept>, offset: u64, most: u64, room: u64) -> u64 {
    let mut frames = frames.range(index(frames, offset)..).peekable();
    let first = frames.peek().map_or(most, |first| (first.end() - offset).min(most));
    let (mut sum, mut left) = (0, room);
    for kept in frames {
        let length = kept.len();
        let needs = length + kept.part(kept.start, true).fields_len(length);
        if kept.start < offset || sum + length > most || needs > left {
            break;
        }
        (sum, left) = (sum + length, left - needs);
    }
    sum.max(first)
}
