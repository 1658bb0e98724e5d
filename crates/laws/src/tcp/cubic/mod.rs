//! CUBIC: the window as a cubic function of the time since the last loss (RFC 9438; Linux).
//!
//! Units: packets (`SMSS` of payload) and seconds. `flight` is the outstanding data when the loss
//! was noticed, at most `cwnd`.
//!
//! # Congestion avoidance in the profile `rfc` (section 4.2 to 4.5)
//! - a stage begins with the first acknowledgement after slow start or after a loss is repaired:
//!   `t = 0`, `cwnd_epoch = cwnd`, `W_est = cwnd`, `K = cbrt((W_max - cwnd_epoch) / C)`.
//!   `W_max = cwnd_epoch` and `K = 0` if `W_max` is not known: after a timeout (4.8), and when slow
//!   start ended without a loss (4.10).
//! - `W(t) = C (t - K)^3 + W_max`.
//! - each packet acknowledged: `target = W(t + SRTT)`, at least `cwnd` and at most `1.5 cwnd`;
//!   `cwnd += (target - cwnd) / cwnd`.
//! - Reno-friendly region (4.3): `W_est += alpha / cwnd` for each packet acknowledged, with
//!   `alpha = 3 (1 - beta) / (1 + beta)`, and `alpha = 1` once `W_est >= cwnd_prior`, the window at
//!   which `ssthresh` was last set. While `W(t) < W_est`, `cwnd = W_est`.
//! - `t` stands still while the application or the receiver's window is the limit, and while idle
//!   (5.8).
//!
//! # Congestion in the profile `rfc` (section 4.6 to 4.8)
//! - loss or mark: `cwnd_prior = cwnd`, `ssthresh = max(beta flight, 2)`,
//!   `cwnd = max(beta flight, 2)`, after a mark `max(beta flight, 1)`.
//! - fast convergence: `W_max = cwnd (1 + beta) / 2` if the window had not returned to `W_max`,
//!   else `W_max = cwnd`.
//! - timeout: `ssthresh` as for a loss, `cwnd = 1`, `W_max` unknown.
//!
//! # The profile `linux` (`tcp_cubic.c` of Linux 6)
//! - windows are whole packets. `need` packets acknowledged add one. `need` is
//!   `cwnd / (target - cwnd)` with `target = W(t + least RTT)`, and `100 cwnd` where the target is
//!   not above the window; at most `cwnd / (W_est - cwnd)`, at most 20 before the first loss, and
//!   at least 2. It is worked out when the window has changed, else each RTT or 32 times a second.
//! - `alpha` is the same above `cwnd_prior`; `W_est` grows by one for each `floor(cwnd / alpha)`
//!   packets.
//! - loss or mark: `cwnd = max(floor(ceil(1024 beta) cwnd / 1024), 2)`.
//! - `t` goes on while the application or the receiver is the limit, but not while idle.
//! - a spurious loss restores the window, but not the stage and `W_max`.
//!
//! Slow start, restart after idling and pacing are those of every TCP here: see [`super`] and the
//! options. Mean window with one packet in `1/p` lost:
//! `(C (3 + beta) / (4 (1 - beta)))^(1/4) (RTT / p)^(3/4) = 1.054 (RTT / p)^(3/4)` (5.1).
//!
//! # Deliberate differences from RFC 9438 in the profile `rfc`
//! - The window grows by packets acknowledged, as in Linux, and not by acknowledgements (4.4).
//!   Delayed acknowledgements therefore do not halve its growth.
//! - In the Reno-friendly region the window is raised to `W_est` and never lowered to it, as in
//!   Linux. The window aims at `W(t + SRTT)`, and may exceed both `W(t)` and `W_est`.
//! - No growth for one RTT after a mark (RFC 3168, 6.1.2), which RFC 9438 leaves open.
//! - A timeout within a window that has been cut for a loss or a mark lowers `cwnd` and not
//!   `ssthresh` again, as Linux does.

mod linux;
mod rfc;
mod source;
mod stage;
#[cfg(test)]
mod tests;

pub use source::CubicSource;

