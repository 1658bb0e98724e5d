//! Frames on their way to the other end.

use std::collections::VecDeque;

use ratewire_transport::Sender;
use ratewire_units::Bytes as Size;

use crate::frame::Frame;
use crate::wire::varint;

/// A frame until all of it is acknowledged.
#[derive(Debug)]
struct Kept {
    /// Stream offset of its first byte.
    start: u64,
    /// Its number, as bytes.
    head: Vec<u8>,
    frame: Frame,
}

impl Kept {
    fn len(&self) -> u64 {
        (self.head.len() + self.frame.data.len()) as u64
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

/// The place of a packet's data in its frame.
pub(super) struct Place {
    pub(super) frame: u64,
    pub(super) within: u64,
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
        self.sender.write_frame(Size::new(kept.len()));
        self.frames.push_back(kept);
        self.frames_sent += 1;
    }

    /// Forgets what is acknowledged. Returns whether that is a frame or more.
    pub(super) fn forget_acknowledged(&mut self) -> bool {
        let before = self.frames.len();
        let below = self.sender.acknowledged();
        while self.frames.front().is_some_and(|first| first.start + first.len() <= below) {
            self.frames.pop_front();
        }
        self.frames.len() < before
    }

    /// Frames of which the other end has not acknowledged all, in order.
    pub(super) fn unacknowledged(&self) -> Vec<Frame> {
        self.frames.iter().map(|kept| kept.frame.clone()).collect()
    }

    /// Appends bytes of the stream that lie within a frame.
    pub(super) fn copy(&self, offset: u64, length: u64, out: &mut Vec<u8>) {
        let Some(kept) = self.at(offset) else { return };
        let within = (offset - kept.start) as usize;
        let (end, head) = (within + length as usize, kept.head.len());
        out.extend(&kept.head[within.min(head)..end.min(head)]);
        out.extend(&kept.frame.data[within.max(head) - head..end.max(head) - head]);
    }

    /// The place in its frame of the byte at an offset.
    pub(super) fn place(&self, offset: u64) -> Option<Place> {
        let kept = self.at(offset)?;
        Some(Place { frame: kept.len(), within: offset - kept.start })
    }

    fn at(&self, offset: u64) -> Option<&Kept> {
        let index = self.frames.partition_point(|kept| kept.start + kept.len() <= offset);
        self.frames.get(index).filter(|kept| kept.start <= offset)
    }
}
