//! What methods of Python's laws get. Times are in seconds, rates in bytes per second, sizes in
//! bytes.

use pyo3::prelude::*;
use pyo3::types::PyBytes;
use ratewire::laws;
use ratewire::units::{Bytes, Duration};

/// A number of bytes; `None` where there is no limit.
fn limit(bytes: Bytes) -> Option<u64> {
    (bytes != Bytes::MAX).then(|| bytes.get())
}

/// A time that may be unknown, which is zero.
fn known(time: Duration) -> Option<f64> {
    (!time.is_zero()).then(|| time.secs())
}

#[pyclass(frozen, get_all, module = "ratewire._ratewire")]
pub struct Flow {
    mss: u64,
    packet: u64,
    line_rate: f64,
    back_pressured: bool,
}

impl From<&laws::FlowContext> for Flow {
    fn from(flow: &laws::FlowContext) -> Flow {
        Flow {
            mss: flow.mss.get(),
            packet: flow.packet.get(),
            line_rate: flow.line_rate.throughput().get(),
            back_pressured: flow.back_pressured,
        }
    }
}

#[pyclass(frozen, get_all, module = "ratewire._ratewire")]
pub struct Link {
    rate: f64,
    delay: f64,
    id: u32,
}

impl From<&laws::LinkContext<'_>> for Link {
    fn from(link: &laws::LinkContext<'_>) -> Link {
        let rate = link.rate.throughput().get();
        Link { rate, delay: link.delay.secs(), id: link.id }
    }
}

#[pyclass(frozen, get_all, module = "ratewire._ratewire")]
pub struct Sending {
    now: f64,
    packet: u64,
    in_flight: u64,
    receive_window: Option<u64>,
    srtt: Option<f64>,
    rto: Option<f64>,
    limited: bool,
}

impl From<&laws::Sending> for Sending {
    fn from(sending: &laws::Sending) -> Sending {
        Sending {
            now: sending.now.secs(),
            packet: sending.packet.get(),
            in_flight: sending.in_flight.get(),
            receive_window: limit(sending.receive_window),
            srtt: known(sending.srtt),
            rto: known(sending.rto),
            limited: sending.limited,
        }
    }
}

#[pyclass(frozen, get_all, module = "ratewire._ratewire")]
pub struct Ack {
    now: f64,
    bytes: u64,
    in_flight: u64,
    was_in_flight: u64,
    rtt: Option<f64>,
    srtt: f64,
    cumulative: u64,
    next: u64,
    receive_window: Option<u64>,
    lost: u64,
    limited: bool,
    in_recovery: bool,
    marked: bool,
    header: Option<Py<PyBytes>>,
}

impl Ack {
    pub fn new(acked: &laws::Acked, header: Option<Py<PyBytes>>) -> Ack {
        Ack {
            now: acked.now.secs(),
            bytes: acked.bytes.get(),
            in_flight: acked.in_flight.get(),
            was_in_flight: acked.was_in_flight.get(),
            rtt: acked.rtt.map(Duration::secs),
            srtt: acked.srtt.secs(),
            cumulative: acked.cumulative,
            next: acked.next,
            receive_window: limit(acked.receive_window),
            lost: acked.lost.get(),
            limited: acked.limited,
            in_recovery: acked.in_recovery,
            marked: acked.marked,
            header,
        }
    }
}

#[pyclass(frozen, get_all, module = "ratewire._ratewire")]
pub struct Congestion {
    now: f64,
    in_flight: u64,
    srtt: Option<f64>,
}

impl From<&laws::Congestion> for Congestion {
    fn from(congestion: &laws::Congestion) -> Congestion {
        Congestion {
            now: congestion.now.secs(),
            in_flight: congestion.in_flight.get(),
            srtt: known(congestion.srtt),
        }
    }
}

/// What acknowledgements brought since the last interval.
#[pyclass(frozen, get_all, module = "ratewire._ratewire")]
#[derive(Clone, Debug, Default)]
pub struct Interval {
    pub now: f64,
    pub seconds: f64,
    pub acks: u64,
    pub acked: u64,
    pub lost: u64,
    pub marked: u64,
    pub in_flight: u64,
    pub rtt_mean: Option<f64>,
    pub rtt_min: Option<f64>,
    pub srtt: Option<f64>,
    pub limited: bool,
    pub in_recovery: bool,
}
