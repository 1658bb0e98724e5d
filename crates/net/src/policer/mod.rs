//! A policer at a port: holds what a flow's packets claim, and what they were granted here, against
//! what passes, whoever sends or receives them.
//!
//! Two things are enforced, each with a bucket a flow:
//! - **Time.** The spacings that packets claim cannot sum to more than the time in which they
//!   passed. What is claimed beyond is written down to what is left: who claims four times the
//!   spacing is heard once. Where ports grant rates, spacings that make a higher one are written up
//!   to it: who claims a quarter of the spacing is heard in full.
//! - **Window.** A flow may send as much a round trip as it claimed when it was first seen, changed
//!   by what this port granted since. A grant that slows down counts two round trips later, when
//!   its sender must have heard of it; what is granted and not used lapses by half each round trip
//!   in which it sends, as senders age it. What is sent beyond is dropped: nothing else stops a
//!   sender that does not listen.
//!
//! Memory is bounded. Flows share a table of a fixed number of suspects, in small sets; where one
//! is full the flow that passed the fewest bytes makes room and leaves its count to the newcomer
//! (space saving: Metwally, Agrawal, El Abbadi, ICDT 2005). A flow with more than a table's share
//! of the bytes is always in it, and who has less is no danger.
//!
//! A law's weights are lies to a policer: it sees only that more is claimed than is sent.

use ratewire_laws::trust::{Claim, Grant};
use ratewire_laws::{AnyLaw, Header};
use ratewire_units::{Bytes, Duration, Rate, Time};

use crate::spec::PoliceSpec;

/// Suspects a flow may be among.
const WAYS: usize = 8;
/// What the time claimed may exceed the time passed by, for rounding's sake.
const ROUNDING: f64 = 1.0 + 1.0 / 64.0;
/// Bytes that any flow may send at once, if they are two packets: an initial window (RFC 6928).
const BURST: f64 = 15_000.0;
/// The round trip of a flow that does not know its own.
const UNKNOWN_RTT: f64 = 0.1;
/// Claims of round trips below and above these are not believed.
const SHORTEST_RTT: f64 = 0.001;
const LONGEST_RTT: f64 = 1.0;
/// A flow that was silent for so long counts as none.
const FORGET: Duration = Duration::from_secs(10);

/// What a policer does with a packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Policed {
    Passes,
    /// The packet goes on with the truth in its header.
    Corrected,
    Dropped,
}

/// The policer of one port.
#[derive(Debug)]
pub(crate) struct Policer {
    law: AnyLaw,
    /// What may be sent, over what was granted.
    leeway: f64,
    /// Of the link, B/s.
    capacity: f64,
    sets: Vec<[Suspect; WAYS]>,
}

#[derive(Clone, Copy, Debug, Default)]
struct Suspect {
    flow: Option<u32>,
    /// Bytes that passed, with those of the flows whose place it took.
    count: u64,
    seen: Time,
    /// Its round trip as it claims, or its round as it numbers them, in seconds, smoothed so that
    /// one packet's claim moves little.
    rtt: f64,
    /// What it calls its round, and when that began.
    round: u8,
    began: Time,
    /// Bytes a round trip that it claimed when this one began; infinite where its header does not
    /// say.
    claimed: f64,
    /// Bytes a round trip that it may send, with all that was granted before the last one. A
    /// window, as the sender keeps it, and no rate: what it sends at falls and rises with the queue
    /// by itself.
    base: f64,
    /// What was granted in the last round trip, and in this one.
    last: f64,
    fresh: f64,
    /// Bytes it may send now.
    bytes: f64,
    /// Seconds its packets may claim.
    time: f64,
    /// Whether it is granted rates; then seconds by which its packets have claimed less than the
    /// rate that it may send at.
    rated: bool,
    unclaimed: f64,
}

