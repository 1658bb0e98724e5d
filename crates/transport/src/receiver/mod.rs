//! The receiving end of a flow.

mod beyond;
mod prompt;

use ratewire_laws::{AnySink, Buffer, Header};
use ratewire_units::{Bytes, Duration, Time};

use crate::app::{App, Reader};
use crate::config::{AckRules, ReceiveWindow, TransportConfig};
use crate::segment::{Ack, Epoch, SackBlocks, Stamp};
use beyond::Beyond;
use prompt::Prompt;

/// Reaction to a data packet that arrived.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reply {
    /// Acknowledge at once.
    Now,
    /// Wait: [`Receiver::deadline`] says how long.
    Later,
}

/// The receiving end of a flow. The fields of its deadline come first.
#[derive(Debug)]
#[repr(C)]
pub struct Receiver {
    ack_due: Time,
    reading: Reading,
    /// Every byte below has arrived.
    next: u64,
    /// What has arrived beyond `next`, if anything has.
    beyond: Option<Box<Beyond>>,
    window: ReceiveWindow,
    /// Payload that fits beyond the data read: the window's size, as it is open now.
    room: u64,
    mss: u64,
    /// Zero to acknowledge each packet.
    delayed_ack: Duration,
    /// What it acknowledges at once as Linux does, while it delays acknowledgements.
    prompt: Option<Box<Prompt>>,
    marked: bool,
    /// Of the first packet that the next acknowledgement is for.
    epoch: Option<Epoch>,
    /// Whether a packet that the next acknowledgement is for had arrived before.
    duplicate: bool,
    /// Whether the sink holds the sender back: the window is then always the whole buffer.
    soft: bool,
    /// Packets that found no room.
    refused: u64,
    sink: Option<AnySink>,
}

/// The reading application at work.
#[derive(Clone, Debug)]
#[repr(C)]
struct Reading {
    /// When the current reading ends; [`Time::NEVER`] while idle.
    busy_until: Time,
    /// Whether the last advertised window had no room for a packet.
    closed: bool,
    reader: Reader,
    frame: u64,
    /// Every byte below was read.
    read: u64,
    /// Size of the receive buffer if a frame does not fit into it; otherwise unlimited.
    buffer: u64,
    /// End of the current reading; of an application that reads by calls, the offset up to which
    /// the sender was told that there is room.
    reading_to: u64,
}

impl Receiver {
    /// The receiving end of a flow; `mss` is the payload of a full packet.
    pub fn new(sink: Option<AnySink>, config: &TransportConfig, mss: Bytes, app: &App) -> Receiver {
        let mss = mss.get().max(1);
        let window = config.receive_window.at_least(mss);
        let frame = app.frame.map_or(mss, Bytes::get).max(1);
        let buffer = window.buffer().get();
        let is_prompt = config.delayed_ack.is_some() && config.ack_rules == AckRules::Linux;
        Receiver {
            next: 0,
            beyond: None,
            window,
            room: window.initial().get(),
            mss,
            delayed_ack: config.delayed_ack.unwrap_or(Duration::ZERO),
            prompt: is_prompt.then(|| Box::new(Prompt::new(mss))),
            ack_due: Time::NEVER,
            marked: false,
            epoch: None,
            duplicate: false,
            reading: Reading {
                reader: app.reader,
                frame,
                read: 0,
                buffer: if frame > buffer { buffer - mss } else { u64::MAX },
                reading_to: 0,
                busy_until: Time::NEVER,
                closed: false,
            },
            soft: sink.as_ref().is_some_and(AnySink::watches_buffer),
            refused: 0,
            sink,
        }
    }

    /// Payload that has arrived in order.
    pub fn delivered(&self) -> Bytes {
        Bytes::new(self.next)
    }

    /// Payload that has arrived, in order or not, each byte counted once.
    pub fn received(&self) -> Bytes {
        Bytes::new(self.next + self.beyond.as_ref().map_or(0, |beyond| beyond.bytes()))
    }

    /// Notes that an application that reads by calls has read everything below `offset`. Returns
    /// whether to acknowledge now, because there is much more room than the sender knows of.
    pub fn read(&mut self, offset: u64) -> bool {
        self.reading.read = offset.min(self.next).max(self.reading.read);
        let more =
            self.reading.read.saturating_add(self.room).saturating_sub(self.reading.reading_to);
        more >= (self.room / 4).max(2 * self.mss) || (self.reading.closed && more >= self.mss)
    }

