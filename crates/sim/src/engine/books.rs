//! What is observed while a run goes on, and what it comes to.

use ratewire_net::spec::LinkId;
use ratewire_units::{Bytes, Duration};

use super::Simulation;
use crate::error::RunError;
use crate::outcome::{Drops, LinkOutcome, Outcome, Pausing};
use crate::record::{FlowSample, LinkSample, Recorder};

/// A link's counters as of the last sample.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct LinkBefore {
    busy: Duration,
    sent: Bytes,
    drops: u64,
    marks: u64,
    area_packets: u128,
    area_bytes: u128,
    pauses: u64,
    paused: Duration,
}

impl<R: Recorder> Simulation<'_, R> {
    pub(super) fn sample(&mut self) {
        let interval = self.now.since(self.last_sample);
        if interval.is_zero() {
            return;
        }
        self.last_sample = self.now;
        for ended in self.ended.drain(..) {
            self.recorder.flow_sample(&FlowSample { at: self.now, interval, ..ended });
        }
        for slot in 0..self.flows.slots() {
            let Some(flow) = self.flows.at(slot) else { continue };
            if flow.id.0 < self.setup.sampled_flows {
                flow.passed = self.junctions.passed(flow.id.0);
                let mut sample = flow.sample(self.now, interval);
                if let Some(outstanding) = self.junctions.outstanding(flow.id.0) {
                    (sample.window, sample.in_flight) = (Bytes::MAX, outstanding);
                }
                self.recorder.flow_sample(&sample);
            }
        }
        for i in 0..self.sampled.len() {
            let link = self.sampled[i];
            self.sample_link(link, interval);
        }
        if let Some(overlay) = &mut self.overlay {
            let recorder = &mut *self.recorder;
            overlay.sample(self.now, interval, &mut |sample| recorder.overlay_sample(sample));
        }
        if self.setup.follow.in_turn {
            self.follow_next();
        }
    }

    pub(super) fn sample_link(&mut self, link: LinkId, interval: Duration) {
        let seen = self.network.observe(self.now, link, &mut self.wheel);
        let before = &mut self.link_before[link.index()];
        let ps = interval.ps() as f64;
        self.recorder.link_sample(&LinkSample {
            at: self.now,
            interval,
            link,
            busy: seen.busy.saturating_sub(before.busy).ps() as f64 / ps,
            sent: seen.sent_bytes - before.sent,
            queue_packets_mean: (seen.area_packets - before.area_packets) as f64 / ps,
            queue_packets_max: seen.peak_packets,
            queue_bytes_mean: (seen.area_bytes - before.area_bytes) as f64 / ps,
            queue_bytes_max: seen.peak_bytes,
            queue_packets: seen.waiting_packets,
            queue_bytes: seen.waiting_bytes,
            drops: seen.drops() - before.drops,
            marks: seen.marked - before.marks,
            pauses: seen.pauses - before.pauses,
            paused: seen.paused.saturating_sub(before.paused).ps() as f64 / ps,
        });
        *before = LinkBefore {
            busy: seen.busy,
            sent: seen.sent_bytes,
            drops: seen.drops(),
            marks: seen.marked,
            area_packets: seen.area_packets,
            area_bytes: seen.area_bytes,
            pauses: seen.pauses,
            paused: seen.paused,
        };
    }

    pub(super) fn finish(mut self) -> Result<Outcome, RunError> {
        if self.setup.sample_interval.is_some() {
            self.sample();
        }
        self.give_up_following();
        self.network.look_for_deadlocks(self.now);
        for slot in 0..self.flows.slots() {
            if let Some(flow) = self.flows.remove(slot) {
                self.settle(&flow);
            }
        }
        for flow in &mut self.outcomes {
            flow.clamps = self.network.clamps(flow.flow.0);
            flow.delivered = flow.delivered.saturating_sub(self.junctions.skipped(flow.flow.0));
        }
        let mut links = Vec::new();
        for i in 0..self.setup.network.links.len() as u32 {
            links.push(self.settle_link(LinkId(i)));
        }
        self.packets.dropped = links.iter().map(|l| l.drops.total()).sum();
        self.packets.in_flight = self.network.in_flight();
        let p = self.packets;
        let unbalanced = self.network.unbalanced_link();
        if p.sent != p.delivered + p.dropped + p.in_flight || unbalanced.is_some() {
            return Err(RunError::NotConserved { packets: p, link: unbalanced });
        }
        self.check_overlay()?;
        Ok(Outcome {
            overlay: self.overlay.map(|mut overlay| overlay.outcome(self.end)),
            flows: self.outcomes,
            links,
            packets: p,
            events: self.events,
            data_packets_delivered: self.data_packets,
            ended: self.end,
            deadlock: self.network.deadlock().cloned(),
        })
    }

    pub(super) fn settle_link(&mut self, link: LinkId) -> LinkOutcome {
        let seen = self.network.observe(self.now, link, &mut self.wheel);
        let ps = self.now.ps().max(1) as f64;
        LinkOutcome {
            link,
            busy: seen.busy,
            sent: seen.sent_bytes,
            packets: seen.sent_packets,
            queue_packets_mean: seen.area_packets as f64 / ps,
            queue_bytes_mean: seen.area_bytes as f64 / ps,
            queue_packets_max: seen.peak_packets_run,
            queue_bytes_max: seen.peak_bytes_run,
            drops: Drops {
                full: seen.dropped_full,
                early: seen.dropped_early,
                lost: seen.lost,
                down: seen.dropped_down,
                policed: seen.dropped_policed,
            },
            marks: seen.marked,
            clamps: seen.clamps(),
            pausing: Pausing {
                pauses: seen.pauses,
                paused: seen.paused,
                frames: seen.control_frames,
                overflowed: seen.overflowed,
            },
        }
    }
}
