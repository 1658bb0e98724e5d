//! Random outages of links.

use ratewire_net::random::{exponential, stream};
use ratewire_net::spec::{Change, LinkId};
use ratewire_sim::setup::Setup;
use ratewire_units::{Duration, Time};

use super::Net;
use super::finish::MOST_STEPS;
use super::properties::varying::Outages;
use crate::context::Context;
use crate::document::At;

/// A link that goes down at random.
#[derive(Clone, Copy, Debug)]
pub(crate) struct RandomOutages {
    link: LinkId,
    outages: Outages,
}

/// The links that go down at random. Notes an error for each that would do so too often.
pub(crate) fn read(context: &Context<'_>, net: &Net, duration: Duration) -> Vec<RandomOutages> {
    let mut all = Vec::new();
    for (id, link) in net.links.iter().enumerate() {
        let usual = net.usual.variation.outages;
        let At { value, span } =
            link.properties.variation.outages.unwrap_or(At { value: usual, span: link.span });
        let Some(outages) = value else { continue };
        let changes = 2 * (duration.ps() / (outages.up + outages.down).ps().max(1));
        if changes > MOST_STEPS {
            context
                .error(span, "these outages change the link more than a million times")
                .help("shorten the run, or give longer times");
            continue;
        }
        all.push(RandomOutages { link: LinkId(id as u32), outages });
    }
    all
}

/// Draws the outages of these links, each from a stream of its own: a draw depends on the seed and
/// the link's name, and on no other link.
pub(crate) fn draw(all: &[RandomOutages], setup: &mut Setup) {
    setup.has_random_outages = !all.is_empty();
    let end = Time::ZERO + setup.duration;
    for RandomOutages { link, outages } in all {
        let name = &setup.network.links[link.index()].name;
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
