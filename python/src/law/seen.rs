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

/// A flow, as its law sees it at the start.
#[pyclass(frozen, get_all, module = "ratewire._ratewire")]
pub struct Flow {
    /// Payload of a full packet, bytes.
    mss: u64,
    /// A full packet with its headers, bytes.
    packet: u64,
    /// Rate of the sender's own link, bytes per second.
    line_rate: f64,
    /// Whether the sender's own link is paused when its queue is full.
    back_pressured: bool,
}

impl From<&laws::FlowContext<'_>> for Flow {
    fn from(flow: &laws::FlowContext) -> Flow {
        Flow {
            mss: flow.mss.get(),
            packet: flow.packet.get(),
            line_rate: flow.line_rate.throughput().get(),
            back_pressured: flow.back_pressured,
        }
    }
}

/// A link, as its port sees it at the start.
#[pyclass(frozen, get_all, module = "ratewire._ratewire")]
pub struct Link {
    /// Capacity, bytes per second.
    rate: f64,
    /// Propagation delay, seconds.
    delay: f64,
    /// Number of the port, unique in the network and not 0.
    id: u32,
}

impl From<&laws::LinkContext<'_>> for Link {
    fn from(link: &laws::LinkContext<'_>) -> Link {
        let rate = link.rate.throughput().get();
        Link { rate, delay: link.delay.secs(), id: link.id }
    }
}

/// A packet is about to be sent.
#[pyclass(frozen, get_all, module = "ratewire._ratewire")]
pub struct Sending {
    /// Seconds since the start of the run.
    now: f64,
    /// The packet with its headers, bytes.
    packet: u64,
    /// Payload outstanding, this packet included, bytes.
    in_flight: u64,
    /// The receiver's window, bytes of payload; `None` without a limit.
    receive_window: Option<u64>,
    /// Smoothed round-trip time, seconds; `None` while unknown.
    srtt: Option<f64>,
    /// Retransmission timeout, seconds; `None` while unknown.
    rto: Option<f64>,
    /// Whether the application or the receiver has kept the sender from sending.
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

/// An acknowledgement has arrived.
#[pyclass(frozen, get_all, module = "ratewire._ratewire")]
pub struct Ack {
    /// Seconds since the start of the run.
    now: f64,
    /// Payload newly acknowledged, cumulatively or selectively, bytes.
    bytes: u64,
    /// Payload outstanding after it, bytes.
    in_flight: u64,
    /// Payload outstanding before it, bytes.
    was_in_flight: u64,
    /// Round-trip time of the newest packet, seconds; `None` if that was sent twice (Karn).
    rtt: Option<f64>,
    /// Smoothed round-trip time with this sample, seconds.
    srtt: f64,
    /// Offset of the stream up to which all is acknowledged.
    cumulative: u64,
    /// Offset of the next byte never sent.
    next: u64,
    /// The receiver's window, bytes of payload; `None` without a limit.
    receive_window: Option<u64>,
    /// Payload found lost since the acknowledgement before, bytes.
    lost: u64,
    /// Whether the application or the receiver keeps the sender from using its window.
    limited: bool,
    /// Whether the sender is repairing a loss.
    in_recovery: bool,
    /// Whether a packet that it covers was marked (ECN).
    marked: bool,
    /// The congestion header, if it has one of this law.
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

/// Congestion was noticed.
#[pyclass(frozen, get_all, module = "ratewire._ratewire")]
pub struct Congestion {
    /// Seconds since the start of the run.
    now: f64,
    /// Payload sent and not cumulatively acknowledged (FlightSize of RFC 5681), bytes.
    in_flight: u64,
    /// Smoothed round-trip time, seconds; `None` while unknown.
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
    /// Seconds since the start of the run.
    pub now: f64,
    /// Length of the interval, seconds.
    pub seconds: f64,
    /// Acknowledgements.
    pub acks: u64,
    /// Payload newly acknowledged, bytes.
    pub acked: u64,
    /// Payload found lost, bytes.
    pub lost: u64,
    /// Acknowledgements of packets that were marked (ECN).
    pub marked: u64,
    /// Payload outstanding after the last acknowledgement, bytes.
    pub in_flight: u64,
    /// Mean round-trip time, seconds; `None` without a sample.
    pub rtt_mean: Option<f64>,
    /// Shortest round-trip time, seconds; `None` without a sample.
    pub rtt_min: Option<f64>,
    /// Smoothed round-trip time, seconds; `None` while unknown.
    pub srtt: Option<f64>,
    /// Whether the application or the receiver kept the sender from using its window.
    pub limited: bool,
    /// Whether the sender was repairing a loss at the last acknowledgement.
    pub in_recovery: bool,
}
