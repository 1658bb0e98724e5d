//! The kernel's congestion control that sends under a law.

use std::collections::BTreeSet;
use std::fs;

use ratewire_laws::AnyLaw;
use ratewire_sim::setup::{FlowSpec, Setup};

use crate::acp;
use crate::parts::flows_of_programs;
use crate::shell::Shell;

/// A congestion control of the kernel.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct CongestionControl {
    /// Name in the kernel.
    pub(crate) name: &'static str,
    /// The law of `bpf/`, as [`ratewire_live::KernelLaw`] spells it; `None` for one of the kernel's
    /// own.
    pub(crate) live: Option<&'static str>,
}

const fn own_control(name: &'static str) -> Option<CongestionControl> {
    Some(CongestionControl { name, live: None })
}

const fn loaded(name: &'static str, live: &'static str) -> Option<CongestionControl> {
    Some(CongestionControl { name, live: Some(live) })
}

/// The congestion control that sends under a law; `None` if no kernel has one.
pub(crate) fn control(law: &AnyLaw) -> Option<CongestionControl> {
    match law {
        AnyLaw::Xcp(_) | AnyLaw::XcpKernel(_) => loaded("rw_xcp", "xcp"),
        AnyLaw::Rcp(_) | AnyLaw::RcpKernel(_) => loaded("rw_rcp", "rcp"),
        AnyLaw::PiqiRcp(_) | AnyLaw::PiqiRcpKernel(_) => loaded("rw_piqi", "piqi-rcp"),
        AnyLaw::Jetmax(_) | AnyLaw::JetmaxKernel(_) => loaded("rw_jetmax", "jetmax"),
        AnyLaw::Noq(_) => loaded("rw_noq", "noq"),
        AnyLaw::NewReno(_) => own_control("reno"),
        AnyLaw::Cubic(_) => own_control("cubic"),
        AnyLaw::Bbr1(_) => own_control("bbr"),
        AnyLaw::Dctcp(_) => own_control("dctcp"),
        _ => None,
    }
}

/// Name and version of this machine's kernel: `Linux 6.18`.
pub(crate) fn kernel() -> String {
    let release = fs::read_to_string("/proc/sys/kernel/osrelease").unwrap_or_default();
    let version: Vec<&str> = release.trim().split('.').take(2).collect();
    format!("Linux {}", version.join("."))
}

/// The law to name in place of one that no kernel sends under, and why; `None` if there is none.
pub(crate) fn instead(law: &AnyLaw) -> Option<&'static str> {
    matches!(law, AnyLaw::Bbr3(_)).then_some("`bbr1`: the kernel's BBR is version 1")
}

/// Congestion controls that a run needs, each once: those of its flows, and with programs those of
/// the ports' laws, because programs' sockets speak the laws of `bpf/`. Other congestion controls
/// are a program's own choice. Beside a shell that is alone there are no flows.
pub(crate) fn needed(setup: &Setup, shell: Option<Shell>) -> Vec<CongestionControl> {
    let is_alone = shell.is_some_and(|shell| shell.is_alone);
    let of_programs = flows_of_programs(setup);
    let has_programs = shell.is_some() || !setup.programs.is_empty();
    let flows = setup.flows.iter().enumerate().filter(|_| !is_alone);
    let of_acp: BTreeSet<usize> = acp::flows(setup).collect();
    let flows = flows.filter(|(i, _)| !of_acp.contains(i));
    let of_flows = flows.filter_map(|(i, flow)| {
        of_flow(setup, flow).filter(|control| control.live.is_some() || !of_programs.contains(&i))
    });
    let ports = setup.network.links.iter().filter_map(|link| link.law).filter(|_| has_programs);
    let of_ports = ports.filter_map(|law| control(&setup.laws[law]));
    let of_ports = of_ports.filter(|control| control.live.is_some());
    let mut all = Vec::new();
    for control in of_flows.chain(of_ports) {
        if !all.contains(&control) {
            all.push(control);
        }
    }
    all
}

/// The congestion control that sends a flow; `None` if no kernel has one. NoQ's has no window and
/// is for senders whose own link pauses; elsewhere NoQ is NewReno.
pub(crate) fn of_flow(setup: &Setup, flow: &FlowSpec) -> Option<CongestionControl> {
    let law = &setup.laws[flow.law];
    let own = || setup.network.links.iter().filter(|link| link.from == flow.from);
    match law {
        AnyLaw::Noq(_) if own().all(|link| link.pause.is_none()) => own_control("reno"),
        _ => control(law),
    }
}
