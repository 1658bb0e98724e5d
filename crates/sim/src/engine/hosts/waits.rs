//! Sockets that wait for room in their own host's queue.
//!
//! A queue inside a host does not drop packets of its own host: it makes the socket wait, and no
//! packet is made that could be dropped. The host chooses which socket goes first when there is
//! room.

use std::collections::{BTreeMap, VecDeque};

use rand_core::Rng;
use rand_xoshiro::Xoshiro256PlusPlus;
use ratewire_net::random::stream;
use ratewire_net::spec::{LinkId, Sockets};

use super::Hosts;
use crate::engine::environment::Environment;

/// A waiting flow: its slot and number.
type Waiting = (u32, u32);

/// All waiting sockets.
#[derive(Debug)]
pub(super) struct Waits {
    /// Waiting sockets, by the link that they wait for.
    lines: BTreeMap<LinkId, VecDeque<Waiting>>,
    random: Xoshiro256PlusPlus,
}

impl Waits {
    pub(super) fn new(seed: u64) -> Waits {
        Waits { lines: BTreeMap::new(), random: stream(seed, "sockets", 0) }
    }

    fn next(&mut self, link: LinkId, how: Sockets) -> Option<Waiting> {
        let line = self.lines.get_mut(&link)?;
        let count = line.len() as u64;
        match how {
            Sockets::AtRandom if count > 1 => {
                line.remove((self.random.next_u64() % count) as usize)
            }
            _ => line.pop_front(),
        }
    }
}

impl Hosts<'_> {
    /// Lets a socket wait that found no room. A socket that tries again on its next acknowledgement
    /// also waits for room if no acknowledgement is to come.
    #[cold]
    pub(super) fn wait_for_room(&mut self, slot: u32) {
        let Some(flow) = self.flows.at(slot) else { return };
        flow.blocked = true;
        let link = flow.own_link;
        let how = self.setup.network.links[link.index()].driver.sockets;
        let is_called = how != Sockets::OnAck || flow.sender.in_flight().get() == 0;
        if is_called && !flow.in_line {
            flow.in_line = true;
            let id = flow.id.0;
            self.waits.lines.entry(link).or_default().push_back((slot, id));
        }
    }

    /// The next socket that waits for a link, by its slot, while the link has room.
    pub(crate) fn next_with_room(&mut self, env: &mut Environment, link: LinkId) -> Option<u32> {
        let how = self.setup.network.links[link.index()].driver.sockets;
        while let Some((slot, id)) = self.waits.next(link, how) {
            let Some(flow) = self.flows.get(slot, id) else { continue };
            if env.network.admits(link, flow.packet_size) {
                flow.in_line = false;
                return Some(slot);
            }
            self.waits.lines.entry(link).or_default().push_front((slot, id));
            return None;
        }
        None
    }
}
