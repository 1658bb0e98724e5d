//! The receiver's part: names the packet that an acknowledgement answers.

use ratewire_units::Time;

use super::PacketNumber;
use crate::law::Sink;

/// Returns the number of the newest packet that arrived since the last acknowledgement.
#[derive(Clone, Debug, Default)]
pub struct BbrSink {
    newest: Option<PacketNumber>,
}

impl Sink for BbrSink {
    type Header = PacketNumber;

    #[inline]
    fn on_data(&mut self, _now: Time, header: &PacketNumber) {
        self.newest = self.newest.max(Some(*header));
    }

    #[inline]
    fn on_ack(&mut self, _now: Time) -> Option<PacketNumber> {
        self.newest.take()
    }
}
