//! State of a sender that repairs losses by RACK-TLP, PRR and undo.

use ratewire_units::{Duration, Time};

use super::prr::Prr;
use super::undo::Undo;

/// Repairs after which a widened window of reordering has its usual size again (RFC 8985, 6.2, step
/// 4).
const REPAIRS_WITH_WIDE_WINDOW: u8 = 16;

/// What only `recovery = "rack"` needs.
#[derive(Debug)]
pub(super) struct Rack {
    /// The rate reduction under way, if a loss is repaired so.
    pub(super) prr: Option<Prr>,
    pub(super) undo: Undo,
    /// Repairs that were undone.
    pub(super) undone: u64,
    /// When the first packet that was overtaken counts as lost, if there is one.
    pub(super) overtaken_until: Time,
    pub(super) reordering: Reordering,
}

impl Rack {
    pub(super) const NEW: Rack = Rack {
        prr: None,
        undo: Undo::NONE,
        undone: 0,
        overtaken_until: Time::NEVER,
        reordering: Reordering { seen: false, repairs_left: 0, quarters: 1, round: 0 },
    };
}

/// What is known of the order in which packets arrive.
#[derive(Debug)]
pub(super) struct Reordering {
    /// Whether a packet has overtaken another.
    pub(super) seen: bool,
    repairs_left: u8,
    /// Quarters of the least round-trip time for which an overtaken packet has time.
    quarters: u16,
    /// End of the round trip in which the window last grew.
    round: u64,
}

impl Reordering {
    /// The window of reordering (RFC 8985, section 6.2, step 4). `certain` if a loss need not wait
    /// while no packet has been overtaken.
    pub(super) fn window(&self, min: Duration, srtt: Duration, certain: bool) -> Duration {
        match self.seen {
            false if certain => Duration::ZERO,
            _ => (min / 4 * u64::from(self.quarters)).min(srtt),
        }
    }

    /// A packet has arrived twice: the window was too short. It grows once a round trip, which ends
    /// when `next` is acknowledged.
    pub(super) fn widen(&mut self, cumulative: u64, next: u64) {
        if cumulative >= self.round {
            self.round = next;
            self.quarters = self.quarters.saturating_add(1);
            self.repairs_left = REPAIRS_WITH_WIDE_WINDOW;
        }
    }

    pub(super) fn end_repair(&mut self) {
        self.repairs_left = self.repairs_left.saturating_sub(1);
        if self.repairs_left == 0 {
            self.quarters = 1;
        }
    }
}
