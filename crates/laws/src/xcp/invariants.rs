//! Quantities that an XCP port must conserve, and the sum that a sink returns.
//!
//! - When an interval begins, `left to give` less `left to take` is `F`.
//! - A packet is granted no more than its wish, and its grant is subtracted from these. With
//!   nothing left to give, no flow speeds up.
//! - A sink returns the sum of the packets' grants.
//!
//! In the draft a port may give more than is left in one case: the packet that takes the last of it
//! still gets its whole share.

use alloc::boxed::Box;

use ratewire_units::{Bytes, Throughput};
use ratewire_wire::xcp::{Draft, Format, XcpHeader};

use super::Xcp;
use crate::law::invariants::{GRAIN, close, figure};
use crate::law::{Books, Invariants, Promises};
use crate::reason::Reason;

impl Invariants for Xcp {
    type Header = XcpHeader;

    /// Draft -00 carries a rate in place of the law's time X. Beyond 10 Gbit/s the conversion is
    /// not exact.
    fn promises(&self) -> Promises {
        Promises { rounds_once: self.draft != Draft::V00, ..Promises::default() }
    }
    fn extremes(&self) -> &'static [&'static [(&'static str, &'static str)]] {
        &[
            &[("pacing", "false"), ("throughput", "outstanding"), ("after_loss", "stay-reno")],
            &[("throughput", "cwnd"), ("rtt_zero", "count"), ("cap_to_receive_window", "false")],
            &[("measure_capacity", "true"), ("probe", "1"), ("without_header", "hold")],
            &[("after_loss", "ignore"), ("queue_measure", "mean"), ("rtt_zero", "ignore")],
            &[("draft", "02"), ("capacity", "0 bit/s"), ("initial_interval", "1 us")],
            &[("draft", "00"), ("weight", "1000"), ("initial_window", "0 B")],
            &[("queue_cap", "2 packets"), ("memory", "0.999")],
            &[("queue_limit", "2 packets"), ("memory", "0.5")],
            &[("without_x", "keep"), ("feedback_scale", "10"), ("initial_cp", "1e9")],
            &[("without_x", "keep"), ("queue_cap", "2 packets"), ("packet_limit", "residue")],
            &[
                ("flow_control", "soft"),
                ("soft_decrease", "1"),
                ("soft_low", "1"),
                ("soft_high", "1"),
            ],
            &[("flow_control", "soft"), ("soft_low", "0"), ("soft_high", "0")],
        ]
    }
    fn returns(&self, header: &XcpHeader) -> bool {
        header.format == Format::Minimal
    }
    fn books(&self) -> Option<Box<dyn Books<Header = XcpHeader>>> {
        Some(Box::new(XcpBooks::default()))
    }
}

#[derive(Default)]
struct XcpBooks {
    /// Sum of grants that have arrived at the sink and were not returned.
    granted: Throughput,
}

impl Books for XcpBooks {
    type Header = XcpHeader;

    fn departed(
        &mut self,
        _: Bytes,
        (was, before): (&XcpHeader, &Reason),
        (is, after): (&XcpHeader, &Reason),
    ) {
        let [wish, granted] = [was, is].map(|header| header.delta_throughput.get());
        assert!(granted <= wish, "granted {granted} for a wish of {wish}");
        let [given, left] = [before, after].map(|reason| figure(reason, "left to give"));
        let [taken, owed] = [before, after].map(|reason| figure(reason, "left to take"));
        if given == 0.0 {
            assert!(granted <= 0.0, "granted {granted} of nothing");
        } else if left > 0.0 {
            let spent = (given - left) - (taken - owed);
            let scale = given + left + taken + owed + granted.abs();
            assert!(granted <= spent + GRAIN * scale, "granted {granted}, spent {spent}");
            // The sums are not equal if more was to be taken than was left, nor for a packet
            // without an RTT, which may be left out.
            let all_is_counted = owed > 0.0 || granted == wish;
            if all_is_counted && !was.rtt.is_zero() {
                close(granted, spent, scale, "granted of what was spent");
            }
        }
    }

    fn timer(&mut self, before: &Reason, after: &Reason) {
        let shares = ["F", "left to give", "left to take"];
        let [f, give, take] = shares.map(|name| figure(after, name));
        // The queue's timer changes none of the three.
        if shares.map(|name| figure(before, name)) != [f, give, take] {
            close(give - take, f, give + take, "left to give, less left to take");
        }
    }

    fn received(&mut self, header: &XcpHeader) {
        self.granted += header.delta_throughput;
    }

    fn answered(&mut self, header: &XcpHeader) {
        let granted = core::mem::take(&mut self.granted);
        assert_eq!(header.reverse_feedback, granted, "returned");
    }
}
