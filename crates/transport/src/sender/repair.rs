//! Losses: how they are found and repaired, and what is undone where there were none.

use ratewire_laws::{Congestion, Signal};
use ratewire_units::{Bytes, Duration, Time};

use super::prr::Prr;
use super::undo::{Frto, Undo};
use super::{Phase, Sender};
use crate::scoreboard::Covered;
use crate::segment::{Ack, Epoch};

impl Sender {
    /// Detects losses, and ends the sender's phase if it is over.
    pub(super) fn detect_losses(&mut self, now: Time) {
        let certain = self.in_repair() || self.board.has_enough_sacked();
        let srtt = self.rtt.srtt();
        let lost = match &mut self.rack {
            None => self.board.detect_losses(srtt / 4),
            Some(rack) => {
                let min = self.rtt.min().unwrap_or(Duration::ZERO);
                let window = rack.reordering.window(min, srtt, certain);
                let (lost, until) = self.board.detect_by_time(now, window);
                rack.overtaken_until = until;
                self.is_overtaken = until != Time::NEVER;
                lost
            }
        };
        if let Some(lost) = lost {
            self.found_lost(now, lost);
        }
        match self.phase {
            Phase::Recovery(until) | Phase::Timeout(until) if self.cumulative >= until => {
                self.end_repair();
                self.source.on_recovered(now);
                if core::mem::take(&mut self.lost_beyond) {
                    self.begin_recovery(now);
                    self.detect_losses(now);
                }
            }
            // Strictly beyond it: the packet at it was sent before the mark was heeded.
            Phase::Marked(until) if self.cumulative > until => self.phase = Phase::Open,
            _ => {}
        }
    }

    /// Handles losses, of which `lost` is the last.
    pub(super) fn found_lost(&mut self, now: Time, lost: u64) {
        match self.phase {
            Phase::Recovery(until) | Phase::Timeout(until) => self.lost_beyond |= lost >= until,
            Phase::Open | Phase::Marked(_) => self.begin_recovery(now),
        }
    }

    fn begin_recovery(&mut self, now: Time) {
        self.phase = Phase::Recovery(self.next);
        self.tail_probed = None;
        self.urgent = true;
        let flight = self.flight_size();
        self.tell(now, Signal::Loss, flight);
        self.begin_undo(false);
        if let Some(rack) = &mut self.rack {
            let threshold = self.source.slow_start_threshold();
            rack.prr = threshold.map(|ssthresh| Prr::new(flight, ssthresh, self.mss));
        }
    }

    /// A repair begins that may not be needed; `by_timer_alone` as in [`Undo::begin`].
    pub(super) fn begin_undo(&mut self, by_timer_alone: bool) {
        if let Some(rack) = &mut self.rack {
            let copies = self.board.copies_out();
            rack.undo.begin(by_timer_alone, copies);
            // Copies of the repair before are no originals. A probe for the loss of the tail counts
            // as one, as in Linux: if it arrives, so has what came before it.
            if copies == 0 {
                self.epoch = self.epoch.next();
            }
            self.may_undo = true;
        }
    }

    /// The rate reduction under way, if a loss is repaired so.
    #[inline]
    pub(super) fn rate_reduction(&mut self) -> Option<&mut Prr> {
        match self.phase {
            Phase::Recovery(_) => self.rack.as_mut()?.prr.as_mut(),
            _ => None,
        }
    }

    fn end_repair(&mut self) {
        self.phase = Phase::Open;
        self.urgent = false;
        if let Some(rack) = &mut self.rack {
            rack.prr = None;
            rack.undo.end_repair(self.next);
            rack.reordering.end_repair();
        }
    }

    /// Undoes the repair under way, or the last one, if what has arrived shows that nothing had
    /// been lost.
    pub(super) fn judge_repair(&mut self, now: Time, ack: &Ack, advanced: bool, covered: &Covered) {
        let Some(rack) = &mut self.rack else { return };
        rack.reordering.seen |= covered.reordered;
        if ack.duplicate {
            rack.reordering.widen(self.cumulative, self.next);
        }
        let undo = &mut rack.undo;
        let all_had_arrived = ack.duplicate && undo.on_duplicate();
        let is_older = ack.epoch != Epoch::UNKNOWN && ack.epoch != self.epoch;
        let is_original = advanced && is_older && undo.is_unneeded();
        let is_late = undo.frto != Frto::Off && covered.given_up;
        if all_had_arrived || is_original || is_late {
            *undo = Undo::NONE;
            self.may_undo = false;
            rack.undone += 1;
            rack.reordering.seen = true;
            self.undo_repair(now);
        } else if undo.is_settled(self.cumulative) {
            *undo = Undo::NONE;
            self.may_undo = false;
        } else if matches!(self.phase, Phase::Timeout(_)) {
            undo.frto = match undo.frto {
                Frto::SentAgain if advanced => Frto::MaySendNew(2),
                // Step 3a: the loss was real.
                Frto::MaySendNew(_) => Frto::Off,
                other => other,
            };
        }
    }

    fn undo_repair(&mut self, now: Time) {
        self.board.take_back_losses();
        self.lost_beyond = false;
        if self.in_repair() {
            self.end_repair();
        }
        self.source.on_spurious(now);
        self.source.on_recovered(now);
    }

    pub(super) fn in_repair(&self) -> bool {
        matches!(self.phase, Phase::Recovery(_) | Phase::Timeout(_))
    }

    /// Flight size (RFC 5681): data sent and not cumulatively acknowledged. Laws use it at
    /// congestion, because lost data had been sent within the window too.
    #[inline]
    pub(super) fn flight_size(&self) -> Bytes {
        Bytes::new(self.next - self.cumulative)
    }

    /// Tells the law of congestion.
    pub(super) fn tell(&mut self, now: Time, signal: Signal, in_flight: Bytes) {
        let srtt = self.rtt.srtt();
        self.source.on_congestion(&Congestion { now, signal, in_flight, srtt });
    }
}
