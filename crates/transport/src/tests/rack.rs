//! RACK-TLP, PRR, and repairs that are undone: `recovery = "rack"`.

use crate::testing::{Fate, Pipe, at, config, fixed, ms, newreno, packets};
use crate::{App, Recovery, TransportConfig};

fn rack() -> TransportConfig {
    TransportConfig { recovery: Recovery::Rack, ..config() }
}

/// A transfer of this many packets, of which some have another fate than the others.
fn transfer(size: u64, fates: impl IntoIterator<Item = (usize, Fate)>) -> Pipe {
    let mut pipe = Pipe::new(&newreno(), &rack(), &App::sized(packets(size)));
    pipe.data.extend(fates);
    pipe
}

#[test]
fn a_loss_is_found_as_soon_as_three_later_packets_have_arrived() {
    let mut pipe = transfer(60, [(4, Fate::Lost)]);
    pipe.run();
    assert_eq!(pipe.resent(), [(at(100), 4)]);
    let stats = pipe.sender.stats();
    assert_eq!((stats.timeouts, pipe.sender.undone()), (0, 0));
}

/// RFC 8985, section 6.2, step 4: with fewer than three packets beyond it, a hole has a quarter of
/// the least round trip.
#[test]
fn a_loss_before_the_last_packet_is_found_after_the_reordering_window() {
    let mut pipe = transfer(10, [(8, Fate::Lost)]);
    pipe.run();
    assert_eq!(pipe.resent(), [(at(125), 8)]);
}

/// RFC 8985, section 3.1: a retransmission that is lost is found by what was sent after it.
#[test]
fn a_retransmission_lost_again_is_found_without_a_timeout() {
    let law = fixed(10);
    let sized = || Pipe::new(&law, &rack(), &App::sized(packets(100)));
    let mut pipe = sized().losing([4]);
    pipe.run();
    let again = pipe.numbers_resent();
    let mut pipe = sized().losing([4]).losing(again);
    pipe.run();
    let resent = pipe.resent();
    assert_eq!((resent.len(), resent[1]), (2, (at(300), 4)), "{resent:?}");
    assert_eq!(pipe.sender.stats().timeouts, 0);
}

/// Eifel (RFC 3522): the first packet that is late counts as lost, and its arrival undoes the
/// repair. RACK has then seen packets in another order, and waits for the next.
#[test]
fn a_late_packet_costs_one_retransmission_and_no_window() {
    let late = |n| (n, Fate::Late(ms(20)));
    let mut pipe = transfer(600, [late(40), late(120), late(200), late(280)]);
    pipe.run_while(|pipe| pipe.resent().is_empty());
    let cut = pipe.window();
    pipe.run_while(|pipe| pipe.sender.undone() == 0);
    assert!(pipe.window() >= 1.9 * cut, "{} after {cut}", pipe.window());
    pipe.run();
    assert_eq!(pipe.resent().len(), 1, "{:?}", pipe.resent());
    assert_eq!((pipe.sender.undone(), pipe.sender.stats().timeouts), (1, 0));
}

/// RFC 8985, section 6.2, step 4: what arrives twice widens the window of reordering, by a quarter
/// of the least round trip at a time.
#[test]
fn the_reordering_window_widens_when_packets_arrive_twice() {
    let late = |n| (n, Fate::Late(ms(45)));
    let mut pipe = transfer(2000, (0..12).map(|k| late(100 + 150 * k)));
    pipe.run();
    let resent = pipe.resent().len();
    assert!((1..=3).contains(&resent), "{resent} of 12 packets that were late");
    assert_eq!(pipe.sender.stats().timeouts, 0);
}

/// F-RTO (RFC 5682): a path that stops for a second makes the timer expire. What was on its way
/// arrives then, and the window is what it was.
#[test]
fn a_timeout_by_a_delay_is_undone() {
    let mut pipe = transfer(110, (70..120).map(|n| (n, Fate::Late(ms(1000)))));
    pipe.run_while(|pipe| pipe.sender.stats().timeouts == 0);
    assert_eq!(pipe.window(), 1.0);
    pipe.run_while(|pipe| pipe.sender.undone() == 0);
    assert!(pipe.window() > 30.0, "{}", pipe.window());
    pipe.run();
    let again = pipe.resent().len();
    assert!(again <= 4, "{again} packets sent again, of 40 that were late");
}

/// One repair begins while copies of the one before are out: these are not originals that were
/// late.
#[test]
fn losses_that_follow_each_other_are_not_undone() {
    for every in 7..60 {
        let mut pipe = transfer(600, (40..600).step_by(every).map(|n| (n, Fate::Lost)));
        pipe.run();
        assert_eq!(pipe.sender.undone(), 0, "one in {every} lost");
    }
}

/// A timeout by losses is not undone.
#[test]
fn a_timeout_by_losses_stays() {
    let mut pipe = transfer(110, (70..112).map(|n| (n, Fate::Lost)));
    pipe.run();
    assert!(pipe.sender.stats().timeouts > 0);
    assert_eq!(pipe.sender.undone(), 0);
    assert!(pipe.resent().len() >= 40);
}

/// PRR: after heavy loss the sender replaces what arrives, and does not refill its window.
#[test]
fn a_repair_sends_no_more_than_has_arrived() {
    let mut pipe = transfer(2000, (140..200).map(|n| (n, Fate::Lost)));
    pipe.run_while(|pipe| pipe.resent().is_empty());
    let begun = pipe.now;
    let before = pipe.sent().count();
    let acknowledged = pipe.sender.acknowledged();
    pipe.run_to(begun + ms(90));
    let sent = pipe.sent().count() - before;
    let arrived = pipe.receiver.received().get() - acknowledged;
    assert!(packets(sent as u64).get() <= arrived + packets(2).get(), "{sent} packets");
    pipe.run();
}
