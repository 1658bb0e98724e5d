//! Counters of a link, and the check that they balance.

use ratewire_units::{Bytes, Duration, Time};

use super::{FarTally, Link, Observation, PauseTally, RareTally};

impl Link {
    /// Packets in transmission or on the link's own wire, with copies that still arrive.
    fn flying(&self) -> u64 {
        let late = self.extra.as_ref().map_or(0, |extra| extra.late.len() as u64);
        u64::from(self.started - self.gone) + late
    }

    fn rare_tally(&self) -> RareTally {
        self.extra.as_ref().map_or(RareTally::default(), |extra| extra.tally)
    }

    /// Whether every packet that came is accounted for. `intake` packets wait for intake at the far
    /// end.
    pub(crate) fn is_balanced(&self, intake: u64) -> bool {
        let dropped = self.tally.dropped_full + self.rare_tally().drops();
        let here = self.flying() + intake + u64::from(self.waiting() + self.held);
        self.arrived + self.rare_tally().duplicated == self.passed + dropped + here
    }

    /// Observation of the link; starts the next interval's peaks.
    pub(crate) fn observe(&mut self, now: Time, far: &FarTally) -> Observation {
        self.sum_areas(now);
        let waiting = self.waiting_all();
        let pausing = self.outlet_mut().map_or(PauseTally::default(), |outlet| outlet.tally(now));
        let t = &mut self.tally;
        let (interval_packets, interval_bytes) = (t.peak_packets, t.peak_bytes);
        t.peak_packets_run = t.peak_packets_run.max(t.peak_packets);
        t.peak_bytes_run = t.peak_bytes_run.max(t.peak_bytes);
        (t.peak_packets, t.peak_bytes) = (waiting, self.waiting_bytes);
        let (t, rare) = (&self.tally, self.rare_tally());
        let ahead = self.ahead(now);
        let busy = self.busy.saturating_sub(ahead.busy);
        let unfinished = self.unfinished(now, ahead.free).min(busy);
        let (booked_packets, booked_bytes) = self.booked_areas(now);
        Observation {
            busy: busy.saturating_sub(unfinished),
            sent_bytes: Bytes::new(
                self.sent_bytes - ahead.bytes - self.unsent_bytes(now, unfinished, ahead.last_size),
            ),
            sent_packets: self.passed + rare.lost + self.flying() + far.intake + far.refused
                - rare.duplicated
                - u64::from(self.booked())
                - ahead.packets,
            waiting_packets: waiting,
            waiting_bytes: Bytes::new(self.waiting_bytes),
            peak_packets: interval_packets,
            peak_bytes: Bytes::new(interval_bytes),
            peak_packets_run: t.peak_packets_run,
            peak_bytes_run: Bytes::new(t.peak_bytes_run),
            area_packets: self.area_packets - booked_packets,
            area_bytes: self.area_bytes - booked_bytes,
            dropped_full: t.dropped_full,
            dropped_early: rare.dropped_early,
            dropped_down: rare.dropped_down,
            dropped_policed: rare.dropped_policed,
            dropped_exceeding: rare.dropped_exceeding,
            lost: rare.lost,
            marked: t.marked,
            corrected: rare.corrected,
            duplicated: rare.duplicated,
            outages: rare.outages,
            down: self.extra.as_ref().map_or(Duration::ZERO, |extra| extra.down_until(now)),
            pauses: pausing.pauses,
            paused: pausing.paused,
            control_frames: pausing.control_frames,
            overflowed: far.overflowed,
        }
    }

    /// Network-layer bytes counted as sent that are still to be sent, those of the packet in
    /// transmission in proportion to its time that is left.
    fn unsent_bytes(&self, now: Time, unfinished: Duration, last_size: u32) -> u64 {
        let (size, left) = self.in_transmission(now, unfinished, last_size);
        let each = self.packet_time(size).unwrap_or(Duration::ZERO);
        let part = match self.extra.as_ref().and_then(|extra| extra.stalled) {
            Some(bytes) => bytes / self.on_wire(size).as_f64(),
            None if each.is_zero() => 0.0,
            None => left.min(each).secs() / each.secs(),
        };
        let booked = if self.books { self.waiting_bytes } else { 0 };
        booked + (f64::from(size) * part) as u64
    }

    /// Counts a packet lost on the link.
    pub(crate) fn note_lost(&mut self) {
        if let Some(tally) = self.rare_counts() {
            tally.lost += 1;
        }
    }

    /// Counts packets dropped because the link is down.
    pub(crate) fn note_dropped_down(&mut self, packets: u64) {
        if let Some(tally) = self.rare_counts() {
            tally.dropped_down += packets;
        }
    }

    /// Counters that only links with extra parts have; this link must be one.
    fn rare_counts(&mut self) -> Option<&mut RareTally> {
        debug_assert!(self.extra.is_some(), "what happens here only happens on links with extras");
        self.extra.as_deref_mut().map(|extra| &mut extra.tally)
    }
}
