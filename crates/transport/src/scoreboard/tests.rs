//! The scoreboard by itself.

use super::*;

impl Scoreboard {
    /// Checks that the counters agree with the packets, which follow each other up to `next`.
    pub(crate) fn check(&self, cumulative: u64, next: u64) {
        let bytes = |keep: fn(&Sent) -> bool| -> u64 {
            self.sent.iter().filter(|s| keep(s)).map(|s| u64::from(s.payload)).sum()
        };
        assert_eq!(self.in_flight, bytes(Sent::is_out));
        assert_eq!(self.lost, self.sent.iter().filter(|s| s.lost).count());
        assert_eq!(self.sacked, self.sent.iter().filter(|s| s.sacked).count());
        assert_eq!(self.again, self.sent.iter().filter(|s| s.again).count());
        assert!(self.sent.iter().all(|s| !(s.lost && s.sacked)));
        let lost = self.sent.iter().enumerate().filter(|(_, s)| s.lost);
        let listed: Vec<u64> = self.losses.iter().map(|index| index.0).collect();
        assert!(lost.map(|(at, _)| self.base + at as u64).all(|index| listed.contains(&index)));
        let mut end = self.sent.front().map_or(next, |front| front.offset);
        assert!(self.sent.front().is_none_or(|front| front.end() > cumulative));
        for (at, s) in self.sent.iter().enumerate() {
            assert_eq!(s.offset, end);
            end = s.end();
            if s.sacked {
                let run = s.sent_at_or_run.saturating_sub(self.base) as usize;
                assert!(run <= at && self.sent.range(run..=at).all(|s| s.sacked));
            }
        }
        assert_eq!(end, next);
    }
}

fn with(n: u64) -> Scoreboard {
    let mut board = Scoreboard::default();
    for i in 0..n {
        board.push(Time::from_ps(i), i * 100, 100);
    }
    board
}

fn covered() -> Covered {
    Scoreboard::default().covered(Time::ZERO, Duration::MAX)
}

fn sack(board: &mut Scoreboard, start: u64, end: u64) -> u64 {
    let mut covered = covered();
    board.acknowledge_range(start, end, &mut covered);
    covered.bytes
}

#[test]
fn three_arrivals_beyond_a_hole_make_it_lost() {
    let mut board = with(10);
    assert_eq!(sack(&mut board, 100, 300), 200);
    assert!(board.detect_losses(Duration::MAX).is_none());
    assert_eq!(sack(&mut board, 100, 400), 100, "the range known before is not counted again");
    assert!(board.detect_losses(Duration::MAX).is_some());
    assert_eq!(board.first_lost(), Some((0, 100)));
    assert_eq!(board.in_flight(), Bytes::new(600));
    board.resend_first_lost(Time::from_ps(50));
    assert_eq!(board.in_flight(), Bytes::new(700));
    assert_eq!(board.first_lost(), None);
    let mut covered = covered();
    board.acknowledge(400, &mut covered);
    assert_eq!((covered.bytes, covered.timed()), (100, None), "Karn: no sample from a second copy");
    assert_eq!(board.in_flight(), Bytes::new(600));
}

#[test]
fn a_range_that_swallows_others_is_walked_once() {
    let mut board = with(12);
    assert_eq!(sack(&mut board, 100, 300), 200);
    assert_eq!(sack(&mut board, 500, 700), 200);
    assert_eq!(sack(&mut board, 100, 900), 400, "packets 3, 4, 7 and 8 are new");
    assert_eq!(sack(&mut board, 100, 900), 0);
    assert!(board.detect_losses(Duration::MAX).is_some());
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
    assert!(board.detect_losses(Duration::from_ps(200)).is_none());
    assert!(board.detect_losses(Duration::from_ps(50)).is_some());
    assert_eq!(board.first_lost(), Some((0, 100)));
}

#[test]
fn copies_that_are_out_are_counted_and_probes_are_not() {
    let mut board = with(6);
    sack(&mut board, 200, 500);
    board.detect_losses(Duration::MAX);
    assert_eq!(board.copies_out(), 0);
    board.resend_first_lost(Time::from_ps(10));
    board.resend_first_lost(Time::from_ps(11));
    board.resend_last(Time::from_ps(12)).expect("the last has not arrived");
    assert_eq!(board.copies_out(), 2);
    sack(&mut board, 100, 200);
    assert_eq!(board.copies_out(), 1, "one has arrived");
    board.mark_all_lost();
    assert_eq!(board.copies_out(), 0);
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

#[test]
fn a_range_covers_the_packets_that_lie_in_it_whatever_their_lengths() {
    let equal = [100; 12];
    let unequal = [100, 100, 30, 1, 100, 200, 100, 7, 100, 100, 100, 60];
    let first_is_short = [1, 100, 100, 100, 100, 100, 100, 100, 100, 100, 100, 100];
    for lengths in [equal, unequal, first_is_short] {
        let mut board = Scoreboard::default();
        let mut next = 5_000;
        for length in lengths {
            board.push(Time::ZERO, next, length);
            next += u64::from(length);
        }
        for cumulative in [0, 5_230] {
            board.acknowledge(cumulative, &mut covered());
            for start in (4_990..next + 10).step_by(3) {
                let begin_below = board.sent.iter().filter(|s| s.offset < start).count();
                assert_eq!(board.before(start), begin_below, "{start}");
                for end in (start..next + 10).step_by(7) {
                    let bytes = board.sent.iter().filter(|s| s.offset >= start && s.end() <= end);
                    let bytes = bytes.map(|s| u64::from(s.payload)).sum();
                    assert_eq!(sack(&mut board.clone(), start, end), bytes, "{start} to {end}");
                }
            }
        }
    }
}

#[test]
fn the_rest_of_a_packet_is_what_a_range_must_cover() {
    let mut board = with(5);
    let mut told = covered();
    board.acknowledge(150, &mut told);
    assert_eq!((told.bytes, board.in_flight()), (150, Bytes::new(350)));
    board.check(150, 500);
    assert_eq!(sack(&mut board, 150, 200), 50, "all that was left of the second packet");
    board.check(150, 500);
    assert_eq!((board.in_flight(), board.has_sacked()), (Bytes::new(300), true));
    // What was selectively acknowledged is not counted again, and what is lost is not under way.
    let mut told = covered();
    board.acknowledge(180, &mut told);
    assert_eq!((told.bytes, board.in_flight()), (0, Bytes::new(300)));
    board.acknowledge(200, &mut covered());
    board.mark_all_lost();
    let mut told = covered();
    board.acknowledge(250, &mut told);
    assert_eq!((told.bytes, board.in_flight()), (50, Bytes::ZERO));
    assert_eq!(board.first_lost(), Some((250, 50)), "only the rest is sent again");
    board.check(250, 500);
}
