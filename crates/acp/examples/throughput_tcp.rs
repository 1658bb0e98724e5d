//! Moves frames from one end to another by the kernel's TCP, as `throughput` does by ACP.
//!
//! `cargo run --release -p ratewire-acp --example throughput_tcp [BYTES] [FRAMES] [LISTEN] [TO]`
//!
//! The receiver listens at `LISTEN`, and the sender connects to `TO`: a proxy, or the receiver
//! itself.

// A figure of real time.
#![allow(clippy::disallowed_methods, clippy::disallowed_types, clippy::print_stdout)]

use std::io::{BufReader, BufWriter, Read, Write};
use std::net::{Shutdown, TcpListener, TcpStream};
use std::time::Instant;

type Failed = Box<dyn std::error::Error + Send + Sync>;

const BUFFER: usize = 64 << 10;

fn main() -> Result<(), Failed> {
    let mut arguments = std::env::args().skip(1);
    let bytes: usize = arguments.next().map_or(Ok(16 << 10), |text| text.parse())?;
    let frames: u64 = arguments.next().map_or(Ok(50_000), |text| text.parse())?;
    let listener = TcpListener::bind(arguments.next().as_deref().unwrap_or("127.0.0.1:0"))?;
    let to =
        arguments.next().map_or_else(|| Ok(listener.local_addr()?.to_string()), Ok::<_, Failed>)?;
    let server = std::thread::spawn(move || -> Result<u64, Failed> {
        let (stream, _) = listener.accept()?;
        let mut answer = stream.try_clone()?;
        let mut read = BufReader::with_capacity(BUFFER, stream);
        let (mut received, mut data) = (0, Vec::new());
        let mut length = [0; 4];
        while read.read_exact(&mut length).is_ok() {
            data.resize(u32::from_be_bytes(length) as usize, 0);
            read.read_exact(&mut data)?;
            received += data.len() as u64;
        }
        answer.write_all(&[1])?;
        Ok(received)
    });
    let mut stream = TcpStream::connect(to)?;
    let mut write = BufWriter::with_capacity(BUFFER, stream.try_clone()?);
    let data = vec![1; bytes];
    let start = Instant::now();
    for _ in 0..frames {
        write.write_all(&(bytes as u32).to_be_bytes())?;
        write.write_all(&data)?;
    }
    write.flush()?;
    stream.shutdown(Shutdown::Write)?;
    stream.read_exact(&mut [0])?;
    let elapsed = start.elapsed().as_secs_f64();
    let received = server.join().map_err(|_| "the receiver panicked")??;
    let (goodput, rate) = (received as f64 * 8.0 / elapsed / 1e6, frames as f64 / elapsed);
    println!("tcp: {bytes} B frames: {goodput:.0} Mbit/s, {rate:.0} frames/s");
    Ok(())
}
