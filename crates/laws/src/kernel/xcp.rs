//! XCP as the kernel runs it.

use alloc::vec::Vec;

use ratewire_kernel::{XcpPort, XcpReceiver, XcpSender};
use ratewire_units::{Bytes, Duration, Rate, Throughput, Time};

use super::header::{KernelHeader, XCP};
use super::sending::Sending as Congestion;
use super::{CAPACITY, DESIRED};
use crate::law::{
    Acked, Congestion as Noticed, FlowContext, HeaderError, Law, LawInfo, LinkContext, MAX_HEADER,
    Port, PortQueue, Sending, Sink, Source,
};
use crate::options::{OptionError, Options};
use crate::reason::{Bound, Figure, Reason};

/// XCP as the kernel runs it, with its parameters.
#[derive(Clone, Debug)]
pub struct XcpKernel {
    desired: Option<Rate>,
    capacity: Option<Rate>,
}

impl Law for XcpKernel {
    type Header = KernelHeader;
    type Source = XcpKernelSource;
    type Port = XcpKernelPort;
    type Sink = XcpKernelSink;

    const INFO: LawInfo = LawInfo {
        name: "xcp@kernel",
        title: "XCP in the kernel",
        summary: "XCP in integers: the very code that `ratewire live` loads",
        explanation: include_str!("xcp.md"),
        operations: "",
        options: &[DESIRED, CAPACITY],
    };

    fn from_options(o: &Options) -> Result<XcpKernel, OptionError> {
        Ok(XcpKernel { desired: o.rate("desired"), capacity: o.rate("capacity") })
    }
    fn source(&self, flow: &FlowContext) -> XcpKernelSource {
        let desired = self.desired.unwrap_or(flow.line_rate).throughput();
        XcpKernelSource { sender: XcpSender::new(desired), congestion: Congestion::new(flow) }
    }
    fn port(&self, link: &LinkContext) -> Option<XcpKernelPort> {
        let port = XcpPort::new(self.capacity.unwrap_or(link.rate), Time::ZERO);
        Some(XcpKernelPort { port, capacity_is_set: self.capacity.is_some() })
    }
    fn sink(&self, _: &FlowContext) -> Option<XcpKernelSink> {
        Some(XcpKernelSink::default())
    }
    fn header_len(&self) -> Bytes {
        Bytes::new(XCP.len as u64)
    }
    fn encode(&self, header: &KernelHeader, _: Bytes, bytes: &mut [u8; MAX_HEADER]) -> usize {
        header.encode(XCP, bytes)
    }
    fn decode(&self, bytes: &[u8], packet: Bytes) -> Result<KernelHeader, HeaderError> {
        KernelHeader::decode(XCP, bytes, packet)
    }
    fn fields(&self, header: &KernelHeader) -> Vec<Figure> {
        header.fields()
    }
}

/// The sender's part.
#[derive(Clone, Debug)]
pub struct XcpKernelSource {
    sender: XcpSender,
    congestion: Congestion,
}

impl XcpKernelSource {
    fn start(&mut self, now: Time, srtt: Duration) {
        self.congestion.srtt = srtt;
        if self.sender.rate() == Throughput::ZERO && !srtt.is_zero() {
            self.sender.start(now, self.congestion.first_window(), srtt);
        }
    }
}

impl Source for XcpKernelSource {
    type Header = KernelHeader;

    fn on_opened(&mut self, now: Time, rtt: Option<Duration>, _: Option<&KernelHeader>) {
        if let Some(rtt) = rtt {
            self.start(now, rtt);
        }
    }

    fn on_send(&mut self, sending: &Sending) -> Option<KernelHeader> {
        let least = self.congestion.least();
        let (now, size, limited) = (sending.now, sending.packet, sending.limited);
        let header = self.sender.on_send(now, size, sending.srtt, limited, least);
        Some(KernelHeader::request(header, sending.packet))
    }

