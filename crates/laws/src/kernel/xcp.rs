//! XCP as the kernel runs it.

use ratewire_kernel::{
    Header, XcpConstants, XcpPort, XcpReceiver, XcpRules, XcpSender, XcpThroughput,
};
use ratewire_units::{Bytes, Duration, Rate, Throughput, Time};

use super::header::{KernelHeader, XCP};
use super::port::KernelPort;
use super::sending::Sending as Congestion;
use super::{CAPACITY, DESIRED, NO_JUNCTION, NO_POLICER, bounded_times, of_port};
use crate::junction::Divisible;
use crate::law::{
    Acked, FlowContext, HeaderFormat, Invariants, Law, LawInfo, LinkContext, Named, Sending, Sink,
    Source,
};
use crate::options::{OptionError, OptionKind, OptionSpec, Options, Part};
use crate::reason::{Bound, Figure, Reason};
use crate::trust::Trust;
use crate::xcp::options::{
    AGING, ALLOWED_QUEUE, ALPHA, BETA, CAP_TO_RECEIVE_WINDOW, GAMMA, MAX_INTERVAL, MEMORY,
    MIN_INTERVAL, PACING, QUEUE_CAP, QUEUE_LIMIT, THROUGHPUT, WEIGHT, ZERO_WISH_WHEN_LIMITED,
};
use crate::xcp::{AfterLoss, ThroughputField, Xcp, bytes_of_queue};

/// XCP as the kernel runs it, with its parameters.
#[derive(Clone, Debug)]
pub struct XcpKernel {
    desired: Option<Rate>,
    capacity: Option<Rate>,
    rules: XcpRules,
    constants: XcpConstants,
}

const AFTER_LOSS: OptionSpec = OptionSpec {
    name: "after_loss",
    kind: OptionKind::Word(&["return", "ignore"]),
    default: "return",
    part: Part::Source,
    doc: "after a loss. \"return\": halve, take no increase until the loss is repaired, then XCP \
          again; \"ignore\": nothing (the thesis's implementation).",
};

impl XcpKernel {
    /// Options of `xcp` that a kernel's sender has too. One of `after_loss` is not among them:
    /// `stay-reno`.
    pub const SENDER: [&str; 8] = [
        DESIRED.name,
        THROUGHPUT.name,
        AGING.name,
        PACING.name,
        CAP_TO_RECEIVE_WINDOW.name,
        ZERO_WISH_WHEN_LIMITED.name,
        AFTER_LOSS.name,
        WEIGHT.name,
    ];

    /// The law with these options.
    ///
    /// # Errors
    /// If it has no such option, or not with this value.
    pub fn new(options: &[(&str, &str)]) -> Result<XcpKernel, OptionError> {
        XcpKernel::from_options(&Options::given(XcpKernel::INFO.options, options)?)
    }

    /// The sender's rules.
    pub fn rules(&self) -> XcpRules {
        self.rules
    }

    /// What a port is set to.
    pub fn constants(&self) -> XcpConstants {
        self.constants
    }

    /// The rate that a sender asks for; `None` for the rate of its own link.
    pub fn desired(&self) -> Option<Rate> {
        self.desired
    }
}

impl Xcp {
    /// The same law in the kernel, as far as the kernel has it.
    pub fn in_kernel(&self) -> XcpKernel {
        let rules = XcpRules::default()
            .throughput(in_kernel(self.throughput))
            .aging(self.aging)
            .paced(self.pacing)
            .bounded(self.cap_to_receive_window)
            .modest(self.zero_wish_when_limited)
            .heeds_loss(self.after_loss != AfterLoss::Ignore)
            .weight(self.weight);
        let constants = XcpConstants::default();
        XcpKernel { desired: self.desired, capacity: self.capacity, rules, constants }
    }
}

fn in_kernel(throughput: ThroughputField) -> XcpThroughput {
    match throughput {
        ThroughputField::Measured => XcpThroughput::Measured,
        ThroughputField::Outstanding => XcpThroughput::Outstanding,
        ThroughputField::Window => XcpThroughput::Window,
    }
}

