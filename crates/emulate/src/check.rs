//! Checks, before anything is set up, what the emulated world cannot do.

use std::collections::BTreeSet;
use std::io::ErrorKind;

use ratewire_laws::{AnyLaw, list};
use ratewire_sim::setup::{FlowSpec, Setup};
use socket2::{Domain, Protocol, Socket, Type};

use crate::control::{CongestionControl, control, instead, needed, of_flow};
use crate::laws::Laws;
use crate::options::{lacking, lacking_in_packets, other_xcp, stand_in};
use crate::parts::{flows_of_programs, hosts};
use crate::ports::MOST_FLOWS;
use crate::shell::Shell;
use crate::{Error, acp, arriving, daemons, executables, names, overlay};

/// Checks that a setup can be emulated by root.
///
/// # Errors
/// If something in it has no counterpart in real hosts.
pub fn check(setup: &Setup) -> Result<(), Error> {
    check_network(setup)?;
    let listed = arriving::listed(setup).0;
    check_names(&listed, None)?;
    check_flows(&listed)
}

/// Checks that this machine can run a setup now, with a shell or without: its kernel can send under
/// the laws, and its programs are there. Asked by root, a kernel loads the congestion controls that
/// it has as modules.
///
/// # Errors
/// If it has no such congestion control, or an executable is missing.
pub fn check_machine(setup: &Setup, shell: Option<Shell>) -> Result<(), Error> {
    Laws::check_apart()?;
    for control in needed(&arriving::listed(setup).0, shell) {
        if control.live.is_none() {
            has(control.name)?;
        }
    }
    match shell {
        Some(Shell { is_alone: true, .. }) => Ok(()),
        _ => daemons::check(setup).and_then(|()| executables::check(setup)),
    }
}

/// Checks that the kernel has a congestion control of its own. Another check reports that the
/// caller may not use it.
fn has(control: &str) -> Result<(), Error> {
    let socket = Socket::new(Domain::IPV4, Type::STREAM, Some(Protocol::TCP));
    match socket.and_then(|socket| socket.set_tcp_congestion(control.as_bytes())) {
        Err(e) if e.kind() == ErrorKind::NotFound => Err(Error::new(
            format!("this kernel has no congestion control {control}"),
            format!("modprobe tcp_{control}, if it is built as a module; else take another law"),
        )),
        _ => Ok(()),
    }
}

fn no(what: &str) -> Result<(), Error> {
    Err(Error::new(format!("the emulated world has no {what}"), "simulate this scenario"))
}

/// Checks that the network of a setup can be emulated.
pub(crate) fn check_network(setup: &Setup) -> Result<(), Error> {
    if let Some(spec) = &setup.overlay {
        overlay::check(setup, spec)?;
    }
    let of_links = setup.network.links.iter().filter_map(|link| link.law);
    let of_acp = acp::flows(setup).map(|flow| setup.flows[flow].law);
    for law in of_links.chain(of_acp) {
        let lacking = lacking_in_packets(setup, law).join(", ");
        if !lacking.is_empty() {
            let name = setup.laws[law].info().name;
            return Err(Error::new(
                format!("real packets carry {name} only as the kernel has it, without {lacking}"),
                "leave the option out, or simulate this scenario",
            ));
        }
    }
    acp::check(setup)
}

/// Checks that programs, if any run, can reach hosts by their names.
pub(crate) fn check_names(setup: &Setup, shell: Option<Shell>) -> Result<(), Error> {
    if setup.programs.is_empty() && shell.is_none() {
        return Ok(());
    }
    let hosts = hosts(setup, shell);
    hosts.iter().try_for_each(|node| names::check(&setup.network.nodes[node.index()].name))
}

/// Checks that the flows of a setup without arriving traffic can be emulated.
pub(crate) fn check_flows(setup: &Setup) -> Result<(), Error> {
    if setup.flows.len() > MOST_FLOWS {
        return Err(Error::new(
            format!("more than {MOST_FLOWS} flows, each of which needs a port of its own"),
            "a shorter `duration`, or fewer flows",
        ));
    }
    if let Some(flow) = other_xcp(setup) {
        return Err(Error::new(
            format!(
                "the flow {:?} is to send under xcp with other options than the flows before it",
                flow.name
            ),
            "a machine's kernel has one law of a name: give all flows the same, or simulate it",
        ));
    }
    let of_programs = flows_of_programs(setup);
    let of_acp: BTreeSet<usize> = acp::flows(setup).collect();
    for (n, flow) in setup.flows.iter().enumerate().filter(|(n, _)| !of_acp.contains(n)) {
        if of_programs.contains(&n) {
            // Programs choose among the kernel's own TCPs, and not among laws of bpf/.
            let loaded = of_flow(setup, flow).filter(|control| control.live.is_some());
            loaded.map_or(Ok(()), |control| check_options(setup, flow, control))?;
            continue;
        }
        if flow.lie.is_some() {
            return no("senders that lie");
        }
        let law = &setup.laws[flow.law];
        let name = law.info().name;
        let Some(control) = of_flow(setup, flow) else {
            let known = || format!("laws with a kernel's sender: {}", kernels_laws().join(", "));
            return Err(Error::new(
                format!("no kernel sends under {name}, as the flow {:?} is to", flow.name),
                instead(law).map_or_else(known, str::to_string),
            ));
        };
        check_options(setup, flow, control)?;
        if control.live.is_some() && cfg!(not(feature = "live")) {
            return Err(not_built(name));
        }
    }
    Ok(())
}

