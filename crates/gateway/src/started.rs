//! Since when a program runs.

use std::time::{Duration, SystemTime, UNIX_EPOCH};

use tokio::time::Instant;

/// The start of a program.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Started {
    unix_s: f64,
    at: Instant,
}

impl Started {
    /// A program that starts now.
    #[expect(clippy::disallowed_methods, reason = "the status tells when the program was started")]
    pub(crate) fn now() -> Started {
        let since = SystemTime::now().duration_since(UNIX_EPOCH);
        Started { unix_s: since.map_or(0.0, |since| since.as_secs_f64()), at: Instant::now() }
    }

    /// Seconds from 1970 to the start.
    pub(crate) fn unix_s(&self) -> f64 {
        self.unix_s
    }

    /// Time since the start.
    pub(crate) fn uptime(&self) -> Duration {
        self.at.elapsed()
    }
}
