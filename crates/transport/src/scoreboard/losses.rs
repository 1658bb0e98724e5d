//! How lost packets are found, and sent again.

use std::cmp::Reverse;

use ratewire_units::{Duration, Time};

use super::{Copied, DUPLICATE_THRESHOLD, Scoreboard};

impl Scoreboard {
    /// Gives up holes with enough packets beyond them, and packets overtaken by others sent more
    /// than `reordering` later. Returns the highest offset newly found lost.
    pub(crate) fn detect_losses(&mut self, reordering: Duration) -> Option<u64> {
        let third = self.highest_sacked[DUPLICATE_THRESHOLD - 1];
        let below = if self.sacked >= DUPLICATE_THRESHOLD { third } else { 0 };
        self.detect(below, reordering)
    }

    /// Gives up all holes with an arrival beyond them: they have had time.
    pub(crate) fn give_up_holes(&mut self) -> Option<u64> {
        let below = if self.sacked > 0 { self.highest_sacked[0] } else { 0 };
        self.detect(below, Duration::ZERO)
    }

    fn detect(&mut self, below: u64, reordering: Duration) -> Option<u64> {
        let mut highest = None;
        let mut at = self.judged.saturating_sub(self.base) as usize;
        while let Some(sent) = self.sent.get(at) {
            // Further copies are judged below, in the order they were sent.
            if sent.is_out() && !sent.again {
                if sent.offset >= below && sent.sent_at() + reordering >= self.newest_arrival {
                    break;
                }
                highest = Some(sent.offset);
                self.mark_lost(at);
            }
            at += 1;
        }
        self.judged = self.base + at as u64;

        while let Some(&Copied { index, sent_at, .. }) = self.copies.front() {
            if sent_at + reordering >= self.newest_arrival {
                break;
            }
            self.copies.pop_front();
            let Some(at) = index.checked_sub(self.base).map(|at| at as usize) else { continue };
            let sent = self.sent[at];
            if sent.is_out() && sent.sent_at() == sent_at {
                highest = highest.max(Some(sent.offset));
                self.mark_lost(at);
            }
        }
        highest
    }

    /// RACK (RFC 8985, section 6.2, step 5): gives up packets that left before the newest that has
    /// arrived, once they have had its round-trip time and the window of reordering. Returns the
    /// highest offset newly found lost, and when the next such packet is lost.
    pub(crate) fn detect_by_time(&mut self, now: Time, window: Duration) -> (Option<u64>, Time) {
        let patience = self.newest_rtt + window;
        let newest = (self.newest_arrival, self.newest_end);
        let (mut highest, mut until) = (None, Time::NEVER);
        let mut at = self.judged.saturating_sub(self.base) as usize;
        while let Some(sent) = self.sent.get(at) {
            if sent.is_out() && !sent.again {
                let due = sent.sent_at() + patience;
                let is_overtaken = (sent.sent_at(), sent.end()) < newest;
                if !is_overtaken || due > now {
                    until = if is_overtaken { due } else { Time::NEVER };
                    break;
                }
                highest = Some(sent.offset);
                self.mark_lost(at);
            }
            at += 1;
        }
        self.judged = self.base + at as u64;

        while let Some(&Copied { index, sent_at, .. }) = self.copies.front() {
            let at = index.checked_sub(self.base).map(|at| at as usize);
            let sent = at.and_then(|at| self.sent.get(at));
            let Some(sent) = sent.filter(|sent| sent.is_out() && sent.sent_at() == sent_at) else {
                self.copies.pop_front();
                continue;
            };
            let due = sent_at + patience;
            // Of a copy and new data that left at one instant, either may have been the first.
            let is_overtaken = sent_at < self.newest_arrival;
            if !is_overtaken || due > now {
                until = if is_overtaken { until.min(due) } else { until };
                break;
            }
            highest = highest.max(Some(sent.offset));
            self.copies.pop_front();
            self.mark_lost((index - self.base) as usize);
        }
        (highest, until)
    }

    /// Whether enough packets have arrived beyond a hole to make it a loss (RFC 6675, DupThresh).
    pub(crate) fn has_enough_sacked(&self) -> bool {
        self.sacked >= DUPLICATE_THRESHOLD
    }

    /// Whether packets were found lost that the law has not heard of.
    pub(crate) fn has_unreported_losses(&self) -> bool {
        self.untold_lost > 0
    }

