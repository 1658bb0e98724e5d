//! Looks ahead at events, so that memory is fetched before they need it.

use ratewire_net::spec::LinkId;
use ratewire_net::{FlowEnd, LookAhead, Network};

use crate::engine::schedule::Subject;
use crate::flow::FlowTable;
use crate::setup::Setup;
use crate::speed::Speed;
use crate::tuning::{EVENTS_AHEAD, EVENTS_BETWEEN_LOOKS, FEW_FLOWS, FEW_LINKS, FEW_TIMERS};
use crate::wheel::Wheel;

/// Slot of no flow.
const NO_SLOT: u32 = u32::MAX;
/// Room for the events seen: a power of two, so that the index is cheap.
const ROOM: usize = EVENTS_AHEAD.next_power_of_two();

/// A coming event, as far as it is known.
#[derive(Clone, Copy, Debug)]
enum Coming {
    /// The event of a link.
    Event(LinkId),
    /// An action at one end of a flow: data arrive, or the sender acts.
    Flow { slot: u32, is_data: bool },
    /// A packet arrives at a link.
    Packet(LinkId),
    /// An unknown event.
    Other,
}

/// The coming events. Each is looked at several times as it comes nearer, because the place of one
/// part is stored in another.
#[derive(Debug)]
pub(crate) struct Foresight {
    /// Whether the simulator looks ahead.
    is_on: bool,
    seen: [Coming; ROOM],
    count: usize,
    /// Slots of the flows whose timers were seen last, newest first.
    timers: [u32; 5],
    /// Whether there are many links.
    looks: bool,
    /// Whether many links have their own events, which are then looked at ahead.
    scouts: bool,
    many_flows: bool,
}

impl Foresight {
    /// With many links, also lets links share delay lines.
    pub(crate) fn new(setup: &Setup, speed: Speed, network: &mut Network) -> Foresight {
        if speed.delay_lines && setup.network.links.len() > FEW_LINKS {
            network.use_delay_lines();
        }
        let senders = setup.overlay.as_ref().map_or(0, |overlay| overlay.senders.len());
        let looks = setup.network.links.len() + senders > FEW_LINKS;
        let scouts = network.look_ahead().links_without_delay_line() + senders > FEW_LINKS;
        let many_flows = setup.flows.len() > FEW_FLOWS || !setup.traffic.is_empty();
        Foresight {
            is_on: speed.look_ahead,
            seen: [Coming::Other; ROOM],
            count: 0,
            timers: [NO_SLOT; 5],
            looks,
            scouts,
            many_flows,
        }
    }

    /// Whether the simulator looks ahead.
    #[inline]
    pub(crate) fn is_on(&self) -> bool {
        self.is_on
    }

    /// Must be called at each event.
    #[inline]
    pub(crate) fn look(
        &mut self,
        event: Subject,
        wheel: &mut Wheel,
        network: &Network,
        flows: &FlowTable,
    ) {
        if !self.is_on {
            return;
        }
        // Each use makes its own access: one that a function takes is written to memory for all.
        let ahead = || network.look_ahead();
        let scouts = self.scouts || ahead().lacks_delay_lines();
        match link_of(event) {
            Some(line) if ahead().is_delay_line(line) => look_along(line, ahead(), flows),
            Some(link) if self.looks => {
                if let Some(flow) = ahead().foresee_next(link) {
                    flows.foresee_sent(flow);
                }
            }
            Some(link) => {
                ahead().foresee_behind(link);
                if self.many_flows
                    && let Some((next, later)) = ahead().ends_behind(link)
                {
                    flows.foresee(later.flow, later.is_data);
                    if !next.is_data {
                        flows.foresee_sent(next.flow);
                    }
                }
            }
            None => {
                let is_timer = matches!(event, Subject::Timer(_));
                if is_timer && flows.slots() > FEW_TIMERS && !scouts {
                    self.look_at_timers(wheel, network, flows);
                }
            }
        }
        if scouts {
            wheel.scout(EVENTS_AHEAD as u32, |what| self.see(Subject::of(what), network, flows));
        }
    }

