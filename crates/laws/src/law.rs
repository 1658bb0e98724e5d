//! What every law implements, and what it is told.

use alloc::boxed::Box;
use alloc::string::String;
use alloc::vec::Vec;
use core::convert::Infallible;
use core::fmt;
use core::marker::PhantomData;

use ratewire_units::{Bytes, Duration, Rate, Throughput, Time};

use crate::junction::{Declared, Junction};
use crate::options::{OptionError, OptionSpec, Options};
use crate::reason::{Figure, Reason};
use crate::trust::{Claim, Grant, Hand, Lie};

/// Bytes that the longest congestion header takes.
pub const MAX_HEADER: usize = 64;

/// A law: its parameters, and how its three parts are made from them.
pub trait Law: Sized {
    /// The congestion header its packets carry, [`NoHeader`] if they carry none.
    type Header: Copy;
    /// The sender's part.
    type Source: Source<Header = Self::Header>;
    /// The router's part, [`NoPort`] if routers do not take part.
    type Port: Port<Header = Self::Header>;
    /// The receiver's part, [`NoSink`] if it only acknowledges.
    type Sink: Sink<Header = Self::Header>;

    /// Name, explanation and parameters.
    const INFO: LawInfo;

    /// Makes the law from its options, each present and within its range.
    ///
    /// # Errors
    /// When options contradict each other.
    fn from_options(options: &Options) -> Result<Self, OptionError>;
    /// The sender's part of a new flow.
    fn source(&self, flow: &FlowContext) -> Self::Source;
    /// The part at the output queue of a link; `None` if routers do not take part.
    fn port(&self, link: &LinkContext) -> Option<Self::Port>;
    /// The receiver's part of a new flow; `None` if it only acknowledges.
    fn sink(&self, flow: &FlowContext) -> Option<Self::Sink>;
    /// Bytes the congestion header adds to each packet.
    fn header_len(&self) -> Bytes {
        Bytes::ZERO
    }
    /// Whether its packets may be marked (ECN) whatever the scenario says of the transport.
    fn marks(&self) -> bool {
        false
    }
    /// Writes a header of a packet of that size to the front of `bytes`; returns its length, 0 for a
    /// law whose packets carry none on the wire.
    fn encode(&self, _: &Self::Header, _packet: Bytes, _bytes: &mut [u8; MAX_HEADER]) -> usize {
        0
    }
    /// Reads a header.
    ///
    /// # Errors
    /// When the bytes are not one; always for a law without.
    fn decode(&self, _bytes: &[u8], _packet: Bytes) -> Result<Self::Header, HeaderError> {
        Err(HeaderError::new("this law's packets carry no congestion header"))
    }
    /// Passes a header through its bytes, so that quantisation is felt (`wire = "exact"`).
    fn quantise(&self, header: Self::Header, packet: Bytes) -> Self::Header {
        let mut bytes = [0; MAX_HEADER];
        let len = self.encode(&header, packet, &mut bytes);
        if len == 0 { header } else { self.decode(&bytes[..len], packet).unwrap_or(header) }
    }
    /// A header's fields, for people.
    fn fields(&self, _header: &Self::Header) -> Vec<Figure> {
        Vec::new()
    }
    /// The keys of [`Lie`] that its hosts can lie with; the others change nothing.
    fn lies(&self) -> &'static [&'static str] {
        &[]
    }
    /// Why a policer cannot hold its senders to anything; `None` if it can.
    fn unpoliced(&self) -> Option<&'static str> {
        Some("its packets carry no congestion header")
    }
    /// Falsifies a header as dishonest hosts would; what a law's headers do not say cannot be lied about.
    fn falsify(&self, _header: &mut Self::Header, _lie: &Lie, _hand: Hand) {}
    /// What a header says of its flow that its packets may belie; `None` if it says nothing.
    fn claim(&self, _header: &Self::Header) -> Option<Claim> {
        None
    }
    /// Writes into a header the spacing that it should have claimed.
    fn correct(&self, _header: &mut Self::Header, _spacing: Duration) {}
    /// What a header that a port lets go permits its sender; `None` if it says nothing.
    fn grant(&self, _header: &Self::Header) -> Option<Grant> {
        None
    }
    /// How a junction, which splits one flow into many or merges many into one, treats its headers.
    fn junction(&self) -> Junction {
        // A header of no size is one that no packet has.
        if size_of::<Self::Header>() == 0 { Junction::Untouched } else { Junction::Refuses }
    }
    /// Why a junction cannot, where it refuses.
    fn unjoined(&self) -> &'static str {
        "what its headers say holds for one flow from end to end, and cannot be split among members or merged"
    }
    /// What a data header says of its flow to a junction; `None` if it says nothing.
    fn declared(&self, _header: &Self::Header, _packet: Bytes) -> Option<Declared> {
        None
    }
    /// Makes a data header that of a flow `factor` times as fast, whose round trip is `rtt`.
    fn redeclare(&self, _header: &mut Self::Header, _factor: f64, _rtt: Duration) {}
    /// What an acknowledgement's header feeds back; `None` if nothing.
    fn fed_back(&self, _header: &Self::Header) -> Option<Throughput> {
        None
    }
    /// Writes what an acknowledgement's header feeds back.
    fn feed_back(&self, _header: &mut Self::Header, _feedback: Throughput) {}
}

