//! Sizes of a flow's packets.

use ratewire_units::{Bytes, Throughput};

use crate::law::FlowContext;
use crate::options::Size;

use super::MAX_WINDOW;

/// Sizes of a flow's packets, and of its first window.
#[derive(Clone, Copy, Debug)]
pub(super) struct Sizes {
    /// Payload of a full packet.
    pub(super) mss: f64,
    /// First window in payload bytes, at least one packet.
    pub(super) initial_window: f64,
    /// Network-layer bytes of a packet beside its payload.
    headers: Bytes,
    /// Network-layer bytes per payload byte.
    overhead: f64,
}

impl Sizes {
    pub(super) fn of(flow: &FlowContext, initial_window: Size) -> Sizes {
        let mss = flow.mss.as_f64().max(1.0);
        Sizes {
            mss,
            initial_window: initial_window.bytes(flow.mss).as_f64().clamp(mss, MAX_WINDOW),
            headers: flow.packet.saturating_sub(flow.mss),
            overhead: flow.packet.as_f64() / mss,
        }
    }

    /// Payload of a packet of this size.
    pub(super) fn payload(&self, packet: Bytes) -> u64 {
        packet.saturating_sub(self.headers).get()
    }

    /// Network-layer rate that carries `rate` bytes of payload a second.
    pub(super) fn network_rate(&self, rate: f64) -> Throughput {
        Throughput::new(rate * self.overhead)
    }
}
