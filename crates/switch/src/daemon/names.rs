//! Members and the peer that the configuration names: their addresses may change.

use std::net::SocketAddr;
use std::rc::Rc;
use std::time::Duration;

use ratewire_config::Host;
use ratewire_daemon::resolve::resolve;
use tokio::time::{Instant, sleep, timeout};
use tracing::{info, warn};

use crate::config::Config;
use crate::hub::{Duty, Hub, Member};
use crate::running::Running;

/// Time for the names of members when the switch starts. It goes on with the rest meanwhile.
const AT_START: Duration = Duration::from_secs(1);
/// Time between two looks at a name, and at one whose host does not answer.
const USUAL: Duration = Duration::from_secs(30);
const DOWN: Duration = Duration::from_secs(2);

/// A host that is named, and what is known of it.
struct Named {
    host: Host,
    /// The address that packets to it leave from; it has addresses of the same kind.
    from: SocketAddr,
    /// Why it has no address, as was last logged.
    told: Option<String>,
}

impl Named {
    /// The addresses that can be reached.
    async fn addresses(&mut self) -> Result<Vec<SocketAddr>, String> {
        let found = resolve(&self.host).await.map_err(|error| error.to_string());
        found.and_then(|all| reachable(&self.host, self.from, all))
    }

    /// The address to go on with, if it is another one than that at present.
    async fn next(&mut self, now: SocketAddr, is_down: bool) -> Option<SocketAddr> {
        match self.addresses().await {
            Ok(all) => {
                self.told = None;
                another(now, is_down, &all)
            }
            Err(why) => {
                if self.told.as_ref() != Some(&why) {
                    warn!(target: "ratewire_switch", reason = why, "a host has no address");
                    self.told = Some(why);
                }
                None
            }
        }
    }
}

/// Addresses that can be reached from one.
fn reachable(
    host: &Host,
    from: SocketAddr,
    all: Vec<SocketAddr>,
) -> Result<Vec<SocketAddr>, String> {
    let fits = |address: &SocketAddr| {
        let is_near = address.ip().is_loopback() || !from.ip().is_loopback();
        address.is_ipv4() == from.is_ipv4() && is_near
    };
    let (fitting, others): (Vec<_>, Vec<_>) = all.into_iter().partition(fits);
    match others.first() {
        Some(other) if fitting.is_empty() => Err(format!(
            "{host} is {other}, which packets from {from} do not reach: name another address to \
             send from in the switch.toml"
        )),
        _ => Ok(fitting),
    }
}

/// The address of a host after that at present: one that is still right stays while it answers.
fn another(now: SocketAddr, is_down: bool, all: &[SocketAddr]) -> Option<SocketAddr> {
    let place = all.iter().position(|address| *address == now);
    let next = match place {
        Some(_) if !is_down => now,
        Some(place) => all[(place + 1) % all.len()],
        None => *all.first()?,
    };
    (next != now).then_some(next)
}

/// The address of a member that has none yet.
fn nowhere(from: SocketAddr) -> SocketAddr {
    let any: [SocketAddr; 2] = [([0, 0, 0, 0], 0).into(), ([0; 16], 0).into()];
    any[usize::from(from.is_ipv6())]
}

/// The addresses of the members at the start, or why one has none.
pub(super) struct Addresses(Vec<Result<SocketAddr, String>>);

impl Addresses {
    pub(super) async fn of(config: &Config) -> Addresses {
        let until = Instant::now() + AT_START;
        let members = config.members.iter().map(|member| {
            let host = member.address.clone();
            let mut named = Named { host, from: config.from, told: None };
            tokio::task::spawn_local(async move {
                let left = until.saturating_duration_since(Instant::now());
                if let Some(address) = named.host.address() {
                    return Ok(address);
                }
                let why = format!("the name of {} is being resolved", named.host);
                let all = timeout(left, named.addresses()).await.unwrap_or(Err(why))?;
                all.first().copied().ok_or_else(|| format!("{} has no address", named.host))
            })
        });
        let mut addresses = Vec::new();
        for member in members.collect::<Vec<_>>() {
            addresses.push(member.await.unwrap_or_else(|error| Err(error.to_string())));
        }
        Addresses(addresses)
    }

