//! The receiver's part.

use ratewire_units::Time;

use super::HpccHeader;
use crate::law::Sink;

/// Returns the stamps of the last packet that arrived.
#[derive(Clone, Debug, Default)]
pub struct HpccSink {
    newest: Option<HpccHeader>,
}

impl Sink for HpccSink {
    type Header = HpccHeader;

    #[inline]
    fn on_data(&mut self, _now: Time, header: &HpccHeader) {
        self.newest = Some(header.returned());
    }

    #[inline]
    fn on_ack(&mut self, _now: Time) -> Option<HpccHeader> {
        self.newest.take()
    }
}
