//! The time between two changes, window by window.

use ratewire_report::Settling;
use ratewire_statistics::{is_fair, jain_index, settles_at};
use ratewire_units::{Duration, Time};

use super::plan::Contender;

/// Least length of a window in round trips without queues of the longest path. Shorter windows
/// would show how packets cluster, not how flows share.
const ROUND_TRIPS: u64 = 4;
/// Least number of packets in a window at the smallest fair rate; one packet more or less is 2.5 %.
const PACKETS: f64 = 40.0;
/// Allowed distance from the fair rate, as a share of it.
const WITHIN: f64 = 0.1;
/// Least number of fair windows up to the end of a period; a single one may be fair by chance.
const WINDOWS: usize = 5;

pub(super) struct Period {
    event: String,
    /// Time of the change.
    at: Time,
    /// Time of the sample at which the first window starts.
    from: Time,
    /// Indices of the members among the contenders.
    members: Vec<usize>,
    /// Fair rate of each member, in bits per second.
    fair: Vec<f64>,
    pub(super) window: Duration,
    /// Elapsed part of the current window.
    over: Duration,
    /// Bytes that each member delivered in the current window.
    amounts: Vec<f64>,
    /// Whether each window was fair.
    held: Vec<bool>,
}

impl Period {
    /// `None` if there is nothing to share, because a link on all members' paths is down.
    pub(super) fn begin(
        event: String,
        at: Time,
        from: Time,
        members: Vec<usize>,
        fair: Vec<f64>,
        contenders: &[&Contender],
    ) -> Option<Period> {
        let packets = contenders
            .iter()
            .zip(&fair)
            .filter(|(_, bps)| **bps > 0.0)
            .map(|(c, bps)| Duration::from_secs_f64(PACKETS * c.packet.as_f64() * 8.0 / bps));
        let packets = packets.max()?;
        let trips = contenders.iter().map(|c| c.round_trip * ROUND_TRIPS).max()?;
        let amounts = vec![0.0; members.len()];
        let (window, over, held) = (trips.max(packets), Duration::ZERO, Vec::new());
        Some(Period { event, at, from, members, fair, window, over, amounts, held })
    }

    /// Adds an interval. If a window ends with it, returns Jain's index of the members' rates over
    /// their fair rates.
    pub(super) fn add(&mut self, interval: Duration, delivered: &[f64]) -> Option<f64> {
        if self.over.is_zero() && self.held.is_empty() && !interval.is_zero() {
            // A window is a whole number of intervals; all intervals but a run's last have equal
            // length.
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
        self.begin_window();
        jain_index(&parts)
    }

    /// Leaves out what has been added to the current window.
    pub(super) fn begin_window(&mut self) {
        self.over = Duration::ZERO;
        self.amounts.fill(0.0);
    }

    /// Time until the shares were fair for good; `None` if the period was too short.
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
