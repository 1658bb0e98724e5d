//! What was sent and not yet cumulatively acknowledged, packet by packet (RFC 6675).

use std::collections::VecDeque;

use ratewire_units::{Bytes, Duration, Time};

/// A hole counts as lost once this many packets beyond it have arrived (RFC 6675, DupThresh).
const DUPLICATE_THRESHOLD: usize = 3;

#[derive(Clone, Copy, Debug)]
struct Sent {
    offset: u64,
    /// When last sent. For the last packet of a selectively acknowledged range: the absolute index
    /// of the range's first packet, so that a range is walked once and skipped from then on.
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
}

/// The packets between the cumulative acknowledgement and the next new byte.
#[derive(Clone, Debug, Default)]
pub(crate) struct Scoreboard {
    sent: VecDeque<Sent>,
    /// Absolute index of `sent[0]`: packets acknowledged so far.
    base: u64,
    in_flight: u64,
    lost: usize,
    /// No packet below this absolute index is lost.
    first_lost: u64,
    sacked: usize,
    /// Offsets of the three highest packets that were selectively acknowledged, highest first.
    highest_sacked: [u64; DUPLICATE_THRESHOLD],
    /// Packets below this absolute index were judged already.
    judged: u64,
    /// When the newest packet known to have arrived was sent.
    newest_arrival: Time,
}

/// What an acknowledgement newly covers.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Covered {
    pub bytes: u64,
    /// When the newest packet covered, sent once only, was sent.
    pub newest: Option<Time>,
    /// Whether it told of ranges beyond a hole.
    pub beyond_hole: bool,
}

