//! Addresses, and whether they fit each other.

use std::net::SocketAddr;

use ratewire_daemon::config::{At, Section};

use super::MemberConfig;

pub(super) fn address(section: &Section<'_>, key: &str) -> Option<SocketAddr> {
    section.parsed(key, "an address and a port, as in 127.0.0.1:4816").map(|found| found.value)
}

/// An address that reaches the members: any of this host, if all of them are not on it. Members
/// that register are where the address for that is.
pub(super) fn usual_from(members: &[At<MemberConfig>], register: Option<SocketAddr>) -> SocketAddr {
    let mut addresses = members.iter().map(|member| member.value.address).chain(register);
    let first = addresses.clone().next().unwrap_or(SocketAddr::from(([127, 0, 0, 1], 0)));
    match (addresses.all(|address| address.ip().is_loopback()), first.is_ipv4()) {
        (true, _) => SocketAddr::new(first.ip(), 0),
        (false, true) => SocketAddr::from(([0, 0, 0, 0], 0)),
        (false, false) => SocketAddr::from(([0; 16], 0)),
    }
}

/// Notes UDP addresses of the switch that are the same, or a member's.
pub(super) fn check(
    root: &Section<'_>,
    listen: SocketAddr,
    from: SocketAddr,
    register: Option<SocketAddr>,
    members: &[At<MemberConfig>],
) {
    let register = register.map(|at| ("listen of [register]", at));
    let all = [Some(("listen", listen)), register, Some(("from", from))];
    let own: Vec<_> = all.into_iter().flatten().filter(|(_, at)| at.port() > 0).collect();
    for (k, (name, at)) in own.iter().enumerate() {
        if let Some((other, _)) = own[..k].iter().find(|(_, known)| known == at) {
            let message = format!("`{other}` and `{name}` are both {at}");
            root.note(&root.place("listen"), message, "give each a port of its own");
        }
    }
    for member in members {
        let MemberConfig { name, address, .. } = &member.value;
        if let Some((key, _)) = own.iter().find(|(_, at)| at == address) {
            let message = format!("the member {name:?} is at the switch's own address, `{key}`");
            root.note(&member.span, message, "give it the address where its server listens");
        }
    }
}
