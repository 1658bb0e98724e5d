//! The receiver's part: draft -03, section 4.1.2.

use ratewire_units::{Throughput, Time};
use ratewire_wire::xcp::XcpHeader;

use crate::law::Sink;

/// Returns the sum of the feedback received since the last acknowledgement, in the minimal format
/// that routers leave alone; nothing where no header came.
#[derive(Clone, Debug, Default)]
pub struct XcpSink {
    sum: Throughput,
    /// Of the header that came last, if one did since the last acknowledgement.
    protocol: Option<u8>,
}

impl Sink for XcpSink {
    type Header = XcpHeader;

    #[inline]
    fn on_data(&mut self, _now: Time, header: &XcpHeader) {
        self.sum += header.delta_throughput;
        self.protocol = Some(header.protocol);
    }

    #[inline]
    fn on_ack(&mut self, _now: Time) -> Option<XcpHeader> {
        let reverse_feedback = core::mem::take(&mut self.sum);
        self.protocol.take().map(|protocol| XcpHeader::minimal(protocol, reverse_feedback))
    }
}