    /// Takes back that packets are lost, if they were not sent again: they are late.
    pub(crate) fn take_back_losses(&mut self) {
        for sent in self.sent.iter_mut().filter(|sent| sent.lost) {
            sent.lost = false;
            self.in_flight += u64::from(sent.payload);
        }
        self.lost = 0;
        self.losses.clear();
        self.judged = self.base;
    }

    fn mark_lost(&mut self, at: usize) {
        let sent = &mut self.sent[at];
        sent.lost = true;
        self.in_flight -= u64::from(sent.payload);
        self.untold_lost += u64::from(sent.payload);
        self.lost += 1;
        if self.losses.len() > 2 * self.sent.len() {
            let (base, sent) = (self.base, &self.sent);
            let at = |index: u64| index.checked_sub(base).and_then(|at| sent.get(at as usize));
            self.losses.retain(|index| at(index.0).is_some_and(|sent| sent.lost));
        }
        self.losses.push(Reverse(self.base + at as u64));
    }

    /// Number of further copies that are out, without probes.
    pub(crate) fn copies_out(&self) -> u32 {
        let is_out = |copied: &&Copied| {
            if copied.is_probe {
                return false;
            }
            let at = copied.index.checked_sub(self.base);
            let sent = at.and_then(|at| self.sent.get(at as usize));
            sent.is_some_and(|sent| sent.is_out() && sent.sent_at() == copied.sent_at)
        };
        self.copies.iter().filter(is_out).count() as u32
    }

    /// Counts everything that has not arrived as lost, after a timeout (RFC 6675, 5.1).
    pub(crate) fn mark_all_lost(&mut self) {
        // If the receiver has selectively acknowledged the packet at which the cumulative
        // acknowledgement stops, it has discarded the packet since (RFC 2018, section 8).
        let reneged = self.sent.front().is_some_and(|front| front.sacked);
        for at in 0..self.sent.len() {
            let sent = &mut self.sent[at];
            if reneged && sent.sacked {
                sent.sacked = false;
                self.again += usize::from(!core::mem::replace(&mut sent.again, true));
                self.sacked -= 1;
                self.in_flight += u64::from(sent.payload);
            }
            if sent.is_out() {
                self.mark_lost(at);
            }
        }
        if reneged {
            self.highest_sacked = [0; DUPLICATE_THRESHOLD];
        }
        self.copies.clear();
    }

    /// The first lost packet, if any.
    #[inline]
    pub(crate) fn first_lost(&mut self) -> Option<(u64, u32)> {
        if self.lost == 0 { None } else { self.find_first_lost() }
    }

    fn find_first_lost(&mut self) -> Option<(u64, u32)> {
        while let Some(Reverse(index)) = self.losses.peek() {
            let at = index.checked_sub(self.base).and_then(|at| self.sent.get(at as usize));
            if let Some(sent) = at.filter(|sent| sent.lost) {
                return Some((sent.offset, sent.payload));
            }
            self.losses.pop();
        }
        None
    }

    /// Notes that the packet named by [`Scoreboard::first_lost`] is sent again.
    pub(crate) fn resend_first_lost(&mut self, now: Time) {
        let Some(Reverse(index)) = self.losses.pop() else { return };
        let at = (index - self.base) as usize;
        self.lost -= 1;
        self.resend(at, now, false);
        self.in_flight += u64::from(self.sent[at].payload);
    }

    /// Sends the last packet again as a probe, unless it has arrived or will be repaired anyway.
    pub(crate) fn resend_last(&mut self, now: Time) -> Option<(u64, u32)> {
        let at = self.sent.len().checked_sub(1)?;
        if !self.sent[at].is_out() {
            return None;
        }
        self.resend(at, now, true);
        Some((self.sent[at].offset, self.sent[at].payload))
    }

    fn resend(&mut self, at: usize, now: Time, is_probe: bool) {
        let sent = &mut self.sent[at];
        sent.lost = false;
        self.again += usize::from(!core::mem::replace(&mut sent.again, true));
        sent.sent_at_or_run = now.ps();
        while self.copies.front().is_some_and(|copied| copied.index < self.base) {
            self.copies.pop_front();
        }
        self.copies.push_back(Copied { index: self.base + at as u64, sent_at: now, is_probe });
    }
}