use super::common::{self, Common, Profile};
use crate::law::{
    FlowContext, Invariants, Law, LawInfo, Named, NoHeader, NoPort, NoSink, Promises, Properties,
};
use crate::options::{OptionError, OptionKind, OptionSpec, Options, Part};

/// CUBIC with its parameters.
#[derive(Clone, Debug)]
pub struct Cubic {
    pub(super) common: Common,
    pub(super) c: f64,
    pub(super) beta: f64,
    pub(super) fast_convergence: bool,
}

const OPTIONS: &[OptionSpec] = &[
    OptionSpec {
        name: "profile",
        kind: OptionKind::Word(&["linux", "rfc"]),
        default: "linux",
        part: Part::Source,
        doc: "whose rules: those of Linux 6, with its HyStart, or those of RFC 9438 and RFC 9406 \
              (HyStart++).",
    },
    OptionSpec {
        name: "c",
        kind: OptionKind::Number(1e-6, 1e6),
        default: "0.4",
        part: Part::Source,
        doc: "how fast the window grows, in packets per second cubed. RFC 9438, 5.",
    },
    OptionSpec {
        name: "beta",
        kind: OptionKind::Number(0.01, 0.99),
        default: "0.7",
        part: Part::Source,
        doc: "share of the window kept after a loss or mark. RFC 9438, 4.6.",
    },
    OptionSpec {
        name: "fast_convergence",
        kind: OptionKind::Switch,
        default: "true",
        part: Part::Source,
        doc: "give way to new flows: aim below the last window when it was below the one before. RFC \
              9438, 4.7.",
    },
    common::hystart(
        "true",
        "end slow start before packets are lost. Profile \"linux\": the HyStart of Linux, when the \
         RTT rises or acknowledgements come in a train as long as half of it, and after timeouts, \
         too; \"rfc\": HyStart++, RFC 9406, in the first slow start.",
    ),
    common::INITIAL_WINDOW,
    common::INITIAL_SSTHRESH,
    common::abc("inf"),
    common::PACING,
    common::IDLE_RESTART,
];

impl Named for Cubic {
    const INFO: LawInfo = LawInfo {
        name: "cubic",
        title: "CUBIC",
        summary: "TCP CUBIC: the window as a cubic function of the time since the last loss",
        explanation: include_str!("explain.md"),
        operations: "",
        options: OPTIONS,
    };

    fn from_options(o: &Options) -> Result<Cubic, OptionError> {
        Ok(Cubic {
            common: Common { profile: Profile::from_options(o), ..Common::from_options(o) },
            c: o.number("c"),
            beta: o.number("beta"),
            fast_convergence: o.switch("fast_convergence"),
        })
    }
}

impl Law for Cubic {
    type Header = NoHeader;
    type Source = CubicSource;
    type Port = NoPort;
    type Sink = NoSink;

    fn source(&self, flow: &FlowContext) -> CubicSource {
        CubicSource::new(self, flow)
    }
    fn properties(&self) -> Properties {
        Properties { goes_by_losses: true, small_queues: true, ..Properties::default() }
    }
    fn invariants(&self) -> Option<&dyn Invariants<Header = NoHeader>> {
        Some(self)
    }
}

impl Invariants for Cubic {
    type Header = NoHeader;

    /// Shares are unequal, because windows grow with the time since a loss and chance decides which
    /// flows lose packets. After a minute 2 to 8 flows were up to 33 % from their mean.
    fn promises(&self) -> Promises {
        Promises { equal_shares: false, any_speed: false, ..Promises::default() }
    }
    fn extremes(&self) -> &'static [&'static [(&'static str, &'static str)]] {
        &[
            &[("pacing", "true"), ("fast_convergence", "false"), ("profile", "rfc")],
            &[("hystart", "false"), ("c", "1000000"), ("beta", "0.01"), ("abc", "inf")],
            &[("c", "0.000001"), ("beta", "0.99"), ("initial_ssthresh", "1 packets")],
            &[("profile", "rfc"), ("hystart", "false"), ("c", "1000000"), ("beta", "0.01")],
            &[("profile", "rfc"), ("c", "0.000001"), ("beta", "0.99")],
        ]
    }
}
