//! Packets that a host sends at one instant.
//!
//! When a packet will leave that comes to a plain link and has to wait is known at once, and on a host's own link nothing
//! changes that. Of packets of one size that are sent at one instant each takes one packet's time longer than the one
//! before it, on all such links alike. So the second of each burst have a delay line for themselves, and so have the
//! third ([`crate::delay_line`]): they go there ahead of their time, and the link but counts them until it is looked at
//! after they have started.

use ratewire_units::{Bytes, Time};

use crate::link::{Link, NO_PORT};
use crate::network::{Network, Scheduler};
use crate::packet::Label;
use crate::spec::LinkId;

/// Packets behind the first that go ahead: each has a delay line of its own.
const MOST_AHEAD: u8 = 3;

impl Network {
    /// Puts a packet that has come to a link, and must wait there, on a delay line if it is one of a burst; says
    /// whether it did.
    #[inline(never)]
    pub(crate) fn send_ahead(
        &mut self,
        now: Time,
        id: LinkId,
        label: &Label,
        scheduler: &mut impl Scheduler,
    ) -> bool {
        let link = &self.links[id.index()];
        let Some(per_byte) = link.per_byte.filter(|_| link.lets_ahead(label.size)) else {
            return false;
        };
        let time = per_byte.of(link.on_wire(label.size));
        let start = link.busy_until;
        let latency = time * (u64::from(link.ahead) + 2) + link.delay;
        if (start + time + link.delay).since(now) != latency {
            return false;
        }
        let Some(line) = self.line_of_burst(link.ends.leaves(), latency) else { return false };
        let link = &mut self.links[id.index()];
        link.note_waiting(now, label.size);
        (link.ahead, link.ahead_size) = (link.ahead + 1, label.size);
        let arrives = link.send(start + time, time, Bytes::new(u64::from(label.size)));
        if self.followed.is(label.content) {
            self.note_departure(start, id, label);
        }
        self.put_on_line(id, line, arrives, *label, scheduler);
        true
    }
}

impl Link {
    /// Whether a packet that waits here is counted only.
    #[inline]
    fn lets_ahead(&self, size: u32) -> bool {
        let is_alike = self.ahead == 0 || (self.ahead_size == size && self.ahead < MOST_AHEAD);
        self.port == NO_PORT && self.row.len() == 0 && is_alike
    }

    /// Those that went ahead start, up to `now`.
    #[inline(never)]
    pub(crate) fn start_ahead(&mut self, now: Time) {
        let Some(per_byte) = self.per_byte else { return };
        let time = per_byte.of(self.on_wire(self.ahead_size));
        while self.ahead > 0 {
            let start = self.busy_until - time * u64::from(self.ahead);
            if start > now {
                return;
            }
            self.sum_areas(start);
            self.ahead -= 1;
            self.waiting_bytes -= u64::from(self.ahead_size);
            self.passed += 1;
        }
    }
}
