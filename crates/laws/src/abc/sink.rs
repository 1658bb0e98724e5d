//! The receiver's part.

use ratewire_units::Time;

use super::AbcHeader;
use crate::law::Sink;

/// Counts accelerating and braking packets since the last acknowledgement.
#[derive(Clone, Debug, Default)]
pub struct AbcSink {
    accelerated: u32,
    braked: u32,
}

impl Sink for AbcSink {
    type Header = AbcHeader;

    #[inline]
    fn on_data(&mut self, _now: Time, header: &AbcHeader) {
        if let AbcHeader::Data { accelerate } = *header {
            let count = if accelerate { &mut self.accelerated } else { &mut self.braked };
            *count = count.saturating_add(1);
        }
    }

    #[inline]
    fn on_ack(&mut self, _now: Time) -> Option<AbcHeader> {
        let AbcSink { accelerated, braked } = core::mem::take(self);
        Some(AbcHeader::Echo { accelerated, braked })
    }
}
