//! A member between a gateway, which these tests play, and servers of their own or real ones.
//!
//! A test is skipped with a message where its server is not installed. Set
//! `RATEWIRE_REQUIRE_TOOLS=1` to fail instead.

#![expect(clippy::disallowed_methods, reason = "servers run beside the tests")]

mod http1;
mod peer;
mod pieces;
mod pipeline;
mod programs;
mod servers;
mod upgrades;

use std::net::SocketAddr;
use std::time::Duration;

use ratewire_acp::{Config, Credentials};
use ratewire_config::Server;
use ratewire_framing::Framing;
use ratewire_gateway::member::{Member, MemberConfig};
use tokio::task::{LocalSet, spawn_local};

fn acp() -> Config {
    Config::new(Credentials::Shared([7; 32]))
}

fn local() -> SocketAddr {
    SocketAddr::from(([127, 0, 0, 1], 0))
}

/// A member in front of a server.
fn member(framing: &str, server: SocketAddr) -> SocketAddr {
    patient_member(framing, server, Duration::from_secs(20))
}

fn patient_member(framing: &str, server: SocketAddr, patience: Duration) -> SocketAddr {
    limited_member(framing, server, patience, 900)
}

/// A member with so many connections with its server, at most.
fn limited_member(
    framing: &str,
    server: SocketAddr,
    patience: Duration,
    connections: usize,
) -> SocketAddr {
    let config = MemberConfig {
        framing: Framing::named(framing).expect("a framing"),
        listen: local(),
        server: Server::Tcp(server.into()),
        acp: acp(),
        patience,
        connections,
    };
    let member = Member::open(config).expect("a member");
    let address = member.address();
    spawn_local(member.run());
    address
}

async fn in_time<T>(what: impl Future<Output = T>) -> T {
    tokio::time::timeout(Duration::from_secs(120), LocalSet::new().run_until(what))
        .await
        .expect("an end")
}
