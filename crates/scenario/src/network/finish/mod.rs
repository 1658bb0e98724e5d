//! Turns links as described into links as simulated: queues in bytes, buffers, media, traces.

mod buffers;
mod drivers;
mod media;
mod room;
mod steps;
mod unused;
mod varying;

use std::collections::BTreeMap;

use ratewire_net::spec::{Change, LinkId, LinkSpec, NetworkSpec, NodeId, Service};
use ratewire_units::{Bytes, Duration, Rate, Time};

use crate::context::Context;
use crate::document::At;
use crate::laws::{LawUse, Uses};

use super::Net;
use super::properties::queue::Queue;
use super::properties::{Router, Trace};
use buffers::PauseBuffers;
use media::Media;
use steps::Steps;

pub(crate) use drivers::keep_to_hosts;
pub(crate) use room::Rooms;
pub(crate) use unused::{warn_of_queues, warn_of_shapers, warn_of_sorting};

/// Most changes that a trace, or a table with `every`, may make.
pub(super) const MOST_STEPS: u64 = 1_000_000;

/// The network as simulated, and the changes that traces make.
pub(crate) struct Finished {
    pub network: NetworkSpec,
    pub changes: Vec<(Time, LinkId, Change)>,
}

/// Makes the network as simulated.
///
/// `largest` is the largest packet of any flow.
pub(crate) fn finish(
    rooms: &Rooms<'_>,
    uses: &mut Uses,
    largest: Bytes,
    duration: Duration,
) -> Finished {
    let Rooms { context, net, .. } = *rooms;
    let usual = &net.usual;
    let mut network = NetworkSpec { nodes: net.nodes.clone(), ..NetworkSpec::default() };
    let mut changes = Vec::new();
    let mut media = Media::default();
    let mut pausing = PauseBuffers::new(context, net, largest);
    for (id, link) in net.links.iter().enumerate() {
        let properties = &link.properties;
        let service = match &properties.trace {
            Some(At { value: Trace::Opportunities(trace, _), .. }) => {
                Service::Opportunities(trace.clone())
            }
            Some(At { value: Trace::Rates(trace), span }) => {
                let first = trace.steps[0].1;
                let steps = Steps { steps: &trace.steps, period: trace.period, first };
                changes.extend(steps.changes(context, *span, id, duration, Change::Rate));
                Service::Rate(first)
            }
            None => Service::Rate(properties.rate.map_or(Rate::ZERO, |rate| rate.value)),
        };
        let law = match &properties.law {
            Some(Router::Legacy | Router::Strips) => None,
            Some(Router::Law(name)) => {
                Some(uses.index(LawUse { name: Some(name.clone()), options: Vec::new() }))
            }
            None => Some(uses.index(LawUse::default())),
        };
        let police = net.police(link);
        if law.is_none() && police.is_some() {
            context
                .error(link.span, format!("the link {:?} has no port to be policed", link.name))
                .help("a policer holds senders to what a port granted: give the link a `law`");
        }
        if let (Some(trace), Some(At { value: first, span })) =
            (&properties.delay_trace, properties.delay)
        {
            let steps = Steps { steps: &trace.steps, period: trace.period, first };
            changes.extend(steps.changes(context, span, id, duration, Change::Delay));
        }
        let medium = media.of(context, net, id);
        let variation = varying::of(rooms, link, largest, medium.is_some()).boxed();
        network.links.push(LinkSpec {
            name: link.name.clone(),
            from: NodeId(link.from as u32),
            to: NodeId(link.to as u32),
            service,
            delay: net.delay(id),
            overhead: net.overhead(link),
            limit: rooms.of(id),
            discipline: properties.discipline.as_ref().unwrap_or(&usual.discipline).clone(),
            loss: properties.loss.as_ref().unwrap_or(&usual.loss).clone(),
            law,
            medium,
            strips: properties.law == Some(Router::Strips),
            reorder: properties.reorder.unwrap_or(usual.reorder),
            police,
            variation,
            pause: pausing.buffer(id),
            driver: pausing.driver(id),
        });
    }
    media.warn_of_lone_links(context, net);
    warn_of_unread_round_trips(context, net);
    network.mediums = media.list;
    Finished { network, changes }
}

/// Warns of each `queue_rtt` that no link's queue uses.
fn warn_of_unread_round_trips(context: &Context<'_>, net: &Net) {
    let mut read = BTreeMap::new();
    for link in &net.links {
        let Some(rtt) = link.properties.queue_rtt else { continue };
        let queue = link.properties.queue.map_or(net.usual.queue, |queue| queue.value);
        let reads = matches!(queue, Queue::Bdp(_));
        let (_, any) = read.entry((rtt.span.source, rtt.span.start)).or_insert((rtt.span, false));
        *any |= reads;
    }
    for (span, _) in read.into_values().filter(|(_, any)| !any) {
        context
            .warning(span, "`queue_rtt` means nothing here: the queue is not given in bdp")
            .help("it sets the round trip of `queue = \"1 bdp\"`");
    }
}
