//! The five cases, epoch by epoch, on a buffer made by hand.

use super::*;
use crate::law::{Draw, Named};
use crate::options::Options;

const PAYLOAD: Bytes = Bytes::new(1000);
/// Time between two looks at an epoch. Headers state a slightly shorter RTT, so that the epoch is
/// over by then.
const EPOCH: Duration = Duration::from_millis(100);
const RTT: Duration = Duration::from_micros(99_900);
const SIZE: u64 = 200;
/// A packet a round trip, in B/s.
const SEGMENT: f64 = 1040.0 / 0.0999;

struct Rig {
    soft: Soft,
    payload: Bytes,
    now: Time,
    read: u64,
    refused: u64,
}

impl Rig {
    fn new() -> Rig {
        Rig::of(PAYLOAD, PAYLOAD, Bytes::new(1040))
    }

    /// A receiver of packets with this payload, of at most `mss`.
    fn of(payload: Bytes, mss: Bytes, packet: Bytes) -> Rig {
        let law = Xcp::from_options(&Options::defaults(Xcp::INFO.options)).unwrap();
        let flow = FlowContext {
            mss,
            packet,
            line_rate: ratewire_units::Rate::from_mbps(100),
            back_pressured: false,
            draw: Draw::new(0),
        };
        let soft = Soft::new(&law, &flow);
        let mut rig = Rig { soft, payload, now: Time::ZERO, read: 0, refused: 0 };
        // The first epoch lasts 50 ms; nothing is read in it.
        rig.epoch(1, 0, 0);
        rig.now = Time::ZERO + EPOCH / 2;
        rig
    }

    /// Runs an epoch of 100 ms in which `come` packets arrive, `read` are read, and `wait` are
    /// always unread. Returns the sum of the grants.
    fn epoch(&mut self, come: u64, read: u64, wait: u64) -> f64 {
        let mut granted = 0.0;
        let start = self.now;
        for i in 0..come {
            self.now = start + EPOCH * i / come;
            let buffer = Buffer {
                size: self.payload * SIZE,
                unread: self.payload * wait,
                read: self.payload * (self.read + read * i / come),
                refused: self.refused,
            };
            self.soft.observe(self.now, self.payload, &buffer);
            granted += self.soft.grant(RTT, 1e9);
        }
        self.now = start + EPOCH;
        self.read += read;
        granted
    }

    /// Target after such an epoch, from a target of 100, in packets a round trip.
    fn after(come: u64, read: u64, wait: u64, refused: u64) -> f64 {
        let mut rig = Rig::new();
        rig.epoch(100, 100, 0);
        rig.epoch(come, read, wait);
        rig.soft.target = 100.0 * SEGMENT;
        rig.refused += refused;
        rig.epoch(1, 0, 0);
        rig.soft.target / SEGMENT
    }
}

fn near(a: f64, b: f64) {
    assert!((a - b).abs() < 1e-6, "{a} is not {b}");
}

#[test]
fn each_case_moves_the_target_its_way() {
    near(Rig::after(80, 0, 10, 0), 1.0);
    near(Rig::after(80, 80, 10, 1), 50.0);
    near(Rig::after(80, 80, 101, 0), 90.0);
    near(Rig::after(49, 49, 10, 0), 100.0);
    near(Rig::after(80, 80, 10, 0), 102.0);
    // Reading does not keep up, or the buffer is between its marks.
    near(Rig::after(80, 79, 10, 0), 100.0);
    near(Rig::after(80, 80, 80, 0), 100.0);
}

/// Frames of 1 KiB with ACP's sizes, of which sums in floating point exceed products.
#[test]
fn reading_keeps_up_if_all_is_read_whatever_the_sizes() {
    // 181 are a buffer a round trip.
    for come in 1..=180 {
        let mut rig = Rig::of(Bytes::new(1025), Bytes::new(1132), Bytes::new(1228));
        rig.epoch(come, come, 0);
        rig.epoch(come, come, 0);
        rig.soft.target = come as f64 * rig.soft.packet / RTT.secs();
        let before = rig.soft.target;
        rig.epoch(1, 1, 0);
        assert!(rig.soft.target > before, "{come} packets");
    }
}

#[test]
fn no_more_than_a_buffer_a_round_trip() {
    let mut rig = Rig::new();
    for _ in 0..150 {
        let come = (rig.soft.target / SEGMENT) as u64;
        rig.epoch(come, come, 0);
    }
    near(rig.soft.target / SEGMENT, SIZE as f64);
}

#[test]
fn what_is_given_out_in_an_epoch_is_the_change() {
    let mut rig = Rig::new();
    for (come, wait) in [(60, 0), (100, 60), (150, 10)] {
        rig.soft.target = 100.0 * SEGMENT;
        rig.epoch(come, come, wait);
        rig.soft.target = 100.0 * SEGMENT;
        let granted = rig.epoch(come, come, wait);
        // The target at the start of the epoch, with 2 segments more or none.
        let target = rig.soft.target;
        let queue = wait as f64 * 1040.0;
        let change = 0.4 * (target - come as f64 * 10_400.0) - 0.226 * queue / 0.0999;
        assert!((granted - change).abs() < 1e-3 * change.abs(), "{granted} {change}");
    }
}

#[test]
fn the_marks_of_the_buffer_are_in_order() {
    let made = |low: &'static str, high: &'static str| {
        crate::AnyLaw::new("xcp", &[("soft_low", low), ("soft_high", high)])
    };
    assert_eq!(made("0.6", "0.5").expect_err("no order").option, "soft_high");
    assert!(made("0.5", "0.5").is_ok());
}
