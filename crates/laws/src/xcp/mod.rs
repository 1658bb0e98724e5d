//! XCP, the eXplicit Control Protocol (Katabi, Handley, Rohrs, SIGCOMM 2002;
//! draft-falk-xcp-spec-03).
//!
//! Senders write their inter-packet time `X`, their RTT and a wish into each packet. Routers lower
//! the wish to their allotment. The receiver returns it. Units: bytes, seconds, bytes per second.
//!
//! # Sender (draft -03, section 4.1)
//! - `X = SRTT / packets in a window`, 0 while the RTT is unknown: no positive feedback then.
//! - wish per packet `Delta = (desired - throughput) / (throughput * RTT / packet)`.
//! - feedback `f` on an acknowledgement: `cwnd = max(cwnd + f * RTT, packet)`.
//! - aging (section 4.1.3.1), each RTT in which less was sent than allowed:
//!   `allowed = (1 - p) * allowed + p * actual`.
//!
//! # Router (section 4.2), one port per output queue
//! - arrival: `input += size`, `sum_x += X`, `sum_xrtt += X * min(RTT, max_interval)`.
//! - each control interval:
//!   `F = alpha * (C - input/T) - beta * queue / avg_rtt`,
//!   `shuffled = max(0, gamma * input/T - |F|)`,
//!   `Cp = (shuffled + max(F, 0)) / sum_x`, `Cn = (shuffled + max(-F, 0)) / input`.
//! - departure: `feedback = Cp * X - Cn * size`; a packet leaves with the smaller of its wish and
//!   this. The part that an upstream router has already refused goes to other packets.
//! - the persistent queue is the minimum over its own, shorter timer.
//!
//! Stable for `0 < alpha < pi / (4 sqrt 2) = 0.555` with `beta = alpha^2 sqrt 2` (SIGCOMM, sec. 4).
//!
//! # Receiver
//! Returns the sum of the feedback that arrived. With `flow_control = "soft"` its buffer acts as
//! one more router on the path (`soft.rs`, after the Anypoint paper).
//!
//! # Deliberate differences from draft -03
//! - `X` of a sender that fills its window is `SRTT * packet / cwnd`; a sender short of data or of
//!   receiver's window measures it over its last RTT (`throughput = "measured"`). The draft leaves
//!   the choice open; both variants it names can be chosen.
//! - Packets of RTT 0 are kept out of the mean RTT but not out of `sum_x`
//!   (`rtt_zero = "separate"`): the draft's text accepts them and its notes ignore them.
//! - No packet gets more than the whole positive feedback of its interval. After a link has stood
//!   still for a second, a lone packet's `X` is so long that the draft's `Cp X` is many times that.
//!   The packet's long RTT then turns it into a large window. ns-2 clips to the rest of the
//!   positive feedback (`packet_limit = "residue"`), so the last packet of an interval gets less
//!   than in the draft.
//! - `initial_spread` and `whole_window` come from ns-2 and are off by default: the draft has
//!   neither.
//! - After an interval without any `X` the draft divides by 0; here `Cp` is 0 (`without_x`). Once a
//!   packet with an RTT beyond `max_interval` arrives, `Cp` is as for one flow: otherwise a flow of
//!   one packet an RTT would never be given anything.
//! - `without_x = "keep"`, `feedback_scale` and `initial_cp` come from ModelNet's port (Duke 2003,
//!   mn_xcp.c), and are off by default. `explain.md` lists the other options of that port.
//! - `avg_rtt` is never below `min_interval`, so `beta * queue / avg_rtt` cannot divide by zero.
//! - After a loss the window is halved, feedback does not grow it beyond that until the loss is
//!   repaired, and the sender then returns to XCP (`after_loss`); after a timeout it starts from
//!   one packet and takes all feedback at once. The draft names the choices and picks none. Below
//!   the halved window, feedback of both signs counts: shuffled traffic asks for as much as it
//!   gives.
//! - If feedback has lowered the window since lost packets left, a repair may grow it to half of
//!   what was outstanding (RFC 5681). Half of a window of one packet would take as many round trips
//!   as packets were lost. With `throughput = "cwnd"`, as ns-2 has it, the window counts.
//! - What a repair leaves unused of the window does not age.
//! - If a round trip takes less than half of the smoothed RTT, the window falls with the RTT, so
//!   that the pace does not rise (with `pacing`). Otherwise, after a link has stood still for 5 s,
//!   the draft's window for an RTT of seconds would be sent in one of 40 ms.
//! - A receiver that got no header returns none, and the sender then grows as Reno does until
//!   headers come back (`without_header`); otherwise a router that strips headers would hold it at
//!   its initial window for ever.
//! - A port can measure its capacity (`measure_capacity`): departures while packets wait, over the
//!   time that they take. The draft assumes a known capacity.

