//! Random topologies, loads and faults.

use rand_core::{Rng, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;

use super::check;
use super::net::{Fault, Group, Net};
use crate::ids::ClientId;
use crate::membership::{Member, Service};

/// Plays the schedule of a seed; returns the first promise that was broken.
pub(super) fn play(seed: u64) -> Result<(), String> {
    let mut random = Xoshiro256PlusPlus::seed_from_u64(seed);
    let mut below = |n: usize| random.next_u64() as usize % n;
    let nodes = 2 + below(4);
    let mut links: Vec<(usize, usize)> = (1..nodes).map(|node| (below(node), node)).collect();
    for _ in 0..below(nodes) {
        let (a, b) = (below(nodes), below(nodes));
        let link = (a.min(b), a.max(b));
        if a != b && !links.contains(&link) {
            links.push(link);
        }
    }
    let mut net = Net::new(nodes, &links);
    let mut clients: Vec<(usize, u64, ClientId)> = Vec::new();
    let faults = below(3) > 0;
    let steps = 50 + below(300);
    for _ in 0..steps {
        match below(40) {
            0..=19 => {
                let busy = net.busy();
                if !busy.is_empty() {
                    net.arrive(busy[below(busy.len())]);
                }
            }
            20..=23 => net.with(below(nodes), Member::tick),
            24..=25 => {
                let node = below(nodes);
                if let Some(client) = net.connect_client(node) {
                    clients.push((node, net.life(node), client));
                }
            }
            op @ 26..=36 => {
                let alive: Vec<_> =
                    clients.iter().filter(|(node, life, _)| net.life(*node) == *life).collect();
                if alive.is_empty() {
                    continue;
                }
                let (node, _, client) = *alive[below(alive.len())];
                let group = below(3) as Group;
                match op {
                    26..=28 => net.with(node, |daemon| daemon.join(client, group)),
                    29 => net.with(node, |daemon| daemon.leave(client, group)),
                    30 if below(4) == 0 => {
                        net.disconnect_client(node, client);
                        clients.retain(|known| *known != (node, net.life(node), client));
                    }
                    _ => {
                        let service = [
                            Service::Unreliable,
                            Service::Reliable,
                            Service::Fifo,
                            Service::Fifo,
                            Service::Causal,
                            Service::Agreed,
                            Service::Agreed,
                            Service::Safe,
                        ][below(8)];
                        let mut groups = vec![group];
                        if below(4) == 0 {
                            groups.push((group + 1) % 3);
                        }
                        net.send(node, client, service, &groups, below(6) == 0);
                    }
                }
            }
            _ if faults => {
                let link = links[below(links.len())];
                let fault = match below(8) {
                    0 => Fault::Crash(below(nodes)),
                    1 | 2 => Fault::Restart(below(nodes)),
                    3..=4 => Fault::Cut(link.0, link.1),
                    _ => Fault::Heal(link.0, link.1),
                };
                let part = below(1 << 16);
                net.fault_with(&fault, |items| items * part >> 16);
            }
            _ => {}
        }
    }
    if below(2) == 0 {
        links.iter().for_each(|(a, b)| net.fault(&Fault::Heal(*a, *b)));
        (0..nodes).for_each(|node| net.fault(&Fault::Restart(node)));
    }
    net.settle_by(&mut random)?;
    check::check(&net)
}
