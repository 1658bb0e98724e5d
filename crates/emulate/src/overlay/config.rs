//! The daemons' configuration, and what they cannot do.

use std::fmt::Write as _;
use std::net::Ipv4Addr;

use ratewire_groups_interface::config::{Config, check_name};
use ratewire_groups_interface::spread::{GroupName, LONGEST_BODY};
use ratewire_net::spec::NodeId;
use ratewire_sim::overlay::spec::OverlaySpec;
use ratewire_sim::setup::Setup;
use ratewire_units::Duration;

use super::clients::{Role, runs};
use crate::Error;
use crate::host;
use crate::ports::GROUP_DAEMONS;

/// Port of each daemon's status, on the loopback address of its host.
pub(super) const STATUS: u16 = 4809;
/// Where each daemon's clients connect. A host's `/tmp` is its own.
pub(super) const SOCKET: &str = "/tmp/4803";
/// Place of the configuration at each host.
pub(super) const FILE: &str = "/tmp/ratewire-groups.toml";

/// Checks that group daemons can be an overlay.
pub(crate) fn check(setup: &Setup, spec: &OverlaySpec) -> Result<(), Error> {
    for node in &spec.nodes {
        let name = &setup.network.nodes[node.index()].name;
        if let Err(wrong) = check_name(name) {
            return Err(Error::new(wrong.message, format!("rename the node: {}", wrong.help)));
        }
    }
    for group in &spec.groups {
        let name = group.name.parse::<GroupName>();
        if name.is_err() || group.name.starts_with('#') {
            return Err(Error::new(
                format!("no group of group daemons can be called {:?}", group.name),
                "rename the group: 1 to 31 of the characters from `$` to `~`",
            ));
        }
    }
    // The group's name takes 32 bytes.
    let most = LONGEST_BODY as u64 - 32;
    if spec.payload.get() > most {
        return Err(Error::new(
            format!("a message of a group daemon has at most {most} bytes of data"),
            "make `message` of `[overlay]` smaller, or simulate this scenario",
        ));
    }
    let one_way = |link: &&ratewire_sim::overlay::spec::OverlayLink| {
        !spec.links.iter().any(|other| (other.from, other.to) == (link.to, link.from))
    };
    if let Some(link) = spec.links.iter().find(one_way) {
        let name = |node: NodeId| &setup.network.nodes[node.index()].name;
        let (from, to) = (name(spec.nodes[link.from.index()]), name(spec.nodes[link.to.index()]));
        return Err(Error::new(
            format!("the overlay's link from {from} to {to} leads one way"),
            "links of group daemons lead both ways: add the other direction, or simulate",
        ));
    }
    let names = spec.nodes.iter().map(|node| setup.network.nodes[node.index()].name.as_str());
    let hosts: Vec<_> = names.enumerate().map(|(n, name)| (name, host::address(n))).collect();
    text(spec, &hosts, &vec![Duration::from_millis(1); setup.flows.len()]).map(|_| ())
}

