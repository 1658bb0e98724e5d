//! Room in the queues of links.

use ratewire_net::spec::Limit;
use ratewire_units::{Bytes, Duration, Rate};

use super::super::properties::queue::Queue;
use super::super::{Net, RoundTrips};
use crate::context::Context;
use crate::document::At;

/// What sizes of queues in bdp or as times refer to.
#[derive(Clone, Copy)]
pub(crate) struct Rooms<'a> {
    pub context: &'a Context<'a>,
    pub net: &'a Net,
    pub trips: &'a RoundTrips,
    /// Least room of a queue given in bdp or as a time.
    pub packet: Bytes,
}

impl Rooms<'_> {
    /// Room in the queue of a link.
    pub(super) fn of(&self, id: usize) -> Limit {
        let properties = &self.net.links[id].properties;
        self.limit(id, properties.queue, properties.mean_rate().unwrap_or(Rate::ZERO))
    }

    /// Room in the queue of a link at this rate; `None` is the queue of links that give none.
    pub(crate) fn limit(&self, id: usize, queue: Option<At<Queue>>, rate: Rate) -> Limit {
        let Rooms { context, net, packet, .. } = *self;
        let room = match queue.map_or(net.usual.queue, |queue| queue.value) {
            Queue::Unlimited => return Limit::Unlimited,
            Queue::Bytes(bytes) => return Limit::Bytes(bytes),
            Queue::Packets(packets) => return Limit::Packets(packets),
            Queue::Time(time) => rate.bytes_in(time),
            Queue::Bdp(times) => {
                let rtt = self.round_trip(id);
                Bytes::new((rate.bytes_in(rtt).as_f64() * times + 0.5) as u64)
            }
        };
        if room >= packet {
            return Limit::Bytes(room);
        }
        // Only a queue that the user set is worth a warning; at rate 0 there is no product.
        if let Some(queue) = queue
            && rate != Rate::ZERO
        {
            let name = &net.links[id].name;
            context
                .warning(
                    queue.span,
                    format!("the queue of {name:?} comes to {room}, less than a packet"),
                )
                .help(format!(
                    "it is given room for one packet ({packet}); say \"10 packets\" for more"
                ));
        }
        Limit::Bytes(packet)
    }

    /// Round trip that defines a bdp of a link.
    fn round_trip(&self, id: usize) -> Duration {
        let properties = &self.net.links[id].properties;
        let given = properties.queue_rtt.map(|rtt| rtt.value);
        let crossing = self.trips.over(id).or(self.trips.longest);
        given.or(crossing).unwrap_or(self.net.delay(id) * 2)
    }
}
