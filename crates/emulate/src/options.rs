//! Options that laws have, and their senders in kernels do not.

use std::collections::BTreeSet;

use ratewire_laws::jetmax::Jetmax;
use ratewire_laws::kernel::{XcpKernel, XcpRules};
use ratewire_laws::options::Part;
use ratewire_laws::{AnyLaw, LawSet};
use ratewire_sim::setup::{FlowSpec, Setup, ToldLaw};
use ratewire_units::Rate;

use crate::acp;
use crate::control::{control, kernel};
#[cfg(feature = "live")]
use crate::parts::port_laws;

/// Name of the kernel's TCP that stands for a setup's law of this number in an emulated run:
/// `reno of Linux 6.18`; `None` where it is the law itself. Ends of ACP are the law itself.
pub fn stand_in(setup: &Setup, law: usize) -> Option<String> {
    let described = setup.told_laws.get(law).is_some_and(|told| told.describes_kernel);
    let is_sent = described && of_kernels(setup).contains(&law);
    let control = control(&setup.laws[law]).filter(|own| is_sent && own.live.is_none())?;
    Some(format!("{} of {}", control.name, kernel()))
}

/// Laws, by number, of flows and arriving traffic that kernels send.
fn of_kernels(setup: &Setup) -> BTreeSet<usize> {
    let of_acp: BTreeSet<usize> = acp::flows(setup).collect();
    let flows = setup.flows.iter().enumerate().filter(|(n, _)| !of_acp.contains(n));
    let of_flows = flows.map(|(_, flow)| flow.law);
    of_flows.chain(setup.traffic.iter().map(|class| class.law)).collect()
}

/// What real senders of a setup's flows, and their packets, are otherwise than it says.
pub fn differences(setup: &Setup) -> Vec<String> {
    let all = of_kernels(setup).into_iter().flat_map(|law| {
        let lacking = lacking(setup, law).join(", ");
        let stands = stand_in(setup, law).filter(|_| !lacking.is_empty());
        let stands = stands.map(|name| format!("{name} has no {lacking}"));
        let headers = of_headers(setup, law).into_iter();
        headers.map(|option| format!("headers are TCP options, without {option}")).chain(stands)
    });
    let all: BTreeSet<String> = all.collect();
    all.into_iter().collect()
}

/// Options about the headers of a setup's law of this number, with their values. Real packets have
/// a form of their own.
fn of_headers(setup: &Setup, law: usize) -> Vec<String> {
    let Some(told) = setup.told_laws.get(law) else { return Vec::new() };
    let given = told
        .options
        .iter()
        .filter(|(option, _)| is_of_header(&setup.laws[law], option) && matters(told, option));
    given.map(|(option, value)| format!("{option} = {value}")).collect()
}

/// Options of a setup's law of this number that make a difference, if real packets carry the law
/// only in the kernel's form, which lacks them: those of JetMax.
pub(crate) fn lacking_in_packets(setup: &Setup, law: usize) -> Vec<String> {
    match setup.laws[law] {
        AnyLaw::Jetmax(_) => lacking(setup, law),
        _ => Vec::new(),
    }
}

fn is_of_header(law: &AnyLaw, option: &str) -> bool {
    law.info().options.iter().any(|spec| spec.name == option && spec.part == Part::Header)
}

/// Options of a setup's law of this number, with their values, that make a difference to it, and
/// that kernels do not have.
pub(crate) fn lacking(setup: &Setup, law: usize) -> Vec<String> {
    let Some(told) = setup.told_laws.get(law) else { return Vec::new() };
    let law = &setup.laws[law];
    let lacks = |(option, value): &&(String, String)| {
        !kernels_read(law, option)
            && !is_of_header(law, option)
            && !is_kernels_own(law, option, value)
            && matters(told, option)
    };
    let all = told.options.iter().filter(lacks);
    all.map(|(option, value)| format!("{option} = {value}")).collect()
}

