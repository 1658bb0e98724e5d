//! Looking ahead, so that memory is on its way before an event needs it.

use ratewire_net::spec::LinkId;
use ratewire_net::{Ahead, Network};

use super::{FLOW_TIMER, INDEX, KIND_SHIFT, LINK, OTHER};
use crate::flow::FlowTable;
use crate::setup::Setup;
use crate::wheel::Wheel;

/// So many links, and clients of an overlay, stay in the caches, and looking ahead would only take time.
const FEW: usize = 1000;
/// Events seen before their turn.
const AHEAD: usize = 24;
/// How many are remembered: a power of two, so that each is found at once.
const SEEN: usize = AHEAD.next_power_of_two();
/// Events between two looks at the same one: memory answers in the time of one or two.
const STEP: usize = 4;

/// Beside the kinds of events: data arrives at a flow.
const DATA: u32 = 3 << KIND_SHIFT;

/// The events to come, each looked at several times as it comes nearer, for where one thing lies is written in
/// another.
#[derive(Debug)]
pub(super) struct Foresight {
    seen: [u32; SEEN],
    count: usize,
    looks: bool,
}

impl Foresight {
    pub(super) fn new(setup: &Setup) -> Foresight {
        let clients = setup.overlay.as_ref().map_or(0, |overlay| overlay.senders.len());
        let looks = setup.network.links.len() + clients > FEW;
        Foresight { seen: [OTHER; SEEN], count: 0, looks }
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
        if !self.looks {
            return;
        }
        if let Some(link) = link_of(event) {
            network.foresee_next(link);
        }
        wheel.scout(AHEAD as u32, |event| self.see(event, network, flows));
    }

    /// An event is seen, and those that were seen before it come nearer.
    #[inline]
    fn see(&mut self, event: u32, network: &Network, flows: &FlowTable) {
        let count = self.count;
        self.count = count.wrapping_add(1);
        let place = |looks: usize| count.wrapping_sub(looks * STEP) % SEEN;
        self.seen[place(0)] = event;
        if let Some(link) = link_of(event) {
            network.foresee(link);
        }
        if let Some(link) = link_of(self.seen[place(1)]) {
            network.foresee_head(link);
        }
        if let Some(link) = link_of(self.seen[place(2)]) {
            network.foresee_delivery(link);
        }
        // From here on it is looked at what the event leads to.
        let seen = &mut self.seen[place(3)];
        if let Some(link) = link_of(*seen) {
            *seen = beyond(link, network);
        }
        if let Some((slot, is_data)) = flow_of(*seen) {
            flows.foresee(slot, is_data);
        }
        let seen = &mut self.seen[place(4)];
        if let Some((slot, is_data)) = flow_of(*seen) {
            *seen = answer(slot, is_data, network, flows);
        }
        if let Some(link) = link_of(self.seen[place(5)]) {
            network.foresee_place(link);
        }
    }
}

/// Where the packet comes to that leaves a link: another link, or an end of a flow.
#[inline]
fn beyond(link: LinkId, network: &Network) -> u32 {
    match network.ahead(link) {
        Some(Ahead::Link(next)) => LINK | next.0,
        Some(Ahead::Flow { flow, is_data: true }) => DATA | flow,
        Some(Ahead::Flow { flow, is_data: false }) => FLOW_TIMER | flow,
        None => OTHER,
    }
}

/// The link to which a flow that was foreseen answers.
#[inline]
fn answer(slot: u32, is_data: bool, network: &Network, flows: &FlowTable) -> u32 {
    let Some(route) = flows.answer(slot, is_data) else { return OTHER };
    if !is_data {
        flows.foresee_sent(slot);
    }
    let link = network.first_link(route);
    network.foresee(link);
    LINK | link.0
}

#[inline]
fn link_of(event: u32) -> Option<LinkId> {
    (event & !INDEX == LINK).then_some(LinkId(event & INDEX))
}

/// A flow's slot, and whether data arrives there; else its sender acts.
#[inline]
fn flow_of(event: u32) -> Option<(u32, bool)> {
    let kind = event & !INDEX;
    (kind == FLOW_TIMER || kind == DATA).then_some((event & INDEX, kind == DATA))
}

#[cfg(test)]
mod tests {
    use ratewire_laws::AnyLaw;
    use ratewire_units::{Duration, Rate};

    use super::Foresight;
    use crate::dumbbell::Dumbbell;
    use crate::engine::Simulation;
    use crate::overlay::workload;
    use crate::record::NoRecorder;
    use crate::setup::Setup;

    const RATE: Rate = Rate::from_mbps(100);
    const RTT: Duration = Duration::from_millis(20);

    fn dumbbell(law: &str, paused: bool) -> Setup {
        let law = AnyLaw::new(law, &[]).expect("a law");
        let mut dumbbell = Dumbbell::new(law, 20, RATE, RTT, 50);
        dumbbell.duration = Duration::from_secs(1);
        dumbbell.paused = paused;
        dumbbell.setup()
    }

    fn overlay() -> Setup {
        let law = AnyLaw::new("newreno", &[]).expect("a law");
        let mut setup = workload(law, 200, RATE, RTT, 50);
        setup.duration = Duration::from_millis(200);
        setup
    }

    /// What came of a run, and how many events were seen before their turn.
    fn run(setup: &Setup, looks: bool) -> (String, usize) {
        let mut recorder = NoRecorder;
        let mut simulation = Simulation::new(setup, &mut recorder).expect("a setup");
        simulation.foresight.looks = looks;
        simulation.run().expect("it runs");
        let seen = simulation.foresight.count;
        (format!("{:?}", simulation.finish()), seen)
    }

    #[test]
    fn looking_ahead_changes_nothing_that_happens() {
        for setup in [dumbbell("newreno", false), dumbbell("noq", true), overlay()] {
            let (ahead, seen) = run(&setup, true);
            let (not, none) = run(&setup, false);
            assert_eq!(ahead, not);
            assert!(seen > 1_000 && none == 0, "{seen}, {none}");
        }
    }

    #[test]
    fn the_clients_of_an_overlay_count_as_links_do() {
        let law = AnyLaw::new("newreno", &[]).expect("a law");
        let looks = |clients| Foresight::new(&workload(law.clone(), clients, RATE, RTT, 50)).looks;
        assert!(!looks(1_000) && looks(10_000));
    }
}
