//! The scoreboard alone.

use super::*;

fn with(n: u64) -> Scoreboard {
    let mut board = Scoreboard::default();
    for i in 0..n {
        board.push(Time::from_ps(i), i * 100, 100);
    }
    board
}

fn covered() -> Covered {
    Covered::new(Time::ZERO, Duration::MAX)
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
