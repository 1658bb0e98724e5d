//! The sender's part of a law.

use alloc::boxed::Box;
use alloc::string::String;

use ratewire_units::{Bytes, Duration, Rate, Throughput, Time};

use super::Draw;
use crate::reason::Reason;

/// A flow, as its source and sink see it at the start.
#[derive(Clone, Copy, Debug)]
pub struct FlowContext<'a> {
    /// Payload of a full-size packet.
    pub mss: Bytes,
    /// Network-layer size of a full-size packet, all headers included.
    pub packet: Bytes,
    /// Rate of the sender's own link.
    pub line_rate: Rate,
    /// Whether that link is paused when the queue that it fills has no room (802.3x, PFC). A host
    /// knows this.
    pub back_pressured: bool,
    /// Random number of this flow.
    pub draw: Draw<'a>,
}

/// A packet is about to be sent.
#[derive(Clone, Copy, Debug)]
pub struct Sending {
    /// Now.
    pub now: Time,
    /// Network-layer size of the packet.
    pub packet: Bytes,
    /// Payload outstanding, this packet included.
    pub in_flight: Bytes,
    /// The receiver's window, in payload bytes.
    pub receive_window: Bytes,
    /// Smoothed RTT, zero while unknown.
    pub srtt: Duration,
    /// Retransmission timeout in force (RFC 6298), zero while unknown.
    pub rto: Duration,
    /// Whether, since the last packet, the application or the receiver's window (and not this law)
    /// has kept the sender from sending.
    pub limited: bool,
}

/// An acknowledgement has arrived.
#[derive(Clone, Copy, Debug)]
pub struct Acked {
    /// Now.
    pub now: Time,
    /// Payload that this acknowledgement newly covers, cumulatively or selectively.
    pub bytes: Bytes,
    /// Payload still outstanding, after it.
    pub in_flight: Bytes,
    /// Payload that was outstanding, before it.
    pub was_in_flight: Bytes,
    /// RTT of the newest packet acknowledged; `None` if that packet was retransmitted (Karn).
    pub rtt: Option<Duration>,
    /// Smoothed RTT, with this sample.
    pub srtt: Duration,
    /// Stream offset up to which all is acknowledged.
    pub cumulative: u64,
    /// Stream offset of the next byte never sent.
    pub next: u64,
    /// The receiver's window, in payload bytes.
    pub receive_window: Bytes,
    /// Whether the application or the receiver's window keeps the sender from using its window.
    pub limited: bool,
    /// Whether the sender is repairing a loss.
    pub in_recovery: bool,
    /// Whether a packet that this acknowledgement covers was marked (ECN).
    pub marked: bool,
    /// Payload found lost since the acknowledgement before.
    pub lost: Bytes,
}

/// A sign of congestion.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Signal {
    /// Loss found by selective acknowledgements; recovery begins.
    Loss,
    /// A congestion mark (ECN), reported at most once a window.
    Mark,
    /// The retransmission timer expired.
    Timeout,
}

/// Congestion has been noticed.
#[derive(Clone, Copy, Debug)]
pub struct Congestion {
    /// Now.
    pub now: Time,
    /// The sign that was noticed.
    pub signal: Signal,
    /// Payload sent and not cumulatively acknowledged (FlightSize of RFC 5681), lost or not.
    pub in_flight: Bytes,
    /// Smoothed RTT, zero while unknown.
    pub srtt: Duration,
}

/// The sender's part of a law.
pub trait Source {
    /// The congestion header this law's packets carry.
    type Header;