    /// The address of the member in a place; one that nobody reaches if there is none yet.
    pub(super) fn get(&self, place: usize, from: SocketAddr) -> SocketAddr {
        self.0[place].clone().unwrap_or_else(|_| nowhere(from))
    }

    /// Why the member in a place has no address, if it has none.
    pub(super) fn why(&self, place: usize) -> Option<String> {
        self.0[place].clone().err()
    }

    /// Takes members without an address for down.
    pub(super) fn note_missing(&self, running: &Running) {
        for (place, address) in self.0.iter().enumerate() {
            if let Err(why) = address {
                running.change(|hub, now| hub.distrust(now, place, why));
            }
        }
    }
}

/// Keeps the address of the member in a place; `told` is why it has none, as was logged.
pub(super) async fn follow_member(
    running: Rc<Running>,
    host: Host,
    from: SocketAddr,
    place: usize,
    told: Option<String>,
) {
    let mut named = Named { host, from, told };
    let mut looked = Instant::now();
    loop {
        let is_down = running.look(|hub| hub.is_down(place));
        let pause = if is_down { DOWN } else { USUAL };
        if looked.elapsed() < pause {
            sleep(DOWN.min(pause - looked.elapsed())).await;
            continue;
        }
        let Some(member) = running.look(|hub| hub.member(place).cloned()) else { return };
        let next = named.next(member.address, is_down).await;
        looked = Instant::now();
        if let Some(address) = next {
            let name = &member.name;
            let host = named.host.to_string();
            info!(target: "ratewire_switch", name, host, address = address.to_string(),
                  "a member has another address");
            running.change(|hub, now| readdress(hub, now, place, Member { address, ..member }));
        }
    }
}

/// Puts a member of another address in a place. It takes frames if the one before did.
fn readdress(hub: &mut Hub, now: Duration, place: usize, member: Member) {
    let duty = hub.duty(place);
    hub.enlist(now, place, member);
    if duty != Duty::Serving {
        hub.drain(now, place);
    }
}

/// Keeps the address of the peer that the switch connects to; packets to it leave from `from`.
pub(super) async fn follow_peer(running: Rc<Running>, host: Host, from: SocketAddr) {
    let mut named = Named { host, from, told: None };
    loop {
        let dialled = running.look(Hub::dialled);
        if dialled.is_none_or(|(_, is_connected)| !is_connected) {
            let now = dialled.map_or(nowhere(from), |(address, _)| address);
            if let Some(address) = named.next(now, true).await {
                running.change(|hub, _| hub.dial(address));
            }
        }
        sleep(DOWN).await;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(text: &str) -> SocketAddr {
        text.parse().expect("an address")
    }

    #[test]
    fn an_address_stays_while_it_is_right_and_answers() {
        let [a, b, c] = ["10.0.0.1:5", "10.0.0.2:5", "10.0.0.3:5"].map(at);
        assert_eq!(another(a, false, &[b, a]), None);
        assert_eq!(another(a, false, &[b, c]), Some(b));
        assert_eq!(another(a, true, &[a]), None);
        // Those of a host that does not answer are tried in turn.
        assert_eq!(another(a, true, &[a, b, c]), Some(b));
        assert_eq!(another(c, true, &[a, b, c]), Some(a));
        assert_eq!(another(a, true, &[]), None);
    }

    #[test]
    fn only_addresses_that_can_be_reached_count() {
        let host: Host = "a:5".parse().expect("a host");
        let (near, far, six) = (at("127.0.0.1:5"), at("10.0.0.1:5"), at("[::1]:5"));
        let from = |from: &str| reachable(&host, at(from), vec![six, far, near]);
        assert_eq!(from("0.0.0.0:0"), Ok(vec![far, near]));
        assert_eq!(from("127.0.0.1:0"), Ok(vec![near]));
        assert_eq!(from("[::]:0"), Ok(vec![six]));
        let none = reachable(&host, at("[::]:0"), vec![far]).expect_err("another kind");
        assert!(none.contains("a:5 is 10.0.0.1:5, which packets from [::]:0"), "{none}");
    }
}
