//! XCP as the kernel runs it.

use ratewire_kernel::{Header, XcpPort, XcpReceiver, XcpSender};
use ratewire_units::{Bytes, Duration, Rate, Throughput, Time};

use super::header::{KernelHeader, XCP};
use super::port::KernelPort;
use super::sending::Sending as Congestion;
use super::{CAPACITY, DESIRED, NO_JUNCTION, NO_POLICER};
use crate::junction::Divisible;
use crate::law::{
    Acked, FlowContext, HeaderFormat, Invariants, Law, LawInfo, LinkContext, Named, Sending, Sink,
    Source,
};
use crate::options::{OptionError, Options};
use crate::reason::{Bound, Figure, Reason};
use crate::trust::Trust;

/// XCP as the kernel runs it, with its parameters.
#[derive(Clone, Debug)]
pub struct XcpKernel {
    desired: Option<Rate>,
    capacity: Option<Rate>,
}

impl Named for XcpKernel {
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
}

impl Law for XcpKernel {
    type Header = KernelHeader;
    type Source = XcpKernelSource;
    type Port = KernelPort<XcpPort>;
    type Sink = XcpKernelSink;

    fn source(&self, flow: &FlowContext) -> XcpKernelSource {
        let desired = self.desired.unwrap_or(flow.line_rate).throughput();
        XcpKernelSource {
            sender: XcpSender::new(desired),
            change: Throughput::ZERO,
            congestion: Congestion::new(flow),
        }
    }
    fn port(&self, link: &LinkContext) -> Option<KernelPort<XcpPort>> {
        Some(KernelPort::new(self.capacity, link, |rate| XcpPort::new(rate, Time::ZERO)))
    }
    fn sink(&self, _: &FlowContext) -> Option<XcpKernelSink> {
        Some(XcpKernelSink::default())
    }
    fn headers(&self) -> Option<&dyn HeaderFormat<Header = KernelHeader>> {
        Some(&XCP)
    }
    fn trust(&self) -> Result<&dyn Trust<Header = KernelHeader>, &'static str> {
        Err(NO_POLICER)
    }
    fn junction(&self) -> Result<&dyn Divisible<Header = KernelHeader>, &'static str> {
        Err(NO_JUNCTION)
    }
    fn invariants(&self) -> Option<&dyn Invariants<Header = KernelHeader>> {
        Some(&XCP)
    }
}

/// The sender's part.
#[derive(Clone, Debug)]
pub struct XcpKernelSource {
    sender: XcpSender,
    /// The change that was returned last, in B/s a second.
    change: Throughput,
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
        let (full, least) = (self.congestion.packet, self.congestion.least());
        let (now, size, limited) = (sending.now, sending.packet, sending.limited);
        let header = self.sender.on_send(now, size, sending.srtt, limited, full, least);
        Some(KernelHeader::request(header, sending.packet))
    }

    fn on_ack(&mut self, acked: &Acked, header: Option<&KernelHeader>) {
        self.start(acked.now, acked.srtt);
        let Some(header) = header else { return };
        let bytes = self.congestion.on_network(acked.bytes);
        let (srtt, least) = (acked.srtt, self.congestion.least());
        let returned = header.returned.cast_signed();
        self.change = Header::from_fields([0, 0, header.returned]).change();
        self.sender.on_ack(bytes, returned, srtt, least, !self.congestion.repairing);
    }

    super::sending::sends_at_its_rate!();

    fn reason(&self) -> Reason {
        let figures = [
            Figure::rate("rate", self.sender.rate().get()),
            Figure::acceleration("change", self.change.get()),
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

    /// Repeats the last answer if nothing new has arrived, as `bpf/host` does.
    fn on_ack(&mut self, _now: Time) -> Option<KernelHeader> {
        if core::mem::take(&mut self.has_arrived) {
            self.last = self.receiver.on_ack();
        }
        Some(KernelHeader::answer(self.last.cast_unsigned()))
    }
}