mod invariants;
mod junction;
pub(crate) mod options;
mod port;
mod sink;
mod soft;
mod source;
#[cfg(test)]
mod source_tests;
#[cfg(test)]
mod tests;
#[cfg(test)]
mod thesis_tests;
mod trust;

pub use port::XcpPort;
pub use sink::XcpSink;
pub use source::XcpSource;

use alloc::string::ToString;
use alloc::vec;
use alloc::vec::Vec;

use ratewire_units::{Bytes, Duration, Rate};
use ratewire_wire::xcp::{Draft, HEADER_LEN, IP_PROTOCOL, XcpHeader};

use crate::junction::Divisible;
use crate::law::{
    FlowContext, HeaderError, HeaderFormat, Invariants, Law, LawInfo, LinkContext, MAX_HEADER,
    Named, Properties,
};
use crate::options::{OptionError, Options, Size};
use crate::reason::Figure;
use crate::trust::Trust;

/// Throughput that a sender reports.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ThroughputField {
    /// The allowed rate while the sender fills its window, otherwise its throughput of the last
    /// RTT.
    Measured,
    /// Packets outstanding over the RTT.
    Outstanding,
    /// `cwnd / RTT`: a permission, not a measurement.
    Window,
}

impl ThroughputField {
    /// Reads the option `throughput`.
    pub(crate) fn from_options(o: &Options) -> ThroughputField {
        match o.word("throughput") {
            "measured" => ThroughputField::Measured,
            "outstanding" => ThroughputField::Outstanding,
            _ => ThroughputField::Window,
        }
    }
}

/// A sender's response to a loss.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum AfterLoss {
    /// Halve, refuse increases until the repair, and continue as XCP.
    Return,
    /// Halve, and continue as Reno for the rest of the connection.
    StayReno,
    /// No response.
    Ignore,
}

/// A port's measure of its persistent queue.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum QueueMeasure {
    /// The minimum over the queue interval.
    Minimum,
    /// The mean over the queue interval.
    Mean,
}

/// Limit of the feedback that a port gives to one packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum PacketLimit {
    /// The whole positive feedback of the control interval; negative feedback has no limit.
    Interval,
    /// The rest of the control interval's positive feedback, and of its negative feedback.
    Residue,
}

/// What a port gives after a control interval in which no packet stated X.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum WithoutX {
    /// Nothing.
    Zero,
    /// As if the sum of X had been a second.
    Second,
    /// What the interval before had left, by the same coefficients.
    Keep,
}

/// A port's treatment of packets that do not know their RTT.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum RttZero {
    /// Counts their `X`, leaves them out of the mean RTT.
    Separate,
    /// Counts both: they lower the mean RTT.
    Count,
    /// Leaves them out of both sums and gives them no feedback.
    Ignore,
}