impl Scoreboard {
    pub(crate) fn in_flight(&self) -> Bytes {
        Bytes::new(self.in_flight)
    }
    pub(crate) fn is_empty(&self) -> bool {
        self.sent.is_empty()
    }
    pub(crate) fn has_lost(&self) -> bool {
        self.lost > 0
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

    /// Takes note of a cumulative acknowledgement.
    #[inline]
    pub(crate) fn acknowledge(&mut self, cumulative: u64, covered: &mut Covered) {
        while let Some(front) = self.sent.front() {
            if front.end() > cumulative {
                break;
            }
            let front = *front;
            self.sent.pop_front();
            self.base += 1;
            if front.sacked {
                self.sacked -= 1;
            } else {
                self.take_arrival(&front, covered);
            }
        }
    }

    /// Takes note of a range that arrived beyond a hole.
    pub(crate) fn acknowledge_range(&mut self, start: u64, end: u64, covered: &mut Covered) {
        let first = self.sent.partition_point(|s| s.offset < start);
        let after = self.sent.partition_point(|s| s.end() <= end);
        covered.beyond_hole = true;
        if after <= first {
            return;
        }
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

    fn take_arrival(&mut self, sent: &Sent, covered: &mut Covered) {
        covered.bytes += u64::from(sent.payload);
        if sent.lost {
            self.lost -= 1;
        } else {
            self.in_flight -= u64::from(sent.payload);
        }
        if !sent.again {
            self.newest_arrival = self.newest_arrival.max(sent.sent_at());
            covered.newest = covered.newest.max(Some(sent.sent_at()));
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

    /// Finds holes with enough beyond them, and retransmissions overtaken by `reordering`. Returns
    /// whether anything was newly found lost.
    pub(crate) fn detect_losses(&mut self, reordering: Duration) -> bool {
        let before = self.lost;
        if self.sacked >= DUPLICATE_THRESHOLD {
            let third = self.highest_sacked[DUPLICATE_THRESHOLD - 1];
            let mut at = self.judged.saturating_sub(self.base) as usize;
            while at < self.sent.len() && self.sent[at].offset < third {
                if !self.sent[at].sacked && !self.sent[at].lost && !self.sent[at].again {
                    self.mark_lost(at);
                }
                at += 1;
            }
            self.judged = self.base + at as u64;
        }
        if let Some(front) = self.sent.front()
            && front.again
            && !front.lost
            && !front.sacked
            && front.sent_at() + reordering < self.newest_arrival
        {
            self.mark_lost(0);
        }
        self.lost > before
    }

    fn mark_lost(&mut self, at: usize) {
        let sent = &mut self.sent[at];
        sent.lost = true;
        self.in_flight -= u64::from(sent.payload);
        self.lost += 1;
        self.first_lost = if self.lost == 1 {
            self.base + at as u64
        } else {
            self.first_lost.min(self.base + at as u64)
        };
    }

    /// The timer has expired: everything that has not arrived counts as lost (RFC 6675, 5.1).
    pub(crate) fn mark_all_lost(&mut self) {
        for at in 0..self.sent.len() {
            if !self.sent[at].sacked && !self.sent[at].lost {
                self.mark_lost(at);
            }
        }
    }

    /// The first lost packet, if any.
    pub(crate) fn first_lost(&mut self) -> Option<(u64, u32)> {
        if self.lost == 0 {
            return None;
        }
        let mut at = self.first_lost.saturating_sub(self.base) as usize;
        while !self.sent[at].lost {
            at += 1;
        }
        self.first_lost = self.base + at as u64;
        Some((self.sent[at].offset, self.sent[at].payload))
    }

    /// The packet that [`Scoreboard::first_lost`] names is sent again.
    pub(crate) fn resend_first_lost(&mut self, now: Time) {
        let at = self.first_lost.saturating_sub(self.base) as usize;
        self.lost -= 1;
        self.first_lost += 1;
        self.resend(at, now);
        self.in_flight += u64::from(self.sent[at].payload);
    }

    /// The last packet is sent again as a probe, whether or not it was lost.
    pub(crate) fn resend_last(&mut self, now: Time) -> Option<(u64, u32)> {
        let at = self.sent.len().checked_sub(1)?;
        if self.sent[at].sacked || self.sent[at].lost {
            return None;
        }
        self.resend(at, now);
        Some((self.sent[at].offset, self.sent[at].payload))
    }

    fn resend(&mut self, at: usize, now: Time) {
        let sent = &mut self.sent[at];
        sent.lost = false;
        sent.again = true;
        sent.sent_at_or_run = now.ps();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn with(n: u64) -> Scoreboard {
        let mut board = Scoreboard::default();
        for i in 0..n {
            board.push(Time::from_ps(i), i * 100, 100);
        }
        board
    }

    fn sack(board: &mut Scoreboard, start: u64, end: u64) -> u64 {
        let mut covered = Covered::default();
        board.acknowledge_range(start, end, &mut covered);
        covered.bytes
    }

    #[test]
    fn three_arrivals_beyond_a_hole_make_it_lost() {
        let mut board = with(10);
        assert_eq!(sack(&mut board, 100, 300), 200);
        assert!(!board.detect_losses(Duration::MAX));
        assert_eq!(sack(&mut board, 100, 400), 100, "the range known before is not counted again");
        assert!(board.detect_losses(Duration::MAX));
        assert_eq!(board.first_lost(), Some((0, 100)));
        assert_eq!(board.in_flight(), Bytes::new(600));
        board.resend_first_lost(Time::from_ps(50));
        assert_eq!(board.in_flight(), Bytes::new(700));
        assert_eq!(board.first_lost(), None);
        let mut covered = Covered::default();
        board.acknowledge(400, &mut covered);
        assert_eq!(
            (covered.bytes, covered.newest),
            (100, None),
            "Karn: no sample from a second copy"
        );
        assert_eq!(board.in_flight(), Bytes::new(600));
    }

    #[test]
    fn a_range_that_swallows_others_is_walked_once() {
        let mut board = with(12);
        assert_eq!(sack(&mut board, 100, 300), 200);
        assert_eq!(sack(&mut board, 500, 700), 200);
        assert_eq!(sack(&mut board, 100, 900), 400, "packets 3, 4, 7 and 8 are new");
        assert_eq!(sack(&mut board, 100, 900), 0);
        assert!(board.detect_losses(Duration::MAX));
        assert_eq!(board.first_lost(), Some((0, 100)));
    }

    #[test]
    fn a_lost_retransmission_is_found_by_what_overtook_it() {
        let mut board = with(6);
        sack(&mut board, 100, 400);
        board.detect_losses(Duration::MAX);
        board.resend_first_lost(Time::from_ps(10));
        board.push(Time::from_ps(100), 600, 100);
        sack(&mut board, 600, 700);
        assert!(!board.detect_losses(Duration::from_ps(200)));
        assert!(board.detect_losses(Duration::from_ps(50)));
        assert_eq!(board.first_lost(), Some((0, 100)));
    }

    #[test]
    fn a_timeout_spares_what_arrived() {
        let mut board = with(5);
        sack(&mut board, 300, 400);
        board.mark_all_lost();
        assert_eq!(board.in_flight(), Bytes::ZERO);
        let mut again = Vec::new();
        while let Some((offset, _)) = board.first_lost() {
            again.push(offset);
            board.resend_first_lost(Time::from_ps(9));
        }
        assert_eq!(again, [0, 100, 200, 400]);
    }
}
