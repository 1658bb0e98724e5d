//! Random outages of links.

use ratewire_net::random::{exponential, stream};
use ratewire_net::spec::{Change, LinkId};
use ratewire_sim::setup::Setup;
use ratewire_units::{Duration, Time};

use super::finish::MOST_STEPS;
use super::properties::varying::Outages;
use super::{Link, Net};
use crate::context::Context;
use crate::document::At;

/// A link that goes down at random.
#[derive(Clone, Copy, Debug)]
pub(crate) struct RandomOutages {
    link: LinkId,
    /// The link whose name draws the times: both directions of a half-duplex cable have those of
    /// the first.
    drawn_as: LinkId,
    outages: Outages,
}

/// The links that go down at random. Notes an error for each that would do so too often.
pub(crate) fn read(context: &Context<'_>, net: &Net, duration: Duration) -> Vec<RandomOutages> {
    let (mut all, mut changes) = (Vec::new(), 0_u64);
    let of = |link: &Link| {
        let usual = At { value: net.usual.variation.outages, span: link.span };
        link.properties.variation.outages.unwrap_or(usual)
    };
    for (id, link) in net.links.iter().enumerate() {
        let At { value, span } = of(link);
        let other = net.other_half(id);
        if let Some(first) = other.filter(|other| *other < id) {
            let first = &net.links[first];
            if of(first).value != value {
                let message = format!(
                    "{:?} and {:?} share a half-duplex cable and differ in `outages`",
                    first.name, link.name
                );
                context
                    .error(span, message)
                    .help("both directions go down together: give both the same, or none");
                continue;
            }
        }
        let Some(outages) = value else { continue };
        let own = 2 * (duration.ps() / (outages.up + outages.down).ps().max(1));
        changes = own.saturating_add(changes);
        if changes > MOST_STEPS {
            context
                .error(span, "the outages of all links are more than a million changes")
                .help("shorten the run, or give longer times");
            continue;
        }
        let drawn_as = LinkId(other.map_or(id, |other| other.min(id)) as u32);
        all.push(RandomOutages { link: LinkId(id as u32), drawn_as, outages });
    }
    all
}

/// Draws the outages of these links, each from a stream of its own: a draw depends on the seed and
/// the link's name, and on no other link. Both directions of a half-duplex cable go down together.
pub(crate) fn draw(all: &[RandomOutages], setup: &mut Setup) {
    setup.has_random_outages = !all.is_empty();
    let end = Time::ZERO + setup.duration;
    for RandomOutages { link, drawn_as, outages } in all {
        let name = &setup.network.links[drawn_as.index()].name;
        let mut random = stream(setup.seed, &format!("outages of {name}"), 0);
        let (mut at, mut up) = (Time::ZERO, true);
        loop {
            let mean = if up { outages.up } else { outages.down };
            at += mean.scale(exponential(&mut random));
            if at >= end {
                break;
            }
            up = !up;
            setup.changes.push((at, *link, Change::Up(up)));
        }
    }
}
