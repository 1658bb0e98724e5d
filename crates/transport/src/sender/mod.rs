//! The sending end of a flow.

use ratewire_laws::{Acked, AnySource, Congestion, Sending, Signal};
use ratewire_units::{Bytes, Duration, Throughput, Time};

use crate::app::App;
use crate::config::TransportConfig;
use crate::rtt::RttEstimator;
use crate::scoreboard::{Covered, Scoreboard};
use crate::segment::{Ack, Segment, SegmentKind};
use crate::writing::Writing;

/// The sending end of a flow.
#[derive(Clone, Debug)]
pub struct Sender {
    source: AnySource,
    board: Scoreboard,
    rtt: RttEstimator,
    /// Stream offset of the next byte never sent.
    next: u64,
    cumulative: u64,
    /// Stream offset up to which the receiver lets us send.
    allowed: u64,
    /// Payload left in the frame being sent.
    frame_left: u64,
    /// Earliest departure of the next packet under pacing.
    pace_next: Time,
    /// When the retransmission timer, or the tail-loss probe, is due.
    timer: Time,
    timer_is_probe: bool,
    phase: Phase,
    /// Whether application or receiver have kept us from sending since the last packet.
    limited: bool,
    opening: Opening,
    writing: Writing,
    mss: u32,
    headers: u64,
    frame: u64,
    tail_loss_probe: bool,
    stats: SenderStats,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Phase {
    Open,
    /// Repairing a loss until all below this offset has arrived.
    Recovery(u64),
    /// Repairing after a timeout until all below this offset has arrived.
    Timeout(u64),
    /// A mark was heeded; the next is not before this offset has been acknowledged.
    Marked(u64),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Opening {
    ToSend,
    SentAt { first: Time, again: bool },
    Done,
}

/// What a sender has done so far.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct SenderStats {
    /// Payload sent for the second time or more.
    pub retransmitted: Bytes,
    /// Expirations of the retransmission timer.
    pub timeouts: u64,
    /// RTT samples.
    pub rtt_samples: u64,
    /// Sum of the RTT samples, in nanoseconds.
    pub rtt_sum_ns: u64,
}

impl Sender {
    /// The sending end of a flow that starts at `now`. `headers` is what the network layer carries
    /// beside payload in a data packet, congestion header included.
    pub fn new(
        now: Time,
        source: AnySource,
        config: &TransportConfig,
        headers: Bytes,
        app: &App,
    ) -> Sender {
        let mss = config.packet.saturating_sub(headers).get().clamp(1, 65_535) as u32;
        let frame = app.frame.map_or(u64::from(mss), Bytes::get).max(1);
        Sender {
            source,
            board: Scoreboard::default(),
            rtt: RttEstimator::new(config.min_rto),
            next: 0,
            cumulative: 0,
            allowed: config.receive_window.initial().get(),
            frame_left: frame,
            pace_next: now,
            timer: Time::NEVER,
            timer_is_probe: false,
            phase: Phase::Open,
            limited: false,
            opening: if config.handshake { Opening::ToSend } else { Opening::Done },
            writing: Writing::new(&app.writer, Bytes::new(frame), now),
            mss,
            headers: headers.get(),
            frame,
            tail_loss_probe: config.tail_loss_probe,
            stats: SenderStats::default(),
        }
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
    /// What the receiver lets us have outstanding.
    pub fn receive_window(&self) -> Bytes {
        Bytes::new(self.allowed - self.cumulative)
    }
    /// Counters.
    pub fn stats(&self) -> &SenderStats {
        &self.stats
    }
    /// Length of the stream, once the application will write no more.
    pub fn stream_end(&self) -> Option<u64> {
        self.writing.end()
    }
    /// Whether everything that will ever be written is acknowledged.
    pub fn is_done(&self) -> bool {
        self.writing.end().is_some_and(|end| self.cumulative >= end)
    }

    /// The application writes no more; what it has written is still delivered.
    pub fn stop(&mut self) {
        self.writing.stop(self.next);
    }

    /// When [`Sender::on_timer`] wants to be called; [`Time::NEVER`] if something has to arrive first.
    #[inline]
    pub fn deadline(&self) -> Time {
        let pace = if self.waits_for_pace() { self.pace_next } else { Time::NEVER };
        self.timer.min(pace).min(self.writing.next())
    }

    /// Only the pace keeps the next packet back.
    #[inline]
    fn waits_for_pace(&self) -> bool {
        self.opening == Opening::Done
            && self.source.pacing().is_some()
            && (self.board.has_lost() || self.next < self.writing.written().min(self.allowed))
            && self.has_room(self.mss)
    }

    #[inline]
    fn has_room(&self, payload: u32) -> bool {
        let in_flight = self.board.in_flight();
        in_flight == Bytes::ZERO
            || in_flight + Bytes::new(u64::from(payload)) <= self.source.window()
    }

    /// The next packet to send now, if any. Ask again until there is none.
    pub fn poll_transmit(&mut self, now: Time) -> Option<Segment> {
        if self.opening != Opening::Done {
            return self.poll_open(now);
        }
        if self.writing.next() <= now {
            self.writing.advance(now);
        }
        let (offset, payload, again) = if self.board.has_lost() {
            let (offset, payload) = self.board.first_lost()?;
            (offset, payload, true)
        } else {
            let payload = self.next_payload()?;
            (self.next, payload, false)
        };
        if !self.has_room(payload) || !self.pace_allows(now, payload) {
            return None;
        }
        if again {
            self.board.resend_first_lost(now);
            self.stats.retransmitted += Bytes::new(u64::from(payload));
        } else {
            self.board.push(now, offset, payload);
            self.advance_stream(now, payload);
        }
        if self.timer == Time::NEVER {
            self.arm_timer(now);
        }
        Some(self.segment(now, offset, payload, again))
    }

    fn poll_open(&mut self, now: Time) -> Option<Segment> {
        if self.opening != Opening::ToSend {
            return None;
        }
        self.opening = Opening::SentAt { first: now, again: false };
        self.timer = now + self.rtt.rto();
        self.timer_is_probe = false;
        Some(Self::open_segment())
    }

    fn open_segment() -> Segment {
        Segment {
            kind: SegmentKind::Open,
            offset: 0,
            payload: Bytes::ZERO,
            header: ratewire_laws::Header::None,
        }
    }

    /// Payload of the next new packet: within a frame, what is written, and what is allowed.
    #[inline]
    fn next_payload(&mut self) -> Option<u32> {
        let available = self.writing.written().saturating_sub(self.next);
        let payload = u64::from(self.mss).min(self.frame_left).min(available);
        if payload == 0 || self.next + payload > self.allowed {
            self.limited |= self.has_room(self.mss);
            return None;
        }
        Some(payload as u32)
    }

    fn advance_stream(&mut self, now: Time, payload: u32) {
        self.next += u64::from(payload);
        self.frame_left -= u64::from(payload);
        if self.frame_left == 0 {
            self.frame_left = self.frame;
        }
        self.writing.progress(now, self.next, self.cumulative);
    }

    #[inline]
    fn pace_allows(&mut self, now: Time, payload: u32) -> bool {
        let Some(pace) = self.source.pacing() else { return true };
        if self.pace_next > now {
            return false;
        }
        let size = Bytes::new(u64::from(payload) + self.headers);
        self.pace_next = now + pace.time_for(size).min(Duration::from_secs(3600));
        true
    }

    fn segment(&mut self, now: Time, offset: u64, payload: u32, again: bool) -> Segment {
        let sending = Sending {
            now,
            packet: Bytes::new(u64::from(payload) + self.headers),
            in_flight: self.board.in_flight(),
            receive_window: self.receive_window(),
            srtt: self.rtt.srtt(),
            rto: if self.rtt.srtt().is_zero() { Duration::ZERO } else { self.rtt.rto() },
            limited: core::mem::take(&mut self.limited),
        };
        let header = self.source.on_send(&sending);
        Segment {
            kind: SegmentKind::Data { again },
            offset,
            payload: Bytes::new(u64::from(payload)),
            header,
        }
    }

    /// An acknowledgement has arrived.
    pub fn on_ack(&mut self, now: Time, ack: &Ack) {
        if self.opening != Opening::Done && !self.finish_opening(now, ack) {
            return;
        }
        let was_in_flight = self.board.in_flight();
        let mut covered = Covered::default();
        let advanced = ack.cumulative > self.cumulative;
        if ack.cumulative >= self.cumulative {
            self.cumulative = ack.cumulative;
            // A window never shrinks below what was allowed before.
            self.allowed = self.allowed.max(ack.cumulative.saturating_add(ack.window.get()));
        }
        self.board.acknowledge(ack.cumulative, &mut covered);
        for (start, end) in ack.sack.iter(ack.cumulative) {
            self.board.acknowledge_range(start, end, &mut covered);
        }
        let rtt = covered.newest.map(|sent| now.since(sent));
        if let Some(rtt) = rtt {
            self.take_rtt(rtt);
        }
        self.after_arrival(now, ack, &covered);
        self.writing.progress(now, self.next, self.cumulative);
        let acked = Acked {
            now,
            bytes: Bytes::new(covered.bytes),
            in_flight: self.board.in_flight(),
            was_in_flight,
            rtt,
            srtt: self.rtt.srtt(),
            cumulative: self.cumulative,
            next: self.next,
            receive_window: self.receive_window(),
            limited: self.limited,
            in_recovery: matches!(self.phase, Phase::Recovery(_)),
        };
        self.source.on_ack(&acked, &ack.header);
        if advanced || covered.bytes > 0 {
            self.arm_timer(now);
        }
    }

    fn finish_opening(&mut self, now: Time, ack: &Ack) -> bool {
        if !ack.opens {
            return false;
        }
        if let Opening::SentAt { first, again: false } = self.opening {
            self.take_rtt(now.since(first));
        }
        self.opening = Opening::Done;
        self.timer = Time::NEVER;
        self.pace_next = now;
        true
    }

    #[inline]
    fn take_rtt(&mut self, rtt: Duration) {
        self.rtt.sample(rtt);
        self.stats.rtt_samples += 1;
        self.stats.rtt_sum_ns += rtt.ps() / 1000;
    }

    /// Loss detection, the end of recovery, marks.
    #[inline]
    fn after_arrival(&mut self, now: Time, ack: &Ack, covered: &Covered) {
        if covered.beyond_hole || self.phase != Phase::Open {
            let reordering = self.rtt.srtt() / 4;
            if self.board.detect_losses(reordering) && !self.in_repair() {
                self.phase = Phase::Recovery(self.next);
                self.tell(now, Signal::Loss);
            }
            match self.phase {
                Phase::Recovery(until) | Phase::Timeout(until) if self.cumulative >= until => {
                    self.phase = Phase::Open;
                    self.source.on_recovered(now);
                }
                Phase::Marked(until) if self.cumulative >= until => self.phase = Phase::Open,
                _ => {}
            }
        }
        if ack.marked && self.phase == Phase::Open {
            self.phase = Phase::Marked(self.next);
            self.tell(now, Signal::Mark);
        }
    }

    fn in_repair(&self) -> bool {
        matches!(self.phase, Phase::Recovery(_) | Phase::Timeout(_))
    }

    fn tell(&mut self, now: Time, signal: Signal) {
        let congestion =
            Congestion { now, signal, in_flight: self.board.in_flight(), srtt: self.rtt.srtt() };
        self.source.on_congestion(&congestion);
    }

    /// Starts the timer anew: a tail-loss probe where one is due first (RFC 8985, 7.2), else the
    /// retransmission timeout.
    #[inline]
    fn arm_timer(&mut self, now: Time) {
        self.timer_is_probe = false;
        if self.board.is_empty() {
            self.timer = Time::NEVER;
            // Blocked by a closed window with nothing outstanding: probe it (RFC 1122, 4.2.2.17),
            // for the update that opens it may be lost.
            if self.next < self.writing.written() && self.next >= self.allowed {
                self.timer = now + self.rtt.rto();
            }
            return;
        }
        let rto = self.rtt.rto();
        self.timer = now + rto;
        if self.tail_loss_probe && self.phase == Phase::Open && !self.rtt.srtt().is_zero() {
            let probe = self.rtt.srtt() * 2 + Duration::from_millis(2);
            if probe < rto {
                self.timer = now + probe;
                self.timer_is_probe = true;
            }
        }
    }

    /// Called at [`Sender::deadline`]; may return a packet that must be sent whatever the window.
    pub fn on_timer(&mut self, now: Time) -> Option<Segment> {
        if self.timer > now {
            return None;
        }
        if let Opening::SentAt { first, .. } = self.opening {
            self.opening = Opening::SentAt { first, again: true };
            self.rtt.back_off();
            self.stats.timeouts += 1;
            self.timer = now + self.rtt.rto();
            return Some(Self::open_segment());
        }
        if self.board.is_empty() {
            return self.probe_window(now);
        }
        if self.timer_is_probe {
            return self.probe_tail(now);
        }
        self.time_out(now);
        None
    }

    fn time_out(&mut self, now: Time) {
        self.stats.timeouts += 1;
        let first = !matches!(self.phase, Phase::Timeout(_));
        self.board.mark_all_lost();
        if first {
            self.tell(now, Signal::Timeout);
        }
        self.phase = Phase::Timeout(self.next);
        self.rtt.back_off();
        self.pace_next = now;
        self.timer = now + self.rtt.rto();
    }

    /// RFC 8985, 7.3: new data if there is any, else the last packet again.
    fn probe_tail(&mut self, now: Time) -> Option<Segment> {
        self.timer_is_probe = false;
        self.timer = now + self.rtt.rto();
        if let Some(payload) = self.next_payload() {
            let offset = self.next;
            self.board.push(now, offset, payload);
            self.advance_stream(now, payload);
            return Some(self.segment(now, offset, payload, false));
        }
        let (offset, payload) = self.board.resend_last(now)?;
        self.stats.retransmitted += Bytes::new(u64::from(payload));
        Some(self.segment(now, offset, payload, true))
    }

    /// Sends one packet beyond the closed window; a receiver without room answers all the same.
    fn probe_window(&mut self, now: Time) -> Option<Segment> {
        self.timer = Time::NEVER;
        let available = self.writing.written().saturating_sub(self.next);
        let payload = u64::from(self.mss).min(self.frame_left).min(available) as u32;
        if payload == 0 {
            return None;
        }
        let offset = self.next;
        self.board.push(now, offset, payload);
        self.advance_stream(now, payload);
        self.rtt.back_off();
        self.timer = now + self.rtt.rto();
        Some(self.segment(now, offset, payload, false))
    }

    /// The pace the law sets.
    pub fn pacing(&self) -> Option<Throughput> {
        self.source.pacing()
    }
}
