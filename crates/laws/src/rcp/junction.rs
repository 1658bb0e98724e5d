//! What a junction reads and writes, of RCP and PIQI-RCP alike.
//!
//! The rate in a request is the flow's: it is split with the flow and summed with it. The rate that
//! comes back is the flow's on its way back.

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
