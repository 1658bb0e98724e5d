//! Packets that a host sends at one instant.
//!
//! When a packet will leave that comes to a plain link and has to wait is known at once, and on a
//! host's own link nothing changes that. Of packets of one size that are sent at one instant, or as
//! another of them starts, each takes whole packets' times longer than the first, on all links of
//! one rate, overhead and delay alike. So the second packets of all bursts share a delay line, and
//! so do the third and the fourth ([`crate::speed::delay_line`]): they are put there early, and
//! until they have started the link only counts them as waiting. What comes behind them waits in
//! the link's row as it does elsewhere.
//!
//! Links with ports send no packet early: a port sees packets off in their turn.

use ratewire_units::{Bytes, Duration, Time};

use crate::link::{DelayLine, Link, Links};
use crate::packet::Label;
use crate::scheduler::Scheduler;
use crate::spec::LinkId;
use crate::speed::delay_line::DelayLines;
use crate::speed::tuning::{DELAY_LINES_OF_BURSTS, MOST_EARLY};

impl DelayLines {
    /// Puts a packet that has come to a host's link, and must wait there, on a delay line if it is
    /// one of a burst. Returns when it will start if so.
    #[inline(never)]
    pub(crate) fn send_early(
        &mut self,
        links: &mut Links,
        now: Time,
        id: LinkId,
        label: &Label,
        scheduler: &mut impl Scheduler,
    ) -> Option<Time> {
        let link = &links[id.index()];
        let per_byte = link.per_byte.filter(|_| link.lets_be_early(label.size))?;
        let time = per_byte.of(link.on_wire(label.size));
        let start = link.busy_until;
        // It takes as long as others do at its place, and may share their line.
        if start.since(now) != time * (u64::from(link.early) + 1) {
            return None;
        }
        let line = self.line_of_burst(links, id, time)?;
        let link = &mut links[id.index()];
        link.note_waiting(now, label.size);
        (link.early, link.early_size) = (link.early + 1, label.size);
        let arrives = link.send(start + time, time, Bytes::new(u64::from(label.size)));
        debug_assert!(DelayLines::takes(links, line, now, arrives));
        DelayLines::put_on_line(links, id, line, arrives, *label, scheduler);
        Some(start)
    }

    /// The delay line for the next packet of a burst on this link, each of which takes so long to
    /// be sent. Each line has noted that of the packets behind those that take it, as of the first
    /// link of which one did: links whose first packets take equally long, but not those behind
    /// them, go without.
    #[inline]
    fn line_of_burst(&mut self, links: &mut Links, id: LinkId, time: Duration) -> Option<LinkId> {
        let link = &links[id.index()];
        let (early, leaves, mut line) = (link.early, link.ends.leaves(), link.delay_line);
        let mut latency = time + link.delay;
        for _ in 0..=early {
            let before = links.line(line);
            // Where the first is of another size, so is its line.
            if links.get(before.index())?.delay != latency {
                return None;
            }
            latency += time;
            line = links[before.index()].delay_line;
            if line == DelayLine::UNKNOWN {
                let found = self.find_line(links, leaves, latency, DELAY_LINES_OF_BURSTS);
                line = found.unwrap_or(DelayLine::NONE);
                links[before.index()].delay_line = line;
            }
        }
        let line = links.line(line);
        (links.get(line.index())?.delay == latency).then_some(line)
    }
}

impl Link {
    /// Whether a packet that has to wait may be one of a burst, as far as the link itself tells.
    /// What has started does not matter: where hosts lag it is not known whether it has arrived by
    /// now.
    #[inline]
    fn lets_be_early(&self, size: u32) -> bool {
        // Above a byte a picosecond those of other sizes may take as long.
        let is_alike = self.early == 0 || self.early_size == size;
        !self.has_port() && self.waiting() == 0 && self.early < MOST_EARLY && is_alike
    }

    /// Those that are early start, up to `now`.
    #[inline(never)]
    pub(crate) fn start_early(&mut self, now: Time) {
        let Some(per_byte) = self.per_byte else { return };
        let time = per_byte.of(self.on_wire(self.early_size));
        while self.early > 0 {
            let start = self.busy_until - time * u64::from(self.early);
            if start > now {
                return;
            }
            self.sum_areas(start);
            self.early -= 1;
            self.waiting_bytes -= u64::from(self.early_size);
            self.passed += 1;
        }
    }
}
