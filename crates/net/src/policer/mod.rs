//! A policer at a port: checks what a flow's packets claim, and what the port granted, against what
//! passes. It trusts neither senders nor receivers.
//!
//! The policer enforces two limits, each with a bucket per flow:
//! - **Time.** The spacings that packets claim cannot sum to more than the time in which they
//!   passed. A larger claim is cut to the time left in the bucket: a flow that claims four times
//!   its spacing counts once. Where ports grant rates, a spacing of a higher rate is raised to that
//!   of the granted rate: a flow that claims a quarter of its spacing counts in full.
//! - **Window.** In a round trip, a flow may send the window that it first claimed, changed by what
//!   this port granted since. A grant that reduces the window counts two round trips later, when
//!   the sender must know of it. An unused grant lapses by half in each round trip in which the
//!   flow sends, as it does at senders. Packets beyond the window are dropped, because nothing else
//!   stops a sender that ignores grants.
//!
//! Memory is bounded: flows share a table of a fixed number of suspects, in small sets. If a set is
//! full, a new flow replaces the flow that passed the fewest bytes, and inherits its count (space
//! saving: Metwally, Agrawal, El Abbadi, ICDT 2005). A flow with more than a table's share of the
//! bytes is always in the table; a smaller flow is no danger.
//!
//! The policer does not know a law's weights: to it, a weighted flow claims more than it sends.

use ratewire_laws::trust::{Claim, Grant};
use ratewire_laws::{AnyLaw, Header};
use ratewire_units::{Bytes, Duration, Rate, Time};

use crate::spec::PoliceSpec;

/// Entries of a set, among which a flow has its own.
const WAYS: usize = 8;
/// Factor by which claimed time may exceed elapsed time, to allow for rounding.
const ROUNDING: f64 = 1.0 + 1.0 / 64.0;
/// Bytes that any flow may send at once, or two packets if they are larger: an initial window (RFC
/// 6928).
const BURST: f64 = 15_000.0;
/// Round-trip time of a flow that does not know its own, in seconds.
const UNKNOWN_RTT: f64 = 0.1;
/// Limits of a believed round-trip time, in seconds.
const SHORTEST_RTT: f64 = 0.001;
const LONGEST_RTT: f64 = 1.0;
/// Silence after which a flow's entry counts as free.
const FORGET: Duration = Duration::from_secs(10);

/// What a policer does with a packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Policed {
    Passes,
    /// The packet passes with a corrected header.
    Corrected,
    Dropped,
}

/// The policer of one port.
#[derive(Debug)]
pub(crate) struct Policer {
    law: AnyLaw,
    /// Ratio of what a flow may send to what it was granted.
    leeway: f64,
    /// Capacity of the link, in B/s.
    capacity: f64,
    sets: Vec<[Suspect; WAYS]>,
}

#[derive(Clone, Copy, Debug, Default)]
struct Suspect {
    flow: Option<u32>,
    /// Bytes that passed, including those of the flows that this one replaced.
    count: u64,
    seen: Time,
    /// Round-trip time in seconds: as the flow claims, or the length of its numbered rounds. Each
    /// round moves it half of the way to the new value, so that one packet's claim has little
    /// effect.
    rtt: f64,
    /// The flow's number of the current round, and the time at which the round began.
    round: u8,
    began: Time,
    /// Window in bytes that the flow claimed when the round began; infinite if its header does not
    /// tell.
    claimed: f64,
    /// Window in bytes, with all grants before the last round trip. It is a window and no rate, as
    /// at the sender: the rate varies with the delay in queues.
    base: f64,
    /// Bytes granted in the last round trip (`last`) and in this one (`fresh`).
    last: f64,
    fresh: f64,
    /// Bytes that the flow may send now.
    bytes: f64,
    /// Seconds that the flow's packets may claim now.
    time: f64,
    /// Whether the port grants rates. If so, `unclaimed` has the seconds by which the flow's
    /// claimed spacings fall short of those of the granted rate.
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

    /// Handles a change of the link's rate.
    pub(crate) fn on_rate_change(&mut self, rate: Rate) {
        self.capacity = rate.throughput().get();
    }

    /// Checks an arriving packet of a flow, before the port sees it.
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

    /// Notes what the port grants in a departing packet.
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
                    // At most the link's capacity: a larger window has no use, and would take many
                    // grants to reduce.
                    let next = times * suspect.entitled() + more.get() * suspect.rtt;
                    suspect.fresh = next.min(capacity * suspect.rtt) - suspect.entitled();
                }
            }
        }
    }

    fn set(&self, flow: u32) -> usize {
        // Multiplying by 2^32 over the golden ratio spreads neighbouring numbers, in the high bits
        // best.
        let hash = flow.wrapping_mul(0x9e37_79b9);
        ((u64::from(hash) * self.sets.len() as u64) >> 32) as usize
    }

    /// The flow's entry. A new flow replaces the entry of its set that has the smallest count.
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

    /// Fills both buckets; takes the packet's bytes out of theirs, and returns whether it held as
    /// many.
    fn may_send(&mut self, now: Time, size: f64, leeway: f64) -> bool {
        let passed = now.since(self.seen).secs();
        self.seen = now;
        self.time = (self.time + passed * ROUNDING).min(2.0 * self.rtt);
        // The sender may not know yet of a grant that slows it down.
        let window = self.most(size) * leeway;
        self.bytes = (self.bytes + window * passed / self.rtt).min(window + burst(size));
        if self.bytes < size {
            return false;
        }
        self.bytes -= size;
        self.count += size as u64;
        true
    }

    /// Window in bytes, with every increase that the sender may know of already.
    fn most(&self, size: f64) -> f64 {
        (self.base + self.last.max(0.0) + self.fresh.max(0.0)).max(size)
    }

    /// The spacing that a packet may claim: its own, or the time left in the bucket if that is
    /// less. A flow that claimed too high a rate for a round trip gets the spacing of the granted
    /// rate.
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

    /// Once a round trip: adds the grants of the last one to the base, as the sender must know of
    /// them now.
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

    /// Window in bytes, without the grants of this round trip.
    fn entitled(&self) -> f64 {
        self.base + self.last
    }

    /// Least duration of the current round, in seconds.
    fn shortest_round(&self, claim: &Claim) -> f64 {
        match claim.round {
            None => self.rtt,
            Some(round) if round != self.round => SHORTEST_RTT,
            Some(_) => LONGEST_RTT,
        }
    }

    /// Updates the round-trip time. A flow that numbers its rounds keeps a rate and no window: its
    /// window is scaled with the length of its rounds.
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

/// The round-trip time that a packet claims, in seconds, within the limits of what is believed.
fn believed(claim: &Claim) -> f64 {
    if claim.rtt.is_zero() {
        UNKNOWN_RTT
    } else {
        claim.rtt.secs().clamp(SHORTEST_RTT, LONGEST_RTT)
    }
}

/// Window in bytes that follows from the claimed spacing; `None` if the law's headers have no
/// spacing. A flow that does not know its spacing yet has an initial window.
fn claimed_window(size: f64, claim: &Claim, rtt: f64) -> Option<f64> {
    let spacing = claim.spacing?.secs();
    Some(if spacing > 0.0 { size * rtt / spacing } else { burst(size) })
}

fn burst(size: f64) -> f64 {
    BURST.max(2.0 * size)
}

#[cfg(test)]
mod tests;
