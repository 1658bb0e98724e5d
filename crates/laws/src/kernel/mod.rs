//! The laws as the kernel runs them: `xcp@kernel`, `rcp@kernel`, `piqi-rcp@kernel`,
//! `jetmax@kernel`. NoQ, which computes nothing, has no twin here.
//!
//! Source, port and sink here call the C of `bpf/laws`, which is compiled into the simulator. The
//! simulator therefore runs the arithmetic of a kernel router's egress and of a host's congestion
//! control, with its integers and the units of the TCP option. The transport is the simulator's.
//!
//! Comments in the C list the differences from `xcp/`, `rcp/`, `piqi_rcp/` and `jetmax/`:
//! - XCP's change is the derivative of the flow's rate, and not a packet's part of a change.
//! - Both halves of a port's work are done as a packet arrives.
//!
//! In the kernel a slot or interval ends when the next packet comes, or within a millisecond. Here
//! it ends when it is due.

mod header;
mod jetmax;
#[cfg(test)]
mod jetmax_tests;
pub mod option_form;
mod port;
mod rcp;
mod sending;
#[cfg(test)]
mod tests;
mod xcp;

pub use header::KernelHeader;
pub use jetmax::{
    JetmaxKernel, JetmaxKernelHeader, JetmaxKernelPort, JetmaxKernelSink, JetmaxKernelSource,
};
pub use port::{Arithmetic, KernelPort};
pub use ratewire_kernel::{
    Claim, JetmaxConstants, Policed, RcpConstants, Suspect, XcpConstants, XcpRules,
};
pub use rcp::{
    KernelVariant, PiqiRcpKernel, PiqiVariant, RateKernel, RcpKernel, RcpKernelSink,
    RcpKernelSource, RcpVariant,
};
pub use xcp::{XcpKernel, XcpKernelSink, XcpKernelSource};

use alloc::format;

use ratewire_units::Duration;

use crate::law::Promises;
use crate::options::{OptionError, OptionKind, OptionSpec, Options, Part};

/// Why there is neither policer nor junction: both read only the headers of the laws in Rust. A
/// live router's policer is `bpf/laws/police.h`.
const NO_POLICER: &str = "the simulator's policer does not read the headers of the kernel's laws";
const NO_JUNCTION: &str = "the kernel's program knows no switch that splits and merges its headers";

/// Promises of the kernel's laws. Rates are rounded to 16 B/s or to 19 bits, XCP's changes to 1024
/// B/s a second. At four times all rates and sizes XCP's flows differ by 0.5 %, at four times all
/// rates alone by 2.3 %.
fn in_integers() -> Promises {
    Promises { any_speed: false, any_scale: false, ..Promises::default() }
}

/// Shortest and longest interval that the kernel's arithmetic and timers allow.
const INTERVALS: [Duration; 2] = [Duration::from_millis(1), Duration::from_secs(1)];

/// Options that are such intervals.
fn bounded_times<const N: usize>(
    o: &Options,
    names: [&'static str; N],
) -> Result<[Duration; N], OptionError> {
    let [least, most] = INTERVALS;
    for name in names {
        if !(least..=most).contains(&o.time(name)) {
            let message = format!("a kernel's intervals are from {least} to {most}");
            return Err(OptionError::new(name, message));
        }
    }
    Ok(names.map(|name| o.time(name)))
}

/// An option of ports alone.
const fn of_port(option: OptionSpec) -> OptionSpec {
    OptionSpec { part: Part::Port, ..option }
}

/// The sender's desired rate.
const DESIRED: OptionSpec = OptionSpec {
    name: "desired",
    kind: OptionKind::Rate(Some("line")),
    default: "line",
    part: Part::Source,
    doc: "the rate it asks for; \"line\" is the rate of the sender's own link.",
};

/// Capacity that a port shares out.
const CAPACITY: OptionSpec = OptionSpec {
    name: "capacity",
    kind: OptionKind::Rate(Some("link")),
    default: "link",
    part: Part::Port,
    doc: "capacity it believes in, for network-layer bytes; \"link\" is the link's rate.",
};