/// How the kernel's senders of XCP send.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) struct XcpSending {
    pub(crate) rules: XcpRules,
    /// The rate that they ask for; `None` for that of the fastest link at which a flow starts.
    pub(crate) desired: Option<Rate>,
}

/// How the kernel's senders of XCP send in a run: as its flows, or else as programs, whose law is
/// that of ports, are to.
#[cfg(feature = "live")]
pub(crate) fn xcp_sending(setup: &Setup) -> XcpSending {
    let of_ports = port_laws(setup).filter_map(|law| as_xcp(&setup.laws[law]));
    let mut all = xcp_sendings(setup).map(|(_, sending)| sending).chain(of_ports);
    all.next().unwrap_or_default()
}

/// A flow that is to send under XCP otherwise than another: a machine's kernel has one law of a
/// name.
pub(crate) fn other_xcp(setup: &Setup) -> Option<&FlowSpec> {
    let mut all = xcp_sendings(setup);
    let (_, first) = all.next()?;
    all.find(|(_, sending)| *sending != first).map(|(flow, _)| flow)
}

/// Flows that kernels are to send under XCP, and how.
fn xcp_sendings(setup: &Setup) -> impl Iterator<Item = (&FlowSpec, XcpSending)> {
    let of_acp: BTreeSet<usize> = acp::flows(setup).collect();
    let flows = setup.flows.iter().enumerate().filter(move |(n, _)| !of_acp.contains(n));
    flows.filter_map(|(_, flow)| Some((flow, as_xcp(&setup.laws[flow.law])?)))
}

/// How the kernel's senders send under a law; `None` if it is not XCP.
fn as_xcp(law: &AnyLaw) -> Option<XcpSending> {
    let law = match law {
        AnyLaw::Xcp(law) => law.in_kernel(),
        AnyLaw::XcpKernel(law) => law.clone(),
        _ => return None,
    };
    Some(XcpSending { rules: law.rules(), desired: law.desired() })
}

/// Whether an option of a law has an effect at ports under kernels. JetMax's ports are the kernel's
/// and have those that it has, with intervals that it has.
fn kernels_read(law: &AnyLaw, option: &str) -> bool {
    let mut all = law.info().options.iter();
    match law {
        AnyLaw::Jetmax(law) => Jetmax::IN_KERNEL.contains(&option) && law.in_kernel().is_ok(),
        _ => all.any(|spec| spec.name == option && spec.part.has_port()),
    }
}

/// Whether a sender of this law in Linux is as this option says, or can be.
fn is_kernels_own(law: &AnyLaw, option: &str, value: &str) -> bool {
    if matches!(law, AnyLaw::Xcp(_) | AnyLaw::XcpKernel(_)) {
        return XcpKernel::SENDER.contains(&option) && value != "stay-reno";
    }
    // An acknowledgement covers no more packets than a bundle of 64 KB has.
    const MOST_ACKED: f64 = 64.0;
    let is_own = match option {
        "idle_restart" => value == "halve",
        "profile" => value == "linux",
        "abc" => value.parse().is_ok_and(|abc: f64| abc >= MOST_ACKED),
        _ => false,
    };
    is_own
        && matches!(law, AnyLaw::NewReno(_) | AnyLaw::Cubic(_) | AnyLaw::Dctcp(_) | AnyLaw::Noq(_))
}

/// Whether a law would be another without one of its options.
fn matters(told: &ToldLaw, option: &str) -> bool {
    let laws = LawSet::in_tree();
    let made = |without: Option<&str>| {
        let given = told.options.iter().filter(|(name, _)| Some(&**name) != without);
        let given: Vec<_> = given.map(|(name, value)| (name.as_str(), value.as_str())).collect();
        laws.make(&told.name, &given).ok().map(|law| format!("{law:?}"))
    };
    made(Some(option)) != made(None)
}

#[cfg(test)]
mod tests {
    use ratewire_laws::{Draw, LinkContext, fuzzing, list};
    use ratewire_sim::dumbbell::Dumbbell;
    use ratewire_units::{Duration, Rate};

    use super::*;
    use crate::dialect::adapt;

