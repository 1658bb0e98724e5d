//! The receiver's part: draft -03, section 4.1.2.

use alloc::boxed::Box;

use ratewire_units::{Bytes, Throughput, Time};
use ratewire_wire::xcp::XcpHeader;

use super::Xcp;
use super::soft::Soft;
use crate::law::{Buffer, FlowContext, Sink};

/// Returns the sum of the feedback received since the last acknowledgement, in the minimal format
/// that routers do not change; no header if none came. Under soft flow control the buffer first
/// lowers the feedback.
#[derive(Clone, Debug)]
pub struct XcpSink {
    sum: Throughput,
    /// Protocol in the last header, if one has come since the last acknowledgement.
    protocol: Option<u8>,
    soft: Option<Box<Soft>>,
}

impl XcpSink {
    pub(super) fn new(law: &Xcp, flow: &FlowContext) -> XcpSink {
        let soft = law.soft_flow_control.then(|| Box::new(Soft::new(law, flow)));
        XcpSink { sum: Throughput::ZERO, protocol: None, soft }
    }
}

impl Sink for XcpSink {
    type Header = XcpHeader;

    #[inline]
    fn on_data(&mut self, _now: Time, header: &XcpHeader) {
        self.sum += match &mut self.soft {
            None => header.delta_throughput,
            Some(soft) => Throughput::new(soft.grant(header.rtt, header.delta_throughput.get())),
        };
        self.protocol = Some(header.protocol);
    }

    #[inline]
    fn on_ack(&mut self, _now: Time) -> Option<XcpHeader> {
        let reverse_feedback = core::mem::take(&mut self.sum);
        self.protocol.take().map(|protocol| XcpHeader::minimal(protocol, reverse_feedback))
    }

    fn watches_buffer(&self) -> bool {
        self.soft.is_some()
    }

    fn on_buffer(&mut self, now: Time, payload: Bytes, buffer: &Buffer) {
        if let Some(soft) = &mut self.soft {
            soft.observe(now, payload, buffer);
        }
    }
}
