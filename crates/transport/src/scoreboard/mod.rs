//! Packets sent and not yet cumulatively acknowledged: loss detection by RFC 6675, and by time as
//! in RACK (RFC 8985, section 6).

mod losses;

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
}

#[cfg(test)]
mod tests;