    /// Data packets that arrived and found no room.
    pub fn refused(&self) -> u64 {
        self.refused
    }

    /// When to call [`Receiver::on_timer`].
    #[inline]
    pub fn deadline(&self) -> Time {
        let reopening = if self.reading.closed { self.reading.busy_until } else { Time::NEVER };
        self.ack_due.min(reopening)
    }

    /// Whether to send a delayed acknowledgement before taking in a packet with this mark. No
    /// acknowledgement covers marked and unmarked packets at once, so that a sender can count
    /// marked bytes (RFC 8257, 3.2).
    #[inline]
    pub fn answers_first(&self, marked: bool) -> bool {
        self.ack_due != Time::NEVER && self.marked != marked
    }

    /// Handles a data packet; ask [`Receiver::answers_first`] before.
    #[inline]
    pub fn on_data(
        &mut self,
        now: Time,
        offset: u64,
        payload: Bytes,
        header: &Header,
        marked: bool,
        stamp: Stamp,
    ) -> Reply {
        self.epoch.get_or_insert(stamp.epoch);
        if self.soft {
            self.show_buffer(now, payload);
        }
        if let Some(sink) = &mut self.sink {
            sink.on_data(now, header);
        }
        self.marked |= marked;
        let end = offset.saturating_add(payload.get());
        if payload == Bytes::ZERO || end > self.right_edge(now) {
            // A window probe, or a packet without room. The acknowledgement tells the sender, which
            // will probe again.
            self.refused += u64::from(payload > Bytes::ZERO);
            return self.answer_now();
        }
        let in_order = offset == self.next && self.beyond.is_none();
        let before = self.next;
        if in_order {
            self.next = end;
        } else if end <= self.next {
            self.note_duplicate();
        } else {
            let beyond = self.beyond.get_or_insert_default();
            let has_arrived = beyond.has(offset, end);
            self.next = beyond.store(self.next, offset, end);
            if beyond.is_empty() {
                self.beyond = None;
            }
            if has_arrived {
                self.note_duplicate();
            }
        }
        if let ReceiveWindow::Auto { max, packets_per_ack, .. } = self.window
            && self.next > before
        {
            let growth = u64::from(packets_per_ack).saturating_mul(self.mss);
            self.room = self.room.saturating_add(growth).min(max.get());
        }
        self.reading.advance(now, self.next);
        // Out of order, filling a hole, or the data of two full packets: at once (RFC 5681, 4.2).
        let is_long = payload.get() >= 2 * self.mss;
        let may_wait = in_order && !marked && !is_long && self.ack_due == Time::NEVER;
        let is_prompt = self.is_prompt(now, stamp.pushed);
        if may_wait && !is_prompt && !self.delayed_ack.is_zero() {
            self.ack_due = now + self.delayed_ack;
            return Reply::Later;
        }
        self.answer_now()
    }

    /// Whether Linux would acknowledge a packet in order at once.
    #[inline]
    fn is_prompt(&mut self, now: Time, pushed: bool) -> bool {
        let Some(prompt) = &mut self.prompt else { return false };
        let read = self.reading.read;
        prompt.on_data(now, self.mss, read);
        prompt.is_quick() || (pushed && read == self.next)
    }

    #[cold]
    fn note_duplicate(&mut self) {
        self.duplicate = true;
        if let Some(prompt) = &mut self.prompt {
            prompt.begin();
        }
    }

    fn answer_now(&mut self) -> Reply {
        self.ack_due = Time::NEVER;
        Reply::Now
    }

    /// Stream offset up to which the receiver has room.
    #[inline]
    fn right_edge(&mut self, now: Time) -> u64 {
        self.reading.advance(now, self.next);
        self.reading.read.saturating_add(self.room)
    }

    #[cold]
    fn show_buffer(&mut self, now: Time, payload: Bytes) {
        self.reading.advance(now, self.next);
        let read = Bytes::new(self.reading.read);
        let size = Bytes::new(self.room);
        let buffer = Buffer { size, unread: self.received() - read, read, refused: self.refused };
        if let Some(sink) = &mut self.sink {
            sink.on_buffer(now, payload, &buffer);
        }
    }

