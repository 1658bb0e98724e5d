//! Headers of RCP and PIQI-RCP at a junction.
//!
//! The rate in a request is the flow's desired rate: the junction splits it with the flow, or sums
//! it. The rate in a reply is the flow's allowed rate.

use ratewire_units::{Bytes, Duration, Throughput};

use super::header::{Formats, RcpHeader, RcpKind};
use crate::junction::{Declared, Divisible, Feedback};

impl Divisible for Formats {
    type Header = RcpHeader;

    fn feedback(&self) -> Feedback {
        Feedback::Rate
    }
    fn declared(&self, header: &RcpHeader, _: Bytes) -> Option<Declared> {
        (header.kind == RcpKind::Request).then_some(Declared {
            rate: header.rate,
            rtt: header.rtt,
            wish: Throughput::ZERO,
        })
    }
    fn redeclare(&self, header: &mut RcpHeader, factor: f64, rtt: Duration) {
        header.rate = header.rate * factor;
        header.rtt = rtt;
    }
    fn fed_back(&self, header: &RcpHeader) -> Throughput {
        header.reverse_rate
    }
    fn feed_back(&self, header: &mut RcpHeader, feedback: Throughput) {
        header.reverse_rate = feedback;
    }
}