    /// Looks at an event for the first time, and again at some seen before it.
    #[inline]
    fn see(&mut self, event: Subject, network: &Network, flows: &FlowTable) {
        let ahead = network.look_ahead();
        self.count = self.count.wrapping_add(1);
        *self.at(0) = match event {
            Subject::Link(link) => Coming::Event(link),
            Subject::Timer(slot) => Coming::Flow { slot, is_data: false },
            Subject::Release(_) | Subject::Other(_) => Coming::Other,
        };
        if let Coming::Event(link) = *self.at(0) {
            ahead.foresee(link);
        }
        if let Coming::Event(link) = *self.at(1) {
            ahead.foresee_head(link);
        }
        if let Coming::Event(link) = *self.at(2)
            && let Some(next) = ahead.foresee_delivery(link)
        {
            *self.at(2) = Coming::Packet(next);
        }
        if let Coming::Event(link) = *self.at(3) {
            *self.at(3) =
                ahead.end_at_head(link).map_or(Coming::Other, |FlowEnd { flow, is_data }| {
                    Coming::Flow { slot: flow, is_data }
                });
        }
        if let Coming::Flow { slot, is_data } = *self.at(3) {
            flows.foresee(slot, is_data);
        }
        if let Coming::Flow { slot, is_data } = *self.at(4) {
            if !is_data {
                flows.foresee_sent(slot);
            }
            *self.at(4) = flows.answer(slot, is_data).map_or(Coming::Other, |(_, link)| {
                ahead.foresee(link);
                Coming::Packet(link)
            });
        }
        if let Coming::Packet(link) = *self.at(5) {
            ahead.foresee_place(link);
        }
    }

    /// Handles a due timer: fetches the flow of a later timer; for an earlier one the sender's
    /// state and its first link; and for one before that the state that a packet needs there.
    #[inline]
    fn look_at_timers(&mut self, wheel: &mut Wheel, network: &Network, flows: &FlowTable) {
        let ahead = network.look_ahead();
        let Some(Subject::Timer(slot)) = wheel.scan_far().map(Subject::of) else { return };
        flows.foresee(slot, false);
        self.timers.rotate_right(1);
        let [_, _, earlier, _, earliest] = self.timers;
        self.timers[0] = slot;
        flows.foresee_sent(earlier);
        if let Some((_, link)) = flows.answer(earlier, false) {
            ahead.foresee(link);
        }
        if let Some((_, link)) = flows.answer(earliest, false) {
            ahead.foresee_place(link);
        }
    }

    /// The event seen a number of looks ago.
    #[inline]
    fn at(&mut self, looks: usize) -> &mut Coming {
        &mut self.seen[self.count.wrapping_sub(looks * EVENTS_BETWEEN_LOOKS) % ROOM]
    }
}

/// Handles a due delay line: fetches the state of packets behind its head, and the flow's end at
/// which one arrives. For an end fetched before, fetches the sender's state and the link of its
/// answer.
#[inline]
fn look_along(line: LinkId, ahead: LookAhead<'_>, flows: &FlowTable) {
    let (far, near) = ahead.foresee_line(line);
    if let Some(end) = far {
        flows.foresee(end.flow, end.is_data);
    }
    if let Some(end) = near {
        if !end.is_data {
            flows.foresee_sent(end.flow);
        }
        if let Some((_, link)) = flows.answer(end.flow, end.is_data) {
            ahead.foresee(link);
        }
    }
}

#[inline]
fn link_of(event: Subject) -> Option<LinkId> {
    if let Subject::Link(link) = event { Some(link) } else { None }
}

#[cfg(test)]
mod tests {
    use ratewire_laws::AnyLaw;
    use ratewire_net::Network;
    use ratewire_units::{Bytes, Duration, Rate, Time};

    use super::{Foresight, NO_SLOT};
    use crate::Speed;
    use crate::dumbbell::Dumbbell;
    use crate::engine::Simulation;
    use crate::overlay::workload;
    use crate::record::NoRecorder;
    use crate::setup::{Arrivals, Setup, Sizes, TrafficSpec};

    const RATE: Rate = Rate::from_mbps(100);
    const RTT: Duration = Duration::from_millis(20);

    fn dumbbell(law: &str, paused: bool) -> Setup {
        let law = AnyLaw::new(law, &[]).expect("a law");
        let mut dumbbell = Dumbbell::new(law, 20, RATE, RTT, 50);
        dumbbell.duration = Duration::from_secs(1);
        dumbbell.paused = paused;
        dumbbell.setup()
    }

    /// A setup with more packets in flight than fit the caches.
    fn crowded(law: &str, options: &[(&str, &str)], duration: Duration) -> Setup {
        let law = AnyLaw::new(law, options).expect("a law");
        let mut dumbbell = Dumbbell::new(law, 10, Rate::from_mbps(1000), RTT * 5, 10_000);
        dumbbell.duration = duration;
        dumbbell.setup()
    }

