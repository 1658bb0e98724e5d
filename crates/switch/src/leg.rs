//! One neighbour of a switch: the packets to it and from it.

use std::collections::VecDeque;
use std::net::SocketAddr;

use ratewire_acp::channel::{Channel, CloseReason, Closing, Due, Transmit};
use ratewire_acp::wire::{DataPart, Part};
use ratewire_laws::Header;
use ratewire_transport::{Ack, Segment};
use ratewire_units::{Bytes, Duration, Time};

use crate::queue::Queue;

/// Fields of a data part, at most: code, and five numbers of 8, 8, 4, 4 and 2 bytes.
const DATA_FIELDS: u64 = 1 + 8 + 8 + 4 + 4 + 4;
/// Times at which a silent neighbour is asked before it has failed, and one more.
const QUESTIONS: u64 = 4;
/// Assumed round trip to a neighbour, for what is repeated: the switch measures none.
const ROUND_TRIP: Duration = Duration::from_millis(100);

/// Silence after which a neighbour keeps no memory for packets.
const IDLE: Duration = Duration::from_secs(1);

/// What a data packet carries.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Content<'a> {
    /// Bytes of a frame: source, frame's length, offset in it, and the bytes.
    Data { source: u64, frame: u64, within: u64, bytes: &'a [u8] },
    /// Nothing: the range counts as arrived.
    Empty,
}

/// A neighbour of a switch.
#[derive(Debug)]
pub(crate) struct Leg {
    pub(crate) channel: Channel,
    pub(crate) closing: Closing,
    /// Where the neighbour's stream ends, if it has said so.
    pub(crate) end: Option<u64>,
    /// Whether the neighbour reads no more.
    pub(crate) leaves: bool,
    queue: Queue,
    acks: VecDeque<Ack>,
    /// When the first packet was sent that the neighbour must answer and has not.
    asked: Option<Time>,
    /// When it is asked again whether it is there.
    ask_again: Time,
    repeats: Repeats,
}

/// Data that comes again and again and is not acknowledged: the path may have become too narrow
/// for large packets. The switch itself repeats nothing.
#[derive(Debug, Default)]
struct Repeats {
    /// Assumed round trips in which data has come again.
    count: u64,
    /// When the last of them began.
    at: Time,
    /// Stream offset up to which the neighbour has everything.
    acknowledged: u64,
}

impl Repeats {
    fn note(&mut self, now: Time) {
        if now >= self.at + ROUND_TRIP {
            self.count += 1;
            self.at = now;
        }
    }
}

impl Leg {
    pub(crate) fn new(channel: Channel) -> Leg {
        Leg {
            channel,
            closing: Closing::default(),
            end: None,
            leaves: false,
            queue: Queue::default(),
            acks: VecDeque::new(),
            asked: None,
            ask_again: Time::NEVER,
            repeats: Repeats::default(),
        }
    }

    pub(crate) fn peer(&self) -> SocketAddr {
        self.channel.peer()
    }

    /// Sends a request to open.
    pub(crate) fn open(&mut self, header: Header) {
        self.queue.push(header, None, |parts| Part::Open.put(parts));
    }

    /// Sends a segment's content, in pieces if the path's packets are smaller than the packet that
    /// it came in. The first piece has the header.
    pub(crate) fn data(
        &mut self,
        now: Time,
        segment: &Segment,
        again: bool,
        content: &Content<'_>,
    ) {
        if again {
            self.repeats.note(now);
        }
        let (mut offset, mut header) = (segment.offset, segment.header);
        match *content {
            Content::Empty => {
                let length = segment.payload.get();
                let part = Part::Empty { offset, length };
                self.queue.push(header, None, |parts| part.put(parts));
            }
            Content::Data { source, frame, mut within, bytes } => {
                let most = self.channel.room().saturating_sub(DATA_FIELDS).max(1) as usize;
                let mut rest = bytes;
                loop {
                    let (piece, later) = rest.split_at(rest.len().min(most));
                    self.put(
                        header,
                        DataPart { offset, source, frame, within, bytes: piece, again },
                    );
                    if later.is_empty() {
                        break;
                    }
                    (rest, header) = (later, Header::None);
                    offset += piece.len() as u64;
                    within += piece.len() as u64;
                }
            }
        }
    }

