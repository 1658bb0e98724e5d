//! Turns links as described into links as simulated: defaults, queues in bytes, media, traces.

use std::collections::{BTreeMap, BTreeSet};

use ratewire_net::spec::{
    Change, Contention, Limit, LinkId, LinkSpec, Loss, MediumId, MediumSpec, NetworkSpec, NodeId,
    Service,
};
use ratewire_units::{Bytes, Duration, Rate, Time};

use crate::context::Context;
use crate::diagnostic::Span;
use crate::laws::LawUse;
use crate::network::properties::{Router, Trace};
use crate::network::queue::Queue;
use crate::network::routes::{self, Routes};
use crate::network::{Link, Net};
use crate::pause::PauseBuffers;
use crate::section::At;
use crate::uses::Uses;

/// Most rate changes that a trace may cause.
const MOST_STEPS: u64 = 1_000_000;

impl Net {
    /// Fills in defaults of properties; notes errors where there is no default.
    pub fn complete(&mut self, context: &Context<'_>) {
        let known = self.links.iter().filter(|link| !link.access);
        let rates = known.filter_map(|link| link.properties.mean_rate());
        // A link that sends nothing says nothing about those of the hosts.
        let fastest = rates.filter(|rate| *rate > Rate::ZERO).max();
        let access = Rate::from_bps(fastest.map_or(10_000_000_000, |r| r.bps().saturating_mul(10)));
        let mut lacking: BTreeMap<_, Lacking<'_>> = BTreeMap::new();
        for link in &mut self.links {
            let span = link.span;
            let properties = &mut link.properties;
            if link.access {
                if properties.mean_rate().is_none() {
                    properties.rate = Some(At { value: access, span });
                }
                properties.delay.get_or_insert(At { value: Duration::ZERO, span });
                properties.queue.get_or_insert(At { value: Queue::Unlimited, span });
            }
            let lacks_rate = properties.mean_rate().is_none() && !properties.told.rate;
            let lacks_delay = properties.delay.is_none() && !properties.told.delay;
            if lacks_rate || lacks_delay {
                let new = || Lacking { span, rate: Vec::new(), delay: Vec::new() };
                let of = lacking.entry((span.source, span.start)).or_insert_with(new);
                of.rate.extend(lacks_rate.then_some(link.name.as_str()));
                of.delay.extend(lacks_delay.then_some(link.name.as_str()));
            }
        }
        for of in lacking.values() {
            of.tell(context, self.without_table == Some(of.span));
        }
    }
}

/// Links of one table that lack required properties.
struct Lacking<'n> {
    span: Span,
    rate: Vec<&'n str>,
    delay: Vec<&'n str>,
}

impl Lacking<'_> {
    /// Notes the errors. If the table is missing as a whole, the help shows one with all
    /// properties.
    fn tell(&self, context: &Context<'_>, lacks_table: bool) {
        let both = [
            (&self.rate, "rate", "rate = \"10 Mbit/s\""),
            (&self.delay, "delay", "delay = \"20 ms\""),
        ];
        let missing: Vec<_> = both.into_iter().filter(|(links, ..)| !links.is_empty()).collect();
        let all: Vec<&str> = missing.iter().map(|(.., how)| *how).collect();
        for (links, what, how) in &missing {
            let example = if lacks_table {
                format!("link = {{ {} }}", all.join(", "))
            } else {
                how.to_string()
            };
            let message = match links.as_slice() {
                [one] => format!("the link {one:?} has no {what}"),
                [one, other] => format!("the links {one:?} and {other:?} have no {what}"),
                [one, others @ ..] => {
                    format!("the link {one:?} and {} others have no {what}", others.len())
                }
                [] => continue,
            };
            context.error(self.span, message).help(format!("give it one, for example {example}"));
        }
    }
}

/// Longest propagation round trips of the pairs of nodes that communicate.
#[derive(Debug, Default)]
pub(crate) struct RoundTrips {
    /// Longest round trip of the pairs that cross each link in either direction.
    over: Vec<Option<Duration>>,
    /// Longest round trip of all pairs.
    pub longest: Option<Duration>,
}

