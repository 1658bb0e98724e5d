//! Whether addresses fit each other.

use std::net::{IpAddr, SocketAddr};

use ratewire_config::{At, Host, Section};

use super::{MemberConfig, PeerConfig};

/// The usual `from`: a loopback address if all members are on this host, else any address. Members
/// that register are taken to be where `register` is.
pub(super) fn usual_from(members: &[At<MemberConfig>], register: Option<SocketAddr>) -> SocketAddr {
    let hosts = || members.iter().map(|member| &member.value.address);
    let mut addresses = hosts().filter_map(Host::address).chain(register);
    let first = addresses.clone().next().unwrap_or(SocketAddr::from(([127, 0, 0, 1], 0)));
    // A name may have any address.
    let are_known = hosts().all(|host| host.address().is_some());
    let are_near = are_known && addresses.all(|address| address.ip().is_loopback());
    match (are_near, first.is_ipv4()) {
        (true, _) => SocketAddr::new(first.ip(), 0),
        (false, true) => SocketAddr::from(([0, 0, 0, 0], 0)),
        (false, false) => SocketAddr::from(([0; 16], 0)),
    }
}

/// Notes UDP addresses of the switch that are the same, or a member's or the peer's.
pub(super) fn check(
    root: &Section<'_>,
    own: [Option<(&'static str, SocketAddr)>; 3],
    members: &[At<MemberConfig>],
    peer: Option<&At<PeerConfig>>,
) {
    let own: Vec<_> = own.into_iter().flatten().filter(|(_, at)| at.port() > 0).collect();
    for (k, (name, at)) in own.iter().enumerate() {
        if let Some((other, _)) = own[..k].iter().find(|(_, known)| is_same(*known, *at)) {
            let message = format!("`{other}` and `{name}` are both at {at}");
            root.note(&root.place(name), message, "give each a port of its own");
        }
    }
    let known = |address| own.iter().find(|(_, at)| is_same(*at, address));
    for member in members {
        let MemberConfig { name, address, .. } = &member.value;
        if let Some((key, _)) = address.address().and_then(known) {
            let message = format!("the member {name:?} is at the switch's own address, `{key}`");
            root.note(&member.span, message, "give it the address where its server listens");
        }
    }
    let Some(At { value, span }) = peer else { return };
    let help = "give the address where the other switch listens";
    let Some(peer) = value.address.address() else { return };
    if let Some((key, _)) = known(peer) {
        root.note(span, format!("the switch would connect to itself, at `{key}`"), help);
    }
    for MemberConfig { name, address, .. } in members.iter().map(|member| &member.value) {
        if address.address().is_some_and(|address| is_same(address, peer)) {
            root.note(span, format!("the peer is at the address of the member {name:?}"), help);
        }
    }
}

/// Whether a packet to one address may reach a socket at the other: `0.0.0.0` takes those to all
/// addresses of this host.
fn is_same(one: SocketAddr, other: SocketAddr) -> bool {
    let takes = |any: IpAddr, ip: IpAddr| any.is_unspecified() && ip.is_loopback();
    let (ip, its) = (one.ip(), other.ip());
    one.port() == other.port() && (ip == its || takes(ip, its) || takes(its, ip))
}
