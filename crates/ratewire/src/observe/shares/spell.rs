//! The time between two changes, window by window.

use ratewire_report::Settling;
use ratewire_statistics::{is_fair, jain_index, settles_at};
use ratewire_units::{Duration, Time};

use super::plan::Contender;

/// Round trips without queues of the longest path in a window, at least: in shorter ones one would see
/// how packets clump, not how flows share.
const ROUND_TRIPS: u64 = 4;
/// Packets that the smallest fair part of a window is, at least: one more or less is 2.5 %.
const PACKETS: f64 = 40.0;
/// How far from its fair part a flow may be, as a part of it.
const WITHIN: f64 = 0.1;
/// Windows that must be fair, up to the end of the spell: a single one may be so by chance.
const WINDOWS: usize = 5;

pub(super) struct Spell {
    event: String,
    /// When it changed, and when the first window starts: at a sample.
    at: Time,
    from: Time,
    /// Places among the contenders.
    members: Vec<usize>,
    /// What is fair for each member, bits per second.
    fair: Vec<f64>,
    pub(super) window: Duration,
    /// How much of the window is over, and what each member delivered in it.
    over: Duration,
    amounts: Vec<f64>,
    /// Whether each window was fair.
    held: Vec<bool>,
}

impl Spell {
    /// `None` where there is nothing to share: a link on the only way of all members is down.
    pub(super) fn begin(
        event: String,
        at: Time,
        from: Time,
        members: Vec<usize>,
        fair: Vec<f64>,
        contenders: &[&Contender],
    ) -> Option<Spell> {
        let packets = contenders
            .iter()
            .zip(&fair)
            .filter(|(_, bps)| **bps > 0.0)
            .map(|(c, bps)| Duration::from_secs_f64(PACKETS * c.packet.as_f64() * 8.0 / bps));
        let packets = packets.max()?;
        let trips = contenders.iter().map(|c| c.round_trip * ROUND_TRIPS).max()?;
        let amounts = vec![0.0; members.len()];
        let (window, over, held) = (trips.max(packets), Duration::ZERO, Vec::new());
        Some(Spell { event, at, from, members, fair, window, over, amounts, held })
    }

    /// Adds an interval. If a window ends with it, answers with its Jain's index, of what each member
    /// got over what is fair for it.
    pub(super) fn add(&mut self, interval: Duration, delivered: &[f64]) -> Option<f64> {
        if self.over.is_zero() && self.held.is_empty() && !interval.is_zero() {
            // A number of whole intervals; all but a run's last are as long as the first.
            self.window = interval * self.window.ps().div_ceil(interval.ps()).max(1);
        }
        for (amount, place) in self.amounts.iter_mut().zip(&self.members) {
            *amount += delivered[*place];
        }
        self.over += interval;
        if self.over < self.window {
            return None;
        }
        self.held.push(is_fair(&self.amounts, &self.fair, WITHIN));
        let parts = self.amounts.iter().zip(&self.fair).filter(|(_, fair)| **fair > 0.0);
        let parts: Vec<f64> = parts.map(|(amount, fair)| amount / fair).collect();
        self.over = Duration::ZERO;
        self.amounts.fill(0.0);
        jain_index(&parts)
    }

    /// How soon it was fair for good; `None` if it was too short to tell.
    pub(super) fn end(self) -> Option<Settling> {
        let first = settles_at(&self.held, WINDOWS);
        (self.held.len() >= WINDOWS).then(|| Settling {
            at_s: self.at.secs(),
            flows: self.members.len() as u64,
            window_s: self.window.secs(),
            took_s: first.map(|i| (self.from.since(self.at) + self.window * i as u64).secs()),
            event: self.event,
        })
    }
}
