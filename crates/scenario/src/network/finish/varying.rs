//! What varies on links as simulated, checked against the rest of the network.

use ratewire_net::spec::TokenBucket;
use ratewire_units::Bytes;

use super::Rooms;
use crate::document::At;
use crate::network::Link;

/// Policer and shaper of a link, and checks of them.
pub(super) struct Buckets {
    pub policer: Option<TokenBucket>,
    pub shaper: Option<TokenBucket>,
}

impl Buckets {
    /// The buckets of a link; `largest` is the largest packet of any flow.
    pub fn of(rooms: &Rooms<'_>, link: &Link, largest: Bytes, is_on_medium: bool) -> Buckets {
        let (own, usual) = (&link.properties.variation, &rooms.net.usual.variation);
        let largest = largest + rooms.net.overhead(link);
        for (key, bucket) in [("policer", own.policer), ("shaper", own.shaper)] {
            check_burst(rooms, key, bucket, largest);
        }
        if let (Some(At { value: Some(_), span }), true) = (own.shaper, is_on_medium) {
            rooms
                .context
                .error(span, format!("{:?} is on a half-duplex medium and has a shaper", link.name))
                .help("a packet that waits for tokens would keep the medium: shape another link");
        }
        Buckets {
            policer: own.policer.map_or(usual.policer, |at| at.value),
            shaper: own.shaper.map_or(usual.shaper, |at| at.value),
        }
    }
}

/// Notes an error if a full packet does not fit into a bucket.
fn check_burst(
    rooms: &Rooms<'_>,
    key: &str,
    bucket: Option<At<Option<TokenBucket>>>,
    largest: Bytes,
) {
    if let Some(At { value: Some(bucket), span }) = bucket
        && bucket.burst < largest
    {
        let burst = bucket.burst;
        rooms
            .context
            .error(span, format!("`burst` of `{key}` is {burst}, less than a packet of {largest}"))
            .help("a bucket holds at least the largest packet, with the link's `overhead`");
    }
}
