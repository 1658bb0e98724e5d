//! Moves frames from one endpoint to another on this machine, and prints goodput and frames a
//! second.
//!
//! `cargo run --release -p ratewire-acp --example throughput [BYTES] [FRAMES] [LAW]`

// A figure of real time.
#![allow(clippy::disallowed_methods, clippy::disallowed_types, clippy::print_stdout)]

use std::time::Instant;

use ratewire_acp::{Config, Credentials, Endpoint, Frame};
use ratewire_laws::AnyLaw;

type Failed = Box<dyn std::error::Error + Send + Sync>;

fn main() -> Result<(), Failed> {
    let mut arguments = std::env::args().skip(1);
    let bytes: usize = arguments.next().map_or(Ok(16 << 10), |text| text.parse())?;
    let frames: u64 = arguments.next().map_or(Ok(50_000), |text| text.parse())?;
    let law = arguments.next().unwrap_or_else(|| "cubic".into());
    let config = Config {
        law: AnyLaw::new(&law, &[])?,
        law_name: law.clone(),
        ..Config::new(Credentials::Shared([7; 32]))
    };
    let any = "127.0.0.1:0".parse()?;
    let (sender, address) = std::sync::mpsc::channel();
    let of_server = config.clone();
    // A thread and a runtime for each end, as two programs would have.
    let server = std::thread::spawn(move || -> Result<u64, Failed> {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
        runtime.block_on(async {
            let endpoint = Endpoint::server(any, of_server)?;
            sender.send(endpoint.address())?;
            let connection = endpoint.accept().await?;
            let mut received = 0;
            while let Some(frame) = connection.receive().await? {
                received += frame.data.len() as u64;
            }
            connection.close().await?;
            Ok(received)
        })
    });
    let address = address.recv()?;
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    let (elapsed, metrics) = runtime.block_on(async {
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
    let received = server.join().map_err(|_| "the server panicked")??;
    let (goodput, rate) = (received as f64 * 8.0 / elapsed / 1e6, frames as f64 / elapsed);
    println!("{law}: {bytes} B frames: {goodput:.0} Mbit/s, {rate:.0} frames/s; {metrics:?}");
    Ok(())
}
