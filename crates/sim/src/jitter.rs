//! Jitter: the random times that hosts take to process the packets of senders.
//!
//! Floyd and Jacobson (1991) show that drop-tail queues and regular senders make phase effects: a
//! flow's packets find the queue always full, or never. A random processing time of up to a
//! packet's time at the bottleneck breaks them. As ns-2's `overhead_`, the time is uniform, and
//! acknowledgements take none: the data that they let their sender send are random already. Unlike
//! in ns-2, a host works on several packets at once, so jitter limits no flow's rate.
//!
//! By default, packets of a sender with a pace take no time: its timer spreads them, and laws with
//! paces hold queues of less than a packet, to which jitter would add.

use std::collections::BTreeSet;

use rand_core::Rng;
use rand_xoshiro::Xoshiro256PlusPlus;
use ratewire_net::Network;
use ratewire_net::random::stream;
use ratewire_net::spec::LinkId;
use ratewire_transport::{Jitter, TransportConfig};
use ratewire_units::Duration;

use crate::routes::{RouteInfo, RouteTable};
use crate::setup::Setup;
use crate::setup::processing::{links, links_of, senders_of, takes_time};
use crate::speed::Speed;

/// Processing times of a flow's packets.
#[derive(Clone, Debug)]
pub(crate) struct FlowJitter {
    /// Limit of the times in picoseconds; zero for no jitter.
    limit: u64,
    /// Whether packets that the sender paces take time, too.
    of_paced: bool,
    random: Xoshiro256PlusPlus,
}

impl FlowJitter {
    /// The jitter of flow number `flow` on this route, in a run with this seed.
    pub(crate) fn new(
        setup: &Setup,
        config: &TransportConfig,
        route: &RouteInfo,
        flow: u32,
    ) -> FlowJitter {
        let first = &setup.network.links[route.first.index()];
        let limit = match config.jitter {
            _ if !takes_time(setup, first) => Duration::ZERO,
            Jitter::PacketTime => route.packet_time(config.packet),
            Jitter::UpTo(limit) => limit,
        };
        FlowJitter {
            limit: limit.ps(),
            of_paced: config.jitter != Jitter::PacketTime,
            random: stream(setup.seed, "host jitter", u64::from(flow)),
        }
    }

    /// The processing time of the next packet; `is_paced` says whether the sender has a pace.
    #[inline]
    pub(crate) fn draw(&mut self, is_paced: bool) -> Duration {
        if self.limit == 0 || is_paced && !self.of_paced {
            return Duration::ZERO;
        }
        let product = u128::from(self.random.next_u64()) * u128::from(self.limit);
        Duration::from_ps((product >> u64::BITS) as u64)
    }
}

/// Tells the network which hosts take time to process packets, and which hold their senders back
/// by what is in their queue. These process packets, too, if only for no time.
pub(crate) fn begin(setup: &Setup, speed: Speed, network: &mut Network, routes: &RouteTable) {
    let changed = setup.changed_links();
    let is_small =
        |config: &TransportConfig, law: usize| config.keeps_small_queues(&setup.laws[law]);
    let small: BTreeSet<LinkId> = links_of(setup, is_small).collect();
    let slow: BTreeSet<LinkId> = links(setup).collect();
    let mut foretold = BTreeSet::new();
    for &id in slow.union(&small) {
        let link = &setup.network.links[id.index()];
        // Only the host puts packets on such a link, and nothing changes it.
        let is_own = routes.is_leaf(link.from)
            && link.medium.is_none()
            && link.pause.is_none()
            && !changed.contains(&id)
            && !setup.paths_lead_through(|node| node == link.from);
        // Senders that look at their host's queue must find it as it is now.
        let is_foretold = is_own && small.contains(&id) && link.is_plain();
        let is_seen = small.contains(&id) && !is_foretold;
        network.let_host_process(id, is_own && !is_seen && speed.sends_in_advance);
        if is_foretold {
            foretold.insert(id);
            network.foretell_departures(id);
        }
    }
    if speed.books_departures {
        // Senders look for their packets in their host's queue, where none may have gone ahead.
        let senders = senders_of(setup, is_small);
        let is_seen = |id: LinkId| {
            senders.contains(&setup.network.links[id.index()].from) && !foretold.contains(&id)
        };
        network.book_departures(|id| changed.contains(&id) || is_seen(id));
    }
}

#[cfg(test)]
mod tests {
    use ratewire_laws::AnyLaw;
    use ratewire_units::{Rate, Time};

    use super::*;
    use crate::dumbbell::Dumbbell;
    use crate::outcome::Outcome;
    use crate::record::{
        FlowCompleted, FlowId, FlowSample, FlowStarted, LinkSample, NoRecorder, PacketSeen,
        Recorder,
    };
    use crate::run_with;

    fn dumbbell(law: &str, pairs: u32, jitter: Jitter) -> Setup {
        let law = AnyLaw::new(law, &[]).expect("a law");
        let rtt = Duration::from_millis(20);
        let mut dumbbell = Dumbbell::new(law, pairs, Rate::from_mbps(10), rtt, 20);
        dumbbell.duration = Duration::from_secs(5);
        dumbbell.transport.jitter = jitter;
        let mut setup = dumbbell.setup();
        setup.sample_interval = Some(Duration::from_millis(7));
        setup
    }

    fn ran(setup: &Setup, speed: Speed) -> Outcome {
        run_with(setup, &mut NoRecorder, speed).expect("it runs")
    }

