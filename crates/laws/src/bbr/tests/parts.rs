//! Rate samples, filters, random numbers and the sink, by hand.

use ratewire_units::{Bytes, Duration, Time};

use super::path::{MSS, at};
use crate::bbr::delivery::{Delivery, RateSample};
use crate::bbr::filter::RoundMax;
use crate::bbr::plateau::Plateau;
use crate::bbr::random::Random;
use crate::bbr::{BbrSink, PacketNumber};
use crate::law::{Acked, Draw, FlowContext, Sink};
use crate::testing::{FLOW, acked};

/// An acknowledgement after so many milliseconds, of so many packets, with so many left.
fn ack(ms: u64, packets: u64, in_flight: u64) -> Acked {
    let in_flight = Bytes::new(in_flight * MSS);
    Acked { now: at(ms), bytes: Bytes::new(packets * MSS), in_flight, ..acked() }
}

fn sample(delivery: &mut Delivery, acked: &Acked, number: u64) -> RateSample {
    let packet = delivery.on_ack(acked, Some(PacketNumber(number))).unwrap();
    delivery.sample(acked, &packet)
}

fn per_second(packets: u64, ms: u64) -> f64 {
    (packets * MSS) as f64 / Duration::from_millis(ms).secs()
}

#[test]
fn the_rate_is_what_was_delivered_over_the_longer_of_sending_and_acknowledging() {
    let mut d = Delivery::default();
    for (i, ms) in [0, 10, 20].into_iter().enumerate() {
        assert_eq!(d.on_send(at(ms), MSS, (i as u64 + 1) * MSS), PacketNumber(i as u64));
    }
    assert_eq!(sample(&mut d, &ack(100, 1, 2), 0).delivery_rate, per_second(1, 100));
    assert_eq!(sample(&mut d, &ack(115, 1, 1), 1).delivery_rate, per_second(2, 115));
    d.on_send(at(120), MSS, 2 * MSS);
    assert_eq!(sample(&mut d, &ack(125, 1, 1), 2).delivery_rate, per_second(3, 125));
    // Acknowledged 105 ms after the second; sent 110 ms after the second was.
    let rs = sample(&mut d, &ack(220, 1, 0), 3);
    assert_eq!(rs.delivery_rate, per_second(2, 110));
    assert_eq!((rs.rtt, rs.tx_in_flight), (0.1, (2 * MSS) as f64));

    // After an idle time sampling begins anew.
    d.on_send(at(5_000), MSS, MSS);
    assert_eq!(sample(&mut d, &ack(5_100, 1, 0), 4).delivery_rate, per_second(1, 100));
}

#[test]
fn a_bubble_marks_the_samples_of_a_round() {
    let mut d = Delivery::default();
    d.on_send(at(0), MSS, MSS);
    d.mark_app_limited(MSS);
    d.on_send(at(50), MSS, 2 * MSS);
    assert!(!sample(&mut d, &ack(100, 1, 1), 0).app_limited);
    d.on_send(at(110), MSS, 2 * MSS);
    assert!(sample(&mut d, &ack(150, 1, 1), 1).app_limited);
    d.on_send(at(160), MSS, 2 * MSS);
    assert!(sample(&mut d, &ack(210, 1, 1), 2).app_limited, "sent before the bubble was out");
    assert!(!sample(&mut d, &ack(260, 1, 0), 3).app_limited);
}

#[test]
fn the_oldest_that_have_not_arrived_are_lost() {
    let mut d = Delivery::default();
    for i in 0..6 {
        d.on_send(at(i), MSS, (i + 1) * MSS);
    }
    // One acknowledgement covers the first two; then 2 and 4 are missing.
    d.on_ack(&ack(100, 2, 4), Some(PacketNumber(1)));
    assert!(d.give_up(4 * MSS).is_none());
    d.on_ack(&ack(101, 1, 3), Some(PacketNumber(3)));
    d.on_ack(&ack(102, 1, 2), Some(PacketNumber(5)));
    assert!(d.give_up(2 * MSS).is_none());
    let (number, packet) = d.give_up(MSS).unwrap();
    assert_eq!((number, packet.in_flight), (PacketNumber(2), 3 * MSS));
    assert!(d.give_up(MSS).is_none());
    let (number, packet) = d.give_up(0).unwrap();
    assert_eq!((number, packet.in_flight), (PacketNumber(4), 5 * MSS));
    assert!(d.give_up(0).is_none());
    // Given up too early: it counts as delivered and gives no sample.
    assert!(d.on_ack(&ack(103, 1, 0), Some(PacketNumber(4))).is_none());
    assert_eq!(d.delivered, 5 * MSS);
    assert_eq!(d.on_send(at(200), MSS, MSS), PacketNumber(6));
}

#[test]
fn numbers_never_sent_and_acknowledgements_of_nothing_change_nothing() {
    let mut d = Delivery::default();
    assert!(d.on_ack(&ack(100, 1, 0), Some(PacketNumber(u64::MAX))).is_none());
    d.on_send(at(0), MSS, MSS);
    assert!(d.on_ack(&ack(100, 0, 1), Some(PacketNumber(0))).is_none());
    assert_eq!(d.delivered, MSS);
}

#[test]
fn the_aggregation_filter_looks_back_ten_rounds() {
    let mut filter = RoundMax::default();
    for (round, value) in [(1, 9.0), (2, 4.0), (11, 1.0)] {
        filter.update(round, value);
    }
    assert_eq!((filter.of_ten_rounds(), filter.of_one_round()), (9.0, 1.0));
    filter.update(12, 2.0);
    assert_eq!((filter.of_ten_rounds(), filter.of_one_round()), (4.0, 2.0));
    filter.update(u64::MAX, 0.5);
    assert_eq!(filter.of_ten_rounds(), 0.5);
}

#[test]
fn random_numbers_are_spread_and_of_the_flow() {
    let of = |number: u64| Random::of(&FlowContext { draw: Draw::new(number), ..FLOW });
    let (n, mut random) = (10_000, of(2));
    let mean = (0..n).map(|_| random.unit()).sum::<f64>() / f64::from(n);
    let ones = (0..n).filter(|_| random.next() & 1 == 1).count();
    assert!((mean - 0.5).abs() < 0.01, "{mean}");
    assert!((4_850..5_150).contains(&ones), "{ones}");
    assert_ne!(of(1).next(), of(2).next());
}

#[test]
fn the_sink_names_the_newest_packet_once() {
    let mut sink = BbrSink::default();
    assert_eq!(sink.on_ack(Time::ZERO), None);
    for number in [3, 5, 4] {
        sink.on_data(Time::ZERO, &PacketNumber(number));
    }
    assert_eq!(sink.on_ack(Time::ZERO), Some(PacketNumber(5)));
    assert_eq!(sink.on_ack(Time::ZERO), None);
}

#[test]
fn three_rounds_without_a_quarter_more_are_a_plateau() {
    let mut plateau = Plateau::default();
    let rounds = [10.0, 12.5, 15.6, 15.6, 15.6];
    assert_eq!(rounds.map(|rate| plateau.is_reached(rate)), [false, false, false, false, true]);
    plateau = Plateau::above(20.0);
    assert!(!plateau.is_reached(24.0) && !plateau.is_reached(24.9) && !plateau.is_reached(25.0));
    assert!([25.0; 2].iter().all(|rate| !plateau.is_reached(*rate)) && plateau.is_reached(25.0));
}
