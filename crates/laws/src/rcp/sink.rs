//! The receiver's part.

use ratewire_units::Time;

use super::RcpHeader;
use super::header::RcpKind;
use crate::law::Sink;

/// Returns the rate that arrived last.
#[derive(Clone, Debug, Default)]
pub struct RcpSink {
    reply: Option<RcpHeader>,
}

impl Sink for RcpSink {
    type Header = RcpHeader;

    #[inline]
    fn on_data(&mut self, _now: Time, header: &RcpHeader) {
        if header.kind == RcpKind::Request {
            self.reply = Some(RcpHeader::reply(header));
        }
    }

    #[inline]
    fn on_ack(&mut self, _now: Time) -> Option<RcpHeader> {
        self.reply
    }
}