    /// The window to tell the sender now: payload that may be sent beyond `next`.
    #[inline]
    fn advertise(&mut self, now: Time) -> u64 {
        let is_plain = self.reading.reader == Reader::Immediate && !self.soft;
        #[cfg(test)]
        let is_plain = is_plain && crate::short_paths::are_on();
        if is_plain {
            // All that has arrived is read.
            return self.room.min(u64::MAX - self.next);
        }
        let window = match self.soft {
            true => self.room,
            false => self.right_edge(now).saturating_sub(self.next),
        };
        self.reading.closed = window < self.mss && self.reading.reader != Reader::Immediate;
        if self.reading.reader == Reader::Asked {
            self.reading.reading_to = self.next.saturating_add(window);
        }
        window
    }

    // Inlined for the reason given at [`Sender::poll_transmit`](crate::Sender::poll_transmit).
    /// The acknowledgement to send now.
    #[inline(always)]
    pub fn acknowledge(&mut self, now: Time) -> Ack {
        self.ack_due = Time::NEVER;
        if let Some(prompt) = &mut self.prompt {
            prompt.on_acknowledged();
        }
        let window = self.advertise(now);
        let mut ack = Ack {
            opens: false,
            cumulative: self.next,
            window: Bytes::new(window),
            sack: SackBlocks::default(),
            marked: core::mem::take(&mut self.marked),
            duplicate: core::mem::take(&mut self.duplicate),
            epoch: self.epoch.take().unwrap_or(Epoch::UNKNOWN),
            header: Header::None,
        };
        // Written in place: moved, the acknowledgement would wait for its parts (store forwarding).
        if let Some(beyond) = &mut self.beyond {
            beyond.report(self.next, &mut ack.sack);
        }
        if let Some(sink) = &mut self.sink {
            ack.header = sink.on_ack(now);
        }
        ack
    }

    /// The answer to a packet that opens the flow.
    pub fn open(&mut self, now: Time, header: &Header) -> Ack {
        if let Some(prompt) = &mut self.prompt {
            prompt.on_open(now);
        }
        let answered = self.sink.as_mut().filter(|_| *header != Header::None);
        let answer = answered.map_or(Header::None, |sink| {
            sink.on_data(now, header);
            sink.on_ack(now)
        });
        let window = Bytes::new(self.advertise(now));
        Ack {
            opens: true,
            cumulative: self.next,
            window,
            sack: SackBlocks::default(),
            marked: false,
            duplicate: false,
            epoch: Epoch::UNKNOWN,
            header: answer,
        }
    }

    /// Does what is due; call it at [`Receiver::deadline`]. Returns whether to acknowledge now.
    pub fn on_timer(&mut self, now: Time) -> bool {
        if self.ack_due <= now {
            return true;
        }
        if self.reading.closed && self.reading.busy_until <= now {
            let room = self.right_edge(now).saturating_sub(self.next);
            if room >= self.mss {
                return true;
            }
        }
        false
    }
}

impl Reading {
    /// Reads frames that are whole and due by `now`. Every arrival calls it before and after, so
    /// that an idle reader starts when a frame is whole.
    #[inline]
    fn advance(&mut self, now: Time, arrived: u64) {
        if self.reader == Reader::Immediate {
            self.read = arrived;
        } else if self.reader != Reader::Asked {
            self.advance_slowly(now, arrived);
        }
    }

    fn advance_slowly(&mut self, now: Time, arrived: u64) {
        let mut start = now;
        if self.busy_until != Time::NEVER {
            if self.busy_until > now {
                return;
            }
            self.read = self.reading_to;
            start = self.busy_until;
        }
        self.busy_until = Time::NEVER;
        // Whole frames that end by now, one after the other; then the one that does not.
        let (per_frame, begun) = loop {
            let (per_frame, until) = self.reader.pace(start);
            let whole = (arrived - self.read) / self.frame;
            let by_now = now.since(start).ps().checked_div(per_frame.ps());
            let same_pace = until.since(start).ps().div_ceil(per_frame.ps().max(1));
            let done = by_now.map_or(whole, |n| n.min(whole)).min(same_pace);
            self.read += done * self.frame;
            start += per_frame * done;
            if done < same_pace {
                break (per_frame, start);
            }
        };
        if let Some(to) = self.readable(arrived) {
            self.reading_to = to;
            // An application that never ends reading is not idle.
            self.busy_until = (begun + per_frame).min(Time::from_ps(u64::MAX - 1));
        }
    }

    /// End of the next frame to read, if it has arrived.
    fn readable(&self, arrived: u64) -> Option<u64> {
        let whole = self.read.saturating_add(self.frame);
        if whole <= arrived {
            return Some(whole);
        }
        (arrived - self.read > self.buffer).then_some(arrived)
    }
}
