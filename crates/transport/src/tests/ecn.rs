//! Congestion marks.

use crate::testing::{Fate, MSS, Pipe, at, config, fixed, ms, newreno, packets};
use crate::{App, TransportConfig};

#[test]
fn each_marked_packet_is_echoed_once() {
    let mut pipe = Pipe::sized(&fixed(10), 30);
    pipe.data = [3, 4, 17].map(|n| (n, Fate::Marked)).into();
    pipe.run();
    let marked: Vec<usize> =
        pipe.answers().enumerate().filter(|(_, (_, ack))| ack.marked).map(|(n, _)| n).collect();
    assert_eq!(marked, [3, 4, 17]);
}

#[test]
fn an_acknowledgement_speaks_for_marked_or_for_unmarked_packets() {
    // Packet 2 waits for 3, which is marked: it is acknowledged by itself, and first.
    let delayed = TransportConfig { delayed_ack: Some(ms(40)), ..config() };
    let mut pipe = Pipe::new(&fixed(8), &delayed, &App::sized(packets(8)));
    pipe.data = [3, 4].map(|n| (n, Fate::Marked)).into();
    pipe.run();
    let answers: Vec<(u64, bool)> =
        pipe.answers().map(|(_, ack)| (ack.cumulative / MSS, ack.marked)).collect();
    assert_eq!(answers, [(2, false), (3, false), (4, true), (5, true), (7, false), (8, false)]);
}

#[test]
fn the_law_hears_of_marks_once_a_window() {
    // Packets 0 to 9 are one window; the sender's answer to the first mark begins at about 11.
    let window_after = |marked: &[usize]| {
        let mut pipe = Pipe::sized(&newreno(), 400);
        pipe.data = marked.iter().map(|n| (*n, Fate::Marked)).collect();
        pipe.run_to(at(199));
        pipe.window()
    };
    let once = window_after(&[0]);
    assert_eq!(once, 5.0);
    assert_eq!(window_after(&[0, 1, 5, 8]), once);
    assert_eq!(window_after(&[0, 9]), once, "the last packet of the window belongs to it");
    let mut pipe = Pipe::sized(&newreno(), 400);
    pipe.data = [(0, Fate::Marked), (10, Fate::Marked)].into();
    pipe.run_to(at(200));
    assert!(pipe.window() < 5.0, "{}: a window later it is news", pipe.window());
}

#[test]
fn laws_need_not_count_windows_themselves() {
    // XCP halves its window at each notification.
    let law = ratewire_laws::AnyLaw::new("xcp", &[("initial_window", "10 packets")]).unwrap();
    let window_after = |marked: &[usize]| {
        let mut pipe = Pipe::sized(&law, 400);
        pipe.data = marked.iter().map(|n| (*n, Fate::Marked)).collect();
        pipe.run_to(at(100));
        pipe.window()
    };
    assert!(window_after(&[0]) < window_after(&[]));
    assert_eq!(window_after(&[0, 4, 10]), window_after(&[0]), "the first window is eleven packets");
}

#[test]
fn a_loss_after_a_mark_is_told_and_marks_count_again_after_it() {
    let mut pipe = Pipe::sized(&newreno(), 400);
    pipe.data = [(0, Fate::Marked), (4, Fate::Lost), (5, Fate::Marked)].into();
    pipe.run_to(at(199));
    assert_eq!(pipe.window(), 5.0, "one answer for one window");
    assert_eq!(pipe.resent(), [(at(100), 4)]);
    pipe.run();
    assert_eq!(pipe.sender.stats().timeouts, 0);
    assert!(pipe.window() > 5.0, "{}: it grows again", pipe.window());
}

#[test]
fn a_tail_is_probed_while_a_mark_is_answered() {
    let mut pipe = Pipe::sized(&newreno(), 10).losing([9]);
    pipe.data.insert(8, Fate::Marked);
    pipe.run();
    assert_eq!((pipe.resent().len(), pipe.sender.stats().timeouts), (1, 0));
}
