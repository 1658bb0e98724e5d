//! What switches and ends of ACP cannot do.

use ratewire_laws::AnyLaw;
use ratewire_laws::kernel::option_form::OptionForm;
use ratewire_net::spec::NodeId;
use ratewire_sim::setup::{JunctionSpec, RoutingSpec, Setup};
use ratewire_transport::{ReceiveWindow, Writer};

use super::config;
use super::plan::{self, Plan};
use crate::{Error, host};

/// Help where only the simulator can.
const SIMULATE: &str = "leave it out, or simulate this scenario";

/// Checks that processes can be the ends and switches of a setup's ACP connections.
pub(crate) fn check(setup: &Setup) -> Result<(), Error> {
    let junctions = &setup.ensembles.junctions;
    for junction in junctions {
        check_junction(setup, junction)?;
    }
    for n in plan::flows(setup) {
        check_flow(setup, n)?;
    }
    let plan = Plan::of(setup);
    let any = |_: NodeId| Some(host::address(0));
    (0..junctions.len()).try_for_each(|switch| config::text(setup, &plan, switch, any).map(|_| ()))
}

fn check_junction(setup: &Setup, junction: &JunctionSpec) -> Result<(), Error> {
    let name = &junction.name;
    if !config::knows(junction.transforms) {
        return Err(Error::new(
            format!(
                "a switch has only the default of `shuffle`, which the ensemble {name:?} changes"
            ),
            SIMULATE,
        ));
    }
    let (ensembles, peer) = (&setup.ensembles, junction.peer);
    let is_inner = ensembles.outer(peer).or(ensembles.facing(peer)).is_some();
    let reads_keys =
        matches!(junction.routing, RoutingSpec::KeyHash { .. } | RoutingSpec::Prefix(_));
    if is_inner && reads_keys {
        return Err(Error::new(
            format!(
                "frames of the ensemble {name:?} have one key, and the switch {} behind or facing \
                 another has keys of its own",
                setup.network.nodes[junction.node.index()].name
            ),
            "give such switches another `routing`, or simulate this scenario",
        ));
    }
    Ok(())
}

fn check_flow(setup: &Setup, n: usize) -> Result<(), Error> {
    let flow = &setup.flows[n];
    if let Writer::Phases(_) = flow.app.writer {
        return Err(Error::new(
            format!("ends of ACP write no phases, as {:?} has them", flow.name),
            "give `size`, a `constant` rate or `idle` times, or simulate this scenario",
        ));
    }
    if matches!(flow.app.writer, Writer::OnOff { .. } | Writer::Fed) {
        return Err(Error::new(
            format!("ends of ACP write no bursts with pauses, as {:?} has them", flow.name),
            "give `size`, a `constant` rate or `idle` times, or simulate this scenario",
        ));
    }
    if matches!(flow.transport.receive_window, ReceiveWindow::Auto { .. }) {
        return Err(Error::new(
            format!("ends of ACP have receive windows of one size, unlike {:?}", flow.name),
            "give `receive_window` as a size, or simulate this scenario",
        ));
    }
    let law = &setup.laws[flow.law];
    let name = law.info().name;
    if AnyLaw::new(name, &[]).is_err() {
        return Err(Error::new(
            format!("ratewire-switch knows no law {name}, under which {:?} is to send", flow.name),
            "take a law of `ratewire laws`, or simulate this scenario",
        ));
    }
    let has_ports = setup.network.links.iter().filter_map(|link| link.law);
    let has_ports = has_ports.map(|law| setup.laws[law].info().name).any(|port| port == name);
    if has_ports && law.has_header() && OptionForm::of(law).is_none() {
        return Err(Error::new(
            format!(
                "emulated ports cannot read the header of {name} in ACP, which {:?} needs",
                flow.name
            ),
            "take xcp, rcp, piqi-rcp or jetmax, or simulate this scenario",
        ));
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use ratewire_anypoint::Transforms;
    use ratewire_transport::PauseAfter;
    use ratewire_units::{Bytes, Duration};

    use super::super::tests::{cascade, facing, setup};
    use super::*;

    fn refused(setup: &Setup) -> String {
        check(setup).expect_err("it cannot be emulated").to_string()
    }

    #[test]
    fn what_processes_cannot_do_has_a_remedy() {
        check(&setup()).expect("a switch and two members");
        check(&cascade()).expect("a switch behind a switch");
        check(&facing()).expect("two switches that face each other");
        let mut shuffled = setup();
        shuffled.ensembles.junctions[0].transforms = Transforms::Refusals { shuffle: 0.3 };
        assert!(refused(&shuffled).contains("`shuffle`"));
        let mut keyed = cascade();
        keyed.ensembles.junctions[1].routing = RoutingSpec::KeyHash { offset: 0, len: 8 };
        assert!(refused(&keyed).contains("help: give such switches another `routing`"));
        let mut keyed = facing();
        keyed.ensembles.junctions[1].routing = RoutingSpec::KeyHash { offset: 0, len: 8 };
        assert!(refused(&keyed).contains("help: give such switches another `routing`"));
        let mut bursts = setup();
        bursts.flows[0].app.writer = Writer::OnOff {
            burst: Bytes::new(1).into(),
            pause: Duration::ZERO.into(),
            pause_after: PauseAfter::Written,
            count: None,
        };
        assert!(refused(&bursts).contains("no bursts"));
        bursts.flows[0].app.writer = Writer::Phases(Vec::new());
        assert!(refused(&bursts).contains("no phases"));
    }
}
