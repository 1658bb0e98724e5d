//! What becomes of a part of a packet.

use ratewire_acp::channel::CloseReason;
use ratewire_acp::wire::Part;
use ratewire_anypoint::{FrameOf, Side};
use ratewire_laws::Header;
use ratewire_transport::{Segment, SegmentKind, Stamp};
use ratewire_units::{Bytes, Time};

use super::Session;
use super::passing::Passing;

impl Session {
    pub(super) fn take_part(
        &mut self,
        now: Time,
        side: Side,
        part: &Part<'_>,
        header: &Header,
        size: Option<Bytes>,
        marked: bool,
    ) {
        let segment = |kind, offset, length| Segment {
            kind,
            offset,
            payload: Bytes::new(length),
            stamp: Stamp::NONE,
            header: *header,
        };
        match part {
            Part::Open => {
                let segment = segment(SegmentKind::Open, 0, 0);
                self.on_segment(now, side, &segment, FrameOf::default(), marked, None);
            }
            Part::Data(data) => {
                if side == Side::Peer && self.switch.must_wait(data.offset) {
                    return self.hold(now, data, header, marked);
                }
                self.on_data(now, side, data, header, size, marked);
                if side == Side::Peer {
                    self.give_held(now);
                }
            }
            // An empty range comes again until it is acknowledged.
            Part::Empty { offset, .. } if side == Side::Peer && self.switch.must_wait(*offset) => {}
            Part::Empty { offset, length } => {
                let segment = segment(SegmentKind::Data { again: true }, *offset, *length);
                let bounds = Some((*offset, offset + length));
                let frame = FrameOf { content: &[], bounds, size };
                self.on_segment(now, side, &segment, frame, marked, Some(Passing::Empty));
            }
            Part::Ack(ack) => {
                let Some(leg) = self.leg_mut(side) else { return };
                let ack = leg.channel.read_ack(ack);
                leg.acknowledged(ack.cumulative);
                self.switch.on_ack(now, side, &ack, &mut self.outputs);
                self.pass_on(now, None);
            }
            Part::Close(end) => self.on_close(side, *end),
            Part::Leaving => self.with(side, |leg| leg.leaves = true),
            Part::Closed => {
                if let Some(leg) = self.leg_mut(side) {
                    leg.closing.own_is_closed();
                }
            }
            Part::Reset { code, text } => {
                let text = String::from_utf8_lossy(text).into_owned();
                let reason = CloseReason::Reset { code: *code, text };
                match side {
                    Side::Peer => self.end(reason),
                    Side::Member(k) => self.lose(now, k, reason),
                }
            }
            // The channel's.
            Part::Padding
            | Part::Ping(_)
            | Part::Pong(_)
            | Part::Challenge(_)
            | Part::Answer(_) => {}
        }
    }
}
