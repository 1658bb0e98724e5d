//! Connections whose peers have not introduced themselves.

use std::cell::Cell;
use std::cmp::Reverse;
use std::collections::{BTreeMap, VecDeque};
use std::net::{IpAddr, SocketAddr};
use std::rc::Rc;

use tokio::task::AbortHandle;

use super::source::source;

/// Most of them at a time.
const MOST: usize = 64;

/// Connections whose peers have not introduced themselves, the oldest first. They have places of
/// their own, so that they keep no daemon out.
#[derive(Debug, Default)]
pub(super) struct Strangers(VecDeque<Stranger>);

#[derive(Debug)]
struct Stranger {
    from: SocketAddr,
    task: AbortHandle,
    is_known: Rc<Cell<bool>>,
}

impl Strangers {
    /// Adds a connection, which `is_known` says when its peer has introduced itself. If there are
    /// too many, ends the oldest of the host that has most of them, and returns its address.
    pub(super) fn add(
        &mut self,
        from: SocketAddr,
        task: AbortHandle,
        is_known: Rc<Cell<bool>>,
    ) -> Option<SocketAddr> {
        self.0.retain(|stranger| !stranger.is_known.get() && !stranger.task.is_finished());
        self.0.push_back(Stranger { from, task, is_known });
        if self.0.len() <= MOST {
            return None;
        }
        let place = first_of_most(self.0.iter().map(|stranger| source(stranger.from.ip())))?;
        let stranger = self.0.remove(place)?;
        stranger.task.abort();
        Some(stranger.from)
    }
}

/// Place of the first item of the host that has most; of several such hosts, the one that comes
/// first.
fn first_of_most(hosts: impl Iterator<Item = IpAddr>) -> Option<usize> {
    let mut places: BTreeMap<IpAddr, (usize, usize)> = BTreeMap::new();
    for (place, host) in hosts.enumerate() {
        places.entry(host).or_insert((0, place)).0 += 1;
    }
    let most = places.into_values().max_by_key(|(count, place)| (*count, Reverse(*place)));
    most.map(|(_, place)| place)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_host_with_most_connections_loses_its_oldest() {
        let hosts = |ends: &[u8]| {
            let host = |end: &u8| IpAddr::from([10, 0, 0, *end]);
            ends.iter().map(host).collect::<Vec<_>>().into_iter()
        };
        assert_eq!(first_of_most(hosts(&[1, 2, 2, 3, 2, 1])), Some(1));
        assert_eq!(first_of_most(hosts(&[3, 1, 2])), Some(0));
        assert_eq!(first_of_most(hosts(&[3, 1, 2, 1, 3])), Some(0));
        assert_eq!(first_of_most(hosts(&[])), None);
    }
}
