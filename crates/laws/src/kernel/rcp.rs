//! RCP and PIQI-RCP as the kernel runs them.

use core::marker::PhantomData;

use ratewire_kernel::{Header, RcpConstants, RcpPort, RcpSender, Rule};
use ratewire_units::{Bytes, Duration, Rate, Time};

use super::header::{KernelHeader, RCP};
use super::port::KernelPort;
use super::sending::Sending as Congestion;
use super::{CAPACITY, DESIRED, NO_JUNCTION, NO_POLICER, bounded_times};
use crate::junction::Divisible;
use crate::law::{
    Acked, FlowContext, HeaderFormat, Invariants, Law, LawInfo, LinkContext, Named, Sending, Sink,
    Source,
};
use crate::options::{OptionError, OptionKind, OptionSpec, Options};
use crate::piqi_rcp::{GAMMA as PIQI_GAMMA, INTEGRAL};
use crate::rcp::shared::SLOT;
use crate::rcp::{ALPHA, BETA, GAMMA};
use crate::reason::{Bound, Figure, Reason};
use crate::trust::Trust;

/// Difference of the kernel's RCP and PIQI-RCP.
pub trait KernelVariant: Clone + core::fmt::Debug {
    /// See [`Named::INFO`].
    const INFO: LawInfo;
    /// How a router's rate moves.
    const RULE: Rule;

    /// What a port is set to, but for its slot.
    fn constants(o: &Options) -> RcpConstants;
}

/// RCP or PIQI-RCP as the kernel runs it, with its parameters.
#[derive(Clone, Debug)]
pub struct RateKernel<V> {
    desired: Option<Rate>,
    capacity: Option<Rate>,
    constants: RcpConstants,
    variant: PhantomData<V>,
}

/// RCP as the kernel runs it.
pub type RcpKernel = RateKernel<RcpVariant>;
/// PIQI-RCP as the kernel runs it.
pub type PiqiRcpKernel = RateKernel<PiqiVariant>;

/// RCP in the kernel.
#[derive(Clone, Debug)]
pub enum RcpVariant {}
/// PIQI-RCP in the kernel.
#[derive(Clone, Debug)]
pub enum PiqiVariant {}

impl KernelVariant for RcpVariant {
    const INFO: LawInfo = LawInfo {
        name: "rcp@kernel",
        title: "RCP in the kernel",
        summary: "RCP in integers: the very code that `ratewire live` loads",
        explanation: include_str!("rcp.md"),
        operations: "",
        options: &[
            DESIRED,
            ALPHA,
            // The kernel counts in 2^-16.
            OptionSpec { kind: OptionKind::Number(0.00002, 2.0), ..BETA },
            GAMMA,
            SLOT,
            CAPACITY,
        ],
    };
    const RULE: Rule = Rule::Rcp;

    fn constants(o: &Options) -> RcpConstants {
        let constants = RcpConstants::of(Rule::Rcp).spare(o.number("alpha"));
        constants.queue(o.number("beta")).target(o.number("gamma"))
    }
}

impl KernelVariant for PiqiVariant {
    const INFO: LawInfo = LawInfo {
        name: "piqi-rcp@kernel",
        title: "PIQI-RCP in the kernel",
        summary: "reconstructed PIQI-RCP in integers: the very code that `ratewire live` loads",
        explanation: include_str!("rcp.md"),
        operations: "",
        options: &[DESIRED, INTEGRAL, PIQI_GAMMA, SLOT, CAPACITY],
    };
    const RULE: Rule = Rule::Piqi;

    fn constants(o: &Options) -> RcpConstants {
        RcpConstants::of(Rule::Piqi).spare(o.number("integral")).target(o.number("gamma"))
    }
}

impl<V> RateKernel<V> {
    /// What a port is set to.
    pub fn constants(&self) -> RcpConstants {
        self.constants
    }
}

impl<V: KernelVariant> Named for RateKernel<V> {
    const INFO: LawInfo = V::INFO;