    /// The packet that opens the flow leaves, if the transport opens flows. Returns its congestion
    /// header, `None` for none.
    fn on_open(&mut self, _now: Time) -> Option<Self::Header> {
        None
    }
    /// The answer to the opening packet arrived. `rtt` is `None` if that packet was sent twice.
    fn on_opened(&mut self, _now: Time, _rtt: Option<Duration>, _header: Option<&Self::Header>) {}
    /// A data packet leaves. Returns its congestion header, `None` for none.
    fn on_send(&mut self, sending: &Sending) -> Option<Self::Header>;
    /// An acknowledgement arrived, with its header if it carried one of this law.
    fn on_ack(&mut self, acked: &Acked, header: Option<&Self::Header>);
    /// Congestion was noticed: at most once a window for each loss or mark.
    fn on_congestion(&mut self, congestion: &Congestion);
    /// The repair of a loss is over: all data outstanding when it was noticed has arrived.
    fn on_recovered(&mut self, _now: Time) {}
    /// The last congestion by loss or timeout was none: packets had been late, and have arrived. A
    /// law that has slowed down goes back to where it was.
    fn on_spurious(&mut self, _now: Time) {}
    /// The window that the sender is to have when a loss has been repaired (`ssthresh` of RFC
    /// 5681); `None` for laws without one. With one, the transport lowers what is outstanding bit
    /// by bit until then (Proportional Rate Reduction, RFC 9937).
    fn slow_start_threshold(&self) -> Option<Bytes> {
        None
    }
    /// When to call [`Source::on_timer`]; [`Time::NEVER`] for not at all.
    ///
    /// The caller asks when the flow is open, when a time in the past means at once, and after
    /// `on_timer(now)`, when it must be later than `now`.
    fn next_timer(&self) -> Time {
        Time::NEVER
    }
    /// Handles the timer, which is due.
    fn on_timer(&mut self, _now: Time) {}
    /// Payload that may be outstanding, in bytes: at least a packet's, and below 2^62 unless
    /// [`Promises::bounded_window`](crate::Promises::bounded_window) is false.
    ///
    /// Window and pace of a law of this crate change in calls of its source only:
    /// [`AnySource`](crate::AnySource) keeps what they were after the last. Sources of other crates
    /// are asked each time.
    fn window(&self) -> Bytes;
    /// Network-layer rate at which to send, finite and not below 0; `None` to send as the window
    /// allows.
    ///
    /// A NaN or a negative rate ends a simulated run with an error at the next sample, or at the
    /// flow's end.
    fn pacing(&self) -> Option<Throughput> {
        None
    }
    /// Reason for the source's present rate: the equation that was used last, with its figures.
    ///
    /// Each of [`Reason::symbols`] needs a [`Figure`](crate::Figure) of its name.
    fn reason(&self) -> Reason;
    /// What the source has done that no law may do; the run then ends with an error that says so.
    ///
    /// For laws whose code the library cannot check, such as those of shared objects.
    fn fault(&self) -> Option<String> {
        None
    }
}

/// For laws with a large sender's part, because every flow takes the room of the largest part.
impl<S: Source + ?Sized> Source for Box<S> {
    type Header = S::Header;

    fn on_open(&mut self, now: Time) -> Option<S::Header> {
        S::on_open(self, now)
    }
    fn on_opened(&mut self, now: Time, rtt: Option<Duration>, header: Option<&S::Header>) {
        S::on_opened(self, now, rtt, header);
    }
    #[inline]
    fn on_send(&mut self, sending: &Sending) -> Option<S::Header> {
        S::on_send(self, sending)
    }
    #[inline]
    fn on_ack(&mut self, acked: &Acked, header: Option<&S::Header>) {
        S::on_ack(self, acked, header);
    }
    fn on_congestion(&mut self, congestion: &Congestion) {
        S::on_congestion(self, congestion);
    }
    fn on_recovered(&mut self, now: Time) {
        S::on_recovered(self, now);
    }
    fn on_spurious(&mut self, now: Time) {
        S::on_spurious(self, now);
    }
    fn slow_start_threshold(&self) -> Option<Bytes> {
        S::slow_start_threshold(self)
    }
    fn next_timer(&self) -> Time {
        S::next_timer(self)
    }
    fn on_timer(&mut self, now: Time) {
        S::on_timer(self, now);
    }
    #[inline]
    fn window(&self) -> Bytes {
        S::window(self)
    }
    #[inline]
    fn pacing(&self) -> Option<Throughput> {
        S::pacing(self)
    }
    fn reason(&self) -> Reason {
        S::reason(self)
    }
    fn fault(&self) -> Option<String> {
        S::fault(self)
    }
}
