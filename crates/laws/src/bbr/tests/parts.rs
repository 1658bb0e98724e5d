//! Rate samples, filters, waits and the sink, by hand.

use ratewire_units::{Bytes, Duration, Time};

use super::path::{MSS, at, bbr};
use crate::bbr::delivery::{Delivery, RateSample};
use crate::bbr::filter::{MaxBw, RoundMax};
use crate::bbr::model::Model;
use crate::bbr::probe_bw::mix;
use crate::bbr::source::BbrSource;
use crate::bbr::{BbrSink, PacketNumber};
use crate::law::{Acked, Congestion, Signal, Sink, Source};
use crate::testing::acked;

/// An acknowledgement after so many milliseconds, of so many packets, with so many left.
fn ack(ms: u64, packets: u64, in_flight: u64) -> Acked {
    let in_flight = Bytes::new(in_flight * MSS);
    Acked { now: at(ms), bytes: Bytes::new(packets * MSS), in_flight, ..acked() }
}

fn sample(delivery: &mut Delivery, acked: &Acked, number: u64) -> RateSample {
    let packet = delivery.on_ack(acked, PacketNumber(number)).unwrap();
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
    d.on_ack(&ack(100, 2, 4), PacketNumber(1));
    assert!(d.give_up(4 * MSS).is_none());
    d.on_ack(&ack(101, 1, 3), PacketNumber(3));
    d.on_ack(&ack(102, 1, 2), PacketNumber(5));
    assert!(d.give_up(2 * MSS).is_none());
    let (number, packet) = d.give_up(MSS).unwrap();
    assert_eq!((number, packet.in_flight), (PacketNumber(2), 3 * MSS));
    assert!(d.give_up(MSS).is_none());
    let (number, packet) = d.give_up(0).unwrap();
    assert_eq!((number, packet.in_flight), (PacketNumber(4), 5 * MSS));
    assert!(d.give_up(0).is_none());
    // Given up too early: it counts as delivered and gives no sample.
    assert!(d.on_ack(&ack(103, 1, 0), PacketNumber(4)).is_none());
    assert_eq!(d.delivered, 5 * MSS);
    assert_eq!(d.on_send(at(200), MSS, MSS), PacketNumber(6));
}

#[test]
fn numbers_never_sent_and_acknowledgements_of_nothing_change_nothing() {
    let mut d = Delivery::default();
    assert!(d.on_ack(&ack(100, 1, 0), PacketNumber(u64::MAX)).is_none());
    d.on_send(at(0), MSS, MSS);
    assert!(d.on_ack(&ack(100, 0, 1), PacketNumber(0)).is_none());
    assert_eq!(d.delivered, MSS);
}

#[test]
fn the_bandwidth_filter_holds_this_cycle_and_the_last() {
    let mut filter = MaxBw::default();
    filter.update(10.0);
    filter.advance();
    filter.update(7.0);
    assert_eq!(filter.get(), 10.0);
    filter.advance();
    assert_eq!(filter.get(), 7.0);
    // Nothing was measured in this cycle.
    filter.advance();
    assert_eq!(filter.get(), 7.0);
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
fn what_was_acknowledged_before_idling_is_not_aggregated_with_what_comes_after() {
    let mut model = Model::default();
    let mut delivery = Delivery::default();
    let mut extra_after = |model: &mut Model, ms: u64, packets: u64, number| {
        delivery.on_send(at(ms - 40), packets * MSS, packets * MSS);
        let rs = sample(&mut delivery, &ack(ms, packets, 0), number);
        // Values of the earlier rounds are forgotten.
        model.update_aggregation(&rs, f64::INFINITY, 20 * number, true);
        model.extra_acked / MSS as f64
    };
    assert_eq!(extra_after(&mut model, 40, 10, 0), 10.0);
    model.restart_aggregation(at(1000));
    assert_eq!(extra_after(&mut model, 1040, 3, 1), 3.0);
}

#[test]
fn waits_differ_as_if_drawn() {
    let n = 10_000;
    let share = |i: u64| (mix(mix(i)) >> 11) as f64 / (1u64 << 53) as f64;
    let mean = (0..n).map(share).sum::<f64>() / n as f64;
    let ones = (0..n).filter(|i| mix(mix(*i)) & 1 == 1).count();
    assert!((mean - 0.5).abs() < 0.01, "{mean}");
    assert!((4_850..5_150).contains(&ones), "{ones}");
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

fn congestion(source: &mut BbrSource, signal: Signal) {
    let in_flight = Bytes::new(10 * MSS);
    let srtt = Duration::from_millis(100);
    source.on_congestion(&Congestion { now: at(100), signal, in_flight, srtt });
}

#[test]
fn a_timeout_leaves_one_packet_and_the_repair_restores_the_window() {
    let mut s = bbr(&[], 1);
    congestion(&mut s, Signal::Mark);
    congestion(&mut s, Signal::Loss);
    assert_eq!(s.window(), Bytes::new(10 * MSS));
    congestion(&mut s, Signal::Timeout);
    assert_eq!(s.window(), Bytes::new(MSS));
    s.on_recovered(at(300));
    assert_eq!(s.window(), Bytes::new(10 * MSS));
}

#[test]
fn the_first_pace_is_that_of_the_initial_window_and_the_first_rtt() {
    let mut s = bbr(&[], 1);
    assert_eq!(s.pacing_rate, 2.77 * (10 * MSS) as f64 / 1e-3);
    s.on_opened(at(50), Some(Duration::from_millis(50)), None);
    assert_eq!(s.pacing_rate, 2.77 * (10 * MSS) as f64 / 0.05);
    assert_eq!(s.model.min_rtt(), Some(0.05));
}

/// Marks are losses to the model: 3.7.
#[test]
fn a_marked_packet_counts_as_lost() {
    let mut s = bbr(&[], 1);
    s.delivery.on_send(at(0), MSS, MSS);
    s.on_ack(&Acked { marked: true, ..ack(100, 1, 0) }, Some(&PacketNumber(0)));
    assert_eq!((s.delivery.lost, s.delivery.delivered), (MSS, MSS));
}
