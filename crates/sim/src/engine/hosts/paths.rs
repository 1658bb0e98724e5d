//! Paths of packets, of which those of one flow may take several.

use std::collections::BTreeMap;

use rand_core::Rng;
use rand_xoshiro::Xoshiro256PlusPlus;
use ratewire_net::Network;
use ratewire_net::random::stream;
use ratewire_net::spec::LinkId;
use ratewire_units::{Duration, Time};

use crate::flow::Flow;
use crate::record::FlowId;
use crate::routes::RouteTable;
use crate::setup::{Multipath, Setup};

/// Paths of all packets.
#[derive(Debug)]
pub(crate) struct Paths {
    pub(crate) routes: RouteTable,
    /// What changes the path of a flow; `None` if each flow keeps to its path.
    spread: Option<Spread>,
}

impl Paths {
    pub(super) fn new(setup: &Setup, routes: RouteTable) -> Paths {
        Paths { routes, spread: Spread::new(setup) }
    }

    /// Chooses the path of a flow's next packet, to its receiver or back.
    #[inline]
    pub(super) fn choose(
        &mut self,
        now: Time,
        flow: &mut Flow,
        is_back: bool,
        setup: &Setup,
        network: &mut Network,
    ) {
        if let Some(spread) = &mut self.spread
            && let Some(number) = spread.draw(now, flow.id, is_back)
        {
            let end = |link: LinkId| setup.network.links[link.index()].from;
            let (from, to) = (end(flow.own_link), end(flow.back_link));
            let (from, to) = if is_back { (to, from) } else { (from, to) };
            // There is a route: that was checked before the start.
            let Ok(route) = self.routes.get(network, from, to, number) else { return };
            *(if is_back { &mut flow.reverse } else { &mut flow.forward }) = route.id;
        }
    }
}

/// Random paths of packets or flowlets.
#[derive(Debug)]
struct Spread {
    /// Pause of a flow after which it takes another path; zero for one at each packet.
    pause: Duration,
    random: Xoshiro256PlusPlus,
    /// When the last packet left, by flow and end.
    left: BTreeMap<(FlowId, bool), Time>,
}

impl Spread {
    /// The spread of this run; `None` if each flow keeps to its path.
    fn new(setup: &Setup) -> Option<Spread> {
        let pause = match setup.multipath {
            Multipath::Flow => return None,
            Multipath::Packet => Duration::ZERO,
            Multipath::Flowlet(pause) => pause,
        };
        Some(Spread { pause, random: stream(setup.seed, "spread", 0), left: BTreeMap::new() })
    }

    /// The number of another path for a flow's next packet, to its receiver or back; `None` if the
    /// packet takes the path of the last one.
    #[cold]
    fn draw(&mut self, now: Time, flow: FlowId, is_back: bool) -> Option<u64> {
        let before = self.left.insert((flow, is_back), now).unwrap_or(Time::ZERO);
        (now.since(before) >= self.pause).then(|| self.random.next_u64())
    }
}
