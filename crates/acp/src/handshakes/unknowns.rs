//! How often an endpoint answers packets of connections that it does not know.
//!
//! Anybody can send such packets, in the name of any address. Each source gets a number of answers
//! a second, so that nobody is kept from hearing of a restart by packets of others.

use std::collections::BTreeMap;
use std::hash::{BuildHasher, RandomState};
use std::net::{IpAddr, Ipv6Addr};
use std::time::Duration;

/// Answers that a source gets in a second.
const ANSWERS: u8 = 100;
/// Counters. Sources that meet in one share its answers, for a second.
const COUNTERS: usize = 4096;
/// Known sources, at most.
const MOST_KNOWN: usize = 1024;
/// Bits of an IPv6 address that name a network: a host has all addresses of its own.
const NETWORK: u32 = 64;

/// One address for all that a host can take: it has its IPv4 address, and a network of IPv6.
fn source(address: IpAddr) -> IpAddr {
    match address.to_canonical() {
        IpAddr::V6(address) => {
            let network = address.to_bits() >> (128 - NETWORK) << (128 - NETWORK);
            Ipv6Addr::from_bits(network).into()
        }
        v4 => v4,
    }
}

/// Answers by source, in a fixed amount of memory.
#[derive(Debug)]
pub(super) struct Unknowns {
    second: u64,
    /// Which counter a source has; new in each second, and nobody can tell which sources meet.
    keys: RandomState,
    counts: Vec<u8>,
    known: Known,
}

impl Default for Unknowns {
    fn default() -> Unknowns {
        Unknowns {
            second: 0,
            keys: RandomState::new(),
            counts: vec![0; COUNTERS],
            known: Known::default(),
        }
    }
}

impl Unknowns {
    /// Notes an address that this end connects to, or that has shown that it has the keys: it gets
    /// all answers.
    pub(super) fn note_known(&mut self, address: IpAddr) {
        self.known.note(source(address));
    }

    /// Whether an address gets an answer.
    pub(super) fn takes(&mut self, now: Duration, address: IpAddr) -> bool {
        let source = source(address);
        if self.known.has(source) {
            return true;
        }
        if self.second != now.as_secs() {
            self.second = now.as_secs();
            self.keys = RandomState::new();
            self.counts.fill(0);
        }
        let counter = self.counter(source);
        let count = &mut self.counts[counter];
        let takes = *count < ANSWERS;
        *count += u8::from(takes);
        takes
    }

    fn counter(&self, source: IpAddr) -> usize {
        (self.keys.hash_one(source) % COUNTERS as u64) as usize
    }
}

/// The sources that were noted last.
#[derive(Debug, Default)]
struct Known {
    next: u64,
    by_source: BTreeMap<IpAddr, u64>,
    by_age: BTreeMap<u64, IpAddr>,
}

impl Known {
    fn has(&self, source: IpAddr) -> bool {
        self.by_source.contains_key(&source)
    }

    fn note(&mut self, source: IpAddr) {
        if let Some(before) = self.by_source.insert(source, self.next) {
            self.by_age.remove(&before);
        }
        self.by_age.insert(self.next, source);
        self.next += 1;
        if self.by_age.len() > MOST_KNOWN
            && let Some((_, oldest)) = self.by_age.pop_first()
        {
            self.by_source.remove(&oldest);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const NOW: Duration = Duration::from_secs(5);

    fn of(address: &str) -> IpAddr {
        address.parse().unwrap()
    }

    /// Answers to a number of packets.
    fn answers(unknowns: &mut Unknowns, now: Duration, address: IpAddr, packets: usize) -> usize {
        (0..packets).filter(|_| unknowns.takes(now, address)).count()
    }

    #[test]
    fn addresses_of_one_network_are_one_source() {
        assert_eq!(source(of("2001:db8:0:1::5")), source(of("2001:db8:0:1:9::6")));
        assert_ne!(source(of("2001:db8:0:1::5")), source(of("2001:db8:0:2::5")));
        assert_eq!(source(of("::ffff:10.0.0.1")), source(of("10.0.0.1")));
        assert_ne!(source(of("10.0.0.1")), source(of("10.0.0.2")));
    }

    #[test]
    fn a_flood_from_one_source_delays_no_answer_to_another() {
        let mut unknowns = Unknowns::default();
        let flood = of("2001:db8::1");
        assert_eq!(answers(&mut unknowns, NOW, flood, 1000), 100);
        assert_eq!(answers(&mut unknowns, NOW, of("2001:db8::2"), 1), 0, "it is one source");
        let apart = |k: &u8| {
            let other = IpAddr::from([10, 0, 0, *k]);
            unknowns.counter(source(other)) != unknowns.counter(source(flood))
        };
        let other = [10, 0, 0, (1..9).find(apart).unwrap()].into();
        assert_eq!(answers(&mut unknowns, NOW, other, 1000), 100);
        // The next second gives both their answers again.
        let next = NOW + Duration::from_secs(1);
        assert_eq!(answers(&mut unknowns, next, flood, 1000), 100);
    }

    #[test]
    fn many_sources_take_no_more_memory_and_no_answers_of_known_ones() {
        let mut unknowns = Unknowns::default();
        let address = |k: u32| IpAddr::from(k.to_be_bytes());
        let peer = of("192.0.2.1");
        unknowns.note_known(peer);
        for k in 0..1_000_000 {
            unknowns.takes(NOW, address(k));
        }
        assert_eq!(answers(&mut unknowns, NOW, peer, 1000), 1000);
        assert!(!unknowns.takes(NOW, address(1)), "all counters are full");
        assert_eq!(unknowns.counts.len(), COUNTERS);
        // The peers that were noted last are known.
        (0..10_000).for_each(|k| unknowns.note_known(address(k)));
        let (by_source, by_age) = (unknowns.known.by_source.len(), unknowns.known.by_age.len());
        assert_eq!((by_source, by_age), (MOST_KNOWN, MOST_KNOWN));
        assert!(unknowns.known.has(address(9_999)) && !unknowns.known.has(peer));
        (0..10_000).for_each(|_| unknowns.note_known(peer));
        assert!(unknowns.known.has(address(9_999)), "one peer displaces no others");
    }
}
