//! `[[member]]`: the servers behind the switch.

use std::ops::RangeInclusive;

use ratewire_config::{At, Host, Section};

use super::host;

const KEYS: &[&str] = &["address", "name", "prefixes", "weight"];
/// Members of an ensemble, at most.
const MOST: usize = 256;
/// Longest name.
const LONGEST_NAME: usize = 64;
/// Weights of members.
const WEIGHTS: RangeInclusive<f64> = 0.001..=1000.0;

/// A member of the ensemble.
#[derive(Clone, Debug, PartialEq)]
pub struct MemberConfig {
    /// What people call it.
    pub name: String,
    /// Where it takes ACP.
    pub address: Host,
    /// Its share of the frames, with `routing = "weighted"`.
    pub weight: f64,
    /// First bytes of the frames that go to it, with `routing = "prefix"`.
    pub prefixes: Vec<String>,
}

pub(super) fn read(root: &Section<'_>) -> Vec<At<MemberConfig>> {
    let sections = root.tables("[[member]]", KEYS);
    if sections.is_empty() && !root.has("register") {
        let help = "write a [[member]] for each server, or let them register with [register]";
        root.missing("member", help);
    }
    if let Some(section) = sections.get(MOST) {
        let message = format!("there are more than {MOST} members");
        section.note(&section.span(), message, "leave some out");
    }
    let mut members: Vec<At<MemberConfig>> = Vec::new();
    for section in sections.iter().take(MOST) {
        let Some(member) = member(section) else { continue };
        if let Some(known) = members.iter().find(|known| known.value.name == member.name) {
            let message = format!("there are two members called {:?}", known.value.name);
            section.note(&section.place("name"), message, "give each a name of its own");
        }
        // A name may have addresses of both kinds.
        let mut known = members.iter().filter_map(|known| known.value.address.address());
        let own = member.address.address();
        if own.is_some_and(|own| known.next().is_some_and(|k| k.is_ipv4() != own.is_ipv4())) {
            let message = "some members have IPv4 addresses and some IPv6";
            let help = "give all of them addresses of one kind: they are reached from one socket";
            section.note(&section.place("address"), message, help);
        }
        members.push(At { value: member, span: section.span() });
    }
    members
}

/// Whether a member may be called so.
pub fn is_name(name: &str) -> bool {
    (1..=LONGEST_NAME).contains(&name.len()) && name.chars().all(|c| c.is_ascii_graphic())
}

/// Whether a member may have this weight.
pub fn is_weight(weight: f64) -> bool {
    WEIGHTS.contains(&weight)
}

fn member(section: &Section<'_>) -> Option<MemberConfig> {
    let name = section.text("name", "a name");
    if !section.has("name") {
        section.missing("name", "give each member a name, as in name = \"a\"");
    }
    if !section.has("address") {
        section.missing("address", "say where it listens, as in address = \"10.0.0.2:4816\"");
    }
    let address = host(section, "address");
    let name = name.filter(|name| {
        let is_good = is_name(name.value);
        if !is_good {
            let message = format!("a member cannot be called {:?}", name.value);
            let help = format!("use up to {LONGEST_NAME} visible characters of ASCII");
            section.note(&name.span, message, help);
        }
        is_good
    });
    let prefixes = section.texts("prefixes", "a list of texts").unwrap_or_default();
    let weight = section.number("weight", 1.0, WEIGHTS);
    Some(MemberConfig {
        name: name?.value.to_string(),
        address: address?,
        weight,
        prefixes: prefixes.into_iter().map(|prefix| prefix.value.to_string()).collect(),
    })
}