/// XCP with its parameters.
#[derive(Clone, Debug)]
pub struct Xcp {
    pub(crate) throughput: ThroughputField,
    pub(crate) whole_window: bool,
    pub(crate) aging: f64,
    pub(crate) pacing: bool,
    pub(crate) cap_to_receive_window: bool,
    pub(crate) zero_wish_when_limited: bool,
    pub(crate) initial_window: Size,
    pub(crate) desired: Option<Rate>,
    pub(crate) weight: f64,
    pub(crate) after_loss: AfterLoss,
    pub(crate) reno_without_header: bool,
    pub(crate) alpha: f64,
    pub(crate) beta: f64,
    pub(crate) gamma: f64,
    pub(crate) capacity: Option<Rate>,
    pub(crate) measure_capacity: bool,
    pub(crate) probe: f64,
    pub(crate) initial_interval: Duration,
    pub(crate) initial_spread: f64,
    pub(crate) min_interval: Duration,
    pub(crate) max_interval: Duration,
    pub(crate) packet_limit: PacketLimit,
    pub(crate) without_x: WithoutX,
    pub(crate) feedback_scale: f64,
    pub(crate) initial_cp: f64,
    pub(crate) allowed_queue: Duration,
    pub(crate) queue_measure: QueueMeasure,
    /// Zero for none, as `queue_limit`.
    pub(crate) queue_cap: Bytes,
    pub(crate) queue_limit: Bytes,
    pub(crate) memory: f64,
    pub(crate) rtt_zero: RttZero,
    pub(crate) draft: Draft,
    pub(crate) soft_flow_control: bool,
    pub(crate) soft_low: f64,
    pub(crate) soft_high: f64,
    pub(crate) soft_decrease: f64,
    pub(crate) soft_probe: f64,
}

impl Xcp {
    /// Header version used with exact headers and in packet captures.
    pub fn draft(&self) -> Draft {
        self.draft
    }
}

/// Packet by which options count queues, and the largest queue that the kernel's arithmetic holds.
const PACKET: Bytes = Bytes::new(1500);
const LARGEST_QUEUE: Bytes = Bytes::new(4_000_000_000);

/// Size of a queue, zero for none.
pub(crate) fn bytes_of_queue(o: &Options, name: &'static str) -> Result<Bytes, OptionError> {
    let Some(size) = o.size(name) else { return Ok(Bytes::ZERO) };
    let bytes = size.bytes(PACKET);
    if (PACKET * 2..=LARGEST_QUEUE).contains(&bytes) {
        return Ok(bytes);
    }
    Err(OptionError::new(name, "must be from 2 packets of 1,500 bytes to 4 GB, or \"none\""))
}

/// The size of a queue that is zero for none, in bytes, or infinity for none.
fn or_infinite(size: Bytes) -> f64 {
    if size == Bytes::ZERO { f64::INFINITY } else { size.as_f64() }
}

/// Shortest timer: shorter ones would cost more computing than the packets.
const SHORTEST_INTERVAL: Duration = Duration::from_micros(1);

impl Named for Xcp {
    const INFO: LawInfo = LawInfo {
        name: "xcp",
        title: "XCP",
        summary: "eXplicit Control Protocol: routers write into each packet by how much to speed up or slow down",
        explanation: include_str!("explain.md"),
        operations: "6 additions, 3 multiplications",
        options: options::OPTIONS,
    };

    fn from_options(o: &Options) -> Result<Xcp, OptionError> {
        for name in ["initial_interval", "min_interval", "allowed_queue"] {
            if o.time(name) < SHORTEST_INTERVAL {
                return Err(OptionError::new(name, "must be 1 us or more: a timer runs on it"));
            }
        }
        if o.time("max_interval") < o.time("min_interval") {
            let message = "must not be below min_interval";
            return Err(OptionError::between("max_interval", "min_interval", message));
        }
        if o.number("soft_high") < o.number("soft_low") {
            let message = "must not be below soft_low";
            return Err(OptionError::between("soft_high", "soft_low", message));
        }
        Ok(Xcp {
            throughput: ThroughputField::from_options(o),
            whole_window: o.switch("whole_window"),
            aging: o.number("aging"),
            pacing: o.switch("pacing"),
            cap_to_receive_window: o.switch("cap_to_receive_window"),
            zero_wish_when_limited: o.switch("zero_wish_when_limited"),
            initial_window: o.plain_size("initial_window"),
            desired: o.rate("desired"),
            weight: o.number("weight"),
            after_loss: match o.word("after_loss") {
                "return" => AfterLoss::Return,
                "stay-reno" => AfterLoss::StayReno,
                _ => AfterLoss::Ignore,
            },
            reno_without_header: o.word("without_header") == "reno",
            alpha: o.number("alpha"),
            beta: o.number("beta"),
            gamma: o.number("gamma"),
            capacity: o.rate("capacity"),
            measure_capacity: o.switch("measure_capacity"),
            probe: o.number("probe"),
            initial_interval: o.time("initial_interval"),
            initial_spread: o.number("initial_spread"),
            min_interval: o.time("min_interval"),
            max_interval: o.time("max_interval"),
            packet_limit: match o.word("packet_limit") {
                "interval" => PacketLimit::Interval,
                _ => PacketLimit::Residue,
            },
            without_x: match o.word("without_x") {
                "zero" => WithoutX::Zero,
                "second" => WithoutX::Second,
                _ => WithoutX::Keep,
            },
            feedback_scale: o.number("feedback_scale"),
            initial_cp: o.number("initial_cp"),
            allowed_queue: o.time("allowed_queue"),
            queue_measure: match o.word("queue_measure") {
                "min" => QueueMeasure::Minimum,
                _ => QueueMeasure::Mean,
            },
            queue_cap: bytes_of_queue(o, "queue_cap")?,
            queue_limit: bytes_of_queue(o, "queue_limit")?,
            memory: o.number("memory"),
            rtt_zero: match o.word("rtt_zero") {
                "separate" => RttZero::Separate,
                "count" => RttZero::Count,
                _ => RttZero::Ignore,
            },
            draft: match o.word("draft") {
                "03" => Draft::V03,
                "02" => Draft::V02,
                _ => Draft::V00,
            },
            soft_flow_control: o.word("flow_control") == "soft",
            soft_low: o.number("soft_low"),
            soft_high: o.number("soft_high"),
            soft_decrease: o.number("soft_decrease"),
            soft_probe: o.number("soft_probe"),
        })
    }
}

