//! Two ways to end slow start before packets are lost: HyStart++ (RFC 9406) and the HyStart of
//! Linux.

mod classic;
mod plus_plus;

use ratewire_units::Duration;

use super::common::Profile;
use crate::law::Acked;
use classic::Classic;
use plus_plus::PlusPlus;

/// What watches a slow start.
#[derive(Clone, Debug)]
pub(super) enum HyStart {
    PlusPlus(PlusPlus),
    Classic(Classic),
}

/// Effect of an acknowledgement on the window.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Step {
    /// Add the acknowledged bytes divided by this.
    Grow(f64),
    /// Slow start is over: the window is the new slow-start threshold.
    Leave,
}

/// The sender whose slow start is watched.
#[derive(Clone, Copy, Debug)]
pub(super) struct Watched {
    /// Window in payload bytes.
    pub(super) cwnd: f64,
    /// Payload of a full packet, in bytes.
    pub(super) mss: f64,
    /// Whether the sender spreads packets over the RTT.
    pub(super) is_paced: bool,
}

impl HyStart {
    pub(super) fn new(profile: Profile) -> HyStart {
        match profile {
            Profile::Rfc => HyStart::PlusPlus(PlusPlus::new()),
            Profile::Linux => HyStart::Classic(Classic::new()),
        }
    }

    /// Handles an acknowledgement in slow start.
    pub(super) fn on_ack(&mut self, acked: &Acked, watched: Watched) -> Step {
        match self {
            HyStart::PlusPlus(watch) => watch.on_ack(acked),
            HyStart::Classic(watch) => watch.on_ack(acked, watched),
        }
    }

    /// Handles the end of an idle time. Rounds of HyStart++ before it do not describe the present
    /// RTT; Linux compares with the least RTT of the flow.
    pub(super) fn on_restart(&mut self) {
        if let HyStart::PlusPlus(watch) = self {
            *watch = PlusPlus::new();
        }
    }
}

/// Rise of the RTT that counts: an eighth of `rtt`, from 4 ms to 16 ms (RFC 9406, 4.3; Linux).
fn significant_rise(rtt: Duration) -> Duration {
    const MIN_RTT_THRESH: Duration = Duration::from_millis(4);
    const MAX_RTT_THRESH: Duration = Duration::from_millis(16);
    const MIN_RTT_DIVISOR: u64 = 8;
    (rtt / MIN_RTT_DIVISOR).clamp(MIN_RTT_THRESH, MAX_RTT_THRESH)
}
