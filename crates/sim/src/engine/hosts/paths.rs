//! Paths of packets, of which those of one flow may take several.

use std::collections::BTreeMap;

use rand_core::Rng;
use rand_xoshiro::Xoshiro256PlusPlus;
use ratewire_net::random::stream;
use ratewire_net::spec::LinkId;
use ratewire_units::{Duration, Time};

use crate::engine::environment::Environment;
use crate::flow::Flow;
use crate::record::FlowId;
use crate::routes::RouteTable;
use crate::setup::{Multipath, Setup};

/// Paths of all packets.
#[derive(Debug)]
pub(crate) struct Paths<'a> {
    setup: &'a Setup,
    pub(crate) routes: RouteTable,
    /// Pause of a flow after which it takes another path, zero for one at each packet; `None` if
    /// each flow keeps to its path.
    pause: Option<Duration>,
    random: Xoshiro256PlusPlus,
    /// When the last packet left, by flow and end.
    left: BTreeMap<(FlowId, bool), Time>,
}

impl<'a> Paths<'a> {
    pub(super) fn new(setup: &'a Setup, routes: RouteTable) -> Paths<'a> {
        let pause = match setup.multipath {
            Multipath::Flow => None,
            Multipath::Packet => Some(Duration::ZERO),
            Multipath::Flowlet(pause) => Some(pause),
        };
        let random = stream(setup.seed, "spread", 0);
        Paths { setup, routes, pause, random, left: BTreeMap::new() }
    }

    /// Chooses the path of a flow's next packet, to its receiver or back.
    #[inline]
    pub(super) fn choose(&mut self, flow: &mut Flow, is_back: bool, env: &mut Environment) {
        if let Some(pause) = self.pause {
            self.choose_after(pause, flow, is_back, env);
        }
    }

    #[cold]
    fn choose_after(
        &mut self,
        pause: Duration,
        flow: &mut Flow,
        is_back: bool,
        env: &mut Environment,
    ) {
        let now = env.clock.now;
        let before = self.left.insert((flow.id, is_back), now).unwrap_or(Time::ZERO);
        if now.since(before) < pause {
            return;
        }
        let start = |link: LinkId| self.setup.network.links[link.index()].from;
        let (from, to) = (start(flow.own_link), start(flow.back_link));
        let (from, to) = if is_back { (to, from) } else { (from, to) };
        // There is a route: that was checked before the start.
        let number = self.random.next_u64();
        let Ok(route) = self.routes.get(&mut env.network, from, to, number) else { return };
        *(if is_back { &mut flow.reverse } else { &mut flow.forward }) = route.id;
    }
}