impl Law for Xcp {
    type Header = XcpHeader;
    type Source = XcpSource;
    type Port = XcpPort;
    type Sink = XcpSink;

    fn source(&self, flow: &FlowContext) -> XcpSource {
        XcpSource::new(self, flow)
    }
    fn port(&self, link: &LinkContext) -> Option<XcpPort> {
        Some(XcpPort::new(self, link))
    }
    fn sink(&self, flow: &FlowContext) -> Option<XcpSink> {
        Some(XcpSink::new(self, flow))
    }
    fn properties(&self) -> Properties {
        Properties { weight: self.weight, ..Properties::default() }
    }
    fn headers(&self) -> Option<&dyn HeaderFormat<Header = XcpHeader>> {
        Some(self)
    }
    fn trust(&self) -> Result<&dyn Trust<Header = XcpHeader>, &'static str> {
        Ok(self)
    }
    fn junction(&self) -> Result<&dyn Divisible<Header = XcpHeader>, &'static str> {
        Ok(self)
    }
    fn invariants(&self) -> Option<&dyn Invariants<Header = XcpHeader>> {
        Some(self)
    }
}

impl HeaderFormat for Xcp {
    type Header = XcpHeader;

    fn length(&self) -> Bytes {
        Bytes::new(HEADER_LEN as u64)
    }
    fn encode(&self, header: &XcpHeader, packet: Bytes, bytes: &mut [u8; MAX_HEADER]) -> usize {
        let mut own = [0; HEADER_LEN];
        header.emit(self.draft, packet, &mut own);
        bytes[..HEADER_LEN].copy_from_slice(&own);
        HEADER_LEN
    }
    fn decode(&self, bytes: &[u8], packet: Bytes) -> Result<XcpHeader, HeaderError> {
        let (draft, header) =
            XcpHeader::parse(bytes, packet).map_err(|e| HeaderError::new(e.to_string()))?;
        if draft == self.draft { Ok(header) } else { Err(HeaderError::new("of another draft")) }
    }
    fn ip_protocol(&self) -> Option<u8> {
        Some(IP_PROTOCOL)
    }
    fn quantise(&self, header: XcpHeader, packet: Bytes) -> XcpHeader {
        header.quantise(self.draft, packet)
    }
    fn fields(&self, header: &XcpHeader) -> Vec<Figure> {
        vec![
            Figure::seconds("RTT", header.rtt.secs()),
            Figure::seconds("X", header.x.secs()),
            Figure::rate("delta_throughput", header.delta_throughput.get()),
            Figure::rate("reverse_feedback", header.reverse_feedback.get()),
        ]
    }
}