    fn on_ack(&mut self, acked: &Acked, header: Option<&KernelHeader>) {
        self.start(acked.now, acked.srtt);
        let Some(header) = header else { return };
        let bytes = self.congestion.on_network(acked.bytes);
        let (srtt, least) = (acked.srtt, self.congestion.least());
        let returned = header.returned.cast_signed();
        self.sender.on_ack(bytes, returned, srtt, least, !self.congestion.repairing);
    }

    fn on_congestion(&mut self, noticed: &Noticed) {
        if self.congestion.on_signal(noticed.signal) {
            self.sender.on_loss(self.congestion.least());
        }
    }

    fn on_recovered(&mut self, _now: Time) {
        self.congestion.repairing = false;
    }

    fn window(&self) -> Bytes {
        self.congestion.window(self.sender.rate())
    }

    fn pacing(&self) -> Option<Throughput> {
        self.congestion.pacing(self.sender.rate())
    }

    fn reason(&self) -> Reason {
        let figures = [
            Figure::rate("rate", self.sender.rate().get()),
            Figure::seconds("RTT", self.congestion.srtt.secs()),
        ];
        if self.congestion.repairing {
            let equation = "a loss is being repaired: the rate was halved and does not grow";
            return Reason::new(equation, figures).bound(Bound::Source);
        }
        let equation = "rate += change times the time that what is acknowledged took to send";
        Reason::new(equation, figures).bound(Bound::LastChange)
    }
}

/// The router's part.
#[derive(Clone, Debug)]
pub struct XcpKernelPort {
    port: XcpPort,
    capacity_is_set: bool,
}

impl Port for XcpKernelPort {
    type Header = KernelHeader;

    fn on_arrival(
        &mut self,
        now: Time,
        size: Bytes,
        header: Option<&mut KernelHeader>,
        queue: PortQueue,
    ) {
        let request = header.and_then(|h| h.request.as_mut());
        match request {
            Some(request) => {
                self.port.on_packet(now, size, queue.bytes, Some(request));
                *request = request.quantised();
            }
            None => self.port.on_packet(now, size, queue.bytes, None),
        }
    }
    fn on_departure(&mut self, _: Time, _: Bytes, _: Option<&mut KernelHeader>, _: PortQueue) {}
    fn next_timer(&self) -> Time {
        self.port.next_timer()
    }
    fn on_timer(&mut self, now: Time, queue: PortQueue) {
        self.port.on_timer(now, queue.bytes);
    }
    fn on_rate_change(&mut self, _now: Time, rate: Rate) {
        if !self.capacity_is_set {
            self.port.set_capacity(rate);
        }
    }
    fn reason(&self) -> Reason {
        Reason::new(
            "change <= Cp - Cn rate, shared out from F = alpha (C - y) - beta q / avg_rtt",
            [
                Figure::rate("C", self.port.capacity().get()),
                Figure::rate("y", self.port.input().get()),
                Figure::bytes("q", self.port.queue().as_f64()),
                Figure::seconds("avg_rtt", self.port.mean_rtt().secs()),
                Figure::rate("F", self.port.feedback().get()),
            ],
        )
    }
}

/// The receiver's part.
#[derive(Clone, Debug, Default)]
pub struct XcpKernelSink {
    receiver: XcpReceiver,
    last: i32,
    has_arrived: bool,
}

impl Sink for XcpKernelSink {
    type Header = KernelHeader;

    fn on_data(&mut self, _now: Time, header: &KernelHeader) {
        if let Some(request) = &header.request {
            self.receiver.on_data(request, Bytes::new(u64::from(header.size)));
            self.has_arrived = true;
        }
    }

    /// With nothing new the last answer again, as in `host.bpf.c`.
    fn on_ack(&mut self, _now: Time) -> Option<KernelHeader> {
        if core::mem::take(&mut self.has_arrived) {
            self.last = self.receiver.on_ack();
        }
        Some(KernelHeader::answer(self.last.cast_unsigned()))
    }
}