    fn text(setup: &Setup) -> String {
        format!("{:?}", ran(setup, Speed::full()))
    }

    #[test]
    fn the_seed_decides_what_bulk_flows_get_if_hosts_have_jitter() {
        for (jitter, has_chance) in [(Jitter::NONE, false), (Jitter::PacketTime, true)] {
            let one = dumbbell("newreno", 3, jitter);
            let other = Setup { seed: 2, ..one.clone() };
            assert_eq!(one.has_chance(), has_chance);
            assert_eq!(text(&one), text(&one), "{jitter:?}");
            assert_eq!(text(&one) != text(&other), has_chance, "{jitter:?}");
        }
    }

    /// Laws with a pace from the start, whose ports have no clock of their own.
    #[test]
    fn a_flows_first_packet_has_jitter_though_its_law_has_a_pace() {
        for handshake in [false, true] {
            let mut one = dumbbell("hpcc", 3, Jitter::PacketTime);
            one.flows.iter_mut().for_each(|flow| flow.transport.handshake = handshake);
            let other = Setup { seed: 2, ..one.clone() };
            assert_eq!(text(&one), text(&one));
            assert_ne!(text(&one), text(&other), "handshake {handshake}");
        }
    }

    /// A flow's draws depend on the flow and the seed.
    #[test]
    fn draws_are_of_the_flow_and_lie_below_the_limit() {
        let setup = dumbbell("newreno", 2, Jitter::PacketTime);
        let mut network = Network::new(&setup.network, &setup.laws, false, 1);
        let mut routes = RouteTable::new(&setup).expect("routes");
        let config = &setup.flows[0].transport;
        let mut draws = |setup: &Setup, flow: u32| -> Vec<Duration> {
            let spec = &setup.flows[flow as usize];
            let route = routes.get(&mut network, spec.from, spec.to, 0).expect("a route");
            let mut jitter = FlowJitter::new(setup, config, &route, flow);
            (0..1000).map(|_| jitter.draw(false)).collect()
        };
        let (first, second) = (draws(&setup, 0), draws(&setup, 1));
        assert_ne!(first, second);
        assert_eq!(first, draws(&setup, 0));
        assert_ne!(first, draws(&Setup { seed: 2, ..setup.clone() }, 0));
        // 1,000 bytes take 800 microseconds at the bottleneck's 10 Mbit/s.
        let limit = Duration::from_micros(800);
        let mean = first.iter().map(|time| time.secs()).sum::<f64>() / 1000.0;
        assert!(first.iter().all(|time| *time < limit));
        assert!((mean / limit.secs() - 0.5).abs() < 0.03, "{mean}");
    }

    /// Offsets of each host's packets in the order of their arrival at the first router.
    #[derive(Default)]
    struct Arrivals(Vec<(LinkId, FlowId, Time)>);

    impl Recorder for Arrivals {
        fn flow_started(&mut self, _: &FlowStarted<'_>) {}
        fn flow_sample(&mut self, _: &FlowSample) {}
        fn link_sample(&mut self, _: &LinkSample) {}
        fn flow_completed(&mut self, _: &FlowCompleted) {}
        fn packet(&mut self, seen: &PacketSeen) {
            self.0.push((seen.packet.link, seen.flow, seen.packet.at));
        }
    }

    #[test]
    fn packets_put_on_their_links_in_advance_give_the_outcome_of_those_that_wait() {
        for law in ["newreno", "cubic", "xcp", "rcp"] {
            for jitter in [Jitter::PacketTime, Jitter::UpTo(Duration::from_millis(3))] {
                let mut setup = dumbbell(law, 3, jitter);
                setup.flows[1].start = Time::from_millis(150);
                setup.captured_links = vec![LinkId(2), LinkId(6)];
                let told = |speed| {
                    let mut arrivals = Arrivals::default();
                    let mut outcome = run_with(&setup, &mut arrivals, speed).expect("it runs");
                    outcome.events = 0;
                    arrivals.0.sort_unstable_by_key(|(link, flow, at)| (*at, *link, *flow));
                    (format!("{outcome:?}"), arrivals.0)
                };
                let (slow, fast) = (told(Speed::off()), told(Speed::full().without_host_lag()));
                assert!(slow.1.len() > 1000);
                assert!(slow == fast, "{law}, {jitter:?}");
                let lagging = told(Speed::full());
                assert!(slow == lagging, "{law}, {jitter:?}, lagging");
            }
        }
    }

    #[test]
    fn a_host_sends_in_order() {
        let jitter = Jitter::UpTo(Duration::from_millis(50));
        let mut setup = dumbbell("newreno", 1, jitter);
        // A queue without end: what is retransmitted would only be reordered.
        setup.network.links[0].limit = ratewire_net::spec::Limit::Unlimited;
        let outcome = ran(&setup, Speed::full());
        assert!(outcome.data_packets_delivered > 1000);
        assert_eq!(outcome.flows[0].retransmitted_packets, 0);
    }

    #[test]
    fn drivers_and_routers_take_no_time() {
        let mut setup = dumbbell("newreno", 2, Jitter::PacketTime);
        assert_eq!(links(&setup).collect::<Vec<_>>(), [LinkId(2), LinkId(6)]);
        setup.network.links[2].driver.sockets = ratewire_net::spec::Sockets::InTurn;
        assert_eq!(links(&setup).collect::<Vec<_>>(), [LinkId(6)]);
        setup.network.nodes[4].is_host = false;
        assert_eq!(links(&setup).count(), 0);
        assert!(!setup.has_chance());
    }
}