impl Policer {
    pub(crate) fn new(law: AnyLaw, spec: &PoliceSpec, rate: Rate) -> Policer {
        let sets = (spec.suspects as usize).div_ceil(WAYS).max(1);
        Policer {
            law,
            leeway: 1.0 + spec.tolerance,
            capacity: rate.throughput().get(),
            sets: vec![[Suspect::default(); WAYS]; sets],
        }
    }

    /// The link's rate has changed.
    pub(crate) fn on_rate_change(&mut self, rate: Rate) {
        self.capacity = rate.throughput().get();
    }

    /// A packet of a flow has come, before the port looks at it.
    pub(crate) fn on_arrival(
        &mut self,
        now: Time,
        flow: u32,
        size: Bytes,
        header: &mut Header,
    ) -> Policed {
        let Some(claim) = self.law.claim(header) else { return Policed::Passes };
        let leeway = self.leeway;
        let size = size.as_f64();
        let suspect = self.suspect(now, flow, size, &claim);
        if !suspect.may_send(now, size, leeway) {
            return Policed::Dropped;
        }
        let spacing = claim.spacing.map(|spacing| suspect.may_claim(spacing, size, leeway));
        suspect.advance_round(now, size, &Claim { spacing, ..claim });
        match spacing {
            Some(spacing) if claim.spacing != Some(spacing) => {
                self.law.correct(header, spacing);
                Policed::Corrected
            }
            _ => Policed::Passes,
        }
    }

    /// A packet leaves with what the port grants.
    pub(crate) fn on_departure(&mut self, flow: u32, header: &Header) {
        let Some(grant) = self.law.grant(header) else { return };
        let capacity = self.capacity;
        let set = self.set(flow);
        if let Some(suspect) = self.sets[set].iter_mut().find(|s| s.flow == Some(flow)) {
            match grant {
                Grant::Change(change) => suspect.fresh += change.get() * suspect.rtt,
                Grant::Rate(rate) => {
                    suspect.rated = true;
                    suspect.fresh = rate.get() * suspect.rtt - suspect.entitled();
                }
                Grant::Step(times, more) => {
                    // Nobody has a use for more than the link carries, and who was granted more
                    // could not be told to slow down for long.
                    let next = times * suspect.entitled() + more.get() * suspect.rtt;
                    suspect.fresh = next.min(capacity * suspect.rtt) - suspect.entitled();
                }
            }
        }
    }

    fn set(&self, flow: u32) -> usize {
        // Multiplying by 2^32 over the golden ratio spreads neighbours; the high bits are the best.
        let hash = flow.wrapping_mul(0x9e37_79b9);
        ((u64::from(hash) * self.sets.len() as u64) >> 32) as usize
    }

    /// The flow's entry, made if it has none.
    fn suspect(&mut self, now: Time, flow: u32, size: f64, claim: &Claim) -> &mut Suspect {
        let set = self.set(flow);
        let ways = &mut self.sets[set];
        let count = |s: &Suspect| match s.flow {
            Some(_) if now.since(s.seen) < FORGET => s.count + 1,
            _ => 0,
        };
        let known = ways.iter().position(|s| s.flow == Some(flow));
        let least = || (0..WAYS).min_by_key(|way| count(&ways[*way])).unwrap_or(0);
        let way = known.unwrap_or_else(least);
        if known.is_none() {
            ways[way] = Suspect::new(now, flow, count(&ways[way]), size, claim);
        }
        &mut ways[way]
    }
}

impl Suspect {
    fn new(now: Time, flow: u32, count: u64, size: f64, claim: &Claim) -> Suspect {
        let rtt = believed(claim);
        let window = claimed_window(size, claim, rtt);
        Suspect {
            flow: Some(flow),
            count,
            seen: now,
            rtt,
            round: claim.round.unwrap_or_default(),
            began: now,
            claimed: window.unwrap_or(f64::INFINITY),
            base: window.unwrap_or(burst(size)),
            last: 0.0,
            fresh: 0.0,
            bytes: burst(size),
            time: 2.0 * rtt,
            rated: false,
            unclaimed: 0.0,
        }
    }

