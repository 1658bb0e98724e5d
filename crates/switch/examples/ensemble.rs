//! Three servers behind a switch, which a client takes for one. A routing module of this program
//! chooses the server.
//!
//! `cargo run -p ratewire-switch --example ensemble`
//!
//! The switch opens packets, finds the frames in them, and sends each frame to one member. What it
//! acknowledges, hosts have acknowledged. `ratewire-switch run` does the same as a process.

#![expect(clippy::print_stdout, reason = "that is what it is for")]

use std::error::Error;
use std::net::SocketAddr;
use std::time::Duration;

use ratewire_acp::{Config, Credentials, Endpoint, Frame};
use ratewire_anypoint::routing::{self, Routing};
use ratewire_anypoint::{FlowControl, Transforms};
use ratewire_switch::Running;
use ratewire_switch::hub::{HubConfig, Member, Told};
use ratewire_switch::session::SessionConfig;
use tokio::task::{LocalSet, spawn_local};

/// Words go to members by their first letter, as volumes of an encyclopaedia have them.
#[derive(Debug)]
struct Volumes;

impl Routing for Volumes {
    fn route(&mut self, frame: &routing::Frame<'_>, members: &[routing::Member]) -> Option<usize> {
        let letter = frame.content.first().map_or(b'a', u8::to_ascii_lowercase);
        let place = usize::from(letter.saturating_sub(b'a')) * members.len() / 26;
        let volume = place.min(members.len().checked_sub(1)?);
        // The words of a member that is down have no other: the frame waits for it.
        members[volume].is_up.then_some(volume)
    }

    fn reads_content(&self) -> bool {
        true
    }
}

fn main() -> Result<(), Box<dyn Error>> {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    // The switch and its connections live in one thread.
    LocalSet::new().block_on(&runtime, run())
}

async fn run() -> Result<(), Box<dyn Error>> {
    let any: SocketAddr = "127.0.0.1:0".parse()?;
    // In a program of more than one process, each end has a key of its own: `KeyPair`.
    let config = Config::new(Credentials::Shared([7; 32]));
    let mut members = Vec::new();
    for name in ["a-i", "j-r", "s-z"] {
        let server = Endpoint::server(any, config.clone())?;
        let credentials = config.credentials.clone();
        members.push(Member::new(name, server.address(), credentials));
        spawn_local(serve(server, name));
    }
    let switch = Running::open(any, any, hub(config.clone(), members))?;
    let address = switch.address();
    spawn_local(async move { switch.run(std::future::pending(), Duration::ZERO, |_| {}).await });

    let client = Endpoint::client(any, config)?;
    let connection = client.connect(address).await?;
    for (id, word) in (0..).zip(["rate", "wire", "window", "delay", "queue"]) {
        connection.send(Frame::new(id, word)).await?;
    }
    connection.finish()?;
    // Frames to one member stay in order; those of several come as members answer.
    while let Some(frame) = connection.receive().await? {
        println!("{}", String::from_utf8_lossy(&frame.data));
    }
    Ok(())
}

/// A member: it says which word came to it.
async fn serve(server: Endpoint, name: &'static str) -> Result<(), ratewire_acp::Error> {
    let connection = server.accept().await?;
    while let Some(frame) = connection.receive().await? {
        let answer = format!("{}: volume {name}", String::from_utf8_lossy(&frame.data));
        connection.send(Frame::new(frame.id, answer)).await?;
    }
    connection.close().await
}

fn hub(config: Config, members: Vec<Member>) -> HubConfig {
    HubConfig {
        peers: config.clone(),
        // Not a switch that faces another one.
        peer: None,
        session: SessionConfig {
            acp: config,
            // The client never sends more than the member with the least room can take.
            flow_control: FlowControl::Strict,
            // As ratewire-switch has it: a tenth of the members' traffic moves towards equal rates.
            transforms: Transforms::Refusals { shuffle: 0.1 },
            silence: ratewire_units::Duration::from_secs(1),
        },
        members,
        spare: 0,
        routing: Box::new(|| Box::new(Volumes)),
        // Gateways leave the choice to the switch.
        told: Told::default(),
        patience: Duration::from_millis(500),
    }
}
