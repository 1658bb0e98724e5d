//! `load`: the rate of Poisson arrivals that makes a given load.

use std::collections::BTreeSet;

use ratewire_net::spec::LinkId;
use ratewire_sim::setup::{Arrivals, Sizes};
use ratewire_transport::TransportConfig;
use ratewire_units::{Bytes, Rate};

use super::between::Pairs;
use super::{Senders, sizes};
use crate::document::At;
use crate::network::Net;
use crate::section::Section;
use crate::transport;

/// The load that a class of traffic is meant to make.
#[derive(Clone, Debug, PartialEq)]
pub struct Load {
    /// Share of the link's rate, or of the topology's demands.
    pub share: f64,
    /// The link; `None` where the load is a share of the demands.
    pub link: Option<LinkId>,
    /// Number of further links with the same load.
    pub others: usize,
}

/// The flows that make the load.
pub(super) struct Flows<'a> {
    pub pairs: &'a Pairs,
    /// Whether the pairs are those of the topology's demands.
    pub are_demands: bool,
    pub sizes: Option<&'a Sizes>,
    pub config: &'a TransportConfig,
}

/// Reads the table and computes the rate of arrivals.
pub(super) fn read(
    section: &Section<'_>,
    senders: &mut Senders<'_>,
    flows: &Flows<'_>,
) -> Option<(Arrivals, Load)> {
    let context = section.context;
    let choice = section.only(&["fraction", "demands"]);
    let fraction = section.number("fraction");
    let demands = section.number("demands");
    let link = section.text("link");
    section.finish();
    let links = link.map(|link| senders.net.expect_links(context, link));
    let sizes = flows.sizes?;
    let (payload, packets) = sizes::means(sizes, transport::payload(flows.config));
    let bytes =
        |overhead: Bytes| payload + packets * (flows.config.headers.as_f64() + overhead.as_f64());
    if choice? == "demands" {
        let share = demands?;
        if let Some(link) = link {
            context
                .error(link.span, "`link` means nothing here: demands are of no link")
                .help("leave it out; or use `fraction`, which is of a link");
        }
        if !flows.are_demands {
            context
                .error(share.span, "`demands` needs between = \"demands\"")
                .help("demands are of pairs of nodes; for other pairs use `fraction`");
        }
        // Demands of pairs that `except` leaves out are nobody's.
        let kept: BTreeSet<_> = flows.pairs.iter().map(|(a, b, _)| (*a, *b)).collect();
        let is_kept = |pair| !flows.are_demands || kept.contains(&pair);
        let demands = senders.net.demands.iter().filter(|(a, b, _)| is_kept((*a, *b)));
        let total: f64 = demands.map(|(_, _, bps)| bps).sum();
        if total == 0.0 {
            // That `except` leaves nothing has its own error.
            let has_own_error = !senders.net.demands.is_empty() && kept.is_empty();
            if !senders.net.is_guess && !has_own_error {
                context
                    .error(share.span, "this topology has no demands")
                    .help("SNDlib and TopoHub files have them; or use `fraction`");
            }
            return None;
        }
        let arrivals = Arrivals::Poisson(share.value * total / 8.0 / bytes(Bytes::ZERO));
        return Some((arrivals, Load { share: share.value, link: None, others: 0 }));
    }
    let fraction = fraction?;
    let crossing = crossing(senders, flows.pairs);
    // Share of a link's rate that one flow per second takes.
    let per_flow = |id: usize| {
        let link = &senders.net.links[id];
        let rate = link.properties.mean_rate().unwrap_or(Rate::ZERO).bps() as f64;
        let overhead = senders.net.overhead(link);
        if rate > 0.0 { crossing[id] * bytes(overhead) * 8.0 / rate } else { 0.0 }
    };
    let candidates: Vec<usize> = match links {
        Some(links) if links.is_empty() => return None,
        Some(links) => links,
        None => (0..senders.net.links.len()).collect(),
    };
    let loads: Vec<_> = candidates.into_iter().map(|id| (id, per_flow(id))).collect();
    // Of several equal maxima the first link is taken.
    let heaviest =
        loads.iter().rev().max_by(|a, b| a.1.total_cmp(&b.1)).filter(|(_, load)| *load > 0.0);
    let Some((link, most)) = heaviest.copied() else {
        if !flows.pairs.is_empty() && !senders.net.is_guess {
            let span = link.map_or(fraction.span, |link| link.span);
            context
                .error(span, "this traffic does not load the link")
                .help("none of its pairs crosses the link, or the link has rate 0");
        }
        return None;
    };
    warn_of_bucket(section, senders.net, link, fraction);
    // Sums in another order differ in their last digits.
    let alike = loads.iter().filter(|(_, load)| *load > most * (1.0 - 1e-9)).count();
    let link = Some(LinkId(link as u32));
    let load = Load { share: fraction.value, link, others: alike - 1 };
    Some((Arrivals::Poisson(fraction.value / most), load))
}

/// Warns of a load that exceeds what the link's policer or shaper lets pass for long.
fn warn_of_bucket(section: &Section<'_>, net: &Net, link: usize, fraction: At<f64>) {
    let link = &net.links[link];
    let (own, usual) = (&link.properties.variation, &net.usual.variation);
    let buckets = [("policer", own.policer, usual.policer), ("shaper", own.shaper, usual.shaper)];
    let buckets = buckets.into_iter().filter_map(|(key, own, usual)| {
        own.map_or(usual, |at| at.value).map(|bucket| (key, bucket.rate))
    });
    let Some((key, passes)) = buckets.min_by_key(|(_, rate)| *rate) else { return };
    let own = link.properties.mean_rate().unwrap_or(Rate::ZERO).bps() as f64;
    let asked = Rate::from_bps(libm::round(own * fraction.value) as u64);
    if asked > passes {
        section
            .context
            .warning(
                fraction.span,
                format!("this load is {asked}, and the `{key}` of {:?} passes {passes}", link.name),
            )
            .help("a load is a share of the link's own rate: give a lower `fraction`");
    }
}

/// Share of flows that cross each link.
fn crossing(senders: &mut Senders<'_>, pairs: &Pairs) -> Vec<f64> {
    let total: f64 = pairs.iter().map(|(_, _, weight)| weight).sum();
    let mut share = vec![0.0; senders.net.links.len()];
    for (a, b, weight) in pairs {
        for (id, part) in senders.routes.shares(*a, *b).unwrap_or_default() {
            share[id] += part * weight / total;
        }
    }
    share
}
