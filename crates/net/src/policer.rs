//! A policer at a port: holds what a flow's packets claim, and what they were granted here, against
//! what passes, whoever sends or receives them.
//!
//! Two things are enforced, each with a bucket a flow:
//! - **Time.** The spacings that packets claim cannot sum to more than the time in which they passed.
//!   What is claimed beyond is written down to what is left: who claims four times the spacing is heard
//!   once.
//! - **Rate.** A flow may send at the rate it claimed when it was first seen, changed by what this port
//!   granted since. A grant that slows down counts two round trips later, when its sender must have
//!   heard of it; what is granted and not used lapses by half each round trip, as senders age it. What
//!   is sent beyond is dropped: nothing else stops a sender that does not listen.
//!
//! Memory is bounded. Flows share a table of a fixed number of suspects, in small sets; where one is
//! full the flow that passed the fewest bytes makes room and leaves its count to the newcomer (space
//! saving: Metwally, Agrawal, El Abbadi, ICDT 2005). A flow with more than a table's share of the bytes
//! is always in it, and who has less is no danger.
//!
//! A law's weights are lies to a policer: it sees only that more is claimed than is sent.

use ratewire_laws::trust::Claim;
use ratewire_laws::{AnyLaw, Header};
use ratewire_units::{Bytes, Duration, Time};

use crate::spec::PoliceSpec;

/// Suspects a flow may be among.
const WAYS: usize = 8;
/// What the time claimed may exceed the time passed by, for rounding's sake.
const ROUNDING: f64 = 1.0 + 1.0 / 64.0;
/// Packets that any flow may send at once: an initial window (RFC 6928).
const BURST: f64 = 10.0;
/// The round trip of a flow that does not know its own.
const UNKNOWN_RTT: f64 = 0.1;
/// Claims of round trips below and above these are not believed.
const SHORTEST_RTT: f64 = 0.001;
const LONGEST_RTT: f64 = 1.0;
/// A flow that was silent for so long counts as none.
const FORGET: Duration = Duration::from_secs(10);

/// What becomes of a packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Verdict {
    Pass,
    /// It goes on with the truth in its header.
    Corrected,
    Drop,
}

/// The policer of one port.
#[derive(Debug)]
pub(crate) struct Policer {
    law: AnyLaw,
    /// What may be sent, over what was granted.
    leeway: f64,
    sets: Vec<[Suspect; WAYS]>,
}

#[derive(Clone, Copy, Debug, Default)]
struct Suspect {
    flow: Option<u32>,
    /// Bytes that passed, with those of the flows whose place it took.
    count: u64,
    seen: Time,
    /// Rate that it claimed when this round trip began.
    claimed: f64,
    /// Rate that it may have, with all that was granted before the last round trip.
    base: f64,
    /// What was granted in the last round trip, and in this one.
    last: f64,
    fresh: f64,
    round_end: Time,
    /// Bytes it may send.
    bytes: f64,
    /// Seconds its packets may claim.
    time: f64,
}

impl Policer {
    pub(crate) fn new(law: AnyLaw, spec: &PoliceSpec) -> Policer {
        let sets = (spec.suspects as usize).div_ceil(WAYS).max(1);
        Policer {
            law,
            leeway: 1.0 + spec.tolerance,
            sets: vec![[Suspect::default(); WAYS]; sets],
        }
    }

    /// A packet of a flow has come, before the port looks at it.
    pub(crate) fn on_arrival(
        &mut self,
        now: Time,
        flow: u32,
        size: Bytes,
        header: &mut Header,
    ) -> Verdict {
        let Some(claim) = self.law.claim(header) else { return Verdict::Pass };
        let leeway = self.leeway;
        let size = size.as_f64();
        let suspect = self.suspect(now, flow, size, &claim);
        if !suspect.may_send(now, size, leeway, &claim) {
            return Verdict::Drop;
        }
        let spacing = suspect.may_claim(&claim);
        suspect.advance_round(now, size, spacing, &claim);
        if spacing == claim.spacing {
            return Verdict::Pass;
        }
        self.law.correct(header, spacing);
        Verdict::Corrected
    }

    /// A packet leaves with what the port grants.
    pub(crate) fn on_departure(&mut self, flow: u32, header: &Header) {
        let Some(grant) = self.law.grant(header) else { return };
        let set = self.set(flow);
        if let Some(suspect) = self.sets[set].iter_mut().find(|s| s.flow == Some(flow)) {
            suspect.fresh += grant.get();
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
        let rate = claimed_rate(size, claim.spacing, claim);
        Suspect {
            flow: Some(flow),
            count,
            seen: now,
            claimed: rate,
            base: rate,
            last: 0.0,
            fresh: 0.0,
            round_end: now + Duration::from_secs_f64(rtt(claim)),
            bytes: BURST * size,
            time: 2.0 * rtt(claim),
        }
    }

    /// What it may send at, B/s. What slows it down it may not have heard of yet.
    fn allowed(&self) -> f64 {
        self.base + self.last.max(0.0) + self.fresh.max(0.0)
    }

    /// Fills both buckets, and takes the packet out of the one of bytes if it has as many.
    fn may_send(&mut self, now: Time, size: f64, leeway: f64, claim: &Claim) -> bool {
        let passed = now.since(self.seen).secs();
        self.seen = now;
        self.time = (self.time + passed * ROUNDING).min(2.0 * rtt(claim));
        let rate = self.allowed().max(size / rtt(claim)) * leeway;
        self.bytes = (self.bytes + rate * passed).min(rate * rtt(claim) + BURST * size);
        if self.bytes < size {
            return false;
        }
        self.bytes -= size;
        self.count += size as u64;
        true
    }

    /// The spacing it may claim: its own, or the time that is left.
    fn may_claim(&mut self, claim: &Claim) -> Duration {
        let spacing = claim.spacing.secs();
        if spacing <= self.time {
            self.time -= spacing;
            return claim.spacing;
        }
        Duration::from_secs_f64(core::mem::take(&mut self.time))
    }

    /// Once a round trip: what was granted before the last one has been heard of.
    fn advance_round(&mut self, now: Time, size: f64, spacing: Duration, claim: &Claim) {
        if now < self.round_end {
            return;
        }
        let entitled = self.base + self.last;
        let used = self.claimed + self.last.max(0.0);
        self.base = if entitled > used { (entitled + used) / 2.0 } else { entitled.max(0.0) };
        let silent = now.since(self.round_end).secs() >= rtt(claim);
        self.last = if silent { self.last.min(0.0) } else { self.fresh };
        self.fresh = 0.0;
        self.claimed = claimed_rate(size, spacing, claim);
        self.round_end = now + Duration::from_secs_f64(rtt(claim));
    }
}

/// The round trip a packet claims, as far as that is believed.
fn rtt(claim: &Claim) -> f64 {
    if claim.rtt.is_zero() {
        return UNKNOWN_RTT;
    }
    claim.rtt.secs().clamp(SHORTEST_RTT, LONGEST_RTT)
}

/// The rate that a spacing makes. A flow that does not know its own has an initial window.
fn claimed_rate(size: f64, spacing: Duration, claim: &Claim) -> f64 {
    if claim.spacing.is_zero() {
        return BURST * size / UNKNOWN_RTT;
    }
    size / spacing.secs().max(f64::MIN_POSITIVE)
}
