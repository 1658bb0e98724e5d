//! FQ-CoDel (RFC 8290): flows are served in turn, and CoDel controls the queue of each.
//!
//! # Deliberate differences
//! - The hash is that of a flow's number, where the RFC hashes addresses and ports (section 4.1).
//!   As in the RFC, it is salted at random, and two flows may share a queue.
//! - If the link has no room, packets are dropped as they are beyond `limit`.
//! - A switch with buffers that pause their inputs sorts packets itself. FQ-CoDel does nothing
//!   there.

#[cfg(test)]
mod tests;

use std::collections::VecDeque;

use ratewire_laws::OptionError;
use ratewire_laws::options::{OptionKind, OptionSpec, Options};
use ratewire_units::{Bytes, Time};

use super::codel::CoDel;
use super::discipline::{
    Arrival, Departure, Discipline, DisciplineInfo, NamedDiscipline, Treatment, option,
};
use super::sorted::Queues;
use crate::packet::Ecn;

/// FQ-CoDel at one link.
#[derive(Clone, Debug)]
pub struct FqCoDel {
    /// Maximum number of queues.
    most: u32,
    /// Bytes that a queue may send in each round.
    quantum: i64,
    /// Number of packets in all queues above which some are dropped.
    limit: u32,
    /// Maximum number of packets that are dropped at once.
    batch: u32,
    /// The CoDel that a new queue begins with.
    codel: CoDel,
    /// Salt of the hash, drawn when the first packet comes.
    salt: Option<u64>,
    /// Number of the queue by hash, once a packet has waited there.
    numbers: Vec<Option<u32>>,
    flows: Vec<Flow>,
    /// New queues (RFC 8290, 4): queues with a first packet, in order of service.
    new: VecDeque<u32>,
    /// Old queues (RFC 8290, 4): all other active queues. One that has become empty stays on the
    /// list until its next turn.
    old: VecDeque<u32>,
}

/// State of one queue, which may have several flows.
#[derive(Clone, Debug)]
struct Flow {
    codel: CoDel,
    /// Bytes that this queue may still send in this round; at most a packet below zero.
    credit: i64,
    /// Whether this queue is among the new or old queues.
    is_listed: bool,
}

const OPTIONS: &[OptionSpec] = &[
    option(
        "flows",
        OptionKind::Count(1, 65_536),
        "1024",
        "Most queues; flows that hash to one queue share it. RFC 8290, 5.2.5.",
    ),
    option(
        "quantum",
        OptionKind::Size(None),
        "1514 B",
        "What a queue may send in each round. RFC 8290, 5.2.4: a full Ethernet frame.",
    ),
    option(
        "limit",
        OptionKind::Count(1, 1_000_000_000),
        "10240",
        "Packets in all queues beyond which the longest loses some, beside what `queue` says. RFC 8290, 5.2.3.",
    ),
    option(
        "batch",
        OptionKind::Count(1, 1_000_000),
        "64",
        "Most packets that the longest queue loses at once, and half of it at most. RFC 8290, 4.1.",
    ),
    option(
        "target",
        OptionKind::Time,
        "5 ms",
        "Acceptable standing delay of each queue, see CoDel.",
    ),
    option(
        "interval",
        OptionKind::Time,
        "100 ms",
        "Window in which each queue's least delay is taken, see CoDel.",
    ),
    option(
        "ecn",
        OptionKind::Switch,
        "true",
        "Mark packets that can be marked, instead of dropping them. RFC 8290, 5.2.6.",
    ),
];

impl FqCoDel {
    /// Appends a queue that is on neither list to the new queues.
    fn list(&mut self, queue: u32) {
        let flow = &mut self.flows[queue as usize];
        if !flow.is_listed {
            (flow.is_listed, flow.credit) = (true, self.quantum);
            self.new.push_back(queue);
        }
    }
}

