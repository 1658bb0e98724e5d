//! Many members of a switch, and many peers, in one process: what a switch needs for each can then
//! be read from its own process.
//!
//! `cargo run --release -p ratewire-switch --example many KEY SWITCH MEMBERS PEERS`
//!
//! The program prints the members' addresses, waits for a line, connects the peers, and has each
//! send a frame to each member. It prints `ready`, and ends with its standard input.

#![allow(clippy::print_stdout)]

use std::io::stdin;
use std::net::SocketAddr;
use std::path::Path;

use ratewire_acp::{Config, Connection, Endpoint, Frame};
use ratewire_switch::key::KeyFile;
use tokio::task::LocalSet;

type Failed = Box<dyn std::error::Error>;

fn main() -> Result<(), Failed> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [key, switch, members, peers] = &arguments[..] else {
        return Err("give a file of a key, a switch, and numbers of members and peers".into());
    };
    let config = Config::new(KeyFile::read(Path::new(key))?);
    let (switch, members, peers) = (switch.parse()?, members.parse()?, peers.parse()?);
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    LocalSet::new().block_on(&runtime, run(config, switch, members, peers))
}

async fn run(
    config: Config,
    switch: SocketAddr,
    members: usize,
    peers: usize,
) -> Result<(), Failed> {
    let local: SocketAddr = "127.0.0.1:0".parse()?;
    for _ in 0..members {
        let endpoint = Endpoint::server(local, config.clone())?;
        println!("{}", endpoint.address());
        tokio::task::spawn_local(serve(endpoint));
    }
    println!();
    stdin().read_line(&mut String::new())?;
    let endpoint = Endpoint::client(local, config)?;
    let mut connected = Vec::new();
    for _ in 0..peers {
        let connection = endpoint.connect(switch).await?;
        for id in 0..members as u64 {
            connection.send(Frame::new(id, "a question")).await?;
        }
        for _ in 0..members {
            connection.receive().await?;
        }
        connected.push(connection);
    }
    println!("ready");
    tokio::task::spawn_blocking(|| stdin().read_line(&mut String::new())).await??;
    Ok(())
}

async fn serve(endpoint: Endpoint) {
    while let Ok(connection) = endpoint.accept().await {
        tokio::task::spawn_local(answer(connection));
    }
}

async fn answer(connection: Connection) {
    while let Ok(Some(frame)) = connection.receive().await {
        if connection.send(frame).await.is_err() {
            return;
        }
    }
}
