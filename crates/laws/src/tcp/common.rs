//! The options that all TCPs share.

use ratewire_units::Bytes;

use crate::law::FlowContext;
use crate::options::{OptionKind, OptionSpec, Options, Part, Size};

/// Options of a TCP's start, pacing and restart.
#[derive(Clone, Debug)]
pub(super) struct Common {
    /// Window before the first acknowledgement, and after idling.
    pub(super) initial_window: Size,
    /// First slow-start threshold; `None` for no threshold.
    pub(super) initial_ssthresh: Option<Size>,
    /// Maximum number of packets that one acknowledgement adds in slow start: L of RFC 3465.
    pub(super) abc: f64,
    /// Whether HyStart++, or Linux's HyStart, watches the first slow start.
    pub(super) hystart: bool,
    /// Whose rules slow start follows.
    pub(super) profile: Profile,
    /// Whether packets are spread over the RTT.
    pub(super) pacing: bool,
    /// Effect of idling for longer than the retransmission timeout.
    pub(super) idle_restart: IdleRestart,
}

/// Whose rules a law follows where an RFC and Linux differ.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Profile {
    Rfc,
    Linux,
}

impl Profile {
    /// Reads the option `profile`, which the law's table holds.
    pub(super) fn from_options(o: &Options) -> Profile {
        if o.word("profile") == "linux" { Profile::Linux } else { Profile::Rfc }
    }
}

/// Effect on the window of idling for longer than the retransmission timeout.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum IdleRestart {
    /// The window is the initial one again.
    Initial,
    /// The window is halved for each timeout that passed, down to the initial one.
    Halve,
    Keep,
}

pub(crate) const INITIAL_WINDOW: OptionSpec = OptionSpec {
    name: "initial_window",
    kind: OptionKind::Size(None),
    default: "10 packets",
    part: Part::Source,
    doc: "window until the first acknowledgement, in payload bytes, at least one packet. RFC 6928, 2.",
};

pub(crate) const INITIAL_SSTHRESH: OptionSpec = OptionSpec {
    name: "initial_ssthresh",
    kind: OptionKind::Size(Some("none")),
    default: "none",
    part: Part::Source,
    doc: "window at which the first slow start ends, at least two packets; \"none\": at the first \
          loss, mark or, with hystart, rise of the RTT. RFC 5681, 3.1.",
};

/// The option `abc`.
pub(crate) const fn abc(default: &'static str) -> OptionSpec {
    OptionSpec {
        name: "abc",
        kind: OptionKind::Number(1.0, f64::INFINITY),
        default,
        part: Part::Source,
        doc: "packets that one acknowledgement may add in slow start, L of RFC 3465: 2 doubles the \
              window each RTT with delayed acknowledgements too, \"inf\" counts all that is \
              acknowledged (Linux). Always 1 after a timeout (RFC 3465, 2.3), except in CUBIC's \
              profile linux; while HyStart++ watches 8, or no limit with pacing (RFC 9406, 4.3).",
    }
}

pub(crate) const PACING: OptionSpec = OptionSpec {
    name: "pacing",
    kind: OptionKind::Switch,
    default: "false",
    part: Part::Source,
    doc: "spread packets over the RTT: at 2 cwnd / SRTT below half the slow-start threshold, at 1.2 \
          cwnd / SRTT above it (Linux), instead of sending on each acknowledgement.",
};

pub(crate) const IDLE_RESTART: OptionSpec = OptionSpec {
    name: "idle_restart",
    kind: OptionKind::Word(&["initial", "halve", "keep"]),
    default: "initial",
    part: Part::Source,
    doc: "after sending nothing for longer than the retransmission timeout: start again from no more \
          than the initial window (RFC 5681, 4.1); halve the window for each timeout that passed, down \
          to the initial one, and remember three quarters of it as the slow-start threshold (RFC 2861, \
          3.1, without its part for applications that do not fill the window; Linux); or keep it.",
};

/// The option `hystart` of laws that know HyStart++ alone.
pub(crate) const HYSTART: OptionSpec = hystart(
    "false",
    "end the first slow start when the RTT rises, before packets are lost: HyStart++, RFC 9406.",
);

/// The option `hystart`.
pub(crate) const fn hystart(default: &'static str, doc: &'static str) -> OptionSpec {
    OptionSpec { name: "hystart", kind: OptionKind::Switch, default, part: Part::Source, doc }
}

impl Common {
    /// Reads the options, of which the law's table holds all six, for the rules of RFCs.
    pub(super) fn from_options(o: &Options) -> Common {
        Common {
            initial_window: o.plain_size("initial_window"),
            initial_ssthresh: o.size("initial_ssthresh"),
            abc: o.number("abc"),
            hystart: o.switch("hystart"),
            profile: Profile::Rfc,
            pacing: o.switch("pacing"),
            idle_restart: match o.word("idle_restart") {
                "halve" => IdleRestart::Halve,
                "keep" => IdleRestart::Keep,
                _ => IdleRestart::Initial,
            },
        }
    }

    /// The initial window in payload bytes, at least one packet.
    pub(super) fn initial_window(&self, flow: &FlowContext) -> Bytes {
        self.initial_window.bytes(flow.mss).max(flow.mss)
    }

    /// The first slow-start threshold in payload bytes, infinite if there is none.
    pub(super) fn initial_ssthresh(&self, flow: &FlowContext) -> f64 {
        let bytes = |size: Size| size.bytes(flow.mss).max(flow.mss * 2).as_f64();
        self.initial_ssthresh.map_or(f64::INFINITY, bytes)
    }
}
