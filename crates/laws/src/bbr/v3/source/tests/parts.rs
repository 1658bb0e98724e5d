//! Filters, windows and undone losses, by hand.

use ratewire_units::{Bytes, Duration};

use crate::bbr::delivery::Delivery;
use crate::bbr::tests::path::{MSS, at, source};
use crate::bbr::v3::max_bw::MaxBw;
use crate::bbr::v3::model::Model;
use crate::bbr::v3::source::{Bbr3Source, State};
use crate::bbr::{Bbr3, PacketNumber};
use crate::law::{Acked, Congestion, Signal, Source};
use crate::testing::acked;

fn bbr() -> Bbr3Source {
    *source::<Bbr3>(&[], 1)
}

/// An acknowledgement after so many milliseconds, of so many packets, with so many left.
fn ack(ms: u64, packets: u64, in_flight: u64) -> Acked {
    let in_flight = Bytes::new(in_flight * MSS);
    Acked { now: at(ms), bytes: Bytes::new(packets * MSS), in_flight, ..acked() }
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
fn what_was_acknowledged_before_idling_is_not_aggregated_with_what_comes_after() {
    let mut model = Model::default();
    let mut delivery = Delivery::default();
    let mut extra_after = |model: &mut Model, ms: u64, packets: u64, number| {
        delivery.on_send(at(ms - 40), packets * MSS, packets * MSS);
        let acked = ack(ms, packets, 0);
        let packet = delivery.on_ack(&acked, Some(PacketNumber(number))).unwrap();
        let rs = delivery.sample(&acked, &packet);
        // Values of the earlier rounds are forgotten.
        model.update_aggregation(&rs, f64::INFINITY, 20 * number, true);
        model.extra_acked / MSS as f64
    };
    assert_eq!(extra_after(&mut model, 40, 10, 0), 10.0);
    model.restart_aggregation(at(1000));
    assert_eq!(extra_after(&mut model, 1040, 3, 1), 3.0);
}

fn congestion(source: &mut Bbr3Source, signal: Signal) {
    let in_flight = Bytes::new(10 * MSS);
    let srtt = Duration::from_millis(100);
    source.on_congestion(&Congestion { now: at(100), signal, in_flight, srtt });
}

#[test]
fn a_timeout_leaves_one_packet_and_the_repair_restores_the_window() {
    let mut s = bbr();
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
    let mut s = bbr();
    assert_eq!(s.pacing_rate, 2.77 * (10 * MSS) as f64 / 1e-3);
    s.on_opened(at(50), Some(Duration::from_millis(50)), None);
    assert_eq!(s.pacing_rate, 2.77 * (10 * MSS) as f64 / 0.05);
    assert_eq!(s.model.min_rtt(), Some(0.05));
}

/// Marks are losses to the model: 3.7.
#[test]
fn a_marked_packet_counts_as_lost() {
    let mut s = bbr();
    s.delivery.on_send(at(0), MSS, MSS);
    s.on_ack(&Acked { marked: true, ..ack(100, 1, 0) }, Some(&PacketNumber(0)));
    assert_eq!((s.delivery.lost, s.delivery.delivered), (MSS, MSS));
}

/// 5.5.11.
#[test]
fn losses_that_were_none_leave_window_bounds_and_probe_as_they_were() {
    let mut s = bbr();
    s.full_pipe.reached = true;
    s.state = State::Up;
    s.model.inflight_longterm = 80.0;
    s.cycle.is_probe_sample = true;
    congestion(&mut s, Signal::Timeout);
    s.undo_state = Some(State::Up);
    s.start_down(at(100));
    s.model.inflight_longterm = 40.0;
    s.model.lower_bounds(10.0, 0.7);
    assert!(s.model.bw() < f64::INFINITY && s.model.inflight_shortterm < f64::INFINITY);
    s.on_spurious(at(200));
    assert_eq!((s.state, s.window()), (State::Refill, Bytes::new(10 * MSS)));
    assert_eq!((s.model.inflight_longterm, s.model.inflight_shortterm), (80.0, f64::INFINITY));
    assert_eq!(s.undo_state, None);
}

#[test]
fn losses_that_were_none_return_the_sender_to_startup() {
    let mut s = bbr();
    congestion(&mut s, Signal::Loss);
    s.undo_state = Some(State::Startup);
    s.full_pipe.reached = true;
    s.state = State::Drain;
    s.on_spurious(at(200));
    assert!(s.state == State::Startup && !s.full_pipe.reached);
    // A repair that was needed leaves nothing to return to.
    s.state = State::Drain;
    s.on_spurious(at(300));
    assert_eq!(s.state, State::Drain);
}