/// The text of `groups.toml`, for daemons at these hosts. `delays` are those of flows' routes.
pub(super) fn text(
    spec: &OverlaySpec,
    hosts: &[(&str, Ipv4Addr)],
    delays: &[Duration],
) -> Result<String, Error> {
    let params = &spec.params;
    let time = |time: Duration| format!("\"{} us\"", (time.ps() as f64 / 1e6).round().max(1.0));
    let mut text = String::from("plaintext = true\nmeasure-latency = true\n");
    let _ = write!(
        text,
        "\n[flow-control]\nsalary = {}\ncap = {}\nfee = {}\nsoft-limit = {}\nthreshold = {}\n",
        params.salary.get(),
        params.cap.get(),
        params.fee.get(),
        params.soft_limit.get(),
        params.threshold.get(),
    );
    let (interval, first) = (time(params.interval), time(params.first_period));
    let _ = write!(text, "interval = {interval}\nfirst-period = {first}\n");
    let _ = writeln!(text, "budget = \"{}\"", params.budget.name());
    let (price, benefit) = (params.price, params.benefit);
    let _ = write!(text, "price = \"{}\"\nbenefit = \"{}\"\n", price.name(), benefit.name());
    let _ = writeln!(text, "randomise = {}", params.randomise);
    let base = price.base().map(|base| ("price-base", base.to_string()));
    let memory = benefit.memory().map(|memory| ("memory", time(memory)));
    let second_thought = params.second_thought.map(|wait| ("second-thought", time(wait)));
    for (key, value) in [base, memory, second_thought].into_iter().flatten() {
        let _ = writeln!(text, "{key} = {value}");
    }
    // All clients of a host connect at once.
    text += "\n[limits]\nclients = 10000\nconnections-per-second = 100000\n";
    for (name, address) in hosts {
        let _ = write!(
            text,
            "\n[[daemon]]\nname = \"{name}\"\naddress = \"{address}:{GROUP_DAEMONS}\"\n\
             listen = [\"unix:{SOCKET}\"]\nstatus = \"127.0.0.1:{STATUS}\"\n"
        );
    }
    for link in spec.links.iter().filter(|link| link.from < link.to) {
        let name = |node: ratewire_overlay::OverlayNodeId| hosts[node.index()].0;
        let (from, to, delay) = (name(link.from), name(link.to), time(delays[link.flow]));
        let _ = write!(text, "\n[[link]]\nbetween = [\"{from}\", \"{to}\"]\ndelay = {delay}\n");
    }
    for group in spec.groups.iter().filter(|group| group.weight != 1.0) {
        let (name, weight) = (&group.name, group.weight);
        let _ = write!(text, "\n[[group]]\nname = {name:?}\nweight = {weight}\n");
    }
    for run in runs(spec).iter().filter(|run| matches!(run.role, Role::Send { .. })) {
        if let Some(salary) = spec.groups[run.group.index()].salary {
            let (name, salary) = (run.name(), salary.get());
            let _ = write!(text, "\n[[client]]\nname = \"{name}*\"\nsalary = {salary}\n");
        }
    }
    match Config::parse(FILE.as_ref(), &text) {
        Ok(_) => Ok(text),
        Err(wrong) => {
            let wrong = wrong.problems.first().map_or_else(String::new, |p| p.message.clone());
            Err(Error::new(
                format!("group daemons cannot have this overlay: {wrong}"),
                "simulate this scenario, or change the setting of `[overlay]`, or the node's name",
            ))
        }
    }
}

#[cfg(test)]
mod tests {
    use ratewire_overlay::{Benefit, Dollars, Params};

    use super::super::tests::spec;
    use super::*;

    #[test]
    fn daemons_have_the_choices_of_the_scenario() {
        let hosts = [("a", host::address(0)), ("b", host::address(1))];
        for name in Benefit::NAMES {
            let mut spec = spec();
            let benefit = Benefit::named(name, Duration::from_secs(3)).expect("it has this name");
            let second_thought = Some(Duration::from_millis(30));
            spec.params = Params { benefit, second_thought, ..spec.params };
            let text = text(&spec, &hosts, &[Duration::from_millis(1); 2]).expect("daemons can");
            let read = Config::parse(FILE.as_ref(), &text).expect("it is read back");
            assert_eq!(read.params, spec.params);
        }
    }

    /// The senders of the second group are those of a run of their own.
    #[test]
    fn daemons_have_the_salaries_and_weights_of_groups() {
        let hosts = [("a", host::address(0)), ("b", host::address(1))];
        let mut spec = spec();
        (spec.groups[1].salary, spec.groups[1].weight) = (Some(Dollars::new(7.5)), 3.0);
        let text = text(&spec, &hosts, &[Duration::from_millis(1); 2]).expect("daemons can");
        let read = Config::parse(FILE.as_ref(), &text).expect("it is read back");
        assert_eq!([b"g0", b"g1"].map(|name| read.policies.weight(name)), [1.0, 3.0]);
        let runs = runs(&spec);
        let senders = runs.iter().flat_map(|run| run.senders().map(move |sender| (run, sender)));
        let salaries: Vec<_> = senders
            .map(|(run, (name, _))| (run.group.index(), read.clients.of(&name).salary))
            .collect();
        let own = Some(Dollars::new(7.5));
        assert_eq!(salaries, [(0, None), (0, None), (1, own)]);
    }
}