    /// Sends a data part: with those before it in the stream if they wait and leave room.
    fn put(&mut self, header: Header, part: DataPart<'_>) {
        let length = part.bytes.len() as u64;
        let (end, size) = (part.offset + length, part.fields_len(length) + length);
        let put = |parts: &mut Vec<u8>| Part::Data(part).put(parts);
        let data_end = (length > 0).then_some(end);
        let left = self.channel.room().checked_sub(size);
        let waiting = left.and_then(|left| self.queue.continued(part.offset, left as usize));
        match waiting.is_some_and(|waiting| self.channel.law().join(waiting, &header)) {
            true => self.queue.extend(end, put),
            false => self.queue.push(header, data_end, put),
        }
    }

    /// Notes that the neighbour has everything below a stream offset.
    pub(crate) fn acknowledged(&mut self, offset: u64) {
        if offset > self.repeats.acknowledged {
            self.repeats.acknowledged = offset;
            self.channel.on_arrival(self.repeats.count);
        }
    }

    /// Sends an acknowledgement.
    pub(crate) fn ack(&mut self, ack: Ack) {
        self.acks.push_back(ack);
    }

    /// Why the connection with the neighbour is over.
    pub(crate) fn closed(&self) -> Option<&CloseReason> {
        self.closing.reason()
    }

    /// Notes that something was sent which the neighbour must answer.
    pub(crate) fn ask(&mut self, now: Time, silence: Duration) {
        if self.asked.is_none() {
            (self.asked, self.ask_again) = (Some(now), now + silence / QUESTIONS);
        }
    }
    /// Notes that something has come from the neighbour.
    pub(crate) fn hear(&mut self) {
        (self.asked, self.ask_again) = (None, Time::NEVER);
    }
    /// Whether the neighbour has left everything unanswered for so long.
    pub(crate) fn is_silent(&self, now: Time, silence: Duration) -> bool {
        self.asked.is_some_and(|asked| now >= asked + silence)
    }

    pub(crate) fn deadline(&self) -> Time {
        if self.closing.is_over() {
            return Time::NEVER;
        }
        let channel = self.channel.deadline(self.asks());
        channel.min(self.closing.deadline()).min(self.ask_again)
    }

    /// Does what is due; `silence` is that after which a neighbour that owes an answer has failed.
    pub(crate) fn on_timer(&mut self, now: Time, silence: Duration) -> Due {
        self.closing.on_timer(now);
        if now >= self.ask_again {
            self.ask_again = now + silence / QUESTIONS;
            self.channel.ask();
        }
        if now >= self.channel.heard() + IDLE {
            self.queue.give_back(true);
            self.acks.shrink_to_fit();
        }
        let asks = self.asks();
        self.channel.on_timer(now, asks, self.repeats.count)
    }

    /// Whether the neighbour is asked for signs of life.
    fn asks(&self) -> bool {
        self.closing.may_write()
    }

    /// Appends the next packet to send now.
    pub(crate) fn poll_transmit(&mut self, now: Time, out: &mut Vec<u8>) -> Option<Transmit> {
        if self.closing.is_over() {
            return None;
        }
        if let Some(transmit) = self.channel.poll_probe(now, ROUND_TRIP, out) {
            return Some(transmit);
        }
        let draft = self.channel.begin(out);
        let to = self.channel.put(now, out);
        let (mut header, mut has_data) = (Header::None, false);
        if to == self.channel.peer() {
            self.closing.put(now, ROUND_TRIP, out);
            // One acknowledgement a packet: each has its own congestion header to return.
            if let Some(ack) = self.acks.pop_front() {
                self.channel.put_ack(&ack, out);
            }
            // A packet for a path that has become narrower goes alone, and is lost there: its data
            // comes again.
            let room = match draft.len(out) {
                0 => usize::MAX,
                length => (self.channel.room() as usize).saturating_sub(length),
            };
            if self.closing.sends_data()
                && let Some(packet) = self.queue.pop(room)
            {
                (header, has_data) = (packet.header, packet.has_data);
                out.extend_from_slice(packet.parts);
            }
        }
        if draft.len(out) == 0 {
            out.truncate(draft.start());
            self.queue.give_back(false);
            return None;
        }
        let transmit = self.channel.finish(now, to, &header, &draft, out);
        Some(Transmit { ecn: has_data, ..transmit })
    }
}

/// Size of a packet that a leg's headers declare, and payload of a full one.
pub(crate) fn sizes(channel: &Channel) -> (Bytes, Bytes) {
    let (packet, headers) = Channel::first_packet(channel.law(), channel.peer());
    (packet, packet - headers - Bytes::new(DATA_FIELDS))
}
