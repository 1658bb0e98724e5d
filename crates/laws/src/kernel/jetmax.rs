//! JetMax as the kernel runs it.

use alloc::boxed::Box;
use alloc::vec;
use alloc::vec::Vec;

use ratewire_kernel::{JetmaxAnswer, JetmaxConstants, JetmaxHeader, JetmaxPort, JetmaxSender};
use ratewire_units::{Bytes, Duration, Rate, Throughput, Time};

use super::header;
use super::port::LONGEST_PACKET;
use super::sending::Sending as Congestion;
use super::{CAPACITY, DESIRED, NO_JUNCTION, NO_POLICER, bounded_times, in_integers};
use crate::jetmax::{GAMMA, INTERVAL, Jetmax};
use crate::junction::Divisible;
use crate::law::{
    Acked, Books, FlowContext, HeaderError, HeaderFormat, Invariants, Law, LawInfo, LinkContext,
    MAX_HEADER, Named, Port, PortQueue, Promises, Sending, Sink, Source,
};
use crate::options::{OptionError, Options};
use crate::reason::{Bound, Figure, Reason};
use crate::trust::Trust;

const EXID: u16 = 0x526a;
const WITH_DATA: usize = 28;
const ALONE: usize = 12;

/// JetMax as the kernel runs it, with its parameters.
#[derive(Clone, Debug)]
pub struct JetmaxKernel {
    desired: Option<Rate>,
    capacity: Option<Rate>,
    constants: JetmaxConstants,
}

impl JetmaxKernel {
    /// What a port is set to.
    pub fn constants(&self) -> JetmaxConstants {
        self.constants
    }
}

impl Jetmax {
    /// Options that the kernel's ports have, too.
    pub const IN_KERNEL: [&str; 3] = [GAMMA.name, INTERVAL.name, CAPACITY.name];

    /// The same law in the kernel, as far as the kernel has it.
    ///
    /// # Errors
    /// If the kernel has no such interval.
    pub fn in_kernel(&self) -> Result<JetmaxKernel, OptionError> {
        let constants = constants(&self.options)?;
        Ok(JetmaxKernel { desired: None, capacity: self.options.rate("capacity"), constants })
    }
}

fn constants(o: &Options) -> Result<JetmaxConstants, OptionError> {
    let [interval] = bounded_times(o, ["interval"])?;
    Ok(JetmaxConstants::default().gamma(o.number("gamma")).interval(interval))
}

impl Named for JetmaxKernel {
    const INFO: LawInfo = LawInfo {
        name: "jetmax@kernel",
        title: "JetMax in the kernel",
        summary: "JetMax in integers: the very code that `ratewire live` loads",
        explanation: include_str!("jetmax.md"),
        operations: "",
        options: &[DESIRED, GAMMA, INTERVAL, CAPACITY],
    };

    fn from_options(o: &Options) -> Result<JetmaxKernel, OptionError> {
        let (desired, capacity) = (o.rate("desired"), o.rate("capacity"));
        Ok(JetmaxKernel { desired, capacity, constants: constants(o)? })
    }
}

impl Law for JetmaxKernel {
    type Header = JetmaxKernelHeader;
    type Source = JetmaxKernelSource;
    type Port = JetmaxKernelPort;
    type Sink = JetmaxKernelSink;

    fn source(&self, flow: &FlowContext) -> JetmaxKernelSource {
        let desired = self.desired.unwrap_or(flow.line_rate).throughput();
        JetmaxKernelSource { sender: JetmaxSender::new(desired), congestion: Congestion::new(flow) }
    }
    fn port(&self, link: &LinkContext) -> Option<JetmaxKernelPort> {
        let capacity = self.capacity.unwrap_or(link.rate);
        // Like the kernel's random identities, 16 bits. They differ on a path if there are fewer
        // links than that.
        let id = (link.id.saturating_sub(1) % u32::from(u16::MAX) + 1) as u16;
        let port = JetmaxPort::new(capacity, &self.constants, id, Time::ZERO);
        Some(JetmaxKernelPort { port, capacity_is_set: self.capacity.is_some() })
    }
    fn sink(&self, _: &FlowContext) -> Option<JetmaxKernelSink> {
        Some(JetmaxKernelSink::default())
    }
    fn headers(&self) -> Option<&dyn HeaderFormat<Header = JetmaxKernelHeader>> {
        Some(self)
    }
    fn trust(&self) -> Result<&dyn Trust<Header = JetmaxKernelHeader>, &'static str> {
        Err(NO_POLICER)
    }
    fn junction(&self) -> Result<&dyn Divisible<Header = JetmaxKernelHeader>, &'static str> {
        Err(NO_JUNCTION)
    }
    fn invariants(&self) -> Option<&dyn Invariants<Header = JetmaxKernelHeader>> {
        Some(self)
    }
}

