//! Packets sent and not yet cumulatively acknowledged: loss detection by RFC 6675, and by time as
//! in RACK (RFC 8985, section 6).

use std::cmp::Reverse;
use std::collections::{BinaryHeap, VecDeque};
use std::mem::offset_of;

use prefetch_index::prefetch_index;
use ratewire_units::{Bytes, Duration, Time};

/// A hole counts as lost once this many packets beyond it have arrived (RFC 6675, DupThresh).
const DUPLICATE_THRESHOLD: usize = 3;

#[derive(Clone, Copy, Debug)]
struct Sent {
    offset: u64,
    /// When the packet was last sent. Once it is selectively acknowledged: absolute index of a
    /// packet such that all from there to this one are too, so that a range is walked once and
    /// skipped from then on.
    sent_at_or_run: u64,
    payload: u32,
    sacked: bool,
    lost: bool,
    again: bool,
}

impl Sent {
    fn end(&self) -> u64 {
        self.offset + u64::from(self.payload)
    }
    fn sent_at(&self) -> Time {
        Time::from_ps(self.sent_at_or_run)
    }
    /// Whether the packet has neither arrived nor been given up.
    fn is_out(&self) -> bool {
        !self.sacked && !self.lost
    }
}

/// A further copy of a packet.
#[derive(Clone, Copy, Debug)]
struct Copied {
    /// Absolute index of the packet.
    index: u64,
    sent_at: Time,
    /// Whether it is a probe for the loss of the tail, and no repair.
    is_probe: bool,
}

/// The packets between the cumulative acknowledgement and the next new byte. The fields that only
/// repairs need come first.
#[derive(Clone, Debug, Default)]
#[repr(C)]
pub(crate) struct Scoreboard {
    /// Absolute indices of all lost packets, and of some that are lost no more. Where many packets
    /// are out and copies are lost again and again, a search among the packets would take most of a
    /// run.
    losses: BinaryHeap<Reverse<u64>>,
    /// Offsets of the three highest packets that were selectively acknowledged, highest first.
    highest_sacked: [u64; DUPLICATE_THRESHOLD],
    /// First copies below this absolute index have been judged.
    judged: u64,
    /// Further copies that have not been judged, in the order they were sent.
    copies: VecDeque<Copied>,
    sent: VecDeque<Sent>,
    /// Absolute index of `sent[0]`: packets acknowledged so far.
    base: u64,
    in_flight: u64,
    lost: usize,
    sacked: usize,
    /// Packets that were sent more than once.
    again: usize,
    /// Payload found lost since the last question.
    untold_lost: u64,
    /// When the newest packet known to have arrived was sent, and its end.
    newest_arrival: Time,
    newest_end: u64,
    /// Its round-trip time (`RACK.rtt`).
    newest_rtt: Duration,
}

/// Packets that an acknowledgement newly covers.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Covered {
    pub bytes: u64,
    now: Time,
    /// Offset of the highest packet that had arrived before beyond a hole.
    highest: u64,
    /// Whether a packet has arrived that counted as lost and was not sent again.
    pub given_up: bool,
    /// Whether a packet has arrived that others had overtaken.
    pub reordered: bool,
    /// When the newest packet covered was sent; valid only if none was sent twice.
    newest: Option<Time>,
    /// Whether a packet sent more than once is covered.
    again: bool,
    /// Whether the acknowledgement reports ranges beyond a hole.
    pub beyond_hole: bool,
    /// A copy sent later than this cannot be the acknowledged one.
    copy_sent_by: Time,
    /// When the newest copy left that is taken to have arrived.
    copy: Option<Time>,
}

impl Covered {
    /// When the newest packet was sent, unless that is ambiguous (Karn).
    pub(crate) fn timed(&self) -> Option<Time> {
        self.newest.filter(|_| !self.again)
    }
    /// Whether a copy that left after `time` is taken to have arrived.
    pub(crate) fn has_copy_after(&self, time: Time) -> bool {
        self.copy > Some(time)
    }
}

impl Scoreboard {
    /// Where the fields begin that each packet needs.
    pub(crate) const HOT: usize = offset_of!(Scoreboard, sent);

    /// What an acknowledgement that arrives now is to cover, on a path that takes at least
    /// `min_rtt`.
    pub(crate) fn covered(&self, now: Time, min_rtt: Duration) -> Covered {
        Covered {
            bytes: 0,
            now,
            highest: self.highest_sacked[0],
            given_up: false,
            reordered: false,
            newest: None,
            again: false,
            beyond_hole: false,
            copy_sent_by: now - min_rtt,
            copy: None,
        }
    }
    pub(crate) fn in_flight(&self) -> Bytes {
        Bytes::new(self.in_flight)
    }
    /// Payload found lost since the last call.
    #[inline]
    pub(crate) fn take_lost(&mut self) -> Bytes {
        Bytes::new(core::mem::take(&mut self.untold_lost))
    }
    /// Prefetches the first packets, which are acknowledged next, and the places of the next to be
    /// sent. A train of packets moves on by the next call.
    #[inline]
    pub(crate) fn foresee(&self) {
        let (front, back) = self.sent.as_slices();
        let end = if back.is_empty() { front } else { back };
        prefetch_index(front, 0);
        prefetch_index(front, 3);
        prefetch_index(end, end.len());
        prefetch_index(end, end.len() + 2);
    }
    pub(crate) fn is_empty(&self) -> bool {
        self.sent.is_empty()
    }
    pub(crate) fn len(&self) -> usize {
        self.sent.len()
    }
    pub(crate) fn has_sacked(&self) -> bool {
        self.sacked > 0
    }
    /// Whether all packets were sent once and are on their way.
    #[inline]
    pub(crate) fn is_plain(&self) -> bool {
        self.lost | self.sacked | self.again == 0
    }

