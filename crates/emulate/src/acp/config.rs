//! The switches' configurations.

use std::fmt::Write as _;
use std::net::Ipv4Addr;

use ratewire_anypoint::{FlowControl, Transforms};
use ratewire_net::spec::NodeId;
use ratewire_sim::setup::{RoutingSpec, Setup};
use ratewire_switch_interface::config::Config;

use super::arguments::law_argument;
use super::plan::{KEY, Plan, watches_buffer};
use crate::Error;

/// Port of the first switch's status, on the loopback address of its host.
const STATUS: u16 = 4817;
/// Share of the rate that a switch moves between members, as it is in `switch.toml` too.
const SHUFFLE: f64 = 0.1;

/// Place of a switch's configuration at its host.
pub(super) fn file(switch: usize) -> String {
    format!("/tmp/ratewire-switch-{switch}.toml")
}

/// Port of a switch's status.
pub(super) fn status(switch: usize) -> u16 {
    STATUS + switch as u16
}

/// Whether a switch can be configured to transform headers so.
pub(super) fn knows(transforms: Transforms) -> bool {
    matches!(transforms, Transforms::Paper)
        || transforms == Transforms::Refusals { shuffle: SHUFFLE }
}

/// The text of a switch's `switch.toml`; `address` gives the address of a node's host.
pub(super) fn text(
    setup: &Setup,
    plan: &Plan,
    switch: usize,
    address: impl Fn(NodeId) -> Option<Ipv4Addr>,
) -> Result<String, Error> {
    let junction = &setup.ensembles.junctions[switch];
    let none = Ipv4Addr::UNSPECIFIED;
    let own = plan.of_peer(switch).and_then(|edge| plan.port(edge)).unwrap_or_default();
    let law_is_soft = || {
        let edge = junction.peer.inbound.or(junction.peer.outbound);
        edge.is_some_and(|flow| watches_buffer(setup, &setup.flows[flow as usize]))
    };
    let flow_control = match junction.flow_control {
        Some(FlowControl::Soft) => "soft",
        Some(FlowControl::Strict) => "strict",
        None if law_is_soft() => "soft",
        None => "strict",
    };
    let transforms = match junction.transforms {
        Transforms::Paper => "paper",
        Transforms::Refusals { .. } => "refusals",
    };
    let (routing, table) = match &junction.routing {
        RoutingSpec::RoundRobin => ("round-robin", String::new()),
        RoutingSpec::Weighted(_) => ("weighted", String::new()),
        RoutingSpec::LeastOutstanding => ("least-outstanding", String::new()),
        RoutingSpec::PowerOfTwo => ("power-of-two", String::new()),
        RoutingSpec::KeyHash { offset, len } => {
            ("hash", format!("\n[hash]\noffset = {offset}\nlength = {len}\n"))
        }
        RoutingSpec::Prefix(_) => ("prefix", String::new()),
    };
    let mut text = format!(
        "key = \"{KEY}\"\nlisten = \"{}:{own}\"\nstatus = \"127.0.0.1:{}\"\nrouting = \"{routing}\"\n\
         flow-control = \"{flow_control}\"\ntransforms = \"{transforms}\"\npatience = \"5 s\"\n{table}",
        address(junction.node).unwrap_or(none),
        status(switch),
    );
    if let Some(edge) = plan.of_facing(switch) {
        let flow = plan.edges[edge].inbound.or(plan.edges[edge].outbound);
        let law = flow.map_or_else(String::new, |flow| law_argument(setup, &setup.flows[flow]));
        let node = plan.edges[edge].nodes[1];
        let (at, port) = (address(node).unwrap_or(none), plan.port(edge).unwrap_or_default());
        let _ = write!(text, "\n[peer]\naddress = \"{at}:{port}\"\nlaw = {law:?}\n");
    }
    for (k, edge) in plan.of_members(switch).enumerate() {
        let node = plan.edges[edge].nodes[1];
        let name = &setup.network.nodes[node.index()].name;
        let (at, port) = (address(node).unwrap_or(none), plan.port(edge).unwrap_or_default());
        let _ = write!(text, "\n[[member]]\nname = {name:?}\naddress = \"{at}:{port}\"\n");
        match &junction.routing {
            RoutingSpec::Weighted(weights) => {
                let _ = writeln!(text, "weight = {:?}", weights.get(k).copied().unwrap_or(1.0));
            }
            RoutingSpec::Prefix(table) => {
                let own = table.iter().filter(|(_, member)| *member == k);
                let prefixes = own.map(|(prefix, _)| escaped(prefix));
                let prefixes = prefixes.collect::<Result<Vec<String>, Error>>()?;
                let _ = writeln!(text, "prefixes = [{}]", prefixes.join(", "));
            }
            _ => {}
        }
    }
    match Config::parse(file(switch).as_ref(), &text) {
        Ok(_) => Ok(text),
        Err(wrong) => {
            let wrong = wrong.problems.first().map_or_else(String::new, |p| p.message.clone());
            Err(Error::new(
                format!("a switch cannot have the ensemble {:?}: {wrong}", junction.name),
                "simulate this scenario, or change the setting or the node's name",
            ))
        }
    }
}

/// A prefix of frames as TOML has it.
fn escaped(prefix: &[u8]) -> Result<String, Error> {
    let Some(high) = prefix.iter().find(|byte| !byte.is_ascii()) else {
        let all: String = prefix.iter().map(|byte| format!("\\u{byte:04x}")).collect();
        return Ok(format!("\"{all}\""));
    };
    Err(Error::new(
        format!("a switch's prefixes are text, which has no byte {high:02x} alone"),
        "use prefixes of bytes up to 7f, or simulate this scenario",
    ))
}

#[cfg(test)]
mod tests {
    use super::super::tests::{facing, setup};
    use super::*;

    #[test]
    fn of_two_switches_that_face_each_other_one_gets_the_others_address() {
        let setup = facing();
        let plan = Plan::of(&setup);
        let at = |node: NodeId| Some(Ipv4Addr::new(10, 0, 0, node.0 as u8));
        let [first, second] =
            [0, 1].map(|switch| text(&setup, &plan, switch, at).expect("the switch takes it"));
        let (_, listen) = second.split_once("listen = ").expect("an address");
        let (listen, _) = listen.split_once('\n').expect("a line");
        assert!(first.contains(&format!("[peer]\naddress = {listen}\nlaw = \"xcp\"\n")), "{first}");
        assert!(!second.contains("[peer]"), "{second}");
    }

    #[test]
    fn the_configuration_of_a_switch_lists_its_members() {
        let mut setup = setup();
        let plan = Plan::of(&setup);
        let at = |node: NodeId| Some(Ipv4Addr::new(10, 0, 0, node.0 as u8));
        setup.ensembles.junctions[0].routing = RoutingSpec::Weighted(vec![3.0, 1.0]);
        let config = text(&setup, &plan, 0, at).expect("the switch takes it");
        assert!(config.contains("listen = \"10.0.0.1:10000\""), "{config}");
        assert!(config.contains("address = \"10.0.0.3:10001\"\nweight = 3.0"), "{config}");
        let prefixes = |byte| RoutingSpec::Prefix(vec![(vec![0, byte], 0)]);
        setup.ensembles.junctions[0].routing = prefixes(0x7f);
        assert!(text(&setup, &plan, 0, at).expect("text").contains("[\"\\u0000\\u007f\"]"));
        setup.ensembles.junctions[0].routing = prefixes(0x80);
        assert!(text(&setup, &plan, 0, at).is_err());
    }
}