impl HeaderFormat for JetmaxKernel {
    type Header = JetmaxKernelHeader;

    fn length(&self) -> Bytes {
        Bytes::new(WITH_DATA as u64)
    }
    fn encode(&self, h: &JetmaxKernelHeader, _: Bytes, bytes: &mut [u8; MAX_HEADER]) -> usize {
        match h {
            JetmaxKernelHeader::Request(request) => {
                header::put(EXID, &request.to_words(&JetmaxAnswer::default()), bytes)
            }
            JetmaxKernelHeader::Answer(answer) => {
                header::put(EXID, &answer.to_words_alone(), bytes)
            }
        }
    }
    fn decode(&self, bytes: &[u8], _: Bytes) -> Result<JetmaxKernelHeader, HeaderError> {
        let words = header::get(EXID, bytes, ALONE, WITH_DATA)?;
        Ok(match <[u32; 6]>::try_from(words.as_slice()) {
            Ok(words) => JetmaxKernelHeader::Request(JetmaxHeader::from_words(&words)),
            Err(_) => {
                let words = [words[0], words[1]];
                JetmaxKernelHeader::Answer(JetmaxAnswer::from_words_alone(&words))
            }
        })
    }
    fn fields(&self, header: &JetmaxKernelHeader) -> Vec<Figure> {
        let request = match header {
            JetmaxKernelHeader::Answer(answer) => {
                return answer
                    .fair()
                    .map(|fair| Figure::rate("returned_fair", fair.get()))
                    .into_iter()
                    .collect();
            }
            JetmaxKernelHeader::Request(request) => request,
        };
        let mut fields = vec![Figure::rate("rate", request.rate().get())];
        fields.extend(request.fair().map(|fair| Figure::rate("fair", fair.get())));
        if let Some((router, fair)) = request.proposed() {
            fields.push(Figure::one("proposed", f64::from(router)));
            fields.push(Figure::rate("proposed_fair", fair.get()));
        }
        fields
    }
}

impl Invariants for JetmaxKernel {
    type Header = JetmaxKernelHeader;

    fn promises(&self) -> Promises {
        in_integers()
    }
    fn books(&self) -> Option<Box<dyn Books<Header = JetmaxKernelHeader>>> {
        Some(Box::new(RateBooks))
    }
}

/// A port does not change the sender's rate in a request, and no answers.
struct RateBooks;

impl Books for RateBooks {
    type Header = JetmaxKernelHeader;

    fn departed(
        &mut self,
        _: Bytes,
        (was, _): (&JetmaxKernelHeader, &Reason),
        (is, _): (&JetmaxKernelHeader, &Reason),
    ) {
        match (was, is) {
            (JetmaxKernelHeader::Request(was), JetmaxKernelHeader::Request(is)) => {
                assert_eq!(is.rate(), was.rate(), "a rate is its sender's");
            }
            _ => assert_eq!(is, was, "an answer"),
        }
    }
}

/// A header of JetMax in the kernel. In the option both parts go with data; here data flows one
/// way.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum JetmaxKernelHeader {
    /// Fields that routers read and write, on packets with data.
    Request(JetmaxHeader),
    /// The receiver's answer.
    Answer(JetmaxAnswer),
}

impl JetmaxKernelHeader {
    #[inline]
    fn request(&mut self) -> Option<&mut JetmaxHeader> {
        match self {
            JetmaxKernelHeader::Request(request) => Some(request),
            JetmaxKernelHeader::Answer(_) => None,
        }
    }
}

/// JetMax's integers at one output queue.
#[derive(Clone, Debug)]
pub struct JetmaxKernelPort {
    port: JetmaxPort,
    capacity_is_set: bool,
}

