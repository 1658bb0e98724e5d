//! Flows whose packets take several paths of equal cost.

use std::collections::BTreeMap;

use rand_core::Rng;
use rand_xoshiro::Xoshiro256PlusPlus;
use ratewire_net::Network;
use ratewire_net::random::stream;
use ratewire_units::{Duration, Time};

use crate::flow::Flow;
use crate::outcome::FlowOutcome;
use crate::record::FlowId;
use crate::routes::RouteTable;
use crate::setup::{Multipath, Setup};

/// Random paths of packets or flowlets.
#[derive(Debug)]
pub(super) struct Spread {
    /// Pause of a flow after which it takes another path; zero for one at each packet.
    pause: Duration,
    random: Xoshiro256PlusPlus,
    /// When the last packet left, by flow and end.
    left: BTreeMap<(FlowId, bool), Time>,
}

impl Spread {
    /// The spread of this run; `None` if each flow keeps to its path.
    pub(super) fn new(setup: &Setup) -> Option<Spread> {
        let pause = match setup.multipath {
            Multipath::Flow => return None,
            Multipath::Packet => Duration::ZERO,
            Multipath::Flowlet(pause) => pause,
        };
        Some(Spread { pause, random: stream(setup.seed, "spread", 0), left: BTreeMap::new() })
    }

    /// Chooses the path of a flow's next packet, to its receiver or back.
    #[cold]
    pub(super) fn choose(
        &mut self,
        now: Time,
        flow: &mut Flow,
        is_back: bool,
        outcomes: &[FlowOutcome],
        (routes, network): (&mut RouteTable, &mut Network),
    ) {
        let before = self.left.insert((flow.id, is_back), now).unwrap_or(Time::ZERO);
        if now.since(before) < self.pause {
            return;
        }
        let FlowOutcome { from, to, .. } = outcomes[flow.id.0 as usize];
        let (from, to) = if is_back { (to, from) } else { (from, to) };
        // There is a route: that was checked before the start.
        let Ok(route) = routes.get(network, from, to, self.random.next_u64()) else { return };
        *(if is_back { &mut flow.reverse } else { &mut flow.forward }) = route.id;
    }
}