    fn shared(law: &str, pairs: u32, flows_a_pair: u32) -> Setup {
        let law = AnyLaw::new(law, &[]).expect("a law");
        let mut dumbbell = Dumbbell::new(law, pairs, Rate::from_mbps(1000), RTT * 5, 10_000);
        dumbbell.flows_a_pair = flows_a_pair;
        dumbbell.duration = Duration::from_millis(500);
        dumbbell.setup()
    }

    fn overlay() -> Setup {
        let law = AnyLaw::new("newreno", &[]).expect("a law");
        let mut setup = workload(law, 200, RATE, RTT, 50);
        setup.duration = Duration::from_millis(200);
        setup
    }

    fn foresight(setup: &Setup) -> Foresight {
        let mut network = Network::new(&setup.network, &setup.laws, false, 1);
        Foresight::new(setup, Speed::full(), &mut network)
    }

    /// Outcome of a run, and the number of events that were seen ahead.
    fn run(setup: &Setup, looks: bool, many_flows: bool) -> (String, usize) {
        run_with(setup, looks, many_flows, false)
    }

    /// Outcome of a run in which links may share delay lines.
    fn run_with(setup: &Setup, looks: bool, many_flows: bool, share: bool) -> (String, usize) {
        let mut recorder = NoRecorder;
        let speed = Speed::full().without_host_lag();
        let mut simulation =
            Simulation::new(setup, Box::new(&mut recorder), speed).expect("a setup");
        if share {
            simulation.env.network.use_delay_lines();
        }
        simulation.foresight.looks = looks;
        simulation.foresight.scouts = looks;
        simulation.foresight.many_flows = many_flows;
        simulation.run().expect("it runs");
        let seen = simulation.foresight.count;
        (format!("{:?}", simulation.outcome()), seen)
    }

    #[test]
    fn looking_ahead_changes_nothing_that_happens() {
        let (plain, paused) = (dumbbell("newreno", false), dumbbell("noq", true));
        let no_ports = crowded("fixed", &[("window", "1000 packets")], Duration::from_millis(300));
        let ports = crowded("xcp", &[], Duration::from_millis(1200));
        let (window, paced) = (shared("newreno", 10, 10), shared("xcp", 10, 101));
        for setup in [plain, paused, overlay(), window, paced, no_ports, ports] {
            let (ahead, seen) = run(&setup, true, false);
            let (not, none) = run(&setup, false, false);
            let (ends, _) = run(&setup, false, true);
            assert_eq!(ahead, not);
            assert_eq!(ends, not);
            // With delay lines, events of one instant may come in another order.
            let (along, _) = run_with(&setup, false, true, true);
            let (both, _) = run_with(&setup, true, false, true);
            assert_eq!(along, both);
            assert!(seen > 1_000 && none == 0, "{seen}, {none}");
        }
    }

    #[test]
    fn timers_are_seen_ahead_where_flows_are_many() {
        let told_of = |flows_a_pair, scouts| {
            let mut recorder = NoRecorder;
            let setup = shared("xcp", 10, flows_a_pair);
            let mut simulation =
                Simulation::new(&setup, Box::new(&mut recorder), Speed::full().without_host_lag())
                    .expect("a setup");
            simulation.foresight.scouts = scouts;
            simulation.run().expect("it runs");
            simulation.foresight.timers
        };
        assert_eq!(told_of(100, false), [NO_SLOT; 5]);
        assert!(told_of(101, false).iter().all(|slot| *slot < 1_010));
        assert_eq!(told_of(101, true), [NO_SLOT; 5], "all events are told of");
    }

    #[test]
    fn the_senders_of_an_overlay_count_as_links_do() {
        let law = AnyLaw::new("newreno", &[]).expect("a law");
        let scouts = |clients| foresight(&workload(law.clone(), clients, RATE, RTT, 50)).scouts;
        assert!(!scouts(1_000) && scouts(10_000));
    }

    #[test]
    fn flows_are_many_by_number_or_because_they_keep_arriving() {
        let many = |setup: &Setup| foresight(setup).many_flows;
        assert!(!many(&shared("newreno", 10, 6)) && many(&shared("newreno", 10, 7)));
        let mut arriving = shared("newreno", 10, 1);
        arriving.traffic.push(TrafficSpec {
            fan_in: 1,
            name: "t".into(),
            pairs: Vec::new(),
            arrivals: Arrivals::Listed(Vec::new()),
            sizes: Sizes::Fixed(Bytes::new(1)),
            start: Time::ZERO,
            stop: Time::NEVER,
            law: 0,
            transport: arriving.flows[0].transport.clone(),
        });
        assert!(many(&arriving));
    }
}
