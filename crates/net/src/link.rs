//! One link and the queue in front of it.
//!
//! A link is first-in-first-out, so only the packet at the head of what is on the way needs an
//! event. Departures have none: what leaves the queue between two events is worked out when the
//! link is next looked at, each step with the time at which it happened ([`Network::catch_up`]).
//! Port timers are caught up with in the same way, since only this link's packets see the port.
//!
//! [`Network::catch_up`]: crate::Network

use std::collections::VecDeque;

use rand_core::Rng;
use rand_xoshiro::Xoshiro256PlusPlus;
use ratewire_units::{Bytes, Duration, Rate, SerialTime, Time};

use crate::discipline::{CoDel, Red};
use crate::packet::{Fate, Label};
use crate::random::{stream, unit};
use crate::service::TraceCursor;
use crate::spec::{Discipline, Limit, LinkSpec, Loss, MediumId, Service};

/// No port stands here.
pub(crate) const NO_PORT: u32 = u32::MAX;

/// A link in operation, laid out so that a packet touches as few cache lines as can be.
#[derive(Debug)]
#[repr(C, align(64))]
pub(crate) struct Link {
    /// When the packet being sent has left; in the past when idle.
    pub(crate) busy_until: Time,
    pub(crate) per_byte: Option<SerialTime>,
    pub(crate) delay: Duration,
    /// Packets on the wire, the one being sent, and then those that wait, in one row: a link keeps
    /// their order, so sending one is moving the boundary.
    pub(crate) row: VecDeque<Label>,
    /// Packets at the front of `row` that are on the wire or being sent.
    pub(crate) started: u32,
    pub(crate) port: u32,
    /// When the next event of this link is due.
    pub(crate) next_event: Time,
    /// Copy of the port's next timer.
    pub(crate) port_timer: Time,
    /// What few links have.
    pub(crate) extra: Option<Box<Extra>>,
    pub(crate) overhead: u32,
    pub(crate) limit_packets: u32,
    pub(crate) limit_bytes: u64,
    pub(crate) waiting_bytes: u64,
    /// When the packet sent last arrives.
    pub(crate) last_arrival: Time,
    pub(crate) stats: LinkStats,
}

/// What few links have.
#[derive(Debug)]
pub(crate) struct Extra {
    pub(crate) discipline: Active,
    pub(crate) loss: LossState,
    pub(crate) trace: Option<TraceCursor>,
    pub(crate) medium: Option<MediumId>,
    pub(crate) down: bool,
    /// Packets that reach the far end are noted.
    pub(crate) captured: bool,
    /// Bytes of the packet being sent that were left when the rate fell to zero.
    pub(crate) stalled: Option<f64>,
    pub(crate) random: Xoshiro256PlusPlus,
    /// When the link last sent on its medium, for taking turns.
    pub(crate) last_turn: Time,
    /// When the medium is free again, while this link is the one sending on it.
    pub(crate) medium_free: Time,
    /// Collisions in a row, for backoff.
    pub(crate) collisions: u32,
}

#[derive(Debug)]
pub(crate) enum Active {
    DropTail,
    Red(Red),
    CoDel(CoDel),
}

#[derive(Debug)]
pub(crate) enum LossState {
    None,
    Random(f64),
    Burst { turn_bad: f64, turn_good: f64, loss_bad: f64, loss_good: f64, bad: bool },
}

impl LossState {
    fn new(loss: &Loss) -> LossState {
        match *loss {
            Loss::None => LossState::None,
            Loss::Random(p) => LossState::Random(p),
            Loss::Burst { turn_bad, turn_good, loss_bad, loss_good } => {
                LossState::Burst { turn_bad, turn_good, loss_bad, loss_good, bad: false }
            }
        }
    }

    /// Whether this packet is lost.
    pub(crate) fn draw(&mut self, random: &mut Xoshiro256PlusPlus) -> bool {
        match self {
            LossState::None => false,
            LossState::Random(p) => unit(random.next_u64()) < *p,
            LossState::Burst { turn_bad, turn_good, loss_bad, loss_good, bad } => {
                let turn = if *bad { *turn_good } else { *turn_bad };
                if unit(random.next_u64()) < turn {
                    *bad = !*bad;
                }
                unit(random.next_u64()) < if *bad { *loss_bad } else { *loss_good }
            }
        }
    }
}

/// Counters of a link. Areas are sums of waiting times length of time, for exact means.
#[derive(Clone, Copy, Debug, Default)]
#[repr(C)]
pub struct LinkStats {
    /// Packets that came to the link.
    pub arrived: u64,
    /// Packets that reached its far end.
    pub passed: u64,
    /// Time spent sending, by the end of the packet now being sent.
    pub busy: Duration,
    /// Network-layer bytes sent, the packet being sent included.
    pub sent_bytes: u64,
    /// Packets sent, likewise.
    pub sent_packets: u64,
    /// Most packets waiting since the last sample.
    pub peak_packets: u32,
    /// Most packets waiting so far, as of the last sample.
    pub peak_packets_run: u32,
    /// Most bytes waiting since the last sample.
    pub peak_bytes: u64,
    /// Most bytes waiting so far, as of the last sample.
    pub peak_bytes_run: u64,
    /// Packets waiting, summed over picoseconds.
    pub area_packets: u128,
    /// Bytes waiting, summed over picoseconds.
    pub area_bytes: u128,
    /// Up to when the areas are summed.
    pub area_until: Time,
    /// Dropped for lack of room.
    pub dropped_full: u64,
    /// Dropped by the discipline.
    pub dropped_early: u64,
    /// Lost on the way.
    pub lost: u64,
    /// Dropped because the link was down.
    pub dropped_down: u64,
    /// Marked.
    pub marked: u64,
}

