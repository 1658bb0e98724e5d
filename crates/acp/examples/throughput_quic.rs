//! Moves frames from one endpoint to another by QUIC (quinn), as `throughput` does by ACP.
//!
//! `cargo run --release -p ratewire-acp --example throughput_quic [BYTES] [FRAMES]`
//!
//! A frame is its length in four bytes and its content, on one stream.

// A figure of real time.
#![allow(clippy::disallowed_methods, clippy::disallowed_types, clippy::print_stdout)]

use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Instant;

use bytes::{Buf, BufMut, BytesMut};

type Failed = Box<dyn std::error::Error + Send + Sync>;

const READ: usize = 64 << 10;
/// Bytes to write at a time: quinn searches all writes that are not acknowledged for each packet.
const WRITE: usize = 16 << 10;

fn main() -> Result<(), Failed> {
    let mut arguments = std::env::args().skip(1);
    let bytes: usize = arguments.next().map_or(Ok(16 << 10), |text| text.parse())?;
    let frames: u64 = arguments.next().map_or(Ok(50_000), |text| text.parse())?;
    let any: SocketAddr = "127.0.0.1:0".parse()?;
    let made = rcgen::generate_simple_self_signed(vec!["localhost".into()])?;
    let certificate = made.cert.der().clone();
    let key = rustls::pki_types::PrivatePkcs8KeyDer::from(made.signing_key.serialize_der());
    let settings = quinn::ServerConfig::with_single_cert(vec![certificate.clone()], key.into())?;
    let (sender, address) = std::sync::mpsc::channel();
    // A thread and a runtime for each end, as two programs would have.
    let server = std::thread::spawn(move || -> Result<u64, Failed> {
        runtime()?.block_on(async {
            let endpoint = quinn::Endpoint::server(settings, any)?;
            sender.send(endpoint.local_addr()?)?;
            let connection = endpoint.accept().await.ok_or("the endpoint is closed")?.await?;
            let (mut answer, mut stream) = connection.accept_bi().await?;
            let (mut received, mut buffer) = (0, BytesMut::new());
            while let Some(chunk) = stream.read_chunk(READ, true).await? {
                buffer.extend_from_slice(&chunk.bytes);
                while let Some(frame) = next(&mut buffer) {
                    received += frame.len() as u64;
                }
            }
            answer.finish()?;
            // The client closes when it has the end of the stream.
            connection.closed().await;
            Ok(received)
        })
    });
    let address = address.recv()?;
    let mut roots = rustls::RootCertStore::empty();
    roots.add(certificate)?;
    let client = quinn::ClientConfig::with_root_certificates(Arc::new(roots))?;
    let elapsed = runtime()?.block_on(async {
        let endpoint = quinn::Endpoint::client(any)?;
        let connection = endpoint.connect_with(client, address, "localhost")?.await?;
        let (mut stream, mut answer) = connection.open_bi().await?;
        let data = vec![1; bytes];
        let start = Instant::now();
        let mut out = BytesMut::new();
        for _ in 0..frames {
            out.put_u32(bytes as u32);
            out.put_slice(&data);
            if out.len() >= WRITE {
                stream.write_chunk(out.split().freeze()).await?;
            }
        }
        stream.write_chunk(out.freeze()).await?;
        stream.finish()?;
        answer.read_to_end(1).await?;
        let elapsed = start.elapsed().as_secs_f64();
        connection.close(0u32.into(), b"");
        endpoint.wait_idle().await;
        Ok::<_, Failed>(elapsed)
    })?;
    let received = server.join().map_err(|_| "the server panicked")??;
    let (goodput, rate) = (received as f64 * 8.0 / elapsed / 1e6, frames as f64 / elapsed);
    println!("quinn: {bytes} B frames: {goodput:.0} Mbit/s, {rate:.0} frames/s");
    Ok(())
}

fn runtime() -> std::io::Result<tokio::runtime::Runtime> {
    tokio::runtime::Builder::new_current_thread().enable_all().build()
}

/// The next whole frame.
fn next(buffer: &mut BytesMut) -> Option<BytesMut> {
    let length = u32::from_be_bytes(*buffer.first_chunk()?) as usize;
    if buffer.len() < 4 + length {
        return None;
    }
    buffer.advance(4);
    Some(buffer.split_to(length))
}
