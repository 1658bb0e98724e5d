//! Departures from links with a discipline, losses, a policer or a trace.

use ratewire_laws::Header;
use ratewire_units::{Bytes, Time};

use crate::link::{RareTally, Tally};
use crate::packet::{Ecn, Fate, Label};
use crate::path::network::Network;
use crate::path::trail::DropReason;
use crate::queue::{Backlog, Departure, Head, Treatment};
use crate::spec::LinkId;

impl Network {
    /// Handles the rare part of a departure: losses and reordering, the policer, and the removal of
    /// congestion headers.
    #[cold]
    pub(in crate::path) fn launch_rare(&mut self, now: Time, id: LinkId, label: &mut Label) {
        let link = &mut self.links[id.index()];
        label.fate = link.draw_fate(now);
        let Some(extra) = link.extra.as_deref_mut() else { return };
        let header = self.packets.header_mut(label.content);
        if let Some(policer) = &mut extra.policer {
            policer.on_departure(label.generation, header);
        }
        if extra.strips {
            *header = Header::None;
        }
    }

    /// Lets the discipline choose the next packet to leave and decide about it, until one is not
    /// dropped. Returns whether there is one.
    #[cold]
    pub(in crate::path) fn dequeue_rare(&mut self, now: Time, id: LinkId) -> bool {
        while self.links[id.index()].waiting() > 0 {
            let link = &mut self.links[id.index()];
            let at = link.started;
            let Some(extra) = link.extra.as_deref_mut() else { return true };
            let mut queue = 0;
            if let Some(sorted) = &mut extra.sorted {
                queue = extra.discipline.choose(now, sorted.queues());
                let Some(chosen) = sorted.pop(queue) else { return false };
                link.fifo[at] = chosen;
            }
            link.waiting_bytes -= u64::from(link.fifo[at].size);
            let (backlog, next) = match &extra.sorted {
                Some(sorted) => (sorted.queues().backlog(queue), sorted.queues().head(queue)),
                None => {
                    let packets = link.fifo.len() - at - 1;
                    let backlog = Backlog { packets, bytes: Bytes::new(link.waiting_bytes) };
                    (backlog, link.fifo.get(at + 1).map(Head::of))
                }
            };
            let label = &mut link.fifo[at];
            let treatment = extra.discipline.on_departure(&Departure {
                now,
                queue,
                size: Bytes::new(u64::from(label.size)),
                ecn: label.ecn,
                sojourn: now.since(label.time),
                backlog,
                link_bytes: Bytes::new(link.waiting_bytes),
                next,
            });
            if treat(&mut link.tally, &mut extra.tally, label, treatment) {
                return true;
            }
            let dropped = *label;
            if at == 0 {
                link.fifo.pop_front();
            } else {
                // The place of a dropped packet stays in the FIFO until it reaches the head.
                label.fate = Fate::Gone;
                label.time = link.last_arrival;
                link.started += 1;
                link.gone += 1;
            }
            self.discard(&dropped, DropReason::Early);
        }
        false
    }
}

/// Applies a discipline's decision to a packet; returns whether the packet goes on.
pub(in crate::path) fn treat(
    tally: &mut Tally,
    rare: &mut RareTally,
    label: &mut Label,
    treatment: Treatment,
) -> bool {
    match treatment {
        Treatment::Pass => true,
        Treatment::MarkOrDrop if label.ecn != Ecn::NotCapable => {
            tally.marked += u64::from(label.ecn.may_be_marked());
            label.ecn = Ecn::Marked;
            true
        }
        Treatment::MarkOrDrop | Treatment::Drop => {
            rare.dropped_early += 1;
            false
        }
    }
}
