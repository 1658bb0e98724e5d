//! RCP and PIQI-RCP as the kernel runs them.

use alloc::vec::Vec;

use ratewire_kernel::{Header, RcpPort, RcpSender, Rule};
use ratewire_units::{Bytes, Duration, Rate, Time};

use super::header::{KernelHeader, RCP};
use super::port::KernelPort;
use super::sending::Sending as Congestion;
use super::{CAPACITY, DESIRED, NO_JUNCTION, NO_POLICER};
use crate::law::{
    Acked, FlowContext, HeaderError, Law, LawInfo, LinkContext, MAX_HEADER, Sending, Sink, Source,
};
use crate::options::{OptionError, OptionSpec, Options};
use crate::reason::{Bound, Figure, Reason};

const OPTIONS: &[OptionSpec] = &[DESIRED, CAPACITY];

macro_rules! law {
    ($(#[$doc:meta])* $law:ident, $rule:expr, $info:expr) => {
        $(#[$doc])*
        #[derive(Clone, Debug)]
        pub struct $law {
            desired: Option<Rate>,
            capacity: Option<Rate>,
        }

        impl Law for $law {
            type Header = KernelHeader;
            type Source = RcpKernelSource;
            type Port = KernelPort<RcpPort>;
            type Sink = RcpKernelSink;

            const INFO: LawInfo = $info;

            fn from_options(o: &Options) -> Result<$law, OptionError> {
                Ok($law { desired: o.rate("desired"), capacity: o.rate("capacity") })
            }
            fn source(&self, flow: &FlowContext) -> RcpKernelSource {
                let desired = self.desired.unwrap_or(flow.line_rate).throughput();
                let sender = RcpSender::new(desired, $rule);
                RcpKernelSource { sender, congestion: Congestion::new(flow) }
            }
            fn port(&self, link: &LinkContext) -> Option<KernelPort<RcpPort>> {
                let make = |rate| RcpPort::new(rate, $rule, Time::ZERO);
                Some(KernelPort::new(self.capacity, link, make))
            }
            fn sink(&self, _: &FlowContext) -> Option<RcpKernelSink> {
                Some(RcpKernelSink::default())
            }
            fn unpoliced(&self) -> Option<&'static str> {
                Some(NO_POLICER)
            }
            fn unjoined(&self) -> &'static str {
                NO_JUNCTION
            }
            fn header_len(&self) -> Bytes {
                Bytes::new(RCP.len as u64)
            }
            fn encode(&self, header: &KernelHeader, _: Bytes, bytes: &mut [u8; MAX_HEADER]) -> usize {
                header.encode(RCP, bytes)
            }
            fn decode(&self, bytes: &[u8], packet: Bytes) -> Result<KernelHeader, HeaderError> {
                KernelHeader::decode(RCP, bytes, packet)
            }
            fn fields(&self, header: &KernelHeader) -> Vec<Figure> {
                header.fields()
            }
        }
    };
}

law!(
    /// RCP as the kernel runs it, with its parameters.
    RcpKernel,
    Rule::Rcp,
    LawInfo {
        name: "rcp@kernel",
        title: "RCP in the kernel",
        summary: "RCP in integers: the very code that `ratewire live` loads",
        explanation: include_str!("rcp.md"),
        operations: "",
        options: OPTIONS,
    }
);

law!(
    /// PIQI-RCP as the kernel runs it, with its parameters.
    PiqiRcpKernel,
    Rule::Piqi,
    LawInfo {
        name: "piqi-rcp@kernel",
        title: "PIQI-RCP in the kernel",
        summary: "reconstructed PIQI-RCP in integers: the very code that `ratewire live` loads",
        explanation: include_str!("rcp.md"),
        operations: "",
        options: OPTIONS,
    }
);

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
            true => "rate = R / 2 while a loss is repaired, R the least of the routers on the way",
            false => "rate = R, the least of the routers on the way",
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