impl Named for XcpKernel {
    const INFO: LawInfo = LawInfo {
        name: "xcp@kernel",
        title: "XCP in the kernel",
        summary: "XCP in integers: the very code that `ratewire live` loads",
        explanation: include_str!("xcp.md"),
        operations: "",
        options: &[
            DESIRED,
            THROUGHPUT,
            AGING,
            PACING,
            CAP_TO_RECEIVE_WINDOW,
            ZERO_WISH_WHEN_LIMITED,
            AFTER_LOSS,
            WEIGHT,
            of_port(ALPHA),
            of_port(BETA),
            of_port(GAMMA),
            OptionSpec {
                doc: "shortest control interval, and floor of the mean RTT; 1 ms to 1 s.",
                ..of_port(MIN_INTERVAL)
            },
            OptionSpec {
                doc: "longest control interval, and largest RTT a packet may claim; up to 1 s.",
                ..of_port(MAX_INTERVAL)
            },
            ALLOWED_QUEUE,
            QUEUE_CAP,
            QUEUE_LIMIT,
            MEMORY,
            CAPACITY,
        ],
    };

    fn from_options(o: &Options) -> Result<XcpKernel, OptionError> {
        let rules = XcpRules::default()
            .throughput(in_kernel(ThroughputField::from_options(o)))
            .aging(o.number("aging"))
            .paced(o.switch("pacing"))
            .bounded(o.switch("cap_to_receive_window"))
            .modest(o.switch("zero_wish_when_limited"))
            .heeds_loss(o.word("after_loss") == "return")
            .weight(o.number("weight"));
        let intervals = ["min_interval", "max_interval", "allowed_queue"];
        let [min, max, allowed] = bounded_times(o, intervals)?;
        if max < min {
            let message = "must not be below min_interval";
            return Err(OptionError::between("max_interval", "min_interval", message));
        }
        let constants = XcpConstants::default()
            .gains(o.number("alpha"), o.number("beta"), o.number("gamma"))
            .intervals(min, max)
            .allowed_queue(allowed)
            .queue(bytes_of_queue(o, "queue_cap")?, bytes_of_queue(o, "queue_limit")?)
            .memory(o.number("memory"));
        Ok(XcpKernel { desired: o.rate("desired"), capacity: o.rate("capacity"), rules, constants })
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
            sender: XcpSender::new(desired, self.rules),
            is_paced: self.rules.is_paced(),
            heeds_loss: self.rules.does_heed_loss(),
            change: Throughput::ZERO,
            congestion: Congestion::new(flow),
        }
    }
    fn port(&self, link: &LinkContext) -> Option<KernelPort<XcpPort>> {
        Some(KernelPort::new(self.capacity, link, |rate| {
            XcpPort::new(rate, &self.constants, Time::ZERO)
        }))
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
    is_paced: bool,
    heeds_loss: bool,
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
        let sizes = (size, self.congestion.on_network(sending.in_flight));
        let header = self.sender.on_send(now, sizes, sending.srtt, limited, full, least);
        Some(KernelHeader::request(header, sending.packet))
    }

    fn on_ack(&mut self, acked: &Acked, header: Option<&KernelHeader>) {
        self.start(acked.now, acked.srtt);
        let window = self.congestion.on_network(acked.receive_window);
        self.sender.on_window(window, acked.srtt, self.congestion.least());
        let Some(header) = header else { return };
        let bytes = self.congestion.on_network(acked.bytes);
        let (srtt, least) = (acked.srtt, self.congestion.least());
        let returned = header.returned.cast_signed();
        self.change = Header::from_fields([0, 0, header.returned]).change();
        self.sender.on_ack(bytes, returned, srtt, least, !self.congestion.repairing);
    }

    super::sending::repairs!();

    fn window(&self) -> Bytes {
        match self.is_paced {
            true => self.congestion.window(self.sender.rate()),
            false => self.congestion.bare_window(self.sender.rate()),
        }
    }

    fn pacing(&self) -> Option<Throughput> {
        self.congestion.pacing(self.sender.rate()).filter(|_| self.is_paced)
    }

    fn reason(&self) -> Reason {
        let figures = [
            Figure::rate("rate", self.sender.rate().get()),
            Figure::acceleration("change", self.change.get()),
            Figure::seconds("RTT", self.congestion.srtt.secs()),
        ];
        if self.congestion.repairing && self.heeds_loss {
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