/// Checks that the kernel's sender of a flow is as the options of its law say.
fn check_options(setup: &Setup, flow: &FlowSpec, control: CongestionControl) -> Result<(), Error> {
    let told = setup.told_laws.get(flow.law);
    if control.live.is_some() && told.is_some_and(|told| told.describes_kernel) {
        return Err(Error::new(
            format!(
                "no kernel comes with {}, as the law of the flow {:?} has it",
                setup.laws[flow.law].info().name,
                flow.name
            ),
            "leave `describes` out: it is for TCPs of kernels",
        ));
    }
    let lacking = lacking(setup, flow.law);
    if lacking.is_empty() || stand_in(setup, flow.law).is_some() {
        return Ok(());
    }
    let law = setup.laws[flow.law].info().name;
    let help = match control.live {
        Some(_) => "simulate it, or leave the options out",
        None => {
            "simulate it; or, if the variant describes the TCP of some kernel, say so with \
             `describes = \"kernel\"`: this kernel's then stands for it"
        }
    };
    let options = lacking.join(", ");
    Err(Error::new(
        format!("no kernel sends under {law} with {options}, as the flow {:?} is to", flow.name),
        help,
    ))
}

/// The laws that some kernel sends under.
fn kernels_laws() -> Vec<&'static str> {
    let has_sender = |name: &&str| AnyLaw::new(name, &[]).is_ok_and(|law| control(&law).is_some());
    list().iter().map(|info| info.name).filter(has_sender).collect()
}

fn not_built(law: &str) -> Error {
    Error::new(
        format!("this command was built without {law} for kernels"),
        "a law that every kernel has: --law cubic; or `make live`, which builds it with laws for kernels",
    )
}

#[cfg(test)]
#[path = "../../sim/examples/outside/mod.rs"]
mod outside;

#[cfg(test)]
mod tests {
    use ratewire_sim::dumbbell::Dumbbell;
    use ratewire_sim::setup::ToldLaw;
    use ratewire_units::{Duration, Rate};

    use super::*;

    #[test]
    fn a_version_that_no_kernel_has_is_refused_with_the_one_it_has() {
        let (rate, rtt) = (Rate::from_mbps(10), Duration::from_millis(40));
        let checked = |law: &str| {
            let law = AnyLaw::new(law, &[]).expect("a law");
            check_flows(&Dumbbell::new(law, 1, rate, rtt, 10).setup())
        };
        for law in ["bbr", "bbr3"] {
            let said = checked(law).expect_err("it is version 3").to_string();
            assert!(said.starts_with("no kernel sends under bbr3, as the flow "), "{said}");
            assert!(said.contains("`bbr1`: the kernel's BBR is version 1"), "{said}");
        }
        assert!(checked("bbr1").is_ok());
    }

    /// The setup of a law with one option.
    fn with_option(law: &str, option: (&str, &str)) -> Setup {
        let (rate, rtt) = (Rate::from_mbps(10), Duration::from_millis(40));
        let made = AnyLaw::new(law, &[option]).expect("a law");
        let options = vec![(option.0.to_string(), option.1.to_string())];
        let told = ToldLaw { options, ..ToldLaw::new(law) };
        Setup { told_laws: vec![told], ..Dumbbell::new(made, 1, rate, rtt, 10).setup() }
    }

    #[test]
    fn options_that_no_kernel_has_are_refused_by_name() {
        let said = |setup: &Setup| check(setup).expect_err("no kernel has it").to_string();
        let reno = said(&with_option("newreno", ("idle_restart", "keep")));
        let start = "no kernel sends under newreno with idle_restart = keep, as the flow ";
        assert!(reno.starts_with(start), "{reno}");
        assert!(reno.contains("say so with `describes = \"kernel\"`"), "{reno}");
        let mut described = with_option("xcp", ("aging", "0"));
        described.told_laws[0].describes_kernel = true;
        assert!(said(&described).starts_with("no kernel comes with xcp, "));
        let jetmax = said(&with_option("jetmax", ("tau", "0.9")));
        let start = "real packets carry jetmax only as the kernel has it, without tau = 0.9";
        assert!(jetmax.starts_with(start), "{jetmax}");
        let mut mixed = with_option("xcp", ("aging", "0"));
        mixed.laws.push(AnyLaw::new("xcp", &[]).expect("a law"));
        mixed.told_laws.push(ToldLaw::new("xcp"));
        let second = FlowSpec { law: 1, name: "second".into(), ..mixed.flows[0].clone() };
        mixed.flows.push(second);
        let said = said(&mixed);
        assert!(said.starts_with("the flow \"second\" is to send under xcp with other"), "{said}");
    }

    #[test]
    fn a_law_of_another_crate_has_no_kernel() {
        let (rate, rtt) = (Rate::from_mbps(10), Duration::from_millis(40));
        let setup = Dumbbell::new(outside::law(), 1, rate, rtt, 10).setup();
        let said = check_flows(&setup).expect_err("no kernel knows it").to_string();
        assert!(said.starts_with("no kernel sends under rcp-outside, as the flow "), "{said}");
        assert!(
            said.contains("laws with a kernel's sender: xcp, rcp, piqi-rcp, jetmax, "),
            "{said}"
        );
    }

    #[test]
    fn what_is_missing_has_remedies() {
        let said = has("no_such").expect_err("no kernel has it").to_string();
        assert!(said.starts_with("this kernel has no congestion control no_such\n"), "{said}");
        assert!(said.contains("help: modprobe tcp_no_such"), "{said}");
        has("reno").expect("every kernel has it");
        let said = not_built("xcp").to_string();
        assert!(said.contains("--law cubic") && said.contains("make live"), "{said}");
    }
}