    fn from_options(o: &Options) -> Result<RateKernel<V>, OptionError> {
        let (desired, capacity) = (o.rate("desired"), o.rate("capacity"));
        let [slot] = bounded_times(o, ["slot"])?;
        let constants = V::constants(o).slot(slot);
        Ok(RateKernel { desired, capacity, constants, variant: PhantomData })
    }
}

impl<V: KernelVariant> Law for RateKernel<V> {
    type Header = KernelHeader;
    type Source = RcpKernelSource;
    type Port = KernelPort<RcpPort>;
    type Sink = RcpKernelSink;

    fn source(&self, flow: &FlowContext) -> RcpKernelSource {
        let desired = self.desired.unwrap_or(flow.line_rate).throughput();
        let sender = RcpSender::new(desired, V::RULE);
        RcpKernelSource { sender, congestion: Congestion::new(flow) }
    }
    fn port(&self, link: &LinkContext) -> Option<KernelPort<RcpPort>> {
        let make = |rate| RcpPort::new(rate, &self.constants, Time::ZERO);
        Some(KernelPort::new(self.capacity, link, make))
    }
    fn sink(&self, _: &FlowContext) -> Option<RcpKernelSink> {
        Some(RcpKernelSink::default())
    }
    fn headers(&self) -> Option<&dyn HeaderFormat<Header = KernelHeader>> {
        Some(&RCP)
    }
    fn trust(&self) -> Result<&dyn Trust<Header = KernelHeader>, &'static str> {
        Err(NO_POLICER)
    }
    fn junction(&self) -> Result<&dyn Divisible<Header = KernelHeader>, &'static str> {
        Err(NO_JUNCTION)
    }
    fn invariants(&self) -> Option<&dyn Invariants<Header = KernelHeader>> {
        Some(&RCP)
    }
}

/// The sender's part.
#[derive(Clone, Debug)]
pub struct RcpKernelSource {
    sender: RcpSender,
    congestion: Congestion,
}

impl Source for RcpKernelSource {
    type Header = KernelHeader;

    fn on_opened(&mut self, _now: Time, rtt: Option<Duration>, _: Option<&KernelHeader>) {
        if let Some(rtt) = rtt {
            self.congestion.srtt = rtt;
        }
    }

    fn on_send(&mut self, sending: &Sending) -> Option<KernelHeader> {
        Some(KernelHeader::request(self.sender.on_send(sending.srtt), sending.packet))
    }

    fn on_ack(&mut self, acked: &Acked, header: Option<&KernelHeader>) {
        self.congestion.on_ack(acked);
        let Some(header) = header else {
            if self.congestion.repairing && acked.lost == Bytes::ZERO {
                self.sender.on_unheard(acked.now, acked.srtt);
            }
            return;
        };
        let offered = Header::from_fields([header.returned, 0, 0]).rate();
        let least = self.congestion.least();
        self.sender.on_ack(acked.now, offered, acked.srtt, least, self.congestion.repairing);
    }

    super::sending::sends_at_its_rate!();

    fn reason(&self) -> Reason {
        let figures = [
            Figure::rate("rate", self.sender.rate().get()),
            Figure::rate("R", self.sender.offered().get()),
            Figure::seconds("RTT", self.congestion.srtt.secs()),
        ];
        let equation = match self.congestion.repairing {
            true => "rate = R / 2 while a loss is repaired, R the least of the routers on the path",
            false => "rate = R, the least of the routers on the path",
        };
        Reason::new(equation, figures).bound(Bound::LastChange)
    }
}

/// The receiver's part: returns the rate that arrived last.
#[derive(Clone, Debug, Default)]
pub struct RcpKernelSink {
    last: u32,
}

impl Sink for RcpKernelSink {
    type Header = KernelHeader;

    fn on_data(&mut self, _now: Time, header: &KernelHeader) {
        if let Some(request) = &header.request {
            self.last = request.to_fields()[0];
        }
    }
    fn on_ack(&mut self, _now: Time) -> Option<KernelHeader> {
        Some(KernelHeader::answer(self.last))
    }
}
