//! What the emulated world cannot do, told before anything is set up.

use ratewire_sim::setup::Setup;

use crate::control::of_flow;
use crate::{Error, arriving};

/// Flows that one run can have.
pub(crate) const MOST_FLOWS: usize = 4000;

/// Whether a setup can be emulated at all, by root.
///
/// # Errors
/// When something in it has no counterpart in real hosts.
pub fn check(setup: &Setup) -> Result<(), Error> {
    check_listed(&arriving::listed(setup).0)
}

/// The same of a setup without arriving traffic.
pub(crate) fn check_listed(setup: &Setup) -> Result<(), Error> {
    let no = |what: &str, help| Err(Error::new(format!("the emulated world has no {what}"), help));
    if setup.flows.len() > MOST_FLOWS {
        return Err(Error::new(
            format!("more than {MOST_FLOWS} flows, each of which would need two threads"),
            "a shorter `duration`, or fewer flows",
        ));
    }
    if setup.overlay.is_some() {
        return no("overlays", "simulate this scenario");
    }
    if !setup.ensembles.junctions.is_empty() {
        return no("[[ensemble]]s", "simulate this scenario");
    }
    for (i, flow) in setup.flows.iter().enumerate() {
        if setup.programs.iter().any(|program| program.flow == Some(i)) {
            continue;
        }
        if flow.lie.is_some() {
            return no("senders that lie", "simulate this scenario");
        }
        let name = setup.laws[flow.law].info().name;
        let Some(control) = of_flow(setup, flow) else {
            return Err(Error::new(
                format!("no kernel sends under {name}, as the flow {:?} is to", flow.name),
                "laws with a kernel's sender: xcp, rcp, piqi-rcp, jetmax, noq, newreno, cubic, bbr, dctcp, and those @kernel",
            ));
        };
        if control.live.is_some() && cfg!(not(feature = "live")) {
            return Err(Error::new(
                format!("this command was built without {name} for kernels"),
                "`make live` builds it with laws for kernels",
            ));
        }
    }
    Ok(())
}
