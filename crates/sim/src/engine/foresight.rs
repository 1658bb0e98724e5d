//! Looking ahead, so that memory is on its way before an event needs it.

use ratewire_net::Network;
use ratewire_net::spec::LinkId;

use super::{INDEX, LINK};
use crate::flow::FlowTable;
use crate::wheel::Wheel;

/// So many links stay in the caches, and looking ahead would only take time.
const FEW_LINKS: usize = 1000;
/// Events seen before their turn: memory answers in the time of one or two.
const AHEAD: usize = 16;
/// Events between two looks at the same one.
const STEP: usize = 4;

/// The events to come, each looked at four times as it comes nearer.
#[derive(Debug)]
pub(super) struct Foresight {
    seen: [u32; AHEAD],
    count: usize,
    many_links: bool,
}

impl Foresight {
    pub(super) fn new(links: usize) -> Foresight {
        Foresight { seen: [!INDEX; AHEAD], count: 0, many_links: links > FEW_LINKS }
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
        if let Some(link) = self.link_seen(0) {
            network.foresee(link);
        }
        if let Some(link) = self.link_seen(STEP) {
            network.foresee_head(link);
        }
        if let Some(link) = self.link_seen(2 * STEP) {
            network.foresee_delivery(link);
        }
        if let Some((flow, is_data)) =
            self.link_seen(3 * STEP).and_then(|l| network.foresee_arrival(l))
        {
            flows.foresee(flow, is_data);
        }
        self.count = self.count.wrapping_add(1);
    }

    /// The link whose event was seen so many before.
    #[inline]
    fn link_seen(&self, before: usize) -> Option<LinkId> {
        link_of(self.seen[self.count.wrapping_sub(before) % AHEAD])
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
    fn run(looks: bool) -> (String, usize) {
        let law = AnyLaw::new("newreno", &[]).expect("a law");
        let mut dumbbell =
            Dumbbell::new(law, 20, Rate::from_mbps(100), Duration::from_millis(20), 50);
        dumbbell.duration = Duration::from_secs(1);
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
        let ((ahead, seen), (not, none)) = (run(true), run(false));
        assert_eq!(ahead, not);
        assert!(seen > 1_000 && none == 0, "{seen}, {none}");
    }
}
