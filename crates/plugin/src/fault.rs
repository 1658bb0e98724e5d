//! What a part has done that no law may do.

use std::sync::OnceLock;

use ratewire_units::Time;

/// The first fault of a part; none at first.
#[derive(Debug, Default)]
pub(crate) struct Fault {
    first: OnceLock<String>,
    /// A window that is too large without a pace, which other faults go before.
    excess: OnceLock<String>,
}

impl Fault {
    pub(crate) fn message(&self) -> Option<String> {
        self.first.get().or_else(|| self.excess.get()).cloned()
    }

    /// Notes a fault, unless there was one before.
    #[cold]
    pub(crate) fn note(&self, what: String) {
        let _ = self.first.set(what);
    }

    /// Notes a window that is too large without a pace, unless there was one before.
    #[cold]
    pub(crate) fn note_excess(&self, what: String) {
        let _ = self.excess.set(what);
    }

    /// The rate that a law gives, or zero if it is none.
    #[inline]
    pub(crate) fn rate(&self, rate: f64) -> f64 {
        if (0.0..f64::INFINITY).contains(&rate) {
            return rate;
        }
        self.note(format!(
            "`source.pace` gave {rate} bytes per second: allowed is 0 or more, finite"
        ));
        0.0
    }

    /// The threshold that a law gives, in whole bytes, or zero if it is none.
    pub(crate) fn threshold(&self, bytes: f64) -> u64 {
        if bytes >= 0.0 {
            return (bytes + 0.5) as u64;
        }
        self.note(format!(
            "`source.slow_start_threshold` gave {bytes} bytes: allowed is 0 or more"
        ));
        0
    }

    /// The time that `next_timer` returned, in seconds.
    pub(crate) fn timer(&self, seconds: f64, whose: &str) -> Time {
        const PS: f64 = 1e12;
        if seconds.is_nan() {
            self.note(format!("`{whose}.next_timer` returned no number"));
        }
        match seconds * PS {
            ps if ps < u64::MAX as f64 => Time::from_ps((ps + 0.5) as u64),
            _ => Time::NEVER,
        }
    }
}
