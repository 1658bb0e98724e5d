//! Effect of an acknowledgement on a sender.

use ratewire_laws::{Acked, Signal};
use ratewire_units::{Bytes, Duration, Time};

use super::{Opening, Phase, Sender};
use crate::scoreboard::Covered;
use crate::segment::Ack;

/// Payload that an acknowledgement newly covers, its RTT sample, and whether the cumulative
/// acknowledgement has advanced.
type Taken = (u64, Option<Duration>, bool);

impl Sender {
    /// Handles an acknowledgement.
    pub fn on_ack(&mut self, now: Time, ack: &Ack) {
        let was_in_flight = self.board.in_flight();
        let (bytes, rtt, advanced) = if self.is_as_predicted(ack) {
            self.take_predicted(now, ack)
        } else {
            let Some(taken) = self.take(now, ack) else { return };
            taken
        };
        self.writing.progress(now, self.next, self.cumulative);
        let acked = Acked {
            now,
            bytes: Bytes::new(bytes),
            in_flight: self.board.in_flight(),
            was_in_flight,
            rtt,
            srtt: self.rtt.srtt(),
            cumulative: self.cumulative,
            next: self.next,
            receive_window: self.receive_window(),
            limited: self.limited || self.leaves_window_unused(was_in_flight),
            in_recovery: matches!(self.phase, Phase::Recovery(_)),
            marked: ack.marked,
            lost: self.board.take_lost(),
        };
        self.source.on_ack(&acked, &ack.header);
        if self.pace_next.since(now) > acked.srtt / 8 {
            self.hasten(now);
        }
        if advanced || bytes > 0 {
            self.arm_timer(now);
        }
    }

    /// Whether an acknowledgement is the usual one while nothing is lost, overtaken, sent again or
    /// marked, so that [`Sender::take_predicted`] does all that [`Sender::take`] would (header
    /// prediction, Jacobson 1990).
    #[inline]
    fn is_as_predicted(&self, ack: &Ack) -> bool {
        let is_predicted = self.phase == Phase::Open
            && self.opening == Opening::Done
            && self.board.is_plain()
            && self.tail_probed.is_none()
            && !(self.may_undo | self.is_overtaken | ack.marked | ack.duplicate)
            && ack.sack.is_empty()
            && self.cumulative < ack.cumulative
            && ack.cumulative <= self.next;
        #[cfg(test)]
        let is_predicted = is_predicted && crate::short_paths::are_on();
        is_predicted
    }

    /// [`Sender::take`] without the steps that have no effect on a predicted acknowledgement.
    #[inline]
    fn take_predicted(&mut self, now: Time, ack: &Ack) -> Taken {
        #[cfg(test)]
        crate::short_paths::note_predicted();
        let bytes = ack.cumulative - self.cumulative;
        self.advance(ack);
        let newest = self.board.acknowledge_plain(now, ack.cumulative, bytes);
        let rtt = newest.map(|sent| now.since(sent));
        if let Some(rtt) = rtt {
            self.take_rtt(rtt);
        }
        if self.answered == Time::NEVER {
            self.answered = now;
        }
        (bytes, rtt, true)
    }

