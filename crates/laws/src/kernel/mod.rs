//! The laws as the kernel runs them: `xcp@kernel`, `rcp@kernel`, `piqi-rcp@kernel`,
//! `jetmax@kernel`. NoQ, which computes nothing, has no twin here.
//!
//! Source, port and sink here call the C of `bpf/laws`, which is compiled into the simulator. The
//! simulator therefore runs the arithmetic of a kernel router's egress and of a host's congestion
//! control, with its integers and the units of the TCP option. The transport around it is the
//! simulator's and not the kernel's.
//!
//! The C says how these laws differ from those in `xcp/`, `rcp/`, `piqi_rcp/` and `jetmax/`:
//! - XCP's change is a change of the flow's rate over time, and not a packet's part of it.
//! - Both halves of a port's work are done as a packet arrives.
//! - Gains and intervals are constants.
//!
//! In the kernel a slot or interval ends when the next packet comes, or within a millisecond. Here
//! it ends when it is due.

mod header;
mod jetmax;
#[cfg(test)]
mod jetmax_tests;
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
pub use rcp::{
    KernelVariant, PiqiRcpKernel, PiqiVariant, RateKernel, RcpKernel, RcpKernelSink,
    RcpKernelSource, RcpVariant,
};
pub use xcp::{XcpKernel, XcpKernelSink, XcpKernelSource};

use crate::law::Promises;
use crate::options::{OptionKind, OptionSpec, Part};

/// Why neither is there: both read the headers of the laws in Rust.
const NO_POLICER: &str = "the kernel's program has no policer";
const NO_JUNCTION: &str = "the kernel's program knows no switch that splits and merges its headers";

/// What the kernel's laws promise: their rates are rounded to 16 B/s or to 19 bits, XCP's changes
/// to 1024 B/s a second. Four times the speed moves XCP's flows by 0.5 %, with packets as they are
/// 2.3 %.
fn in_integers() -> Promises {
    Promises { any_speed: false, any_scale: false, ..Promises::default() }
}

/// Sender: what it would like to send at.
const DESIRED: OptionSpec = OptionSpec {
    name: "desired",
    kind: OptionKind::Rate(Some("line")),
    default: "line",
    part: Part::Sender,
    doc: "the rate it asks for; \"line\" is the rate of the sender's own link.",
};

/// Port: what it shares out.
const CAPACITY: OptionSpec = OptionSpec {
    name: "capacity",
    kind: OptionKind::Rate(Some("link")),
    default: "link",
    part: Part::Port,
    doc: "capacity it believes in, for network-layer bytes; \"link\" is the link's rate.",
};