impl RoundTrips {
    /// Round trips of `pairs`; pairs without a route are left out.
    pub fn new(
        net: &Net,
        routes: &mut Routes<'_>,
        pairs: impl IntoIterator<Item = (usize, usize)>,
    ) -> RoundTrips {
        let mut trips = RoundTrips { over: vec![None; net.links.len()], longest: None };
        let mut seen = BTreeSet::new();
        for (a, b) in pairs {
            if a == b || !seen.insert((a, b)) {
                continue;
            }
            let (Some(there), Some(back)) = (routes.shares(a, b), routes.shares(b, a)) else {
                continue;
            };
            let rtt = routes::delay(net, &there) + routes::delay(net, &back);
            for (id, _) in there.iter().chain(&back) {
                trips.over[*id] = trips.over[*id].max(Some(rtt));
            }
            trips.longest = trips.longest.max(Some(rtt));
        }
        trips
    }
}

/// The network as simulated, and the changes that traces make.
pub(crate) struct Finished {
    pub network: NetworkSpec,
    pub changes: Vec<(Time, LinkId, Change)>,
}

/// Makes the network as simulated.
///
/// `packet` is the unit of sizes in packets, `largest` the largest packet of any flow.
#[allow(clippy::too_many_arguments)]
pub(crate) fn finish(
    context: &Context<'_>,
    net: &Net,
    trips: &RoundTrips,
    uses: &mut Uses,
    packet: Bytes,
    largest: Bytes,
    duration: Duration,
) -> Finished {
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
                let count = duration.ps() / trace.period.ps().max(1) + 1;
                if count.saturating_mul(trace.steps.len() as u64) > MOST_STEPS {
                    context
                        .error(*span, "this trace changes the rate more than a million times")
                        .help("shorten the run, or use a trace with longer steps");
                } else {
                    let link = LinkId(id as u32);
                    changes.extend(steps(trace, link, duration));
                }
                Service::Rate(trace.steps[0].1)
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
        if let (None, Some(Some(_))) = (law, properties.police) {
            context
                .error(link.span, format!("the link {:?} has no port to be policed", link.name))
                .help("a policer holds senders to what a port granted: give the link a `law`");
        }
        network.links.push(LinkSpec {
            name: link.name.clone(),
            from: NodeId(link.from as u32),
            to: NodeId(link.to as u32),
            service,
            delay: net.delay(id),
            overhead: properties.overhead.unwrap_or(Bytes::ZERO),
            limit: limit(context, link, trips, id, packet),
            discipline: properties.discipline.clone().unwrap_or_default(),
            loss: properties.loss.clone().unwrap_or(Loss::None),
            law,
            medium: media.of(context, net, id),
            strips: properties.law == Some(Router::Strips),
            reorder: properties.reorder.flatten(),
            police: properties.police.flatten(),
            pause: pausing.buffer(id),
            driver: pausing.driver(id),
        });
    }
    media.warn_of_lone_links(context, net);
    warn_of_unread_round_trips(context, net);
    network.mediums = media.list;
    Finished { network, changes }
}

fn steps(
    trace: &ratewire_inputs::cooked::RateTrace,
    link: LinkId,
    duration: Duration,
) -> Vec<(Time, LinkId, Change)> {
    let mut changes = Vec::new();
    let mut from = Duration::ZERO;
    let mut rate = trace.steps[0].1;
    while from < duration {
        for (start, next) in &trace.steps {
            let at = from + *start;
            if at < duration && *next != rate {
                rate = *next;
                changes.push((Time::ZERO + at, link, Change::Rate(rate)));
            }
        }
        from += trace.period;
    }
    changes
}

