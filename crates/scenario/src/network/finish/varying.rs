//! What varies on links as simulated, checked against the rest of the network.

use ratewire_net::spec::{TokenBucket, Variation};
use ratewire_units::Bytes;

use super::Rooms;
use crate::document::At;
use crate::network::Link;

/// What varies on a link, checked. `largest` is the largest packet of any flow.
pub(super) fn of(rooms: &Rooms<'_>, link: &Link, largest: Bytes, is_on_medium: bool) -> Variation {
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
    Variation {
        duplicate: own.duplicate.map_or(usual.duplicate, |at| at.value),
        jitter: own.jitter.map_or(usual.jitter, |at| at.value),
        policer: own.policer.map_or(usual.policer, |at| at.value),
        shaper: own.shaper.map_or(usual.shaper, |at| at.value),
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