impl Port for JetmaxKernelPort {
    type Header = JetmaxKernelHeader;

    #[inline]
    fn on_arrival(
        &mut self,
        now: Time,
        size: Bytes,
        header: Option<&mut JetmaxKernelHeader>,
        _: PortQueue,
    ) {
        let size = size.min(LONGEST_PACKET);
        self.port.on_packet(now, size, header.and_then(JetmaxKernelHeader::request));
    }
    fn on_departure(
        &mut self,
        _: Time,
        _: Bytes,
        _: Option<&mut JetmaxKernelHeader>,
        _: PortQueue,
    ) {
    }
    fn next_timer(&self) -> Time {
        self.port.next_timer()
    }
    fn on_timer(&mut self, now: Time, _: PortQueue) {
        self.port.on_timer(now);
    }
    fn on_rate_change(&mut self, _now: Time, rate: Rate) {
        if !self.capacity_is_set {
            self.port.set_capacity(rate);
        }
    }
    fn reason(&self) -> Reason {
        Reason::new(
            "g = (gamma C - u) / N, u what comes from flows bound elsewhere, N flows bound here",
            [
                Figure::rate("g", self.port.fair().get()),
                Figure::rate("gamma C", self.port.target().get()),
                Figure::rate("u", self.port.unresponsive().get()),
                Figure::one("N", self.port.flows()),
            ],
        )
    }
}

/// The sender's part.
#[derive(Clone, Debug)]
pub struct JetmaxKernelSource {
    sender: JetmaxSender,
    congestion: Congestion,
}

impl JetmaxKernelSource {
    fn start(&mut self, srtt: Duration) {
        self.congestion.srtt = srtt;
        if self.sender.rate() == Throughput::ZERO && !srtt.is_zero() {
            self.sender.start(self.congestion.first_window(), srtt);
        }
    }
}

impl Source for JetmaxKernelSource {
    type Header = JetmaxKernelHeader;

    fn on_opened(&mut self, _: Time, rtt: Option<Duration>, _: Option<&JetmaxKernelHeader>) {
        if let Some(rtt) = rtt {
            self.start(rtt);
        }
    }

    fn on_send(&mut self, _: &Sending) -> Option<JetmaxKernelHeader> {
        Some(JetmaxKernelHeader::Request(self.sender.on_send()))
    }

    fn on_ack(&mut self, acked: &Acked, header: Option<&JetmaxKernelHeader>) {
        self.start(acked.srtt);
        self.congestion.on_ack(acked);
        let Some(JetmaxKernelHeader::Answer(answer)) = header else { return };
        let least = self.congestion.least();
        self.sender.on_ack(answer, least, self.congestion.repairing, !acked.limited);
    }

    super::sending::sends_at_its_rate!();

    fn reason(&self) -> Reason {
        let figures = [
            Figure::rate("rate", self.sender.rate().get()),
            Figure::rate("g", self.sender.fair().get()),
            Figure::one("tau", self.sender.tau()),
            Figure::one("bottleneck", f64::from(self.sender.bottleneck())),
            Figure::seconds("RTT", self.congestion.srtt.secs()),
        ];
        let equation = match self.congestion.repairing {
            true => "rate += tau (g / 2 - rate) once a round trip while a loss is repaired",
            false => "rate += tau (g - rate) once a round trip, g the fair rate of the bottleneck",
        };
        let bound = match self.sender.bottleneck() {
            0 => Bound::Source,
            bottleneck => Bound::Port(bottleneck),
        };
        Reason::new(equation, figures).bound(bound)
    }
}

/// The receiver's part: answers the newest packet.
#[derive(Clone, Debug, Default)]
pub struct JetmaxKernelSink {
    answer: JetmaxAnswer,
}

impl Sink for JetmaxKernelSink {
    type Header = JetmaxKernelHeader;

    fn on_data(&mut self, _now: Time, header: &JetmaxKernelHeader) {
        if let JetmaxKernelHeader::Request(request) = header {
            self.answer = JetmaxAnswer::to(request);
        }
    }
    fn on_ack(&mut self, _now: Time) -> Option<JetmaxKernelHeader> {
        Some(JetmaxKernelHeader::Answer(self.answer))
    }
}
