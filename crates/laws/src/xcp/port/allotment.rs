//! What a control interval of XCP's port has to give and to take.

use super::PS_PER_SECOND;
use crate::xcp::{PacketLimit, Xcp, or_infinite};

/// Positive and negative feedback of this control interval.
#[derive(Clone, Debug, Default)]
#[repr(C)]
pub(super) struct Allotment {
    pub(super) residue_pos: f64,
    pub(super) residue_neg: f64,
    /// B/s per picosecond of X.
    pub(super) cp: f64,
    /// B/s per byte.
    pub(super) cn: f64,
    /// The whole positive feedback of the interval, which bounds that of one packet.
    pub(super) most: f64,
    /// Figures from which the feedback was computed: the arrival rate in B/s, and `F`.
    pub(super) input_bw: f64,
    pub(super) feedback: f64,
}

impl Allotment {
    /// What there is before the first packet that states X.
    pub(super) fn initial(law: &Xcp, capacity: f64) -> Allotment {
        if law.initial_cp == 0.0 {
            return Allotment::default();
        }
        let half_a_queue = or_infinite(law.queue_cap) / 2.0 / law.initial_interval.secs();
        let residue_pos = (law.alpha * capacity).min(half_a_queue);
        Allotment {
            residue_pos,
            cp: law.initial_cp / PS_PER_SECOND,
            most: residue_pos,
            feedback: residue_pos,
            ..Allotment::default()
        }
    }

    /// What the interval has given so far, less what it has taken, in B/s.
    pub(super) fn net(&self) -> f64 {
        self.feedback - self.residue_pos + self.residue_neg
    }

    /// Limits of a packet's positive and negative feedback, in B/s.
    #[inline]
    pub(super) fn most(&self, limit: PacketLimit) -> (f64, f64) {
        match limit {
            PacketLimit::Interval => (self.most, f64::INFINITY),
            PacketLimit::Residue => (self.residue_pos, self.residue_neg),
        }
    }

    /// Grant of a packet, in B/s: its wish, if that is less than its allotment.
    #[inline]
    pub(super) fn grant(&mut self, wish: f64, x: f64, size: f64, most: (f64, f64)) -> f64 {
        let mut pos = (self.cp * x).min(most.0);
        let mut neg = (self.cn * size).min(most.1);
        let allotted = pos - neg;
        let granted = if wish > allotted {
            allotted
        } else {
            // An upstream router, or the sender itself, wanted less: the rest is kept for other
            // packets.
            neg = self.residue_neg.min(neg + (allotted - wish));
            pos = wish + neg;
            wish
        };
        self.residue_pos = (self.residue_pos - pos).max(0.0);
        self.residue_neg = (self.residue_neg - neg).max(0.0);
        if self.residue_pos <= 0.0 {
            self.cp = 0.0;
        }
        if self.residue_neg <= 0.0 {
            self.cn = 0.0;
        }
        granted
    }
}
