//! Rates of flows at one link, by the packets that reach its far end.

use ratewire_net::Body;
use ratewire_net::spec::LinkId;
use ratewire_sim::record::PacketSeen;
use ratewire_units::Bytes;

/// Data of each listed flow that came through a link since the flow's last sample.
#[derive(Debug)]
pub(crate) struct Crossing {
    link: LinkId,
    /// By flow: network-layer size of its data packets.
    sizes: Vec<Bytes>,
}

impl Crossing {
    pub(crate) fn new(link: LinkId, flows: usize) -> Crossing {
        Crossing { link, sizes: vec![Bytes::ZERO; flows] }
    }

    /// Counts a packet, if it has data of a listed flow at this link.
    pub(crate) fn see(&mut self, seen: &PacketSeen) {
        let is_data = matches!(seen.packet.content.body, Body::Data { .. });
        if seen.packet.link == self.link
            && is_data
            && let Some(size) = self.sizes.get_mut(seen.flow.0 as usize)
        {
            *size += Bytes::new(u64::from(seen.packet.label.size));
        }
    }

    /// The data of a flow since the last call.
    pub(crate) fn take(&mut self, flow: usize) -> Bytes {
        self.sizes.get_mut(flow).map_or(Bytes::ZERO, std::mem::take)
    }
}