impl Link {
    pub(crate) fn new(spec: &LinkSpec, index: u64, seed: u64) -> Link {
        let (rate, trace) = match &spec.service {
            Service::Rate(rate) => (*rate, None),
            Service::Opportunities(o) => (Rate::ZERO, Some(TraceCursor::new(o.clone()))),
        };
        let discipline = match &spec.discipline {
            Discipline::DropTail => Active::DropTail,
            Discipline::Red(red) => Active::Red(Red::new(red.clone())),
            Discipline::CoDel(codel) => Active::CoDel(CoDel::new(codel.clone())),
        };
        let plain = trace.is_none()
            && spec.medium.is_none()
            && spec.loss == Loss::None
            && spec.discipline == Discipline::DropTail;
        let extra = (!plain).then(|| {
            Box::new(Extra {
                discipline,
                loss: LossState::new(&spec.loss),
                trace,
                medium: spec.medium,
                ..Extra::plain(index, seed)
            })
        });
        Link {
            busy_until: Time::ZERO,
            per_byte: rate.serial_time(),
            delay: spec.delay,
            row: VecDeque::new(),
            started: 0,
            waiting_bytes: 0,
            last_arrival: Time::ZERO,
            limit_bytes: match spec.limit {
                Limit::Bytes(bytes) => bytes.get(),
                Limit::Unlimited | Limit::Packets(_) => u64::MAX,
            },
            limit_packets: match spec.limit {
                Limit::Packets(n) => n,
                Limit::Unlimited | Limit::Bytes(_) => u32::MAX,
            },
            next_event: Time::NEVER,
            port_timer: Time::NEVER,
            port: NO_PORT,
            overhead: spec.overhead.get() as u32,
            extra,
            stats: LinkStats::default(),
        }
    }

    /// The rare parts, made when a change first needs them.
    pub(crate) fn extra_mut(&mut self, index: u64, seed: u64) -> &mut Extra {
        self.extra.get_or_insert_with(|| Box::new(Extra::plain(index, seed)))
    }

    /// Packets waiting.
    #[inline]
    pub(crate) fn waiting(&self) -> u32 {
        self.row.len() as u32 - self.started
    }

    /// Packets on the wire or being sent, tombstones left out.
    pub(crate) fn flying(&self) -> u64 {
        let on_the_way = self.row.iter().take(self.started as usize);
        on_the_way.filter(|l| l.fate != Fate::Gone).count() as u64
    }

    /// Brings the areas up to date before the number waiting changes.
    #[inline]
    pub(crate) fn sum_areas(&mut self, now: Time) {
        let waiting = self.waiting();
        if waiting > 0 {
            let span = u128::from(now.since(self.stats.area_until).ps());
            self.stats.area_packets += u128::from(waiting) * span;
            self.stats.area_bytes += u128::from(self.waiting_bytes) * span;
        }
        self.stats.area_until = now;
    }

    /// A packet waits.
    #[inline]
    pub(crate) fn enqueue(&mut self, now: Time, mut label: Label) {
        label.time = now;
        self.sum_areas(now);
        self.row.push_back(label);
        self.waiting_bytes += u64::from(label.size);
        self.stats.peak_packets = self.stats.peak_packets.max(self.waiting());
        self.stats.peak_bytes = self.stats.peak_bytes.max(self.waiting_bytes);
    }

    #[inline]
    pub(crate) fn has_room_for(&self, size: u32) -> bool {
        self.waiting() < self.limit_packets
            && self.waiting_bytes + u64::from(size) <= self.limit_bytes
    }

    /// When a packet that starts now will have left, and the time it adds to the time spent sending.
    /// At rate zero nothing starts: never.
    pub(crate) fn transmit(&mut self, now: Time, size: u32) -> (Time, Duration) {
        let on_wire = Bytes::new(u64::from(size) + u64::from(self.overhead));
        if let Some(trace) = self.extra.as_mut().and_then(|e| e.trace.as_mut()) {
            return (trace.finish(now, on_wire), trace.mean_time(on_wire));
        }
        match self.per_byte {
            Some(per_byte) => (now + per_byte.of(on_wire), per_byte.of(on_wire)),
            None => (Time::NEVER, Duration::ZERO),
        }
    }

    /// Whether it can send at all now.
    pub(crate) fn can_send(&self) -> bool {
        match &self.extra {
            None => self.per_byte.is_some(),
            Some(e) => (self.per_byte.is_some() || e.trace.is_some()) && e.stalled.is_none(),
        }
    }

    /// Whether the packet that starts now is lost on the way; tells CoDel when none waits behind it.
    pub(crate) fn draw_fate(&mut self, now: Time) -> Fate {
        let waiting = self.waiting();
        let Some(extra) = self.extra.as_deref_mut() else { return Fate::Arrives };
        if let (Active::CoDel(codel), 0) = (&mut extra.discipline, waiting) {
            codel.on_departure(now, Duration::ZERO, Bytes::ZERO, Bytes::ZERO);
        }
        if extra.loss.draw(&mut extra.random) { Fate::Lost } else { Fate::Arrives }
    }

    pub(crate) fn medium(&self) -> Option<MediumId> {
        self.extra.as_ref().and_then(|e| e.medium)
    }
}

impl Extra {
    fn plain(index: u64, seed: u64) -> Extra {
        Extra {
            discipline: Active::DropTail,
            loss: LossState::None,
            trace: None,
            medium: None,
            down: false,
            captured: false,
            stalled: None,
            random: stream(seed, "link", index),
            last_turn: Time::ZERO,
            medium_free: Time::NEVER,
            collisions: 0,
        }
    }
}