    /// The port of a law with these options, as in an emulated run.
    fn port(law: &str, options: &[(&str, &str)]) -> Option<String> {
        let mut laws = [AnyLaw::new(law, options).ok()?];
        adapt(&mut laws);
        if matches!(laws[0], AnyLaw::Jetmax(_)) {
            // An interval that kernels do not have: such a run is refused.
            return None;
        }
        let delay = Duration::from_millis(1);
        let context = LinkContext { rate: Rate::from_mbps(10), delay, id: 1, draw: Draw::new(0) };
        Some(format!("{:?}", laws[0].port(&context)))
    }

    fn setup(law: &str, options: &[(&str, &str)], describes_kernel: bool) -> Setup {
        let (rate, rtt) = (Rate::from_mbps(10), Duration::from_millis(40));
        let made = AnyLaw::new(law, options).expect("a law");
        let owned = |(option, value): &(&str, &str)| (option.to_string(), value.to_string());
        let options = options.iter().map(owned).collect();
        let told = ToldLaw { options, describes_kernel, ..ToldLaw::new(law) };
        Setup { told_laws: vec![told], ..Dumbbell::new(made, 1, rate, rtt, 10).setup() }
    }

    #[test]
    fn options_have_an_effect_that_change_a_port() {
        let laws = list().iter().map(|info| (info, AnyLaw::new(info.name, &[]).unwrap()));
        for (info, law) in laws.filter(|(_, law)| control(law).is_some()) {
            for option in info.options {
                let changes =
                    fuzzing::makes_a_difference(&law, option, |options| port(info.name, options));
                let what = (info.name, option.name);
                assert_eq!(kernels_read(&law, option.name), changes, "{what:?}");
            }
        }
    }

    #[test]
    fn kernels_lack_what_makes_a_difference_and_is_not_their_own() {
        let lacking = |law, options: &[_]| lacking(&setup(law, options, false), 0);
        assert_eq!(
            lacking("xcp", &[("aging", "0"), ("gamma", "0.2"), ("whole_window", "true")]),
            ["whole_window = true"],
            "gamma is the port's, and kernels' senders have the first"
        );
        assert_eq!(lacking("xcp", &[("after_loss", "stay-reno")]), ["after_loss = stay-reno"]);
        assert_eq!(lacking("rcp", &[("after_loss", "ignore")]).len(), 1);
        assert_eq!(lacking("cubic", &[("hystart", "false")]), ["hystart = false"]);
        let own = [("abc", "100"), ("idle_restart", "halve"), ("profile", "linux")];
        assert_eq!(lacking("cubic", &own), [""; 0]);
        assert_eq!(lacking("newreno", &[("idle_restart", "keep")]), ["idle_restart = keep"]);
        let of_ports = [("gamma", "0.3"), ("interval", "20 ms")];
        assert_eq!(lacking("jetmax", &of_ports), [""; 0], "its ports are the kernel's");
        assert_eq!(lacking("jetmax", &[("tau", "0.3")]), ["tau = 0.3"]);
        assert_eq!(lacking("jetmax", &[("interval", "2 s")]), ["interval = 2 s"]);
    }

    #[test]
    fn a_kernels_tcp_stands_for_what_describes_one() {
        let options = [("count", "acks"), ("idle_restart", "halve")];
        let described = setup("newreno", &options, true);
        let name = stand_in(&described, 0).expect("it describes one");
        assert!(name.starts_with("reno of Linux "), "{name}");
        assert_eq!(differences(&described), [format!("{name} has no count = acks")]);
        assert_eq!(stand_in(&setup("newreno", &options, false), 0), None);
        assert_eq!(stand_in(&setup("xcp", &[], true), 0), None, "no kernel comes with it");
        let mut arriving = described.clone();
        arriving.flows.clear();
        assert_eq!(stand_in(&arriving, 0), None, "nothing is sent under it");
        let draft = setup("xcp", &[("draft", "00")], false);
        assert_eq!(differences(&draft), ["headers are TCP options, without draft = 00"]);
    }
}
