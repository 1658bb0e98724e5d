//! Moves frames from a client through a switch to servers on this machine, and prints goodput,
//! frames a second, and the switch's processor time a packet.
//!
//! `cargo run --release -p ratewire-switch --example through_switch [BYTES] [FRAMES] [LAW]
//! [SERVERS]`

// A figure of real time.
#![allow(clippy::disallowed_methods, clippy::disallowed_types, clippy::print_stdout)]

use std::net::SocketAddr;
use std::sync::mpsc;
use std::time::{Duration, Instant};

use ratewire_acp::{Config, Credentials, Endpoint, Frame};
use ratewire_anypoint::routing::RoundRobin;
use ratewire_anypoint::{FlowControl, Transforms};
use ratewire_laws::AnyLaw;
use ratewire_switch::Running;
use ratewire_switch::hub::{HubConfig, Member, Told};
use ratewire_switch::session::SessionConfig;

type Failed = Box<dyn std::error::Error + Send + Sync>;

fn main() -> Result<(), Failed> {
    let mut arguments = std::env::args().skip(1);
    let bytes: usize = arguments.next().map_or(Ok(16 << 10), |text| text.parse())?;
    let frames: u64 = arguments.next().map_or(Ok(50_000), |text| text.parse())?;
    let law = arguments.next().unwrap_or_else(|| "xcp".into());
    let servers: usize = arguments.next().map_or(Ok(4), |text| text.parse())?;
    let config = Config {
        law: AnyLaw::new(&law, &[])?,
        law_name: law.clone(),
        ..Config::new(Credentials::Shared([7; 32]))
    };
    let any: SocketAddr = "127.0.0.1:0".parse()?;
    // A thread and a runtime for the client, the switch and all servers.
    let (sender, addresses) = mpsc::channel();
    let of_servers = config.clone();
    let server = std::thread::spawn(move || -> Result<u64, Failed> {
        runtime()?.block_on(async {
            let mut tasks = tokio::task::JoinSet::new();
            for _ in 0..servers {
                let endpoint = Endpoint::server(any, of_servers.clone())?;
                sender.send(endpoint.address())?;
                tasks.spawn(receive(endpoint));
            }
            let received = tasks.join_all().await.into_iter().collect::<Result<Vec<u64>, _>>()?;
            Ok(received.iter().sum())
        })
    });
    let members = addresses.iter().take(servers).enumerate();
    let credentials = &config.credentials;
    let members =
        members.map(|(k, address)| Member::new(&format!("m{k}"), address, credentials.clone()));
    let hub = HubConfig {
        peers: config.clone(),
        peer: None,
        session: SessionConfig {
            acp: config.clone(),
            flow_control: FlowControl::Strict,
            transforms: Transforms::Refusals { shuffle: 0.1 },
            silence: ratewire_units::Duration::from_secs(1),
        },
        members: members.collect(),
        spare: 0,
        routing: Box::new(|| Box::new(RoundRobin::default())),
        told: Told::default(),
        patience: Duration::from_millis(500),
    };
    let (sender, address) = mpsc::channel();
    let (stop, stopped) = tokio::sync::oneshot::channel::<()>();
    let switch = std::thread::spawn(move || -> Result<Duration, Failed> {
        runtime()?.block_on(async {
            let running = Running::open(any, any, hub)?;
            sender.send(running.address())?;
            let stopped = async { _ = stopped.await };
            running.run(stopped, Duration::ZERO, |_| {}).await?;
            Ok(thread_time())
        })
    });
    let address = address.recv()?;
    let (elapsed, metrics) = runtime()?.block_on(async {
        let endpoint = Endpoint::client(any, config)?;
        let connection = endpoint.connect(address).await?;
        let data = bytes::Bytes::from(vec![1; bytes]);
        let start = Instant::now();
        for id in 0..frames {
            connection.send(Frame::new(id, data.clone())).await?;
        }
        connection.finish()?;
        while connection.receive().await?.is_some() {}
        let elapsed = start.elapsed().as_secs_f64();
        Ok::<_, Failed>((elapsed, connection.metrics()?))
    })?;
    _ = stop.send(());
    let used = switch.join().map_err(|_| "the switch panicked")??;
    let received = server.join().map_err(|_| "a server panicked")??;
    let (goodput, rate) = (received as f64 * 8.0 / elapsed / 1e6, frames as f64 / elapsed);
    let packets = metrics.packets_sent + metrics.packets_received;
    let each = used.as_nanos() as f64 / packets as f64;
    println!("{law}: {bytes} B frames, {servers} servers: {goodput:.0} Mbit/s, {rate:.0} frames/s");
    println!("the switch's thread: {each:.0} ns a packet of the client's; {metrics:?}");
    Ok(())
}

fn runtime() -> std::io::Result<tokio::runtime::Runtime> {
    tokio::runtime::Builder::new_current_thread().enable_all().build()
}

async fn receive(endpoint: Endpoint) -> Result<u64, Failed> {
    let connection = endpoint.accept().await?;
    let mut received = 0;
    while let Some(frame) = connection.receive().await? {
        received += frame.data.len() as u64;
    }
    connection.close().await?;
    Ok(received)
}

/// Processor time of this thread.
fn thread_time() -> Duration {
    let text = std::fs::read_to_string("/proc/thread-self/schedstat").unwrap_or_default();
    let ns = text.split(' ').next().and_then(|ns| ns.parse().ok());
    Duration::from_nanos(ns.unwrap_or(0))
}
