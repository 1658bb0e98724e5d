//! What a junction reads and writes, of RCP and PIQI-RCP alike: the rate is the flow's, split with it and
//! summed with it; the rate that comes back is the same on its way back.

use ratewire_units::{Duration, Throughput};

use super::header::{Kind, RcpHeader};
use crate::junction::Declared;

pub(crate) fn declared(header: &RcpHeader) -> Option<Declared> {
    (header.kind == Kind::Request).then_some(Declared {
        rate: header.rate,
        rtt: header.rtt,
        wish: Throughput::ZERO,
    })
}

pub(crate) fn redeclare(header: &mut RcpHeader, factor: f64, rtt: Duration) {
    header.rate = header.rate * factor;
    header.rtt = rtt;
}
