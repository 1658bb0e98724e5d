//! Whether a run depends on its seed.

use std::cell::Cell;
use std::collections::{BTreeMap, BTreeSet};

use ratewire_laws::{Draw, FlowContext};
use ratewire_net::spec::{
    Arrangement, Change, Contention, LinkId, LinkSpec, Loss, PauseSpec, PortClocks, Sockets,
};
use ratewire_transport::TransportConfig;
use ratewire_units::{Rate, Time};

use super::ensemble::JunctionSpec;
use super::{Arrivals, Setup, Sizes, TrafficSpec, processing};

impl Setup {
    /// Whether any listed flow, or its acknowledgements, have several paths of equal cost.
    fn has_equal_paths(&self) -> bool {
        let Ok(mut pathfinder) = self.pathfinder() else { return false };
        let ends: BTreeSet<_> = self.flows.iter().map(|flow| (flow.from, flow.to)).collect();
        ends.into_iter()
            .any(|(from, to)| pathfinder.has_choice(from, to) || pathfinder.has_choice(to, from))
    }

    /// Whether the run may depend on its seed. If not, every seed gives the same run.
    pub fn has_chance(&self) -> bool {
        let network = &self.network;
        self.traffic.iter().any(TrafficSpec::has_chance)
            || self.has_random_starts
            || self.flows.iter().any(|flow| flow.app.writer.has_chance())
            || self.has_random_outages
            || processing::links(self).next().is_some()
            || self.overlay.as_ref().is_some_and(|overlay| overlay.params.randomise)
            || network.links.iter().any(link_has_chance)
            || self.changes.iter().any(|(.., change)| change_has_chance(change))
            || network.mediums.iter().any(|medium| medium.contention != Contention::Alternate)
            || self.ensembles.junctions.iter().any(JunctionSpec::has_chance)
            || self.a_port_draws()
            || self.has_equal_paths()
            || self.a_sender_draws()
    }

    /// Whether the sender of any flow uses its random number. Laws do not declare this: a sender of
    /// each law is made.
    fn a_sender_draws(&self) -> bool {
        let is_used = Cell::new(false);
        let flows = self.flows.iter().map(|flow| (flow.law, &flow.transport));
        let classes = self.traffic.iter().map(|class| (class.law, &class.transport));
        let of_each: BTreeMap<usize, &TransportConfig> = flows.chain(classes).collect();
        of_each.into_iter().any(|(law, config)| {
            let law = &self.laws[law];
            let headers = config.headers + law.header_len();
            law.source(&FlowContext {
                mss: config.packet.saturating_sub(headers),
                packet: config.packet,
                line_rate: Rate::from_mbps(1000),
                back_pressured: false,
                draw: Draw::noted(0, &is_used),
            });
            is_used.get()
        })
    }

    /// Whether the port of any link uses its random number, or has a timer and a random clock. Laws
    /// do not declare this: each port is made as in the run.
    fn a_port_draws(&self) -> bool {
        let is_used = Cell::new(false);
        let has_random_clock = self.network.port_clocks == PortClocks::Random;
        let mut links = self.network.links.iter().zip((0..).map(LinkId));
        links.any(|(link, id)| {
            let law = link.law.map(|law| &self.laws[law]);
            let port = law.and_then(|law| law.port(&link.context(id, Draw::noted(0, &is_used))));
            let has_timer = port.is_some_and(|port| port.next_timer() != Time::NEVER);
            is_used.get() || has_random_clock && has_timer
        })
    }
}

impl TrafficSpec {
    fn has_chance(&self) -> bool {
        match self.arrivals {
            Arrivals::Poisson(_) => true,
            Arrivals::Periodic(_) => self.pairs.len() > 1 || !matches!(self.sizes, Sizes::Fixed(_)),
            Arrivals::Listed(_) => false,
        }
    }
}

fn link_has_chance(link: &LinkSpec) -> bool {
    let by_flow = |pause: &PauseSpec| matches!(pause.arrangement, Arrangement::ByFlow(_));
    link.discipline.draws()
        || link.driver.sockets == Sockets::AtRandom
        || link.pause.as_ref().is_some_and(by_flow)
        || loss_has_chance(&link.loss)
        || link.reorder.is_some()
        || link.variation.as_ref().is_some_and(|of| of.jitter.is_some() || of.duplicate > 0.0)
}

fn loss_has_chance(loss: &Loss) -> bool {
    matches!(loss, Loss::Random(_) | Loss::Burst { .. })
}

fn change_has_chance(change: &Change) -> bool {
    matches!(change, Change::Loss(loss) if loss_has_chance(loss))
}