fn limit(
    context: &Context<'_>,
    link: &Link,
    trips: &RoundTrips,
    id: usize,
    packet: Bytes,
) -> Limit {
    let properties = &link.properties;
    let queue = properties.queue.unwrap_or(At { value: Queue::Bdp(1.0), span: link.span });
    let rate = properties.mean_rate().unwrap_or(Rate::ZERO);
    let room = match queue.value {
        Queue::Unlimited => return Limit::Unlimited,
        Queue::Bytes(bytes) => return Limit::Bytes(bytes),
        Queue::Packets(packets) => return Limit::Packets(packets),
        Queue::Time(time) => rate.bytes_in(time),
        Queue::Bdp(times) => {
            let delay = properties.delay.map_or(Duration::ZERO, |delay| delay.value);
            let crossing = trips.over.get(id).copied().flatten().or(trips.longest);
            let given = properties.queue_rtt.map(|rtt| rtt.value);
            let rtt = given.or(crossing).unwrap_or(delay * 2);
            Bytes::new((rate.bytes_in(rtt).as_f64() * times + 0.5) as u64)
        }
    };
    if room >= packet {
        return Limit::Bytes(room);
    }
    // Only a queue that the user set is worth a warning; at rate 0 there is no product.
    if properties.queue.is_some() && rate != Rate::ZERO {
        context
            .warning(
                queue.span,
                format!("the queue of {:?} comes to {room}, less than a packet", link.name),
            )
            .help(format!(
                "it is given room for one packet ({packet}); say \"10 packets\" for more"
            ));
    }
    Limit::Bytes(packet)
}

/// Warns of each `queue_rtt` that no link's queue uses.
fn warn_of_unread_round_trips(context: &Context<'_>, net: &Net) {
    let mut read = BTreeMap::new();
    for link in &net.links {
        let Some(rtt) = link.properties.queue_rtt else { continue };
        let queue = link.properties.queue.map(|queue| queue.value);
        let reads = matches!(queue, None | Some(Queue::Bdp(_)));
        let (_, any) = read.entry((rtt.span.source, rtt.span.start)).or_insert((rtt.span, false));
        *any |= reads;
    }
    for (span, _) in read.into_values().filter(|(_, any)| !any) {
        context
            .warning(span, "`queue_rtt` means nothing here: the queue is not given in bdp")
            .help("it sets the round trip of `queue = \"1 bdp\"`");
    }
}

/// Half-duplex media of the links.
#[derive(Default)]
struct Media {
    list: Vec<MediumSpec>,
    by_name: BTreeMap<String, MediumId>,
    stated: BTreeSet<MediumId>,
    /// Links of each medium.
    links: Vec<Vec<usize>>,
}

impl Media {
    fn of(&mut self, context: &Context<'_>, net: &Net, id: usize) -> Option<MediumId> {
        let link = &net.links[id];
        let properties = &link.properties;
        let name = match (&properties.medium, properties.half_duplex) {
            (Some(name), _) => name.clone(),
            (None, Some(true)) => net.links[link.peer.map_or(id, |peer| peer.min(id))].name.clone(),
            (None, said) => {
                // `duplex = "full"` overrides what is set for all links, so it needs no warning.
                if said.is_none() && properties.contention.is_some() {
                    context
                        .warning(link.span, "`contention` means nothing here: there is no medium")
                        .help("duplex = \"half\" makes both directions of a link share one");
                }
                return None;
            }
        };
        let contention = properties.contention;
        let medium = *self.by_name.entry(name.clone()).or_insert_with(|| {
            self.list.push(MediumSpec { name, contention: Contention::Alternate });
            self.links.push(Vec::new());
            MediumId(self.list.len() as u32 - 1)
        });
        self.links[medium.index()].push(id);
        if let Some(contention) = contention {
            let spec = &mut self.list[medium.index()];
            if !self.stated.insert(medium) && spec.contention != contention {
                context.error(
                    link.span,
                    format!("the links of the medium {:?} differ in `contention`", spec.name),
                );
            }
            spec.contention = contention;
        }
        Some(medium)
    }

    /// Warns of media with only one link: most often the other direction was meant to share it.
    fn warn_of_lone_links(&self, context: &Context<'_>, net: &Net) {
        for links in &self.links {
            let [lone] = links[..] else { continue };
            let link = &net.links[lone];
            let warning = match &link.properties.medium {
                Some(name) => format!("only {:?} is on the medium {name:?}", link.name),
                None => format!("{:?} has no other direction to share a medium with", link.name),
            };
            context.warning(link.span, warning).help(
                "name the `medium` for the others too; of a cable, made with `between`, both directions share one",
            );
        }
    }
}