    /// Fills both buckets, and takes the packet out of the one of bytes if it holds as many.
    fn may_send(&mut self, now: Time, size: f64, leeway: f64) -> bool {
        let passed = now.since(self.seen).secs();
        self.seen = now;
        self.time = (self.time + passed * ROUNDING).min(2.0 * self.rtt);
        // What slows it down it may not have heard of yet.
        let window = self.most(size) * leeway;
        self.bytes = (self.bytes + window * passed / self.rtt).min(window + burst(size));
        if self.bytes < size {
            return false;
        }
        self.bytes -= size;
        self.count += size as u64;
        true
    }

    /// What it may send a round trip, with what it may have heard of.
    fn most(&self, size: f64) -> f64 {
        (self.base + self.last.max(0.0) + self.fresh.max(0.0)).max(size)
    }

    /// The spacing it may claim: its own, the time that is left, or that of the rate it was
    /// granted.
    fn may_claim(&mut self, spacing: Duration, size: f64, leeway: f64) -> Duration {
        let least = size * self.rtt / (self.most(size) * leeway);
        self.unclaimed = (self.unclaimed + least - spacing.secs()).clamp(0.0, self.rtt);
        let hides = self.rated && self.unclaimed == self.rtt;
        let spacing = if hides { Duration::from_secs_f64(least) } else { spacing };
        if spacing.secs() <= self.time {
            self.time -= spacing.secs();
            return spacing;
        }
        Duration::from_secs_f64(core::mem::take(&mut self.time))
    }

    /// Once a round trip: what was granted before the last one has been heard of by now.
    fn advance_round(&mut self, now: Time, size: f64, claim: &Claim) {
        let lasted = now.since(self.began).secs();
        if lasted < self.shortest_round(claim) {
            return;
        }
        let entitled = self.entitled();
        let used = self.claimed + self.last.max(0.0);
        self.base = if entitled > used { (entitled + used) / 2.0 } else { entitled.max(size) };
        self.last = core::mem::take(&mut self.fresh);
        self.set_rtt(lasted, claim);
        self.claimed = claimed_window(size, claim, self.rtt).unwrap_or(f64::INFINITY);
        self.round = claim.round.unwrap_or_default();
        self.began = now;
    }

    /// What it may send a round trip, without what it cannot have heard of.
    fn entitled(&self) -> f64 {
        self.base + self.last
    }

    /// How long a round has to last to be over, in seconds.
    fn shortest_round(&self, claim: &Claim) -> f64 {
        match claim.round {
            None => self.rtt,
            Some(round) if round != self.round => SHORTEST_RTT,
            Some(_) => LONGEST_RTT,
        }
    }

    /// Who numbers its rounds keeps a rate and no window: as their length changes, so does what is
    /// sent in one.
    fn set_rtt(&mut self, lasted: f64, claim: &Claim) {
        if claim.round.is_none() {
            self.rtt = (self.rtt + believed(claim)) / 2.0;
            return;
        }
        let rtt = (self.rtt + lasted.clamp(SHORTEST_RTT, LONGEST_RTT)) / 2.0;
        let longer = rtt / core::mem::replace(&mut self.rtt, rtt);
        self.base *= longer;
        self.last *= longer;
    }
}

/// The round trip a packet claims, in seconds, as far as that is believed.
fn believed(claim: &Claim) -> f64 {
    if claim.rtt.is_zero() {
        UNKNOWN_RTT
    } else {
        claim.rtt.secs().clamp(SHORTEST_RTT, LONGEST_RTT)
    }
}

/// The bytes a round trip that the claimed spacing makes, where the law's headers say. A flow that
/// does not know its own yet has an initial window.
fn claimed_window(size: f64, claim: &Claim, rtt: f64) -> Option<f64> {
    let spacing = claim.spacing?.secs();
    Some(if spacing > 0.0 { size * rtt / spacing } else { burst(size) })
}

fn burst(size: f64) -> f64 {
    BURST.max(2.0 * size)
}

#[cfg(test)]
mod tests;
