//! Bursts: packets that a host sends at one instant.
//!
//! If a packet has to wait at a plain link, its departure time is known at once. On a host's own
//! link, nothing changes that time. Take packets of one size that are sent at one instant, or just
//! as another of them starts. Each takes a whole number of packet times longer than the first, and
//! equally long on all links of one rate, overhead and delay.
//!
//! The second packets of all bursts therefore share a delay line, and likewise the third and the
//! fourth ([`crate::speed::delay_line`]). The link puts them on their lines early, and only counts
//! them as waiting until they start. Packets behind them wait in the link's FIFO as usual.
//!
//! Links with ports send no packet early, because a port must see each departure in its order.

use ratewire_units::{Bytes, Duration, Time};

use crate::link::{DelayLineId, Link, Links};
use crate::packet::Label;
use crate::scheduler::Scheduler;
use crate::spec::LinkId;
use crate::speed::delay_line::DelayLines;
use crate::speed::tuning::{DELAY_LINES_OF_BURSTS, MOST_EARLY};

impl DelayLines {
    /// Puts a packet that must wait at a host's link on a delay line, if the packet belongs to a
    /// burst. Returns the time at which it starts; `None` if it has to wait in the link's FIFO.
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
        // Only a packet that takes as long as others at its place in a burst may share their line.
        if start.since(now) != time * (u64::from(link.early) + 1) {
            return None;
        }
        let line = self.line_of_burst(links, id, time)?;
        let link = &mut links[id.index()];
        link.note_waiting(now, label.size);
        link.early += 1;
        let arrives = link.send(start + time, time, Bytes::new(u64::from(label.size)));
        debug_assert!(DelayLines::takes(links, line, now, arrives));
        DelayLines::put_on_line(links, id, line, arrives, *label, scheduler);
        Some(start)
    }

    /// The delay line for the next packet of a burst on this link, whose packets take `time` each.
    ///
    /// Each line notes the line of the packets behind its own in a burst, as found by the first
    /// link that needed one. A link whose first packet takes equally long, but not the packets
    /// behind it, has none.
    #[inline]
    fn line_of_burst(&mut self, links: &mut Links, id: LinkId, time: Duration) -> Option<LinkId> {
        let link = &links[id.index()];
        let (early, leaves, mut line) = (link.early, link.ends.leaves(), link.delay_line);
        let mut latency = time + link.delay;
        for _ in 0..=early {
            let before = links.line(line);
            // The link's line differs if the first packet had another size.
            if links.get(before.index())?.delay != latency {
                return None;
            }
            latency += time;
            line = links[before.index()].delay_line;
            if line == DelayLineId::UNKNOWN {
                let found = self.find_line(links, leaves, latency, DELAY_LINES_OF_BURSTS);
                line = found.unwrap_or(DelayLineId::NONE);
                links[before.index()].delay_line = line;
            }
        }
        let line = links.line(line);
        (links.get(line.index())?.delay == latency).then_some(line)
    }
}

impl Link {
    /// Whether a packet that has to wait may belong to a burst, as far as the link itself can tell.
    /// Packets that have started do not matter: if hosts lag, it is unknown whether these have
    /// arrived by now.
    #[inline]
    fn lets_be_early(&self, size: u32) -> bool {
        // Above a byte a picosecond, packets of different sizes may take equally long.
        let is_alike = self.early == 0 || self.last_size == size;
        !self.has_port() && self.waiting() == 0 && self.early < MOST_EARLY && is_alike
    }

    /// Starts early packets whose time is `now` or before.
    #[inline(never)]
    pub(crate) fn start_early(&mut self, now: Time) {
        let Some(per_byte) = self.per_byte else { return };
        let time = per_byte.of(self.on_wire(self.last_size));
        while self.early > 0 {
            let start = self.busy_until - time * u64::from(self.early);
            if start > now {
                return;
            }
            self.sum_areas(start);
            self.early -= 1;
            self.waiting_bytes -= u64::from(self.last_size);
            self.passed += 1;
        }
    }
}