/// Why bytes are not a law's congestion header.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HeaderError {
    /// What is wrong.
    pub message: String,
}

impl HeaderError {
    /// An error that says this.
    pub fn new(message: impl Into<String>) -> HeaderError {
        HeaderError { message: message.into() }
    }
}

impl fmt::Display for HeaderError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)
    }
}
impl core::error::Error for HeaderError {}

/// What a law is called, says of itself, and can be told.
#[derive(Debug)]
pub struct LawInfo {
    /// As written in scenarios and on the command line.
    pub name: &'static str,
    /// As written in prose: `XCP`, `NewReno`.
    pub title: &'static str,
    /// One line.
    pub summary: &'static str,
    /// The law in prose: idea, equations, sources, deliberate differences. Printed by
    /// `ratewire explain`.
    pub explanation: &'static str,
    /// What its port works out for a packet, as its papers count: `3 additions`. Empty where routers
    /// take no part or no paper counts.
    pub operations: &'static str,
    /// Its parameters, in the order they are documented.
    pub options: &'static [OptionSpec],
}

/// What a source and sink may know about their flow when it starts.
#[derive(Clone, Copy, Debug)]
pub struct FlowContext {
    /// Payload of a full-size packet.
    pub mss: Bytes,
    /// Network-layer size of a full-size packet, all headers included.
    pub packet: Bytes,
    /// Rate of the sender's own link.
    pub line_rate: Rate,
    /// Whether that link is paused when what it fills has no room (802.3x, PFC): a host knows.
    pub back_pressured: bool,
}

/// What a port may know about its link when it is made.
#[derive(Clone, Copy, Debug)]
pub struct LinkContext {
    /// Capacity.
    pub rate: Rate,
    /// Propagation delay.
    pub delay: Duration,
    /// Tells the ports of a network apart; 0 is no port's.
    pub id: u32,
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
    /// RTT of the newest packet it covers; `None` where that was retransmitted (Karn).
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
    /// Whether a packet it covers was marked (ECN).
    pub marked: bool,
    /// Payload found lost since the acknowledgement before.
    pub lost: Bytes,
}

/// What tells of congestion.
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
    /// How it was noticed.
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

    /// The packet that opens the flow leaves, in a transport that opens flows; returns its congestion
    /// header.
    fn on_open(&mut self, _now: Time) -> Option<Self::Header> {
        None
    }
    /// The answer to it arrived, `rtt` after it unless it was sent twice.
    fn on_opened(&mut self, _now: Time, _rtt: Option<Duration>, _header: Option<&Self::Header>) {}
    /// A data packet leaves; returns its congestion header.
    fn on_send(&mut self, sending: &Sending) -> Option<Self::Header>;
    /// An acknowledgement arrived, with the header it carried, if any.
    fn on_ack(&mut self, acked: &Acked, header: Option<&Self::Header>);
    /// Congestion was noticed: at most once a window for each loss or mark.
    fn on_congestion(&mut self, congestion: &Congestion);
    /// All that was outstanding when the loss was noticed is repaired.
    fn on_recovered(&mut self, _now: Time) {}
    /// Payload that may be outstanding.
    fn window(&self) -> Bytes;
    /// Network-layer speed at which to send; `None` to send as the window allows.
    fn pacing(&self) -> Option<Throughput>;
    /// Why it sends at this rate: the equation that was used last, with its figures.
    fn reason(&self) -> Reason;
}

