//! Which requests of each gateway have come, so that none is done twice.
//!
//! A gateway whose connection is lost sends again what the member has not acknowledged. It asks
//! first what has come. What an earlier connection still carries is too late then.

use std::cell::Cell;
use std::collections::BTreeMap;
use std::rc::Rc;

use ring::rand::{SecureRandom, SystemRandom};

/// Gateways that are known at most, beside those that are connected. Of the others, the one that
/// connected first is forgotten for another.
const MOST: usize = 4096;

/// What is known of gateways.
#[derive(Debug)]
pub(super) struct Gateways {
    /// A random number of this process.
    process: u64,
    all: BTreeMap<u64, Rc<Cell<Known>>>,
    /// Hellos so far.
    hellos: u64,
}

#[derive(Clone, Copy, Debug, Default)]
struct Known {
    /// The number behind the last request.
    received: u64,
    /// The hello with which the gateway's last connection began.
    hello: u64,
}

/// A connection of a gateway that has said hello.
#[derive(Debug)]
pub(super) struct Visit {
    known: Rc<Cell<Known>>,
    hello: u64,
    /// The number behind the last request that came before.
    pub(super) received: u64,
}

impl Gateways {
    /// No gateways yet; `None` if the kernel gives no random numbers.
    pub(super) fn new() -> Option<Gateways> {
        let mut process = [0; 8];
        SystemRandom::new().fill(&mut process).ok()?;
        let process = u64::from_be_bytes(process);
        Some(Gateways { process, all: BTreeMap::new(), hellos: 0 })
    }

    /// A random number of this process.
    pub(super) fn process(&self) -> u64 {
        self.process
    }

    /// Number of gateways that are known.
    pub(super) fn len(&self) -> usize {
        self.all.len()
    }

    /// Notes that a gateway has connected. Its earlier connections are over.
    pub(super) fn hello(&mut self, gateway: u64) -> Visit {
        self.hellos += 1;
        if self.all.len() >= MOST && !self.all.contains_key(&gateway) {
            let is_left = |known: &Rc<Cell<Known>>| Rc::strong_count(known) == 1;
            let left = self.all.iter().filter(|(_, known)| is_left(known));
            let oldest = left.min_by_key(|(_, known)| known.get().hello);
            if let Some(oldest) = oldest.map(|(gateway, _)| *gateway) {
                self.all.remove(&oldest);
            }
        }
        let known = Rc::clone(self.all.entry(gateway).or_default());
        let Known { received, .. } = known.get();
        known.set(Known { received, hello: self.hellos });
        Visit { known, hello: self.hellos, received }
    }
}

impl Visit {
    /// Notes a request that has come by the connection. Returns whether it is to be done: it is the
    /// first of its number, and the connection is the gateway's last.
    pub(super) fn take(&self, number: u64) -> bool {
        let Known { received, hello } = self.known.get();
        let is_new = hello == self.hello && number >= received;
        if is_new {
            self.known.set(Known { received: number + 1, hello });
        }
        is_new
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_request_is_done_once_over_all_connections() {
        let mut gateways = Gateways::new().expect("random numbers");
        let first = gateways.hello(7);
        assert_eq!(first.received, 0);
        assert!(first.take(1) && first.take(5));
        assert!(!first.take(5) && !first.take(3));
        let other = gateways.hello(8);
        assert!(other.take(1), "gateways count for themselves");
        let second = gateways.hello(7);
        assert_eq!(second.received, 6);
        assert!(!first.take(6), "the first connection is over");
        assert!(!second.take(5) && second.take(6));
    }

    #[test]
    fn gateways_are_bounded_and_the_oldest_is_forgotten() {
        let mut gateways = Gateways::new().expect("random numbers");
        assert!(gateways.hello(0).take(9));
        (1..MOST as u64).for_each(|gateway| _ = gateways.hello(gateway));
        assert_eq!(gateways.hello(0).received, 10);
        gateways.hello(u64::MAX);
        assert_eq!(gateways.len(), MOST);
        assert!(gateways.all.contains_key(&0) && !gateways.all.contains_key(&1));
    }

    #[test]
    fn a_gateway_that_is_connected_is_not_forgotten() {
        let mut gateways = Gateways::new().expect("random numbers");
        let first = gateways.hello(0);
        assert!(first.take(9));
        (1..=MOST as u64).for_each(|gateway| _ = gateways.hello(gateway));
        assert!(first.take(10) && gateways.all.contains_key(&0));
        assert_eq!(gateways.hello(0).received, 11);
    }
}
