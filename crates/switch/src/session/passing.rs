//! Parts that go through the switch.

use ratewire_acp::wire::{DataPart, LEAST_FIRST, varint};
use ratewire_anypoint::{FrameOf, Output, Side};
use ratewire_laws::Header;
use ratewire_transport::{Segment, SegmentKind, Stamp};
use ratewire_units::{Bytes, Time};

use super::{Content, Session};

/// Factor of source numbers on their way to the peer. A member that is a switch has several
/// sources: source `s` of member `k` is source `s * STRIDE + k + 1` to the peer.
const STRIDE: u64 = 1024;

/// Bytes that a frame's number takes, at most.
const FRAME_NUMBER: u64 = 8;

/// A part with a place in a stream.
#[derive(Clone, Copy, Debug)]
pub(super) enum Passing<'a> {
    Data(DataPart<'a>),
    Empty,
}

impl Session {
    pub(super) fn on_data(
        &mut self,
        now: Time,
        side: Side,
        data: &DataPart<'_>,
        header: &Header,
        size: Option<Bytes>,
        marked: bool,
    ) {
        let segment = Segment {
            kind: SegmentKind::Data { again: data.again },
            offset: data.offset,
            payload: Bytes::new(data.bytes.len() as u64),
            stamp: Stamp::NONE,
            header: *header,
        };
        match passing(side, data, self.config.acp.longest_frame.get() + FRAME_NUMBER) {
            Ok((passing, frame)) => {
                let frame = FrameOf { size, ..frame };
                self.on_segment(now, side, &segment, frame, marked, Some(passing));
            }
            Err(what) => self.violates(now, side, what),
        }
    }

    pub(super) fn on_segment(
        &mut self,
        now: Time,
        side: Side,
        segment: &Segment,
        frame: FrameOf<'_>,
        marked: bool,
        passing: Option<Passing<'_>>,
    ) {
        self.switch.on_segment(now, side, segment, frame, marked, &mut self.outputs);
        self.pass_on(now, passing);
    }

    /// Sends what the switch gives out. Segments with payload are the parts of `passing`, in order.
    pub(super) fn pass_on(&mut self, now: Time, passing: Option<Passing<'_>>) {
        let outputs = core::mem::take(&mut self.outputs);
        let (mut taken, silence) = (0, self.config.silence);
        for output in &outputs {
            let (Output::Segment(to, _) | Output::Skip(to, _) | Output::Ack(to, _)) = *output;
            self.changed.push(to);
            if let (Side::Member(_), Output::Segment(..) | Output::Skip(..)) = (to, output) {
                self.with(to, |leg| leg.ask(now, silence));
            }
            match (output, passing) {
                (Output::Segment(_, segment), _) if segment.kind == SegmentKind::Open => {
                    self.with(to, |leg| leg.open(segment.header));
                }
                (Output::Segment(_, segment), Some(Passing::Data(part))) => {
                    let end = taken + segment.payload.get();
                    let bytes = part.bytes.get(taken as usize..end as usize).unwrap_or_default();
                    let within = part.within + taken;
                    taken = end;
                    self.count(to, within, bytes);
                    let DataPart { source, frame, again, .. } = part;
                    let content = Content::Data { source, frame, within, bytes };
                    self.with(to, |leg| leg.data(now, segment, again, &content));
                }
                (Output::Segment(_, segment) | Output::Skip(_, segment), _) => {
                    self.with(to, |leg| leg.data(now, segment, true, &Content::Empty));
                }
                (Output::Ack(_, ack), _) => self.with(to, |leg| leg.ack(*ack)),
            }
        }
        self.outputs = outputs;
        self.outputs.clear();
    }

    fn count(&mut self, to: Side, within: u64, bytes: &[u8]) {
        if within == 0 && !bytes.is_empty() {
            match to {
                Side::Peer => self.counts.frames_out += 1,
                Side::Member(_) => self.counts.frames_in += 1,
            }
        }
    }

    pub(super) fn with(&mut self, side: Side, act: impl FnOnce(&mut crate::leg::Leg)) {
        if let Some(leg) = self.leg_mut(side) {
            act(leg);
        }
    }
}

/// What of a data part goes on, and what the switch must know of its frame.
pub(super) fn passing<'a>(
    side: Side,
    data: &DataPart<'a>,
    longest: u64,
) -> Result<(Passing<'a>, FrameOf<'a>), &'static str> {
    if data.frame > longest {
        return Err("a frame is longer than the switch takes");
    }
    let start = data.offset.checked_sub(data.within).ok_or("a frame begins before its stream")?;
    let end = start.checked_add(data.frame).ok_or("a frame has no end")?;
    if data.within + data.bytes.len() as u64 > data.frame {
        return Err("a part is longer than its frame");
    }
    let length = data.bytes.len() as u64;
    if side == Side::Peer && data.within == 0 && length > 0 && length < data.frame.min(LEAST_FIRST)
    {
        return Err("a frame's first part is too short");
    }
    let source = match side {
        Side::Peer => data.source,
        Side::Member(k) => {
            let source = data.source.checked_mul(STRIDE);
            source.and_then(|s| s.checked_add(k as u64 + 1)).ok_or("too many switches in a row")?
        }
    };
    let mut content = data.bytes;
    // The frame's number is not content.
    if data.within > 0 || varint::take(&mut content).is_err() {
        content = &[];
    }
    let bounds = (!data.bytes.is_empty()).then_some((start, end));
    Ok((Passing::Data(DataPart { source, ..*data }), FrameOf { content, bounds, size: None }))
}