    #[inline]
    pub(crate) fn push(&mut self, now: Time, offset: u64, payload: u32) {
        self.in_flight += u64::from(payload);
        self.sent.push_back(Sent {
            offset,
            sent_at_or_run: now.ps(),
            payload,
            sacked: false,
            lost: false,
            again: false,
        });
    }

    /// Notes a cumulative acknowledgement.
    #[inline]
    pub(crate) fn acknowledge(&mut self, cumulative: u64, covered: &mut Covered) {
        while let Some(front) = self.sent.front() {
            if front.end() > cumulative {
                break;
            }
            let front = *front;
            self.sent.pop_front();
            self.base += 1;
            self.again -= usize::from(front.again);
            if front.sacked {
                self.sacked -= 1;
            } else {
                self.take_arrival(&front, covered);
            }
        }
        self.shorten_front(cumulative, covered);
    }

    /// [`Scoreboard::acknowledge`] of a plain board: all below covers so many bytes. Returns when
    /// the newest packet covered whole was sent.
    #[inline]
    pub(crate) fn acknowledge_plain(
        &mut self,
        now: Time,
        cumulative: u64,
        bytes: u64,
    ) -> Option<Time> {
        self.in_flight -= bytes;
        let mut newest = None;
        while let Some(front) = self.sent.front_mut() {
            if front.end() > cumulative {
                front.payload -= (cumulative - front.offset) as u32;
                front.offset = cumulative;
                break;
            }
            newest = Some((front.sent_at(), front.end()));
            self.sent.pop_front();
            self.base += 1;
        }
        let (sent_at, end) = newest?;
        if (sent_at, end) > (self.newest_arrival, self.newest_end) {
            (self.newest_arrival, self.newest_end) = (sent_at, end);
            self.newest_rtt = now.since(sent_at);
        }
        Some(sent_at)
    }

    /// A switch acknowledges frames, of which a packet may carry several: the rest of the first
    /// packet is what remains to be acknowledged, or sent again.
    #[inline]
    fn shorten_front(&mut self, cumulative: u64, covered: &mut Covered) {
        let Some(front) = self.sent.front_mut().filter(|front| front.offset < cumulative) else {
            return;
        };
        let arrived = (cumulative - front.offset) as u32;
        front.offset = cumulative;
        front.payload -= arrived;
        if !front.sacked {
            covered.bytes += u64::from(arrived);
            self.in_flight -= if front.lost { 0 } else { u64::from(arrived) };
        }
    }

    /// Notes a range that arrived beyond a hole.
    pub(crate) fn acknowledge_range(&mut self, start: u64, end: u64, covered: &mut Covered) {
        let first = self.before(start);
        // Packets follow each other: at most one that begins below the end ends beyond it.
        let mut after = self.before(end);
        if after > 0 && self.sent[after - 1].end() > end {
            after -= 1;
        }
        if after <= first {
            return;
        }
        covered.beyond_hole = true;
        let mut at = after;
        while at > first {
            at -= 1;
            let sent = self.sent[at];
            if sent.sacked {
                // The last packet of a range known before: go on below it.
                at = (sent.sent_at_or_run.saturating_sub(self.base) as usize).min(at);
                continue;
            }
            self.take_arrival(&sent, covered);
            self.sacked += 1;
            self.note_highest(sent.offset);
            let slot = &mut self.sent[at];
            slot.sacked = true;
            slot.lost = false;
            slot.sent_at_or_run = self.base + at as u64;
        }
        self.sent[after - 1].sent_at_or_run = self.base + first as u64;
    }

    /// Number of packets that begin below this offset: guessed from equal lengths, and searched if
    /// the guess is wrong.
    #[inline]
    fn before(&self, offset: u64) -> usize {
        let Some(front) = self.sent.front() else { return 0 };
        let guess = offset.saturating_sub(front.offset) / u64::from(front.payload.max(1));
        let guess = guess.min(self.sent.len() as u64) as usize;
        let is_below = |at: usize| self.sent.get(at).is_some_and(|s| s.offset < offset);
        if (guess == 0 || is_below(guess - 1)) && !is_below(guess) {
            return guess;
        }
        self.sent.partition_point(|s| s.offset < offset)
    }

    #[inline]
    fn take_arrival(&mut self, sent: &Sent, covered: &mut Covered) {
        covered.bytes += u64::from(sent.payload);
        if sent.lost {
            self.lost -= 1;
            covered.given_up |= !sent.again;
        } else {
            self.in_flight -= u64::from(sent.payload);
        }
        covered.reordered |= !sent.again && sent.offset < covered.highest;
        covered.again |= sent.again;
        covered.newest = covered.newest.max(Some(sent.sent_at()));
        // Too early for the copy: the packet sent before has arrived (RFC 8985, 6.2, step 2).
        if !sent.again || sent.sent_at() <= covered.copy_sent_by {
            if (sent.sent_at(), sent.end()) > (self.newest_arrival, self.newest_end) {
                (self.newest_arrival, self.newest_end) = (sent.sent_at(), sent.end());
                self.newest_rtt = covered.now.since(sent.sent_at());
            }
            if sent.again {
                covered.copy = covered.copy.max(Some(sent.sent_at()));
            }
        }
    }

    fn note_highest(&mut self, offset: u64) {
        let mut offset = offset;
        for slot in &mut self.highest_sacked {
            if offset > *slot {
                core::mem::swap(&mut offset, slot);
            }
        }
    }

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

#[cfg(test)]
mod tests;
