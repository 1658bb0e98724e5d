//! The sending end of a flow: which packets it sends, and when.

mod arrivals;
mod bundle;
mod departures;
mod prr;
mod rack;
mod repair;
mod small_queue;
mod timers;
mod undo;

use std::mem::offset_of;

use ratewire_laws::{AnySource, Header, Sending};
use ratewire_units::{Bytes, Duration, Throughput, Time};

use crate::app::App;
use crate::config::{AckRules, ReceiveWindow, Recovery, TransportConfig};
use crate::rtt::RttEstimator;
use crate::scoreboard::Scoreboard;
use crate::segment::{Epoch, Segment, SegmentKind, Stamp};
use crate::writing::Writing;
use bundle::Bundle;
use prr::Prr;
use rack::Rack;
use small_queue::SmallQueue;

/// The sending end of a flow. First come the fields that few packets need; from
/// [`Sender::HOT`] on lie those of each packet and acknowledgement side by side, and after them the
/// law's state, whose length differs widely: with many flows memory access dominates the time.
#[derive(Debug)]
#[repr(C)]
pub struct Sender {
    /// When the packet that opens the flow was first sent.
    opened: Time,
    /// Longest time for which the receiver may hold back an acknowledgement.
    delayed_ack: Duration,
    board: Scoreboard,
    rtt: RttEstimator,
    stats: SenderStats,
    writing: Writing,
    /// Stream offset of the next byte never sent.
    next: u64,
    cumulative: u64,
    /// Stream offset up to which the receiver allows sending.
    allowed: u64,
    /// Payload left in the frame being sent.
    frame_left: u64,
    frame: u64,
    /// Earliest departure of the next packet under pacing.
    pace_next: Time,
    /// When the timer is due.
    timer: Time,
    /// When the law's own timer is due, once the flow is open.
    law_timer: Time,
    /// When data was first acknowledged since the last timeout; [`Time::NEVER`] before.
    answered: Time,
    /// End of the stream when its last packet was sent again to probe for its loss, until it is
    /// known whether the probe or the original has arrived.
    tail_probed: Option<u64>,
    phase: Phase,
    /// What the sender has in its host's queue, if it keeps that small.
    small_queue: Option<Box<SmallQueue>>,
    /// Of packets that leave now, if the receiver heeds which end one.
    bundle: Option<Box<Bundle>>,
    rack: Option<Box<Rack>>,
    mss: u32,
    /// Payload of a full packet at first: the law counts in it, and the receiver says that it has
    /// room again for so much.
    first_mss: u32,
    /// Headers of a data packet.
    headers: u32,
    /// Probes of the closed window since the last data was sent.
    window_probes: u32,
    opening: Opening,
    /// Purpose of the timer.
    timer_for: TimerFor,
    /// Whether the next packet waits only for `pace_next`.
    waits_for_pace: bool,
    /// Whether the next packet waits for the host, whose queue has enough of the flow.
    waits_for_host: bool,
    /// Whether packets sent since the repair began were lost too.
    lost_beyond: bool,
    /// Whether the first retransmission of a recovery is due, which waits for no window (RFC 6675,
    /// 5, step 4.3).
    urgent: bool,
    /// Whether application or receiver have limited the sender since the last packet.
    limited: bool,
    tail_loss_probe: bool,
    /// Whether it may turn out that the last repair was not needed.
    may_undo: bool,
    /// Whether a packet was overtaken and is not lost yet.
    is_overtaken: bool,
    law_timer_stands_still: bool,
    /// Of packets that leave now.
    epoch: Epoch,
    source: AnySource,
}