/// For laws whose sender's part is large: all flows take the room of the largest.
impl<S: Source> Source for Box<S> {
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
}

/// Packets waiting at a port, without the one being sent.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct PortQueue {
    /// Their network-layer bytes.
    pub bytes: Bytes,
    /// Their number.
    pub packets: u32,
}

/// The router's part of a law, at one output queue.
///
/// Calls come in order of time. `header` is `None` for packets of other laws, which still count as
/// traffic. The caller asks [`Port::next_timer`] when the port is made and after
/// [`Port::on_timer`] and [`Port::on_rate_change`]: packets, of which there are many, do not move it.
pub trait Port {
    /// The congestion header it reads and writes.
    type Header;

    /// A packet has arrived for the queue (it may yet be dropped).
    fn on_arrival(
        &mut self,
        now: Time,
        size: Bytes,
        header: Option<&mut Self::Header>,
        queue: PortQueue,
    );
    /// Whether to mark the packet that has just arrived, which may be marked (ECN).
    fn mark(&mut self, _now: Time, _size: Bytes, _queue: PortQueue) -> bool {
        false
    }
    /// A packet leaves the queue; its transmission starts.
    fn on_departure(
        &mut self,
        now: Time,
        size: Bytes,
        header: Option<&mut Self::Header>,
        queue: PortQueue,
    );
    /// When [`Port::on_timer`] wants to be called; [`Time::NEVER`] for not at all.
    fn next_timer(&self) -> Time;
    /// The timer is due.
    fn on_timer(&mut self, now: Time, queue: PortQueue);
    /// The link's rate has changed.
    fn on_rate_change(&mut self, now: Time, rate: Rate);
    /// Why it answers packets as it does now: its equation, with its figures.
    fn reason(&self) -> Reason;
}

/// A receive buffer, for sinks that hold senders back by it.
#[derive(Clone, Copy, Debug)]
pub struct Buffer {
    /// Payload that fits into it.
    pub size: Bytes,
    /// Payload that has arrived and was not read.
    pub unread: Bytes,
    /// Payload that was read since the flow began.
    pub read: Bytes,
    /// Packets that found no room since the flow began.
    pub refused: u64,
}

/// The receiver's part of a law.
pub trait Sink {
    /// The congestion header it reads and writes.
    type Header;

    /// Whether it holds the sender back by what is in the receive buffer, so that the receiver need not:
    /// it is told of the buffer, and the receiver always advertises all of it and drops what finds no
    /// room.
    fn watches_buffer(&self) -> bool {
        false
    }
    /// A data packet with this payload has come to the receive buffer; before [`Sink::on_data`].
    fn on_buffer(&mut self, _now: Time, _payload: Bytes, _buffer: &Buffer) {}

    /// A data packet, or the packet that opens the flow, arrived with this header.
    fn on_data(&mut self, now: Time, header: &Self::Header);
    /// An acknowledgement leaves; returns its header.
    fn on_ack(&mut self, now: Time) -> Option<Self::Header>;
}

/// For laws whose packets carry no congestion header.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum NoHeader {}

/// For laws in which routers take no part; `H` is the header that they pass on unread.
#[derive(Clone, Debug)]
pub struct NoPort<H = NoHeader> {
    never: Infallible,
    header: PhantomData<H>,
}

impl<H> Port for NoPort<H> {
    type Header = H;
    fn on_arrival(&mut self, _: Time, _: Bytes, _: Option<&mut H>, _: PortQueue) {
        match self.never {}
    }
    fn on_departure(&mut self, _: Time, _: Bytes, _: Option<&mut H>, _: PortQueue) {
        match self.never {}
    }
    fn next_timer(&self) -> Time {
        match self.never {}
    }
    fn on_timer(&mut self, _: Time, _: PortQueue) {
        match self.never {}
    }
    fn on_rate_change(&mut self, _: Time, _: Rate) {
        match self.never {}
    }
    fn reason(&self) -> Reason {
        match self.never {}
    }
}

/// For laws whose receivers only acknowledge.
#[derive(Clone, Debug)]
pub enum NoSink {}

impl Sink for NoSink {
    type Header = NoHeader;
    fn on_data(&mut self, _: Time, _: &NoHeader) {
        match *self {}
    }
    fn on_ack(&mut self, _: Time) -> Option<NoHeader> {
        match *self {}
    }
}
