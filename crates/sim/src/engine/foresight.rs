//! Looking ahead, so that memory is on its way before an event needs it.

use ratewire_net::spec::LinkId;
use ratewire_net::{Ahead, Network};

use super::{FLOW_TIMER, INDEX, LINK};
use crate::flow::FlowTable;
use crate::setup::Setup;
use crate::wheel::Wheel;

/// So many links stay in the caches, and looking ahead would only take time.
const FEW_LINKS: usize = 1000;
/// Events seen before their turn.
const AHEAD: usize = 24;
/// Events between two looks at the same one: memory answers in the time of one or two.
const STEP: usize = 4;

/// The events to come, each looked at several times as it comes nearer, for where one thing lies is written in
/// another.
#[derive(Debug)]
pub(super) struct Foresight {
    seen: [u32; AHEAD],
    count: usize,
    many_links: bool,
}

impl Foresight {
    pub(super) fn new(setup: &Setup) -> Foresight {
        let clients = setup.overlay.as_ref().map_or(0, |overlay| overlay.senders.len());
        let many_links = setup.network.links.len() + clients > FEW_LINKS;
        Foresight { seen: [!INDEX; AHEAD], count: 0, many_links }
    }

    /// To be called at each event.
    #[inline]
    pub(super) fn look(
        &mut self,
        event: u32,
        wheel: &mut Wheel,
        network: &Network,
        flows: &FlowTable,
    ) {
        if !self.many_links {
            return;
        }
        if let Some(link) = link_of(event) {
            network.foresee_next(link);
        }
        wheel.scout(AHEAD as u32, |event| self.see(event, network, flows));
    }

    #[inline]
    fn see(&mut self, event: u32, network: &Network, flows: &FlowTable) {
        self.seen[self.count % AHEAD] = event;
        for look in 0..AHEAD / STEP {
            let event = self.seen[self.count.wrapping_add(AHEAD - look * STEP) % AHEAD];
            let index = event & INDEX;
            match event & !INDEX {
                LINK => look_at_link(look, LinkId(index), network, flows),
                FLOW_TIMER => look_at_flow(look, index, false, network, flows),
                _ => {}
            }
        }
        self.count = self.count.wrapping_add(1);
    }
}

/// The event of a link.
#[inline]
fn look_at_link(look: usize, link: LinkId, network: &Network, flows: &FlowTable) {
    match look {
        0 => network.foresee(link),
        1 => network.foresee_head(link),
        2 => network.foresee_delivery(link),
        _ => match network.ahead(link) {
            Some(Ahead::Link(next)) if look == 3 => network.foresee_place(next),
            Some(Ahead::Flow { flow, is_data }) => {
                look_at_flow(look - 3, flow, is_data, network, flows)
            }
            _ => {}
        },
    }
}

/// What happens at a flow: data arrives, or else its sender acts.
#[inline]
fn look_at_flow(look: usize, slot: u32, is_data: bool, network: &Network, flows: &FlowTable) {
    match look {
        0 => flows.foresee(slot, is_data),
        1 | 2 => {
            let Some(link) = flows.answer(slot, is_data).map(|route| network.first_link(route))
            else {
                return;
            };
            if look == 1 {
                if !is_data {
                    flows.foresee_sent(slot);
                }
                network.foresee(link);
            } else {
                network.foresee_place(link);
            }
        }
        _ => {}
    }
}

#[inline]
fn link_of(event: u32) -> Option<LinkId> {
    (event & !INDEX == LINK).then_some(LinkId(event & INDEX))
}

#[cfg(test)]
mod tests {
    use ratewire_laws::AnyLaw;
    use ratewire_units::{Duration, Rate};

    use crate::dumbbell::Dumbbell;
    use crate::engine::Simulation;
    use crate::record::NoRecorder;

    /// What came of a run, and how many events were seen before their turn.
    fn run(law: &str, paused: bool, looks: bool) -> (String, usize) {
        let law = AnyLaw::new(law, &[]).expect("a law");
        let mut dumbbell =
            Dumbbell::new(law, 20, Rate::from_mbps(100), Duration::from_millis(20), 50);
        dumbbell.duration = Duration::from_secs(1);
        dumbbell.paused = paused;
        let setup = dumbbell.setup();
        let mut recorder = NoRecorder;
        let mut simulation = Simulation::new(&setup, &mut recorder).expect("a dumbbell");
        simulation.foresight.many_links = looks;
        simulation.run().expect("it runs");
        let seen = simulation.foresight.count;
        (format!("{:?}", simulation.finish()), seen)
    }

    #[test]
    fn looking_ahead_changes_nothing_that_happens() {
        for (law, paused) in [("newreno", false), ("noq", true)] {
            let (ahead, seen) = run(law, paused, true);
            let (not, none) = run(law, paused, false);
            assert_eq!(ahead, not, "{law}");
            assert!(seen > 1_000 && none == 0, "{law}: {seen}, {none}");
        }
    }
}