/// Limit of a sender.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum KeptBy {
    /// The sender's law, by its window or its pace.
    Law,
    /// The application, which has written no more.
    Application,
    /// The receiver, whose window is full.
    Receiver,
    /// The sender's own host, whose queue holds enough of the flow.
    Host,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Phase {
    Open,
    /// A loss is repaired until everything below this offset has arrived.
    Recovery(u64),
    /// A timeout is repaired until everything below this offset has arrived.
    Timeout(u64),
    /// A mark was heeded; the next counts once this offset has been acknowledged.
    Marked(u64),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum TimerFor {
    /// The retransmission timeout (RFC 6298).
    Retransmission,
    /// A tail-loss probe (RFC 8985, section 7).
    TailProbe,
    /// Time for an overtaken packet to arrive (RFC 8985, section 6.3).
    Reordering,
    /// A probe of the receiver's closed window (RFC 9293, 3.8.6.1).
    WindowProbe,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Opening {
    ToSend,
    Sent { again: bool },
    Done,
}

/// Counters of a sender.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct SenderStats {
    /// Payload sent for the second time or more.
    pub retransmitted: Bytes,
    /// Packets sent for the second time or more.
    pub retransmitted_packets: u64,
    /// Expirations of the retransmission timer.
    pub timeouts: u64,
    /// RTT samples.
    pub rtt_samples: u64,
    /// Sum of the RTT samples, in nanoseconds.
    pub rtt_sum_ns: u64,
}

impl Sender {
    /// Where the fields begin that each packet needs, and the law's state after them.
    pub const HOT: usize = offset_of!(Sender, board) + Scoreboard::HOT;

    /// A sender that starts at `now`. `headers` are a data packet's network-layer bytes beside
    /// payload, congestion header included.
    pub fn new(
        now: Time,
        source: AnySource,
        config: &TransportConfig,
        headers: Bytes,
        app: &App,
    ) -> Sender {
        let mss = config.packet.saturating_sub(headers).get().clamp(1, 65_535) as u32;
        let frame = app.frame.map_or(u64::from(mss), Bytes::get).max(1);
        let has_rack = config.recovery == Recovery::Rack;
        let pushes = config.delayed_ack.is_some() && config.ack_rules == AckRules::Linux;
        Sender {
            law_timer: if config.handshake { Time::NEVER } else { source.next_timer().max(now) },
            law_timer_stands_still: false,
            source,
            board: Scoreboard::default(),
            rtt: RttEstimator::new(config.min_rto, config.max_rto),
            next: 0,
            cumulative: 0,
            allowed: config.receive_window.at_least(u64::from(mss)).initial().get(),
            frame_left: frame,
            pace_next: now,
            timer: Time::NEVER,
            timer_for: TimerFor::Retransmission,
            small_queue: None,
            waits_for_pace: false,
            waits_for_host: false,
            window_probes: 0,
            tail_probed: None,
            phase: Phase::Open,
            answered: Time::NEVER,
            lost_beyond: false,
            urgent: false,
            limited: false,
            opened: Time::NEVER,
            opening: if config.handshake { Opening::ToSend } else { Opening::Done },
            writing: Writing::new(app, Bytes::new(frame), now),
            mss,
            first_mss: mss,
            headers: headers.get().min(65_535) as u32,
            frame,
            tail_loss_probe: config.tail_loss_probe,
            rack: has_rack.then(|| Box::new(Rack::NEW)),
            epoch: if has_rack { Epoch::FIRST } else { Epoch::UNKNOWN },
            bundle: pushes.then(|| Box::new(Bundle::NONE)),
            may_undo: false,
            is_overtaken: false,
            delayed_ack: config.delayed_ack.unwrap_or(Duration::ZERO),
            stats: SenderStats::default(),
        }
    }

    /// Prefetches the notes on sent packets: an acknowledgement, or the sender's turn, is near.
    #[inline]
    pub fn foresee_sent(&self) {
        self.board.foresee();
    }
    /// The flow's law.
    pub fn source(&self) -> &AnySource {
        &self.source
    }
    /// RTT estimates.
    pub fn rtt(&self) -> &RttEstimator {
        &self.rtt
    }
    /// Payload outstanding.
    pub fn in_flight(&self) -> Bytes {
        self.board.in_flight()
    }
    /// Window of the receiver; [`Bytes::MAX`] for no limit.
    #[inline]
    pub fn receive_window(&self) -> Bytes {
        let window = Bytes::new(self.allowed - self.cumulative);
        if window >= ReceiveWindow::UNLIMITED { Bytes::MAX } else { window }
    }
    /// Counters.
    pub fn stats(&self) -> &SenderStats {
        &self.stats
    }
    /// Repairs that were undone, because nothing had been lost
    /// ([`Recovery::Rack`](crate::Recovery::Rack)).
    pub fn undone(&self) -> u64 {
        self.rack.as_ref().map_or(0, |rack| rack.undone)
    }
    /// Length of the stream, once the application writes no more.
    pub fn stream_end(&self) -> Option<u64> {
        self.writing.end()
    }
    /// Whether everything that will ever be written is acknowledged.
    pub fn is_done(&self) -> bool {
        self.writing.end().is_some_and(|end| self.cumulative >= end)
    }

    /// Writes more data, for an application that is [fed](crate::Writer::Fed).
    pub fn write(&mut self, size: Bytes) {
        self.writing.write(size.get());
    }
    /// Changes the payload of full packets, as the path's largest packet has become known. The law
    /// and the receiver keep the size that they began with.
    pub fn set_payload(&mut self, payload: Bytes) {
        self.mss = payload.get().clamp(1, 65_535) as u32;
    }
    /// Every byte below this stream offset is acknowledged.
    pub fn acknowledged(&self) -> u64 {
        self.cumulative
    }
    /// Data written and never sent.
    pub fn unsent(&self) -> Bytes {
        Bytes::new(self.writing.written() - self.next)
    }
    /// Payload of a full packet.
    pub fn mss(&self) -> Bytes {
        Bytes::new(u64::from(self.mss))
    }

    /// Stops the application; data that it has written is still delivered.
    pub fn stop(&mut self) {
        self.writing.stop(self.next);
    }

    /// Pauses an application with unlimited data until [`Sender::resume`].
    pub fn hold(&mut self) {
        self.writing.hold(self.next);
    }
    /// Resumes a paused application.
    pub fn resume(&mut self) {
        self.writing.resume();
    }

    /// When to call [`Sender::on_timer`]; [`Time::NEVER`] if something has to arrive first.
    #[inline]
    pub fn deadline(&self) -> Time {
        if self.opening != Opening::Done {
            return self.timer;
        }
        let pace = if self.waits_for_pace { self.pace_next } else { Time::NEVER };
        self.timer().min(pace).min(self.host_takes_at()).min(self.writing.next())
    }

    /// When to call [`Sender::on_timer`], whatever else is awaited.
    #[inline]
    pub fn timer(&self) -> Time {
        self.timer.min(self.law_timer)
    }

    /// The pace the law sets.
    #[inline]
    pub fn pacing(&self) -> Option<Throughput> {
        self.source.pacing()
    }

    /// Whether the law's timer was due and did not move on
    /// ([`Source::next_timer`](ratewire_laws::Source::next_timer)). It is then not called again.
    pub fn law_timer_stands_still(&self) -> bool {
        self.law_timer_stands_still
    }

    /// Limit that has kept the sender from sending more since the last packet.
    pub fn kept_by(&self) -> KeptBy {
        match self.limited {
            false if self.waits_for_host => KeptBy::Host,
            false => KeptBy::Law,
            true if self.writing.written() <= self.next => KeptBy::Application,
            true => KeptBy::Receiver,
        }
    }

    fn open_segment(&mut self, now: Time) -> Segment {
        Segment { header: self.source.on_open(now), ..Self::bare_segment(SegmentKind::Open, 0) }
    }

    /// A packet that neither carries data nor concerns the law.
    fn bare_segment(kind: SegmentKind, offset: u64) -> Segment {
        Segment { kind, offset, payload: Bytes::ZERO, stamp: Stamp::NONE, header: Header::None }
    }

    /// Payload of a full packet that leaves now. One that is larger than the packets which the law
    /// counts in takes at most half of the window: the next leaves while it is acknowledged.
    #[inline]
    fn full_payload(&self) -> u32 {
        if self.mss <= self.first_mss {
            return self.mss;
        }
        let half = self.window().get() / 2;
        half.clamp(u64::from(self.first_mss), u64::from(self.mss)) as u32
    }

    /// Payload of the next new packet, within the frame, the written data and the window.
    #[inline]
    fn next_payload(&mut self, now: Time, fit: impl Fn(u64, u64) -> u64) -> Option<u32> {
        let full = self.full_payload();
        let (end, written) = (self.next.saturating_add(u64::from(full)), self.writing.written());
        let is_full = end <= written && end <= self.allowed && u64::from(full) <= self.frame_left;
        #[cfg(test)]
        let is_full = is_full && crate::short_paths::are_on();
        if is_full {
            return Some(fit(self.next, u64::from(full)) as u32);
        }
        let available = written.saturating_sub(self.next);
        let most = u64::from(full).min(self.frame_left).min(available);
        let mut payload = if most > 0 { fit(self.next, most) } else { 0 };
        let room = self.allowed.saturating_sub(self.next);
        if payload > room && room >= u64::from(self.first_mss) {
            payload = fit(self.next, room);
        }
        if payload == 0 || self.next.saturating_add(payload) > self.allowed {
            self.limited |= self.has_room(full);
            if payload > 0 && self.timer == Time::NEVER {
                self.arm_window_probe(now);
            }
            return None;
        }
        Some(payload as u32)
    }

    #[inline]
    fn advance_stream(&mut self, now: Time, payload: u32) {
        self.next += u64::from(payload);
        self.frame_left -= u64::from(payload);
        if self.frame_left == 0 {
            self.frame_left = self.frame;
        }
        self.writing.progress(now, self.next, self.cumulative);
    }

    #[inline]
    fn segment(&mut self, now: Time, offset: u64, payload: u32, again: bool) -> Segment {
        let srtt = self.rtt.srtt();
        let sending = Sending {
            now,
            packet: Bytes::new(u64::from(payload) + u64::from(self.headers)),
            in_flight: self.board.in_flight(),
            receive_window: self.receive_window(),
            srtt,
            rto: if srtt.is_zero() { Duration::ZERO } else { self.rtt.rto() },
            limited: core::mem::take(&mut self.limited),
        };
        let header = self.source.on_send(&sending);
        let payload = Bytes::new(u64::from(payload));
        let (kind, stamp) = (SegmentKind::Data { again }, self.stamp(now, again));
        Segment { kind, offset, payload, stamp, header }
    }

    #[inline]
    fn has_room(&self, payload: u32) -> bool {
        let in_flight = self.board.in_flight();
        in_flight == Bytes::ZERO || in_flight + Bytes::new(u64::from(payload)) <= self.window()
    }

    /// What may be outstanding: as the law says, or the rate reduction of a repair.
    #[inline]
    fn window(&self) -> Bytes {
        match (self.phase, &self.rack) {
            (Phase::Recovery(_), Some(rack)) => {
                rack.prr.as_ref().map_or_else(|| self.source.window(), Prr::window)
            }
            _ => self.source.window(),
        }
    }
}

#[cfg(test)]
impl Sender {
    /// Whether the counters agree.
    pub(crate) fn check(&self) {
        self.board.check(self.cumulative, self.next);
        assert!(self.allowed >= self.cumulative);
        assert!(self.board.is_empty() || self.timer != Time::NEVER, "nothing would be found lost");
        assert!(!self.board.is_empty() || !self.in_repair(), "all is repaired");
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What a packet and its acknowledgement need of a sender before the law's state: a run of many
    /// flows fetches it each time.
    #[test]
    fn the_fields_of_each_packet_take_seven_cache_lines() {
        let size = offset_of!(Sender, source) - Sender::HOT;
        assert!(size <= 7 * 64, "{size}");
    }
}