    /// Takes in what an acknowledgement says; `None` if it says nothing.
    #[inline(never)]
    fn take(&mut self, now: Time, ack: &Ack) -> Option<Taken> {
        if self.opening != Opening::Done && !self.finish_opening(now, ack) {
            return None;
        }
        if ack.cumulative > self.next {
            // It covers data that was never sent (RFC 9293, 3.10.7.4).
            return None;
        }
        let flight = self.flight_size();
        let mut covered = self.board.covered(now, self.rtt.min().unwrap_or(Duration::MAX));
        let advanced = ack.cumulative > self.cumulative;
        if ack.cumulative >= self.cumulative {
            self.advance(ack);
        }
        self.board.acknowledge(ack.cumulative, &mut covered);
        for (start, end) in ack.sack.iter(ack.cumulative) {
            if end <= self.next {
                self.board.acknowledge_range(start, end, &mut covered);
            }
        }
        let rtt = covered.timed().map(|sent| now.since(sent));
        if let Some(rtt) = rtt {
            self.take_rtt(rtt);
        }
        if covered.bytes > 0 {
            self.end_backing_off(now, &covered);
        }
        if self.tail_probed.is_some() {
            self.judge_tail_probe(now, ack, advanced);
        }
        if self.may_undo || ack.duplicate || covered.reordered {
            self.judge_repair(now, ack, advanced, &covered);
        }
        if covered.beyond_hole || self.phase != Phase::Open || self.is_overtaken {
            self.detect_losses(now);
        }
        let in_flight = self.board.in_flight();
        let has_unreported_losses = self.board.has_unreported_losses();
        if let Some(prr) = self.rate_reduction() {
            let is_safe = advanced && !has_unreported_losses;
            prr.on_ack(covered.bytes, in_flight, is_safe);
        }
        if ack.marked && self.phase == Phase::Open {
            self.phase = Phase::Marked(self.next);
            // The marked packet was outstanding too.
            self.tell(now, Signal::Mark, flight);
        }
        Some((covered.bytes, rtt, advanced))
    }

    #[inline]
    fn advance(&mut self, ack: &Ack) {
        self.cumulative = ack.cumulative;
        // The right edge of the window never moves back.
        self.allowed = self.allowed.max(ack.cumulative.saturating_add(ack.window.get()));
    }

    fn finish_opening(&mut self, now: Time, ack: &Ack) -> bool {
        if !ack.opens {
            return false;
        }
        let rtt = match self.opening {
            Opening::Sent { again: false } => Some(now.since(self.opened)),
            _ => None,
        };
        if let Some(rtt) = rtt {
            self.rtt.sample_opening(rtt);
            self.count_rtt(rtt);
        }
        self.source.on_opened(now, rtt, &ack.header);
        self.opening = Opening::Done;
        self.timer = Time::NEVER;
        self.law_timer = self.source.next_timer().max(now);
        self.pace_next = now;
        true
    }

    #[inline]
    fn take_rtt(&mut self, rtt: Duration) {
        self.rtt.sample(rtt);
        self.count_rtt(rtt);
    }

    fn count_rtt(&mut self, rtt: Duration) {
        self.stats.rtt_samples += 1;
        self.stats.rtt_sum_ns += rtt.ps() / 1000;
    }

    /// Ends the back-off once the path answers again, without a sample of the round trip: while
    /// every packet was sent twice, there is none.
    ///
    /// The first arrival after a timeout may be the packet that counted as lost, if the timeout was
    /// too short (Karn). A copy that left after that arrival, and was acknowledged no sooner than
    /// the path allows, proves the path: delayed packets would have followed the first at once.
    fn end_backing_off(&mut self, now: Time, covered: &Covered) {
        if self.answered == Time::NEVER {
            self.answered = now;
        } else if covered.has_copy_after(self.answered) {
            self.rtt.end_backing_off();
        }
    }

    /// Applies a pace that has risen at once, not after a long wait that the old pace set.
    fn hasten(&mut self, now: Time) {
        if let Some(pace) = self.source.pacing() {
            let packet = Bytes::new(u64::from(self.mss) + u64::from(self.headers));
            self.pace_next = self.pace_next.min(now + pace.time_for(packet));
        }
    }

    /// Whether the last packet was sent again because it was lost: the probe has then hidden a loss
    /// that the law must hear of (RFC 8985, 7.4).
    fn judge_tail_probe(&mut self, now: Time, ack: &Ack, advanced: bool) {
        let Some(end) = self.tail_probed else { return };
        if ack.cumulative > end {
            self.tail_probed = None;
            if !self.in_repair() {
                self.tell(now, Signal::Loss, self.flight_size());
                self.source.on_recovered(now);
            }
        } else if ack.cumulative == end && !advanced && ack.sack.is_empty() {
            // Both copies have arrived.
            self.tail_probed = None;
        }
    }
}