/// Well-mixed bits of a flow's number and a salt (finalizer of SplitMix64).
fn hash(flow: u32, salt: u64) -> u64 {
    let mut bits = salt ^ u64::from(flow).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    bits = (bits ^ (bits >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    bits = (bits ^ (bits >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    bits ^ (bits >> 31)
}

impl NamedDiscipline for FqCoDel {
    const INFO: DisciplineInfo = DisciplineInfo {
        name: "fq-codel",
        title: "FQ-CoDel",
        summary: "Fair queueing with CoDel (RFC 8290): a queue for each flow, served in turn, and CoDel at each",
        explanation: include_str!("explain.md"),
        example: "discipline = { fq-codel = { flows = 1024, quantum = \"1514 B\" } }",
        options: OPTIONS,
    };

    fn from_options(o: &Options, packet: Bytes) -> Result<FqCoDel, OptionError> {
        let interval = o.time("interval");
        if interval.is_zero() {
            return Err(OptionError::new("interval", "the interval of FQ-CoDel must be above 0"));
        }
        let quantum = o.plain_size("quantum").bytes(packet);
        if quantum < LEAST_QUANTUM {
            let message = format!("`quantum` of FQ-CoDel must be {LEAST_QUANTUM} or more");
            return Err(OptionError::new("quantum", message));
        }
        Ok(FqCoDel {
            most: o.count("flows") as u32,
            quantum: i64::try_from(quantum.get()).unwrap_or(i64::MAX),
            limit: o.count("limit") as u32,
            batch: o.count("batch") as u32,
            codel: CoDel::new(o.time("target"), interval, o.switch("ecn")),
            salt: None,
            numbers: Vec::new(),
            flows: Vec::new(),
            new: VecDeque::new(),
            old: VecDeque::new(),
        })
    }
}

impl Discipline for FqCoDel {
    fn marks(&self) -> bool {
        self.codel.marks()
    }
    fn draws(&self) -> bool {
        true
    }
    fn sorts(&self) -> bool {
        true
    }
    fn makes_room(&self) -> bool {
        true
    }

    /// Queue of the packet's flow (RFC 8290, 4.1). It becomes a new queue if it is on neither list.
    fn place(&mut self, arrival: &Arrival, draw: &mut dyn FnMut() -> f64) -> u32 {
        let salt = *self.salt.get_or_insert_with(|| (draw() * (1u64 << 53) as f64) as u64);
        self.numbers.resize(self.most as usize, None);
        let at = (hash(arrival.flow, salt) % u64::from(self.most)) as usize;
        let queue = *self.numbers[at].get_or_insert_with(|| {
            let codel = self.codel.clone();
            self.flows.push(Flow { codel, credit: 0, is_listed: false });
            self.flows.len() as u32 - 1
        });
        self.list(queue);
        queue
    }

    /// Next queue (RFC 8290, 4.2): new queues first, each until its credit is used up.
    fn choose(&mut self, now: Time, queues: Queues<'_>) -> u32 {
        loop {
            let is_new = !self.new.is_empty();
            let list = if is_new { &mut self.new } else { &mut self.old };
            let Some(&queue) = list.front() else { return 0 };
            let flow = &mut self.flows[queue as usize];
            if flow.credit <= 0 {
                flow.credit = flow.credit.saturating_add(self.quantum);
                list.pop_front();
                self.old.push_back(queue);
            } else if queues.backlog(queue).packets > 0 {
                return queue;
            } else {
                flow.codel.on_empty(now);
                list.pop_front();
                // An emptied new queue first joins the old ones. Otherwise its next packet would
                // make it new again, and the old queues could starve (4.2).
                if is_new {
                    self.old.push_back(queue);
                } else {
                    flow.is_listed = false;
                }
            }
        }
    }

    fn on_departure(&mut self, departure: &Departure) -> Treatment {
        let Some(flow) = self.flows.get_mut(departure.queue as usize) else {
            return Treatment::Pass;
        };
        let treatment = flow.codel.on_departure(departure);
        let is_sent = match treatment {
            Treatment::Pass => true,
            Treatment::MarkOrDrop => departure.ecn != Ecn::NotCapable,
            Treatment::Drop => false,
        };
        if is_sent {
            flow.credit -= departure.size.get() as i64;
        }
        treatment
    }

    /// Packets to drop (RFC 8290, 4.1): half of the longest queue's, up to a batch.
    fn shed(&mut self, queues: Queues<'_>, is_full: bool) -> Option<(u32, u32)> {
        let all: u32 = if is_full {
            u32::MAX
        } else {
            (0..queues.count()).map(|queue| queues.backlog(queue).packets).sum()
        };
        if all <= self.limit {
            return None;
        }
        // Of several longest queues, the one with the lowest number.
        let longest = (0..queues.count()).rev().max_by_key(|queue| queues.backlog(*queue).bytes)?;
        let half = queues.backlog(longest).packets.div_ceil(2);
        Some((longest, half.min(self.batch)))
    }
}

/// Minimum quantum: smaller ones would take many rounds for each packet.
const LEAST_QUANTUM: Bytes = Bytes::new(64);
