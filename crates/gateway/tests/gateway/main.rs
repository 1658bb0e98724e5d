//! Clients and servers, with a gateway, a switch and members between them.

mod failures;
mod hostile;
mod http1;
mod isolation;
mod length_prefix;
mod lines;
mod resp;
mod streams;

use std::net::SocketAddr;
use std::rc::Rc;
use std::time::Duration;

use ratewire_acp::{Config, Credentials};
use ratewire_anypoint::routing::{self, KeyHash};
use ratewire_anypoint::{FlowControl, Transforms};
use ratewire_config::{Listen, Server};
use ratewire_framing::Framing;
use ratewire_gateway::gateway::{Gateway, GatewayConfig};
use ratewire_gateway::member::{Member, MemberConfig};
use ratewire_switch::Running;
use ratewire_switch::hub::{self, HubConfig, Told};
use ratewire_switch::session::SessionConfig;
use ratewire_switch_interface::table::{Choice, WhenDown};
use tokio::task::{JoinHandle, LocalSet, spawn_local};

fn acp() -> Config {
    Config::new(Credentials::Shared([7; 32]))
}
fn local() -> SocketAddr {
    SocketAddr::from(([127, 0, 0, 1], 0))
}
fn framing(name: &str) -> Framing {
    Framing::named(name).expect("a framing")
}

/// A member in front of a server.
fn member(framing: Framing, server: SocketAddr) -> SocketAddr {
    member_that_dies(framing, server).0
}

/// A member that dies with the handle.
fn member_that_dies(framing: Framing, server: SocketAddr) -> (SocketAddr, JoinHandle<()>) {
    let (address, member) = member_with(framing, server, 900);
    (address, spawn_local(member.run()))
}

/// A member with so many connections with its server, at most.
fn member_with(framing: Framing, server: SocketAddr, connections: usize) -> (SocketAddr, Member) {
    let config = MemberConfig {
        framing,
        listen: local(),
        server: Server::Tcp(server.into()),
        acp: acp(),
        patience: Duration::from_millis(200),
        connections,
    };
    let member = Member::open(config).expect("a member");
    (member.address(), member)
}

/// A switch. It dies with the handle.
fn switch(listen: SocketAddr, members: &[SocketAddr]) -> (SocketAddr, JoinHandle<()>) {
    switch_until(listen, members, std::future::pending())
}

/// A switch that is told to stop, and then has an hour to finish what it has.
fn switch_until(
    listen: SocketAddr,
    members: &[SocketAddr],
    stop: impl Future<Output = ()> + 'static,
) -> (SocketAddr, JoinHandle<()>) {
    let choice = Choice::Hash { offset: 0, length: 8 };
    running(listen, members, Told { choice, ..Told::default() }, stop)
}

/// A switch that says what becomes of keys whose member is down.
fn switch_that(
    listen: SocketAddr,
    members: &[SocketAddr],
    when_down: Option<WhenDown>,
) -> (SocketAddr, JoinHandle<()>) {
    let choice = Choice::Hash { offset: 0, length: 8 };
    switch_with(listen, members, Told { choice, when_down, ..Told::default() })
}

/// A switch that tells gateways this.
fn switch_with(
    listen: SocketAddr,
    members: &[SocketAddr],
    told: Told,
) -> (SocketAddr, JoinHandle<()>) {
    running(listen, members, told, std::future::pending())
}

fn running(
    listen: SocketAddr,
    members: &[SocketAddr],
    told: Told,
    stop: impl Future<Output = ()> + 'static,
) -> (SocketAddr, JoinHandle<()>) {
    let members = members.iter().enumerate().map(|(k, address)| hub::Member {
        number: k as u64,
        ..hub::Member::new(&format!("m{k}"), *address, Credentials::Shared([7; 32]))
    });
    let config = HubConfig {
        peers: acp(),
        peer: None,
        session: SessionConfig {
            acp: acp(),
            flow_control: FlowControl::Strict,
            transforms: Transforms::Refusals { shuffle: 0.1 },
            silence: ratewire_units::Duration::from_secs(1),
        },
        members: members.collect(),
        // Places of members that have not registered yet.
        spare: usize::from(!told.gather.is_zero()),
        routing: Box::new(|| Box::new(KeyHash { offset: 0, len: 8 })),
        told,
        patience: Duration::from_millis(500),
    };
    let running = Rc::new(Running::open(listen, local(), config).expect("a switch"));
    let address = running.address();
    let serving = spawn_local(async move {
        let run = running.run(stop, Duration::from_secs(3600), |_| {});
        run.await.expect("sockets");
    });
    (address, serving)
}

/// What tests set of a gateway.
#[derive(Clone, Copy)]
struct Setting {
    timeout: Duration,
    patience: Duration,
    clients: usize,
    memory: usize,
}

impl Default for Setting {
    fn default() -> Setting {
        let (timeout, patience) = (Duration::from_secs(20), Duration::from_secs(60));
        Setting { timeout, patience, clients: 100, memory: 64 << 20 }
    }
}

async fn gateway(framing: Framing, listen: Listen, switch: SocketAddr) -> Listen {
    gateway_with(framing, listen, switch, Setting::default()).await
}

async fn gateway_with(
    framing: Framing,
    listen: Listen,
    switch: SocketAddr,
    Setting { timeout, patience, clients, memory }: Setting,
) -> Listen {
    let config = GatewayConfig {
        framing,
        listen,
        listen_mode: 0o640,
        switch: switch.into(),
        acp: acp(),
        timeout,
        patience,
        clients,
        longest: 1000,
        memory,
    };
    let gateway = Gateway::open(config).await.expect("a gateway");
    let address = gateway.address();
    spawn_local(gateway.run());
    address
}

async fn in_time<T>(what: impl Future<Output = T>) -> T {
    tokio::time::timeout(Duration::from_secs(60), LocalSet::new().run_until(what))
        .await
        .expect("an end")
}

fn tcp(listen: &Listen) -> SocketAddr {
    match listen {
        Listen::Tcp(address) => *address,
        Listen::Unix(_) => panic!("a port"),
    }
}
